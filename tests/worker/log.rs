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

/// One attempt of a lane, to be told more of.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    stage: &'a Stage,
    lane: u32,
    number: u64,
    /// One call gave all of it.
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
        self.deadline()
    }

    fn token(&self) -> Option<i64> {
        None
    }
}

impl<'a> Log<'a> {
    pub fn new(stage: &'a Stage, lane: u32) -> Self {
        Log { stage, lane, attempts: 0 }
    }

    /// How many there were.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// An acquire is about to be called. The lane counts as its owner, whatever number the lock is asked for with.
    pub fn acquire(&mut self, plan: &Plan) -> Attempt<'a> {
        self.attempts += 1;
        let single = !matches!(plan.kind(), Kind::Multi | Kind::Red);
        let attempt = Attempt { stage: self.stage, lane: self.lane, number: self.attempts, single, called: clock::now() };
        let ms = |time: Duration| time.as_millis() as u64;
        let (wait, lease) = (plan.wait.map(|wait| ms(wait) + u64::from(!wait.is_zero())), plan.lease.map(ms));
        attempt.record(Event::Acquire { key: plan.key, owner: self.lane.into(), wait, lease, takes: plan.takes });
        attempt
    }
}

impl Attempt<'_> {
    /// What an acquire for `lease` returned; gives the guard on if it holds anything.
    pub fn returned<G: Believed>(self, result: redlatch::Result<Option<G>>, lease: Duration) -> Option<G> {
        match result {
            Ok(Some(guard)) => {
                let deadline = guard.deadline().map_or_else(clock::now, clock::at);
                // A hold is believed in for 99 % of its lease less 2 ms, from before its request was sent.
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

    /// What asking for permits returned. True: it has them; nothing ends that but giving them back.
    pub fn took(self, result: redlatch::Result<bool>) -> bool {
        match result {
            Ok(true) => self.record(Event::Held { asked: self.called, deadline: u64::MAX }),
            Ok(false) => self.record(Event::NotNow),
            Err(ref error) => self.record(failed(error)),
        }
        matches!(result, Ok(true))
    }

    /// Its lane and its number.
    pub fn number(self) -> (u32, u64) {
        (self.lane, self.number)
    }

    /// What a call answered that can have one answer only.
    pub fn expects(self, answer: i64, expected: i64) {
        self.counted(answer as u64, expected as u64);
    }

    /// What an attempt came to of which nothing is held.
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

    pub fn counted(self, count: u64, expected: u64) {
        self.record(Event::Counted { count, expected });
    }

    /// It was sure at `sure`, and is given back from now on; or it was told that it is lost. Said again, the later time counts.
    pub fn closes(self, sure: u64, ensured: redlatch::Result<()>, section: Section) -> bool {
        match ensured {
            Ok(()) => self.stage.recorder.record_at(sure, self.lane, self.number, Event::Release { section }),
            Err(error) => {
                let (ago, reason) = match &error {
                    Error::Lost(loss) => (ns(loss.noticed), loss.reason.name()),
                    other => (0, other.code()),
                };
                self.record(Event::Lost { since: clock::now().saturating_sub(ago), reason: reason.to_owned(), section });
                return false;
            }
        }
        true
    }

    pub fn released(self, result: Option<redlatch::Result<()>>) {
        let code = match &result {
            None => "dropped",
            Some(Ok(())) => "ok",
            // The server's own word says whether the refusal may pass.
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
