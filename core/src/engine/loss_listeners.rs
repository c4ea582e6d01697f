//! Who is to be told when a hold ends.

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
    /// The client has ended: no listener is told of anything any more.
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

    /// A hold was lost, or released: `None`.
    pub fn tell(&self, hold: u64, loss: Option<Loss>) {
        // Taken out first: what is told may ask for anything, a watch as well.
        let told = self.state().by_hold.remove(&hold);
        for (_, done) in told.into_iter().flatten() {
            done(loss.clone().map_or(Ok(Answer::not_now()), |loss| Err(Error::Lost(Box::new(loss)))));
        }
    }

    /// Somebody does not want to know any more.
    pub fn cancel(&self, ticket: u64) {
        let mut cancelled = None;
        self.state().by_hold.retain(|_, loss_listeners| {
            if let Some(at) = loss_listeners.iter().position(|(other, _)| *other == ticket) {
                cancelled = Some(loss_listeners.remove(at));
            }
            !loss_listeners.is_empty()
        });
        if let Some((_, done)) = cancelled {
            done(Err(Error::Cancelled));
        }
    }

    /// The client has ended: each watcher that is left is told so.
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
