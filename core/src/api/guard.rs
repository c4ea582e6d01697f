//! A hold in Rust: a guard that releases.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::request::error::{Error, Loss, Result};
use crate::request::owner::OwnerField;
use crate::request::{Answer, Look, Op, Request};

/// A hold. Dropping it releases it too, later and without a word: the I/O thread does it.
pub struct Guard {
    client: Client,
    release: Request,
    token: Option<i64>,
    released: bool,
}

impl Guard {
    pub(crate) fn new(client: Client, request: Request, taken: &Answer) -> Self {
        let release = Request { op: Op::Release, hold: taken.number as u64, ..request };
        Guard { client, release, token: taken.items.first().copied(), released: false }
    }

    /// # Errors
    /// `Lost`, with reason and time line, if this is not held any more.
    pub fn ensure(&self) -> Result<()> {
        let owner = || OwnerField(&self.client.id(), self.release.owner).to_string();
        self.look().ensure(|| Error::NotHeld { lock: self.release.name.clone(), owner: owner() })
    }

    /// Completes when this is not held any more: with the loss, or with `None` after a release.
    ///
    /// # Cancellation
    /// Dropping the future ends the watch and nothing else.
    pub async fn lost(&self) -> Option<Loss> {
        match self.asked(Op::Watch, None).await {
            Err(Error::Lost(loss)) => Some(*loss),
            _ => None,
        }
    }

    pub(crate) fn look(&self) -> Look {
        self.client.look(self.release.hold)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.look().is_held()
    }

    pub(crate) fn abandon(&self) -> bool {
        self.client.abandon(self.release.hold)
    }

    /// What comes of asking for this about it. The future does not need the guard.
    pub(crate) fn asked(&self, op: Op, lease: Option<Duration>) -> impl Future<Output = Result<Answer>> + Send + 'static {
        let (client, request) = (self.client.clone(), Request { op, lease, ..self.release.clone() });
        async move { client.run(request).await }
    }

    /// Until when this may be believed to be held, as known now; `None`: it is lost. The standard library's clock stands still while the
    /// machine is suspended, so after that ask again.
    pub fn deadline(&self) -> Option<Instant> {
        match self.look() {
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
        self.release.owner
    }

    /// Releases.
    ///
    /// # Errors
    /// `Lost` if it was not held any more; `Unavailable` if the server cannot be reached: it is then released when it can.
    pub async fn release(mut self) -> Result<()> {
        self.released = true;
        self.client.run(self.release.clone()).await.map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.released {
            self.client.submit(self.client.ticket(), self.release.clone(), drop);
        }
    }
}

/// [`Guard`] without a runtime.
pub struct BlockingGuard(pub(crate) Guard);

impl BlockingGuard {
    /// As [`Guard::release`].
    pub fn release(mut self) -> Result<()> {
        self.0.released = true;
        self.0.client.run_blocking(self.0.release.clone()).map(drop)
    }
}

impl std::ops::Deref for BlockingGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.0
    }
}
