//! No two owners believe in a hold of one lock at the same time.

use super::{Attempt, Fault, Hold, Kind, Limits, Violations, by_lock, shown};

#[derive(Clone, Debug, Default)]
pub struct Exclusion {
    pub violations: Violations,
    /// Holds whose holders believed in them at all.
    pub holds: u64,
    /// Holds whose deadline had passed when acquire returned.
    pub stale: u64,
    /// Overlaps with a hold that an operator or a restart had ended without its holder's knowledge.
    pub behind_the_back: u64,
    /// Acquires that were under way while the holder before them still believed. The server can only have carried them
    /// out later: otherwise they would be violations. The histories cannot show it.
    pub near: u64,
    /// How long holders believed on after an operator had taken the key away: in ns, sorted.
    pub believed: Vec<u64>,
    /// Holders that believed on for longer than the news takes, although nothing was in the way of the news.
    pub untold: Violations,
}

/// Compares all holds of each lock that excludes others. Readers of one lock may hold it at the same time.
pub fn exclusion(attempts: &[Attempt], faults: &[Fault], limits: &Limits) -> Exclusion {
    let mut found = Exclusion::default();
    let taking: Vec<_> = faults.iter().filter(|fault| is_taking(fault)).collect();
    by_lock(attempts, |key, attempts| {
        let mut holds: Vec<(&Attempt, &Hold)> =
            attempts.into_iter().filter_map(|one| Some((one, one.hold.as_ref()?))).collect();
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
                    found.untold.add(|| {
                        format!("{} believed in key {key} for {} after its DEL", holder.caller(), shown(believed))
                    });
                }
            }
        }
        let mut active: Vec<(&Attempt, &Hold)> = Vec::new();
        for (next, hold) in holds {
            found.near +=
                active.iter().filter(|(_, before)| (hold.asked..=hold.from).contains(&before.until)).count() as u64;
            active.retain(|(_, before)| before.until > hold.from);
            for (other, before) in &active {
                let own = (other.process, other.owner) == (next.process, next.owner);
                let shared = other.takes + next.takes == 0;
                if own || shared {
                    continue;
                }
                // The fault came after the first of the two was requested and before both holders had the lock. The answer
                // to the first request may have come last.
                let asked = before.asked.min(hold.asked);
                let ended = |fault: &&Fault| fault.takes_away(key) && asked <= fault.until && fault.from <= hold.from;
                if taking.iter().any(ended) {
                    found.behind_the_back += 1;
                    continue;
                }
                found.violations.add(|| {
                    let both = before.until.min(hold.until) - hold.from;
                    format!(
                        "key {key} is held for {} by {} and {}, from {} on",
                        shown(both),
                        other.caller(),
                        next.caller(),
                        hold.from
                    )
                });
            }
            active.push((next, hold));
        }
    });
    found.believed.sort_unstable();
    found
}

/// Whether another fault may have kept the server from telling the holder at once that its key was gone.
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
