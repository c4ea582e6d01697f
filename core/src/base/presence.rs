//! The callers that are inside a client, on their own threads, and the work that goes on for them on the I/O thread. A
//! closing client lets in only calls that give back or ask for losses, and once no caller is inside, none at all. So no
//! work begins unnoticed by the end of the client.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::sync::Notify;

/// Only calls that give back or ask for losses come in.
const CLOSING: usize = 1 << (usize::BITS - 1);
/// No call comes in.
const SHUT: usize = 1 << (usize::BITS - 2);
/// The end of the program's last handle waits until the client is empty; calls still come in.
const AWAITED: usize = 1 << (usize::BITS - 3);
const COUNT: usize = AWAITED - 1;

#[derive(Default)]
pub struct Presence {
    /// The number of callers and work inside, and the three marks.
    state: AtomicUsize,
    /// Signals that the last one has left a client that is closing or awaited. Only one task may wait for it.
    left: Notify,
}

/// A caller, or work for one, that is inside; dropping it leaves.
pub struct Present<P: Deref<Target = Presence>>(P);

impl Presence {
    /// Lets a caller in; `None`: the client is closing. `comes_in_late`: it may come in until the client has closed.
    pub fn enter(&self, comes_in_late: bool) -> Option<Present<&Presence>> {
        let before = self.state.fetch_add(1, SeqCst);
        let present = Present(self);
        let refused = before & SHUT != 0 || (before & CLOSING != 0 && !comes_in_late);
        (!refused).then_some(present)
    }

    /// Counts work for a caller that is inside; the work may outlast the caller.
    pub fn accompany(self: &Arc<Self>) -> Present<Arc<Presence>> {
        self.state.fetch_add(1, SeqCst);
        Present(self.clone())
    }

    /// Begins to close; true: the client was open until now.
    pub fn close(&self) -> bool {
        self.state.fetch_or(CLOSING, SeqCst) & CLOSING == 0
    }

    pub fn is_closing(&self) -> bool {
        self.state.load(SeqCst) & CLOSING != 0
    }

    /// Lets no caller in any more, even if one is still inside.
    pub fn shut(&self) {
        self.state.fetch_or(CLOSING | SHUT, SeqCst);
    }

    /// Lets no caller in any more, if the client is closing and none is inside; tells whether that is so.
    pub fn shut_if_empty(&self) -> bool {
        let shut = |state| (state & CLOSING != 0 && state & COUNT == 0).then_some(state | SHUT);
        self.state.fetch_update(SeqCst, SeqCst, shut).is_ok()
    }

    pub fn is_empty(&self) -> bool {
        self.state.load(SeqCst) & COUNT == 0
    }

    /// Lets [`Presence::empty`] return for a client that is not closing, too.
    pub fn awaits(&self) {
        self.state.fetch_or(AWAITED, SeqCst);
    }

    /// Returns once no caller is inside a client that is closing or awaited.
    pub async fn empty(&self) {
        while !self.is_empty() {
            self.left.notified().await;
        }
    }
}

impl<P: Deref<Target = Presence>> Drop for Present<P> {
    fn drop(&mut self) {
        let before = self.0.state.fetch_sub(1, SeqCst);
        if before & COUNT == 1 && before & (CLOSING | AWAITED) != 0 {
            self.0.left.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_client_lets_in_only_calls_that_give_back_and_then_none() {
        let presence = Arc::new(Presence::default());
        let caller = presence.enter(false).expect("it is open");
        assert!(presence.close() && !presence.close());
        assert!(presence.enter(false).is_none(), "it closes");
        let giver = presence.enter(true).expect("it gives back");
        let work = presence.accompany();
        drop((caller, giver));
        assert!(!presence.shut_if_empty(), "work for a caller goes on");
        drop(work);
        assert!(presence.shut_if_empty() && presence.enter(true).is_none());
        assert!(presence.shut_if_empty(), "refused callers have left");
    }

    #[test]
    fn an_open_client_shuts_no_caller_out() {
        let presence = Presence::default();
        assert!(!presence.shut_if_empty() && presence.enter(false).is_some());
        presence.shut();
        assert!(presence.is_closing() && presence.enter(true).is_none());
    }
}
