//! The client's side of TLS: the authorities that it trusts, its own certificate, and the proof that it wants.

use std::sync::Arc;

use rustls::CertificateError::{
    BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
};
use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::config::tls::crypto::{self, Why};
use crate::config::tls::{Tls, TlsVerify};

/// The settings of the client of a connection.
pub fn settings(tls: &Tls) -> Result<ClientConfig, Why> {
    let words = |error: rustls::Error| error.to_string();
    let provider = crypto::provider();
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().map_err(words)?;
    let builder = match tls.verify {
        TlsVerify::Full => builder.with_root_certificates(roots(tls)?),
        TlsVerify::Ca => {
            let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(tls)?), provider).build();
            let inner = inner.map_err(|error| error.to_string())?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyHost(inner)))
        }
        TlsVerify::None => builder.dangerous().with_custom_certificate_verifier(Arc::new(NoProof(provider))),
    };
    let mut config = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let (certificates, key) = crypto::identity(cert, key)?;
            builder.with_client_auth_cert(certificates, key).map_err(words)?
        }
        _ => builder.with_no_client_auth(),
    };
    config.enable_sni = tls.verify != TlsVerify::None;
    // Each connection checks the certificate anew: the server may have become another.
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The reason why TLS refused a connection, and the remedy; `plain`: the scheme of a server without TLS.
pub fn objection(found: &rustls::Error, plain: &str) -> String {
    match found {
        // The signature is also bad if another authority has the same name.
        InvalidCertificate(UnknownIssuer | BadSignature) => {
            "shows a certificate that no trusted authority has signed; name the file of its authority's certificate with tls_ca".to_owned()
        }
        InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => {
            format!("shows a certificate for another host ({found}); use a name that is in it, or tls_verify=ca")
        }
        InvalidCertificate(Expired | ExpiredContext { .. }) => format!("shows a certificate that has expired ({found}); renew it"),
        InvalidMessage(_) => format!("does not speak TLS on this port; write {plain}://, or name its TLS port"),
        AlertReceived(alert) => {
            format!("refused the TLS connection ({alert:?}); if it wants a certificate of the client, name one with tls_cert and tls_key")
        }
        other => format!("cannot open a TLS connection ({other})"),
    }
}

/// The authorities to trust: those of `tls_ca`, else those of the system, else, if the system has no list, those of
/// Mozilla.
fn roots(tls: &Tls) -> Result<RootCertStore, Why> {
    let mut roots = RootCertStore::empty();
    if let Some(ca) = &tls.ca {
        for certificate in crypto::certificates(ca)? {
            roots.add(certificate).map_err(|error| format!("tls_ca: {error}"))?;
        }
        return Ok(roots);
    }
    let system = openssl_probe::probe().cert_file.and_then(|file| std::fs::read(file).ok());
    roots.add_parsable_certificates(system.and_then(|text| crypto::certificates(&text).ok()).unwrap_or_default());
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(roots)
}

/// Accepts a trusted certificate of any host.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The verifier looks at the name last.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Accepts every certificate.
#[derive(Debug)]
struct NoProof(Arc<CryptoProvider>);

impl ServerCertVerifier for NoProof {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
