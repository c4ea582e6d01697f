//! The requests of a binding and the answers of a client: [`Request`] and [`Answer`].
//!
//! `ffi::Border` over these two types is the border of every language; nothing else crosses it.

use std::sync::Arc;
use std::time::Duration;

use crate::request::error::{Error, Loss, Result};
use crate::request::names::{LEADER, check_name, check_value};

pub mod completions;
pub mod error;
pub mod inventory;
pub mod names;
pub mod owner;
pub mod permit_id;
pub mod seat;
pub mod shown;

/// The longest lease: a hundred years. Longer ones overflow the server's clock.
pub const LEASE_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// The bindings' own counters give out numbers from here on; callers are free to use smaller ones.
pub const OWN_OWNERS: i64 = 1 << 40;

/// One operation on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Takes the lock. `Answer::number` is the hold's number, for [`Op::Release`] and `Client::look`; with a fenced
    /// lock `items` is `[token]`. A lock whose waiters poll takes the ms between two tries from `Request::numbers`, and
    /// repeats the last one. Of a semaphore it takes `Request::numbers[0]` permits. Of a latch it takes nothing, and is
    /// done once the latch is open. Of permits with ids, `items` is the first id in two halves ([`crate::PermitId`]),
    /// and the other ids follow it in a row; without a lease they have no end, but the watchdog renews a `permit`. A leader's
    /// value is `Request::texts[0]`. The kind `leader_watch` waits until the leader is another one than `Request::texts[0]`
    /// names, or none: `Answer::number` is the new one's token, 0 if it has none, and `Answer::texts` are the text for the
    /// next such request and, of a leader of ours, the value.
    Acquire = 1,
    /// Gives one hold back. `Answer::number` is the number of holds that this owner keeps. Of a semaphore it gives back
    /// `Request::numbers[0]` permits; `Answer::number` is the number that is available then. Of permits with ids it
    /// gives back those that the acquire `Request::hold` took, with its numbers; if `hold` is 0, those whose ids are in
    /// `numbers`, each in two halves. It is not `done` if one of them is not out any more, and `Answer::number` is the
    /// number that it gave back.
    Release = 2,
    /// Takes the lock away from its holder. `Answer::number` is 1 if there was one. On Redis `Request::texts[0]` names the
    /// holder, `<client uuid>:<owner>` and `:write` behind that of a writer: if another one has the lock it stays, and
    /// `Answer::number` is 0.
    ForceRelease = 3,
    /// Looks at the lock. `Answer::number` is its remaining time in ms (−1: no end, −2: free). `items` is `[count of
    /// the owner's holds]`, with a fenced lock `[count, token]`: the latest token. Of a semaphore or a latch
    /// `Answer::number` is its count and `items` is `[remaining ms]` (−1: no end, −2: it does not exist); of permits
    /// with ids `[remaining ms, permits that are out]`. Of a leader `items` is `[count, token]`, with the token of the
    /// present term, 0 if it has none, and `Answer::texts` are its holder, empty if there is none, and the value.
    Inspect = 4,
    /// Asks the server for a sign of life, and waits for nothing else.
    Ping = 5,
    /// Waits until the hold `Request::hold` has ended: `Error::Lost` if it was lost, an answer that is not `done` if
    /// its owner released it.
    Watch = 6,
    /// Listens for the end of the key's time. The first request has `Request::hold` 0. It is answered once the server
    /// has confirmed the subscription, with its number in `Answer::number`, for `Request::hold` of the next requests.
    /// These wait for events, and their answer is the number of events since the last answer, so that no event in
    /// between is missed. A request with a `wait` of zero, or a cancelled one, ends the subscription. It is
    /// `Unsupported` if the server is not set up to publish such events. Events that happen while the connection is
    /// lost do not count.
    Expiry = 7,
    /// Listens for deletions of the key, as [`Op::Expiry`].
    Deletion = 8,
    /// Lets the hold `Request::hold` last for `Request::lease` from now on, longer or shorter. If its owner has other
    /// holds of the lock, or the watchdog renews it, it lasts at least as long as before. Of permits with ids: the one
    /// whose id is `Request::numbers`, in two halves; without a lease it has no end. It is not `done` if that permit is
    /// not out any more.
    Extend = 9,
    /// Sets the permits of a semaphore, or the count of a latch, to `Request::numbers[0]`, unless it has some. A second
    /// number is the ms that a semaphore lives, 0 without end. `Answer::number` is 1 if this call set it. A
    /// `Request::wait` above zero is the time that its caller waits for the answer, for an acquire that comes after it.
    TrySet = 10,
    /// Adds `Request::numbers[0]` permits, or takes them away. `Answer::number` is the number that is available then.
    Add = 11,
    /// Takes all available permits. `Answer::number` is their number.
    Drain = 12,
    /// Lowers the count of a latch by one. `Answer::number` is the new count.
    CountDown = 13,
    /// As [`Op::Release`] of a semaphore, and not `done` if the semaphore does not exist.
    ReleaseIfExists = 14,
    /// Deletes the keys of a semaphore or a latch. `Answer::number` is 1 if it existed.
    Delete = 15,
    /// Lets the keys of a semaphore or a latch live for `Request::numbers[0]` ms, 0 without end. `Answer::number` is 1
    /// if that changed their end. A second number is the condition: 0 none, 1 the keys have no end, 2 they have one, 3
    /// they have an earlier one, 4 they have a later one or none. With a third number of 1 the ms count from 1970.
    LiveFor = 16,
    /// Sets the number of permits to `Request::numbers[0]`, including those that are out. `Answer::number` is the
    /// number that is available then.
    Set = 17,
    /// Tells how long the permit lasts whose id is `Request::numbers`, in two halves. `Answer::number` is its remaining
    /// ms, −1 without end; not `done`: it is not out any more.
    Lease = 18,
    /// Carries out an operation on keys of any kind: `Request::texts[0]` names an action of the table in
    /// `redis/ops/keys.rs`, and the other texts are the arguments of its command besides the keys of the object
    /// `Request::name`. `Answer::number` is the number in the reply, `Answer::texts` are the texts in it.
    Keys = 19,
    /// As [`Op::Release`] of the hold `Request::hold`, for a hold whose caller never had it: the caller was gone when
    /// the hold came. If a release without a number has taken that hold in place of an earlier one of its owner, the
    /// earlier one ends instead. A hold that was lost, or that the client does not know, is no error: the answer is not
    /// `done`. Of permits that are no holds: as [`Op::Release`], and if the server does not answer in time, the client
    /// goes on giving them back after the error, so no caller gives them back again.
    GiveBack = 20,
    /// Lists the locks whose names match the pattern `Request::name`, of any kind, a page at a time; a name without a wild card
    /// is looked at alone. `Request::texts[0]` is the text that the page before gave, empty for the first page.
    /// `Answer::number` is the number of locks in the page, which may be 0, and `Answer::texts[0]` the text for the next
    /// page, empty after the last one. [`inventory::Page`] has the form of the rest. A lock may come twice. Locks that clients wait
    /// for come first; then a scan of all keys takes at most a tenth of the time of each server.
    Inventory = 21,
    /// Asks each server with keys a question about itself: `Request::texts` are the words of a command that changes nothing, of
    /// the list in `redis/ops/servers.rs`. `Answer::number` is the number of servers, and `Answer::texts` are of each: its
    /// address; `1` if it answered, `0` if it refused, `-` if it did not answer; how many texts follow; and the texts and numbers of its
    /// reply, or the reason.
    Ask = 22,
    /// Renews the hold `Request::hold`, which has a lease of its own, every third of `Request::lease` from now on until the hold has
    /// ended, each time for `Request::lease`. The answer comes at once.
    Renew = 23,
    /// Ends the hold `Request::hold`, and leaves its key at the server until `Request::lease` has passed since the hold began. Without
    /// a lease, or after that time, it releases it. A server that cannot be asked is no error: the client warns of it, and the key
    /// ends with the hold's own lease at the latest.
    LetGo = 24,
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
            20 => Op::GiveBack,
            21 => Op::Inventory,
            22 => Op::Ask,
            23 => Op::Renew,
            24 => Op::LetGo,
            _ => {
                return Err(Error::config(format!(
                    "operation {number} is unknown to this native library; use the one of the same release"
                )));
            }
        })
    }
}

