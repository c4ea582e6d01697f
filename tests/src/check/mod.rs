//! Judges the histories of many processes. It reads no clock, no file and no server.
//!
//! A hold begins when its acquire returns. It ends at the first of: the last moment at which its holder made sure of it
//! before calling release, the news of its loss, and its local deadline. [`Fault`]s say what the run did to the
//! processes and to the server. Only a fault that ends a hold without its holder's knowledge excuses a violation, and
//! the verdict counts each excuse.

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

/// The most violations that are described in words. All are counted.
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

/// Nanoseconds as a time for human readers.
fn shown(ns: u64) -> String {
    format!("{:.3?}", std::time::Duration::from_nanos(ns))
}

/// As [`by_key`], by the locks that each attempt holds; without permits, which many owners may have.
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
