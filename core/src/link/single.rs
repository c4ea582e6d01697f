//! One server: its address, how a connection to it is opened, and what its errors mean.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, RedisError, io::tcp::TcpSettings};

use super::clock::Clock;
use super::{Elsewhere, Outcome, Reply, reply, tls};
use crate::config::{Address, Config};
use crate::error::Error;

/// Whether channels belong to slots of a cluster, as keys do: then messages are sent, and listened to, by other commands.
#[derive(Default)]
pub struct Sharding(OnceLock<bool>);

impl Sharding {
    pub fn decide(&self, on: bool) {
        let _ = self.0.set(on);
    }

    pub fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn is_on(&self) -> bool {
        self.0.get().copied().unwrap_or_default()
    }

    /// Which command wakes the waiters.
    pub fn publish(&self) -> &'static str {
        if self.is_on() { "SPUBLISH" } else { "PUBLISH" }
    }
}

pub struct Server {
    pub sharding: Arc<Sharding>,
    pub blocking: redis::Client,
    pub pushing: redis::Client,
    pub name: String,
    pub address: Address,
    pub client_name: Option<String>,
    pub connect_timeout: Duration,
}

impl Server {
    pub fn new(config: &Config, address: &Address, sharding: Arc<Sharding>) -> Result<Self, Error> {
        let client = |protocol| {
            let addr = match address.clone() {
                Address::Tcp { host, port, tls: false } => ConnectionAddr::Tcp(host, port),
                Address::Tcp { host, port, tls: true } => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
                Address::Unix(path) => ConnectionAddr::Unix(path.into()),
            };
            // The handshake's time-out counts for each reply of it, so it is kept to as few as can be.
            let mut redis = RedisConnectionInfo::default().set_db(config.database).set_protocol(protocol).set_skip_set_lib_name();
            if let Some(username) = &config.username {
                redis = redis.set_username(username);
            }
            if let Some(password) = &config.password {
                redis = redis.set_password(password);
            }
            let info = addr.into_connection_info()?.set_redis_settings(redis).set_tcp_settings(TcpSettings::default().set_nodelay(true));
            if address.is_tls() { tls::client(info, &config.tls) } else { redis::Client::open(info) }
        };
        let bad = |error: RedisError| Error::config(format!("{address} cannot be used: {error}; check the address"));
        Ok(Server {
            sharding,
            blocking: client(redis::ProtocolVersion::RESP2).map_err(bad)?,
            pushing: client(redis::ProtocolVersion::RESP3).map_err(bad)?,
            name: address.to_string(),
            address: address.clone(),
            client_name: config.client_name.clone(),
            connect_timeout: config.connect_timeout,
        })
    }

    /// What is sent first on each connection: who we are, who we are to the server, and what the clock shows.
    pub fn greeting(&self) -> redis::Pipeline {
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        if let Some(name) = &self.client_name {
            pipe.cmd("CLIENT").arg("SETNAME").arg(name).ignore();
        }
        pipe.cmd("CLIENT").arg("ID").cmd("TIME");
        pipe
    }

    pub fn unavailable(&self, cause: impl Into<String>, timeout: bool) -> Error {
        Error::Unavailable { server: self.name.clone(), cause: cause.into(), timeout }
    }

    /// The slot of a call is on its way to another server.
    pub fn moving(&self) -> Error {
        self.unavailable("is giving the slot to another server", false)
    }

    /// An error of the way to the server, in words.
    pub fn broken(&self, error: &RedisError) -> Error {
        if error.is_timeout() || error.to_string().contains("Resource temporarily unavailable") {
            return self.unavailable("does not answer in time", true);
        }
        match error.kind() {
            redis::ErrorKind::Parse => self.unavailable("does not speak the Redis protocol", false),
            redis::ErrorKind::RESP3NotSupported => Error::Unsupported(format!("{} knows no RESP3; use Redis 6 or newer", self.name)),
            _ if error.is_connection_refusal() => self.unavailable("refuses connections", false),
            _ => self.unavailable(format!("cannot be reached ({error})"), false),
        }
    }

    /// What an error of opening a connection means: nothing was sent.
    pub fn not_opened(&self, error: &RedisError) -> Outcome {
        if let Some(objection) = tls::objection(error) {
            return Outcome::Refused(self.unavailable(objection, false));
        }
        match self.said_no("the connection", error) {
            Some(outcome) => outcome,
            None => match (error.kind(), self.broken(error)) {
                (redis::ErrorKind::RESP3NotSupported, error) => Outcome::Refused(error),
                (redis::ErrorKind::InvalidClientConfig, _) => Outcome::Refused(Error::config(format!("{}: {error}", self.name))),
                (_, Error::Unavailable { timeout: true, .. }) => Outcome::Unsent(self.late_to_open()),
                (_, Error::Unavailable { .. }) if error.is_connection_dropped() && !self.address.is_tls() => {
                    Outcome::Unsent(self.unavailable("closed the connection at once (does its port want TLS? then write rediss://)", false))
                }
                (_, error) => Outcome::Unsent(error),
            },
        }
    }

