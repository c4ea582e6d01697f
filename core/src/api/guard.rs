//! A hold in Rust: a guard that releases.

use std::time::Instant;

use crate::client::Client;
use crate::client::hold::Hold;
use crate::request::error::{Error, Loss, Result};
use crate::request::owner::OwnerField;
use crate::request::{Answer, Look, Op, Request};

/// A hold. Dropping it releases it too, later and without a word: the I/O thread does it.
pub struct Guard {
    hold: Hold,
    token: Option<i64>,
}

impl Guard {
    pub(crate) fn new(client: Client, request: Request, taken: &Answer) -> Self {
        Guard { hold: Hold::new(client, request, taken), token: taken.items.first().copied() }
    }

    /// # Errors
    /// `Lost`, with reason and time line, if this is not held any more.
    pub fn ensure(&self) -> Result<()> {
        let Hold { client, release, .. } = &self.hold;
        let owner = || OwnerField(&client.id(), release.owner).to_string();
        self.hold.look().ensure(|| Error::NotHeld { lock: release.name.clone(), owner: owner() })
    }

    /// Completes when this is not held any more: with the loss, or with `None` after a release.
    ///
    /// # Cancellation
    /// Dropping the future ends the watch and nothing else.
    pub async fn lost(&self) -> Option<Loss> {
        match self.hold.asked(Op::Watch, None).await {
            Err(Error::Lost(loss)) => Some(*loss),
            _ => None,
        }
    }

    /// Until when this may be believed to be held, as known now; `None`: it is lost. The standard library's clock stands still while the
    /// machine is suspended, so after that ask again.
    pub fn deadline(&self) -> Option<Instant> {
        match self.hold.look() {
            Look::Held { remaining } => Some(Instant::now() + remaining),
            _ => None,
        }
    }

    /// The fencing token: greater than that of every hold before. `None`: this kind of lock has none.
    pub fn token(&self) -> Option<i64> {
        self.token
    }

    /// The owner's number.
    pub fn owner(&self) -> i64 {
        self.hold.release.owner
    }

    /// Releases.
    ///
    /// # Errors
    /// `Lost` if it was not held any more; `Unavailable` if the server cannot be reached: it is then released when it can.
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
