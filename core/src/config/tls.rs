//! The options for TLS and the content of the files that they name: how the two ends of a connection prove their
//! identity.

use std::fmt::Display;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::request::error::{Error, Result};
use crate::request::shown;

/// Options for TLS. The client reads a file when an option names it: a process that drops its rights later may not be
/// able to.
#[derive(Clone, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Tls {
    pub ca: Option<Vec<u8>>,
    pub cert: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
    pub verify: Verify,
    /// Unusable files that a configuration names, by the option that would replace them.
    unusable: Vec<(&'static str, String)>,
}

/// The proof that a server's certificate must give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verify {
    /// A trusted authority has signed it, for the host of the address.
    #[default]
    Full,
    /// A trusted authority has signed it, for any host.
    Ca,
    Nothing,
}

impl Tls {
    /// Sets `tls_ca`, `tls_cert`, `tls_key` (PEM files, or their content) or `tls_verify`.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        self.unusable.retain(|(replaced, _)| *replaced != option);
        match option {
            "tls_ca" => self.ca = Some(certificates(option, value)?),
            "tls_cert" => self.cert = Some(certificates(option, value)?),
            "tls_key" => {
                let text = read(option, value)?;
                PrivateKeyDer::from_pem_slice(&text)
                    .map_err(|error| bad(option, value, error, "a private key without a password"))?;
                self.key = Some(text);
            }
            _ => {
                self.verify = match value {
                    "full" => Verify::Full,
                    "ca" => Verify::Ca,
                    "none" => Verify::Nothing,
                    _ => {
                        return Err(Error::config(format!(
                            "the tls_verify `{}` is neither full nor ca nor none",
                            shown::value(option, value)
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes [`Tls::check`] fail with this error until a program sets the option.
    pub fn instead(&mut self, option: &'static str, error: Error) {
        self.unusable.push((option, error.to_string()));
    }

    /// Checks whether every option has the others that it needs; `used`: the address asks for TLS.
    pub fn check(&self, used: bool, address: impl Display) -> Result<()> {
        if let Some((_, why)) = self.unusable.first() {
            return Err(Error::config(why));
        }
        let set = self.ca.is_some() || self.cert.is_some() || self.key.is_some() || self.verify != Verify::Full;
        match (self.cert.is_some(), self.key.is_some()) {
            _ if set && !used => {
                Err(Error::config(format!("{address} goes without TLS, so no tls option applies; write rediss://")))
            }
            (true, false) => {
                Err(Error::config("tls_cert is set but tls_key is not; name the file of its private key too"))
            }
            (false, true) => {
                Err(Error::config("tls_key is set but tls_cert is not; name the file of its certificate too"))
            }
            _ => Ok(()),
        }
    }
}

fn certificates(option: &str, path: &str) -> Result<Vec<u8>> {
    let text = read(option, path)?;
    let wanted = "at least one certificate";
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(bad(option, path, "there is none in it", wanted)),
        Ok(_) => Ok(text),
        Err(error) => Err(bad(option, path, error, wanted)),
    }
}

/// The text of a file, or `path` itself if it is such a text: a program with a key in its memory need not write it to a
/// disk.
fn read(option: &str, path: &str) -> Result<Vec<u8>> {
    if path.starts_with("-----BEGIN ") {
        return Ok(path.as_bytes().to_vec());
    }
    std::fs::read(path).map_err(|error| {
        Error::config(format!("the file `{}` of {option} cannot be read: {error}", shown::value(option, path)))
    })
}

fn bad(option: &str, path: &str, why: impl Display, wanted: &str) -> Error {
    Error::config(format!("the file `{}` of {option} is no PEM file with {wanted}: {why}", shown::value(option, path)))
}
