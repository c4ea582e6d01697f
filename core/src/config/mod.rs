//! The configuration, the same for every language: a URL, options by name, and the environment.

use std::ffi::OsString;
use std::fmt::{Debug, Formatter};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::config::address_map::AddressMap;
use crate::config::login::Login;
use crate::config::node_format::NodeFormat;
use crate::config::servers::{Servers, decode};
use crate::config::sharded::Sharded;
use crate::config::sync_policy::SyncPolicy;
use crate::config::tls::{Tls, TlsVerify};
use crate::request::error::{Error, Result};
use crate::request::names::NAME_MAX;
use crate::request::shown;

pub mod address_map;
#[cfg(feature = "redisson-config")]
pub mod document;
pub mod login;
pub mod node_format;
#[cfg(feature = "redisson-config")]
pub mod redisson;
pub mod servers;
pub mod sharded;
pub mod sync_policy;
pub mod tls;

/// The configuration of a client: the servers, and options with a method each. [`Config::set`] takes the same options by
/// name, as texts. [`Client::with_config`](crate::Client::with_config) checks all of them, and that they fit together.
///
/// ```
/// # use std::time::Duration;
/// # fn example() -> redlatch::Result<()> {
/// use redlatch::{Client, Config};
///
/// let config = Config::from_url("redis://localhost:6379")?.prefix("orders:").watchdog(Duration::from_secs(10));
/// let client = Client::with_config(config)?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// Its `Debug` text has no password.
#[derive(Clone)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Config {
    pub(crate) servers: Servers,
    /// The credentials for the sentinels, if they differ from those for the servers.
    pub(crate) sentinel_username: Option<String>,
    pub(crate) sentinel_password: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    /// The credentials that the program set while the client ran; they replace the others.
    pub(crate) login: Arc<Login>,
    pub(crate) database: i64,
    pub(crate) client_name: Option<String>,
    pub(crate) prefix: String,
    /// The time that one call may stay unanswered.
    pub(crate) response_timeout: Duration,
    /// The time for which an operation is tried again while the server cannot be reached or does not answer.
    pub(crate) retry_for: Duration,
    /// Whether the client also tries a server again that it never reached.
    pub(crate) retries_absent: bool,
    pub(crate) connect_timeout: Duration,
    /// The longest time for which the drop of the last handle waits for releases under way.
    pub(crate) flush: Duration,
    /// The time for which a client of Redisson stands in the queue of a fair lock.
    pub(crate) fair_wait: Duration,
    /// The time for which this client hands a contended lock on inside its process.
    pub(crate) turn: Duration,
    /// The lease of holds without a lease of their own; the watchdog renews them every third of it.
    pub(crate) watchdog: Duration,
    /// The schema of MySQL or MariaDB that has the table of fencing tokens.
    pub(crate) schema: Option<String>,
    /// The most connections that wait in the queue of a server whose connections can do nothing else meanwhile.
    pub(crate) waiters: usize,
    /// The names of our nodes in ZooKeeper.
    pub(crate) node_format: NodeFormat,
    pub(crate) sync: SyncPolicy,
    /// Whether a server that may have lost locks grants none for one lease.
    pub(crate) quarantine: bool,
    pub(crate) sharded: Sharded,
    pub(crate) nat: AddressMap,
    pub(crate) tls: Tls,
}

/// No server has as many databases.
const DATABASE_MAX: i64 = 1_000_000;
const OPTIONS: &str = "username, password, database, client_name, prefix, response_timeout, retry_for, connect_timeout, flush, fair_wait, turn, watchdog, sync, quarantine, schema, waiters, node_format, \
                       sentinel_username, sentinel_password, sharded, nat, tls_ca, tls_cert, tls_key, tls_verify";

