//! Looks through all keys of a Redis for what dead programs have left, and what ends neither by itself nor by a client.

use std::collections::HashSet;
use std::time::Duration;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, HeldLock};
use tokio::time::sleep;

use super::finding::Finding;
use super::rights;
use super::servers::{Site, shown};
use crate::clock;
use crate::list::literal;
use crate::table::{count, count_with, in_one_line};

/// The keys that the server looks at in one call, which takes it a few tenths of a millisecond.
const PAGE: &str = "200";
/// The keys that are looked at together.
const BATCH: usize = 20;
/// The server rests so many times as long as it has worked, within these limits.
const REST: u32 = 9;
const LEAST_REST: Duration = Duration::from_millis(1);
const LONGEST_REST: Duration = Duration::from_secs(1);
/// The quickest of so many answers shows the share of the network in a call.
const PINGS: usize = 5;
/// The names that a finding shows, and the letters of each.
const SHOWN: usize = 10;
const LONGEST: usize = 80;
/// The names that are told apart: a scan may give a name twice.
const MOST: usize = 10_000;
/// A queue that was not used for so many seconds has no living waiter: each of them asks again and again while the lock is free.
const OLD: i64 = 86_400;
/// The time between two looks at a queue that may be in the midst of a change.
const AGAIN: Duration = Duration::from_secs(1);

const QUEUE: &str = "redisson_lock_queue:";
const TIMES: &str = "redisson_lock_timeout:";

/// A way through all keys.
#[derive(Clone, Copy)]
enum Pass {
    /// Hashes, which may be locks.
    Hashes,
    /// The queues of fair locks, and the times at which waiters are given up.
    Queues,
}

enum Orphan {
    /// A lock without an end.
    Endless,
    /// A queue whose head has no time, so that no client takes it out.
    Stuck,
    /// A part of a queue that no client uses.
    Unused,
}

/// The names of orphans of one sort: some of them, and their number.
#[derive(Default)]
struct Names {
    seen: HashSet<String>,
    shown: Vec<String>,
}

impl Names {
    fn add(&mut self, name: String) {
        if self.seen.len() < MOST && self.seen.insert(name.clone()) && self.shown.len() < SHOWN {
            self.shown.push(name);
        }
    }

    /// `3 locks`, or that there are more than can be told apart.
    fn count(&self, one: &str, many: &str) -> String {
        match self.seen.len() {
            MOST => format!("{MOST} {many} or more"),
            number => count_with(number as u64, one, many),
        }
    }

    fn list(&self) -> String {
        let mut names: Vec<_> = self.shown.iter().map(|name| format!("`{}`", cut(name))).collect();
        names.sort();
        let more = self.seen.len() - self.shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", names.join(", "))
    }

    /// The name for a command of a remedy: that of the only orphan, as a shell takes it, if it can be shown as it is.
    fn only(&self, placeholder: &str) -> String {
        match self.shown.as_slice() {
            [name] if cut(name) == *name && in_one_line(name) == *name => quoted(name),
            _ => placeholder.to_owned(),
        }
    }
}

#[derive(Default)]
struct Found {
    endless: Names,
    stuck: Names,
    unused: Names,
    /// The number of keys that the user may not look at, and the reason.
    refused: Option<(u64, Error)>,
}

/// `has_prefix`: the URL gives names a prefix. The client has none, and so sees whole keys.
pub async fn examine(client: &Client, has_prefix: bool, site: &Site, mut add: impl FnMut(Finding)) {
    let began = clock::now();
    let mut found = Found::default();
    let failed = scan_all(client, &mut found).await.err();
    let took = shown(clock::now().saturating_sub(began));
    let findings = found.findings(has_prefix, site);
    match failed {
        Some(error) => {
            let remedy = match rights::is_missing(&error) {
                true => rights::for_lists(site, &error),
                false => "try again when the server answers".to_owned(),
            };
            add(Finding::doubtful("orphans", format!("not all keys were looked at: {error}"), remedy));
        }
        None if findings.is_empty() => {
            add(Finding::good("orphans", format!("none; all keys were looked at in {took}")));
        }
        None => {}
    }
    findings.into_iter().for_each(add);
}

