//! The callers that wait for the end of a hold.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::request::Answer;
use crate::request::Done;
use crate::request::error::{Error, Loss};

#[derive(Default)]
pub struct LossListeners {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_hold: HashMap<u64, Vec<(u64, Done)>>,
    /// The client has ended: no listener hears of anything any more.
    ended: bool,
}

impl LossListeners {
    /// Gives `done` back once the client has ended.
    pub fn add(&self, hold: u64, ticket: u64, done: Done) -> Result<(), Done> {
        let mut state = self.state();
        if state.ended {
            return Err(done);
        }
        state.by_hold.entry(hold).or_default().push((ticket, done));
        Ok(())
    }

    /// Reports the end of a hold: its loss, or with `None` its release.
    pub fn tell(&self, hold: u64, loss: Option<Loss>) {
        // The listeners come out first: one of them may ask for anything, even for a watch.
        let told = self.state().by_hold.remove(&hold);
        for (_, done) in told.into_iter().flatten() {
            done(loss.clone().map_or(Ok(Answer::not_now()), |loss| Err(Error::Lost(Box::new(loss)))));
        }
    }

    /// Ends one caller's watch.
    pub fn cancel(&self, ticket: u64) {
        let mut cancelled = Vec::new();
        self.state().by_hold.retain(|_, loss_listeners| {
            cancelled.extend(loss_listeners.extract_if(.., |(other, _)| *other == ticket));
            !loss_listeners.is_empty()
        });
        for (_, done) in cancelled {
            done(Err(Error::Cancelled));
        }
    }

    /// Ends all watches that are left, because the client has ended.
    pub fn end(&self, error: impl Fn() -> Error) {
        let all = {
            let mut state = self.state();
            state.ended = true;
            std::mem::take(&mut state.by_hold)
        };
        all.into_values().flatten().for_each(|(_, done)| done(Err(error())));
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}
