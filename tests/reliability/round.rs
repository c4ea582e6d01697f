//! One failover, and what it did.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use redlatch_tests::dice::Dice;

use crate::peer::{Hold, Peer};
use crate::stand::{Link, Stand};

/// How long the holder has the lock. It works until its lease nearly ends or it is told of a loss, so that a server which grants too early
/// shows.
const LEASE: Duration = Duration::from_secs(6);
/// The same of a Redisson, whose waiters come later.
const LONG_LEASE: Duration = Duration::from_secs(12);
/// The holder lets go so long before the end, so that it hands over and is told of nothing where nothing was lost.
const SHORT_OF_IT: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(40);

pub struct Round {
    /// The holder got the lock from the master that died.
    pub granted: bool,
    /// Why the holder did not get the lock.
    pub refused: Option<String>,
    /// From the end of the work of a holder that kept the lock to the waiter that listened before the master died.
    pub handed: Option<Duration>,
    /// How long both had it.
    pub overlap: Option<Duration>,
    /// The holder was told that it had lost it.
    pub told: bool,
    /// From the death of the master to a replica that says it is one.
    pub failover: Duration,
    /// From there to a lock that somebody else got.
    pub recovery: Duration,
    /// From there to a replica of the new master that confirms what it is told.
    pub replicated: Duration,
    /// The one that had died had its place back by then: there was another failover meanwhile, which nobody asked for.
    pub again: bool,
}

/// From when to when somebody had the lock: from the return of the acquire to the begin of the release, or to being told of the loss.
struct Had {
    since: Instant,
    until: Instant,
    told: bool,
}

impl Had {
    fn with(&self, other: &Had) -> Option<Duration> {
        self.until.min(other.until).checked_duration_since(self.since.max(other.since)).filter(|both| *both > Duration::ZERO)
    }
}

/// The first peer holds, the second one waits for the same lock and then has it for as long, the third one tries others of that master.
/// `early`: the second one listens before the master dies.
pub fn play(stand: &Stand, [holder, waiter, prober]: &[Peer; 3], name: &str, link: Link, early: bool) -> Round {
    let mut dice = Dice::new(name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)), 0);
    stand.until_replicated(name);
    for peer in [holder, waiter, prober] {
        // Sentinels may have the two change places once more, and a replica confirms nothing meanwhile.
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
            // The other end may have gone on without waiting for this.
            let _ = asking.send(taken.is_ok());
            let (hold, since) = (taken?, Instant::now());
            let (until, told) = hold.hold_until(since + lease - SHORT_OF_IT);
            // The waiter hears of the end of the work by the end of the channel.
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
        let (mut wait, mut waiting) = (Some(wait), None);
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
        let (waited, other) = (waiting.join().expect("no panic"), probing.join().expect("no panic"));
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
            handed: held.as_ref().ok().filter(|held| listens && !held.told).map(|held| waited.since.saturating_duration_since(held.until)),
            overlap,
            told: held.is_ok_and(|held| held.told),
            failover: replaced - killed,
            recovery: other.saturating_duration_since(replaced),
            replicated: replicated - replaced,
            again: stand.master(name) == dead,
        }
    })
}

/// The lock, and when it was there, however often it had to be asked for.
fn taken_at_last<'a>(peer: &'a Peer, name: &str) -> (Hold<'a>, Instant) {
    let start = Instant::now();
    loop {
        match peer.take(name, PATIENCE, LEASE) {
            Ok(hold) => return (hold, Instant::now()),
            Err(error) => assert!(start.elapsed() < 3 * PATIENCE, "{name}: {error}"),
        }
    }
}