/// Receives the result of a request, once. It may only hand it over: it must never block, and never run a user's code.
pub type Done = Box<dyn FnOnce(Result<Answer>) + Send>;

/// A request of a caller.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// The kind of lock, by its name in `kinds::ALL`: `plain`, …
    pub kind: &'static str,
    /// The object's name, without prefix.
    pub name: Arc<str>,
    /// The owner: unique in this client for each logical holder, and never used again.
    pub owner: i64,
    /// The longest wait. `None` waits without end, zero tries once.
    pub wait: Option<Duration>,
    /// Whether `wait` is one round of a wait without end, as of a member of a group. An owner that would wait for itself
    /// is refused then, as it is without a `wait`.
    pub endless: bool,
    /// Whether the lock is a member of a group: each acquire and release of it is the server's.
    pub member: bool,
    /// Whether no caller can repeat this release: the client goes on with it while the server refuses it.
    pub last: bool,
    /// The lease of the hold. `None`: the watchdog renews the hold until its release.
    pub lease: Option<Duration>,
    /// The hold to release; 0: the owner's latest.
    pub hold: u64,
    /// The numbers that the operation takes, see [`Op`].
    pub numbers: Vec<i64>,
    /// The texts that the operation takes.
    pub texts: Vec<Vec<u8>>,
    /// The time that one call may stay unanswered, at most a year; `None`: the time of the client's configuration.
    pub response_timeout: Option<Duration>,
    /// The time during which the client begins new attempts, at most a year; `None`: the time of the client's
    /// configuration.
    pub retry_for: Option<Duration>,
}

