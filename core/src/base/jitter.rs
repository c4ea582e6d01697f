//! Chance, for those who are not to go on in step.

use std::hash::{BuildHasher, RandomState};

/// From 0 to 1.
pub fn dice() -> f64 {
    // Every such state has a key of its own.
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}
