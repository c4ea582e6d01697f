//! Lists the locks that are held, page by page: names that were asked for, names that clients wait for, and a scan of all
//! keys that takes a tenth of a server's time at most. A replica is scanned in place of its server; the server itself says
//! what is locked.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::{Call, Script, script};
use crate::redis::link::connection::wire::How;
use crate::redis::link::node::Node;
use crate::redis::link::{Limits, Outcome};
use crate::redis::settle::settle;
use crate::redis::target::Target;
use crate::request::error::{Error, Result};
use crate::request::inventory::{HeldLock, Page};
use crate::request::names::without;
use crate::request::{Answer, OWN_OWNERS};

mod found;
mod pattern;
mod processes;

use pattern::Pattern;
pub use processes::Processes;

static LOOK: Script = script!("inventory/look", "inventory/_found");
static SCAN: Script = script!("inventory/scan", "inventory/_found");
static WAITED: Script = script!("inventory/waited");

/// The work of one call in keys, which takes it a few tenths of a millisecond.
const MOST: u64 = 200;
const LEAST: u64 = 10;
/// A call that takes longer does too much.
const LONG: Duration = Duration::from_millis(1);
/// The server rests so many times as long as a call took.
const REST: u32 = 9;
/// The most that a look at one lock costs a server. The rest of the time until its answer is the network's.
const LOOK_COST: Duration = Duration::from_micros(200);
/// A page ends after this time, or with so many locks.
const PAGE: Duration = Duration::from_millis(250);
const FULL: usize = 100;

/// The place of a scan on the server itself.
const ITSELF: &str = "-";

/// The kinds of lock whose holders are no threads of Redisson.
const OURS_ALONE: [&str; 2] = ["leader", "token"];

/// The place in a listing.
enum Place {
    /// Behind this name, among those that clients wait for.
    Waited(String),
    Scan(Scan),
}

/// The place in a scan: a slot of the server, the cursor, and the work of the next call.
struct Scan {
    part: u16,
    cursor: String,
    count: u64,
    /// The replica on which the cursor counts; [`ITSELF`]: the server; empty: none has been chosen yet.
    on: String,
}

impl Target {
    /// One page. The text of the request asks for a later one.
    pub async fn inventory(&self) -> Result<Answer> {
        let pattern = Pattern::new(&self.redis.config.prefix, self.plain_name());
        let from = self.texts.first().map_or(&b""[..], Vec::as_slice);
        let began = Instant::now();
        let mut page = match (pattern.name(), Place::read(from)?) {
            (Some(name), _) => Page { locks: self.look_at(&name).await?, next: Vec::new() },
            (None, Place::Waited(name)) => self.waited_for(&pattern, name).await?,
            (None, Place::Scan(place)) => self.scanned(&pattern, place).await?,
        };
        self.add_processes(&mut page.locks, began).await;
        for lock in &mut page.locks {
            lock.name = without(&self.redis.config.prefix, &lock.name).to_owned();
        }
        Ok(page.answer())
    }

    async fn look_at(&self, name: &str) -> Result<Vec<HeldLock>> {
        self.found(self.read(&look(name)).await?)
    }

    /// The first pages: the locks that clients wait for, which no scan is needed for.
    async fn waited_for(&self, pattern: &Pattern, behind: String) -> Result<Page> {
        let began = Instant::now();
        let parts = self.redis.link.parts(self.response).await?;
        let mut names = BTreeSet::new();
        for part in &parts {
            for channels in pattern.channels() {
                let reply = self.read(&waited(&channels).to(*part)).await?;
                names.extend(
                    reply.texts.iter().flat_map(|channel| pattern::names_of(&String::from_utf8_lossy(channel))),
                );
            }
        }
        let mut locks = Vec::new();
        for name in names.range((Bound::Excluded(behind), Bound::Unbounded)) {
            let asked = Instant::now();
            locks.extend(self.look_at(name).await?);
            sleep(asked.elapsed().min(LOOK_COST) * REST).await;
            if is_full(&locks, began) {
                return Ok(Page { locks, next: Place::Waited(name.clone()).text() });
            }
        }
        let part = parts.first().copied().unwrap_or_default();
        Ok(Page { locks, next: Place::Scan(Scan::of(part, MOST)).text() })
    }

