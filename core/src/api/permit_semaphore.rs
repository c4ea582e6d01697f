//! Semaphores whose permits have ids and may end by themselves, in Rust.

use crate::api::operation::{Object, Operation, Read, changed, count, done, late, nothing};
use crate::api::permit::{Permit, RenewedPermit};
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::permit_id::PermitId;
use crate::request::{Answer, Op, Request};

impl Client {
    /// The semaphore of this name whose permits have ids, and leases if they are asked for: Redisson's `getPermitExpirableSemaphore`.
    pub fn permit_semaphore(&self, name: &str) -> PermitSemaphore {
        PermitSemaphore(Object { client: self.clone(), kind: "permit_semaphore", name: name.to_owned() })
    }
}

/// Permits of which each has an id, and is given back by that, by anybody, once. One with an [`Operation::lease`] ends by itself; one without
/// is out until it is given back, also when its process died; a renewed one ends when its process does.
///
/// The waiters of one client are served in the order in which they came, and one that wants more permits than there are does not stand in
/// the way of one that wants less, see [`crate::Semaphore`]. Until the permits were set there are none, and an acquire waits.
/// Only permits that are out tell this semaphore from one of [`Client::semaphore`] of the same name: do not mix them.
///
/// A call that ends with `Unavailable` may have been carried out; permits that an acquire may have taken then go back.
#[derive(Clone)]
pub struct PermitSemaphore(Object);

impl PermitSemaphore {
    /// Sets the count of permits, unless there is one; true: it did.
    pub fn try_set_permits(&self, permits: i64) -> Operation<bool> {
        self.ask(Op::TrySet, &[permits], changed)
    }

    /// Sets how many permits there are, those that are out among them; with too many out, fewer than none are available.
    pub fn set_permits(&self, permits: i64) -> Operation<()> {
        self.ask(Op::Set, &[permits], nothing)
    }

    /// Adds permits, or takes some away for good; gives what is available then.
    pub fn add_permits(&self, permits: i64) -> Operation<i64> {
        self.ask(Op::Add, &[permits], count)
    }

    /// How many permits are available; 0 if they were never set.
    pub fn available(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], count)
    }

    /// How many permits are out.
    pub fn acquired(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], |_, _, answer| Ok(answer.items[1]))
    }

    /// How many permits there are, available or out.
    pub fn permits(&self) -> Operation<i64> {
        self.ask(Op::Inspect, &[], |_, _, answer| Ok(if answer.items[0] == -2 { 0 } else { answer.number + answer.items[1] }))
    }

    /// Takes a permit, and waits for ever unless it is told to [`Operation::wait`] for less: then `NotAcquired` is its error.
    pub fn acquire(&self) -> Operation<Permit> {
        self.ask(Op::Acquire, &[1], |client, request, answer| one(client, request, answer)?.ok_or_else(|| late(client, request))).for_ever()
    }

    /// Takes a permit if one is available now, or within [`Operation::wait`].
    pub fn try_acquire(&self) -> Operation<Option<Permit>> {
        self.ask(Op::Acquire, &[1], one)
    }

    /// Takes permits, all at once; otherwise as [`PermitSemaphore::acquire`].
    pub fn acquire_many(&self, permits: i64) -> Operation<Vec<Permit>> {
        self.ask(Op::Acquire, &[permits], |client, request, answer| several(client, request, answer)?.ok_or_else(|| late(client, request)))
            .for_ever()
    }

    /// Takes permits, all at once; otherwise as [`PermitSemaphore::try_acquire`].
    pub fn try_acquire_many(&self, permits: i64) -> Operation<Option<Vec<Permit>>> {
        self.ask(Op::Acquire, &[permits], several)
    }

    /// As [`PermitSemaphore::acquire`], and the permit is renewed until it is given back: it ends only when this process does. With an
    /// [`Operation::lease`] it is not renewed, and its end is told all the same.
    pub fn acquire_renewed(&self) -> Operation<RenewedPermit> {
        self.renewed(|client, request, answer| renewed(client, request, answer)?.ok_or_else(|| late(client, request))).for_ever()
    }

    /// As [`PermitSemaphore::try_acquire`], and renewed.
    pub fn try_acquire_renewed(&self) -> Operation<Option<RenewedPermit>> {
        self.renewed(renewed)
    }

    /// Gives a permit back, whoever took it.
    ///
    /// # Errors
    /// `NoPermit` if it is not out any more.
    pub fn release(&self, id: PermitId) -> Operation<()> {
        self.ask(Op::Release, &id.halves(), given_back)
    }

    /// Gives a permit back, if it is still out; true: it was.
    pub fn try_release(&self, id: PermitId) -> Operation<bool> {
        self.ask(Op::Release, &id.halves(), done)
    }

    /// Gives permits back, all or none.
    ///
    /// # Errors
    /// `NoPermit` if one of them is not out any more; `Config` if there are none.
    pub fn release_many(&self, ids: &[PermitId]) -> Operation<()> {
        self.ask(Op::Release, &halves(ids), given_back)
    }

    /// Gives permits back, all or none, if they all are still out; true: they were.
    pub fn try_release_many(&self, ids: &[PermitId]) -> Operation<bool> {
        self.ask(Op::Release, &halves(ids), done)
    }

    /// Has a permit last for [`Operation::lease`] from now on, or without end; true: it was still out. A renewed permit is renewed all the same.
    pub fn update_lease(&self, id: PermitId) -> Operation<bool> {
        self.ask(Op::Extend, &id.halves(), done)
    }

    /// How many ms a permit still lasts, −1 without end; `None`: it is not out any more.
    pub fn lease_left(&self, id: PermitId) -> Operation<Option<i64>> {
        self.ask(Op::Lease, &id.halves(), |_, _, answer| Ok(answer.done.then_some(answer.number)))
    }

    /// Deletes it, with the permits that are out; true: it was there.
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
    let first = PermitId::from_halves(answer.items.first().copied().unwrap_or_default(), answer.items.get(1).copied().unwrap_or_default());
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
    let missing = || Error::NoPermit { lock: request.name.clone(), permits: ids.join(", or ") };
    answer.done.then_some(()).ok_or_else(missing)
}
