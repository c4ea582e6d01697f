//! The way in which an owner waits for its lock: its line, its channel, and the server's queue.

use std::time::Duration;

use tokio::time::timeout_at;

use crate::base::clock::Instant;
use crate::redis::kinds::{Wake, multi};
use crate::redis::settle::{RetryLimits, settle};
use crate::redis::target::Target;
use crate::redis::wait::lines::{self, LineKey, Patience};
use crate::request::Op;
use crate::request::error::Error;

impl Target {
    /// The line in which it waits.
    pub fn key(&self) -> LineKey {
        lines::key(&self.claim, &self.row.traits)
    }

    /// The name under which a dropped guard of this lock gives it back: locks of values of one group share it.
    pub fn departs_as(&self) -> &str {
        multi::group(&self.claim.name)
    }

    /// Tells whether a release passes its hold on to the next waiter of this client.
    pub fn passes(&self) -> bool {
        self.row.traits.queue.passes()
    }

    /// The number of permits that its acquire wants at once.
    pub fn wants(&self) -> u64 {
        self.row.kind.wants(&self.numbers)
    }

    /// The ways in which it hears that another try is worthwhile.
    pub fn wake(&self) -> Wake {
        self.row.kind.wake(&self.claim.name, &self.owner)
    }

    /// Tells whether a hold of its lock is on its way back although its caller is gone.
    pub fn has_departures(&self) -> bool {
        self.redis.departures.has(self.departs_as())
    }

    /// Tells whether an acquire must not meet a hold on its way back: it asks only once, or its owner cannot have two.
    pub fn minds_departures(&self, patience: Patience) -> bool {
        patience == Patience::Once || !self.row.traits.reentrant
    }

    /// Tells whether a question would count a hold that is on its way back.
    pub fn counts_departures(&self, op: Op) -> bool {
        op == Op::Inspect && self.row.traits.held && self.has_departures()
    }

    /// Returns once the holds that are on their way back now have gone, or the time is over. A request that has been cancelled
    /// waits for none: another one may wait for it.
    pub async fn departed(&self, ticket: u64, retry: RetryLimits) {
        if !self.has_departures() {
            return;
        }
        // The order matters: a cancel that comes later does not count for those that wait before it.
        let over = self.redis.departures.over(self.departs_as());
        let is_leaving = self.redis.lines().is_leaving(ticket);
        if !is_leaving {
            let _ = timeout_at(retry.give_up.into(), over).await;
        }
    }

    /// See [`Redis::wake_sharers`].
    pub fn wake_sharers(&self) {
        self.redis.wake_sharers(self.row, &self.claim);
    }

    /// The number of messages on its channel; `None`: it does not listen, or the server has not confirmed that.
    pub fn heard(&self) -> Option<u64> {
        self.redis.wakes.proven_count(&self.wake().channel?)
    }

    /// The delays after which it tries again by itself; it repeats the last one. Empty: it waits for a message.
    pub fn delays(&self) -> Vec<Duration> {
        let asked = self.numbers.iter().map(|ms| ms.unsigned_abs());
        let own = self.wake().delays;
        match own.is_empty() || self.numbers.is_empty() {
            true => own.iter().copied().map(Duration::from_millis).collect(),
            false => asked.map(Duration::from_millis).collect(),
        }
    }

    /// Tells whether another owner of this client has the lock and will pass it on.
    pub fn is_near(&self, now: Instant) -> bool {
        self.passes() && self.redis.holds(|holds| holds.is_near(&self.claim, now))
    }

    /// Tells whether a hold of another owner of this client, by any kind that the server counts together with this one,
    /// keeps it out.
    pub fn is_taken(&self, now: Instant) -> bool {
        self.row.traits.exclusive && self.redis.holds(|holds| holds.is_taken(&self.claim, now))
    }

    /// The time since which its owner has the lock by another kind, if it does: the server lets the owner in by this one
    /// too, or refuses it for good.
    pub fn by_another_kind(&self, now: Instant) -> Option<Instant> {
        let kinds = self.row.sharers().map(|row| row.traits.name);
        self.redis.holds(|holds| holds.held_since(&self.claim, kinds, now))
    }

    /// Tells whether its owner has got the lock by another kind since a try began: the try may have come before that.
    pub fn is_let_in_since(&self, since: Instant, now: Instant) -> bool {
        self.by_another_kind(now).is_some_and(|began| began >= since)
    }

    /// Tells whether its waiters stand in a queue of the server.
    pub fn queues(&self) -> bool {
        self.row.traits.fair && self.waits()
    }

    /// Tells whether its acquire waits if the lock is taken.
    pub fn waits(&self) -> bool {
        self.wait != Some(Duration::ZERO)
    }

    /// The error of a wait that ended without an answer of the server. `trouble`: the error of the last try, if it
    /// failed.
    pub fn unanswered(&self, trouble: Option<Error>) -> Error {
        let silent = || Error::unavailable(self.redis.config.server(), "is silent", true);
        trouble.unwrap_or_else(silent).during(self.wait)
    }

    /// Gives up the place in the server's queue, unless another wait of the owner stands there now.
    pub async fn leave(&self) {
        let (Some(call), retry) = (self.row.kind.leave(&self.inputs()), self.retry_limits(None)) else { return };
        if let Ok(_entry) = self.enter(retry).await
            && !self.redis.lines().keeps_place(&self.key())
        {
            // An owner that cannot leave shows no further sign of life, so the queue passes it over.
            let _ = settle(&self.redis, &call, retry, None).await;
        }
    }

    /// As [`Target::leave`], in the background.
    pub fn leave_behind(&self) {
        if self.queues() {
            let target = self.clone();
            self.redis.io.spawn_present(async move { target.leave().await });
        }
    }
}
