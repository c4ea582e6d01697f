//! A hold in Rust: a guard that releases.

use std::time::{Duration, Instant};

use crate::client::Client;
use crate::command::{Answer, Look, Op, Request};
use crate::error::{Error, Loss, Result};

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
        match self.look() {
            Look::Held { .. } => Ok(()),
            Look::Lost(loss) => Err(Error::Lost(Box::new(loss))),
            Look::Gone => {
                let owner = format!("{}:{}", self.client.id(), self.release.owner);
                Err(Error::NotHeld { lock: self.release.name.clone(), owner })
            }
        }
    }

    /// Completes when this is not held any more: with the loss, or with `None` after a release.
    ///
    /// # Cancellation
    /// Dropping the future ends the watch and nothing else.
    pub async fn lost(&self) -> Option<Loss> {
        let watch = Request { op: Op::Watch, ..self.release.clone() };
        match self.client.run(watch).await {
            Err(Error::Lost(loss)) => Some(*loss),
            _ => None,
        }
    }

    pub(crate) fn look(&self) -> Look {
        self.client.look(self.release.hold)
    }

    /// Returns when it has ended, however.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let (client, watch) = (self.client.clone(), Request { op: Op::Watch, ..self.release.clone() });
        async move { drop(client.run(watch).await) }
    }

    /// Has it last for `lease` from now on.
    pub(crate) fn extended(&self, lease: Option<Duration>) -> impl Future<Output = Result<Answer>> + Send + 'static {
        let (client, extend) = (self.client.clone(), Request { op: Op::Extend, lease, ..self.release.clone() });
        async move { client.run(extend).await }
    }

    /// Until when this may be believed to be held, on this machine's clock; `None`: it is lost.
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