impl Config {
    /// Reads a URL: `redis://[user:password@]host[:port][/database][?option=value…]`, `rediss://…` with TLS,
    /// `unix:///path[?db=n]`; `mysql://user@host[:port][/schema]` or `mariadb://…` for the locks of such a server, `mysqls://` and
    /// `mariadbs://` with TLS; `zookeeper://host1,host2[/chroot]`, `zookeepers://` with TLS; also Redisson's spellings `valkey://`, `valkeys://`, `redis+uds://`, `valkey+uds://`.
    /// Several servers stand with commas between them: `redis+cluster://…` (some servers of a cluster),
    /// `redis+sentinel://…/master[/database]` (sentinels), `redis+replicated://…[/database]` (a master and replicas);
    /// `rediss+…` with TLS. The options are those of [`Config::set`]. In a user or a password write `/`, `?` and `#` as
    /// `%2F`, `%3F` and `%23`. A user alone (`redis://user@host`) is not enough to log in; a password alone
    /// (`redis://:password@host`) is that of the server's default user. An error never shows a password.
    ///
    /// # Errors
    /// `Error::Config` for a text that is no such URL, for an option that does not exist or cannot have its value, and for
    /// options that do not fit together.
    pub fn from_url(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            let shown = shown::url(text);
            Error::config(format!(
                "the URL `{shown}` {why}; write redis://host:6379, rediss://host:6379, unix:///path/to/socket, \
                 redis+cluster://host1,host2, redis+sentinel://host1,host2/mymaster, redis+replicated://host1,host2, mysql://user@host/schema or zookeeper://host1,host2/chroot"
            ))
        };
        let (first, hosts) = servers::split(text).map_err(|_| bad("has no `://`"))?;
        let url = url::Url::parse(&first).map_err(|e| bad(&format!("cannot be read: {e}")))?;
        // This may be part of a password in plain characters. The URL parser would take it for hosts, and an error
        // shows hosts.
        if url.fragment().is_some() {
            return Err(bad("has a `#`, which is %23 in a password, a path or an option"));
        }
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if url.path().contains('@') && (has_host || !Servers::is_socket(url.scheme())) {
            return Err(bad("has an `@` behind a `/`; in a password they are %40 and %2F"));
        }
        let path = if url.scheme().starts_with("zookeeper") { servers::written_path(&first) } else { url.path() };
        let (servers, database) = Servers::from_url(url.scheme(), &hosts, path).map_err(|why| bad(&why))?;
        let mut config = Config {
            servers,
            sentinel_username: None,
            sentinel_password: None,
            username: Some(decode(url.username())).filter(|name| !name.is_empty()),
            password: url.password().map(decode),
            login: Arc::default(),
            database: 0,
            client_name: None,
            prefix: String::new(),
            response_timeout: Duration::from_secs(3),
            retry_for: Duration::from_secs(3),
            retries_absent: false,
            connect_timeout: Duration::from_secs(10),
            flush: Duration::from_secs(1),
            fair_wait: Duration::from_secs(300),
            turn: Duration::from_millis(2),
            watchdog: Duration::from_secs(30),
            schema: None,
            waiters: 8,
            node_format: NodeFormat::default(),
            sync: SyncPolicy::None,
            quarantine: false,
            sharded: Sharded::Auto,
            nat: AddressMap::default(),
            tls: Tls::default(),
        };
        let named = if config.servers.is_sql() { "schema" } else { "database" };
        let options = database.iter().map(|database| (named.into(), database.as_str().into())).chain(url.query_pairs());
        // A password may have a plain `?`: then the seeming option is the rest of the password.
        let is_clear = !url.query().unwrap_or_default().contains('@');
        let unclear = || bad("has an option that cannot be used, or a password with a `?` in it, which is %3F there");
        for (option, value) in options {
            config.set(&option, &value).map_err(|error| if is_clear { error } else { unclear() })?;
        }
        // The program may set the password of the URL's user later, as an option.
        config.check_combination()?;
        Ok(config)
    }

    /// Reads the URL in `REDLATCH_URL`, else in `REDIS_URL`, else `redis://localhost:6379`.
    ///
    /// # Errors
    /// As [`Config::from_url`], and `Error::Config` for a variable that is not UTF-8.
    pub fn from_env() -> Result<Self> {
        Config::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        for name in ["REDLATCH_URL", "REDIS_URL"] {
            // Without this variable the program would lock elsewhere.
            let Some(url) = variable(name).filter(|url| !url.is_empty()) else { continue };
            let url = url.into_string().map_err(|_| {
                Error::config(format!("the environment variable {name} is not UTF-8; set it to a URL, or unset it"))
            })?;
            return Config::from_url(&url);
        }
        Config::from_url("redis://localhost:6379")
    }

    /// Sets an option by its name, from a text, as a configuration file or the part of a URL behind `?` has it. Each option
    /// is a method of the same name as well, which says its meaning and its default. Times are in seconds (`30`, `0.5`);
    /// `quarantine` is `true` or `false`. `tls_ca`, `tls_cert` and `tls_key` take the name of a PEM file, which the call
    /// reads at once, or its content (`-----BEGIN …`). `db` is another name of `database`.
    ///
    /// # Errors
    /// `Error::Config` for an unknown option, and for a value that the option cannot take.
    pub fn set(&mut self, option: &str, value: &str) -> Result<&mut Self> {
        length(option, value)?;
        match option {
            "username" => self.username = given(value),
            "password" => self.password = given(value),
            "database" | "db" => self.database = database(value.parse().ok(), &shown::value(option, value))?,
            "client_name" => {
                words(value)?;
                self.client_name = given(value);
            }
            "sentinel_username" => self.sentinel_username = given(value),
            "sentinel_password" => self.sentinel_password = given(value),
            "prefix" => self.prefix = value.to_owned(),
            "response_timeout" => self.response_timeout = seconds(option, value, least(option))?,
            "retry_for" => self.retry_for = seconds(option, value, least(option))?,
            "connect_timeout" => self.connect_timeout = seconds(option, value, least(option))?,
            "flush" => self.flush = seconds(option, value, least(option))?,
            "fair_wait" => self.fair_wait = seconds(option, value, least(option))?,
            "turn" => self.turn = seconds(option, value, least(option))?,
            "watchdog" => self.watchdog = seconds(option, value, least(option))?,
            "schema" => self.schema = given(value),
            "waiters" => self.waiters = waiters(value.parse().ok(), &shown::value(option, value))?,
            "node_format" => self.node_format = value.parse()?,
            "sync" => self.sync = value.parse()?,
            "quarantine" => self.quarantine = switch(option, value)?,
            "nat" => self.nat = value.parse()?,
            "sharded" => self.sharded = value.parse()?,
            "tls_ca" | "tls_cert" | "tls_key" | "tls_verify" => self.tls.set(option, value)?,
            _ => {
                return Err(Error::config(format!(
                    "the option `{}` does not exist; there are {OPTIONS}",
                    shown::value("", option)
                )));
            }
        }
        Ok(self)
    }

    /// The user to log in as; needs a password too. Default: none, the server's default user.
    #[must_use]
    pub fn username(mut self, username: &str) -> Self {
        self.username = given(username);
        self
    }

    /// The password of [`Config::username`]; alone, that of the server's default user. Default: none.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        self.password = given(password);
        self
    }

    /// The user at the sentinels. Default: none.
    #[must_use]
    pub fn sentinel_username(mut self, username: &str) -> Self {
        self.sentinel_username = given(username);
        self
    }

    /// The password at the sentinels. Default: none.
    #[must_use]
    pub fn sentinel_password(mut self, password: &str) -> Self {
        self.sentinel_password = given(password);
        self
    }

    /// The number of the database, from 0, the default, to 1,000,000. A cluster has only 0.
    #[must_use]
    pub fn database(mut self, database: u32) -> Self {
        self.database = database.into();
        self
    }

    /// The name of the connections in `CLIENT LIST`, without spaces. Default: `redlatch@<host>:<process>:<id of the client>`, by which
    /// [`crate::Client::locks`] tells the process of a holder.
    #[must_use]
    pub fn client_name(mut self, name: &str) -> Self {
        self.client_name = given(name);
        self
    }

    /// The text before the name of every lock. Default: none.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.to_owned();
        self
    }

    /// The time that one copy of a call may stay unanswered: from 1 ms to a year. Default: 3 s.
    #[must_use]
    pub fn response_timeout(mut self, time: Duration) -> Self {
        self.response_timeout = time;
        self
    }

    /// The time for which a call is tried again while the server fails: from 0 to a year. Default: 3 s.
    #[must_use]
    pub fn retry_for(mut self, time: Duration) -> Self {
        self.retry_for = time;
        self
    }

    /// Whether calls try an address again for [`Config::retry_for`] even if no server has ever listened there. A program
    /// that starts before its server needs this. Without it, the default, each call fails at once with an error that says
    /// so.
    #[must_use]
    pub fn retry_absent(mut self, again: bool) -> Self {
        self.retries_absent = again;
        self
    }

    /// The time that the opening of one connection may take: from 1 ms to a year. Default: 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// The longest time for which the drop of a client's last clone, guard, permit or call waits until the releases of
    /// dropped guards have their answers, see [`Client`](crate::Client): from 0, which never waits, to a year. Default: 1 s.
    #[must_use]
    pub fn flush(mut self, time: Duration) -> Self {
        self.flush = time;
        self
    }

    /// The time for which a client of Redisson stays in the queue of a fair lock, Redisson's `fairLockWaitTimeout`: from 0
    /// to a year. Default: 300 s. Give all clients that share a fair lock the same value. It has no effect on how long the
    /// lock waits for a dead waiter of ours.
    #[must_use]
    pub fn fair_wait(mut self, time: Duration) -> Self {
        self.fair_wait = time;
        self
    }

    /// The time for which the waiters of this client hand a contended lock to each other without asking the server, from the
    /// acquire by which one of them got it: from 0 to a year. Default: 2 ms. After that they go on until 64 owners in a row
    /// have had the lock, or for 10 ms in all, and then waiters of other clients have their chance. 0: each owner gets the
    /// lock from the server. It applies to holds without a lease of their own, of plain, non-reentrant, fenced and write
    /// locks, see `docs/reliability.md`.
    #[must_use]
    pub fn turn(mut self, time: Duration) -> Self {
        self.turn = time;
        self
    }

    /// The lease of holds without a lease of their own, which the watchdog renews every third of it: from 0.1 s to a year.
    /// Default: 30 s.
    #[must_use]
    pub fn watchdog(mut self, lease: Duration) -> Self {
        self.watchdog = lease;
        self
    }

    /// The schema of MySQL or MariaDB, whose table `redlatch_fence` has the fencing tokens; a URL names it behind its host.
    /// Default: none.
    #[must_use]
    pub fn schema(mut self, schema: &str) -> Self {
        self.schema = given(schema);
        self
    }

    /// The most connections that wait for a lock of MySQL or MariaDB, from 1 to 10,000: each lock that is waited for takes one.
    /// The waiters of further locks try again and again. Default: 8.
    #[must_use]
    pub fn waiters(mut self, waiters: usize) -> Self {
        self.waiters = waiters;
        self
    }

    /// The names of the nodes by which this client contends for locks of ZooKeeper. Default: [`NodeFormat::Curator`]. It waits for
    /// clients of both formats. Clients of Curator see no node of kazoo's format; those of kazoo see nodes of Curator's only with
    /// `extra_lock_patterns`.
    #[must_use]
    pub fn node_format(mut self, format: NodeFormat) -> Self {
        self.node_format = format;
        self
    }

    /// The copies of a lock that must exist before an acquire returns. Default: [`SyncPolicy::None`].
    #[must_use]
    pub fn sync(mut self, policy: SyncPolicy) -> Self {
        self.sync = policy;
        self
    }

    /// Whether a server that may have lost locks grants no new ones until their holders must have noticed. Default: no.
    ///
    /// That takes the longest lease that this client has asked for, at least the watchdog's. A server may have lost locks
    /// if it has started within that time, if another server answers at its address, or if it replaces a server and cannot
    /// show that no lock was lost. Waiters wait on; renewals, releases and further holds go on. The option protects a lock
    /// only if all clients that share the lock set it.
    #[must_use]
    pub fn quarantine(mut self, quarantine: bool) -> Self {
        self.quarantine = quarantine;
        self
    }

    /// The channels by which waiters of a cluster are woken, Redisson's `shardedSubscriptionMode`. Default:
    /// [`Sharded::Auto`].
    #[must_use]
    pub fn sharded(mut self, sharded: Sharded) -> Self {
        self.sharded = sharded;
        self
    }

    /// Where the client reaches the servers that a cluster or sentinels announce at other addresses:
    /// `.nat("10.0.0.1:7000=host:17000".parse()?)`. Default: where they say.
    #[must_use]
    pub fn nat(mut self, map: AddressMap) -> Self {
        self.nat = map;
        self
    }

    /// The certificates of the authorities to trust, the content of a PEM file. Default: those of the file that the
    /// environment names in `SSL_CERT_FILE`, else those of the system's bundle where Unix systems have one
    /// (`/etc/ssl/certs/ca-certificates.crt` and the like), else Mozilla's list. `SSL_CERT_DIR` and the key stores of macOS
    /// and Windows are not read.
    #[must_use]
    pub fn tls_ca(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.put("tls_ca", pem.into());
        self
    }

    /// The client's own certificate, for a server that demands one: the content of a PEM file. Needs
    /// [`Config::tls_key`]. Default: none.
    #[must_use]
    pub fn tls_cert(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.put("tls_cert", pem.into());
        self
    }

    /// The private key of [`Config::tls_cert`], without a password: the content of a PEM file. Default: none.
    #[must_use]
    pub fn tls_key(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.tls.put("tls_key", pem.into());
        self
    }

    /// The proof that the server's certificate must give. Default: [`TlsVerify::Full`].
    #[must_use]
    pub fn tls_verify(mut self, verify: TlsVerify) -> Self {
        self.tls.verify = verify;
        self
    }

    /// Checks every option, and whether the options fit together.
    pub(crate) fn check(&self) -> Result<()> {
        let texts = [
            ("username", &self.username),
            ("password", &self.password),
            ("sentinel_username", &self.sentinel_username),
            ("sentinel_password", &self.sentinel_password),
            ("client_name", &self.client_name),
            ("schema", &self.schema),
        ];
        for (option, text) in texts {
            length(option, text.as_deref().unwrap_or_default())?;
        }
        length("prefix", &self.prefix)?;
        words(self.client_name.as_deref().unwrap_or_default())?;
        database(Some(self.database), &self.database.to_string())?;
        for (option, time) in [
            ("response_timeout", self.response_timeout),
            ("retry_for", self.retry_for),
            ("connect_timeout", self.connect_timeout),
            ("flush", self.flush),
            ("fair_wait", self.fair_wait),
            ("turn", self.turn),
            ("watchdog", self.watchdog),
        ] {
            within(option, &time.as_secs_f64().to_string(), time, least(option))?;
        }
        self.sync.checked()?;
        waiters(Some(self.waiters), &self.waiters.to_string())?;
        match &self.servers {
            Servers::Sql { .. } => self.check_sql()?,
            Servers::Zookeeper { .. } => self.check_zookeeper()?,
            _ => login::check("the user", self.username.as_deref(), self.password.as_deref())?,
        }
        login::check(
            "the user of the sentinels",
            self.sentinel_username.as_deref(),
            self.sentinel_password.as_deref(),
        )?;
        self.check_combination()?;
        self.tls.check_system(self.servers.is_tls(), std::env::var_os("SSL_CERT_FILE"))
    }

    /// Refuses options that a server of SQL does not have.
    fn check_sql(&self) -> Result<()> {
        if cfg!(not(feature = "mysql")) {
            return Err(Error::Unsupported(format!("{} needs a build with the feature mysql", self.servers)));
        }
        if self.username.is_none() {
            return Err(Error::config(format!(
                "{} has no user to log in as; write mysql://user:password@host",
                self.servers
            )));
        }
        if self.node_format != NodeFormat::default() {
            return Err(Error::config(format!(
                "{} does not have the option node_format, which is for ZooKeeper; leave it out",
                self.servers
            )));
        }
        self.check_sessions()
    }

    fn check_zookeeper(&self) -> Result<()> {
        if cfg!(not(feature = "zookeeper")) {
            return Err(Error::Unsupported(format!("{} needs a build with the feature zookeeper", self.servers)));
        }
        if let Some((option, _)) =
            [("schema", self.schema.is_some()), ("waiters", self.waiters != 8)].into_iter().find(|(_, set)| *set)
        {
            return Err(Error::config(format!(
                "{} does not have the option {option}, which is for MySQL and MariaDB; leave it out",
                self.servers
            )));
        }
        // The text in the place of the user may be the password, so no error shows it.
        let lone = match (&self.username, &self.password) {
            (Some(_), None) => Some(["user", "password"]),
            (None, Some(_)) => Some(["password", "user"]),
            _ => None,
        };
        if let Some([given, missing]) = lone {
            return Err(Error::config(format!(
                "the {given} has no {missing}, and would not be logged in; give the {missing} too (zookeeper://user:password@host), \
                 or leave the {given} out"
            )));
        }
        self.check_sessions()
    }

    /// Refuses options of Redis that a system with sessions does not have.
    fn check_sessions(&self) -> Result<()> {
        let defaults = Config::from_url("redis://h")?;
        let of_redis = [
            ("sync", self.sync != defaults.sync),
            ("quarantine", self.quarantine),
            ("nat", self.nat != defaults.nat),
            ("fair_wait", self.fair_wait != defaults.fair_wait),
            ("client_name", self.client_name.is_some()),
            ("database", self.database != 0),
            ("sentinel_username", self.sentinel_username.is_some()),
            ("sentinel_password", self.sentinel_password.is_some()),
        ];
        match of_redis.into_iter().find(|(_, set)| *set) {
            Some((option, _)) => Err(Error::config(format!(
                "{} does not have the option {option}, which is for Redis; leave it out",
                self.servers
            ))),
            None => Ok(()),
        }
    }

    fn check_combination(&self) -> Result<()> {
        if self.sync.within() >= self.watchdog && !matches!(self.sync, SyncPolicy::Connected { .. }) {
            let sync = self.sync;
            let watchdog = self.watchdog;
            return Err(Error::config(format!(
                "the sync `{sync}` takes as long as a lease of the watchdog, {watchdog:?}; give it less time"
            )));
        }
        let is_cluster = matches!(self.servers, Servers::Cluster(_));
        if is_cluster && self.database != 0 {
            return Err(Error::config(format!(
                "the database is {}, and a cluster has only 0; leave it out",
                self.database
            )));
        }
        if !is_cluster && self.sharded != Sharded::Auto {
            return Err(Error::config(format!(
                "{} is no cluster, so that no channel has a slot; leave the option sharded out",
                self.servers
            )));
        }
        self.tls.check(&self.servers)
    }

    /// A name on the server: the prefix, and the name that the program gave.
    pub(crate) fn full_name(&self, name: impl Into<Arc<str>> + AsRef<str>) -> Arc<str> {
        match self.prefix.as_str() {
            "" => name.into(),
            prefix => [prefix, name.as_ref()].concat().into(),
        }
    }

    /// The addresses of the servers, without user and password.
    pub fn server(&self) -> String {
        self.servers.to_string()
    }
}