async fn scan_all(client: &Client, found: &mut Found) -> Result<(), Error> {
    let mut way = Duration::MAX;
    for _ in 0..PINGS {
        let asked = clock::now();
        client.run(Request::new(Op::Ping, "plain", "", 0)).await?;
        way = way.min(clock::now().saturating_sub(asked));
    }
    scan(client, Pass::Hashes, way, found).await?;
    scan(client, Pass::Queues, way, found).await
}

/// `way`: the share of the network in a call.
async fn scan(client: &Client, pass: Pass, way: Duration, found: &mut Found) -> Result<(), Error> {
    let mut next = String::new();
    while next != "0" {
        let asked = clock::now();
        let mut words = vec!["SCAN", &next, "COUNT", PAGE];
        words.extend(match pass {
            Pass::Hashes => ["TYPE", "hash"],
            Pass::Queues => ["MATCH", "redisson_lock_*"],
        });
        let page = keys(client, "", &words).await?;
        rest(clock::now().saturating_sub(asked + way)).await;
        let mut texts = page.texts.into_iter().map(String::from_utf8);
        next = texts.next().and_then(Result::ok).unwrap_or_else(|| "0".to_owned());
        // A lock's name is UTF-8.
        let mut names: Vec<String> = texts.filter_map(Result::ok).collect();
        if matches!(pass, Pass::Queues) {
            names.retain(|name| name.starts_with(QUEUE) || name.starts_with(TIMES));
        }
        for names in names.chunks(BATCH) {
            let asked = clock::now();
            let looks: Vec<_> = names
                .iter()
                .map(|name| {
                    let client = client.clone();
                    let name = name.clone();
                    tokio::spawn(async move { (look(&client, pass, &name).await, name) })
                })
                .collect();
            for look in looks {
                let (orphan, name) = look.await.expect("the task does not panic");
                found.note(orphan, name)?;
            }
            rest(clock::now().saturating_sub(asked + way)).await;
        }
    }
    Ok(())
}

async fn rest(worked: Duration) {
    sleep((REST * worked).clamp(LEAST_REST, LONGEST_REST)).await;
}

/// Looks at one key. `None`: it is no orphan, or is no more.
async fn look(client: &Client, pass: Pass, key: &str) -> Result<Option<Orphan>, Error> {
    match pass {
        Pass::Hashes => {
            // Each other lock has an end, and one call is cheaper than the look.
            if keys(client, key, &["PTTL"]).await?.number != -1 {
                return Ok(None);
            }
            let lock = client.locks(&literal(key)).next().await?;
            Ok(lock.is_some_and(|lock| is_endless(&lock)).then_some(Orphan::Endless))
        }
        Pass::Queues => {
            let Some(fair) = Fair::of(key) else { return Ok(None) };
            let kind = keys(client, key, &["TYPE"]).await?.texts;
            if !fair.is_free(client).await? {
                return Ok(None);
            }
            match kind.first().map(Vec::as_slice) {
                Some(b"list") if key == fair.queue => queue(client, &fair).await,
                // With the queue beside them, the queue is told.
                Some(b"zset") if key == fair.times && exist(client, &[&fair.queue]).await? == 0 => {
                    Ok(is_unused(client, key).await?.then_some(Orphan::Unused))
                }
                _ => Ok(None),
            }
        }
    }
}

/// Looks at the queue of a free lock.
async fn queue(client: &Client, fair: &Fair) -> Result<Option<Orphan>, Error> {
    if !fair.is_stuck(client).await? {
        return Ok(is_unused(client, &fair.queue).await?.then_some(Orphan::Unused));
    }
    sleep(AGAIN).await;
    let is_stuck = fair.is_free(client).await? && fair.is_stuck(client).await?;
    Ok(is_stuck.then_some(Orphan::Stuck))
}

