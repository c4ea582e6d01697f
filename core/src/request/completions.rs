//! A queue of finished requests, for a binding that drains them in batches.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

use crate::request::Answer;
use crate::request::error::Result;

/// Finished requests in the order in which they finished. Any thread adds one; the binding's own thread takes them.
#[derive(Debug, Default)]
pub struct Completions {
    state: Mutex<State>,
    some: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(u64, Result<Answer>)>,
    stopped: bool,
}

impl Completions {
    /// An empty queue.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Adds a result, and wakes the thread that waits for one. Never blocks.
    pub fn push(&self, ticket: u64, result: Result<Answer>) {
        self.state.lock().expect("nothing panics while it is held").queue.push_back((ticket, result));
        self.some.notify_one();
    }

    /// Blocks until there is a finished request. An empty result means that the queue was stopped and nothing is left.
    pub fn drain(&self, at_most: usize) -> Vec<(u64, Result<Answer>)> {
        let state = self.state.lock().expect("nothing panics while it is held");
        let mut state = self
            .some
            .wait_while(state, |state| state.queue.is_empty() && !state.stopped)
            .expect("nothing panics while it is held");
        let count = state.queue.len().min(at_most);
        state.queue.drain(..count).collect()
    }

    /// Ends the waits: once the queue is empty, each [`Completions::drain`] gives an empty result at once.
    pub fn stop(&self) {
        self.state.lock().expect("nothing panics while it is held").stopped = true;
        self.some.notify_all();
    }
}
