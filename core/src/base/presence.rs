//! Who is inside a client: callers on their own threads, and what goes on for them on the I/O thread. A client that closes lets only those
//! in who give back, and once no caller is inside, none at all: so nothing begins behind the back of its end.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::sync::Notify;

/// Only those who give back come in.
const CLOSING: usize = 1 << (usize::BITS - 1);
/// Nobody comes in.
const SHUT: usize = 1 << (usize::BITS - 2);
const COUNT: usize = SHUT - 1;

#[derive(Default)]
pub struct Presence {
    /// How many are inside, and the two marks.
    state: AtomicUsize,
    /// Told when the last one leaves a client that closes. For one who waits.
    left: Notify,
}

/// One who is inside; dropping it leaves.
pub struct Present<P: Deref<Target = Presence>>(P);

impl Presence {
    /// A caller comes; `None`: it is too late.
    pub fn enter(&self, gives_back: bool) -> Option<Present<&Presence>> {
        let (before, present) = (self.state.fetch_add(1, SeqCst), Present(self));
        let refused = before & SHUT != 0 || (before & CLOSING != 0 && !gives_back);
        (!refused).then_some(present)
    }

    /// Something goes on for one who is inside, and may outlast it.
    pub fn accompany(self: &Arc<Self>) -> Present<Arc<Presence>> {
        self.state.fetch_add(1, SeqCst);
        Present(self.clone())
    }

    /// True: it was open until now.
    pub fn close(&self) -> bool {
        self.state.fetch_or(CLOSING, SeqCst) & CLOSING == 0
    }

    pub fn is_closing(&self) -> bool {
        self.state.load(SeqCst) & CLOSING != 0
    }

    /// Lets no caller in any more, whether one is still inside or not.
    pub fn shut(&self) {
        self.state.fetch_or(CLOSING | SHUT, SeqCst);
    }

    /// Lets no caller in any more if none is inside of a client that closes; tells whether that is so.
    pub fn shut_if_empty(&self) -> bool {
        let shut = self.state.compare_exchange(CLOSING, CLOSING | SHUT, SeqCst, SeqCst);
        shut.map_or_else(|state| state == CLOSING | SHUT, |_| true)
    }

    /// Returns once no caller is inside of a client that closes.
    pub async fn empty(&self) {
        while self.state.load(SeqCst) & COUNT > 0 {
            self.left.notified().await;
        }
    }
}

impl<P: Deref<Target = Presence>> Drop for Present<P> {
    fn drop(&mut self) {
        let before = self.0.state.fetch_sub(1, SeqCst);
        if before & COUNT == 1 && before & CLOSING != 0 {
            self.0.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_closes_lets_only_those_in_who_give_back_and_then_nobody() {
        let presence = Arc::new(Presence::default());
        let caller = presence.enter(false).expect("it is open");
        assert!(presence.close() && !presence.close());
        assert!(presence.enter(false).is_none(), "it closes");
        let giver = presence.enter(true).expect("it gives back");
        let work = presence.accompany();
        drop((caller, giver));
        assert!(!presence.shut_if_empty(), "something goes on");
        drop(work);
        assert!(presence.shut_if_empty() && presence.enter(true).is_none());
        assert!(presence.shut_if_empty(), "those who were refused have left");
    }

    #[test]
    fn nobody_is_shut_out_of_what_is_open() {
        let presence = Presence::default();
        assert!(!presence.shut_if_empty() && presence.enter(false).is_some());
        presence.shut();
        assert!(presence.is_closing() && presence.enter(true).is_none());
    }
}
