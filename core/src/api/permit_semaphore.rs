//! Semaphores whose permits have ids and may end by themselves, in Rust.

use std::fmt::{Debug, Formatter};
use std::time::Duration;

use crate::api::operation::{Acquiring, Object, Operation, Read, changed, count, done, late, nothing, unsigned};
use crate::api::permit::{Permit, RenewedPermit};
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::permit_id::PermitId;
use crate::request::{Answer, Op, Request};

impl Client {
    /// The semaphore of this name whose permits have ids and may have leases: Redisson's `getPermitExpirableSemaphore`.
    pub fn permit_semaphore(&self, name: &str) -> PermitSemaphore {
        PermitSemaphore(Object { client: self.clone(), kind: "permit_semaphore", name: name.into() })
    }
}

/// Permits with ids. Any client can give a permit back by its id, once. A permit with an [`Acquiring::lease`] ends by
/// itself. A permit without one stays out until a call gives it back, even if its process died. A renewed permit ends
/// when its process does.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let downloads = client.permit_semaphore("downloads");
/// downloads.try_set_permits(3).await?; // without this there are none, and every acquire waits
/// let permit = downloads.acquire().lease(Duration::from_secs(60)).await?;
/// println!("under permit {}", permit.id());
/// permit.release().await // dropping it gives it back as well
/// # }
/// ```
///
/// The client serves its waiters in the order in which they came. A waiter that wants more permits than are available
/// does not block one that wants fewer, see [`crate::Semaphore`]. Before a call sets the permits there are none, and an
/// acquire waits. Only permits that are out tell this semaphore from a [`Client::semaphore`] of the same name: do not
/// mix them.
///
/// The server may have carried out a call that ends with `Unavailable`; permits that such an acquire may have taken go
/// back.
#[derive(Clone)]
pub struct PermitSemaphore(Object);

impl PermitSemaphore {
    /// The lease of a permit that does not end by itself: longer than any other. An `Instant` plus this time panics.
    pub const NO_END: Duration = Duration::MAX;

    /// Sets the number of permits, unless it is set; true: this call set it.
    pub fn try_set_permits(&self, permits: u64) -> Operation<bool> {
        self.counting(Op::TrySet, permits, changed)
    }

    /// Sets the number of permits, including those that are out. With too many out, none is available, and the next
    /// ones that come back are removed.
    pub fn set_permits(&self, permits: u64) -> Operation<()> {
        self.counting(Op::Set, permits, nothing)
    }

    /// Adds permits; gives the number that is available then.
    pub fn add_permits(&self, permits: u64) -> Operation<u64> {
        self.counting(Op::Add, permits, count)
    }

    /// Removes permits for good; gives the number that is available then. If more are removed than are available, the
    /// next ones that come back are removed too.
    pub fn remove_permits(&self, permits: u64) -> Operation<u64> {
        self.counting(Op::Add, permits, count).negated()
    }

    /// The number of available permits; 0 if no call has set them.
    pub fn available(&self) -> Operation<u64> {
        self.ask(Op::Inspect, &[], count)
    }

    /// The number of permits that are out.
    pub fn acquired(&self) -> Operation<u64> {
        self.ask(Op::Inspect, &[], |_, _, answer| Ok(unsigned(answer.items[1])))
    }

    /// The number of all permits, available or out.
    pub fn permits(&self) -> Operation<u64> {
        self.ask(Op::Inspect, &[], |_, _, answer| {
            Ok(if answer.items[0] == -2 { 0 } else { unsigned(answer.number + answer.items[1]) })
        })
    }

    /// Takes a permit. Waits without end, or as long as [`Acquiring::wait`] says; then it fails with `NotAcquired`.
    pub fn acquire(&self) -> Acquiring<Permit> {
        let read: Read<_> =
            |client, request, answer| one(client, request, answer)?.ok_or_else(|| late(client, request));
        Acquiring(self.counting(Op::Acquire, 1, read).for_ever())
    }

    /// Takes a permit if one is available now, or within [`Acquiring::wait`]; `None`: there was none.
    pub fn try_acquire(&self) -> Acquiring<Option<Permit>> {
        Acquiring(self.counting(Op::Acquire, 1, one))
    }

    /// Takes several permits, all or none; otherwise as [`PermitSemaphore::acquire`]. They go back with the list: the
    /// compiler does not warn of a list without a name, see [`crate::Guard`].
    pub fn acquire_many(&self, permits: u64) -> Acquiring<Vec<Permit>> {
        let read: Read<_> =
            |client, request, answer| several(client, request, answer)?.ok_or_else(|| late(client, request));
        Acquiring(self.counting(Op::Acquire, permits, read).for_ever())
    }

    /// Takes several permits, all or none; otherwise as [`PermitSemaphore::try_acquire`].
    pub fn try_acquire_many(&self, permits: u64) -> Acquiring<Option<Vec<Permit>>> {
        Acquiring(self.counting(Op::Acquire, permits, several))
    }

