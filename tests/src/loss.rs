//! How a holder hears of a loss.

use redlatch::{BlockingGuard, Loss};

use crate::soon;

/// The loss that a guard is told of, long before its lease ends.
///
/// # Panics
/// After [`crate::PATIENCE`], or when the lock is released.
pub fn told(guard: &BlockingGuard) -> Loss {
    soon(guard.lost()).expect("it is a loss, not a release")
}
