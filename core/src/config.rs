//! One configuration for every language: a URL, options by name, and the environment.

use std::time::Duration;

use crate::command::NAME_MAX;
use crate::error::{Error, Result};
use crate::tls::Tls;

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp { host: String, port: u16, tls: bool },
    Unix(String),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp { host, port, tls } => write!(f, "{}://{host}:{port}", if *tls { "rediss" } else { "redis" }),
            Address::Unix(path) => write!(f, "unix://{path}"),
        }
    }
}

/// Everything a client needs to know. Set fields by [`Config::set`]; connecting takes a copy.
#[derive(Clone)]
pub struct Config {
    pub(crate) address: Address,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: i64,
    pub(crate) client_name: Option<String>,
    pub(crate) prefix: String,
    /// How long one call may stay unanswered.
    pub(crate) response_timeout: Duration,
    /// How long an operation is tried again while the server cannot be reached or does not answer.
    pub(crate) retry_for: Duration,
    pub(crate) connect_timeout: Duration,
    /// The lease of holds without one of their own; they are renewed every third of it.
    pub(crate) watchdog: Duration,
    pub(crate) tls: Tls,
}

const OPTIONS: &str = "username, password, database, client_name, prefix, response_timeout, retry_for, connect_timeout, watchdog, \
                       tls_ca, tls_cert, tls_key, tls_verify";

impl Config {
    /// From a URL: `redis://[user:password@]host[:port][/database][?option=value…]`, `rediss://…` with TLS, `unix:///path[?db=n]`;
    /// also Redisson's spellings `valkey://`, `valkeys://`, `redis+uds://`, `valkey+uds://`. Options are those of [`Config::set`].
    pub fn from_url(text: &str) -> Result<Self> {
        let shown = short(&hide_password(text));
        let bad = |why: &str| {
            Error::config(format!("the URL `{shown}` {why}; write redis://host:6379, rediss://host:6379 or unix:///path/to/socket"))
        };
        let url = url::Url::parse(text).map_err(|e| bad(&format!("cannot be read: {e}")))?;
        let host = || match url.host() {
            Some(url::Host::Ipv6(ip)) => Ok(ip.to_string()),
            Some(host) if !host.to_string().is_empty() => Ok(host.to_string()),
            _ => Err(bad("names no host")),
        };
        let (address, path_is_database) = match url.scheme() {
            "redis" | "valkey" => (Address::Tcp { host: host()?, port: url.port().unwrap_or(6379), tls: false }, true),
            "rediss" | "valkeys" => (Address::Tcp { host: host()?, port: url.port().unwrap_or(6379), tls: true }, true),
            "unix" | "redis+unix" | "redis+uds" | "valkey+uds" => (Address::Unix(decode(url.path())), false),
            other => return Err(bad(&format!("has the scheme `{other}`"))),
        };
        if address == Address::Unix(String::new()) {
            return Err(bad("names no socket"));
        }
        if let Address::Tcp { port: 0, .. } = address {
            return Err(bad("has port 0"));
        }
        let mut config = Config {
            address,
            username: Some(decode(url.username())).filter(|name| !name.is_empty()),
            password: url.password().map(decode),
            database: 0,
            client_name: None,
            prefix: String::new(),
            response_timeout: Duration::from_secs(3),
            retry_for: Duration::from_secs(3),
            connect_timeout: Duration::from_secs(10),
            watchdog: Duration::from_secs(30),
            tls: Tls::default(),
        };
        let database = url.path().trim_start_matches('/');
        if path_is_database && !database.is_empty() {
            config.set("database", database)?;
        }
        for (option, value) in url.query_pairs() {
            config.set(&option, &value)?;
        }
        config.check()?;
        Ok(config)
    }

    /// From `REDLATCH_URL`, else `REDIS_URL`, else `redis://localhost:6379`.
    pub fn from_env() -> Result<Self> {
        let set = |name| std::env::var(name).ok().filter(|url| !url.is_empty());
        match set("REDLATCH_URL").or_else(|| set("REDIS_URL")) {
            Some(url) => Config::from_url(&url),
            None => Config::from_url("redis://localhost:6379"),
        }
    }

    /// Sets one option. Times are seconds (`30`, `0.5`).
    ///
    /// For `rediss://`: `tls_ca` is a PEM file with the authorities to trust (else those of the system), `tls_cert` and `tls_key` are PEM
    /// files with the client's own certificate and key, where the server wants one, and `tls_verify` is what the server's certificate must
    /// prove: `full` (the default: a trusted authority signed it, for this host), `ca` (for whatever host) or `none` (nothing; whoever is
    /// on the way can read and change everything). The files are read at once.
    ///
    /// # Errors
    /// `Error::Config` for an option that does not exist, and for a value that it cannot take.
    pub fn set(&mut self, option: &str, value: &str) -> Result<&mut Self> {
        if value.len() > NAME_MAX {
            let (start, len) = (short(value), value.len());
            return Err(Error::config(format!("the {option} `{start}` has {len} bytes, the most is {NAME_MAX}; use a shorter one")));
        }
        match option {
            "username" => self.username = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "password" => self.password = Some(value.to_owned()).filter(|word| !word.is_empty()),
            "database" | "db" => {
                self.database = value
                    .parse()
                    .ok()
                    .filter(|n| (0..=1_000_000).contains(n))
                    .ok_or_else(|| Error::config(format!("the database `{value}` is not a number from 0; leave it out for 0")))?;
            }
            "client_name" => {
                if value.chars().any(|c| !c.is_ascii_graphic()) {
                    return Err(Error::config(format!(
                        "the client_name `{}` has a space or a special character; Redis takes neither",
                        short(value)
                    )));
                }
                self.client_name = Some(value.to_owned()).filter(|name| !name.is_empty());
            }
            "prefix" => self.prefix = value.to_owned(),
            "response_timeout" => self.response_timeout = seconds(option, value, 0.001)?,
            "retry_for" => self.retry_for = seconds(option, value, 0.0)?,
            "connect_timeout" => self.connect_timeout = seconds(option, value, 0.001)?,
            "watchdog" => self.watchdog = seconds(option, value, 0.1)?,
            "tls_ca" | "tls_cert" | "tls_key" | "tls_verify" => self.tls.set(option, value)?,
            _ => return Err(Error::config(format!("the option `{option}` does not exist; there are {OPTIONS}"))),
        }
        Ok(self)
    }

    /// Whether the options go together.
    ///
    /// # Errors
    /// `Error::Config` for TLS options on an address without TLS, and for a certificate without its key.
    pub fn check(&self) -> Result<()> {
        self.tls.check(matches!(self.address, Address::Tcp { tls: true, .. }), &self.address)
    }

    /// The address, without user and password.
    pub fn server(&self) -> String {
        self.address.to_string()
    }
}

/// As much of a text as a message has room for.
fn short(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn seconds(option: &str, value: &str, least: f64) -> Result<Duration> {
    let bad = || Error::config(format!("the {option} `{value}` is not a number of seconds from {least} to 31536000"));
    let number: f64 = value.parse().map_err(|_| bad())?;
    if !(least..=31_536_000.0).contains(&number) {
        return Err(bad());
    }
    Ok(Duration::from_secs_f64(number))
}

fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn hide_password(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 < at => format!("{}://…{}", &text[..scheme], &text[at..]),
        _ => text.to_owned(),
    }
}