    async fn scanned(&self, pattern: &Pattern, mut place: Scan) -> Result<Page> {
        let began = Instant::now();
        let mut locks = Vec::new();
        let mut replica = self.replica(&mut place).await;
        loop {
            let parts = self.redis.link.parts(self.response).await?;
            // A server of the cluster may have gone meanwhile.
            let Some(part) = parts.iter().copied().find(|part| *part >= place.part) else {
                return Ok(Page { locks, next: Vec::new() });
            };
            if part != place.part {
                place = Scan::of(part, place.count);
                replica = self.replica(&mut place).await;
            }
            let asked = Instant::now();
            let call = scan(pattern, &place).to(part);
            let mut reply = match &replica {
                None => self.read(&call).await?,
                Some(node) => match self.read_on(node, &call).await {
                    Some(reply) => reply,
                    None => {
                        place = Scan::of_itself(part, place.count);
                        replica = None;
                        continue;
                    }
                },
            };
            if reply.texts.is_empty() || reply.numbers.is_empty() {
                return Err(self.nonsense());
            }
            place.cursor = String::from_utf8_lossy(&reply.texts.remove(0)).into_owned();
            let took = match u64::try_from(reply.numbers.remove(0)) {
                Ok(us) if us > 0 => Duration::from_micros(us),
                // The time stands still in a script, and the server has no other clock.
                _ => asked.elapsed(),
            };
            place.count = next_count(place.count, took);
            let found = self.found(reply)?;
            match &replica {
                None => locks.extend(found),
                // A replica hears of a release a little late.
                Some(_) => {
                    for lock in found {
                        let asked = Instant::now();
                        locks.extend(self.look_at(&lock.name).await?);
                        sleep(asked.elapsed().min(LOOK_COST) * REST).await;
                    }
                }
            }
            if place.cursor == "0" {
                match parts.iter().copied().find(|part| *part > place.part) {
                    Some(part) => {
                        place = Scan::of(part, place.count);
                        replica = self.replica(&mut place).await;
                    }
                    None => return Ok(Page { locks, next: Vec::new() }),
                }
            }
            sleep(took * REST).await;
            if is_full(&locks, began) {
                return Ok(Page { locks, next: Place::Scan(place).text() });
            }
        }
    }

    /// The replica to scan from this place on; `None`: the server itself. Without the replica on which a scan has begun, the
    /// server is scanned from the beginning.
    async fn replica(&self, place: &mut Scan) -> Option<Arc<Node>> {
        if place.on == ITSELF {
            return None;
        }
        let replica = self.redis.link.replica(place.part, self.response).await;
        let address = replica.as_ref().map(|node| node.address.to_string());
        match address {
            Some(address) if place.on.is_empty() => place.on = address,
            Some(address) if place.on == address => {}
            _ => {
                *place = Scan::of_itself(place.part, place.count);
                return None;
            }
        }
        replica
    }

    /// One call on a replica; `None`: it did not answer, or may not.
    async fn read_on(&self, replica: &Node, call: &Call) -> Option<Reply> {
        let limits = Limits { response: self.response, window: WINDOW };
        match replica.run(call, limits, &[], How::Plain).await {
            Ok(Outcome::Reply(reply)) => Some(reply),
            other => {
                tracing::debug!(target: "redlatch::link", "{} is scanned no more: {other:?}", replica.address);
                None
            }
        }
    }

    /// Reads the locks in the answer of a script.
    fn found(&self, reply: Reply) -> Result<Vec<HeldLock>> {
        found::locks(reply).ok_or_else(|| self.nonsense())
    }

    async fn read(&self, call: &Call) -> Result<Reply> {
        let settled = settle(&self.redis, call, self.retry_limits(None), None).await;
        settled.map(|settled| settled.reply).map_err(|unsettled| unsettled.error)
    }

    /// Names machine and process of each holder whose client has a connection that tells. Without the right to list the
    /// connections they stay unknown. `began`: the locks were read since then.
    async fn add_processes(&self, locks: &mut [HeldLock], began: Instant) {
        let processes = &self.redis.processes;
        let link = &self.redis.link;
        for lock in locks {
            let slot = link.slot_of_key(&lock.name);
            let clients: Vec<_> = match lock.kind {
                // The ids of permits are no clients.
                "permits" => Vec::new(),
                _ => lock.holders.iter().chain(&lock.queue).map(|holder| holder.client.as_str()).collect(),
            };
            let known = processes.of(link, slot, self.response, &clients, began).await;
            let Some(known) = known else { continue };
            let is_theirs_too = !OURS_ALONE.contains(&lock.kind);
            for holder in lock.holders.iter_mut().chain(&mut lock.queue) {
                match known.get(&holder.client).cloned() {
                    Some((host, process)) => {
                        holder.host = Some(host);
                        holder.process = Some(process);
                    }
                    None => holder.may_be_redisson = is_theirs_too && is_thread(&holder.owner),
                }
            }
        }
    }