    /// As [`PermitSemaphore::acquire`], and the watchdog renews the permit: it ends only with a release or with this
    /// process. With an [`Acquiring::lease`] the watchdog does not renew it, and the caller still hears of its end.
    pub fn acquire_renewed(&self) -> Acquiring<RenewedPermit> {
        let read: Read<_> =
            |client, request, answer| renewed(client, request, answer)?.ok_or_else(|| late(client, request));
        Acquiring(self.renewed(read).for_ever())
    }

    /// As [`PermitSemaphore::try_acquire`], and the watchdog renews the permit.
    pub fn try_acquire_renewed(&self) -> Acquiring<Option<RenewedPermit>> {
        Acquiring(self.renewed(renewed))
    }

    /// Gives a permit back; any client may have taken it.
    ///
    /// # Errors
    /// `NoPermit` if the permit is not out any more.
    pub fn release(&self, id: PermitId) -> Operation<()> {
        self.ask(Op::Release, &id.halves(), given_back)
    }

    /// Gives a permit back if it is still out; true: it was.
    pub fn try_release(&self, id: PermitId) -> Operation<bool> {
        self.ask(Op::Release, &id.halves(), done)
    }

    /// Gives several permits back, all or none.
    ///
    /// # Errors
    /// `NoPermit` if one of them is not out any more; `Config` if the list is empty.
    pub fn release_many(&self, ids: &[PermitId]) -> Operation<()> {
        self.ask(Op::Release, &halves(ids), given_back)
    }

    /// Gives several permits back if all of them are still out, else none; true: they were.
    pub fn try_release_many(&self, ids: &[PermitId]) -> Operation<bool> {
        self.ask(Op::Release, &halves(ids), done)
    }

    /// Lets a permit last for `lease` from now on, or without end ([`PermitSemaphore::NO_END`]); true: the permit was
    /// still out. The watchdog still renews a renewed permit.
    pub fn update_lease(&self, id: PermitId, lease: Duration) -> Operation<bool> {
        let lease = Some(lease).filter(|lease| *lease != Self::NO_END);
        self.ask(Op::Extend, &id.halves(), done).with(|request| request.lease = lease)
    }

    /// The time that a permit still lasts, [`PermitSemaphore::NO_END`] if it does not end by itself; `None`: the permit
    /// is not out any more. Ask for that case before adding the time to an `Instant`.
    pub fn lease_left(&self, id: PermitId) -> Operation<Option<Duration>> {
        self.ask(Op::Lease, &id.halves(), |_, _, answer| {
            let left = || u64::try_from(answer.number).map_or(Self::NO_END, Duration::from_millis);
            Ok(answer.done.then(left))
        })
    }

    /// Deletes the semaphore, with the permits that are out; true: it existed.
    pub fn delete(&self) -> Operation<bool> {
        self.ask(Op::Delete, &[], changed)
    }

    fn ask<T>(&self, op: Op, numbers: &[i64], read: Read<T>) -> Operation<T> {
        Operation::new(&self.0, op, numbers, read)
    }

    fn counting<T>(&self, op: Op, permits: u64, read: Read<T>) -> Operation<T> {
        Operation::counting(&self.0, op, permits, read)
    }

    fn renewed<T>(&self, read: Read<T>) -> Operation<T> {
        Operation::new(&Object { kind: "permit", ..self.0.clone() }, Op::Acquire, &[], read)
    }
}

impl Debug for PermitSemaphore {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "PermitSemaphore")
    }
}

fn halves(ids: &[PermitId]) -> Vec<i64> {
    ids.iter().flat_map(|id| id.halves()).collect()
}

fn several(client: &Client, request: &Request, answer: Answer) -> Result<Option<Vec<Permit>>> {
    let first = PermitId::from_halves(
        answer.items.first().copied().unwrap_or_default(),
        answer.items.get(1).copied().unwrap_or_default(),
    );
    let permit = |at| Permit::new(client, request, first.after(at));
    Ok(answer.done.then(|| (0..request.numbers[0]).map(permit).collect()))
}

fn one(client: &Client, request: &Request, answer: Answer) -> Result<Option<Permit>> {
    Ok(several(client, request, answer)?.and_then(|mut permits| permits.pop()))
}

fn renewed(client: &Client, request: &Request, answer: Answer) -> Result<Option<RenewedPermit>> {
    Ok(answer.done.then(|| RenewedPermit::new(client, request, &answer)))
}

fn given_back(_: &Client, request: &Request, answer: Answer) -> Result<()> {
    let ids: Vec<_> = PermitId::all(&request.numbers).map(|id| id.to_string()).collect();
    let missing = || Error::NoPermit { lock: request.name.to_string(), permits: ids.join(", or ") };
    answer.done.then_some(()).ok_or_else(missing)
}
