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
    /// The hold of each listener, by its ticket.
    holds: HashMap<u64, u64>,
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
        state.holds.insert(ticket, hold);
        state.by_hold.entry(hold).or_default().push((ticket, done));
        Ok(())
    }

    /// Reports the end of a hold: its loss, or with `None` its release.
    pub fn tell(&self, hold: u64, loss: Option<Loss>) {
        // The listeners come out first: one of them may ask for anything, even for a watch.
        let told = self.state().take(hold);
        for (_, done) in told {
            done(loss.clone().map_or(Ok(Answer::not_now()), |loss| Err(Error::Lost(Box::new(loss)))));
        }
    }

    /// Ends one caller's watch.
    pub fn cancel(&self, ticket: u64) {
        let cancelled = self.state().take_one(ticket);
        if let Some(done) = cancelled {
            done(Err(Error::Cancelled));
        }
    }

    /// Ends all watches that are left, because the client has ended.
    pub fn end(&self, error: impl Fn() -> Error) {
        let all = {
            let mut state = self.state();
            state.ended = true;
            state.holds.clear();
            std::mem::take(&mut state.by_hold)
        };
        all.into_values().flatten().for_each(|(_, done)| done(Err(error())));
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl State {
    /// Takes out the listeners of a hold.
    fn take(&mut self, hold: u64) -> Vec<(u64, Done)> {
        let listeners = self.by_hold.remove(&hold).unwrap_or_default();
        for (ticket, _) in &listeners {
            self.holds.remove(ticket);
        }
        listeners
    }

    fn take_one(&mut self, ticket: u64) -> Option<Done> {
        let hold = self.holds.remove(&ticket)?;
        let listeners = self.by_hold.get_mut(&hold)?;
        let at = listeners.iter().position(|(other, _)| *other == ticket)?;
        let (_, done) = listeners.remove(at);
        if listeners.is_empty() {
            self.by_hold.remove(&hold);
        }
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn each_listener_hears_once_of_its_own_end_and_leaves_nothing() {
        let listeners = LossListeners::default();
        let (tell, told) = channel();
        for (hold, ticket) in [(1, 10), (1, 11), (2, 20), (3, 30), (3, 31)] {
            let tell = tell.clone();
            let done = Box::new(move |end: crate::request::error::Result<Answer>| {
                tell.send((ticket, end.is_ok())).expect("the test listens");
            });
            assert!(listeners.add(hold, ticket, done).is_ok());
        }
        let heard = || told.try_iter().collect::<Vec<_>>();
        let left = || {
            let state = listeners.state();
            (state.by_hold.len(), state.holds.len())
        };
        listeners.cancel(11);
        listeners.cancel(11);
        listeners.cancel(99);
        assert_eq!(heard(), [(11, false)]);
        listeners.cancel(20);
        assert_eq!(heard(), [(20, false)]);
        listeners.tell(1, None);
        listeners.tell(1, None);
        assert_eq!(heard(), [(10, true)]);
        assert_eq!(left(), (1, 2));
        listeners.end(|| Error::Cancelled);
        assert_eq!(heard(), [(30, false), (31, false)]);
        assert_eq!(left(), (0, 0));
        assert!(listeners.add(4, 40, Box::new(drop)).is_err());
    }
}
