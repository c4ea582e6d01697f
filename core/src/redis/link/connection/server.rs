//! One server: its address, the opening of a connection to it, and the meaning of its errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{
    AsyncConnectionConfig, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, RedisError, RedisResult,
    io::tcp::TcpSettings,
};

use super::clock::Clock;
use super::eviction::Eviction;
use super::refusal::{of_script, remedy, without_arguments};
use super::socket::Socket;
#[cfg(feature = "__tls")]
use super::tls::{self, Connector};
use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::base::tasks::Bound;
use crate::config::Config;
use crate::config::address_map::AddressMap;
use crate::config::login::Login;
use crate::config::servers::Address;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::link::topology::sharding::Sharding;
use crate::redis::link::{Elsewhere, Outcome};
use crate::request::error::{Error, ServerError, Source};

/// The cause of an error: the call needs keys that are at two servers meanwhile.
pub const MOVING: &str = "is giving the slot to another server";

pub struct Server {
    pub sharding: Arc<Sharding>,
    login: Arc<Login>,
    nat: AddressMap,
    blocking: redis::Client,
    pushing: redis::Client,
    /// Opens the connections if the address asks for TLS; then the two clients only have the login.
    #[cfg(feature = "__tls")]
    tls: Option<Connector>,
    /// The server knows only RESP2.
    old: AtomicBool,
    /// A connection to it has been opened.
    reached: AtomicBool,
    /// No server listened there at the last attempt.
    refused: AtomicBool,
    pub name: String,
    pub address: Address,
    pub client_name: Option<String>,
    pub connect_timeout: Duration,
    pub eviction: Eviction,
}

impl Server {
    pub fn new(config: &Config, address: &Address, sharding: Arc<Sharding>) -> Result<Self, Error> {
        let client = |protocol| {
            let addr = match address.clone() {
                Address::Tcp { host, port, .. } => ConnectionAddr::Tcp(host, port),
                Address::Unix(path) => ConnectionAddr::Unix(path.into()),
            };
            let redis = settings(config.database, protocol, config.username.as_deref(), config.password.as_deref());
            let info = addr
                .into_connection_info()?
                .set_redis_settings(redis)
                .set_tcp_settings(TcpSettings::default().set_nodelay(true));
            redis::Client::open(info)
        };
        let bad = |error: RedisError| Error::config(format!("{address} cannot be used: {error}; check the address"));
        #[cfg(feature = "__tls")]
        let tls = match address {
            Address::Tcp { host, port, tls: true } => {
                Some(Connector::new(host, *port, &config.tls).map_err(|why| {
                    Error::config(format!("{address} cannot be used: {why}; check the address and the tls options"))
                })?)
            }
            _ => None,
        };
        Ok(Server {
            sharding,
            login: config.login.clone(),
            nat: config.nat.clone(),
            blocking: client(redis::ProtocolVersion::RESP2).map_err(bad)?,
            pushing: client(redis::ProtocolVersion::RESP3).map_err(bad)?,
            #[cfg(feature = "__tls")]
            tls,
            old: AtomicBool::new(false),
            reached: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            name: address.to_string(),
            address: address.clone(),
            client_name: config.client_name.clone(),
            connect_timeout: config.connect_timeout,
            eviction: Eviction::default(),
        })
    }

    /// Opens a connection that the calling thread drives; each step of it may take as long as `limit`.
    pub fn socket(&self, limit: Duration) -> RedisResult<Socket> {
        let mut socket = self.reach(limit)?;
        socket.log_in(&self.login()?, limit)?;
        Ok(socket)
    }

    fn reach(&self, limit: Duration) -> RedisResult<Socket> {
        #[cfg(feature = "__tls")]
        if let Some(tls) = &self.tls {
            return tls.blocking(limit).map(Box::new).map(Socket::Secured);
        }
        let info = self.blocking.get_connection_info().clone();
        let without_login = settings(0, redis::ProtocolVersion::RESP2, None, None);
        redis::Client::open(info.set_redis_settings(without_login))?
            .get_connection_with_timeout(limit)
            .map(Socket::Plain)
    }

    /// Opens a connection for many calls, over which the server also sends messages.
    pub async fn pushing(&self, config: AsyncConnectionConfig) -> RedisResult<Opened> {
        self.opened(self.logged_in(&self.pushing)?, config).await
    }

    /// Opens a connection for many calls to a server that knows only RESP2.
    pub async fn pulling(&self, config: AsyncConnectionConfig) -> RedisResult<Opened> {
        self.opened(self.logged_in(&self.blocking)?, config).await
    }

