//! Permits with ids; each ends by itself. Redisson's `getPermitExpirableSemaphore`.
//!
//! Any client that knows the id may use one of [`Permits`]; one owner holds a [`Permit`], and the watchdog renews it.
//! To the server they are the same.

use super::semaphore::{RELEASE as ADD, TRY_SET, channel, live_for, permits, to_waiters};
use super::{Inputs, Kind, PERMITS_AT_ONCE, Wake, at_least};
use crate::redis::kinds::script::{Call, Script, script};
use crate::request::error::{Error, Result};
use crate::request::permit_id::PermitId;
use crate::request::{Op, Request};

static ACQUIRE: Script =
    script!("permit_semaphore/acquire", "_look", "_undo", "_kind", "_number", "permit_semaphore/_permits");
static RELEASE: Script = script!("permit_semaphore/release", "_undo", "permit_semaphore/_permits");
static EXTEND: Script = script!("permit_semaphore/extend", "_undo", "permit_semaphore/_permits");
static RENEW: Script = script!("permit_semaphore/renew", "_look", "permit_semaphore/_permits");
static LEASE: Script = script!("permit_semaphore/lease", "permit_semaphore/_permits");
static INSPECT: Script = script!("permit_semaphore/inspect", "_look", "_kind", "_number", "permit_semaphore/_permits");
static SET: Script = script!("permit_semaphore/set", "_look", "_kind", "_number", "permit_semaphore/_permits");
static DELETE: Script = script!("permit_semaphore/delete", "_once");

/// The permits that are out.
fn leases(name: &str) -> String {
    if name.contains('{') { format!("{name}:timeout") } else { format!("{{{name}}}:timeout") }
}

fn of(script: &'static Script, inputs: &Inputs) -> Call {
    Call::new(script).key("permits", inputs.name).key("leases", leases(inputs.name))
}

fn with(call: Call, ids: impl IntoIterator<Item = PermitId>) -> Call {
    ids.into_iter().fold(call, |call, id| call.bytes("ids…", &id.to_bytes()))
}

/// The ids for an acquire: as many as it asks for, beginning with the owner's own.
fn own(inputs: &Inputs) -> impl Iterator<Item = PermitId> {
    let first = PermitId::of(inputs.owner);
    let count = inputs.numbers.first().copied().unwrap_or(1);
    (0..count).map(move |at| first.after(at))
}

fn acquire(inputs: &Inputs, ids: impl IntoIterator<Item = PermitId>) -> Call {
    with(to_waiters(of(&ACQUIRE, inputs).arg("lease", inputs.lease_ms), inputs).not_after(), ids)
}

fn release(inputs: &Inputs, ids: impl IntoIterator<Item = PermitId>) -> Call {
    with(to_waiters(of(&RELEASE, inputs), inputs).resent().not_after(), ids)
}

/// The operations on the semaphore itself, not on one owner's permits.
fn ask(op: Op, inputs: &Inputs) -> Option<Call> {
    Some(match op {
        Op::TrySet | Op::Add => {
            let call =
                inputs.once(if op == Op::Add { &ADD } else { &TRY_SET }, "permits").arg("count", inputs.number(0));
            to_waiters(call.arg(if op == Op::Add { "existing" } else { "ttl" }, 0), inputs)
                .arg("keep", inputs.keep_ms)
                .not_after()
        }
        Op::Set => to_waiters(of(&SET, inputs).arg("count", inputs.number(0)), inputs).not_after(),
        Op::Inspect => of(&INSPECT, inputs),
        Op::LiveFor => live_for(&Permits, inputs),
        Op::Delete => of(&DELETE, inputs)
            .key("request", &inputs.request)
            .remembered(&inputs.request)
            .arg("keep", inputs.keep_ms)
            .not_after(),
        _ => return None,
    })
}

/// Permits that any client with their ids gives back.
pub struct Permits;

impl Kind for Permits {
    fn check(&self, request: &Request) -> Result<()> {
        let numbers = &request.numbers;
        match request.op {
            Op::Acquire => at_least(1, "permits", request).and_then(|()| at_most(request)),
            Op::TrySet | Op::Set => at_least(0, "permits", request),
            Op::Release if request.hold == 0 && (numbers.is_empty() || numbers.len() % 2 == 1) => {
                Err(Error::config(format!("no permits of `{}` are named; give the ids of one or more", request.name)))
            }
            _ => Ok(()),
        }
    }

    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        Some(match op {
            Op::Acquire => acquire(inputs, own(inputs)),
            Op::Release if inputs.numbers.len() < 2 => release(inputs, own(inputs)),
            Op::Release => release(inputs, PermitId::all(inputs.numbers)),
            Op::Extend => {
                let call = of(&EXTEND, inputs)
                    .arg("lease", inputs.lease_ms)
                    .bytes("id", &PermitId::first(inputs.numbers).to_bytes());
                to_waiters(call, inputs).not_after()
            }
            Op::Lease => Call::new(&LEASE)
                .key("leases", leases(inputs.name))
                .bytes("id", &PermitId::first(inputs.numbers).to_bytes()),
            op => return ask(op, inputs),
        })
    }

    fn wants(&self, numbers: &[i64]) -> u64 {
        permits(numbers)
    }

    fn undo(&self, inputs: &Inputs) -> Option<Call> {
        Some(release(inputs, own(inputs)))
    }

    fn keys(&self, name: &str) -> Vec<String> {
        vec![name.to_owned(), leases(name)]
    }

    fn named(&self, owner: &str) -> Vec<i64> {
        PermitId::of(owner).halves().to_vec()
    }

    fn shared_key(&self, name: &str) -> Option<String> {
        Some(leases(name))
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}

/// One permit that an owner holds.
pub struct Permit;

impl Kind for Permit {
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call> {
        Some(match op {
            Op::Acquire => acquire(inputs, [PermitId::of(inputs.owner)]),
            Op::Release => release(inputs, [PermitId::of(inputs.owner)]),
            Op::Inspect => of(&INSPECT, inputs),
            // The other operations are about the semaphore, see Permits.
            _ => return None,
        })
    }

    fn named(&self, owner: &str) -> Vec<i64> {
        PermitId::of(owner).halves().to_vec()
    }

    fn shared_key(&self, name: &str) -> Option<String> {
        Some(leases(name))
    }

    fn renew(&self, _: &str, lease_ms: u64, exact: bool) -> Option<Call> {
        Some(Call::new(&RENEW).arg("lease", lease_ms).arg("exact", u8::from(exact)).not_after())
    }

    fn renew_also(&self, call: &mut Call, client: &str, name: &str, owner: i64) {
        call.also("leases…", &leases(name), "ids…", &PermitId::new(client, owner).to_bytes());
    }

    fn wake(&self, name: &str, _: &str) -> Wake {
        Wake::message(channel(name))
    }
}

fn at_most(request: &Request) -> Result<()> {
    match request.numbers[0] {
        count if count > PERMITS_AT_ONCE => Err(Error::config(format!(
            "the permits of `{}` are {count}, the most at once are {PERMITS_AT_ONCE}; take them in parts",
            request.name
        ))),
        _ => Ok(()),
    }
}
