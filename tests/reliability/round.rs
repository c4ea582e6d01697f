//! One failover, and what it did.

use std::thread;
use std::time::{Duration, Instant};

use redlatch_tests::dice::Dice;

use crate::peer::Peer;
use crate::stand::Stand;

/// How long the holder works, and how long its lease is.
const WORK: Duration = Duration::from_secs(3);
const LEASE: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(40);

pub struct Round {
    /// The holder got the lock from the master that died.
    pub granted: bool,
    /// How long both had it.
    pub overlap: Option<Duration>,
    /// The holder was told that it had lost it.
    pub told: bool,
    /// From the death of the master to a replica that says it is one.
    pub failover: Duration,
    /// From there to a lock that somebody else got.
    pub recovery: Duration,
    /// The one that had died had its place back by then: there was another failover meanwhile, which nobody asked for.
    pub again: bool,
}

/// The first peer holds, the second one waits for the same lock, the third one tries others.
pub fn play(stand: &Stand, [holder, waiter, prober]: &[Peer; 3], name: &str, cut: bool) -> Round {
    let mut dice = Dice::new(name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)), 0);
    for peer in [holder, waiter, prober] {
        peer.take(&format!("{name}-warm"), PATIENCE, LEASE).expect("all is well still").release();
    }
    stand.until_replicated(name);
    if cut {
        stand.cut(name);
    }
    let after = Duration::from_micros(dice.below(15_000));
    thread::scope(|scope| {
        let holding = scope.spawn(|| {
            let hold = holder.take(name, Duration::from_millis(1500), LEASE).ok()?;
            let (since, (end, told)) = (Instant::now(), hold.hold_until(Instant::now() + WORK));
            hold.release();
            Some((since, end, told))
        });
        thread::sleep(after);
        let killed = Instant::now();
        let dead = stand.kill(name);
        let waiting = scope.spawn(|| taken_at_last(waiter, name));
        let probing = scope.spawn(|| taken_at_last(prober, &format!("{name}-other")));
        stand.until_replaced(name, dead);
        let replaced = Instant::now();
        stand.revive(name, dead);
        let held = holding.join().expect("no panic");
        let (taken, other) = (waiting.join().expect("no panic"), probing.join().expect("no panic"));
        Round {
            granted: held.is_some_and(|(since, ..)| since < replaced),
            overlap: held
                .and_then(|(since, end, _)| Some(end.checked_duration_since(taken.max(since))?).filter(|both| *both > Duration::ZERO)),
            told: held.is_some_and(|(.., told)| told),
            failover: replaced - killed,
            recovery: other.saturating_duration_since(replaced),
            again: stand.master(name) == dead,
        }
    })
}

/// When it got the lock, however often it had to ask.
fn taken_at_last(peer: &Peer, name: &str) -> Instant {
    let start = Instant::now();
    loop {
        match peer.take(name, PATIENCE, LEASE) {
            Ok(hold) => {
                let taken = Instant::now();
                hold.release();
                return taken;
            }
            Err(error) => assert!(start.elapsed() < 3 * PATIENCE, "{name}: {error}"),
        }
    }
}
