//! One lock of one client. It turns an operation into a script call, sends that until its outcome is known, and turns
//! the reply into an answer.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout_at;

use crate::base::clock::Instant;
use crate::base::scope::Scope;
use crate::config::LONGEST;
use crate::engine::claim::Claim;
use crate::engine::gate::Entry;
use crate::engine::holds::{Meant, SHORT, believed};
use crate::engine::pace::Busy;
use crate::engine::reports;
use crate::engine::word::AN_ANSWER;
use crate::redis::Redis;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::kinds::{self, Inputs, KindRow, PERMITS_AT_ONCE, Queue};
use crate::redis::link::Outcome;
use crate::redis::settle::RetryLimits;
use crate::request::error::{Error, Result};
use crate::request::names::without;
use crate::request::owner::owner_field;
use crate::request::{Answer, Op, Request};

pub use crate::redis::wait::release::Releasing;
pub use crate::redis::wait::take::InFlight;

/// The least time for which the server remembers a call that leaves no other trace: most outages are shorter.
const KEEP: Duration = Duration::from_secs(600);
/// The most tokens to draw for waiters at once: in a turn of the usual time no more get the lock.
const MOST_SPARE: usize = 1000;
/// The most semaphores without permits about which a client warns.
const MOST_UNSET: usize = 1000;

#[derive(Clone)]
pub struct Target {
    pub redis: Arc<Redis>,
    pub row: &'static KindRow,
    pub claim: Claim,
    pub owner: Arc<str>,
    /// The number in `owner`.
    pub number: i64,
    /// The field under which the server keeps the owner's holds; `None`: its own.
    pub grip: Option<Arc<str>>,
    pub lease: Duration,
    pub response: Duration,
    pub retry_for: Duration,
    /// The wait of its acquire, see [`Request::wait`].
    pub wait: Option<Duration>,
    /// See [`Request::endless`].
    pub endless: bool,
    /// See [`Request::member`].
    pub member: bool,
    /// See [`Request::last`].
    pub last: bool,
    /// The caller of its acquire never had the hold, so that its release does not count.
    pub unseen: bool,
    /// The numbers and texts of the request, see [`Op`].
    pub numbers: Arc<[i64]>,
    pub texts: Arc<[Vec<u8>]>,
    /// The scope of the caller, for reports about the operation.
    pub scope: Scope,
}

/// The result of an acquire's call.
pub enum Attempt {
    Taken(Answer),
    Busy(Busy),
    /// The lease of what the server has granted was over for the client when it heard of that. Nothing tells whether another owner has the lock.
    Late,
}

/// The outcome of a call that the caller's thread has sent, and the time of the sending.
pub type Sending = (Outcome, Instant);

impl Attempt {
    /// `left`: the time that the key still lives; no permit is available meanwhile.
    pub fn busy(left: Option<Duration>) -> Self {
        Attempt::Busy(Busy { left, available: 0 })
    }
}

impl Target {
    pub fn new(redis: &Arc<Redis>, request: &Request) -> Result<Self> {
        let claim = Claim::new(request.kind, redis.config.full_name(request.name.clone()), request.owner);
        let row = kinds::find(claim.kind)
            .ok_or_else(|| Error::config(format!("there is no kind of lock `{}`", request.kind)))?;
        row.kind.check(request)?;
        let without = if row.traits.held { redis.config.watchdog } else { Duration::ZERO };
        let target = Target::of(redis, row, claim, request.lease.unwrap_or(without));
        let target = if row.traits.held { target } else { target.of_request(request) };
        let response = request.response_timeout.map_or(target.response, |time| time.min(LONGEST));
        let retry_for = request.retry_for.map_or(target.retry_for, |time| time.min(LONGEST));
        // All targets without numbers or texts share one empty list.
        let numbers = if request.numbers.is_empty() { Arc::default() } else { request.numbers.as_slice().into() };
        let texts = if request.texts.is_empty() { Arc::default() } else { request.texts.as_slice().into() };
        Ok(Target {
            response,
            retry_for,
            numbers,
            texts,
            wait: request.wait,
            endless: request.is_endless(),
            member: request.member,
            last: request.last,
            scope: Scope::current(),
            ..target
        })
    }

