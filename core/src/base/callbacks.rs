//! Threads for the callbacks of users, which may block or panic: no thread of the client runs them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard};
use std::thread::Builder;

use crate::base::process::PerProcess;

/// The most callbacks that run at once.
const MOST: usize = 64;

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Callbacks {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Callback>,
    threads: usize,
}

static CALLBACKS: PerProcess<Callbacks> = PerProcess::new();

/// Runs `callback` on a thread of its own, at once unless 64 others run. A panic ends the callback only.
pub fn call_back(callback: impl FnOnce() + Send + 'static) {
    CALLBACKS.get(Callbacks::default).add(Box::new(callback));
}

impl Callbacks {
    fn add(&'static self, callback: Callback) {
        let starts = {
            let mut state = self.state();
            state.waiting.push_back(callback);
            // The threads that run may all be blocked.
            let starts = state.threads < MOST;
            state.threads += usize::from(starts);
            starts
        };
        if !starts {
            return;
        }
        if let Err(error) = Builder::new().name("redlatch-callback".into()).spawn(|| self.run()) {
            self.state().threads -= 1;
            tracing::warn!(
                target: "redlatch::callbacks",
                "the system gives no thread for a callback, which waits for the next one: {error}"
            );
        }
    }

    /// Ends once no callback waits.
    fn run(&self) {
        loop {
            let callback = {
                let mut state = self.state();
                let callback = state.waiting.pop_front();
                state.threads -= usize::from(callback.is_none());
                callback
            };
            let Some(callback) = callback else { return };
            // The panic hook has reported a panic.
            let _ = catch_unwind(AssertUnwindSafe(callback));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// The first callback of a lot blocks until the last one has run, and others panic.
    #[test]
    fn no_callback_waits_for_one_that_blocks_or_panics() {
        let (tell_first, first_hears) = channel::<()>();
        let (tell, hears) = channel();
        let told = tell.clone();
        call_back(move || {
            let heard = first_hears.recv_timeout(Duration::from_secs(20));
            let _ = told.send(heard.is_ok());
        });
        for _ in 0..3 * MOST {
            call_back(|| std::panic::resume_unwind(Box::new("a callback may")));
        }
        call_back(move || {
            let _ = tell_first.send(());
        });
        assert_eq!(hears.recv_timeout(Duration::from_secs(20)), Ok(true));
        let state = || CALLBACKS.get(Callbacks::default).state();
        while state().threads > 0 {
            std::thread::yield_now();
        }
        assert!(state().waiting.is_empty(), "no thread ends while a callback waits");
    }
}
