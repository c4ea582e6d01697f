//! The options for TLS and the content of the files that they name: how the two ends of a connection prove their
//! identity.

#[cfg(feature = "__tls")]
pub mod client;
#[cfg(feature = "__tls")]
pub mod crypto;

use std::ffi::OsString;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::config::servers::Servers;
use crate::request::error::{Error, Result};
use crate::request::shown;

/// The feature of the crate that brings TLS.
#[cfg(not(feature = "__tls"))]
const FEATURE: &str = "this build of redlatch has no TLS; give it the feature tls-rustls-ring or tls-rustls-aws-lc";

/// Options for TLS. The client reads a file when an option names it: a process that drops its rights later may not be
/// able to.
#[derive(Clone, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Tls {
    pub ca: Option<Vec<u8>>,
    pub cert: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
    pub verify: TlsVerify,
    /// Unusable files that a configuration names, by the option that would replace them.
    unusable: Vec<(&'static str, String)>,
}

/// The proof that a server's certificate must give, see [`crate::Config::tls_verify`]. Its text is the name in small
/// letters.
///
/// ```
/// assert_eq!("ca".parse::<redlatch::TlsVerify>().unwrap(), redlatch::TlsVerify::Ca);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsVerify {
    /// A trusted authority has signed it, for the host of the address.
    #[default]
    Full,
    /// A trusted authority has signed it, for any host.
    Ca,
    /// No proof: an attacker on the way can read and change everything.
    None,
}

impl FromStr for TlsVerify {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "full" => Ok(TlsVerify::Full),
            "ca" => Ok(TlsVerify::Ca),
            "none" => Ok(TlsVerify::None),
            _ => Err(Error::config(format!(
                "the tls_verify `{}` is neither full nor ca nor none",
                shown::value("tls_verify", text)
            ))),
        }
    }
}

impl Display for TlsVerify {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TlsVerify::Full => "full",
            TlsVerify::Ca => "ca",
            TlsVerify::None => "none",
        })
    }
}

impl Tls {
    /// Sets `tls_ca`, `tls_cert`, `tls_key` (PEM files, or their content) or `tls_verify`.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        if option == "tls_verify" {
            self.verify = value.parse()?;
            return Ok(());
        }
        let text = read(option, value)?;
        fits(option, &text, &shown::value(option, value))?;
        self.put(option, text);
        Ok(())
    }

    /// Sets `tls_ca`, `tls_cert` or `tls_key` to the content of a PEM file, which [`Tls::check`] looks at.
    pub fn put(&mut self, option: &str, text: Vec<u8>) {
        self.unusable.retain(|(replaced, _)| *replaced != option);
        match option {
            "tls_ca" => self.ca = Some(text),
            "tls_cert" => self.cert = Some(text),
            _ => self.key = Some(text),
        }
    }

    /// Makes [`Tls::check`] fail with this error until a program sets the option.
    #[cfg(feature = "redisson-config")]
    pub fn instead(&mut self, option: &'static str, error: Error) {
        self.unusable.push((option, error.to_string()));
    }

    /// Checks the file of authorities that the environment names, if a connection would use it: the authorities of another
    /// list are not those that the program's user has chosen. `file`: the value of `SSL_CERT_FILE`.
    #[cfg(feature = "__tls")]
    pub fn check_system(&self, used: bool, file: Option<OsString>) -> Result<()> {
        let Some(file) =
            file.filter(|file| used && self.ca.is_none() && self.verify != TlsVerify::None && !file.is_empty())
        else {
            return Ok(());
        };
        let read = std::fs::read(&file).map_err(|error| error.to_string());
        read.and_then(|text| crypto::certificates(&text).map(drop)).map_err(|why| {
            Error::config(format!(
                "SSL_CERT_FILE names the file `{}`, which has no certificates to trust ({why}); mend or unset it, or set tls_ca",
                shown::value("SSL_CERT_FILE", &file.to_string_lossy())
            ))
        })
    }

    #[cfg(not(feature = "__tls"))]
    pub fn check_system(&self, _: bool, _: Option<OsString>) -> Result<()> {
        Ok(())
    }

    /// Checks whether the options can be used for these servers, and whether every one has the others that it needs.
    pub fn check(&self, servers: &Servers) -> Result<()> {
        let used = servers.is_tls();
        #[cfg(not(feature = "__tls"))]
        if used {
            return Err(Error::config(format!("{servers} wants TLS, and {FEATURE}")));
        }
        if let Some((_, why)) = self.unusable.first() {
            return Err(Error::config(why));
        }
        let texts = [("tls_ca", &self.ca), ("tls_cert", &self.cert), ("tls_key", &self.key)];
        let set = self.verify != TlsVerify::Full || texts.iter().any(|(_, text)| text.is_some());
        if set && !used {
            let secured = servers.secured_scheme();
            return Err(Error::config(format!(
                "{servers} goes without TLS, so no tls option applies; write {secured}://"
            )));
        }
        for (option, text) in texts {
            if let Some(text) = text {
                fits(option, text, &shown::hidden(&String::from_utf8_lossy(text)))?;
            }
        }
        match (&self.cert, &self.key) {
            (Some(_), None) => {
                Err(Error::config("tls_cert is set but tls_key is not; name the file of its private key too"))
            }
            (None, Some(_)) => {
                Err(Error::config("tls_key is set but tls_cert is not; name the file of its certificate too"))
            }
            #[cfg(feature = "__tls")]
            (Some(cert), Some(key)) => crypto::identity(cert, key).map(drop).map_err(|why| {
                Error::config(format!(
                    "tls_cert and tls_key are no certificate and its key ({why}); name two files that belong together"
                ))
            }),
            _ => Ok(()),
        }
    }
}

/// Checks the content of the file of an option; `shown`: the part of its name, or of the content, that a message may
/// show.
#[cfg(feature = "__tls")]
fn fits(option: &str, text: &[u8], shown: &str) -> Result<()> {
    let (found, wanted) = match option {
        "tls_key" => (crypto::key(text).map(drop), "a private key without a password"),
        "tls_ca" => (crypto::authorities(text).map(drop), "the certificate of an authority"),
        _ => (crypto::certificates(text).map(drop), "at least one certificate"),
    };
    found.map_err(|why| Error::config(format!("the file `{shown}` of {option} is no PEM file with {wanted}: {why}")))
}

#[cfg(not(feature = "__tls"))]
fn fits(option: &str, _: &[u8], _: &str) -> Result<()> {
    Err(Error::config(format!("{option} has no use: {FEATURE}")))
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
