//! The contents of a server, read without any code under test.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use redis::{Connection, FromRedisValue, RedisResult};

use crate::PATIENCE;
use crate::cluster::SLOTS;
use crate::oracle::watch;

/// A connection for looking. Each view has a socket of its own. Its commands count in [`View::calls`] like any
/// client's.
pub struct View {
    pub(crate) connection: Connection,
    /// The server's port.
    port: u16,
}

impl View {
    pub(crate) fn connect(url: &str) -> RedisResult<Self> {
        let connection = redis::Client::open(url)?.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        Ok(View { connection, port: port(url) })
    }

    /// A connection that gives up soon when the server is in trouble.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn quick(url: &str) -> RedisResult<Self> {
        let time = Duration::from_millis(200);
        let connection = redis::Client::open(url)?.get_connection_with_timeout(time)?;
        connection.set_read_timeout(Some(time))?;
        Ok(View { connection, port: port(url) })
    }

    /// Runs any command.
    ///
    /// # Panics
    /// When the server refuses the command, or the answer has another type.
    pub fn command<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        self.try_command(words).unwrap_or_else(|e| panic!("{words:?}: {e}"))
    }

    /// Runs any command, and returns a refusal.
    pub fn try_command<T: FromRedisValue>(&mut self, words: &[&str]) -> RedisResult<T> {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        let watch = if takes_away(words) { watch::at(self.port) } else { None };
        let connection = &mut self.connection;
        match watch {
            Some(watch) => watch.empties(|| command.query(connection)),
            None => command.query(connection),
        }
    }

    /// Runs a prepared command.
    ///
    /// # Panics
    /// When there is no answer. A refusal is an answer.
    pub fn run(&mut self, command: &redis::Cmd) -> redis::Value {
        match command.query(&mut self.connection) {
            Ok(answer) => answer,
            Err(refusal) if refusal.code().is_some() => redis::Value::SimpleString(refusal.to_string()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The fields of a hash; empty if there is no such key.
    pub fn hgetall(&mut self, key: &str) -> BTreeMap<String, String> {
        self.command(&["HGETALL", key])
    }

    /// The remaining time of a key in ms; −1: it has no end, −2: there is no such key.
    pub fn pttl(&mut self, key: &str) -> i64 {
        self.command(&["PTTL", key])
    }

    pub fn kind(&mut self, key: &str) -> String {
        self.command(&["TYPE", key])
    }

    pub fn exists(&mut self, key: &str) -> bool {
        self.command(&["EXISTS", key])
    }

    /// All keys that match, sorted.
    pub fn keys(&mut self, pattern: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.command(&["KEYS", pattern]);
        keys.sort();
        keys
    }

    /// All channels that have subscribers, sorted.
    pub fn channels(&mut self, pattern: &str) -> Vec<String> {
        let mut channels: Vec<String> = self.command(&["PUBSUB", "CHANNELS", pattern]);
        // The shard channels too, where the server knows of them.
        channels.extend(self.try_command::<Vec<String>>(&["PUBSUB", "SHARDCHANNELS", pattern]).unwrap_or_default());
        channels.sort();
        channels
    }

    /// How many connections are subscribed to a channel.
    pub fn listeners(&mut self, channel: &str) -> u64 {
        let counts: (String, u64) = self.command(&["PUBSUB", "NUMSUB", channel]);
        let sharded: Option<(String, u64)> = self.try_command(&["PUBSUB", "SHARDNUMSUB", channel]).ok();
        counts.1 + sharded.map_or(0, |(_, count)| count)
    }

    /// How often each command was called since the start or since [`View::forget_calls`], inside scripts too. Names are
    /// in lower case.
    pub fn calls(&mut self) -> BTreeMap<String, u64> {
        let own = watch::at(self.port);
        let (lines, own) = match own {
            Some(own) => own.apart(|own| (self.info("commandstats"), own.clone())),
            None => (self.info("commandstats"), BTreeMap::new()),
        };
        let count = |line: &str| {
            let (name, fields) = line.strip_prefix("cmdstat_")?.split_once(':')?;
            let calls = fields.split(',').find_map(|field| field.strip_prefix("calls="))?;
            let calls: u64 = calls.parse().ok()?;
            // The rig's own commands are no calls of a client.
            let calls = calls.saturating_sub(own.get(name).copied().unwrap_or_default());
            (calls > 0).then(|| (name.to_owned(), calls))
        };
        lines.lines().filter_map(count).collect()
    }

    /// Sets all of [`View::calls`] to zero.
    pub fn forget_calls(&mut self) {
        match watch::at(self.port) {
            Some(own) => own.apart(|own| {
                own.clear();
                self.command::<()>(&["CONFIG", "RESETSTAT"]);
            }),
            None => self.command::<()>(&["CONFIG", "RESETSTAT"]),
        }
    }

    /// Whether the server tracks keys: it will tell some client of the next change of a key that the client has read.
    pub fn tells(&mut self) -> bool {
        self.info_field("stats", "tracking_total_keys").is_some_and(|keys| keys != "0")
    }

    /// How many clients are connected: with this view, without the rig's own watch.
    pub fn clients(&mut self) -> u64 {
        let own = watch::at(self.port).is_some_and(|watch| watch.is_connected());
        let field = self.info_field("clients", "connected_clients");
        let all: u64 = field.and_then(|count| count.parse().ok()).expect("every server counts its clients");
        all - u64::from(own)
    }

    /// How many bytes the server uses, after its allocator has returned all that it need not keep.
    pub fn memory(&mut self) -> u64 {
        self.command::<()>(&["MEMORY", "PURGE"]);
        self.info_field("memory", "used_memory")
            .and_then(|bytes| bytes.parse().ok())
            .expect("every server counts its bytes")
    }

    pub(crate) fn pid(&mut self) -> Option<u32> {
        self.info_field("server", "process_id")?.parse().ok()
    }

    /// Whether the server has sharded channels, which belong to the slots of a cluster.
    pub(crate) fn shards(&mut self) -> bool {
        self.info_field("cluster", "cluster_enabled").is_some_and(|is| is == "1")
            && self.try_command::<redis::Value>(&["PUBSUB", "SHARDNUMSUB"]).is_ok()
    }

    /// Gives the server slots of a cluster.
    pub(crate) fn take_slots(&mut self, slots: Range<usize>) {
        let slots: Vec<String> = slots.map(|slot| slot.to_string()).collect();
        let words: Vec<&str> = ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
        self.command::<()>(&words);
    }

    /// Makes the server a cluster of its own, with every slot.
    pub fn take_every_slot(&mut self) {
        self.take_slots(0..SLOTS);
        crate::eventually("a cluster of one", || {
            self.command::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok").then_some(())
        });
    }

    fn info(&mut self, section: &str) -> String {
        self.try_command(&["INFO", section]).unwrap_or_default()
    }

    fn info_field(&mut self, section: &str, name: &str) -> Option<String> {
        let text = self.info(section);
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::to_owned))
    }
}

/// The port in a URL; 0: the URL has none.
fn port(url: &str) -> u16 {
    let host = url.split("://").nth(1).unwrap_or_default().split(['/', '?']).next().unwrap_or_default();
    host.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default()
}

/// Whether a command may set a counter of tokens back.
fn takes_away(words: &[&str]) -> bool {
    let verb = words[0].to_ascii_uppercase();
    let is_counter = || words.iter().any(|word| word.starts_with("redisson_lock_token:"));
    match verb.as_str() {
        "FLUSHALL" | "FLUSHDB" | "SWAPDB" => true,
        "DEL" | "UNLINK" | "SET" | "RENAME" => is_counter(),
        _ => false,
    }
}