/// Whether it surely is a lock that never ends. The values of a multi lock end one by one, whatever the end of their key is.
fn is_endless(lock: &HeldLock) -> bool {
    let has_owners = || lock.holders.iter().all(|holder| holder.owner.parse::<i64>().is_ok());
    let is_lock = match lock.kind {
        "plain" | "fair" | "fenced" | "leader" => lock.holder_count == 1,
        "read" | "write" => lock.holder_count > 0,
        _ => false,
    };
    is_lock && lock.is_certain && lock.remaining.is_none() && has_owners()
}

/// The keys of a fair lock.
struct Fair {
    queue: String,
    times: String,
    /// The signs of life of its waiters.
    seen: String,
    /// Both names that the lock may have: its own braces look like those around a name without any.
    locks: Vec<String>,
}

impl Fair {
    /// The lock that such a key belongs to.
    fn of(key: &str) -> Option<Self> {
        let rest = key.strip_prefix(QUEUE).or_else(|| key.strip_prefix(TIMES)).filter(|rest| rest.contains('{'))?;
        let inner = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).filter(|name| !name.contains('{'));
        Some(Fair {
            queue: format!("{QUEUE}{rest}"),
            times: format!("{TIMES}{rest}"),
            seen: format!("redlatch_lock_seen:{rest}"),
            locks: [Some(rest), inner].into_iter().flatten().map(str::to_owned).collect(),
        })
    }

    async fn is_free(&self, client: &Client) -> Result<bool, Error> {
        let names: Vec<&str> = self.locks.iter().map(String::as_str).collect();
        Ok(exist(client, &names).await? == 0)
    }

    /// Whether the queue stands alone, so that none of its waiters has a time: every client goes on to wait for its head.
    async fn is_stuck(&self, client: &Client) -> Result<bool, Error> {
        // One call looks at all at one moment. The queue is named three times: alone it counts 3, and without it there are 2 at most.
        let queue = self.queue.as_str();
        Ok(exist(client, &[queue, queue, queue, &self.times, &self.seen]).await? == 3)
    }
}

/// How many of these keys exist.
async fn exist(client: &Client, names: &[&str]) -> Result<i64, Error> {
    let [first, others @ ..] = names else { return Ok(0) };
    Ok(keys(client, first, &[&["EXISTS"], others].concat()).await?.number)
}

/// Whether no client has used a key for long. Looks at it do not count.
async fn is_unused(client: &Client, key: &str) -> Result<bool, Error> {
    match keys(client, key, &["OBJECT IDLETIME"]).await {
        Ok(idle) => Ok(idle.number >= OLD),
        // With a policy of eviction by frequency the server does not know it.
        Err(Error::Refused { message, .. }) if message.contains("LFU") => Ok(false),
        Err(error) => Err(error),
    }
}

/// Carries out an action on keys that changes nothing; `words`: its name, and the further words of its command.
async fn keys(client: &Client, key: &str, words: &[&str]) -> Result<redlatch::ffi::Answer, Error> {
    let texts = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    client.run(Request { texts, ..Request::new(Op::Keys, "plain", key, 0) }).await
}

