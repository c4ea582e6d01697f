//! The rest in the servers while all processes rest: at the end nothing but counts, and nothing of living processes for
//! long.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redlatch_tests::check::Census;
use redlatch_tests::traffic::{self, Kind, LONGEST_LEASE};
use redlatch_tests::{Server, View, clock, ms};

/// How long after the beginning of a rest a living process may still release something: the time to settle a call in
/// doubt.
pub const LIVING: Duration = Duration::from_millis(3000);
/// How long a dead process may still hold something.
pub const DEAD: Duration = LONGEST_LEASE.saturating_add(Duration::from_secs(1));
/// How long after its sending a call may still be carried out.
const LATE: Duration = ms(1100);

/// The result over all rests.
#[derive(Default)]
pub struct Residue {
    pub rests: u64,
    /// Holds without a believing holder, of processes that were alive to release them.
    pub orphans: u64,
    pub longest: Duration,
    /// Holds that killed processes left behind.
    pub of_the_dead: u64,
    /// Their places in queues, and their remembered calls. The next waiter or the end of their time removes these.
    pub traces: u64,
    /// The permits of each semaphore at every rest.
    pub counts: Vec<Census>,
    pub violations: Vec<String>,
}

/// Something on a server with an owner's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    server: usize,
    key: String,
    owner: String,
    /// Whether it keeps no other owner out.
    trace: bool,
}

impl Residue {
    /// Waits until nothing is left, or for as long as something may be left. `living`: the ids of the clients of living
    /// processes. `killed`: some processes have died since the last rest.
    pub fn check(&mut self, servers: &[&Server], living: &[String], killed: bool) {
        let mut views: Vec<View> = servers.iter().map(|server| server.view()).collect();
        let began = Instant::now();
        let mut orphans = BTreeSet::new();
        let mut dead = BTreeSet::new();
        let mut traces = BTreeSet::new();
        self.rests += 1;
        loop {
            let waited = began.elapsed();
            let mut late = false;
            let mut some = false;
            for mark in views.iter_mut().enumerate().flat_map(|(server, view)| marks(server, view)) {
                let lives = living.iter().any(|id| is_of(&mark.owner, id));
                if mark.trace && !lives {
                    traces.insert(mark);
                    continue;
                }
                if lives {
                    self.longest = self.longest.max(waited);
                }
                if waited > if lives { LIVING } else { DEAD } {
                    late = true;
                    let whose = if lives { "a living" } else { "a dead" };
                    let Mark { server, key, owner, .. } = &mark;
                    self.violations.push(format!(
                        "server {server} has {key} of {owner} of {whose} process {waited:.1?} after all came to rest"
                    ));
                }
                some = true;
                if lives { &mut orphans } else { &mut dead }.insert(mark);
            }
            let channels: Vec<String> = views.iter_mut().flat_map(|view| view.channels("*")).collect();
            if !channels.is_empty() && waited > LIVING {
                self.violations
                    .push(format!("clients listen on {channels:?} {waited:.1?} after all processes came to rest"));
                late = true;
            }
            let open =
                waited < if killed { LATE } else { Duration::ZERO } || (waited < LIVING && missing(&mut views[0]));
            if late || (!some && !open && channels.is_empty()) {
                break;
            }
            sleep(ms(5));
        }
        self.orphans += orphans.len() as u64;
        self.of_the_dead += dead.len() as u64;
        self.traces += traces.len() as u64;
        let at = clock::now();
        self.counts.extend(semaphores().map(|key| Census { at, key, available: available(&mut views[0], key) }));
        set_permits(&mut views[0], true);
    }
}

fn semaphores() -> impl Iterator<Item = u32> {
    let kinds = [Kind::Semaphore, Kind::Permits];
    kinds.into_iter().flat_map(|kind| [kind.fast_keys(), kind.slow_keys()].concat())
}

/// The key with the permits that are out, if they have ids.
fn leases(key: u32) -> Option<String> {
    (Kind::of(key) == Kind::Permits).then(|| format!("{{{}}}:timeout", traffic::name(key)))
}

