//! Who is to be told when a hold ends.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::command::Answer;
use crate::error::{Error, Loss};
use crate::lines::Done;

#[derive(Default)]
pub struct Watchers {
    by_hold: Mutex<HashMap<u64, Vec<(u64, Done)>>>,
}

impl Watchers {
    pub fn add(&self, hold: u64, ticket: u64, done: Done) {
        self.by_hold().entry(hold).or_default().push((ticket, done));
    }

    /// A hold was lost, or released: `None`.
    pub fn tell(&self, hold: u64, loss: Option<Loss>) {
        for (_, done) in self.by_hold().remove(&hold).into_iter().flatten() {
            done(loss.clone().map_or(Ok(Answer::not_now()), |loss| Err(Error::Lost(Box::new(loss)))));
        }
    }

    /// Somebody does not want to know any more.
    pub fn cancel(&self, ticket: u64) {
        let mut cancelled = None;
        self.by_hold().retain(|_, watchers| {
            if let Some(at) = watchers.iter().position(|(other, _)| *other == ticket) {
                cancelled = Some(watchers.remove(at));
            }
            !watchers.is_empty()
        });
        if let Some((_, done)) = cancelled {
            done(Err(Error::Cancelled));
        }
    }

    /// The client is closed: everybody who is left is told so.
    pub fn end(&self, error: impl Fn() -> Error) {
        let all = std::mem::take(&mut *self.by_hold());
        all.into_values().flatten().for_each(|(_, done)| done(Err(error())));
    }

    fn by_hold(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<(u64, Done)>>> {
        self.by_hold.lock().expect("nothing panics while it is held")
    }
}
