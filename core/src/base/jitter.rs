//! Chance, for tasks that must not go on in step.

use std::hash::{BuildHasher, RandomState};

/// A random number from 0 to 1.
pub fn jitter() -> f64 {
    // Each new `RandomState` has a random key.
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}
