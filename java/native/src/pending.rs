//! The outcome of a request whose thread waits inside for a moment: the owners of a client that hand a lock on get it
//! within microseconds, and each wake of another thread in between would cost as much again. After that moment the
//! thread waits in Java, where an interrupt reaches it, and the outcome comes out of `drain`.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redlatch::Result;
use redlatch::ffi::Answer;

use crate::FINISHED;

/// How long a thread waits inside. No user notices that an interrupt ends a wait so much later.
const MOMENT: Duration = Duration::from_millis(10);

/// The place of one request's outcome.
pub struct Pending {
    ticket: u64,
    state: Mutex<State>,
    came: Condvar,
}

enum State {
    /// The thread waits inside, or will.
    Inside,
    Came(Result<Answer>),
    /// The thread is back in Java.
    Left,
}

impl Pending {
    pub fn new(ticket: u64) -> Self {
        Pending { ticket, state: Mutex::new(State::Inside), came: Condvar::new() }
    }

    /// Gives the outcome to the thread, or to `drain`. Neither blocks nor panics.
    pub fn come(&self, outcome: Result<Answer>) {
        let mut state = self.state();
        if matches!(*state, State::Left) {
            drop(state);
            FINISHED.push(self.ticket, outcome);
        } else {
            *state = State::Came(outcome);
            drop(state);
            self.came.notify_one();
        }
    }

    /// Waits for the outcome for a moment. `None`: it comes out of `drain`.
    pub fn wait(&self) -> Option<Result<Answer>> {
        let waits = |state: &mut State| matches!(state, State::Inside);
        let (mut state, _) =
            self.came.wait_timeout_while(self.state(), MOMENT, waits).unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Left) {
            State::Came(outcome) => Some(outcome),
            State::Inside | State::Left => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    fn outcome(number: i64) -> Result<Answer> {
        Ok(Answer { number, ..Default::default() })
    }

    #[test]
    fn an_outcome_that_comes_at_once_goes_to_the_thread() {
        let pending = Arc::new(Pending::new(1));
        let other = pending.clone();
        let thread = thread::spawn(move || other.come(outcome(7)));
        thread.join().expect("no panic");
        assert_eq!(pending.wait().expect("it has come").expect("answered").number, 7);
    }

    #[test]
    fn an_outcome_that_comes_late_comes_out_of_drain() {
        let pending = Pending::new(2);
        assert!(pending.wait().is_none());
        pending.come(outcome(8));
        let drained = FINISHED.drain(1);
        assert_eq!(drained.len(), 1);
        assert_eq!(drained[0].0, 2);
    }
}
