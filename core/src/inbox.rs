//! Work for the I/O thread, handed over in batches: waking it costs a system call.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
pub struct Inbox {
    state: Mutex<State>,
    some: Notify,
}

#[derive(Default)]
struct State {
    work: Vec<Work>,
    closed: bool,
}

impl Inbox {
    /// Has the I/O thread do this beside everything else; once that has ended, it is dropped.
    pub fn put(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            return drop(work);
        }
        state.work.push(Box::pin(work));
        let is_first = state.work.len() == 1;
        drop(state);
        if is_first {
            self.some.notify_one();
        }
    }

    /// Runs on the I/O thread.
    pub async fn deal_out(&self) {
        loop {
            self.some.notified().await;
            let work = std::mem::take(&mut self.state().work);
            work.into_iter().for_each(|work| drop(tokio::spawn(work)));
        }
    }

    /// Drops what nobody does any more, after the end of the I/O thread.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let work = std::mem::take(&mut state.work);
        drop(state);
        drop(work);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}
