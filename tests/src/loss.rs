//! How a holder learns of a loss.

use redlatch::{BlockingGuard, Loss};

use crate::soon;

/// Waits for the guard's loss, long before its lease ends.
///
/// # Panics
/// After [`crate::PATIENCE`], or when the lock is released.
pub fn told(guard: &BlockingGuard) -> Loss {
    soon(guard.lost()).expect("it is a loss, not a release")
}
