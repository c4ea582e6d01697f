//! How a holder hears of a loss.

use redlatch::{BlockingGuard, Loss};

use crate::PATIENCE;

/// The loss that a guard is told of, long before its lease ends.
///
/// # Panics
/// After [`PATIENCE`], or when the lock is released.
pub fn told(guard: &BlockingGuard) -> Loss {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("the system gives a runtime");
    let lost = runtime.block_on(async { tokio::time::timeout(PATIENCE, guard.lost()).await });
    lost.expect("it is told in time").expect("it is a loss, not a release")
}
