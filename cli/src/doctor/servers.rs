//! The servers of a Redis: their version, memory, replicas, clocks and settings.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};

use super::finding::Finding;
use crate::clock;
use crate::table::{count, ends};

/// The longest distance of a server's clock that does not matter.
const CLOCK: Duration = Duration::from_secs(1);
/// A server that takes longer for one answer out of a hundred delays each lock.
const SLOW: Duration = Duration::from_millis(50);
/// The least time between the signs of life of a client that waits: a shorter `timeout` of the server ends its connections.
const PULSE: u64 = 60;
const PINGS: usize = 200;

/// The answer of a server, or the reason why it gave none.
type Said = Result<Vec<String>, String>;

pub async fn examine(client: &Client) -> Vec<Finding> {
    let Some(infos) = ask(client, &["INFO"]).await else { return Vec::new() };
    let mut findings = Vec::new();
    for (server, said) in infos {
        let text = match said {
            Ok(texts) => texts.concat(),
            Err(why) => {
                let remedy = "allow INFO: without it nothing is known of the server's memory, and losses are told late";
                findings.push(Finding::doubtful("server", format!("{server} does not tell of itself: {why}"), remedy));
                continue;
            }
        };
        let info = Info::read(&text);
        findings.extend([
            version(&server, &info),
            memory(&server, &info),
            restarts(&server, &info),
            replicas(&server, &info),
        ]);
    }
    findings.push(answers(client).await);
    findings.extend(clocks(client).await);
    findings.extend(idle(client).await);
    findings
}

/// Asks every server; `None`: the system has no such questions.
async fn ask(client: &Client, words: &[&str]) -> Option<Vec<(String, Said)>> {
    let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let answer = client.run(Request { texts, ..Request::new(Op::Ask, "plain", "servers", 0) }).await.ok()?;
    let mut texts = answer.texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned());
    let mut told = Vec::new();
    while let (Some(server), Some(answered), Some(number)) = (texts.next(), texts.next(), texts.next()) {
        let said: Vec<String> = texts.by_ref().take(number.parse().unwrap_or_default()).collect();
        told.push((server, if answered == "1" { Ok(said) } else { Err(said.concat()) }));
    }
    Some(told)
}

/// The answer to `INFO`.
struct Info(HashMap<String, String>);

