//! A permit in Rust: a guard that gives it back.

use std::fmt::{Debug, Formatter};

use crate::api::debug;
use crate::api::guard::{BlockingGuard, Guard};
use crate::api::spans;
use crate::base::blocking;
use crate::base::presence::{Presence, Present};
use crate::base::scope::Scope;
use crate::client::Client;
use crate::client::hold::inherited;
use crate::request::error::{Error, Result};
use crate::request::permit_id::PermitId;
use crate::request::{Answer, Op, Request};

/// Permits that are out, and the request that gives them back. Dropping it does so: later, on the I/O thread.
pub(crate) struct Lent {
    pub client: Client,
    pub release: Request,
    /// The span of the hold.
    scope: Scope,
    /// As in [`crate::client::hold::Hold`].
    process: u32,
    /// Where the client has noted them for its end; `None`: they are on their way back, or stay out.
    place: Option<usize>,
}

impl Lent {
    pub fn new(client: &Client, release: Request) -> Self {
        let scope = spans::held(client, &release, None);
        let place = client.lends(&release);
        let lent = Lent { client: client.clone(), release, scope, process: std::process::id(), place };
        if place.is_none() {
            lent.scope.enter(|| client.give_up(lent.release.clone()));
        }
        lent
    }

    pub fn keep(mut self) {
        let place = self.place.take();
        let _ = self.take_over(place);
    }

    /// From now on they are no business of the end of the client. They can go back until the drop of the result.
    fn take_over(&self, place: Option<usize>) -> Result<Present<&Presence>> {
        inherited(self.process, &self.release)?;
        let present = place.and_then(|place| self.client.lends_no_more(place));
        present.ok_or_else(|| Error::Closed { server: self.client.server() })
    }

    pub async fn give_back(mut self) -> Result<Answer> {
        let place = self.place.take();
        let running = {
            let _present = self.take_over(place)?;
            self.scope.enter(|| self.client.begin(self.release.clone()))
        };
        self.scope.around(running.end()).await
    }

    #[track_caller]
    pub fn give_back_blocking(mut self) -> Result<Answer> {
        blocking::check(|| format!("`{}`", self.release.name));
        let place = self.place.take();
        let _present = self.take_over(place)?;
        self.scope.enter(|| self.client.run_blocking(self.release.clone()))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let place = self.place.take();
        if let (Some(_), Ok(_present)) = (place, self.take_over(place)) {
            self.scope.enter(|| self.client.give_up(self.release.clone()));
        }
    }
}

/// A permit with an id. Dropping it gives it back too: later, on the I/O thread, and without reporting an error. So does
/// the end of its client by [`crate::Client::close`] with [`crate::Holds::Release`].
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let downloads = client.permit_semaphore("downloads");
/// let permit = downloads.acquire().await?;
/// let id = permit.keep();
/// downloads.release(id).await // in any program that knows the id
/// # }
/// ```
#[must_use = "the permit goes back as soon as it is dropped; give it a name, or keep it"]
pub struct Permit {
    lent: Lent,
    id: PermitId,
}

impl Permit {
    pub(crate) fn new(client: &Client, request: &Request, id: PermitId) -> Self {
        let release = Request { op: Op::GiveBack, numbers: id.halves().to_vec(), ..request.clone() };
        Permit { lent: Lent::new(client, release), id }
    }

    /// The permit's id. Any client can give the permit back by it, or give it another lease.
    pub fn id(&self) -> PermitId {
        self.id
    }

    /// The name of the semaphore, without the client's prefix.
    pub fn name(&self) -> &str {
        &self.lent.release.name
    }

    /// Keeps the permit out, even beyond the end of this process: a later call gives it back by this id, or its lease
    /// ends. After [`crate::Client::close`] with [`crate::Holds::Release`] there is nothing to keep: the client has given the
    /// permit back.
    pub fn keep(self) -> PermitId {
        self.lent.keep();
        self.id
    }

    /// Gives the permit back.
    ///
    /// # Errors
    /// `NoPermit` if the permit is not out any more; `Unavailable` if the server cannot be reached: then the client goes
    /// on giving it back, for as long as the client lives; `Closed` after [`crate::Client::close`], which has given it back
    /// unless it was called with [`crate::Holds::Keep`].
    ///
    /// # Cancellation
    /// The call goes on to its end without its future.
    pub async fn release(self) -> Result<()> {
        let Permit { lent, id } = self;
        let missing = no_permit(&lent, id);
        lent.give_back().await?.done.then_some(()).ok_or(missing)
    }

    /// As [`Permit::release`], without a runtime.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`]; the drop of the permit gives it back.
    #[track_caller]
    pub fn release_blocking(self) -> Result<()> {
        let Permit { lent, id } = self;
        let missing = no_permit(&lent, id);
        lent.give_back_blocking()?.done.then_some(()).ok_or(missing)
    }
}

fn no_permit(lent: &Lent, id: PermitId) -> Error {
    Error::NoPermit { lock: lent.release.name.to_string(), permits: id.to_string() }
}

impl Debug for Permit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Lent { client, release, .. } = &self.lent;
        let mut shown = debug::object(f, "Permit", client, release);
        shown.field("id", &format_args!("{}", self.id));
        if let Some(lease) = release.lease {
            shown.field("lease", &lease);
        }
        shown.finish()
    }
}

/// A permit that the watchdog renews while this process has it, and that reports its loss by the methods of [`Guard`].
/// Dropping it gives it back, as with [`Permit`].
///
/// ```no_run
/// # async fn copy() {}
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let permit = client.permit_semaphore("downloads").acquire_renewed().await?;
/// permit.run(copy()).await?; // `Lost` as soon as the permit is lost
/// permit.release().await
/// # }
/// ```
#[must_use = "the permit goes back as soon as it is dropped; give it a name, or keep it"]
pub struct RenewedPermit {
    guard: Guard,
    id: PermitId,
}

impl RenewedPermit {
    pub(crate) fn new(client: &Client, request: &Request, taken: &Answer) -> Self {
        // The items are no token.
        let hold = Answer { number: taken.number, ..Answer::default() };
        let id = PermitId::first(&taken.items);
        RenewedPermit { guard: Guard::new(client.clone(), request.clone(), &hold), id }
    }

    /// As [`Permit::id`]. The permit is lost if another caller gives it back by this id.
    pub fn id(&self) -> PermitId {
        self.id
    }

    /// Keeps the permit out, as [`Guard::keep`] keeps a hold: the watchdog renews it until the client ends, or a call
    /// gives it back by this id.
    pub fn keep(self) -> PermitId {
        self.guard.keep();
        self.id
    }

    /// Gives the permit back.
    ///
    /// # Errors
    /// As [`Guard::release`].
    ///
    /// # Cancellation
    /// As [`Guard::release`].
    pub async fn release(self) -> Result<()> {
        self.guard.release().await
    }

    /// As [`RenewedPermit::release`], without a runtime.
    ///
    /// # Panics
    /// As [`Permit::release_blocking`].
    #[track_caller]
    pub fn release_blocking(self) -> Result<()> {
        BlockingGuard(self.guard).release()
    }
}

impl std::ops::Deref for RenewedPermit {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl Debug for RenewedPermit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.guard.show(f, "RenewedPermit", Some(self.id))
    }
}
