//! The permits that the program has out and that its guards give back, for the end of the client: it gives them back
//! then, as it frees its locks.

use std::sync::{Mutex, MutexGuard};

use slab::Slab;

use crate::request::Request;

#[derive(Default)]
pub struct LentPermits(Mutex<State>);

#[derive(Default)]
struct State {
    /// The requests that give them back.
    releases: Slab<Request>,
    /// The client has given all of them back, or is about to.
    is_over: bool,
}

impl LentPermits {
    /// Notes permits that `release` gives back. Gives their place; `None`: the client has ended, and they go back at
    /// once.
    pub fn add(&self, release: &Request) -> Option<usize> {
        let mut state = self.state();
        (!state.is_over).then(|| state.releases.insert(release.clone()))
    }

    /// Forgets permits that their guard gives back or keeps. False: the end of the client has given them back.
    pub fn remove(&self, place: usize) -> bool {
        self.state().releases.try_remove(place).is_some()
    }

    /// Takes all of them, for the end of the client.
    pub fn take_all(&self) -> Vec<Request> {
        let mut state = self.state();
        state.is_over = true;
        std::mem::take(&mut state.releases).into_iter().map(|(_, release)| release).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it is held")
    }
}
