//! One lane's line in the history.

use std::time::{Duration, Instant};

use redlatch::{BlockingGuard, Error, Guard, RenewedPermit};
use redlatch_tests::clock::{self, ns};
use redlatch_tests::history::{Event, Section};
use redlatch_tests::traffic::Kind;

use crate::plan::Plan;
use crate::stage::Stage;

pub struct Log<'a> {
    stage: &'a Stage,
    lane: u32,
    attempts: u64,
}

/// One attempt of a lane, which records its further events.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    stage: &'a Stage,
    lane: u32,
    number: u64,
    /// Whether one call released all of it.
    single: bool,
    called: u64,
}

/// A hold that its holder believes in for some time.
pub trait Believed {
    fn deadline(&self) -> Option<Instant>;
    fn token(&self) -> Option<i64>;
}

impl Believed for Guard {
    fn deadline(&self) -> Option<Instant> {
        self.deadline()
    }

    fn token(&self) -> Option<i64> {
        self.token()
    }
}

impl Believed for BlockingGuard {
    fn deadline(&self) -> Option<Instant> {
        Guard::deadline(self)
    }

    fn token(&self) -> Option<i64> {
        Guard::token(self)
    }
}

impl Believed for RenewedPermit {
    fn deadline(&self) -> Option<Instant> {
        Guard::deadline(self)
    }

    fn token(&self) -> Option<i64> {
        None
    }
}

impl<'a> Log<'a> {
    pub fn new(stage: &'a Stage, lane: u32) -> Self {
        Log { stage, lane, attempts: 0 }
    }

    /// The number of attempts so far.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Records that an acquire is about to be called. The lane counts as the owner, with any owner number of the lock.
    pub fn acquire(&mut self, plan: &Plan) -> Attempt<'a> {
        self.attempts += 1;
        let single = !matches!(plan.kind(), Kind::Multi | Kind::Red);
        let attempt =
            Attempt { stage: self.stage, lane: self.lane, number: self.attempts, single, called: clock::now() };
        let ms = |time: Duration| time.as_millis() as u64;
        let wait = plan.wait.map(|wait| ms(wait) + u64::from(!wait.is_zero()));
        let lease = plan.lease.map(ms);
        attempt.record(Event::Acquire { key: plan.key, owner: self.lane.into(), wait, lease, takes: plan.takes });
        attempt
    }
}

impl Attempt<'_> {
    /// Records the result of an acquire for `lease`, and returns the guard if there is a hold.
    pub fn returned<G: Believed>(self, result: redlatch::Result<Option<G>>, lease: Duration) -> Option<G> {
        match result {
            Ok(Some(guard)) => {
                let deadline = guard.deadline().map_or_else(clock::now, clock::at);
                // The holder believes in a hold for 99 % of its lease less 2 ms, counted from before its request was
                // sent.
                let asked = deadline.saturating_sub(ns(lease - lease / 100 - Duration::from_millis(2)));
                let asked = if self.single { asked } else { self.called };
                self.record(Event::Held { asked, deadline });
                if let Some(token) = guard.token() {
                    self.record(Event::Token { token });
                }
                return Some(guard);
            }
            Ok(None) | Err(Error::NotAcquired { .. }) => self.record(Event::NotNow),
            Err(error) => self.record(failed(&error)),
        }
        None
    }

    /// Records the result of an acquire of permits. True: the lane has them; only their return ends that.
    pub fn took<P>(self, result: redlatch::Result<Option<P>>) -> Option<P> {
        match &result {
            Ok(Some(_)) => self.record(Event::Held { asked: self.called, deadline: u64::MAX }),
            Ok(None) => self.record(Event::NotNow),
            Err(error) => self.record(failed(error)),
        }
        result.ok().flatten()
    }

    /// The numbers of the lane and of the attempt.
    pub fn number(self) -> (u32, u64) {
        (self.lane, self.number)
    }

    /// Records the end of an attempt without a hold.
    pub fn ended(self, result: redlatch::Result<()>) {
        self.record(match result {
            Ok(()) => Event::NotNow,
            Err(error) => failed(&error),
        });
    }

    pub fn dropped(self) {
        self.record(Event::Dropped);
    }

    pub fn deadline(self, guard: &impl Believed) {
        if let Some(deadline) = guard.deadline() {
            self.record(Event::Deadline { deadline: clock::at(deadline) });
        }
    }

    /// Records the answer of a call that can have only one answer.
    pub fn counted(self, count: u64, expected: u64) {
        self.record(Event::Counted { count, expected });
    }

    /// Records that the holder was sure at `sure` and releases now, or that it was told of a loss. If recorded again,
    /// the later time counts.
    pub fn closes(self, sure: u64, ensured: redlatch::Result<()>, section: Section) -> bool {
        match ensured {
            Ok(()) => self.stage.recorder.record_at(sure, self.lane, self.number, Event::Release { section }),
            Err(error) => {
                let (ago, reason) = match &error {
                    Error::Lost(loss) => (ns(loss.noticed), loss.reason.name()),
                    other => (0, other.code()),
                };
                self.record(Event::Lost {
                    since: clock::now().saturating_sub(ago),
                    reason: reason.to_owned(),
                    section,
                });
                return false;
            }
        }
        true
    }

    pub fn released(self, result: Option<redlatch::Result<()>>) {
        let code = match &result {
            None => "dropped",
            Some(Ok(())) => "ok",
            // The server's error code decides whether the refusal may pass.
            Some(Err(Error::Refused { code, .. })) => code,
            Some(Err(error)) => error.code(),
        };
        self.record(Event::Released { code: code.to_owned() });
    }

    fn record(self, event: Event) {
        self.stage.recorder.record(self.lane, self.number, event);
    }
}

fn failed(error: &Error) -> Event {
    Event::Failed { code: error.code().to_owned(), text: error.to_string() }
}