impl Request {
    /// A request without a wait, with a renewed lease; the caller sets the other fields.
    pub fn new(op: Op, kind: &'static str, name: impl Into<Arc<str>>, owner: i64) -> Self {
        Request {
            op,
            kind,
            name: name.into(),
            owner,
            wait: Some(Duration::ZERO),
            endless: false,
            member: false,
            last: false,
            lease: None,
            hold: 0,
            numbers: Vec::new(),
            texts: Vec::new(),
            response_timeout: None,
            retry_for: None,
        }
    }

    pub(crate) fn is_endless(&self) -> bool {
        self.endless || self.wait.is_none()
    }

    /// Refuses names and times that no server could take.
    pub(crate) fn check(&self) -> Result<()> {
        if self.op == Op::Ping || self.op == Op::Keys && self.name.is_empty() {
            return Ok(());
        }
        check_name(&self.name)?;
        if self.kind == LEADER && self.op == Op::Acquire {
            check_value(&self.name, self.texts.first().map_or(&[], Vec::as_slice))?;
        }
        match self.lease {
            Some(lease) if lease < Duration::from_millis(1) || lease > LEASE_MAX => Err(Error::config(format!(
                "the lease of `{}` is {lease:?}, it must be from 1 ms to 100 years; leave it out to have it renewed",
                self.name
            ))),
            _ => Ok(()),
        }
    }
}

/// The result of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// False: not now, because the lock was not free in time. This is an answer, not an error.
    pub done: bool,
    /// The count that the operation gives, see [`Op`].
    pub number: i64,
    /// Further numbers that the operation gives, see [`Op`].
    pub items: Vec<i64>,
    /// The texts of the answer.
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

/// The result of [`Op::GiveBack`], from that of the release.
pub(crate) fn given_back(result: Result<Answer>) -> Result<Answer> {
    match result {
        Err(Error::NotHeld { .. } | Error::Released { .. } | Error::Lost(_)) => Ok(Answer::not_now()),
        result => result,
    }
}

/// A client's own knowledge of a hold, without a question to Redis.
#[derive(Clone, Debug)]
pub enum Look {
    /// The owner holds it for at least this long from now, if no program interferes with the key.
    Held {
        /// The time for which the client still believes in the hold.
        remaining: Duration,
    },
    /// The owner lost it without a release.
    Lost(Loss),
    /// The owner released it, or this client never had it.
    Gone,
}

impl Look {
    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Look::Held { .. })
    }

    pub(crate) fn loss(self) -> Option<Loss> {
        match self {
            Look::Lost(loss) => Some(loss),
            _ => None,
        }
    }

    /// `Ok` if it is held, else the error that says why not; `gone` makes the error for a hold that does not exist.
    pub(crate) fn ensure(self, gone: impl FnOnce() -> Error) -> Result<()> {
        match self {
            Look::Held { .. } => Ok(()),
            Look::Lost(loss) => Err(Error::Lost(Box::new(loss))),
            Look::Gone => Err(gone()),
        }
    }
}
