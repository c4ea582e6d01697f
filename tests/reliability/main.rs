//! What failovers do to locks: `redlatch-failovers sentinel|cluster COUNT [healthy|fresh|cut|alone [SYNC [redisson|quarantine]]]`.
//!
//! A holder takes a lock for some seconds while somebody waits for it, and the master dies by `kill -9` at a random moment. Counted is how
//! often and how long both had it, and how soon anybody could lock again after a replica had become master. `fresh`: the replica has just
//! synchronized; `cut`: the replication link is cut before; `alone`: and the master dies only after it has answered the holder. SYNC is a policy as in a URL, `wait(replicas=1)` say. With `redisson` its locks
//! are counted, with its own default; with `quarantine` those of clients that have that option. Of each overlap the times and the logs of
//! the servers are kept in `target/failovers`, and those logs also if something panics.

mod peer;
mod round;
mod stand;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use peer::Peer;
use round::{Round, play};
use stand::{Link, Stand};

/// So many rounds are under way at a time, each on servers of its own.
const SIDE_BY_SIDE: usize = 8;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &'static str| words.get(place).map_or(default, |word| word.as_str());
    let count: usize = word(1, "10").parse().expect("the second argument is a number");
    let (kind, link, sync) = (word(0, "sentinel"), Link::named(word(2, "healthy")), word(3, "none"));
    let (theirs, careful) = (word(4, "") == "redisson", word(4, "") == "quarantine");
    let (left, rounds) = (AtomicUsize::new(count), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for seed in 0..SIDE_BY_SIDE.min(count) {
            let (left, rounds) = (&left, &rounds);
            scope.spawn(move || {
                let stand = Stand::start(kind);
                let peers = [(); 3].map(|()| if theirs { Peer::redisson(&stand.url()) } else { Peer::ours(&stand.url(), sync, careful) });
                let mut number = seed;
                while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                    let round = play(&stand, &peers, &format!("n{}-{number}", std::process::id()), link);
                    rounds.lock().expect("nothing panics while it is held").push(round);
                    number += SIDE_BY_SIDE;
                }
            });
        }
    });
    println!("{}", summary(&words.join(" "), &rounds.into_inner().expect("nothing panicked while it was held")));
}

fn summary(what: &str, rounds: &[Round]) -> String {
    let granted = rounds.iter().filter(|round| round.granted).count();
    let overlaps = sorted(rounds.iter().filter_map(|round| round.overlap));
    let again = sorted(rounds.iter().filter(|round| round.again).map(|round| round.recovery));
    let times = |time: fn(&Round) -> Duration| sorted(rounds.iter().map(time));
    let (failover, recovery, replicated) = (times(|round| round.failover), times(|round| round.recovery), times(|round| round.replicated));
    let after = times(|round| round.recovery.saturating_sub(round.replicated));
    format!(
        "{what}: {} failovers, {granted} grants before, {} overlaps (longest {:?}), {} holders told; failover median {:?}, longest {:?}; \
         lock again after that: median {:?}, longest {:?}, and {again:?} with another failover meanwhile; a replica confirmed after \
         median {:?}, longest {:?}; lock again after both: median {:?}, longest {:?}",
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
    )
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<_> = times.map(|time| Duration::from_millis(time.as_millis() as u64)).collect();
    times.sort();
    times
}