    async fn opened(&self, client: redis::Client, config: AsyncConnectionConfig) -> RedisResult<Opened> {
        #[cfg(feature = "__tls")]
        if let Some(tls) = &self.tls {
            let stream = tls.stream().await?;
            let login = client.get_connection_info().redis_settings();
            let (con, driver) = MultiplexedConnection::new_with_config(login, stream, config).await?;
            return Ok((con, Some(Bound::spawn(driver))));
        }
        Ok((client.get_multiplexed_async_connection_with_config(&config).await?, None))
    }

    /// Opens a connection for messages alone.
    pub async fn messages(&self) -> RedisResult<PubSub> {
        let client = self.logged_in(&self.blocking)?;
        #[cfg(feature = "__tls")]
        if let Some(tls) = &self.tls {
            return PubSub::new(client.get_connection_info().redis_settings(), tls.stream().await?).await;
        }
        client.get_async_pubsub().await
    }

    /// The present login, and the database.
    pub fn login(&self) -> RedisResult<RedisConnectionInfo> {
        Ok(self.logged_in(&self.blocking)?.get_connection_info().redis_settings().clone())
    }

    /// Tells whether the server has shown that it knows only RESP2.
    pub fn is_old(&self) -> bool {
        self.old.load(Relaxed)
    }

    pub fn note_old(&self) {
        self.old.store(true, Relaxed);
    }

    /// Notes that a connection has been opened.
    pub fn note_reached(&self) {
        self.reached.store(true, Relaxed);
    }

    /// Tells whether no server listens there, and none ever did as far as this client knows. A server that the client
    /// has reached before may be restarting.
    pub fn is_absent(&self) -> bool {
        self.refused.load(Relaxed) && !self.reached.load(Relaxed)
    }

    fn logged_in(&self, client: &redis::Client) -> RedisResult<redis::Client> {
        let Some(login) = self.login.latest() else { return Ok(client.clone()) };
        let info = client.get_connection_info().clone();
        let database = info.redis_settings().db();
        let protocol = info.redis_settings().protocol();
        redis::Client::open(info.set_redis_settings(settings(
            database,
            protocol,
            login.username.as_deref(),
            login.password.as_deref(),
        )))
    }

    /// The first questions on each connection. They give our name, and ask for our number at the server, the time of
    /// its clock and its run. Servers before 7.2 do not know all of them, and an ACL may not allow them.
    pub fn greeting(&self) -> redis::Pipeline {
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        pipe.cmd("CLIENT").arg(&["SETINFO", "LIB-NAME", "redlatch"]).ignore();
        pipe.cmd("CLIENT").arg(&["SETINFO", "LIB-VER", env!("CARGO_PKG_VERSION")]).ignore();
        if let Some(name) = &self.client_name {
            pipe.cmd("CLIENT").arg("SETNAME").arg(name).ignore();
        }
        pipe.cmd("CLIENT").arg("ID").cmd("TIME").cmd("INFO").arg("server");
        pipe
    }

    pub fn unavailable(&self, cause: impl Into<String>, timeout: bool) -> Error {
        Error::unavailable(self.name.clone(), cause, timeout)
    }

    /// The error of a call whose slot is moving to another server.
    pub fn moving(&self) -> Error {
        self.unavailable(MOVING, false)
    }

    /// The error of a broken connection.
    pub fn broken(&self, error: &RedisError) -> Error {
        self.in_words(error).because_of(source(error))
    }

    fn in_words(&self, error: &RedisError) -> Error {
        if error.is_timeout() || error.to_string().contains("Resource temporarily unavailable") {
            return self.unavailable("does not answer in time", true);
        }
        if let Some(cause) = io(error).and_then(exhausted::cause) {
            return self.unavailable(cause, false);
        }
        match error.kind() {
            redis::ErrorKind::Parse => self.unavailable("does not speak the Redis protocol", false),
            _ if error.is_connection_refusal() => self.unavailable(self.nothing_there(error), false),
            _ => self.unavailable(format!("cannot be reached ({error})"), false),
        }
    }

    fn nothing_there(&self, error: &RedisError) -> String {
        let is_missing = io(error).is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        match &self.address {
            Address::Unix(path) if is_missing => format!("cannot be reached: there is no socket file {path}"),
            Address::Unix(path) => format!("cannot be reached: nothing listens on the socket {path}"),
            tcp => format!("cannot be reached: nothing listens on {}", tcp.endpoint()),
        }
    }

