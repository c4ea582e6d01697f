//! No two owners believe in a hold of one lock at the same time.

use super::{Attempt, Fault, Hold, Kind, Limits, Violations, by_lock, shown};

#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    pub violations: Violations,
    /// Holds that were believed in for any time at all.
    pub holds: u64,
    /// Holds whose deadline had passed when acquire returned.
    pub stale: u64,
    /// Overlaps with a hold that an operator or a restart had ended behind its holder's back.
    pub behind_the_back: u64,
    /// Acquires that were under way while the holder before them still believed. The server carried them out later, or there would be a
    /// violation; the histories cannot show it.
    pub near: u64,
    /// How long holders still believed after an operator had taken the key away, in ns and in order.
    pub believed: Vec<u64>,
    /// Holders that believed so for longer than it takes to tell them, with nothing in the way of that.
    pub untold: Violations,
}

/// Compares all holds of each lock that excludes anybody. Whoever shares it may hold it beside others who do.
pub fn exclusion(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Exclusion {
    let mut found = Exclusion::default();
    let taking: Vec<_> = faults.iter().filter(|fault| is_taking(fault)).collect();
    by_lock(attempts, |key, attempts| {
        let mut holds: Vec<(&Attempt, &Hold)> = attempts.into_iter().filter_map(|one| Some((one, one.hold.as_ref()?))).collect();
        found.stale += holds.iter().filter(|(_, hold)| hold.until <= hold.from).count() as u64;
        holds.retain(|(_, hold)| hold.until > hold.from);
        holds.sort_by_key(|(_, hold)| hold.from);
        found.holds += holds.len() as u64;
        for fault in faults.iter().filter(|fault| fault.kind == Kind::Delete { key }) {
            for (holder, hold) in holds.iter().filter(|(_, hold)| hold.from < fault.from && fault.from < hold.until) {
                let believed = hold.until - fault.from;
                found.believed.push(believed);
                let delays = |other: &Fault| may_delay_news(other, holder, fault, limits);
                if believed > limits.told && !faults.iter().any(delays) {
                    found.untold.add(|| format!("{} believed in key {key} for {} after its DEL", holder.who(), shown(believed)));
                }
            }
        }
        let mut active: Vec<(&Attempt, &Hold)> = Vec::new();
        for (next, hold) in holds {
            found.near += active.iter().filter(|(_, before)| (hold.asked..=hold.from).contains(&before.until)).count() as u64;
            active.retain(|(_, before)| before.until > hold.from);
            for (other, before) in &active {
                let (own, shared) = ((other.process, other.owner) == (next.process, next.owner), other.takes + next.takes == 0);
                if own || shared {
                    continue;
                }
                // Whatever ended it came after it was asked for and before the next one had it.
                let ended = |fault: &&Fault| fault.takes_away(key) && before.asked <= fault.until && fault.from <= hold.from;
                if taking.iter().any(ended) {
                    found.behind_the_back += 1;
                    continue;
                }
                found.violations.add(|| {
                    let both = before.until.min(hold.until) - hold.from;
                    format!("key {key} is held for {} by {} and {}, from {} on", shown(both), other.who(), next.who(), hold.from)
                });
            }
            active.push((next, hold));
        }
    });
    found.believed.sort_unstable();
    found
}

/// Whether the server could not tell the holder at once that its key is gone.
fn may_delay_news(other: &Fault, holder: &Attempt, taken: &Fault, limits: &Limits) -> bool {
    let delays = match other.kind {
        Kind::Stop { process } => process == holder.process,
        Kind::Network | Kind::Server | Kind::KillSubscribers => other.concerns(holder.key),
        Kind::Kill { .. } | Kind::Delete { .. } | Kind::Flush | Kind::Minority => false,
    };
    delays && other.overlaps(taken.from.saturating_sub(limits.settle), taken.until + limits.told)
}

fn is_taking(fault: &Fault) -> bool {
    matches!(fault.kind, Kind::Delete { .. } | Kind::Flush)
}