    pub fn of(redis: &Arc<Redis>, row: &'static KindRow, claim: Claim, lease: Duration) -> Self {
        let response = redis.config.response_timeout;
        let retry_for = redis.config.retry_for;
        let numbers = Arc::default();
        let texts = Arc::default();
        let owner = owner_field(&redis.uuid, claim.owner);
        let number = claim.owner;
        Target {
            redis: redis.clone(),
            row,
            owner,
            number,
            grip: None,
            claim,
            lease,
            response,
            retry_for,
            wait: Some(Duration::ZERO),
            endless: false,
            member: false,
            last: false,
            unseen: false,
            numbers,
            texts,
            scope: Scope::default(),
        }
    }

    /// The target of a release of that hold, which its owner may have by another kind.
    pub fn of_meant(self, meant: Meant) -> Self {
        if let Meant::Given(_) = meant {
            return self;
        }
        let (claim, _) = self.redis.holds(|holds| holds.meant(&self.claim, meant));
        let row = kinds::find(claim.kind).expect("a kind of which the client has a hold");
        Target { claim, row, ..self }
    }

    /// The same target for work that outlasts the caller, whose span must not stay open for it.
    pub fn of_no_caller(&self) -> Self {
        Target { scope: Scope::default(), ..self.clone() }
    }

    /// Permits without a holder get their name from the call that takes them, and go back by that name.
    fn of_request(self, request: &Request) -> Self {
        let number = match request.op {
            Op::Acquire => {
                self.redis.numbers(request.numbers.first().map_or(1, |count| (*count).clamp(1, PERMITS_AT_ONCE)))
            }
            _ => request.hold as i64,
        };
        Target { owner: owner_field(&self.redis.uuid, number), number, ..self }
    }

    /// The time limits of a call from now on; `deadline`: the time at which its caller stops waiting.
    pub fn retry_limits(&self, deadline: Option<Instant>) -> RetryLimits {
        self.retry_limits_since(Instant::now(), deadline)
    }

    /// As [`Target::retry_limits`], for a call that began at `since`: the time until now counts.
    pub fn retry_limits_since(&self, since: Instant, deadline: Option<Instant>) -> RetryLimits {
        let retry = since + self.retry_for;
        // There is time to replace a connection that has just closed, even if the wait is very short.
        let give_up = deadline.map_or(retry, |deadline| deadline.max(since + AN_ANSWER).min(retry));
        RetryLimits { response: self.response, give_up, end: deadline }
    }

    /// The time at which the caller of an operation that began at `since` stops waiting. The permits that an acquire
    /// sets first have the acquire's wait; zero, and all other operations, have the limits of the client.
    pub fn end_of(&self, op: Op, since: Instant) -> Option<Instant> {
        self.wait.filter(|wait| op == Op::TrySet && !wait.is_zero()).map(|wait| since + wait)
    }

    /// Tells whether its calls have the time limits of the client.
    pub fn is_as_patient_as_client(&self) -> bool {
        self.response == self.redis.config.response_timeout && self.retry_for == self.redis.config.retry_for
    }

