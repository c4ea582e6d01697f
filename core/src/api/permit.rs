//! A permit in Rust: a guard that gives it back.

use std::time::Instant;

use crate::api::guard::Guard;
use crate::client::Client;
use crate::request::error::{Error, Loss, Result};
use crate::request::permit_id::PermitId;
use crate::request::{Answer, Op, Request};

/// A permit. Dropping it gives it back too: later, on the I/O thread, and without reporting an error.
pub struct Permit {
    client: Client,
    release: Option<Request>,
    id: PermitId,
}

impl Permit {
    pub(crate) fn new(client: &Client, request: &Request, id: PermitId) -> Self {
        let release = Request { op: Op::Release, numbers: id.halves().to_vec(), ..request.clone() };
        Permit { client: client.clone(), release: Some(release), id }
    }

    /// The permit's id. Any client can give the permit back by it, or give it another lease.
    pub fn id(&self) -> PermitId {
        self.id
    }

    /// Keeps the permit out: a later call gives it back by this id.
    pub fn keep(mut self) -> PermitId {
        self.release = None;
        self.id
    }

    /// Gives the permit back.
    ///
    /// # Errors
    /// `NoPermit` if the permit is not out any more; `Unavailable` if the server cannot be reached.
    pub async fn release(mut self) -> Result<()> {
        let Some(request) = self.release.take() else { return Ok(()) };
        let answer = self.client.run(request.clone()).await?;
        self.given_back(&request, &answer)
    }

    /// As [`Permit::release`], without a runtime.
    pub fn release_blocking(mut self) -> Result<()> {
        let Some(request) = self.release.take() else { return Ok(()) };
        let answer = self.client.run_blocking(request.clone())?;
        self.given_back(&request, &answer)
    }

    fn given_back(&self, request: &Request, answer: &Answer) -> Result<()> {
        let missing = || Error::NoPermit { lock: request.name.to_string(), permits: self.id.to_string() };
        answer.done.then_some(()).ok_or_else(missing)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            self.client.submit(self.client.ticket(), release, drop);
        }
    }
}

/// A permit that the watchdog renews while this process has it, and that reports its loss. Dropping it gives it back,
/// as with [`Permit`].
pub struct RenewedPermit {
    guard: Guard,
    id: PermitId,
}

impl RenewedPermit {
    pub(crate) fn new(client: &Client, request: &Request, taken: &Answer) -> Self {
        let id = PermitId::first(&taken.items);
        RenewedPermit { guard: Guard::new(client.clone(), request.clone(), taken), id }
    }

    /// As [`Permit::id`]. The permit is lost if another caller gives it back by this id.
    pub fn id(&self) -> PermitId {
        self.id
    }

    /// As [`Guard::ensure`].
    pub fn ensure(&self) -> Result<()> {
        self.guard.ensure()
    }

    /// As [`Guard::lost`].
    pub async fn lost(&self) -> Option<Loss> {
        self.guard.lost().await
    }

    /// As [`Guard::deadline`].
    pub fn deadline(&self) -> Option<Instant> {
        self.guard.deadline()
    }

    /// Gives the permit back.
    ///
    /// # Errors
    /// As [`Guard::release`].
    pub async fn release(self) -> Result<()> {
        self.guard.release().await
    }

    /// As [`RenewedPermit::release`], without a runtime.
    pub fn release_blocking(self) -> Result<()> {
        crate::api::guard::BlockingGuard(self.guard).release()
    }
}
