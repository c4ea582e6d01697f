//! The configuration, the same for every language: a URL, options by name, and the environment.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use crate::config::address_map::AddressMap;
use crate::config::login::Login;
use crate::config::servers::{Servers, decode};
use crate::config::sharded::Sharded;
use crate::config::sync_policy::SyncPolicy;
use crate::config::tls::Tls;
use crate::request::error::{Error, Result};
use crate::request::names::NAME_MAX;
use crate::request::shown;

pub mod address_map;
pub mod document;
pub mod login;
pub mod redisson;
pub mod servers;
pub mod sharded;
pub mod sync_policy;
pub mod tls;

/// The configuration of a client. [`Config::set`] sets its fields; a client takes a copy when it connects.
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
    /// The lease of holds without a lease of their own; the watchdog renews them every third of it.
    pub(crate) watchdog: Duration,
    pub(crate) sync: SyncPolicy,
    /// Whether a server that may have lost locks grants none for one lease.
    pub(crate) quarantine: bool,
    pub(crate) sharded: Sharded,
    pub(crate) nat: AddressMap,
    pub(crate) tls: Tls,
}

/// No server has as many databases.
const DATABASE_MAX: i64 = 1_000_000;
const OPTIONS: &str = "username, password, database, client_name, prefix, response_timeout, retry_for, connect_timeout, flush, fair_wait, watchdog, sync, quarantine, \
                       sentinel_username, sentinel_password, sharded, nat, tls_ca, tls_cert, tls_key, tls_verify";

