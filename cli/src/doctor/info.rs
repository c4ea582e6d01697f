//! Judges the answer of a Redis to `INFO`.

use std::collections::HashMap;
use std::time::Duration;

use super::finding::Finding;
use crate::table::{count, count_with, ends};

/// The part of its limit from which on a server's memory is nearly full.
const NEARLY: f64 = 0.9;

/// The answer to `INFO`.
pub struct Info(HashMap<String, String>);

/// The settings of a server, as far as it tells them.
#[derive(Clone, Copy, Default)]
pub struct Settings<'a> {
    /// `appendfsync`.
    pub fsync: Option<&'a str>,
    /// `min-replicas-to-write`.
    pub least_replicas: Option<u64>,
}

/// The wishes of the URL of the client.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    /// Another server may take the place of a master.
    pub failover: bool,
    pub sync: bool,
    pub quarantine: bool,
    /// Names have a prefix on the server.
    pub prefix: bool,
}

impl Wanted {
    pub fn by(url: &str) -> Self {
        let scheme = url.split("://").next().unwrap_or_default();
        Wanted {
            failover: ["sentinel", "cluster", "replicated"].iter().any(|word| scheme.contains(word)),
            sync: ["sync=", "wait_aof="].iter().any(|option| url.contains(option)),
            quarantine: url.contains("quarantine=true"),
            prefix: url.contains("prefix="),
        }
    }
}