/// The available permits of a semaphore. Permits whose lease has ended count as available: the next call about the
/// semaphore returns them.
fn available(view: &mut View, key: u32) -> i64 {
    let there = view.command::<Option<i64>>(&["GET", &traffic::name(key)]).unwrap_or_default();
    let ended = leases(key).map(|leases| {
        let now = server_ms(view);
        view.command::<i64>(&["ZCOUNT", &leases, "0", &now])
    });
    there + ended.unwrap_or_default()
}

fn server_ms(view: &mut View) -> String {
    let (seconds, micros): (i64, i64) = view.command(&["TIME"]);
    (seconds * 1000 + micros / 1000).to_string()
}

/// The ids of permits that are out and whose lease has not ended, in hexadecimal digits.
fn permits_out(view: &mut View, leases: &str) -> Vec<String> {
    let now = server_ms(view);
    let ids: Vec<Vec<u8>> =
        view.try_command(&["ZRANGEBYSCORE", leases, &format!("({now}"), "+inf"]).unwrap_or_default();
    ids.iter().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()).collect()
}

/// Whether an owner's name belongs to this client. A permit's id is the client's uuid as a number, plus a number of the
/// client.
fn is_of(owner: &str, client: &str) -> bool {
    let uuid = u128::from_str_radix(&client.replace('-', ""), 16);
    let permit = u128::from_str_radix(owner, 16);
    let is_permit = uuid.is_ok_and(|uuid| permit.is_ok_and(|permit| permit.wrapping_sub(uuid) <= u128::from(u64::MAX)));
    owner.contains(client) || is_permit
}

fn missing(view: &mut View) -> bool {
    semaphores().any(|key| available(view, key) != traffic::permits(key) as i64)
}

/// Sets the permits of every semaphore; without `anew`, only of semaphores that are gone.
pub fn set_permits(view: &mut View, anew: bool) {
    for key in semaphores() {
        let name = traffic::name(key);
        let permits = traffic::permits(key).to_string();
        if let Some(leases) = leases(key).filter(|_| anew) {
            view.command::<i64>(&["DEL", &leases]);
        }
        let words = ["SET", &name, &permits, "NX"];
        view.command::<Option<String>>(&words[..if anew { 3 } else { 4 }]);
    }
}

/// The fields of a hash, without expired values of a group. Those keep no owner out; they go with the group, or when
/// they are taken again.
fn in_hash(fields: &BTreeMap<String, String>) -> Vec<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is long after 1970").as_millis();
    let is_over = |field: &str| {
        let stem = field.strip_suffix(":expire_time").or_else(|| field.strip_suffix(":lock_count"));
        let end = stem.and_then(|stem| fields.get(&format!("{stem}:expire_time"))?.parse().ok());
        end.is_some_and(|end: u128| end <= now)
    };
    fields.keys().filter(|field| !is_over(field)).cloned().collect()
}

/// Everything with an owner's name. A key may go while the test reads it.
fn marks(server: usize, view: &mut View) -> Vec<Mark> {
    let mut marks = Vec::new();
    let keys = view.keys("*");
    for key in keys {
        let (owners, trace): (Vec<String>, bool) = match view.kind(&key).as_str() {
            "hash" => (in_hash(&view.try_command(&["HGETALL", &key]).unwrap_or_default()), false),
            "list" => (view.try_command(&["LRANGE", &key, "0", "-1"]).unwrap_or_default(), true),
            "zset" if key.ends_with(":timeout") => (permits_out(view, &key), false),
            "zset" => (view.try_command(&["ZRANGE", &key, "0", "-1"]).unwrap_or_default(), true),
            // A reader's hold, a remembered call, or a count, which has no owner's name.
            "string" if key.contains(":rwlock_timeout:") => (vec![key.clone()], false),
            "string" if key.starts_with("redlatch_request:") => (vec![key.clone()], true),
            // A token, or a number of permits.
            "string" => (
                view.try_command(&["GET", &key])
                    .ok()
                    .filter(|value: &String| value.contains(':'))
                    .into_iter()
                    .collect(),
                false,
            ),
            _ => (Vec::new(), false),
        };
        let owners = owners.into_iter().filter(|owner| owner != "mode");
        marks.extend(owners.map(|owner| Mark { server, key: key.clone(), owner, trace }));
    }
    marks
}
