//! Every call returns in time. An acquire returns by the end of its wait; a try and a release return within the
//! client's own limits.

use super::fault::stopped;
use super::{Attempt, Close, End, Fault, Violations, shown};
use crate::check;
use crate::clock::ns;
use crate::traffic::{Kind, LATCH_PATIENCE, calls};

/// The limits of the calls. All values are in ns.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How much later than its wait an acquire may return.
    pub grace: u64,
    /// How long a try or a release may take: the client's own limits.
    pub call: u64,
    /// How long a client may take to join or to leave the queue of a fair lock.
    pub queue: u64,
    /// How long a lock may stay free while a waiter waits for it.
    pub idle: u64,
    /// How long the consequences of a fault of the network or the server may last.
    pub settle: u64,
    /// How long a killed or stopped process may keep a lock.
    pub lease: u64,
    /// How long a holder may believe in a key that an operator has taken away.
    pub told: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Waits {
    pub violations: Violations,
    /// How much later than its wait the latest acquire returned. The stops of its process are not counted.
    pub latest: u64,
    /// The latest acquire, in words.
    pub latest_one: String,
    pub not_now: u64,
    pub failed: u64,
    pub dropped: u64,
    /// Red locks whose servers did not answer within their short time.
    pub unheard: u64,
    /// Attempts that ended with their process.
    pub cut_off: u64,
}

/// Judges the end of every call.
pub fn waits(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Waits {
    let mut found = Waits::default();
    let killed = |process| faults.iter().any(|fault| fault.kind == check::Kind::Kill { process });
    for attempt in attempts {
        let Some((ended, end)) = &attempt.end else {
            if killed(attempt.process) {
                found.cut_off += 1;
            } else {
                found.violations.add(|| format!("{} waits for key {} for ever", attempt.caller(), attempt.key));
            }
            continue;
        };
        match end {
            End::NotNow => found.not_now += 1,
            End::Failed { code, text } => {
                found.failed += 1;
                let may_fail = |fault: &Fault| fault.may_fail_calls() && fault.concerns(attempt.key);
                let cause = |fault: &Fault| {
                    may_fail(fault) && fault.from <= *ended && attempt.called <= fault.until + limits.settle
                };
                // The servers of a red lock have a hundredth of its lease to answer in. A busy machine may need longer.
                let unheard = Kind::of(attempt.key) == Kind::Red && code == "unavailable";
                found.unheard += u64::from(unheard);
                if !unheard && !faults.iter().any(cause) {
                    let caller = attempt.caller();
                    let key = attempt.key;
                    found.violations.add(|| {
                        format!(
                            "{caller} has the error {code} at {ended} for key {key}, although nothing has happened that explains it: {text}"
                        )
                    });
                }
            }
            End::Dropped => found.dropped += 1,
            End::Held => {}
        }
        let took = |from: u64, until: u64| (until - from).saturating_sub(stopped(faults, attempt.process, from, until));
        if let Some(wait) = attempt.wait.filter(|_| *end != End::Dropped) {
            // No message tells the waiter of a latch that its key was taken away.
            let is_latch = Kind::of(attempt.key) == Kind::Latch;
            let vanished = |fault: &Fault| fault.takes_away(attempt.key) && fault.overlaps(attempt.called, *ended);
            let unopened = if is_latch && faults.iter().any(vanished) { ns(LATCH_PATIENCE) } else { 0 };
            let once = limits.call * calls(attempt.key) + unopened;
            let late = took(attempt.called, *ended).saturating_sub(wait.max(if wait == 0 { once } else { 0 }));
            if late > found.latest {
                (found.latest, found.latest_one) = (
                    late,
                    format!("{} called at {} for key {}: {end:?}", attempt.caller(), attempt.called, attempt.key),
                );
            }
            // A lock of several locks asks them one after the other.
            let grace = limits.grace * if Kind::of(attempt.key) == Kind::Multi { calls(attempt.key) } else { 1 };
            if late > grace {
                found.violations.add(|| {
                    format!("{} has {end:?} {} after its wait of {}", attempt.caller(), shown(late), shown(wait))
                });
            }
        }
        if let Some(Close::Released { returned }) = attempt.hold.as_ref().map(|hold| &hold.close) {
            let called = attempt.hold.as_ref().map_or(0, |hold| hold.until);
            match returned {
                Some((returned, _)) if took(called, *returned) <= limits.call + limits.grace => {}
                None if killed(attempt.process) => {}
                late => found.violations.add(|| {
                    let late = late
                        .as_ref()
                        .map_or("never".to_owned(), |(at, _)| format!("after {}", shown(took(called, *at))));
                    format!("the release of {} returned {late}", attempt.caller())
                }),
            }
        }
    }
    found
}