impl FromStr for Config {
    type Err = Error;

    /// As [`Config::from_url`].
    fn from_str(url: &str) -> Result<Self> {
        Config::from_url(url)
    }
}

impl Debug for Config {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        // The text in the place of a user may be the password.
        let login = |option: &Option<String>| option.as_ref().map(|_| "…");
        let pem = |text: &Option<Vec<u8>>| text.as_ref().map(|_| "…");
        f.debug_struct("Config")
            .field("servers", &format_args!("{}", self.servers))
            .field("username", &login(&self.username))
            .field("password", &login(&self.password))
            .field("sentinel_username", &login(&self.sentinel_username))
            .field("sentinel_password", &login(&self.sentinel_password))
            .field("database", &self.database)
            .field("client_name", &self.client_name.as_ref().map(|name| shown::value("client_name", name)))
            .field("prefix", &shown::value("prefix", &self.prefix))
            .field("response_timeout", &self.response_timeout)
            .field("retry_for", &self.retry_for)
            .field("retry_absent", &self.retries_absent)
            .field("connect_timeout", &self.connect_timeout)
            .field("flush", &self.flush)
            .field("fair_wait", &self.fair_wait)
            .field("turn", &self.turn)
            .field("watchdog", &self.watchdog)
            .field("schema", &self.schema)
            .field("waiters", &self.waiters)
            .field("node_format", &format_args!("{}", self.node_format))
            .field("sync", &format_args!("{}", self.sync))
            .field("quarantine", &self.quarantine)
            .field("sharded", &self.sharded)
            .field("nat", &self.nat)
            .field("tls_ca", &pem(&self.tls.ca))
            .field("tls_cert", &pem(&self.tls.cert))
            .field("tls_key", &pem(&self.tls.key))
            .field("tls_verify", &self.tls.verify)
            .finish()
    }
}

