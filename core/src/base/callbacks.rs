//! Threads for the callbacks of users, which may block or panic: no thread of the client runs them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

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
    /// An I/O thread is going to ask the system for threads again.
    is_tried_again: bool,
}

/// The pause before the next questions for threads; the end of the I/O thread ends it too.
struct Asking(&'static Callbacks);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.state().is_tried_again = false;
    }
}

static CALLBACKS: PerProcess<Callbacks> = PerProcess::new();

/// Runs `callback` on a thread of its own, at once unless 64 others run. A panic ends the callback only. If the system has
/// no thread, the runtime of `io`, an I/O thread, asks again a little later, and so does the next callback.
pub fn call_back(io: Option<&Handle>, callback: impl FnOnce() + Send + 'static) {
    CALLBACKS.get(Callbacks::default).add(io, Box::new(callback));
}

impl Callbacks {
    fn add(&'static self, io: Option<&Handle>, callback: Callback) {
        self.state().waiting.push_back(callback);
        if let Err(error) = self.start() {
            io.inspect(|io| self.try_again(io));
            tracing::warn!(
                target: "redlatch::callbacks",
                "the system gives no thread for a callback, which waits for one: {error}"
            );
        }
    }

    /// Starts a thread for a callback that waits.
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
        Err(error)
    }

    /// Starts a thread for each callback that waits, after a pause, and so on until the system has them all.
    fn try_again(&'static self, io: &Handle) {
        if std::mem::replace(&mut self.state().is_tried_again, true) {
            return;
        }
        let asking = Asking(self);
        let again = io.clone();
        io.spawn(boxed(async move {
            sleep(PAUSE).await;
            // A callback that gets no thread from now on begins anew.
            drop(asking);
            let waiting = self.state().waiting.len();
            if (0..waiting).any(|_| self.start().is_err()) {
                self.try_again(&again);
            }
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
        call_back(None, move || {
            let heard = first_hears.recv_timeout(Duration::from_secs(20));
            let _ = told.send(heard.is_ok());
        });
        for _ in 0..3 * MOST {
            call_back(None, || std::panic::resume_unwind(Box::new("a callback may")));
        }
        call_back(None, move || {
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
