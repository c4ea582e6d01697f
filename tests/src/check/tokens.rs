//! A fenced lock's later holder has the greater token.

use super::{Attempt, Fault, Hold, Violations, by_key};

#[derive(Clone, Debug, Default)]
pub struct Tokens {
    pub violations: Violations,
    /// Holds with a token.
    pub drawn: u64,
    /// Steps back after an operator or a restart had taken the lock or its counter away.
    pub behind_the_back: u64,
}

/// Follows the tokens of each lock, in the order in which its holds began.
pub fn tokens(attempts: &[Attempt], faults: &[Fault]) -> Tokens {
    let mut found = Tokens::default();
    by_key(attempts, |key, attempts| {
        let mut holds: Vec<(&Attempt, &Hold, i64)> = attempts
            .into_iter()
            .filter_map(|one| one.hold.as_ref().and_then(|hold| Some((one, hold, hold.token?))))
            .collect();
        // Another client may have been given the lock before the acquire of a stale hold returned.
        holds.retain(|(_, hold, _)| hold.until > hold.from);
        holds.sort_by_key(|(_, hold, _)| hold.from);
        found.drawn += holds.len() as u64;
        for pair in holds.windows(2) {
            let [(first, before, lower), (second, after, higher)] = pair else { continue };
            if lower < higher {
                continue;
            }
            let taken_away =
                |fault: &Fault| fault.takes_away(key) && fault.overlaps(before.asked.min(after.asked), after.from);
            if faults.iter().any(taken_away) {
                found.behind_the_back += 1;
            } else {
                let at = after.from;
                found.violations.add(|| {
                    format!(
                        "key {key} has token {higher} for {} at {at}, after {lower} for {}",
                        second.caller(),
                        first.caller()
                    )
                });
            }
        }
    });
    found
}
