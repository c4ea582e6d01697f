//! The login: the server's greeting, TLS, and the proof of the password. The crate `mysql_common` makes the proofs.

use std::io::{Error, ErrorKind};
use std::panic::catch_unwind;

use mysql_common::crypto::encrypt;
use mysql_common::scramble::{scramble_native, scramble_sha256};

use crate::config::login::Credentials;
use crate::sessions::mysql::wire::{Parts, Refusal, Wire};

// The abilities that the two sides tell each other.
const LONG_PASSWORD: u64 = 1;
const LONG_FLAG: u64 = 1 << 2;
const WITH_SCHEMA: u64 = 1 << 3;
const PROTOCOL_41: u64 = 1 << 9;
#[cfg(feature = "__tls")]
const TLS: u64 = 1 << 11;
const TRANSACTIONS: u64 = 1 << 13;
const SECURE: u64 = 1 << 15;
const PLUGINS: u64 = 1 << 19;
const ATTRIBUTES: u64 = 1 << 20;

/// The collation utf8mb4_general_ci.
const UTF8MB4: u8 = 45;
const LONGEST_PACKET: [u8; 4] = (1u32 << 24).to_le_bytes();

/// The reason why a login failed.
pub enum Failed {
    Refused(Refusal),
    Broken(Error),
    /// In words.
    Unsuited(String),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Broken(error)
    }
}

/// The server's first packet.
pub struct Greeting {
    pub version: String,
    /// The number of the session, as the server tells it.
    pub id: u32,
    abilities: u64,
    nonce: Vec<u8>,
    plugin: String,
    number: u8,
}

/// Reads the greeting.
pub async fn greeting(wire: &mut Wire) -> Result<Greeting, Failed> {
    let packet = wire.receive().await?;
    let mut parts = Parts(&packet.content);
    match parts.byte()? {
        10 => {}
        0xff => return Err(Failed::Refused(Refusal::new(&packet.content))),
        _ => return Err(Error::new(ErrorKind::InvalidData, "the server speaks another protocol").into()),
    }
    let version = String::from_utf8_lossy(parts.until_zero()).into_owned();
    let id = parts.number(4)? as u32;
    let mut nonce = parts.bytes(8)?.to_vec();
    parts.byte()?;
    let low = parts.number(2)?;
    parts.bytes(3)?;
    let high = parts.number(2)?;
    let length = usize::from(parts.byte()?);
    parts.bytes(10)?;
    let rest = parts.bytes(length.saturating_sub(8).max(13).min(parts.0.len()))?;
    nonce.extend_from_slice(rest.strip_suffix(&[0]).unwrap_or(rest));
    let plugin = String::from_utf8_lossy(parts.until_zero()).into_owned();
    Ok(Greeting { version, id, abilities: low | high << 16, nonce, plugin, number: packet.number })
}

/// Logs in on a connection whose greeting has come.
pub async fn log_in(
    wire: Wire,
    greeting: Greeting,
    credentials: &Credentials,
    schema: Option<&str>,
    #[cfg(feature = "__tls")] tls: Option<(tokio_rustls::TlsConnector, rustls::pki_types::ServerName<'static>)>,
) -> Result<Wire, Failed> {
    let Greeting { abilities, nonce, plugin, number, .. } = greeting;
    if abilities & PROTOCOL_41 == 0 || abilities & PLUGINS == 0 {
        return Err(Failed::Unsuited("speaks an older protocol than that of MySQL 5.7".into()));
    }
    let mut own = LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE | PLUGINS | (abilities & ATTRIBUTES);
    if schema.is_some() {
        own |= WITH_SCHEMA;
    }
    #[cfg(not(feature = "__tls"))]
    let mut wire = wire;
    #[cfg(feature = "__tls")]
    let mut number = number;
    #[cfg(feature = "__tls")]
    let mut wire = match tls {
        None => wire,
        Some(_) if abilities & TLS == 0 => {
            return Err(Failed::Unsuited(
                "has no TLS; write mysql://, or give it a certificate (ssl_cert, ssl_key)".into(),
            ));
        }
        Some((connector, name)) => {
            use crate::sessions::stream::Stream;
            let mut wire = wire;
            own |= TLS;
            number += 1;
            wire.send(number, &head(own)).await?;
            let Stream::Plain(tcp) = wire.into_stream() else {
                return Err(Failed::Unsuited("is secured already".into()));
            };
            Wire::new(Stream::Secured(Box::new(connector.connect(name, tcp).await?)))
        }
    };
    let password = credentials.password.as_deref().unwrap_or_default().as_bytes();
    let mut response = head(own);
    response.extend_from_slice(credentials.username.as_deref().unwrap_or_default().as_bytes());
    response.push(0);
    // A plugin that the client does not have may still ask for another.
    let proof = prove(&plugin, password, &nonce, wire.is_secured()).unwrap_or_default();
    response.push(proof.len() as u8);
    response.extend_from_slice(&proof);
    if let Some(schema) = schema {
        response.extend_from_slice(schema.as_bytes());
        response.push(0);
    }
    response.extend_from_slice(plugin.as_bytes());
    response.push(0);
    if own & ATTRIBUTES != 0 {
        let words = ["program_name", "redlatch", "_client_version", env!("CARGO_PKG_VERSION")];
        let attributes: Vec<u8> =
            words.iter().flat_map(|word| [&[word.len() as u8], word.as_bytes()].concat()).collect();
        response.push(attributes.len() as u8);
        response.extend_from_slice(&attributes);
    }
    wire.send(number + 1, &response).await?;
    settle(&mut wire, password, nonce, plugin).await?;
    Ok(wire)
}

