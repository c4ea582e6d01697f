//! What a binding can ask of a client, and what it can be told: [`Request`] and [`Answer`].
//!
//! The border of every language is `Client::{start, submit, cancel, close}` over these two types; nothing else crosses it.

use std::time::Duration;

use crate::request::error::{Error, Loss, Result};
use crate::request::names::check_name;

pub mod completions;
pub mod error;
pub mod names;
pub mod owner;
pub mod permit_id;
pub mod shown;

/// The longest lease: a hundred years. Longer ones overflow the server's clock.
pub const LEASE_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Numbers from here on are given out by the bindings' own counters; smaller ones are free for callers.
pub const OWN_OWNERS: i64 = 1 << 40;

/// One operation on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Take the lock. `Answer::number` is the hold's number, for [`Op::Release`] and `Client::look`; with a fenced lock `items` is
    /// `[token]`. A lock that is asked for now and then takes the ms between two tries as `Request::numbers`, the last of them again and
    /// again. Of a semaphore it takes as many permits as `Request::numbers[0]` says; of a latch nothing, once it is open.
    /// Of permits with ids, `items` is the first one's id in two halves ([`crate::PermitId`]), the others follow it; without a lease they have no
    /// end, but a `permit` is renewed.
    Acquire = 1,
    /// Give one hold back. `Answer::number` is the count of holds that this owner keeps. Of a semaphore: give back as many permits as
    /// `Request::numbers[0]` says; `Answer::number` is what is available then. Of permits with ids: those that the acquire `Request::hold` took, with
    /// its numbers; or with `hold` 0 those whose ids `numbers` has, each in two halves. It is not `done` if one of them is not out any more,
    /// and `Answer::number` is how many were given back.
    Release = 2,
    /// Take the lock away from whoever holds it. `Answer::number` is 1 if somebody did.
    ForceRelease = 3,
    /// Look at the lock. `Answer::number` is its remaining time in ms (−1: no end, −2: free), `items` is `[count of the owner's holds]`,
    /// with a fenced lock `[count, token]`: the token that was given out last. Of a semaphore or a latch `Answer::number` is its count and
    /// `items` is `[remaining ms]` (−1: no end, −2: it is not there), of permits with ids `[remaining ms, permits that are out]`.
    Inspect = 4,
    /// Wait for nothing, ask the server for a sign of life.
    Ping = 5,
    /// Wait until the hold `Request::hold` has ended: `Error::Lost` if it was lost, an answer that is not `done` if it was released.
    Watch = 6,
    /// Listen for the end of the key's time. The first request, with `Request::hold` 0, is answered once the server has confirmed it, with
    /// the subscription's number in `Answer::number`, for `Request::hold` of the next ones. Those wait for events and are answered with
    /// their count since the last answer, so that none is missed in between; with a `wait` of zero, or cancelled, they end the subscription.
    /// It is `Unsupported` if the server is not set up to tell of such events. Events while the connection is lost are not told.
    Expiry = 7,
    /// Listen for deletions of the key, as [`Op::Expiry`].
    Deletion = 8,
    /// Have the hold `Request::hold` last for `Request::lease` from now on, longer or shorter. Where its owner has other holds of the lock, or
    /// the watchdog renews it, it lasts at least as long as before. Of permits with ids: the one whose id is `Request::numbers`, in two halves;
    /// without a lease it has no end. It is not `done` if that is not out any more.
    Extend = 9,
    /// Set the permits of a semaphore, or the count of a latch, to `Request::numbers[0]` unless there are any. A second number is the ms that
    /// a semaphore lives, 0 without end. `Answer::number` is 1 if it was set.
    TrySet = 10,
    /// Add `Request::numbers[0]` permits, or take them away. `Answer::number` is what is available then.
    Add = 11,
    /// Take all permits that are available. `Answer::number` is how many.
    Drain = 12,
    /// Count a latch one down. `Answer::number` is what is left.
    CountDown = 13,
    /// As [`Op::Release`] of a semaphore, and not `done` if there is none.
    ReleaseIfExists = 14,
    /// Delete the key of what nobody holds. `Answer::number` is 1 if it was there.
    Delete = 15,
    /// Have the key of what nobody holds live for `Request::numbers[0]` ms, 0 without end. `Answer::number` is 1 if that was changed. A second
    /// number says when: 0 always, 1 if it has no end, 2 if it has one, 3 if it has an earlier one, 4 if it has a later one or none. A third
    /// one of 1: the ms are since 1970.
    LiveFor = 16,
    /// Set how many permits there are, those that are out among them, to `Request::numbers[0]`. `Answer::number` is what is available then.
    Set = 17,
    /// How long the permit lasts whose id is `Request::numbers`, in two halves. `Answer::number` is that in ms, −1 without end; not `done`: it is
    /// not out any more.
    Lease = 18,
    /// What can be done with keys of whatever kind: `Request::numbers[0]` is an action of the table in `redis/ops/keys.rs`, `Request::texts` are what
    /// its command takes besides the keys of the object `Request::name`. `Answer::number` is what the command counts, `Answer::texts` is what else
    /// it says.
    Keys = 19,
}