impl Found {
    /// Notes the outcome of a look. The error ends the scan.
    fn note(&mut self, orphan: Result<Option<Orphan>, Error>, name: String) -> Result<(), Error> {
        match orphan {
            Ok(Some(Orphan::Endless)) => self.endless.add(name),
            Ok(Some(Orphan::Stuck)) => self.stuck.add(name),
            Ok(Some(Orphan::Unused)) => self.unused.add(name),
            // No lock has such a name, as one of 100,000 letters.
            Ok(None) | Err(Error::Config(_)) => {}
            Err(error) if rights::is_missing(&error) => {
                self.refused.get_or_insert((0, error)).0 += 1;
            }
            // The key has gone since, or is something else by now.
            Err(Error::Refused { message, code, .. }) if code == "WRONGTYPE" || message.contains("no such key") => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn findings(&self, has_prefix: bool, site: &Site) -> Vec<Finding> {
        let Found { endless, stuck, unused, refused } = self;
        let mut findings = Vec::new();
        if !endless.shown.is_empty() {
            let text = format!(
                "{}: {}",
                endless.count(
                    "lock has no end, and no other owner gets it until it is released",
                    "locks have no end, and no other owner gets them until they are released"
                ),
                endless.list()
            );
            let url = if has_prefix { ", by a URL without the option prefix" } else { "" };
            let remedy = format!(
                "`redlatch release {}` shows the holder and takes the lock away{url}; find out what removed the end (PERSIST, a copy of \
                 keys without their ends, a client that is neither redlatch nor Redisson)",
                endless.only("NAME")
            );
            findings.push(Finding::bad("orphans", text, remedy));
        }
        if !stuck.shown.is_empty() {
            let text = format!(
                "{} a waiter without a time, behind which every other owner waits for ever: {}",
                stuck.count("queue of a free fair lock has", "queues of free fair locks have"),
                stuck.list()
            );
            let remedy =
                format!("`redis-cli DEL {}`: a waiter that lives stands in line again by itself", stuck.only("KEY"));
            findings.push(Finding::bad("orphans", text, remedy));
        }
        if !unused.shown.is_empty() {
            let text = format!(
                "{} not been used for a day, so the waiters are dead: {}",
                unused.count("key of the queue of a free fair lock has", "keys of queues of free fair locks have"),
                unused.list()
            );
            let remedy = format!("`redis-cli DEL {}` clears it away", unused.only("KEY"));
            findings.push(Finding::doubtful("orphans", text, remedy));
        }
        if let Some((number, error)) = refused {
            let text = format!("{} could not be looked at: {error}", count(*number, "key"));
            findings.push(Finding::doubtful("orphans", text, rights::for_orphans(site, error)));
        }
        findings
    }
}

fn cut(name: &str) -> String {
    match name.chars().count() > LONGEST {
        true => name.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// A name as a word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    let dashes = if name.starts_with('-') { "-- " } else { "" };
    match !name.is_empty() && name.chars().all(is_plain) {
        true => format!("{dashes}{name}"),
        false => format!("{dashes}'{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_fair_lock_are_found_by_its_queue() {
        let plain = Fair::of("redisson_lock_queue:{orders}").expect("a queue");
        assert_eq!(plain.locks, ["{orders}", "orders"]);
        assert_eq!(
            (plain.times.as_str(), plain.seen.as_str()),
            ("redisson_lock_timeout:{orders}", "redlatch_lock_seen:{orders}")
        );
        assert_eq!(Fair::of("redisson_lock_queue:a{b}c").expect("a queue").locks, ["a{b}c"]);
        assert!(Fair::of("redisson_lock_queue:orders").is_none() && Fair::of("orders").is_none());
    }

    #[test]
    fn a_finding_has_ten_names_at_most_and_says_how_many_there_are() {
        let mut names = Names::default();
        (0..12).for_each(|number| names.add(format!("n{number}")));
        names.add("n3".into());
        assert_eq!(names.count("lock", "locks"), "12 locks");
        assert!(names.list().ends_with(" and 2 more") && names.list().matches('`').count() == 20, "{}", names.list());
        (0..MOST).for_each(|number| names.add(format!("m{number}")));
        assert_eq!(names.count("lock", "locks"), "10000 locks or more");
    }

    #[test]
    fn a_remedy_takes_a_name_as_a_shell_does() {
        assert_eq!(quoted("orders:42"), "orders:42");
        assert_eq!(quoted("it's {1}"), r"'it'\''s {1}'");
        assert_eq!(quoted("-x"), "-- -x");
    }
}