impl Config {
    /// Reads a URL: `redis://[user:password@]host[:port][/database][?option=value…]`, `rediss://…` with TLS,
    /// `unix:///path[?db=n]`; also Redisson's spellings `valkey://`, `valkeys://`, `redis+uds://`, `valkey+uds://`.
    /// Several servers stand with commas between them: `redis+cluster://…` (some servers of a cluster),
    /// `redis+sentinel://…/master[/database]` (sentinels), `redis+replicated://…[/database]` (a master and replicas);
    /// `rediss+…` with TLS. The options are those of [`Config::set`]. In a user or a password write `/`, `?` and `#` as
    /// `%2F`, `%3F` and `%23`. A user alone (`redis://user@host`) is not enough to log in, see [`Config::check`]; a
    /// password alone (`redis://:password@host`) is that of the server's default user. An error never shows a password.
    pub fn from_url(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            let shown = shown::url(text);
            Error::config(format!(
                "the URL `{shown}` {why}; write redis://host:6379, rediss://host:6379, unix:///path/to/socket, \
                 redis+cluster://host1,host2, redis+sentinel://host1,host2/mymaster or redis+replicated://host1,host2"
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
        let (servers, database) = Servers::from_url(url.scheme(), &hosts, url.path()).map_err(|why| bad(&why))?;
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
            watchdog: Duration::from_secs(30),
            sync: SyncPolicy::None,
            quarantine: false,
            sharded: Sharded::Auto,
            nat: AddressMap::default(),
            tls: Tls::default(),
        };
        let options =
            database.iter().map(|database| ("database".into(), database.as_str().into())).chain(url.query_pairs());
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
    pub fn from_env() -> Result<Self> {
        let set = |name| std::env::var(name).ok().filter(|url| !url.is_empty());
        match set("REDLATCH_URL").or_else(|| set("REDIS_URL")) {
            Some(url) => Config::from_url(&url),
            None => Config::from_url("redis://localhost:6379"),
        }
    }

    /// Sets one option. Times are in seconds (`30`, `0.5`).
    ///
    /// `flush` is the longest time for which the drop of a client's last clone, guard, permit or call waits until the
    /// releases of dropped guards have their answers, see [`crate::Client`]; 0: it never waits.
    ///
    /// `fair_wait` is Redisson's `fairLockWaitTimeout`; give all clients that share a fair lock the same value. From it
    /// our waiters work out how long Redisson's clients stay in the queue. It has no effect on how long the lock waits
    /// for a dead waiter of ours.
    ///
    /// `sync` is a [`SyncPolicy`] as text: `none` (the default), `wait(replicas=1,within=1.0)`,
    /// `wait_aof(replicas=1,within=1.0,local=1)` or `connected(replicas=1,within=1.0)`. The values shown here are the
    /// defaults of the settings in brackets.
    ///
    /// `quarantine` (`true` or `false`, the default): a server that may have lost locks grants no new ones until their
    /// holders must have noticed. That takes the longest lease that this client has asked for, at least the watchdog's.
    /// A server may have lost locks if it has started within that time, if another server answers at its address, or if
    /// it replaces a server and cannot show that no lock was lost. Waiters wait on; renewals, releases and further
    /// holds go on. The option protects a lock only if all clients that share the lock set it.
    ///
    /// `sharded` selects the commands that wake waiters in a cluster, as Redisson's `shardedSubscriptionMode`: `auto`
    /// (the default) uses the channels of the slots wherever the servers have them; `on`; `off`; or `both` at once, for
    /// fleets whose clients have different settings.
    ///
    /// `nat` maps the addresses that a cluster or sentinels announce to those where the client reaches the servers:
    /// `10.0.0.1:7000=host:17000,10.0.0.2=other`, by host and port or by host alone.
    ///
    /// For `rediss://`: `tls_ca` is a PEM file with the authorities to trust (default: those of the system). `tls_cert`
    /// and `tls_key` are PEM files with the client's own certificate and key, if the server demands one. `tls_verify`
    /// says how to check the server's certificate. `full`, the default: a trusted authority signed it for this host.
    /// `ca`: it did so for any host. `none`: no check; an attacker on the way can read and change everything. The call
    /// reads the files at once. Instead of a file name it takes the content of the file (`-----BEGIN …`).
    ///
    /// # Errors
    /// `Error::Config` for an unknown option, and for a value that the option cannot take.
    pub fn set(&mut self, option: &str, value: &str) -> Result<&mut Self> {
        if value.len() > NAME_MAX {
            let start = shown::value(option, value);
            let len = value.len();
            return Err(Error::config(format!(
                "the {option} `{start}` has {len} bytes, the most is {NAME_MAX}; use a shorter one"
            )));
        }
        match option {
            "username" => self.username = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "password" => self.password = Some(value.to_owned()).filter(|word| !word.is_empty()),
            "database" | "db" => {
                self.database = value.parse().ok().filter(|n| (0..=DATABASE_MAX).contains(n)).ok_or_else(|| {
                    Error::config(format!(
                        "the database `{}` is not a number from 0 to {DATABASE_MAX}; leave it out for 0",
                        shown::value(option, value)
                    ))
                })?;
            }
            "client_name" => {
                if value.chars().any(|c| !c.is_ascii_graphic()) {
                    return Err(Error::config(format!(
                        "the client_name `{}` has a space or a special character; Redis takes neither",
                        shown::value(option, value)
                    )));
                }
                self.client_name = Some(value.to_owned()).filter(|name| !name.is_empty());
            }
            "sentinel_username" => self.sentinel_username = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "sentinel_password" => self.sentinel_password = Some(value.to_owned()).filter(|word| !word.is_empty()),
            "prefix" => self.prefix = value.to_owned(),
            "response_timeout" => self.response_timeout = seconds(option, value, 0.001)?,
            "retry_for" => self.retry_for = seconds(option, value, 0.0)?,
            "connect_timeout" => self.connect_timeout = seconds(option, value, 0.001)?,
            "flush" => self.flush = seconds(option, value, 0.0)?,
            "fair_wait" => self.fair_wait = seconds(option, value, 0.0)?,
            "watchdog" => self.watchdog = seconds(option, value, 0.1)?,
            "sync" => self.sync = SyncPolicy::read(value)?,
            "quarantine" => self.quarantine = switch(option, value)?,
            "nat" => self.nat = AddressMap::read(value)?,
            "sharded" => self.sharded = Sharded::read(value)?,
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

    /// Sets the copies of a lock that must exist before an acquire returns.
    ///
    /// # Errors
    /// `Error::Config` for a policy that confirms nothing, or leaves no time to confirm.
    pub fn sync(&mut self, policy: SyncPolicy) -> Result<&mut Self> {
        self.sync = policy.checked()?;
        Ok(self)
    }

    /// Lets calls try an address again for `retry_for` even if no server has ever listened there. A program that starts
    /// before its server needs this. Without it each call fails at once with an error that says so.
    pub fn retry_absent(&mut self) -> &mut Self {
        self.retries_absent = true;
        self
    }

    /// Checks whether the options fit together.
    ///
    /// # Errors
    /// `Error::Config` for TLS options on an address without TLS; for a certificate without its key; for a sync policy
    /// that may take longer than a lease of the watchdog; and for a user without a password.
    pub fn check(&self) -> Result<()> {
        login::check("the user", self.username.as_deref(), self.password.as_deref())?;
        login::check(
            "the user of the sentinels",
            self.sentinel_username.as_deref(),
            self.sentinel_password.as_deref(),
        )?;
        self.check_combination()
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
        self.tls.check(self.servers.is_tls(), &self.servers)
    }

    /// The addresses of the servers, without user and password.
    pub fn server(&self) -> String {
        self.servers.to_string()
    }
}

/// Shows no user, password or key, and no text in which one may stand by mistake.
impl Debug for Config {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server())
            .field("database", &self.database)
            .field("response_timeout", &self.response_timeout)
            .field("retry_for", &self.retry_for)
            .field("connect_timeout", &self.connect_timeout)
            .field("watchdog", &self.watchdog)
            .field("sync", &self.sync)
            .field("quarantine", &self.quarantine)
            .finish_non_exhaustive()
    }
}

fn switch(option: &str, value: &str) -> Result<bool> {
    value
        .parse()
        .map_err(|_| Error::config(format!("the {option} `{}` is neither true nor false", shown::value(option, value))))
}

/// The longest time that an option takes: a year.
pub(crate) const LONGEST: Duration = Duration::from_secs(31_536_000);

pub(crate) fn seconds(option: &str, value: &str, least: f64) -> Result<Duration> {
    let most = LONGEST.as_secs();
    let shown = shown::value(option, value);
    let bad = || Error::config(format!("the {option} `{shown}` is not a number of seconds from {least} to {most}"));
    let number: f64 = value.parse().map_err(|_| bad())?;
    if !(least..=LONGEST.as_secs_f64()).contains(&number) {
        return Err(bad());
    }
    Ok(Duration::from_secs_f64(number))
}

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