impl Op {
    /// The operation of a number that came over a language border.
    pub fn from_number(number: i32) -> Result<Self> {
        Ok(match number {
            1 => Op::Acquire,
            2 => Op::Release,
            3 => Op::ForceRelease,
            4 => Op::Inspect,
            5 => Op::Ping,
            6 => Op::Watch,
            7 => Op::Expiry,
            8 => Op::Deletion,
            9 => Op::Extend,
            10 => Op::TrySet,
            11 => Op::Add,
            12 => Op::Drain,
            13 => Op::CountDown,
            14 => Op::ReleaseIfExists,
            15 => Op::Delete,
            16 => Op::LiveFor,
            17 => Op::Set,
            18 => Op::Lease,
            19 => Op::Keys,
            _ => {
                return Err(Error::config(format!(
                    "operation {number} is unknown to this native library; use the one of the same release"
                )));
            }
        })
    }
}

/// Told once of how a request ended. It may only hand over: never block, never run a user's code.
pub type Done = Box<dyn FnOnce(Result<Answer>) + Send>;

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Request {
    pub op: Op,
    /// Which kind of lock, by its name in `kinds::ALL`: `plain`, …
    pub kind: &'static str,
    /// The object's name, without prefix.
    pub name: String,
    /// Who asks: unique in this client for each logical holder, never reused.
    pub owner: i64,
    /// `None` waits for ever, zero tries once.
    pub wait: Option<Duration>,
    /// `None` is renewed by the watchdog until it is released.
    pub lease: Option<Duration>,
    /// Which hold to release; 0: the owner's latest.
    pub hold: u64,
    /// What else the operation takes, see [`Op`].
    pub numbers: Vec<i64>,
    /// The same where it is no number.
    pub texts: Vec<Vec<u8>>,
    /// How long one call may stay unanswered, at most a year; `None`: as the client's configuration has it.
    pub response_timeout: Option<Duration>,
    /// How long new attempts are begun, at most a year; `None`: as the client's configuration has it.
    pub retry_for: Option<Duration>,
}

impl Request {
    /// A request without waiting, with a renewed lease; the other fields are set by the caller.
    pub fn new(op: Op, kind: &'static str, name: impl Into<String>, owner: i64) -> Self {
        Request {
            op,
            kind,
            name: name.into(),
            owner,
            wait: Some(Duration::ZERO),
            lease: None,
            hold: 0,
            numbers: Vec::new(),
            texts: Vec::new(),
            response_timeout: None,
            retry_for: None,
        }
    }

    /// Refuses names and times that no server could take.
    pub(crate) fn check(&self) -> Result<()> {
        if self.op == Op::Ping || self.op == Op::Keys && self.name.is_empty() {
            return Ok(());
        }
        check_name(&self.name)?;
        match self.lease {
            Some(lease) if lease < Duration::from_millis(1) || lease > LEASE_MAX => Err(Error::config(format!(
                "the lease of `{}` is {lease:?}, it must be from 1 ms to 100 years; leave it out to have it renewed",
                self.name
            ))),
            _ => Ok(()),
        }
    }
}

/// What came of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// False: not now (the lock was not acquired in time). An answer, not an error.
    pub done: bool,
    /// What the operation counts, see [`Op`].
    pub number: i64,
    pub items: Vec<i64>,
    /// What is no number.
    pub texts: Vec<Vec<u8>>,
}

impl Answer {
    pub(crate) fn done(number: i64) -> Self {
        Answer { done: true, number, ..Answer::default() }
    }

    pub(crate) fn not_now() -> Self {
        Answer::default()
    }
}

/// What this process knows of a hold, without asking Redis.
#[derive(Clone, Debug)]
pub enum Look {
    /// Held for at least this long from now, if nobody interferes.
    Held { remaining: Duration },
    /// Not held any more, and not because it was released.
    Lost(Loss),
    /// Released, or never one of this client's.
    Gone,
}

impl Look {
    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Look::Held { .. })
    }

    /// Held, or why not; `gone`: what is so when there is no such hold.
    pub(crate) fn ensure(self, gone: impl FnOnce() -> Error) -> Result<()> {
        match self {
            Look::Held { .. } => Ok(()),
            Look::Lost(loss) => Err(Error::Lost(Box::new(loss))),
            Look::Gone => Err(gone()),
        }
    }
}