    pub fn inputs(&self) -> Inputs<'_> {
        let name = &*self.claim.name;
        let owner = self.grip.as_deref().unwrap_or(&self.owner);
        let lease_ms = self.lease.as_millis() as u64;
        Inputs {
            name,
            owner,
            lease_ms,
            share_ms: self.redis.config.fair_wait.as_millis() as u64,
            waits: self.waits(),
            forever: self.endless,
            want: 0,
            spare: 0,
            leave: 0,
            next_owner: "",
            next_lease_ms: 0,
            holder: "",
            numbers: &self.numbers,
            texts: &self.texts,
            request: if self.row.traits.held { String::new() } else { self.redis.request(name) },
            keep_ms: self.keep().as_millis() as u64,
        }
    }

    /// The time for which the server remembers a call that leaves no other trace: permits that it took unnoticed can be
    /// given back that long.
    pub fn keep(&self) -> Duration {
        KEEP.max(2 * (self.response + self.retry_for + self.redis.config.watchdog))
    }

    pub fn call(&self, op: Op, inputs: &Inputs) -> Result<Call> {
        let none =
            || Error::Unsupported(format!("the kind {} of `{}` has no {op:?}", self.claim.kind, self.plain_name()));
        self.row.kind.call(op, inputs).ok_or_else(none)
    }

    /// The same target for calls about holds that the server keeps under the field of this owner.
    pub fn through(self, field: i64) -> Self {
        let grip = (field != self.claim.owner).then(|| owner_field(&self.redis.uuid, field));
        Target { grip, ..self }
    }

    /// The number of holds of its owner, as far as this client knows.
    pub fn count(&self) -> u32 {
        if self.row.traits.held { self.redis.holds(|holds| holds.count(&self.claim, Instant::now())) } else { 0 }
    }

    /// The number of holds that the server counts for its owner, by this kind and by others, as far as this client knows.
    pub fn count_with_others(&self) -> u32 {
        if self.row.traits.held {
            self.redis.holds(|holds| holds.count_in(&self.claim, self.claim.owner, Instant::now()))
        } else {
            0
        }
    }

    pub fn acquire_call(&self) -> Result<Call> {
        let count = self.count_with_others();
        let spare = match self.row.traits.fenced {
            true => self.spare(self.redis.lines().waiting(&self.key())),
            false => 0,
        };
        let mut call = self.call(Op::Acquire, &Inputs { want: count + 1, spare, ..self.inputs() })?;
        call.confirmed = call.changes();
        if self.redis.config.quarantine {
            call.grants = call.changes() && count == 0;
            self.redis.link.leased(self.lease);
        }
        Ok(call)
    }

    /// The number of tokens to draw for so many waiters of this client, to which it may hand the lock on.
    pub fn spare(&self, waiting: usize) -> u32 {
        if self.row.traits.fenced && self.is_handed_on() { waiting.min(MOST_SPARE) as u32 } else { 0 }
    }

    /// Tells whether this client hands such a lock on to its waiters without asking the server.
    pub fn is_handed_on(&self) -> bool {
        let redis = &self.redis;
        let is_inside = self.row.traits.queue == Queue::Inside && !self.member;
        is_inside && !redis.config.turn.is_zero() && !redis.link.confirms(&self.claim.name)
    }

    /// Interprets the reply to an acquire sent at `sent`. `None`: the outer holds are lost, so the caller tries for a
    /// first one.
    pub fn acquired(&self, call: &Call, reply: Reply, renewed: bool, sent: Instant) -> Result<Option<Attempt>> {
        Ok(match reply.code {
            Code::Done if !self.row.traits.held => {
                let told = self.told(call, reply)?;
                let named = self.row.kind.named(&self.owner);
                Some(Attempt::Taken(if named.is_empty() {
                    told
                } else {
                    Answer { number: self.number, items: named, ..told }
                }))
            }
            Code::Done => Some(match self.taken(reply, renewed, sent) {
                Some(taken) => Attempt::Taken(taken),
                None => Attempt::Late,
            }),
            Code::NotNow => {
                self.changed_shared();
                let number = |at: usize| reply.numbers.get(at).and_then(|number| u64::try_from(*number).ok());
                if self.wait.is_none() && number(1) == Some(0) {
                    self.warn_unset();
                }
                Some(Attempt::Busy(Busy {
                    left: number(0).map(Duration::from_millis),
                    available: number(2).unwrap_or_default(),
                }))
            }
            Code::AlreadyHeld => {
                return Err(Error::AlreadyHeld { lock: self.claim.name.to_string(), owner: self.owner.to_string() });
            }
            Code::WrongKind => return Err(self.wrong_kind(&reply)),
            Code::Missing | Code::Passed | Code::TooLate => {
                self.missing(self.claim.owner, &reply, sent);
                None
            }
        })
    }

    /// Notes a hold from the `reply` to a call sent at `sent`. `None`: its lease is over already.
    pub fn taken(&self, mut reply: Reply, renewed: bool, sent: Instant) -> Option<Answer> {
        let lease = (!renewed).then_some(self.lease);
        let incarnation = self.redis.link.incarnation();
        let now = Instant::now();
        if self.lease > SHORT && believed(self.lease) <= now - sent {
            return None;
        }
        let drawn = match (self.row.traits.fenced, reply.numbers.as_slice()) {
            (true, [token, spare @ ..]) => Some((*token, spare.first().copied().unwrap_or_default())),
            _ => None,
        };
        let number = self.redis.holds(|holds| {
            let number =
                holds.taken(&self.claim, || self.row.kind.shared_key(&self.claim.name), lease, incarnation, sent, now);
            drawn.inspect(|(token, spare)| holds.fence(number, *token, *spare));
            let is_quiet = |grip| self.redis.gates.are_quiet([grip]);
            holds.supersede(&self.claim, self.row.traits.exclusive, incarnation, sent, now, is_quiet);
            number
        });
        if self.row.traits.queue == Queue::Inside {
            self.redis.lines().change(&self.key(), now, |line| line.pace.taken(sent));
        }
        let named = self.row.kind.named(&self.owner);
        if drawn.is_some() {
            reply.numbers.truncate(1);
        }
        let items = if named.is_empty() { reply.numbers } else { named };
        Some(Answer { done: true, number: number as i64, items, ..Answer::default() })
    }

    /// Has the watchdog look at the holds that live in a key which a call has changed: the server reports nothing more
    /// of that key until then.
    pub fn changed(&self) {
        let shared = self.row.kind.shared_key(&self.claim.name);
        let key = shared.as_deref().unwrap_or(&self.claim.name);
        self.redis.holds(|holds| holds.changed(key, Instant::now()));
    }

    /// As [`Target::changed`], for a call that gave and ended no hold of this client: on its way it may have cleared
    /// away holds that were over, out of a key with many.
    pub fn changed_shared(&self) {
        if let Some(key) = self.row.kind.shared_key(&self.claim.name) {
            self.redis.holds(|holds| holds.changed(&key, Instant::now()));
        }
    }

    /// Logs the result of an acquire.
    pub fn say(&self, came: std::result::Result<&Answer, &Error>) {
        reports::acquired(&self.scope, self.plain_name(), &self.owner, came);
    }

    /// Logs and counts a release. `leave`: the number of holds that the owner keeps.
    pub fn say_released(&self, leave: u32) {
        reports::released(&self.scope, self.plain_name(), &self.owner, leave);
        self.count_released();
    }

    /// Counts a release that its caller has seen, or with which the client goes on.
    pub fn count_released(&self) {
        if !self.unseen {
            self.redis.counters.released();
        }
    }

    /// Warns about a semaphore whose permits were never set, once for each client.
    fn warn_unset(&self) {
        let lock = self.plain_name();
        let is_new = {
            let mut unset = self.redis.unset.lock().expect("nothing panics while it is held");
            unset.len() < MOST_UNSET && unset.insert(self.claim.name.clone())
        };
        if is_new {
            self.scope.report(|| tracing::warn!(
                target: "redlatch::semaphore",
                lock,
                "the permits of `{lock}` were never set, and a caller without a limit waits for them; set them first, or give `wait`"
            ));
        }
    }

    pub fn wrong_kind(&self, reply: &Reply) -> Error {
        kinds::wrong_kind(&self.row.traits, &self.claim.name, reply.text().as_deref())
    }

    /// Notes that the server has no hold of this owner in that field, by the `reply` to a call sent at `sent`.
    pub fn missing(&self, field: i64, reply: &Reply, sent: Instant) {
        let taken = reply.numbers.first() == Some(&1);
        let incarnation = self.redis.link.incarnation();
        self.redis.holds(|holds| holds.missing(&self.claim, field, taken, incarnation, sent, Instant::now()));
    }

    pub async fn enter(&self, retry: RetryLimits) -> Result<Entry> {
        self.enter_as(&self.claim, retry).await
    }

    pub async fn enter_as(&self, claim: &Claim, retry: RetryLimits) -> Result<Entry> {
        let now = Instant::now();
        let late = retry.give_up.max(now + retry.response(now));
        timeout_at(late.into(), self.redis.gates.enter(claim)).await.map_err(|_| self.in_the_way())
    }

    /// The right to send a call about the holds that the owner has, under the field where the server keeps them.
    pub async fn enter_grip(&self, retry: RetryLimits) -> Result<Entry> {
        loop {
            let entry = self.enter_as(&self.grip(), retry).await?;
            if self.is_under(&entry) {
                return Ok(entry);
            }
        }
    }

    /// As [`Target::enter_grip`], now; `None`: another call about them is under way.
    pub fn try_enter_grip(&self) -> Option<Entry> {
        self.redis.gates.try_enter(&self.grip())
    }

    /// The claim under which the server keeps the owner's holds.
    pub fn grip(&self) -> Claim {
        self.claim.of(self.redis.holds(|holds| holds.field(&self.claim)))
    }

    /// Tells whether this is the right to send calls about the owner's holds. While it lasts, they stay under that field.
    pub fn is_under(&self, entry: &Entry) -> bool {
        entry.claim.owner == self.redis.holds(|holds| holds.field(&self.claim))
    }

    /// The lock's name as the program gave it, without the client's prefix.
    pub fn plain_name(&self) -> &str {
        without(&self.redis.config.prefix, &self.claim.name)
    }

    pub fn in_the_way(&self) -> Error {
        let cause = format!("has not carried out an earlier call for `{}`", self.plain_name());
        Error::unavailable(self.redis.config.server(), cause, true)
    }
}