impl Info {
    fn read(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        Info(pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or_default()
    }
}

fn version(server: &str, info: &Info) -> Finding {
    let (name, version) = match info.text("valkey_version") {
        "" => ("Redis", info.text("redis_version")),
        version => ("Valkey", version),
    };
    let up = ends(Some(Duration::from_secs(info.number("uptime_in_seconds"))));
    let text = format!("{name} {version} at {server}, up for {up}");
    let parts: Vec<u64> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    match parts.as_slice() < [6, 0].as_slice() {
        true => Finding::doubtful(
            "server",
            format!("{text}; it cannot tell a client of a lost key"),
            "use Redis 6 or later: a holder then hears of its loss at once, and not by its next renewal",
        ),
        false => Finding::good("server", text),
    }
}

fn memory(server: &str, info: &Info) -> Finding {
    let limit = info.number("maxmemory");
    let policy = info.text("maxmemory_policy");
    let evicted = match info.number("evicted_keys") {
        0 => String::new(),
        keys => format!("; it has evicted {} since its start", count(keys, "key")),
    };
    match (limit, policy) {
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

fn restarts(server: &str, info: &Info) -> Finding {
    match info.text("aof_enabled") {
        "1" => Finding::good(
            "restart",
            format!("{server} keeps its locks over a restart (appendonly), up to the last appendfsync"),
        ),
        _ => Finding::doubtful(
            "restart",
            format!("{server} loses the latest locks at a restart, and another owner can have them at once"),
            "set appendonly, let the server wait for a lease before it starts again, or use the option quarantine",
        ),
    }
}

fn replicas(server: &str, info: &Info) -> Finding {
    let replicas = info.number("connected_slaves");
    if replicas == 0 {
        return Finding::good("replicas", format!("{server} has none, so there is no failover that could lose a lock"));
    }
    let lag = |at| {
        info.text(&format!("slave{at}")).split(',').find_map(|part| part.strip_prefix("lag=")?.parse::<u64>().ok())
    };
    let text = format!("{server} has {}", count(replicas, "replica"));
    match (0..replicas).filter_map(lag).max() {
        Some(lag) if lag > 1 => Finding::doubtful(
            "replicas",
            format!("{text}, of which one is {lag} s behind: a failover loses the locks of that time"),
            "find out what slows the replica down, and use the option sync: a lock then counts when replicas have it",
        ),
        _ => Finding::doubtful(
            "replicas",
            format!("{text}, without delay now. A lock of the last moment is lost with its server all the same"),
            "use the option sync (see docs/deployments.md), and fencing tokens where two owners at once would cost money",
        ),
    }
}

/// How long the servers take for an answer.
async fn answers(client: &Client) -> Finding {
    let mut times = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        let asked = clock::now();
        if ask(client, &["PING"]).await.is_none() {
            return Finding::bad("answers", "a ping failed", "look at the network and at the server's load");
        }
        times.push(clock::now().saturating_sub(asked));
    }
    times.sort();
    let median = times[PINGS / 2];
    let late = times[PINGS * 99 / 100];
    let text = format!("{} in the median, {} for one of a hundred", shown(median), shown(late));
    match late > SLOW {
        true => Finding::doubtful(
            "answers",
            text,
            "each lock waits for that: look at SLOWLOG, the server's load and the network",
        ),
        false => Finding::good("answers", text),
    }
}

async fn clocks(client: &Client) -> Option<Finding> {
    let asked = clock::now();
    let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let told = ask(client, &["TIME"]).await?;
    // The server's answer may be from any moment of the call.
    let doubt = clock::now().saturating_sub(asked);
    let far = told.iter().filter_map(|(server, said)| {
        let parts: Vec<u64> = said.as_ref().ok()?.iter().filter_map(|part| part.parse().ok()).collect();
        let there = Duration::from_secs(*parts.first()?) + Duration::from_micros(*parts.get(1)?);
        Some((server, there.abs_diff(here)))
    });
    let (server, distance) = far.max_by_key(|(_, distance)| *distance)?;
    Some(match distance > CLOCK + doubt {
        true => Finding::doubtful(
            "clock",
            format!("the clock of {server} is {} away from the one here", shown(distance)),
            "leases do not depend on it; fair queues of Redisson and expirable permits do: set both clocks by NTP",
        ),
        false => Finding::good("clock", format!("at most {} away from the one here", shown(distance + doubt))),
    })
}

/// Whether the servers end idle connections, which waiters have.
async fn idle(client: &Client) -> Option<Finding> {
    let told = ask(client, &["CONFIG", "GET", "timeout"]).await?;
    let timeouts =
        told.iter().filter_map(|(server, said)| Some((server, said.as_ref().ok()?.get(1)?.parse::<u64>().ok()?)));
    let (server, timeout) = timeouts.filter(|(_, timeout)| *timeout > 0).min_by_key(|(_, timeout)| *timeout)?;
    Some(match timeout < PULSE {
        true => Finding::doubtful(
            "idle",
            format!("{server} ends connections that are silent for {timeout} s, of waiting programs as well"),
            format!(
                "set timeout to 0, or to {PULSE} or more: until a waiter has connected again it hears of no release"
            ),
        ),
        false => Finding::good("idle", format!("{server} ends connections that are silent for {timeout} s")),
    })
}

/// A time in few letters.
pub fn shown(time: Duration) -> String {
    match time.as_secs() {
        0 if time < Duration::from_millis(10) => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
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
    fn a_server_that_evicts_is_bad_and_one_that_would_is_doubtful() {
        let level = |text: &str| memory("s", &info(text)).level;
        assert_eq!(level("maxmemory:0\r\nmaxmemory_policy:noeviction\r\n"), Level::Good);
        assert_eq!(level("maxmemory:1\r\nmaxmemory_policy:noeviction\r\n"), Level::Good);
        assert_eq!(level("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"), Level::Doubtful);
        assert_eq!(level("maxmemory:1\r\nmaxmemory_policy:volatile-ttl\r\n"), Level::Bad);
        assert_eq!(level("used_memory:1\r\n"), Level::Doubtful);
    }

    #[test]
    fn an_old_server_and_a_late_replica_are_told() {
        assert_eq!(version("s", &info("redis_version:5.0.14\r\n")).level, Level::Doubtful);
        assert_eq!(version("s", &info("redis_version:6.0.0\r\n")).level, Level::Good);
        let valkey = version("s", &info("redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nuptime_in_seconds:90\r\n"));
        assert!(valkey.text.contains("Valkey 8.1.0") && valkey.text.contains("1m30s"), "{}", valkey.text);
        let late = replicas("s", &info("connected_slaves:2\r\nslave0:ip=1,lag=0\r\nslave1:ip=2,offset=9,lag=7\r\n"));
        assert!(late.text.contains("2 replicas") && late.text.contains("7 s behind"), "{}", late.text);
    }
}
