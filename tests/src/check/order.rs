//! A waiter of a fair lock is not overtaken by an owner that came much later.

use super::{Attempt, Fault, Hold, Kind, Limits, Violations, by_key, shown};
use crate::traffic;

#[derive(Clone, Debug, Default)]
pub struct Order {
    pub violations: Violations,
    /// Holds of fair locks that were compared with the waiters.
    pub holds: u64,
}

/// Looks for waiters that were still waiting when the lock went to an owner that came later.
pub fn order(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Order {
    let mut found = Order::default();
    by_key(attempts, |key, mut attempts| {
        if !traffic::Kind::of(key).is_fair() {
            return;
        }
        let mut holds: Vec<(&Attempt, &Hold)> =
            attempts.iter().filter_map(|one| Some((*one, one.hold.as_ref()?))).collect();
        holds.sort_by_key(|(_, hold)| hold.from);
        attempts.sort_by_key(|attempt| attempt.called);
        let mut arriving = attempts.into_iter().peekable();
        let mut waiting = Vec::<&Attempt>::new();
        for (place, (next, hold)) in holds.iter().enumerate() {
            while let Some(one) = arriving.next_if(|one| one.called <= hold.from) {
                waiting.push(one);
            }
            let gone = |one: &Attempt| {
                one.waited_until().min(one.wait.map_or(u64::MAX, |wait| one.called.saturating_add(wait)))
            };
            waiting.retain(|one| gone(one) > hold.from + limits.queue);
            let is_own = |(other, its): &(&Attempt, &Hold)| {
                (other.process, other.owner) == (next.process, next.owner) && its.until > hold.from
            };
            if holds[..place].iter().rev().take(8).any(is_own) {
                continue;
            }
            found.holds += 1;
            let Some(waiter) = waiting.iter().find(|one| one.called + limits.queue < next.called) else { continue };
            if !faults.iter().any(|fault| moves_back(fault, waiter, hold.from, limits)) {
                let longer = shown(next.called - waiter.called);
                found.violations.add(|| {
                    format!(
                        "{} has the fair lock {key} at {}, before {}, which came {longer} earlier",
                        next.caller(),
                        hold.from,
                        waiter.caller()
                    )
                });
            }
        }
    });
    found
}

/// Whether the fault may have cost the waiter its place in the queue.
fn moves_back(fault: &Fault, waiter: &Attempt, until: u64, limits: &Limits) -> bool {
    let kind = match fault.kind {
        Kind::Stop { process } => process == waiter.process,
        Kind::Network | Kind::Server => true,
        _ => fault.takes_away(waiter.key),
    };
    kind && fault.from <= until && waiter.called <= fault.until + limits.settle
}
