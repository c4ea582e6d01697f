//! A renewed hold is not lost without a cause.

use std::collections::BTreeMap;

use super::{Attempt, Close, Fault, Kind, Limits, Violations};

#[derive(Clone, Debug, Default)]
pub struct Losses {
    pub violations: Violations,
    /// How many holds were lost, by the reason that their holders were told.
    pub reasons: BTreeMap<String, u64>,
}

/// Looks for the fault that explains each loss.
pub fn losses(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Losses {
    let mut found = Losses::default();
    for attempt in attempts {
        let Some(Close::Lost { told, reason }) = attempt.hold.as_ref().map(|hold| &hold.close) else { continue };
        *found.reasons.entry(reason.clone()).or_default() += 1;
        if attempt.lease.is_none() && !faults.iter().any(|fault| may_end_hold(fault, attempt, *told, limits)) {
            let key = attempt.key;
            let caller = attempt.caller();
            found.violations.add(|| {
                format!("{caller} lost key {key} ({reason}) at {told}, although nothing has happened that explains it")
            });
        }
    }
    found
}

/// Whether the fault may have ended a renewed hold of the attempt before `at`.
pub(super) fn may_end_hold(fault: &Fault, attempt: &Attempt, at: u64, limits: &Limits) -> bool {
    let ends = match fault.kind {
        Kind::Stop { process } => process == attempt.process,
        Kind::Network | Kind::Server | Kind::Minority => fault.concerns(attempt.key),
        _ => fault.takes_away(attempt.key),
    };
    ends && fault.from <= at && attempt.called <= fault.until + limits.settle
}
