//! The end of a program: its daemon threads do not come back from calls that it ends.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::Duration;

use pyo3::prelude::*;
use redlatch::{Answer, Error, LostReason};

use crate::client::{Client, close};

/// Longer than Python takes from here to its end, and yet an end for whoever joins such a thread.
const STAY: Duration = Duration::from_secs(10);

/// The threads that this process ends without, and which process: a forked child is not leaving.
static DAEMONS: OnceLock<(u32, HashSet<u64>)> = OnceLock::new();

/// Closes the clients, as `close`, at the end of the program. Threads with these identities stay in the calls that this ends: they would
/// report errors just as Python ends, which aborts when it finds its own stderr in use.
#[pyfunction]
pub fn leave(py: Python<'_>, clients: Vec<Py<Client>>, daemons: HashSet<u64>) -> PyResult<()> {
    let _ = DAEMONS.set((std::process::id(), daemons));
    close(py, clients)
}

/// Returns at once unless the program leaves, this is one of its daemon threads, and its call ends for that.
pub fn stay(py: Python<'_>, result: &redlatch::Result<Answer>) {
    let ended = match result {
        Err(Error::Closed { .. }) => true,
        Err(Error::Lost(loss)) => loss.reason == LostReason::Closed,
        _ => false,
    };
    let ends_without = |(process, daemons): &(u32, HashSet<u64>)| {
        // Runs no Python code, in which Python could end this thread.
        let this = || py.import("threading")?.call_method0("get_ident")?.extract();
        *process == std::process::id() && this().is_ok_and(|this: u64| daemons.contains(&this))
    };
    if ended && DAEMONS.get().is_some_and(ends_without) {
        py.detach(|| std::thread::sleep(STAY));
    }
}
