//! Semaphores whose permits have ids and may end by themselves, in Rust.

use crate::api::operation::{Object, Operation, Read, changed, count, done, late, nothing};
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

/// Permits with ids. Any client can give a permit back by its id, once. A permit with an [`Operation::lease`] ends by
/// itself. A permit without one stays out until a call gives it back, even if its process died. A renewed permit ends
/// when its process does.
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
    /// Sets the number of permits, unless it is set; true: this call set it.
    pub fn try_set_permits(&self, permits: i64) -> Operation<bool> {
        self.ask(Op::TrySet, &[permits], changed)
    }

    /// Sets the number of permits, including those that are out. With too many out, the number of available permits is
    /// below zero.
    pub fn set_permits(&self, permits: i64) -> Operation<()> {
        self.ask(Op::Set, &[permits], nothing)
    }

    /// Adds permits, or removes some for good if the number is negative; gives the number that is available then.
    pub fn add_permits(&self, permits: i64) -> Operation<i64> {
        self.ask(Op::Add, &[permits], count)
    }

    /// The number of available permits; 0 if no call has set them.
    pub fn available(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], count)
    }

    /// The number of permits that are out.
    pub fn acquired(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], |_, _, answer| Ok(answer.items[1]))
    }

    /// The number of all permits, available or out.
    pub fn permits(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], |_, _, answer| {
            Ok(if answer.items[0] == -2 { 0 } else { answer.number + answer.items[1] })
        })
    }

    /// Takes a permit. Waits without end, or as long as [`Operation::wait`] says; then it fails with `NotAcquired`.
    pub fn acquire(&self) -> Operation<Permit> {
        self.ask(Op::Acquire, &[1], |client, request, answer| {
            one(client, request, answer)?.ok_or_else(|| late(client, request))
        })
        .for_ever()
    }

    /// Takes a permit if one is available now, or within [`Operation::wait`]; `None`: there was none.
    pub fn try_acquire(&self) -> Operation<Option<Permit>> {
        self.ask(Op::Acquire, &[1], one)
    }

    /// Takes several permits, all or none; otherwise as [`PermitSemaphore::acquire`].
    pub fn acquire_many(&self, permits: i64) -> Operation<Vec<Permit>> {
        self.ask(Op::Acquire, &[permits], |client, request, answer| {
            several(client, request, answer)?.ok_or_else(|| late(client, request))
        })
        .for_ever()
    }

    /// Takes several permits, all or none; otherwise as [`PermitSemaphore::try_acquire`].
    pub fn try_acquire_many(&self, permits: i64) -> Operation<Option<Vec<Permit>>> {
        self.ask(Op::Acquire, &[permits], several)
    }

    /// As [`PermitSemaphore::acquire`], and the watchdog renews the permit: it ends only with a release or with this
    /// process. With an [`Operation::lease`] the watchdog does not renew it, and the caller still hears of its end.
    pub fn acquire_renewed(&self) -> Operation<RenewedPermit> {
        self.renewed(|client, request, answer| renewed(client, request, answer)?.ok_or_else(|| late(client, request)))
            .for_ever()
    }

    /// As [`PermitSemaphore::try_acquire`], and the watchdog renews the permit.
    pub fn try_acquire_renewed(&self) -> Operation<Option<RenewedPermit>> {
        self.renewed(renewed)
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

    /// Lets a permit last for [`Operation::lease`] from now on, or without end; true: the permit was still out. The
    /// watchdog still renews a renewed permit.
    pub fn update_lease(&self, id: PermitId) -> Operation<bool> {
        self.ask(Op::Extend, &id.halves(), done)
    }

    /// The ms that a permit still lasts, −1 without end; `None`: the permit is not out any more.
    pub fn lease_left(&self, id: PermitId) -> Operation<Option<i64>> {
        self.ask(Op::Lease, &id.halves(), |_, _, answer| Ok(answer.done.then_some(answer.number)))
    }

    /// Deletes the semaphore, with the permits that are out; true: it existed.
    pub fn delete(&self) -> Operation<bool> {
        self.ask(Op::Delete, &[], changed)
    }

    fn ask<T>(&self, op: Op, numbers: &[i64], read: Read<T>) -> Operation<T> {
        Operation::new(&self.0, op, numbers, read)
    }

    fn renewed<T>(&self, read: Read<T>) -> Operation<T> {
        Operation::new(&Object { kind: "permit", ..self.0.clone() }, Op::Acquire, &[], read)
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
