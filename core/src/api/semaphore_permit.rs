//! Permits of a semaphore in Rust: a guard that gives them back.

use std::fmt::{Debug, Formatter};

use crate::api::debug;
use crate::api::operation::unsigned;
use crate::api::permit::Lent;
use crate::client::Client;
use crate::request::error::Result;
use crate::request::{Op, Request};

/// Permits of a [`crate::Semaphore`], taken by one acquire. Dropping the guard gives them back too: later, on the I/O
/// thread, and without reporting an error. The permits stay out if the process dies, and
/// behind a [`crate::Client::close`] with [`crate::Holds::Keep`].
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// if let Some(permit) = client.semaphore("workers").try_acquire(2).await? {
///     println!("{} at once", permit.count());
///     permit.release().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "the permits go back as soon as their guard is dropped; give the guard a name, or keep them"]
pub struct SemaphorePermit(Lent);

impl SemaphorePermit {
    pub(crate) fn new(client: &Client, request: &Request) -> Self {
        SemaphorePermit(Lent::new(client, Request { op: Op::GiveBack, ..request.clone() }))
    }

    /// The number of permits.
    pub fn count(&self) -> u64 {
        unsigned(self.0.release.numbers[0])
    }

    /// The name of the semaphore, without the client's prefix.
    pub fn name(&self) -> &str {
        &self.0.release.name
    }

    /// Keeps the permits out, even beyond the end of this process: a [`crate::Semaphore::release`] gives them back. After
    /// [`crate::Client::close`] with [`crate::Holds::Release`] there is nothing to keep: the client has given them back, and a
    /// release would add permits.
    pub fn keep(self) {
        self.0.keep();
    }

    /// Gives the permits back.
    ///
    /// # Errors
    /// `Unavailable` if the server cannot be reached: then the client goes on giving them back, for up to ten minutes and
    /// as long as the client lives. `Closed` after [`crate::Client::close`], which has given them back unless it was
    /// called with [`crate::Holds::Keep`].
    ///
    /// # Cancellation
    /// The call goes on to its end without its future.
    pub async fn release(self) -> Result<()> {
        self.0.give_back().await.map(drop)
    }

    /// As [`SemaphorePermit::release`], without a runtime.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`]; the drop of the guard gives the permits back.
    #[track_caller]
    pub fn release_blocking(self) -> Result<()> {
        self.0.give_back_blocking().map(drop)
    }
}

impl Debug for SemaphorePermit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        debug::object(f, "SemaphorePermit", &self.0.client, &self.0.release).field("count", &self.count()).finish()
    }
}