/// An empty text is none.
fn given(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn length(option: &str, value: &str) -> Result<()> {
    if value.len() <= NAME_MAX {
        return Ok(());
    }
    let start = shown::value(option, value);
    let len = value.len();
    Err(Error::config(format!("the {option} `{start}` has {len} bytes, the most is {NAME_MAX}; use a shorter one")))
}

fn words(client_name: &str) -> Result<()> {
    if client_name.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(());
    }
    let shown = shown::value("client_name", client_name);
    Err(Error::config(format!("the client_name `{shown}` has a space or a special character; Redis takes neither")))
}

/// `None`: the text is no number.
fn database(number: Option<i64>, shown: &str) -> Result<i64> {
    number.filter(|number| (0..=DATABASE_MAX).contains(number)).ok_or_else(|| {
        Error::config(format!("the database `{shown}` is not a number from 0 to {DATABASE_MAX}; leave it out for 0"))
    })
}

/// `None`: the text is no number.
fn waiters(number: Option<usize>, shown: &str) -> Result<usize> {
    number.filter(|number| (1..=10_000).contains(number)).ok_or_else(|| {
        Error::config(format!("the waiters `{shown}` are not a number from 1 to 10000; leave it out for 8"))
    })
}

fn switch(option: &str, value: &str) -> Result<bool> {
    value
        .parse()
        .map_err(|_| Error::config(format!("the {option} `{}` is neither true nor false", shown::value(option, value))))
}

