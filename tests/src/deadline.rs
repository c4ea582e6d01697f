//! No test hangs: one that has not ended in time is named, with every panic so far, and ends the run.
//!
//! A failed assertion hangs its test when threads in its scope wait for what comes after it, and no runner would tell of it.

use std::cell::RefCell;
use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, Once};
use std::time::Duration;
use std::{panic, process, thread};

use crate::secs;

/// More than any test takes on a machine that has more to do.
const DEADLINE: Duration = secs(300);

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    /// Open until the thread ends.
    static RUNNING: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
}

/// Has the test that this thread runs end in time; the thread of a program has as long as it takes.
pub fn set() {
    let set = RUNNING.with_borrow(Option::is_some);
    if !set && thread::current().name().is_some_and(|name| name != "main") {
        within(DEADLINE);
    }
}

/// Has what this thread runs end within `limit`.
pub fn within(limit: Duration) {
    static REMEMBERED: Once = Once::new();
    REMEMBERED.call_once(remember);
    let (running, ended) = mpsc::channel();
    RUNNING.set(Some(running));
    let test = thread::current().name().unwrap_or_default().to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let panics = PANICS.lock().expect("nobody panics in a panic").join("\n");
            // Past the runner, which keeps what a test prints until its end.
            let _ = writeln!(std::io::stderr(), "{test} has not ended within {limit:?}. What panicked so far:\n{panics}");
            process::exit(1);
        }
    });
}

fn remember() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        PANICS.lock().expect("nobody panics in a panic").push(panic.to_string());
        before(panic);
    }));
}
