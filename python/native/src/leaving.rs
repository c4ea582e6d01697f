//! The end of a program: its daemon threads do not come back from calls that it ends.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use pyo3::prelude::*;
use redlatch::{Answer, Error, LostReason};

use crate::client::{Client, close};

/// Longer than Python takes from here to its end, and yet an end for whoever joins such a thread.
const STAY: Duration = Duration::from_secs(10);

/// The threads that this process ends without, each with its process: a forked child is not leaving. It is locked under the GIL only, and no
/// Python code runs meanwhile: so a forked child never finds it locked.
static DAEMONS: LazyLock<Mutex<HashSet<(u32, u64)>>> = LazyLock::new(Mutex::default);

/// Closes the clients, as `close`, at the end of the program or of one of its interpreters. Threads with these identities stay in the calls
/// that this ends: they would report errors just as Python ends, which aborts when it finds its own stderr in use.
#[pyfunction]
pub fn leave(py: Python<'_>, clients: Vec<Py<Client>>, daemons: HashSet<u64>) -> PyResult<()> {
    locked().extend(daemons.into_iter().map(|daemon| (std::process::id(), daemon)));
    close(py, clients)
}

/// Returns at once unless the program leaves, this is one of its daemon threads, and its call ends for that.
pub fn stay(py: Python<'_>, result: &redlatch::Result<Answer>) {
    let ended = match result {
        Err(Error::Closed { .. }) => true,
        Err(Error::Lost(loss)) => loss.reason == LostReason::Closed,
        _ => false,
    };
    if !ended || locked().is_empty() {
        return;
    }
    // Runs no Python code, in which Python could end this thread.
    let this = || py.import("threading")?.call_method0("get_ident")?.extract();
    let is_daemon = this().is_ok_and(|this: u64| locked().contains(&(std::process::id(), this)));
    if is_daemon {
        py.detach(|| std::thread::sleep(STAY));
    }
}

fn locked() -> MutexGuard<'static, HashSet<(u32, u64)>> {
    DAEMONS.lock().expect("nothing panics while it is held")
}
