//! Says what is wrong with the histories of many processes. Pure: it reads no clock, no file and no server.
//!
//! A hold lasts from the return of acquire to the last moment at which its holder made sure before calling release, or to the moment it
//! was told that it is lost, or to its local deadline, whichever is first. What was done to the processes and the server is given as
//! [`Fault`]s: no fault makes a violation disappear but those that end a hold behind its holder's back, and these are counted.

mod attempts;
mod counter;
mod counts;
mod exclusion;
mod fault;
mod handover;
mod losses;
mod order;
mod permits;
mod releases;
mod tokens;
mod waits;

#[cfg(test)]
mod planted;
#[cfg(test)]
mod planted_kinds;

pub use attempts::{Attempt, Close, End, Hold, assemble};
pub use counter::{Counted, counter};
pub use counts::{Counts, counts};
pub use exclusion::{Exclusion, exclusion};
pub use fault::{Fault, Kind};
pub use handover::{Handover, handover};
pub use losses::{Losses, losses};
pub use order::{Order, order};
pub use permits::{Census, Permits, permits};
pub use releases::{Releases, releases};
pub use tokens::{Tokens, tokens};
pub use waits::{Limits, Waits, waits};

use crate::traffic;

/// The most violations that are told in words; all are counted.
const TOLD: usize = 20;

/// Violations: how many, and the first of them in words.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    pub count: u64,
    pub words: Vec<String>,
}

impl Violations {
    fn add(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        if self.words.len() < TOLD {
            self.words.push(words());
        }
    }
}

/// Nanoseconds as a time that a person reads.
fn shown(ns: u64) -> String {
    format!("{:.3?}", std::time::Duration::from_nanos(ns))
}

/// As [`by_key`], over the locks that are held by each attempt, but for permits, which many may have.
fn by_lock<'a>(attempts: &'a [Attempt], mut each: impl FnMut(u32, Vec<&'a Attempt>)) {
    let mut locks = std::collections::BTreeMap::<u32, Vec<&Attempt>>::new();
    for attempt in attempts.iter().filter(|attempt| traffic::Kind::of(attempt.key).excludes()) {
        traffic::covers(attempt.key).into_iter().for_each(|key| locks.entry(key).or_default().push(attempt));
    }
    locks.into_iter().for_each(|(key, attempts)| each(key, attempts));
}

/// Runs `each` over the attempts of every key, in the order of the keys.
fn by_key<'a>(attempts: &'a [Attempt], mut each: impl FnMut(u32, Vec<&'a Attempt>)) {
    let mut keys = std::collections::BTreeMap::<u32, Vec<&Attempt>>::new();
    for attempt in attempts {
        keys.entry(attempt.key).or_default().push(attempt);
    }
    keys.into_iter().for_each(|(key, attempts)| each(key, attempts));
}