    /// The outcome of a connection that could not be opened: the call was not sent.
    pub fn not_opened(&self, error: &RedisError) -> Outcome {
        let is_refusal = error.is_connection_refusal();
        self.refused.store(is_refusal, Relaxed);
        #[cfg(feature = "__tls")]
        if let Some(objection) = tls::objection(error) {
            return Outcome::Refused(self.unavailable(objection, false).because_of(source(error)));
        }
        match self.said_no("the connection", error) {
            Some(outcome) => outcome,
            None => match (error.kind(), self.broken(error)) {
                (redis::ErrorKind::InvalidClientConfig, _) => {
                    Outcome::Refused(Error::config(format!("{}: {error}", self.name)))
                }
                (_, Error::Unavailable { timeout: true, .. }) => {
                    Outcome::Unsent(self.late_to_open().because_of(source(error)))
                }
                (_, Error::Unavailable { .. })
                    if error.is_connection_dropped() && !is_refusal && !self.address.is_tls() =>
                {
                    let hint = "closed the connection at once (does its port want TLS? then write rediss://)";
                    Outcome::Unsent(self.unavailable(hint, false).because_of(source(error)))
                }
                (_, error) => Outcome::Unsent(error),
            },
        }
    }

    /// The error of a connection that was not open in time.
    pub fn late_to_open(&self) -> Error {
        self.refused.store(false, Relaxed);
        let hint = if self.address.is_tls() { " (is its port without TLS? then write redis://)" } else { "" };
        self.unavailable(format!("does not answer in time{hint}"), true)
    }

    /// The outcome of an error that the server itself reported; `None`: it reported none.
    pub fn said_no(&self, what: &str, error: &RedisError) -> Option<Outcome> {
        self.refused(what, None, error)
    }

    /// As [`Server::said_no`], for a call.
    pub fn refused_call(&self, call: &Call, error: &RedisError) -> Option<Outcome> {
        self.refused(&call.what(), Some(call), error)
    }

    fn refused(&self, what: &str, call: Option<&Call>, error: &RedisError) -> Option<Outcome> {
        let code = error.code().or(match error.kind() {
            redis::ErrorKind::AuthenticationFailed => Some("WRONGPASS"),
            _ => None,
        })?;
        let reply = without_arguments(error.detail().unwrap_or_default());
        let source = Source::new(ServerError::new(code, reply));
        let (code, detail) = of_script(code, reply);
        let message = format!("{detail}{}", remedy(code, detail, call));
        let error = Error::refused(what, code, message).because_of(Some(source));
        Some(if error.is_for_now() { Outcome::Unsent(error) } else { Outcome::Refused(error) })
    }

    /// The server to which the server sends a call; `None`: its error is another one.
    pub fn redirection(&self, error: &RedisError) -> Option<Elsewhere> {
        let (to, _) = error.redirect_node()?;
        let (host, port) = to.rsplit_once(':')?;
        let to = self.address.near(host, port.parse().ok()?, &self.nat)?;
        Some(Elsewhere { to, ask: error.code() == Some("ASK") })
    }

    /// Interprets the answer of a script; a refusal for lateness corrects the clock.
    pub fn understood(&self, reply: Reply, clock: &Clock, asked: Instant) -> Outcome {
        if reply.code != Code::TooLate {
            return Outcome::Reply(reply);
        }
        clock.learn(reply.numbers.first().copied().unwrap_or_default(), asked);
        Outcome::TooLate
    }

    /// The error of a value that is not the answer of a script: the outcome of its call is unknown, and the next
    /// answers on the connection may belong to other calls.
    pub fn nonsense(&self) -> Error {
        self.unavailable("sends an answer that no script of ours gives", false)
    }
}

/// The system's error behind this one.
fn io(error: &RedisError) -> Option<&std::io::Error> {
    inner(error)?.downcast_ref()
}

/// The same, as the source of ours.
fn source(error: &RedisError) -> Option<Source> {
    inner(error).filter(|inner| inner.is::<std::io::Error>()).map(Source::shared)
}

fn inner(error: &RedisError) -> Option<&Arc<dyn std::error::Error + Send + Sync>> {
    std::error::Error::source(error)?.downcast_ref()
}

/// A connection, and the task that drives it if the connection has not its own.
pub type Opened = (MultiplexedConnection, Option<Bound>);

/// The redis crate applies the handshake's time-out to each reply of it, so this asks for as few replies as possible.
fn settings(
    database: i64,
    protocol: redis::ProtocolVersion,
    username: Option<&str>,
    password: Option<&str>,
) -> RedisConnectionInfo {
    let mut redis = RedisConnectionInfo::default().set_db(database).set_protocol(protocol).set_skip_set_lib_name();
    if let Some(username) = username {
        redis = redis.set_username(username);
    }
    if let Some(password) = password {
        redis = redis.set_password(password);
    }
    redis
}

/// The answers to [`Server::greeting`]: the connection's number, if the server tells it; its time; and its run, if it
/// tells it.
pub type Greeted = (redis::RedisResult<i64>, redis::RedisResult<(i64, i64)>, redis::RedisResult<redis::InfoDict>);

/// The server's ms from its answer to `TIME`.
pub fn time_ms((seconds, micros): (i64, i64)) -> i64 {
    seconds.saturating_mul(1000).saturating_add(micros / 1000)
}
