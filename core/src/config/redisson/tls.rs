//! The settings for TLS in Redisson's files. Redisson's key stores are Java's; here they are PEM.

use super::either;
use super::section::Section;
use crate::config::Config;
use crate::request::error::{Error, Result};
use crate::request::shown;

pub fn read(config: &mut Config, top: &Section, server: &Section) -> Result<()> {
    const WORDS: [&str; 3] = ["STRICT", "CA_ONLY", "NONE"];
    let strict = if server.truth("sslEnableEndpointIdentification", true)? { "STRICT" } else { "CA_ONLY" };
    let of_servers = server.word("sslVerificationMode", &WORDS)?.unwrap_or(strict);
    // The default counts as not set, even if the file writes it.
    let word = top.word("sslVerificationMode", &WORDS)?.filter(|word| *word != "STRICT").unwrap_or(of_servers);
    config.set(
        "tls_verify",
        if word == "NONE" {
            "none"
        } else if word == "CA_ONLY" {
            "ca"
        } else {
            "full"
        },
    )?;
    // The file itself shows its type, and PEM has no password.
    for idle in ["sslKeystoreType", "sslTruststorePassword", "sslKeystorePassword", "sslProvider"] {
        let _ = (top.get(idle), server.get(idle));
    }
    for (setting, options) in [("sslTruststore", &["tls_ca"][..]), ("sslKeystore", &["tls_cert", "tls_key"])] {
        let Some(url) = either(top, server, setting)? else { continue };
        for option in options {
            let set = path(setting, &url)
                .and_then(|path| pem(setting, &path))
                .and_then(|path| config.set(option, &path).map(drop));
            // An option may name another file, which makes this one unnecessary.
            if let Err(error) = set {
                config.tls.instead(option, error);
            }
        }
    }
    Ok(())
}

/// Reads `file:/etc/ca.pem`, or a path.
fn path(setting: &str, url: &str) -> Result<String> {
    match url.split_once(':') {
        Some(("file", path)) => Ok(crate::config::servers::decode(path.strip_prefix("//").unwrap_or(path))),
        Some((scheme, rest)) if rest.starts_with("//") => Err(Error::config(format!(
            "{setting} is `{}`, and nothing is fetched by {scheme}; name a PEM file, as in file:/etc/ca.pem",
            shown::value(setting, url)
        ))),
        _ => Ok(url.to_owned()),
    }
}

fn pem(setting: &str, path: &str) -> Result<String> {
    let content = std::fs::read(path).map_err(|error| {
        Error::config(format!("the file `{}` of {setting} cannot be read: {error}", shown::value(setting, path)))
    })?;
    let kind = match &content[..] {
        [0xfe, 0xed, 0xfe, 0xed, ..] => "JKS",
        [0xce, 0xce, 0xce, 0xce, ..] => "JCEKS",
        [0x30, 0x80..=0x84, ..] => "PKCS12",
        _ => return Ok(path.to_owned()),
    };
    let (out, options) =
        if setting == "sslTruststore" { ("-nokeys", "tls_ca") } else { ("-nodes", "tls_cert and tls_key") };
    Err(Error::config(format!(
        "the file `{path}` of {setting} is a key store of Java ({kind}), which only the JVM reads; write what is in it to a PEM file \
         (`keytool -importkeystore` makes PKCS12 of it, and `openssl pkcs12 -in store.p12 {out} -out store.pem` PEM), and name that there \
         or with {options}"
    )))
}
