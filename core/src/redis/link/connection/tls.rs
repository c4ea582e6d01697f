//! TLS in the form of the redis crate, and the meaning of its errors.

use std::error::Error;
use std::sync::Arc;

use redis::{ClientTlsConfig, ConnectionInfo, RedisError, RedisResult, TlsCertificates};
use rustls::CertificateError::{
    BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
};

use crate::config::tls::{Tls, Verify};

/// A client whose connections use TLS. Without `tls_ca` it trusts the authorities of the system, and if the system has
/// no list, those of Mozilla.
pub fn client(info: ConnectionInfo, tls: &Tls) -> RedisResult<redis::Client> {
    // If the application has chosen a provider for its process, that one is used here too.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client_tls = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => Some(ClientTlsConfig { client_cert: cert.clone(), client_key: key.clone() }),
        _ => None,
    };
    let with = |root_cert| {
        redis::Client::build_with_tls(info.clone(), TlsCertificates { client_tls: client_tls.clone(), root_cert })
    };
    let client = match &tls.ca {
        Some(ca) => with(Some(ca.clone()))?,
        None => with(system_roots()).or_else(|_| with(None))?,
    };
    let info = client.get_connection_info().clone();
    let mut addr = info.addr().clone();
    addr.set_danger_accept_invalid_hostnames(tls.verify == Verify::Ca);
    if let redis::ConnectionAddr::TcpTls { insecure, .. } = &mut addr {
        *insecure = tls.verify == Verify::Nothing;
    }
    redis::Client::open(info.set_addr(addr))
}

fn system_roots() -> Option<Vec<u8>> {
    std::fs::read(openssl_probe::probe().cert_file?).ok()
}

/// The reason why TLS refused the connection, and the remedy; `None`: it was not TLS.
pub fn objection(error: &RedisError) -> Option<String> {
    use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage};
    let found = cause(error)?;
    Some(match found {
        // The signature is also bad if another authority has the same name.
        InvalidCertificate(UnknownIssuer | BadSignature) => {
            "shows a certificate that no trusted authority has signed; name the file of its authority's certificate with tls_ca".to_owned()
        }
        InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => {
            format!("shows a certificate for another host ({found}); use a name that is in it, or tls_verify=ca")
        }
        InvalidCertificate(Expired | ExpiredContext { .. }) => format!("shows a certificate that has expired ({found}); renew it"),
        InvalidMessage(_) => "does not speak TLS on this port; write redis://, or name its TLS port".to_owned(),
        AlertReceived(alert) => {
            format!("refused the TLS connection ({alert:?}); if it wants a certificate of the client, name one with tls_cert and tls_key")
        }
        other => format!("cannot open a TLS connection ({other})"),
    })
}

fn cause(error: &RedisError) -> Option<&rustls::Error> {
    let error = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    error.downcast_ref().or_else(|| error.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref())
}
