//! Threads for the callbacks of users, which may block or panic: no thread of the client runs them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::base::io_thread;
use crate::base::process::PerProcess;
use crate::base::tasks::boxed;

/// The most callbacks that run at once.
const MOST: usize = 64;
/// The time after which the I/O thread asks the system for a thread again.
const PAUSE: Duration = Duration::from_millis(100);

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Callbacks {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Callback>,
    threads: usize,
    /// An I/O thread is going to ask the system for a thread again.
    is_tried_again: bool,
}

/// The pause before the next question for a thread; the end of the I/O thread ends it too.
struct Pause(&'static Callbacks);

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.state().is_tried_again = false;
    }
}

static CALLBACKS: PerProcess<Callbacks> = PerProcess::new();

/// Runs `callback` on a thread of its own, at once unless 64 others run. A panic ends the callback only.
pub fn call_back(callback: impl FnOnce() + Send + 'static) {
    CALLBACKS.get(Callbacks::default).add(Box::new(callback));
}

impl Callbacks {
    fn add(&'static self, callback: Callback) {
        self.state().waiting.push_back(callback);
        if let Err(error) = self.start() {
            tracing::warn!(
                target: "redlatch::callbacks",
                "the system gives no thread for a callback, which waits for one: {error}"
            );
        }
    }

    /// Starts a thread for a callback that waits. If the system has none, the I/O thread tries again a little later, and
    /// any thread at its next callback.
    fn start(&'static self) -> std::io::Result<()> {
        {
            let mut state = self.state();
            // The threads that run may all be blocked.
            if state.waiting.is_empty() || state.threads >= MOST {
                return Ok(());
            }
            state.threads += 1;
        }
        let Err(error) = Builder::new().name("redlatch-callback".into()).spawn(|| self.run()) else { return Ok(()) };
        self.state().threads -= 1;
        // At the end of a client its thread has no runtime any more.
        if let (Ok(runtime), true) = (Handle::try_current(), io_thread::is_here()) {
            self.try_again(&runtime);
        }
        Err(error)
    }

    fn try_again(&'static self, runtime: &Handle) {
        if std::mem::replace(&mut self.state().is_tried_again, true) {
            return;
        }
        let pause = Pause(self);
        runtime.spawn(boxed(async move {
            sleep(PAUSE).await;
            drop(pause);
            let _ = self.start();
        }));
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
