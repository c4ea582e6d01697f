//! The callers of requests that are under way.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::base::presence::{Presence, Present};
use crate::base::scope::Scope;
use crate::config::LONGEST;
use crate::engine::claim::Claim;
use crate::engine::reports;
use crate::engine::stats::Asked;
use crate::engine::traits::{Queue, Traits};
use crate::request::error::{Error, Result};
use crate::request::names::without;
use crate::request::owner::OwnerField;
use crate::request::seat::{Offer, Seat};
use crate::request::{Answer, Done, Request};
use crate::sessions::Sessions;
use crate::sessions::grips::Wish;

/// A caller whose answer comes later: it is answered exactly once, even if the task dies with its runtime.
pub struct Caller {
    pub sessions: Arc<Sessions>,
    pub ticket: u64,
    /// The time at which the caller stops waiting for an answer of the server.
    pub until: Instant,
    /// The number in the answer of a release.
    pub number: i64,
    done: Option<Done>,
    /// The end of the client waits for it.
    _present: Present<Arc<Presence>>,
}

impl Caller {
    pub fn new(sessions: &Arc<Sessions>, ticket: u64, limit: Duration, done: Done) -> Self {
        Caller {
            sessions: sessions.clone(),
            ticket,
            until: Instant::now() + limit,
            number: 0,
            done: Some(done),
            _present: sessions.io.presence.accompany(),
        }
    }

    /// Gives the caller's `done` back, to a caller that gets its answer at once.
    pub fn take(mut self) -> Done {
        self.done.take().expect("it has no answer yet")
    }

    /// Answers. A caller that releases a lock on this thread while it is answered has the next one answered after it: inside,
    /// that would be a recursion through all waiters.
    pub fn answer(mut self, result: Result<Answer>) {
        let Some(done) = self.done.take() else { return };
        let result = match result {
            Err(Error::Cancelled) => Err(self.sessions.cancelled_error()),
            result => result,
        };
        UNTOLD.with_borrow_mut(|untold| untold.push_back((self, done, result)));
        if TELLS.replace(true) {
            return;
        }
        let _telling = Telling;
        while let Some((caller, done, result)) = UNTOLD.with_borrow_mut(VecDeque::pop_front) {
            done(result);
            drop(caller);
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(Err(self.sessions.cancelled_error()));
        }
    }
}

type Untold = (Caller, Done, Result<Answer>);

thread_local! {
    /// The callers that this thread has still to answer, and whether it is about to.
    static UNTOLD: RefCell<VecDeque<Untold>> = const { RefCell::new(VecDeque::new()) };
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

/// Notes at its drop that this thread answers no caller any more.
struct Telling;

impl Drop for Telling {
    fn drop(&mut self) {
        TELLS.set(false);
        // Some are left only after a panic in a caller's code: no other one waits for that.
        for (caller, done, result) in UNTOLD.take() {
            done(result);
            drop(caller);
        }
    }
}

/// The time that a caller is willing to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    Once,
    Until(Instant),
    Forever,
}

/// An acquire without an answer.
pub struct Waiter {
    pub caller: Caller,
    pub claim: Claim,
    pub traits: &'static Traits,
    /// `None`: the watchdog renews its hold.
    pub lease: Option<Duration>,
    pub patience: Patience,
    /// The wait of the request, for messages.
    pub wait: Option<Duration>,
    pub retry_for: Duration,
    /// The seat of its thread; `None`: it blocks no thread.
    pub seat: Option<Arc<Seat>>,
    /// Its place in the order of arrival; 0: it arrives now.
    pub number: u64,
    /// The value of a candidate.
    pub value: Vec<u8>,
    scope: Scope,
    /// It counts until it has an answer; `None`: it is none for a lock.
    asked: Option<Asked>,
}

impl Wish for Waiter {
    fn is_once(&self) -> bool {
        self.patience == Patience::Once
    }

    fn is_fenced(&self) -> bool {
        self.traits.fenced
    }

