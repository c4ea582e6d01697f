//! One server: its address, how a connection to it is opened, and what its errors mean.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, RedisError, RedisResult, io::tcp::TcpSettings};

use super::clock::Clock;
use super::sharding::Sharding;
use super::{Elsewhere, Outcome, Reply, reply, tls};
use crate::config::{Address, Config};
use crate::error::Error;
use crate::login::Login;
use crate::nat::Nat;

pub struct Server {
    pub sharding: Arc<Sharding>,
    login: Arc<Login>,
    nat: Nat,
    blocking: redis::Client,
    pushing: redis::Client,
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
            let redis = settings(config.database, protocol, config.username.as_deref(), config.password.as_deref());
            let info = addr.into_connection_info()?.set_redis_settings(redis).set_tcp_settings(TcpSettings::default().set_nodelay(true));
            if address.is_tls() { tls::client(info, &config.tls) } else { redis::Client::open(info) }
        };
        let bad = |error: RedisError| Error::config(format!("{address} cannot be used: {error}; check the address"));
        Ok(Server {
            sharding,
            login: config.login.clone(),
            nat: config.nat.clone(),
            blocking: client(redis::ProtocolVersion::RESP2).map_err(bad)?,
            pushing: client(redis::ProtocolVersion::RESP3).map_err(bad)?,
            name: address.to_string(),
            address: address.clone(),
            client_name: config.client_name.clone(),
            connect_timeout: config.connect_timeout,
        })
    }

    /// Opens connections that one thread drives, with the login that counts now.
    pub fn blocking(&self) -> RedisResult<redis::Client> {
        self.logged_in(&self.blocking)
    }

    /// Opens connections over which the server also tells what nobody has asked.
    pub fn pushing(&self) -> RedisResult<redis::Client> {
        self.logged_in(&self.pushing)
    }

    fn logged_in(&self, client: &redis::Client) -> RedisResult<redis::Client> {
        let Some(login) = self.login.latest() else { return Ok(client.clone()) };
        let info = client.get_connection_info().clone();
        let (database, protocol) = (info.redis_settings().db(), info.redis_settings().protocol());
        redis::Client::open(info.set_redis_settings(settings(database, protocol, login.username.as_deref(), login.password.as_deref())))
    }

    /// What is sent first on each connection: who we are, who we are to the server, and what the clock shows. Servers before 7.2 do not
    /// know all of it, and an ACL may not allow it.
    pub fn greeting(&self) -> redis::Pipeline {
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        pipe.cmd("CLIENT").arg(&["SETINFO", "LIB-NAME", "redlatch"]).ignore();
        pipe.cmd("CLIENT").arg(&["SETINFO", "LIB-VER", env!("CARGO_PKG_VERSION")]).ignore();
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
        // Of a key beside the lock's own: those tell by themselves what they find.
        let message =
            format!("{detail}{}", if code == "WRONGTYPE" { "; use another name, or delete the key if it is of no use" } else { "" });
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
        let to = self.address.near(host, port.parse().ok()?, &self.nat)?;
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

/// The handshake's time-out counts for each reply of it, so it is kept to as few as can be.
fn settings(database: i64, protocol: redis::ProtocolVersion, username: Option<&str>, password: Option<&str>) -> RedisConnectionInfo {
    let mut redis = RedisConnectionInfo::default().set_db(database).set_protocol(protocol).set_skip_set_lib_name();
    if let Some(username) = username {
        redis = redis.set_username(username);
    }
    if let Some(password) = password {
        redis = redis.set_password(password);
    }
    redis
}

/// The code and the words of an error. Those of scripts have where it happened behind them, or on servers before 7, which call them all
/// `ERR`, before them and before the real code.
fn of_script<'a>(code: &'a str, detail: &'a str) -> (&'a str, &'a str) {
    if let Some((said, _)) = detail.rsplit_once(" script: ") {
        return (if code == "ERR" && is_of_acl(said) { "NOPERM" } else { code }, said);
    }
    let place = match (code, detail.rsplit_once("@user_script:")) {
        ("ERR", Some((_, place))) => place,
        ("@user_script:", _) => detail,
        _ => return (code, detail),
    };
    let said = place.split_once(": ").map_or(place, |(_, said)| said).trim_start_matches('-');
    match said.split_once(' ') {
        Some((code, words)) if code.bytes().all(|letter| letter.is_ascii_uppercase()) => (code, words),
        _ if is_of_acl(said) => ("NOPERM", said),
        _ => ("ERR", said),
    }
}

/// Whether a script was refused what it asked for, in the words of Redis 6 and 7, or of Valkey and Redis 8.
fn is_of_acl(said: &str) -> bool {
    said.contains("can't run this command") || said.contains("can't access at least one of the keys") || said.starts_with("ACL failure")
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
        let (older, newer) =
            ("The user executing the script can't run this command or subcommand", "ACL failure in script: User u has no permissions");
        assert_eq!(of_script("ERR", &format!("{older} script: a03f, on @user_script:41.")), ("NOPERM", older));
        assert_eq!(of_script("ERR", &format!("{newer} script: on @user_script:1.")), ("NOPERM", newer));
        assert_eq!(of_script("WRONGTYPE", "Operation against script: a03f, on @user_script:1."), ("WRONGTYPE", "Operation against"));
        assert_eq!(of_script("@user_script:", "9: -OOM command not"), ("OOM", "command not"));
        assert_eq!(of_script("OOM", "command not allowed"), ("OOM", "command not allowed"));
    }
}
