//! While a holder believes in its holds, the server has as many holds of that owner's client.

use super::{Attempt, Fault, Violations};

#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub violations: Violations,
    pub asked: u64,
    /// Differences that an operator or a restart explains.
    pub behind_the_back: u64,
}

/// Compares the server's counts with the holders' beliefs.
pub fn counts(attempts: &[Attempt], faults: &[Fault]) -> Counts {
    let mut found = Counts::default();
    for attempt in attempts {
        let asked = attempt.hold.as_ref().map_or(attempt.called, |hold| hold.asked);
        for (at, count, expected) in &attempt.counted {
            found.asked += 1;
            if count == expected {
                continue;
            }
            if faults.iter().any(|fault| fault.takes_away(attempt.key) && fault.overlaps(asked, *at)) {
                found.behind_the_back += 1;
            } else {
                let key = attempt.key;
                let caller = attempt.caller();
                found
                    .violations
                    .add(|| format!("the server has {count} holds of key {key} at {at}, not {expected}, for {caller}"));
            }
        }
    }
    found
}
