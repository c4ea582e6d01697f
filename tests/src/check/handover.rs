//! A released lock does not stay free while a waiter waits for it.

use super::{Attempt, Close, Fault, Hold, Limits, Violations, by_key, shown};
use crate::check;
use crate::traffic::Kind;

#[derive(Clone, Debug, Default)]
pub struct Handover {
    pub violations: Violations,
    /// From the end of a release to the return of the waiter's acquire: in ns, sorted.
    pub took: Vec<u64>,
    /// The longest of those handovers, in words.
    pub longest: String,
    /// The same times where subscribers were killed just before or meanwhile, and nothing worse happened.
    pub took_killed: Vec<u64>,
}

/// Judges the time after each owner's last release of a lock.
pub fn handover(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Handover {
    let mut found = Handover::default();
    let mut longest = 0;
    by_key(attempts, |key, mut attempts| {
        if !is_handed_over(key) {
            return;
        }
        let mut holds: Vec<(&Attempt, &Hold)> =
            attempts.iter().filter_map(|one| Some((*one, one.hold.as_ref()?))).collect();
        holds.sort_by_key(|(_, hold)| hold.from);
        attempts.sort_by_key(|attempt| attempt.called);
        let read_until = read_until(&holds);
        for (place, (prev, hold)) in holds.iter().enumerate() {
            let Close::Released { returned: Some((free, code)) } = &hold.close else { continue };
            let is_own = |other: &Attempt| (other.process, other.owner) == (prev.process, prev.owner);
            let goes_on =
                |(other, its): &&(&Attempt, &Hold)| is_own(other) && its.from < hold.from && its.until > hold.until;
            // Readers may still share the lock.
            let is_read_on = read_until[holds.partition_point(|(_, its)| its.from <= *free)] > hold.until;
            if prev.takes == 0 && is_read_on {
                continue;
            }
            // A writer that goes on reading lets other readers in, and no writer.
            let may_have_it = |other: &Attempt| !is_read_on || other.takes == 0;
            if code != "ok" || holds[..place].iter().rev().take(8).any(|one| goes_on(&one)) {
                continue;
            }
            // Another hold may have been taken inside this one. A hold that was passed on may begin before the release
            // returns.
            let next = holds[place + 1..].iter().find(|(_, its)| its.from >= hold.until);
            let taken = next.map_or(u64::MAX, |(_, its)| its.from);
            if let Some((next, its)) = next
                && next.called < hold.until
                && may_have_it(next)
            {
                let took = its.from.saturating_sub(*free);
                if took > longest {
                    longest = took;
                    found.longest =
                        format!("key {key} from {free} to {taken}, by {} after {}", next.caller(), prev.caller());
                }
                found.took.push(took);
                let since = hold.until.saturating_sub(limits.idle);
                let killed = |fault: &Fault| fault.kind == check::Kind::KillSubscribers && fault.overlaps(since, taken);
                if faults.iter().any(killed) && !faults.iter().any(|fault| excuses(fault, key, since, taken, limits)) {
                    found.took_killed.push(took);
                }
            }
            let late = free + limits.idle;
            if taken <= late || faults.iter().any(|fault| excuses(fault, key, hold.until, late, limits)) {
                continue;
            }
            let waits = |one: &&&Attempt| one.called < hold.until && one.waited_until() > late && may_have_it(one);
            if let Some(waiter) = attempts.iter().take_while(|one| one.called < hold.until).find(waits) {
                let idle = shown(taken.min(waiter.waited_until()) - free);
                found
                    .violations
                    .add(|| format!("key {key} is free for {idle} from {free} on, while {} waits", waiter.caller()));
            }
        }
    });
    found.took.sort_unstable();
    found.took_killed.sort_unstable();
    found
}

/// For each number of first holds: the time at which the last reader among them ends.
fn read_until(holds: &[(&Attempt, &Hold)]) -> Vec<u64> {
    let ends = holds.iter().map(|(one, hold)| if one.takes == 0 { hold.until } else { 0 });
    let latest = ends.scan(0, |latest: &mut u64, end| {
        *latest = end.max(*latest);
        Some(*latest)
    });
    std::iter::once(0).chain(latest).collect()
}

/// Whether a release of this key is a handover. It is none where another owner may keep a part of the waiter's locks.
fn is_handed_over(key: u32) -> bool {
    let several = [Kind::Multi, Kind::Values]
        .iter()
        .any(|kind| kind.fast_keys().contains(&key) || kind.slow_keys().contains(&key));
    !several && Kind::of(key).excludes()
}

/// Whether the consequences of a fault may reach into this span.
fn excuses(fault: &Fault, key: u32, from: u64, until: u64, limits: &Limits) -> bool {
    let lasts = match fault.kind {
        check::Kind::Kill { .. } | check::Kind::Stop { .. } => limits.lease,
        // Waiters of a fair lock wait for the turn of a client that cannot leave the queue.
        check::Kind::Network | check::Kind::Server if Kind::of(key).is_fair() => limits.lease,
        check::Kind::Network | check::Kind::Server | check::Kind::Minority => limits.settle,
        check::Kind::KillSubscribers | check::Kind::Delete { .. } | check::Kind::Flush => return false,
    };
    fault.concerns(key) && fault.from <= until && from <= fault.until + lasts
}
