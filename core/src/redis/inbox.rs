//! Work for the I/O thread, in batches: each wake costs a system call, and many pieces of work cost little more than
//! one.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::base::tasks::{Work, boxed};
use crate::base::together::{at_the_end, is_together};
use crate::redis::link::{BATCH, First};

/// While there is much to do, the I/O thread looks for work by itself this often. A thread with more work to come may
/// delay the wake by this time.
const GLANCE: Duration = Duration::from_millis(1);
/// After this many looks without work, the I/O thread sleeps until a thread wakes it.
const GLANCES: u32 = 20;

#[derive(Default)]
pub struct Inbox {
    state: Mutex<State>,
    some: Notify,
}

#[derive(Default)]
struct State {
    work: Vec<Work>,
    firsts: Vec<Box<dyn First>>,
    glances: bool,
    closed: bool,
}

impl Inbox {
    /// Hands a task to the I/O thread, which runs it beside the others. After the end of the I/O thread the task is
    /// dropped.
    pub fn put(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        self.add(boxed(work), |state| &mut state.work);
    }

    /// Hands a first try to the I/O thread, which sends it together with others that come at the same time. After the
    /// end of the I/O thread the try is dropped.
    pub fn put_first(self: &Arc<Self>, first: Box<dyn First>) {
        self.add(first, |state| &mut state.firsts);
    }

    fn add<T>(self: &Arc<Self>, new: T, to: impl FnOnce(&mut State) -> &mut Vec<T>) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            return drop(new);
        }
        let is_first = state.is_empty();
        to(&mut state).push(new);
        let is_much = state.firsts.len() == BATCH;
        let later = state.glances && is_together();
        drop(state);
        match (is_first, later) {
            (true, true) => {
                let inbox = self.clone();
                at_the_end(move || inbox.nudge());
            }
            _ if is_first || is_much => self.some.notify_one(),
            _ => {}
        }
    }

    fn nudge(&self) {
        let is_empty = self.state().is_empty();
        if !is_empty {
            self.some.notify_one();
        }
    }

    /// Tells whether the I/O thread will soon look by itself for the work that this thread has left, and do it together
    /// with more. If there is more work, it begins to look.
    pub fn is_looked_at(&self) -> bool {
        let glances = self.state().glances;
        let more = is_together();
        if more && !glances {
            self.some.notify_one();
        }
        glances && more
    }

    /// Runs on the I/O thread. `send` sends the first tries, and tells whether there is much to do.
    pub async fn deal_out(&self, send: impl Fn(Vec<Box<dyn First>>) -> bool) {
        let mut idle = GLANCES;
        loop {
            if idle < GLANCES {
                let _ = timeout(GLANCE, self.some.notified()).await;
            } else {
                self.some.notified().await;
            }
            let (work, firsts) = {
                let mut state = self.state();
                (std::mem::take(&mut state.work), std::mem::take(&mut state.firsts))
            };
            work.into_iter().for_each(|work| drop(tokio::spawn(work)));
            idle = if send(firsts) { 0 } else { idle + 1 };
            let mut state = self.state();
            state.glances = idle < GLANCES;
            // A batch has left work for a glance that does not come any more.
            if !state.glances && !state.is_empty() {
                self.some.notify_one();
            }
        }
    }

    /// Drops the work that is left after the end of the I/O thread.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let left = (std::mem::take(&mut state.work), std::mem::take(&mut state.firsts));
        drop(state);
        drop(left);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.work.is_empty() && self.firsts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::sync::oneshot;

    use super::*;
    use crate::base::together::together;

    #[test]
    fn work_that_a_batch_leaves_for_the_next_glance_is_done_though_that_was_the_last_glance() {
        let inbox = Arc::<Inbox>::default();
        let (done, is_done) = oneshot::channel();
        let done = Cell::new(Some(done));
        let looks = Cell::new(0);
        let send = |_: Vec<Box<dyn First>>| {
            looks.set(looks.get() + 1);
            if looks.get() == 1 + GLANCES {
                let done = done.take().expect("once");
                inbox.put(async move { done.send(()).expect("the test waits") });
            }
            looks.get() == 1
        };
        let io = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        // The batch ends after the test's wait, and only then wakes the I/O thread.
        together(|| {
            inbox.put(async {});
            io.block_on(async {
                tokio::select! {
                    () = inbox.deal_out(send) => unreachable!("it has no end"),
                    said = timeout(Duration::from_secs(20), is_done) => {
                        said.expect("the I/O thread looks once more").expect("it is done");
                    }
                }
            });
        });
    }
}