    /// No connection came about in time.
    pub fn late_to_open(&self) -> Error {
        let hint = if self.address.is_tls() { " (is its port without TLS? then write redis://)" } else { "" };
        self.unavailable(format!("does not answer in time{hint}"), true)
    }

    /// What an error that the server itself reports means; `None`: it is not one.
    pub fn said_no(&self, what: &str, error: &RedisError) -> Option<Outcome> {
        let code = error.code().or(match error.kind() {
            redis::ErrorKind::AuthenticationFailed => Some("WRONGPASS"),
            _ => None,
        })?;
        let (code, detail) = of_script(code, error.detail().unwrap_or_default());
        // Redis adds where in which script it happened: of no use to a caller.
        let message = detail.split(" script: ").next().unwrap_or_default();
        // Of a key beside the lock's own: those tell by themselves what they find.
        let message =
            format!("{message}{}", if code == "WRONGTYPE" { "; use another name, or delete the key if it is of no use" } else { "" });
        Some(match code {
            "LOADING" | "BUSY" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN" | "READONLY" | "NOREPLICAS" => {
                Outcome::Unsent(Error::Refused { what: what.into(), code: code.into(), message })
            }
            _ => Outcome::Refused(Error::Refused { what: what.into(), code: code.into(), message }),
        })
    }

    /// Where the server says that a call belongs; `None`: its error is another one.
    pub fn redirection(&self, error: &RedisError) -> Option<Elsewhere> {
        let (to, _) = error.redirect_node()?;
        let (host, port) = to.rsplit_once(':')?;
        let to = self.address.near(host, port.parse().ok()?)?;
        Some(Elsewhere { to, ask: error.code() == Some("ASK") })
    }

    /// What a script's value means; a refusal for lateness teaches the clock.
    pub fn understood(&self, value: redis::Value, clock: &Clock, asked: Instant) -> Outcome {
        match reply(value) {
            Some(Reply { code: -2, numbers, .. }) => {
                clock.learn(numbers.first().copied().unwrap_or_default(), asked);
                Outcome::TooLate
            }
            Some(reply) => Outcome::Reply(reply),
            None => Outcome::Refused(self.unavailable("answers what no script of ours does", false)),
        }
    }
}

/// The code and the words of an error. Servers before 7 call all those of scripts `ERR`, and say the real one behind where it happened.
fn of_script<'a>(code: &'a str, detail: &'a str) -> (&'a str, &'a str) {
    let place = match (code, detail.rsplit_once("@user_script:")) {
        ("ERR", Some((_, place))) => place,
        ("@user_script:", _) => detail,
        _ => return (code, detail),
    };
    let said = place.split_once(": ").map_or(place, |(_, said)| said).trim_start_matches('-');
    match said.split_once(' ') {
        Some((code, words)) if code.bytes().all(|letter| letter.is_ascii_uppercase()) => (code, words),
        _ if said.contains("can't run this command") => ("NOPERM", said),
        _ => ("ERR", said),
    }
}

/// What the server answers to [`Server::greeting`]: its number for this connection, if it tells, and its time.
pub type Greeted = (redis::RedisResult<i64>, redis::RedisResult<(i64, i64)>);

/// Server ms out of what `TIME` answers.
pub fn time_ms((seconds, micros): (i64, i64)) -> i64 {
    seconds * 1000 + micros / 1000
}

#[cfg(test)]
mod tests {
    use super::of_script;

    #[test]
    fn an_error_of_a_script_has_its_own_code_whichever_server_says_it() {
        for (detail, code, words) in [
            ("Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against", "WRONGTYPE", "Operation against"),
            ("Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not", "OOM", "command not"),
            (
                "Error running script (call to f_1): @user_script:9: @user_script: 9: The user can't run this command",
                "NOPERM",
                "The user can't run this command",
            ),
            ("Error running script (call to f_1): @user_script:2: attempt to index", "ERR", "attempt to index"),
        ] {
            assert_eq!(of_script("ERR", detail), (code, words));
        }
        assert_eq!(of_script("@user_script:", "9: -OOM command not"), ("OOM", "command not"));
        assert_eq!(of_script("OOM", "command not allowed"), ("OOM", "command not allowed"));
    }
}
