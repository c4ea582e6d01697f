//! The rule of tokio for calls that block a thread.

use std::panic::catch_unwind;

use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// Checks that this thread may block. `what` names the lock or the client of the call.
///
/// # Panics
/// On a thread that drives a tokio runtime: the runtime would stand still meanwhile. A thread for blocking work of a
/// runtime may block, and so may a thread that has only entered one.
#[track_caller]
pub fn check(what: impl FnOnce() -> String) {
    // A second panic would end the process: a drop during a panic may block.
    if Handle::try_current().is_err() || std::thread::panicking() {
        return;
    }
    // Tokio tells its threads apart and does not say which this one is, so a primitive of its own decides: by a panic,
    // of which the program's hook hears too. To silence the hook meanwhile would silence other threads' panics.
    if catch_unwind(|| drop(Mutex::new(()).blocking_lock())).is_err() {
        panic!(
            "{}: a blocking call would stall the tokio runtime that this thread drives; await it instead, or make it \
             inside `tokio::task::spawn_blocking`",
            what()
        );
    }
}
