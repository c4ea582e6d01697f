//! No test hangs: a test that has not ended in time ends the run, with its name and every panic so far.
//!
//! A failed assertion can hang its test: threads in its scope then wait for something that never comes, and no runner
//! tells of it.

use std::cell::RefCell;
use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, Once};
use std::time::Duration;
use std::{panic, process, thread};

use crate::secs;

/// Longer than any test takes, even on a busy machine.
const DEADLINE: Duration = secs(300);

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    /// Open until the thread ends.
    static RUNNING: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
}

/// Sets the time limit for the test on this thread. The thread of a program has no limit.
pub fn set() {
    let set = RUNNING.with_borrow(Option::is_some);
    if !set && thread::current().name().is_some_and(|name| name != "main") {
        within(DEADLINE);
    }
}

/// Sets the time limit `limit` for the work of this thread.
pub fn within(limit: Duration) {
    static REMEMBERED: Once = Once::new();
    REMEMBERED.call_once(remember);
    let (running, ended) = mpsc::channel();
    RUNNING.set(Some(running));
    let test = thread::current().name().unwrap_or_default().to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let panics = PANICS.lock().expect("the panic hook does not panic").join("\n");
            // Straight to stderr: the runner keeps a test's output until the test ends.
            let _ =
                writeln!(std::io::stderr(), "{test} has not ended within {limit:?}. What panicked so far:\n{panics}");
            process::exit(1);
        }
    });
}

fn remember() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        PANICS.lock().expect("the panic hook does not panic").push(panic.to_string());
        before(panic);
    }));
}
