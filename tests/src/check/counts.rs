//! While a holder believes in its hold, the server has it, and as often as the owner took it.

use super::{Attempt, Fault, Violations};

#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub violations: Violations,
    pub asked: u64,
    /// Differences that an operator or a restart made.
    pub behind_the_back: u64,
}

/// Compares what the server counted with what the holder believed.
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
                let (key, who) = (attempt.key, attempt.who());
                found.violations.add(|| format!("the server has {count} holds of key {key} at {at}, not {expected}, for {who}"));
            }
        }
    }
    found
}
