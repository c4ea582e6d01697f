//! The effects of failovers on locks: `redlatch-failovers sentinel|cluster COUNT [healthy|fresh|cut|alone [SYNC
//! [redisson|quarantine]]]`.
//!
//! A holder takes a lock and works until its lease ends. A waiter waits for the same lock, and the master dies by `kill
//! -9` at a random moment; in every second round the waiter listens before that. The program counts how often and how
//! long both had the lock, why the holder did not get it, and how soon another client could take a lock again after a
//! replica had become master.
//!
//! `fresh`: the replica has just synchronized; `cut`: the replication link is cut before; `alone`: and the master dies
//! only after it has answered the holder. SYNC is a policy as in a URL, such as `wait(replicas=1)`. With `redisson` the
//! program counts the locks of Redisson, with its own default; with `quarantine` it counts locks of clients with that
//! option. For each overlap the program keeps the times and the logs of the servers in `target/failovers`; it keeps
//! those logs also if the rig panics.
//!
//! The exit code is 1 if a promise is broken: two clients had the lock although a sync policy or a quarantine rules
//! that out, a holder of redlatch was not told of an overlap within a second, or no holder ever got the lock over a
//! healthy link.

mod peer;
mod round;
mod stand;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use peer::Peer;
use round::{Round, play};
use stand::{Link, Stand};

/// How many rounds run at a time, each on servers of its own.
const SIDE_BY_SIDE: usize = 8;

/// How long a holder may go on beside another one before it is told.
const TOLD: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    redlatch_tests::oracle::watch::stand_aside();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &'static str| words.get(place).map_or(default, |word| word.as_str());
    let count: usize = word(1, "10").parse().expect("the second argument is a number");
    let kind = word(0, "sentinel");
    let link = Link::named(word(2, "healthy"));
    let sync = word(3, "none");
    let theirs = word(4, "") == "redisson";
    let careful = word(4, "") == "quarantine";
    let left = AtomicUsize::new(count);
    let rounds = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for seed in 0..SIDE_BY_SIDE.min(count) {
            let left = &left;
            let rounds = &rounds;
            scope.spawn(move || {
                let stand = Stand::start(kind);
                let peers = [(); 3].map(|()| {
                    if theirs { Peer::redisson(&stand.url()) } else { Peer::ours(&stand.url(), sync, careful) }
                });
                // Each stand alternates: a waiter that listens early, and one that comes late.
                let mut number = seed;
                while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                    let round =
                        play(&stand, &peers, &format!("n{}-{number}", std::process::id()), link, number % 2 == 1);
                    rounds.lock().expect("nothing panics while it is held").push(round);
                    number += SIDE_BY_SIDE + 1;
                }
            });
        }
    });
    let rounds = rounds.into_inner().expect("nothing panicked while it was held");
    println!("{}", summary(&words.join(" "), &rounds));
    let broken = broken(&rounds, sync != "none" || careful, !theirs, link == Link::Healthy);
    broken.iter().for_each(|words| println!("BROKEN: {words}"));
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The broken promises, in words.
fn broken(rounds: &[Round], excludes: bool, tells: bool, grants: bool) -> Vec<String> {
    let overlaps: Vec<Duration> = rounds.iter().filter_map(|round| round.overlap).collect();
    let mut broken = Vec::new();
    if excludes && !overlaps.is_empty() {
        broken.push(format!("{} locks had two holders: {overlaps:?}", overlaps.len()));
    }
    if tells {
        let untold: Vec<_> = overlaps.iter().filter(|both| **both > TOLD).collect();
        if !untold.is_empty() {
            broken.push(format!("{} holders went on beside another one: {untold:?}", untold.len()));
        }
    }
    if grants && !rounds.iter().any(|round| round.granted) {
        broken.push("no holder got its lock".to_owned());
    }
    broken
}

fn summary(what: &str, rounds: &[Round]) -> String {
    let mut refusals = BTreeMap::<&str, usize>::new();
    rounds.iter().filter_map(|round| round.refused.as_deref()).for_each(|code| *refusals.entry(code).or_default() += 1);
    let handed = sorted(rounds.iter().filter_map(|round| round.handed));
    let granted = rounds.iter().filter(|round| round.granted).count();
    let overlaps = sorted(rounds.iter().filter_map(|round| round.overlap));
    let again = sorted(rounds.iter().filter(|round| round.again).map(|round| round.recovery));
    let times = |time: fn(&Round) -> Duration| sorted(rounds.iter().map(time));
    let failover = times(|round| round.failover);
    let recovery = times(|round| round.recovery);
    let replicated = times(|round| round.replicated);
    let after = times(|round| round.recovery.saturating_sub(round.replicated));
    format!(
        "{what}: {} failovers, {granted} grants before, refused {refusals:?}, {} overlaps (longest {:?}), {} holders told; failover median {:?}, longest {:?}; \
         lock again after that: median {:?}, longest {:?}, and {again:?} with another failover meanwhile; a replica confirmed after \
         median {:?}, longest {:?}; lock again after both: median {:?}, longest {:?}; \
         {} waiters that had listened before got it from their holder after {:?} at most",
        rounds.len(),
        overlaps.len(),
        overlaps.last().copied().unwrap_or_default(),
        rounds.iter().filter(|round| round.told).count(),
        failover[failover.len() / 2],
        failover[failover.len() - 1],
        recovery[recovery.len() / 2],
        recovery[recovery.len() - 1],
        replicated[replicated.len() / 2],
        replicated[replicated.len() - 1],
        after[after.len() / 2],
        after[after.len() - 1],
        handed.len(),
        handed.last().copied().unwrap_or_default(),
    )
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<_> = times.map(|time| Duration::from_millis(time.as_millis() as u64)).collect();
    times.sort();
    times
}