/// The longest time that an option takes: a year.
pub(crate) const LONGEST: Duration = Duration::from_secs(31_536_000);

/// The least time that an option takes, in seconds.
fn least(option: &str) -> f64 {
    match option {
        "response_timeout" | "connect_timeout" => 0.001,
        "watchdog" => 0.1,
        _ => 0.0,
    }
}

pub(crate) fn seconds(option: &str, value: &str, least: f64) -> Result<Duration> {
    let shown = shown::value(option, value);
    let number = value.parse().ok().filter(|number| *number >= least);
    let time = number.and_then(|number| Duration::try_from_secs_f64(number).ok()).unwrap_or(Duration::MAX);
    within(option, &shown, time, least)
}

fn within(option: &str, shown: &str, time: Duration, least: f64) -> Result<Duration> {
    if time <= LONGEST && time.as_secs_f64() >= least {
        return Ok(time);
    }
    let most = LONGEST.as_secs();
    Err(Error::config(format!("the {option} `{shown}` is not a number of seconds from {least} to {most}")))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fuzz {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::Config;

    const TOKENS: [&str; 40] = [
        "redis",
        "rediss",
        "unix",
        "valkey",
        "+cluster",
        "+sentinel",
        "+replicated",
        "+uds",
        "://",
        ":",
        "/",
        "//",
        "?",
        "#",
        "@",
        "[",
        "]",
        "::1",
        ",",
        "%",
        "%2F",
        "%zz",
        "h",
        "é",
        "6379",
        "0",
        "99999",
        "&",
        "=",
        "watchdog",
        "password",
        "sync",
        "nat",
        "wait(",
        ")",
        " ",
        "\n",
        "\0",
        "..",
        "1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn a_url_of_any_tokens_is_read_or_refused(tokens in proptest::collection::vec(select(&TOKENS[..]), 0..16)) {
            let text = tokens.concat();
            match Config::from_url(&text) {
                Ok(config) => prop_assert!(!config.server().is_empty()),
                Err(error) => prop_assert!(error.code() == "config" && error.to_string().len() < 1000, "{:?}: {}", text, error),
            }
        }

        #[test]
        fn an_option_takes_or_refuses_any_value(
            option in select(&["database", "client_name", "prefix", "response_timeout", "fair_wait", "sync", "quarantine", "sharded", "nat", "tls_verify"][..]),
            tokens in proptest::collection::vec(select(&TOKENS[..]), 0..8),
        ) {
            let mut config = Config::from_url("redis://h").expect("a good URL");
            let set = config.set(option, &tokens.concat()).map(drop);
            prop_assert!(set.err().is_none_or(|error| error.code() == "config"));
        }
    }
}
