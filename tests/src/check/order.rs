//! Nobody overtakes whoever has waited for a fair lock much longer.

use super::{Attempt, Fault, Hold, Kind, Limits, Violations, by_key, shown};
use crate::traffic;

#[derive(Clone, Debug, Default)]
pub struct Order {
    pub violations: Violations,
    /// Holds of fair locks that were compared with those who waited.
    pub holds: u64,
}

/// Looks for those who waited when somebody else, who came later, was given the lock.
pub fn order(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Order {
    let mut found = Order::default();
    by_key(attempts, |key, mut attempts| {
        if !traffic::Kind::of(key).is_fair() {
            return;
        }
        let mut holds: Vec<(&Attempt, &Hold)> = attempts.iter().filter_map(|one| Some((*one, one.hold.as_ref()?))).collect();
        holds.sort_by_key(|(_, hold)| hold.from);
        attempts.sort_by_key(|attempt| attempt.called);
        let (mut arriving, mut waiting) = (attempts.into_iter().peekable(), Vec::<&Attempt>::new());
        for (place, (next, hold)) in holds.iter().enumerate() {
            while let Some(one) = arriving.next_if(|one| one.called <= hold.from) {
                waiting.push(one);
            }
            let gone = |one: &Attempt| one.waited_until().min(one.wait.map_or(u64::MAX, |wait| one.called.saturating_add(wait)));
            waiting.retain(|one| gone(one) > hold.from + limits.queue);
            let is_own =
                |(other, its): &(&Attempt, &Hold)| (other.process, other.owner) == (next.process, next.owner) && its.until > hold.from;
            if holds[..place].iter().rev().take(8).any(is_own) {
                continue;
            }
            found.holds += 1;
            let Some(waiter) = waiting.iter().find(|one| one.called + limits.queue < next.called) else { continue };
            if !faults.iter().any(|fault| moves_back(fault, waiter, hold.from, limits)) {
                let longer = shown(next.called - waiter.called);
                found.violations.add(|| {
                    format!("{} has the fair lock {key} at {}, before {}, who came {longer} earlier", next.who(), hold.from, waiter.who())
                });
            }
        }
    });
    found
}

/// Whether the waiter may have lost its place.
fn moves_back(fault: &Fault, waiter: &Attempt, until: u64, limits: &Limits) -> bool {
    let kind = match fault.kind {
        Kind::Stop { process } => process == waiter.process,
        Kind::Network | Kind::Server => true,
        _ => fault.takes_away(waiter.key),
    };
    kind && fault.from <= until && waiter.called <= fault.until + limits.settle
}