impl Info {
    pub fn read(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        Info(pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_default()
    }

    /// The name of the product with its version, and the parts of that.
    pub fn version(&self) -> (String, Vec<u64>) {
        let (product, version) = match self.text("valkey_version") {
            "" => ("Redis", self.text("redis_version")),
            version => ("Valkey", version),
        };
        (format!("{product} {version}"), version.split('.').filter_map(|part| part.parse().ok()).collect())
    }

    pub fn findings(&self, server: &str, settings: Settings, wanted: Wanted) -> Vec<Finding> {
        let mut findings =
            vec![self.server(server), self.memory(server), self.restarts(server, settings.fsync, wanted)];
        if self.text("role") == "slave" {
            findings.push(self.replica(server));
        } else {
            findings.push(self.replicas(server, wanted));
            findings.extend(self.partition(server, settings.least_replicas, wanted));
        }
        findings
    }

    /// The facts about each replica of a master.
    fn followers(&self) -> Vec<HashMap<&str, &str>> {
        let number = if self.text("role") == "slave" { 0 } else { self.number("connected_slaves") };
        let facts = |at| self.text(&format!("slave{at}")).split(',').filter_map(|fact| fact.split_once('=')).collect();
        (0..number).map(facts).collect()
    }

    /// The number of replicas that are in step.
    pub fn in_step(&self) -> u64 {
        self.followers().iter().filter(|facts| facts.get("state") == Some(&"online")).count() as u64
    }

    fn server(&self, server: &str) -> Finding {
        let (version, parts) = self.version();
        let up = match self.number("uptime_in_seconds") {
            0 => "less than a second".to_owned(),
            seconds => ends(Some(Duration::from_secs(seconds))),
        };
        let text = format!("{version} at {server}, up for {up}");
        match parts.as_slice() < [6, 0].as_slice() {
            true => Finding::doubtful(
                "server",
                format!("{text}; it cannot tell a client of a lost key"),
                "use Redis 6 or later: a holder then hears of its loss at once, and not by its next renewal",
            ),
            false => Finding::good("server", text),
        }
    }

    fn memory(&self, server: &str) -> Finding {
        let limit = self.number("maxmemory");
        let policy = self.text("maxmemory_policy");
        let evicted = match self.number("evicted_keys") {
            0 => String::new(),
            keys => format!("; it has evicted {} since its start", count(keys, "key")),
        };
        let full = self.number("used_memory") as f64 / limit.max(1) as f64;
        match (limit, policy) {
            (1.., "noeviction") if full > NEARLY => Finding::doubtful(
                "memory",
                format!(
                    "{server} evicts nothing, and has {:.0} % of its memory in use: a full server grants no lock",
                    full * 100.0
                ),
                "raise maxmemory, or have other programs use another server",
            ),
            (_, "noeviction") => {
                Finding::good("memory", format!("{server} evicts nothing (maxmemory-policy noeviction){evicted}"))
            }
            (0, "") => Finding::doubtful(
                "memory",
                format!("{server} does not tell its maxmemory-policy"),
                "see that it is noeviction",
            ),
            (0, policy) => Finding::doubtful(
                "memory",
                format!(
                    "{server} has no limit of memory now, and would evict locks with one (maxmemory-policy {policy}){evicted}"
                ),
                "set maxmemory-policy to noeviction",
            ),
            (_, policy) => Finding::bad(
                "memory",
                format!("{server} evicts locks when its memory is full (maxmemory-policy {policy}){evicted}"),
                "set maxmemory-policy to noeviction, or give locks a server of their own",
            ),
        }
    }

    fn restarts(&self, server: &str, fsync: Option<&str>, wanted: Wanted) -> Finding {
        let about = "restart";
        if self.text("aof_enabled") == "1" && self.text("aof_last_write_status") == "err" {
            let text = format!("{server} cannot write its append-only file: it grants no lock until it can");
            return Finding::bad(about, text, "look at the disk and at the server's log");
        }
        match (self.text("aof_enabled"), fsync) {
            ("1", Some("no")) => Finding::doubtful(
                about,
                format!("{server} loses the locks of some 30 s when its machine stops (appendfsync no)"),
                "set appendfsync to everysec or always",
            ),
            ("1", Some(fsync)) => Finding::good(
                about,
                format!("{server} keeps its locks over a restart (appendonly, appendfsync {fsync})"),
            ),
            ("1", None) => Finding::good(
                about,
                format!("{server} keeps its locks over a restart (appendonly), up to the last appendfsync"),
            ),
            _ if wanted.quarantine => Finding::good(
                about,
                format!("{server} loses the latest locks at a restart; the option quarantine keeps others from them"),
            ),
            _ => Finding::doubtful(
                about,
                format!("{server} loses the latest locks at a restart, and another owner can have them at once"),
                "set appendonly, let the server wait for a lease before it starts again, or use the option quarantine",
            ),
        }
    }

    fn replica(&self, server: &str) -> Finding {
        let master = format!("{}:{}", self.text("master_host"), self.text("master_port"));
        Finding::bad(
            "role",
            format!("{server} is a replica of {master}, and grants no lock"),
            "name the master, or have it found: redis+sentinel://, redis+replicated://, redis+cluster://",
        )
    }

    fn replicas(&self, server: &str, wanted: Wanted) -> Finding {
        let about = "replicas";
        let facts = self.followers();
        if facts.is_empty() {
            return match wanted.failover {
                false => Finding::good(
                    about,
                    format!("{server} has none connected, so no failover is near that could lose a lock"),
                ),
                true => Finding::doubtful(
                    about,
                    format!(
                        "{server} has none connected now: one that comes to its place has none of the latest locks"
                    ),
                    "look at the replicas, and at the network between them and their master",
                ),
            };
        }
        let text = format!("{server} has {}", count(facts.len() as u64, "replica"));
        if let Some(state) = facts.iter().find_map(|facts| facts.get("state").filter(|state| **state != "online")) {
            return Finding::doubtful(
                about,
                format!("{text}, of which one is not in step yet ({state}): it has none of the latest locks"),
                "wait until it has caught up, and look at its log if it does not",
            );
        }
        let lag = facts.iter().filter_map(|facts| facts.get("lag")?.parse::<u64>().ok()).max().unwrap_or_default();
        match (lag > 1, wanted.sync) {
            (true, _) => Finding::doubtful(
                about,
                format!("{text}, of which one is {lag} s behind: a failover loses the locks of that time"),
                match wanted.sync {
                    true => "find out what slows the replica down",
                    false => {
                        "find out what slows the replica down, and use the option sync: a lock then counts when replicas have it"
                    }
                },
            ),
            (false, true) => {
                Finding::good(about, format!("{text}, without delay now, and a lock counts when replicas have it"))
            }
            (false, false) => Finding::doubtful(
                about,
                format!("{text}, without delay now. A lock of the last moment is lost with its server all the same"),
                "use the option sync (see docs/deployments.md), and fencing tokens where two owners at once would cost money",
            ),
        }
    }

    /// Whether a master that is cut off from its replicas goes on granting locks.
    fn partition(&self, server: &str, least: Option<u64>, wanted: Wanted) -> Option<Finding> {
        let about = "partition";
        // The server counts them only if this setting and min-replicas-max-lag are above zero.
        let in_step = self.number("min_slaves_good_slaves");
        let is_off = self.text("min_slaves_good_slaves").is_empty();
        match least? {
            1.. if is_off => Some(Finding::doubtful(
                about,
                format!(
                    "{server} goes on granting locks when it is cut off, also after a replica has taken its place: min-replicas-to-write \
                     is set, and a min-replicas-max-lag of 0 switches it off"
                ),
                "set min-replicas-max-lag to 10 seconds, or fewer",
            )),
            0 if self.followers().is_empty() && !wanted.failover => None,
            0 => Some(Finding::doubtful(
                about,
                format!(
                    "{server} goes on granting locks when it is cut off, also after a replica has taken its place \
                     (min-replicas-to-write 0)"
                ),
                "set min-replicas-to-write to 1: without any replica it then grants no lock after min-replicas-max-lag; have two \
                 replicas, so that the loss of one stops no lock",
            )),
            least if in_step < least => Some(Finding::bad(
                about,
                format!(
                    "{server} grants no lock: {} in step, and min-replicas-to-write is {least}",
                    count_with(in_step, "replica is", "replicas are")
                ),
                "connect more replicas to it, or lower its min-replicas-to-write",
            )),
            least => Some(Finding::good(
                about,
                format!("{server} grants no lock when it is cut off from its replicas (min-replicas-to-write {least})"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn info(text: &str) -> Info {
        Info::read(text)
    }

    #[test]
    fn a_server_that_evicts_is_bad_and_one_that_would_or_is_nearly_full_is_doubtful() {
        let level = |text: &str| info(text).memory("s").level;
        assert_eq!(level("maxmemory:0\r\nmaxmemory_policy:noeviction\r\n"), Level::Good);
        assert_eq!(level("maxmemory:100\r\nused_memory:89\r\nmaxmemory_policy:noeviction\r\n"), Level::Good);
        assert_eq!(level("maxmemory:100\r\nused_memory:91\r\nmaxmemory_policy:noeviction\r\n"), Level::Doubtful);
        assert_eq!(level("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"), Level::Doubtful);
        assert_eq!(level("maxmemory:1\r\nmaxmemory_policy:volatile-ttl\r\n"), Level::Bad);
        assert_eq!(level("used_memory:1\r\n"), Level::Doubtful);
    }

    #[test]
    fn an_old_server_is_told() {
        let server = |text: &str| info(text).server("s");
        assert_eq!(server("redis_version:5.0.14\r\n").level, Level::Doubtful);
        assert_eq!(server("redis_version:6.0.0\r\n").level, Level::Good);
        let valkey = server("redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nuptime_in_seconds:90\r\n");
        assert!(valkey.text.contains("Valkey 8.1.0") && valkey.text.contains("1m30s"), "{}", valkey.text);
    }

    #[test]
    fn a_restart_is_judged_by_the_file_and_by_the_options() {
        let level = |text: &str, fsync, url| info(text).restarts("s", fsync, Wanted::by(url)).level;
        let plain = "redis://h";
        assert_eq!(level("aof_enabled:1\r\n", Some("everysec"), plain), Level::Good);
        assert_eq!(level("aof_enabled:1\r\n", Some("no"), plain), Level::Doubtful);
        assert_eq!(level("aof_enabled:1\r\naof_last_write_status:err\r\n", None, plain), Level::Bad);
        assert_eq!(level("aof_enabled:0\r\n", None, plain), Level::Doubtful);
        assert_eq!(level("aof_enabled:0\r\n", None, "redis://h?quarantine=true"), Level::Good);
    }

    #[test]
    fn replicas_that_are_late_not_in_step_or_expected_are_told() {
        let finding = |text: &str, url| info(text).findings("s", Settings::default(), Wanted::by(url)).remove(3);
        let plain = "redis://h";
        let late =
            finding("connected_slaves:2\r\nslave0:state=online,lag=0\r\nslave1:state=online,offset=9,lag=7\r\n", plain);
        assert!(late.text.contains("2 replicas") && late.text.contains("7 s behind"), "{}", late.text);
        let begins = finding("connected_slaves:1\r\nslave0:ip=1,state=wait_bgsave,lag=0\r\n", plain);
        assert!(begins.text.contains("wait_bgsave"), "{}", begins.text);
        let synced = "connected_slaves:1\r\nslave0:state=online,lag=0\r\n";
        assert_eq!(finding(synced, plain).level, Level::Doubtful);
        assert_eq!(finding(synced, "redis://h?sync=1").level, Level::Good);
        assert_eq!(finding("connected_slaves:0\r\n", plain).level, Level::Good);
        assert_eq!(finding("connected_slaves:0\r\n", "redis+sentinel://h/m").level, Level::Doubtful);
        let replica = finding("role:slave\r\nmaster_host:m\r\nmaster_port:6379\r\n", plain);
        assert!(replica.level == Level::Bad && replica.text.contains("m:6379"), "{}", replica.text);
    }

    #[test]
    fn a_master_that_is_cut_off_is_judged_by_the_replicas_that_it_needs() {
        let finding = |text: &str, least, url| info(text).partition("s", least, Wanted::by(url));
        let plain = "redis://h";
        let level = |text: &str, least, url| finding(text, least, url).map(|finding| finding.level);
        assert_eq!(level("connected_slaves:0\r\n", Some(0), plain), None);
        assert_eq!(level("connected_slaves:2\r\n", None, plain), None);
        assert_eq!(level("connected_slaves:2\r\n", Some(0), plain), Some(Level::Doubtful));
        assert_eq!(level("connected_slaves:0\r\n", Some(0), "redis+sentinel://h/m"), Some(Level::Doubtful));
        let text = finding("connected_slaves:0\r\n", Some(1), plain)
            .filter(|finding| finding.level == Level::Doubtful)
            .expect("it is off")
            .text;
        assert!(text.contains("min-replicas-max-lag of 0"), "{text}");
        let two = "connected_slaves:2\r\nmin_slaves_good_slaves:1\r\n";
        assert_eq!(level(two, Some(1), plain), Some(Level::Good));
        let text = finding(two, Some(2), plain).filter(|finding| finding.level == Level::Bad).expect("it is bad").text;
        assert!(text.contains("1 replica is in step"), "{text}");
    }
}
