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

#[cfg(test)]
mod tests {
    use crate::client::Client;
    use crate::request::{Op, Request};

    #[test]
    fn a_client_does_not_end_between_the_last_moment_of_permits_and_their_way_back() {
        let client = Client::connect("redis://127.0.0.1:1").expect("a good URL");
        let release = Request { numbers: vec![1], ..Request::new(Op::GiveBack, "semaphore", "n", 1) };
        let place = client.lends(&release).expect("it is open");
        let present = client.lends_no_more(place).expect("they are noted");
        let state = client.state().expect("random numbers");
        assert!(state.io.presence.close() && !state.io.presence.shut_if_empty(), "the permits cannot go back");
        drop(present);
        assert!(state.io.presence.shut_if_empty() && client.lends_no_more(place).is_none());
    }
}
