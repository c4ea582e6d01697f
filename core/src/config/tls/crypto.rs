//! The cryptography of TLS: certificates and keys in PEM, and the implementation that a connection uses.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A reason, in words.
pub type Why = String;

/// A chain of certificates, and the private key of the first.
pub type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The implementation of the cryptography: that of the process if the application has chosen one, else ours. None
/// becomes that of the process, which is the application's to choose.
pub fn provider() -> Arc<CryptoProvider> {
    #[cfg(not(feature = "tls-rustls-ring"))]
    use rustls::crypto::aws_lc_rs as ours;
    #[cfg(feature = "tls-rustls-ring")]
    use rustls::crypto::ring as ours;

    CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ours::default_provider()))
}

/// Reads at least one certificate.
pub fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, Why> {
    match CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>() {
        Ok(found) if found.is_empty() => Err(words(&pem::Error::NoItemsFound)),
        found => found.map_err(|error| words(&error)),
    }
}

/// Reads at least one certificate of an authority.
pub fn authorities(text: &[u8]) -> Result<RootCertStore, Why> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(text)? {
        authorities.add(certificate).map_err(|error| format!("what it has is none ({error})"))?;
    }
    Ok(authorities)
}

pub fn key(text: &[u8]) -> Result<PrivateKeyDer<'static>, Why> {
    PrivateKeyDer::from_pem_slice(text).map_err(|error| words(&error))
}

/// The reason without any of the text, which may be a private key: the parser's own words repeat its lines.
fn words(error: &pem::Error) -> Why {
    match error {
        pem::Error::NoItemsFound => "there is none in it",
        pem::Error::MissingSectionEnd { .. } => "a part of it has no END line of its own; are its line breaks lost?",
        pem::Error::IllegalSectionStart { .. } => "a BEGIN line of it is broken",
        pem::Error::Base64Decode(_) => "a part of it is no Base64",
        _ => "it cannot be read",
    }
    .into()
}

/// Reads certificates and a key that belong together.
pub fn identity(cert: &[u8], key: &[u8]) -> Result<Identity, Why> {
    let certificates = certificates(cert)?;
    let key = self::key(key)?;
    rustls::sign::CertifiedKey::from_der(certificates.clone(), key.clone_key(), &provider())
        .map_err(|error| error.to_string())?;
    Ok((certificates, key))
}
