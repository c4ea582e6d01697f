//! The cryptography of TLS: certificates and keys in PEM, and the implementation that a connection uses.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A reason, in words.
pub type Why = String;

/// A chain of certificates, and the private key of the first.
pub type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The implementation of the cryptography: that of the process if the application has chosen one, else ours. None
/// becomes that of the process, which is the application's to choose.
pub fn provider() -> Arc<CryptoProvider> {
    let ours = || Arc::new(rustls::crypto::ring::default_provider());
    CryptoProvider::get_default().cloned().unwrap_or_else(ours)
}

/// Reads at least one certificate.
pub fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, Why> {
    match CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>() {
        Ok(found) if found.is_empty() => Err("there is none in it".into()),
        found => found.map_err(|error| error.to_string()),
    }
}

pub fn key(text: &[u8]) -> Result<PrivateKeyDer<'static>, Why> {
    PrivateKeyDer::from_pem_slice(text).map_err(|error| error.to_string())
}

/// Reads certificates and a key that belong together.
pub fn identity(cert: &[u8], key: &[u8]) -> Result<Identity, Why> {
    let certificates = certificates(cert)?;
    let key = self::key(key)?;
    rustls::sign::CertifiedKey::from_der(certificates.clone(), key.clone_key(), &provider())
        .map_err(|error| error.to_string())?;
    Ok((certificates, key))
}
