//! The handles that a program has of a client. The client's own work has others, which are not counted here: they keep
//! the client alive, and the program may end in spite of them.

use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::base::clock::Instant;
use crate::base::process::PerProcess;
use crate::client::state::ClientState;
use crate::request::error::Result;

/// One state for each process, or the reason why there is none.
pub type States = PerProcess<Result<Arc<ClientState>>>;

/// All handles that a program has of one client: clones, guards, permits and calls. It is dropped with the last of them.
pub struct Handles {
    pub states: Arc<States>,
    /// The end of the time for flushing, once a drop has begun it; clients that end together share it.
    pub until: Arc<OnceBox<Instant>>,
}

impl Drop for Handles {
    fn drop(&mut self) {
        // A forked child that has not called has nothing to wait for, and its parent's state is not its own.
        if let Some(Ok(state)) = self.states.made() {
            state.flush(&self.until);
        }
    }
}
