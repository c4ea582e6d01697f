//! A hold in Rust: a guard that releases.

use std::time::Instant;

use crate::client::Client;
use crate::client::hold::Hold;
use crate::request::error::{Error, Loss, Result};
use crate::request::owner::OwnerField;
use crate::request::{Answer, Look, Request};

/// A hold of a lock. Dropping the guard releases it too: later, on the I/O thread, and without reporting an error.
pub struct Guard {
    hold: Hold,
    token: Option<i64>,
}

impl Guard {
    pub(crate) fn new(client: Client, request: Request, taken: &Answer) -> Self {
        Guard { hold: Hold::new(client, request, taken), token: taken.items.first().copied() }
    }

    /// Checks that the hold has not been lost, without asking the server.
    ///
    /// # Errors
    /// `Lost`, with reason and time line, if the client does not hold the lock any more.
    pub fn ensure(&self) -> Result<()> {
        let Hold { client, release, .. } = &self.hold;
        let owner = || OwnerField(&client.id(), release.owner).to_string();
        self.hold.look().ensure(|| Error::NotHeld { lock: release.name.to_string(), owner: owner() })
    }

    /// Waits until the hold ends. Gives the loss, or `None` after a release.
    ///
    /// # Cancellation
    /// Dropping the future ends the watch. The hold stays.
    pub async fn lost(&self) -> Option<Loss> {
        match self.hold.watched().await {
            Err(Error::Lost(loss)) => Some(*loss),
            _ => None,
        }
    }

    /// The time until which the client may believe in the hold, as known now; `None`: the hold is lost. The standard
    /// library's clock stands still while the machine is suspended, so ask again after that.
    pub fn deadline(&self) -> Option<Instant> {
        match self.hold.look() {
            Look::Held { remaining } => Some(Instant::now() + remaining),
            _ => None,
        }
    }

    /// The fencing token: greater than the token of every earlier hold. `None`: this kind of lock has no tokens.
    pub fn token(&self) -> Option<i64> {
        self.token
    }

    /// The number of the owner that holds the lock.
    pub fn owner(&self) -> i64 {
        self.hold.release.owner
    }

    /// Releases the hold.
    ///
    /// # Errors
    /// `Lost` if the hold was lost before; `Unavailable` if the server cannot be reached: then the client releases the
    /// lock as soon as it can.
    pub async fn release(self) -> Result<()> {
        self.hold.release().await
    }
}

/// [`Guard`] without a runtime.
pub struct BlockingGuard(pub(crate) Guard);

impl BlockingGuard {
    /// As [`Guard::release`].
    pub fn release(self) -> Result<()> {
        self.0.hold.release_blocking()
    }
}

impl std::ops::Deref for BlockingGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.0
    }
}
