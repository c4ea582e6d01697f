//! The end of a program. It ends the calls of daemon threads, and holds these threads back: they must not run Python
//! code any more.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use pyo3::prelude::*;
use redlatch::ffi::Answer;
use redlatch::{Error, LostReason};

use crate::client::{Client, close};

/// How long a daemon thread is held back. Python takes less time to its end, but a thread that joins the daemon must
/// not wait for ever.
const HOLD_BACK: Duration = Duration::from_secs(10);

/// The daemon threads of programs that end, each with its process: a forked child does not end with its parent. Only
/// code under the GIL locks it, and runs no Python code meanwhile: so a forked child never finds it locked.
static DAEMONS: LazyLock<Mutex<HashSet<(u32, u64)>>> = LazyLock::new(Mutex::default);

/// Closes the clients, as `close` does, at the end of the program or of one of its interpreters. Threads with these
/// identities stay in the calls that this ends. They would report errors while Python ends, and Python aborts if
/// another thread uses its stderr then.
#[pyfunction]
pub fn close_at_exit(py: Python<'_>, clients: Vec<Py<Client>>, daemons: HashSet<u64>) -> PyResult<()> {
    locked().extend(daemons.into_iter().map(|daemon| (std::process::id(), daemon)));
    // The program may have left a close that takes long, by Ctrl-C: its end does not wait for that once more.
    let open = clients.into_iter().filter(|client| !client.get().core.is_closed()).collect();
    close(py, open)
}

/// Holds this thread back if it is a daemon of a program that ends, and if its call ended for that. Else it returns at
/// once.
pub fn hold_back_daemon(py: Python<'_>, result: &redlatch::Result<Answer>) {
    let ended = match result {
        Err(Error::Closed { .. }) => true,
        Err(Error::Lost(loss)) => loss.reason == LostReason::Closed,
        _ => false,
    };
    if !ended || locked().is_empty() {
        return;
    }
    // This runs no Python code, because Python could end the thread in it.
    let this = || py.import("threading")?.call_method0("get_ident")?.extract();
    let is_daemon = this().is_ok_and(|this: u64| locked().contains(&(std::process::id(), this)));
    if is_daemon {
        py.detach(|| std::thread::sleep(HOLD_BACK));
    }
}

fn locked() -> MutexGuard<'static, HashSet<(u32, u64)>> {
    DAEMONS.lock().expect("nothing panics while it is held")
}
