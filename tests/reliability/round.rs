//! One failover and its effects.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use redlatch_tests::dice::Dice;

use crate::peer::{Hold, Peer};
use crate::stand::{Link, Stand};

/// The holder's lease. The holder works until the lease nearly ends or it is told of a loss, so that a server which
/// grants too early shows.
const LEASE: Duration = Duration::from_secs(6);
/// The lease of a Redisson, whose waiters come later.
const LONG_LEASE: Duration = Duration::from_secs(12);
/// How long before its lease's end a holder releases the lock, so that it hands the lock over and hears of no loss
/// where there was none.
const SHORT_OF_IT: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(40);

pub struct Round {
    /// Whether the holder got the lock from the master that died.
    pub granted: bool,
    /// The reason why the holder did not get the lock.
    pub refused: Option<String>,
    /// The time from the end of the holder's work, if it kept the lock, until the early waiter got it.
    pub handed: Option<Duration>,
    /// How long both peers had the lock.
    pub overlap: Option<Duration>,
    /// Whether the holder was told of its loss.
    pub told: bool,
    /// The time from the death of the master until a replica says that it is the master.
    pub failover: Duration,
    /// The time from then until another peer got a lock.
    pub recovery: Duration,
    /// The time from then until a replica of the new master confirms its writes.
    pub replicated: Duration,
    /// Whether the dead server was master again by then: another failover came in between, by the sentinels' own
    /// choice.
    pub again: bool,
}

/// When a peer had the lock: from the return of its acquire until the start of its release, or until the news of its
/// loss.
struct Had {
    since: Instant,
    until: Instant,
    told: bool,
}

impl Had {
    fn with(&self, other: &Had) -> Option<Duration> {
        self.until
            .min(other.until)
            .checked_duration_since(self.since.max(other.since))
            .filter(|both| *both > Duration::ZERO)
    }
}

/// Plays a round. The first peer holds the lock; the second one waits for it and then has it for as long; the third one
/// tries other locks of that master. `early`: the second one listens before the master dies.
pub fn play(stand: &Stand, [holder, waiter, prober]: &[Peer; 3], name: &str, link: Link, early: bool) -> Round {
    let mut dice = Dice::new(name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)), 0);
    stand.until_replicated(name);
    for peer in [holder, waiter, prober] {
        // Sentinels may exchange the two roles once more, and meanwhile no replica confirms.
        taken_at_last(peer, &format!("{{{name}}}-warm")).0.release();
    }
    stand.prepare(name, link);
    let lease = if matches!(holder, Peer::Redisson(_)) { LONG_LEASE } else { LEASE };
    let after = Duration::from_micros(dice.below(15_000));
    let before = stand.logs();
    thread::scope(|scope| {
        let (working, worked) = channel::<()>();
        let (asking, answered) = channel::<bool>();
        let holding = scope.spawn(move || {
            let taken = holder.take(name, Duration::from_millis(1500), lease);
            // The receiver may have gone on without waiting for this.
            let _ = asking.send(taken.is_ok());
            let hold = taken?;
            let since = Instant::now();
            let (until, told) = hold.hold_until(since + lease - SHORT_OF_IT);
            // The end of the channel tells the waiter that the work is over.
            drop(working);
            hold.release();
            Ok(Had { since, until, told })
        });
        let wait = move || {
            let (hold, since) = taken_at_last(waiter, name);
            let _ = worked.recv_timeout(lease);
            let until = Instant::now();
            hold.release();
            Had { since, until, told: false }
        };
        let is_held = (early || link == Link::Alone) && answered.recv().unwrap_or_default();
        let listens = early && is_held;
        let mut wait = Some(wait);
        let mut waiting = None;
        if listens {
            waiting = wait.take().map(|wait| scope.spawn(wait));
            stand.until_listened_to(name);
        }
        thread::sleep(after);
        let killed = Instant::now();
        let dead = stand.kill(name);
        let waiting = waiting.unwrap_or_else(|| scope.spawn(wait.take().expect("it waits once")));
        let probing = scope.spawn(|| {
            let (hold, since) = taken_at_last(prober, &format!("{{{name}}}-other"));
            hold.release();
            since
        });
        stand.until_replaced(name, dead);
        let replaced = Instant::now();
        let replicating = scope.spawn(|| {
            stand.until_replicated(name);
            Instant::now()
        });
        stand.revive(name, dead);
        let held = holding.join().expect("no panic");
        let waited = waiting.join().expect("no panic");
        let other = probing.join().expect("no panic");
        let replicated = replicating.join().expect("no panic");
        let overlap = held.as_ref().ok().and_then(|held| held.with(&waited));
        if let (Ok(held), Some(both)) = (&held, overlap) {
            let at = |time: Instant| time.saturating_duration_since(killed);
            let times = format!(
                "granted {:?} before or {:?} after the kill, replaced {:?} after, given to another {:?} after, both {both:?}",
                killed.saturating_duration_since(held.since),
                at(held.since),
                at(replaced),
                at(waited.since)
            );
            Stand::keep(name, &format!("{times}\n\n== before\n{before}\n\n== after\n{}", stand.logs()));
        }
        Round {
            granted: held.as_ref().is_ok_and(|held| held.since < replaced),
            refused: held.as_ref().err().cloned(),
            handed: held
                .as_ref()
                .ok()
                .filter(|held| listens && !held.told)
                .map(|held| waited.since.saturating_duration_since(held.until)),
            overlap,
            told: held.is_ok_and(|held| held.told),
            failover: replaced - killed,
            recovery: other.saturating_duration_since(replaced),
            replicated: replicated - replaced,
            again: stand.master(name) == dead,
        }
    })
}

/// The lock, and when it was granted, after as many tries as it takes.
fn taken_at_last<'a>(peer: &'a Peer, name: &str) -> (Hold<'a>, Instant) {
    let start = Instant::now();
    loop {
        match peer.take(name, PATIENCE, LEASE) {
            Ok(hold) => return (hold, Instant::now()),
            Err(error) => assert!(start.elapsed() < 3 * PATIENCE, "{name}: {error}"),
        }
    }
}