/// The part of a login that stands before the user.
fn head(abilities: u64) -> Vec<u8> {
    let mut head = (abilities as u32).to_le_bytes().to_vec();
    head.extend_from_slice(&LONGEST_PACKET);
    head.push(UTF8MB4);
    head.resize(32, 0);
    head
}

/// Answers the server's questions until it lets the client in.
async fn settle(wire: &mut Wire, password: &[u8], mut nonce: Vec<u8>, mut plugin: String) -> Result<(), Failed> {
    loop {
        let packet = wire.receive().await?;
        let next = packet.number.wrapping_add(1);
        match packet.content.as_slice() {
            [0, ..] => return Ok(()),
            [0xff, ..] => return Err(Failed::Refused(Refusal::new(&packet.content))),
            [0xfe] => return Err(Failed::Unsuited("wants a password in the form of MySQL 4.0".into())),
            [0xfe, rest @ ..] => {
                let mut parts = Parts(rest);
                plugin = String::from_utf8_lossy(parts.until_zero()).into_owned();
                nonce = parts.0.strip_suffix(&[0]).unwrap_or(parts.0).to_vec();
                let proof = prove(&plugin, password, &nonce, wire.is_secured()).map_err(Failed::Unsuited)?;
                wire.send(next, &proof).await?;
            }
            // The server has the password's hash, and accepts the proof.
            [1, 3] => {}
            // It wants the password itself, which only TLS or the server's own key protects.
            [1, 4] if wire.is_secured() => wire.send(next, &[password, &[0]].concat()).await?,
            [1, 4] => wire.send(next, &[2]).await?,
            [1, key @ ..] if plugin == "caching_sha2_password" && !wire.is_secured() => {
                let hidden: Vec<u8> =
                    password.iter().chain([&0]).zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
                // The crate panics at a key that is none, and at a password that is longer than the key.
                let sealed = catch_unwind(|| encrypt(&hidden, key)).map_err(|_| {
                    Failed::Unsuited(
                        "gives a key by which the password cannot be sent; use mysqls:// or another server".into(),
                    )
                })?;
                wire.send(next, &sealed).await?;
            }
            _ => return Err(Error::new(ErrorKind::InvalidData, "the server speaks another protocol").into()),
        }
    }
}

/// The proof of a password.
fn prove(plugin: &str, password: &[u8], nonce: &[u8], is_secured: bool) -> Result<Vec<u8>, String> {
    match plugin {
        _ if password.is_empty() => Ok(Vec::new()),
        "mysql_native_password" => Ok(scramble_native(nonce, password).map(Vec::from).unwrap_or_default()),
        "caching_sha2_password" => Ok(scramble_sha256(nonce, password).map(Vec::from).unwrap_or_default()),
        "mysql_clear_password" if is_secured => Ok([password, &[0]].concat()),
        "mysql_clear_password" => {
            Err("wants the password in clear text; write mysqls://, so that TLS protects it".into())
        }
        other => Err(format!(
            "logs this user in by the plugin {other}, which redlatch does not have; give the user caching_sha2_password or \
             mysql_native_password"
        )),
    }
}