    fn nonsense(&self) -> Error {
        let cause = "sends an answer that no script of ours gives".to_owned();
        Error::unavailable(self.redis.config.server(), cause, false)
    }
}

impl Place {
    fn text(&self) -> Vec<u8> {
        match self {
            Place::Waited(name) => format!("waited:{name}"),
            Place::Scan(Scan { part, cursor, count, on }) => format!("scan:{part}:{cursor}:{count}:{on}"),
        }
        .into_bytes()
    }

    fn read(text: &[u8]) -> Result<Self> {
        let shown = String::from_utf8_lossy(text);
        match shown.split_once(':') {
            None if shown.is_empty() => Some(Place::Waited(String::new())),
            Some(("waited", name)) => Some(Place::Waited(name.to_owned())),
            Some(("scan", place)) => Scan::read(place).map(Place::Scan),
            _ => None,
        }
        .ok_or_else(|| Error::config(format!("no page of locks begins at `{shown}`; begin with an empty text")))
    }
}

impl Scan {
    /// The beginning of a scan of that server, or of its replica.
    fn of(part: u16, count: u64) -> Self {
        Scan { part, cursor: "0".to_owned(), count, on: String::new() }
    }

    /// The beginning of a scan of that server itself.
    fn of_itself(part: u16, count: u64) -> Self {
        Scan { on: ITSELF.to_owned(), ..Scan::of(part, count) }
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ':');
        let part = words.next()?.parse().ok()?;
        let cursor = words.next()?.to_owned();
        let count = words.next()?.parse().ok().filter(|count| (LEAST..=MOST).contains(count))?;
        let on = words.next()?.to_owned();
        Some(Scan { part, cursor, count, on })
    }
}

fn is_full(locks: &[HeldLock], began: Instant) -> bool {
    locks.len() >= FULL || began.elapsed() >= PAGE
}

/// Whether an owner has a number as threads of Redisson have. Owners of ours that were given none have greater ones.
fn is_thread(owner: &str) -> bool {
    owner.parse::<i64>().is_ok_and(|number| number < OWN_OWNERS)
}

/// The work of the next call, after one that took so long. One slow call may have been the machine's fault, so
/// the number grows again.
fn next_count(count: u64, took: Duration) -> u64 {
    let next = if took > LONG {
        count / 2
    } else if took < LONG / 2 {
        count + count / 4 + 1
    } else {
        count
    };
    next.clamp(LEAST, MOST)
}

fn look(name: &str) -> Call {
    Call::new(&LOOK).key("name", name).beside(beside)
}

fn scan(pattern: &Pattern, place: &Scan) -> Call {
    Call::new(&SCAN)
        .arg("names", pattern.names())
        .arg("cursor", &place.cursor)
        .arg("leases", pattern.leases())
        .arg("count", place.count)
        .beside(beside)
}

/// The keys beside locks of these names: queues, tokens, leases.
fn beside(names: &str) -> String {
    match names.contains('{') {
        true => format!("*{names}*"),
        false => format!("*{{{names}}}*"),
    }
}

fn waited(channels: &str) -> Call {
    Call::new(&WAITED).arg("pattern", channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_names_its_inputs_as_its_script_does() {
        let pattern = Pattern::new("", "n*");
        look("n").assert_names_agree();
        scan(&pattern, &Scan::of(0, MOST)).assert_names_agree();
        waited("c").assert_names_agree();
    }

    #[test]
    fn a_slow_call_halves_the_work_of_the_next_one_and_quick_calls_bring_it_back() {
        let slow = Duration::from_micros(1001);
        assert_eq!(next_count(200, slow), 100);
        assert_eq!(next_count(LEAST, slow), LEAST);
        assert_eq!(next_count(100, Duration::from_micros(700)), 100);
        let mut count = LEAST;
        for _ in 0..20 {
            count = next_count(count, Duration::from_micros(100));
        }
        assert_eq!(count, MOST);
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for text in [
            "scan:0:0:200:",
            "scan:0:0:200:-",
            "scan:16383:18446744073709551615:10:rediss://[::1]:7001",
            "waited:a:name",
        ] {
            assert_eq!(Place::read(text.as_bytes()).expect("a place").text(), text.as_bytes());
        }
        for text in ["0", "scan:x:0:200:", "scan:0:0:0:", "scan:0:0:201:", "scan:0:0:200", "else:0:0:200:"] {
            assert!(Place::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