    /// A lease of one's own counts from the grant, and a token that a waiter misses is skipped.
    fn seat(&self) -> Option<&Arc<Seat>> {
        let may_miss = self.patience != Patience::Once && self.lease.is_none() && !self.traits.fenced;
        self.seat.as_ref().filter(|_| may_miss)
    }

    fn is_alone(&self) -> bool {
        self.traits.queue == Queue::Alone
    }
}

impl Waiter {
    pub fn new(sessions: &Arc<Sessions>, traits: &'static Traits, ticket: u64, request: &Request, done: Done) -> Self {
        let now = Instant::now();
        let limits = Limits::of(sessions, request);
        let patience = match request.wait {
            Some(Duration::ZERO) => Patience::Once,
            Some(wait) => Patience::Until(now + wait),
            None => Patience::Forever,
        };
        Waiter {
            caller: Caller::new(sessions, ticket, limits.whole(), done),
            claim: Claim::new(traits.name, sessions.config.full_name(request.name.clone()), request.owner),
            traits,
            lease: request.lease,
            patience,
            wait: request.wait,
            retry_for: limits.retry_for,
            seat: None,
            number: 0,
            value: request.texts.first().cloned().unwrap_or_default(),
            scope: Scope::current(),
            asked: sessions.counters.begin(request),
        }
    }

    /// The time at which the line gives up the waiter.
    pub fn deadline(&self) -> Option<Instant> {
        match self.patience {
            Patience::Once => Some(self.caller.until),
            Patience::Until(deadline) => Some(deadline),
            Patience::Forever => None,
        }
    }

    /// The error of an owner that has the lock and asks for more than its kind allows.
    pub fn already_held(&self) -> Error {
        let owner = OwnerField(&self.caller.sessions.uuid, self.claim.owner).to_string();
        Error::AlreadyHeld { lock: self.claim.name.to_string(), owner }
    }

    /// The error of a wait that ended without an answer of the server. `trouble`: the error of the last try, if it failed.
    pub fn unanswered(&self, trouble: Option<Error>) -> Error {
        let silent = || Error::unavailable(self.caller.sessions.config.server(), "is silent", true);
        trouble.unwrap_or_else(silent).during(self.wait.filter(|wait| !wait.is_zero()))
    }

    /// Gives it the lock, and lets running threads take it until the waiter's thread has come for it.
    pub fn offer(self, answer: Answer) {
        match self.seat.clone() {
            Some(seat) => seat.offer(answer, Box::new(OnItsWay(self))),
            None => self.answer(Ok(answer)),
        }
    }

    /// Answers, and logs the answer.
    pub fn answer(self, result: Result<Answer>) {
        self.say(&result);
        self.caller.answer(result);
    }

    pub fn say(&self, came: &Result<Answer>) {
        let sessions = &self.caller.sessions;
        let lock = without(&sessions.config.prefix, &self.claim.name);
        let owner = OwnerField(&sessions.uuid, self.claim.owner);
        reports::acquired(&self.scope, lock, &owner, came.as_ref());
        self.asked.iter().for_each(|asked| asked.over(came.as_ref()));
    }
}

/// A waiter whose lock is on its way to it.
struct OnItsWay(Waiter);

impl Offer for OnItsWay {
    fn accepted(self: Box<Self>) {
        self.0.say(&Ok(Answer { done: true, ..Answer::default() }));
        // The answer is there already.
        drop(self.0.caller.take());
    }

    fn missed(self: Box<Self>) {
        self.0.rejoin();
    }

    fn kept(self: Box<Self>, answer: Answer) {
        self.0.answer(Ok(answer));
    }
}

/// The time limits of a request.
#[derive(Clone, Copy)]
pub struct Limits {
    pub response: Duration,
    pub retry_for: Duration,
}

impl Limits {
    pub fn of(sessions: &Sessions, request: &Request) -> Self {
        Limits {
            response: request.response_timeout.map_or(sessions.config.response_timeout, |time| time.min(LONGEST)),
            retry_for: request.retry_for.map_or(sessions.config.retry_for, |time| time.min(LONGEST)),
        }
    }

    /// The longest time of a call with its repeats.
    pub fn whole(self) -> Duration {
        self.retry_for.max(self.response)
    }
}
