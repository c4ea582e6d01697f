//! How an owner waits for its lock: in which line, told by what, and in whose queue.

use std::time::Duration;

use crate::base::clock::Instant;
use crate::redis::kinds::{Queue, Wake};
use crate::redis::settle::settle;
use crate::redis::target::Target;
use crate::redis::wait::lines::{self, Key};
use crate::request::error::Error;

impl Target {
    /// The line that it waits in.
    pub fn key(&self) -> Key {
        lines::key(&self.claim)
    }

    /// Whether a release passes its hold on to the next waiter of this client.
    pub fn passes(&self) -> bool {
        self.row.0.queue == Queue::Passing
    }

    /// How much its acquire wants at once of what there may be several of.
    pub fn wants(&self) -> u64 {
        self.row.1.wants(&self.numbers)
    }

    /// How it hears that it is worth trying again.
    pub fn wake(&self) -> Wake {
        self.row.1.wake(&self.claim.name, &self.owner)
    }

    /// How many messages have come where it listens; `None`: it does not, or the server has not confirmed it.
    pub fn heard(&self) -> Option<u64> {
        self.redis.wakes.proven_count(&self.wake().channel?)
    }

    /// After how long it tries again by itself, time and again; none: it waits to be told.
    pub fn delays(&self) -> Vec<Duration> {
        let asked = self.numbers.iter().map(|ms| ms.unsigned_abs());
        let own = self.wake().delays;
        match own.is_empty() || self.numbers.is_empty() {
            true => own.iter().copied().map(Duration::from_millis).collect(),
            false => asked.map(Duration::from_millis).collect(),
        }
    }

    /// Whether another owner of this client has it, and will pass it on.
    pub fn is_near(&self, now: Instant) -> bool {
        self.passes() && self.redis.holds(|holds| holds.is_near(&self.claim, now))
    }

    /// Whether whoever waits for it stands in a queue of the server.
    pub fn queues(&self) -> bool {
        self.row.0.fair && self.waits()
    }

    /// Whether its acquire waits if it must.
    pub fn waits(&self) -> bool {
        self.wait != Some(Duration::ZERO)
    }

    /// The error of a wait that ran out without a word of the server; `trouble`: how the last try failed, if it did.
    pub fn unanswered(&self, trouble: Option<Error>) -> Error {
        let silent = || Error::Unavailable { server: self.redis.config.server(), cause: "is silent".into(), timeout: true };
        trouble.unwrap_or_else(silent).during(self.wait)
    }

    /// Gives up the place in the server's queue, unless another wait of the owner has come to stand there.
    pub async fn leave(&self) {
        let (Some(call), retry) = (self.row.1.leave(&self.inputs()), self.retry_limits(None)) else { return };
        if let Ok(_entry) = self.enter(retry).await
            && !self.redis.lines().keeps_place(&self.key())
        {
            // An owner that cannot leave shows no sign of life any more, and is passed over for that.
            let _ = settle(&self.redis, &call, retry, None).await;
        }
    }

    /// As [`Target::leave`], whenever that is done.
    pub fn leave_behind(&self) {
        if self.queues() {
            let target = self.clone();
            self.redis.io.spawn_present(async move { target.leave().await });
        }
    }
}
