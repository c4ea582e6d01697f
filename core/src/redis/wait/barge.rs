//! Barging: a lock that a release has handed to a sleeping thread may be taken by a thread that runs, until the sleeping
//! one has come for it. The lock would stand idle meanwhile. Only holds that are shorter than a wake-up make room for
//! this: otherwise a thread would have the lock twice in a row, and all others would wait for longer.

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::holds::grip::{HandOn, Inherited};
use crate::engine::pace::Obstacle;
use crate::engine::traits::counted_as;
use crate::redis::target::Target;
use crate::redis::wait::acquire::{once_more, started};
use crate::redis::wait::lines::{Patience, Waiter};
use crate::request::Answer;
use crate::request::seat::Offer;

/// Takes the lock for a caller whose thread runs, from a waiter whose thread has not come for it. `None`: there is no such
/// lock, and nothing has changed.
pub fn barge(waiter: &Waiter) -> Option<Answer> {
    let target = &waiter.target;
    if !may_barge(waiter) {
        return None;
    }
    let redis = &target.redis;
    let key = target.key();
    let now = Instant::now();
    let (heir, given, offer) = redis.lines().take_back(&key, target.claim.owner, now)?;
    let taken = target.take_from(&target.claim.of(heir), given.number.unsigned_abs());
    let Some((answer, until)) = taken else {
        offer.kept(given);
        return None;
    };
    let twins = {
        let mut lines = redis.lines();
        lines.change(&key, now, |line| line.pace.near(Some(until - now), now));
        lines.barged(&key, now);
        lines.take_twins(target, now)
    };
    once_more(twins);
    offer.missed();
    Some(answer)
}

/// Tells whether the caller may go before waiters: it would wait itself, and the client may hand its lock on.
fn may_barge(waiter: &Waiter) -> bool {
    let target = &waiter.target;
    // A token that a waiter misses is skipped, and the next ones are the server's.
    let may_miss = target.is_handed_on() && !target.row.traits.fenced;
    waiter.seat.is_some()
        && waiter.patience != Patience::Once
        && waiter.renewed
        && may_miss
        && !target.redis.is_closed()
}

impl Target {
    /// Takes the hold of that number from another owner of this client, if no call about either is under way.
    fn take_from(&self, from: &Claim, number: u64) -> Option<(Answer, Instant)> {
        let redis = &self.redis;
        let _own = redis.gates.try_enter(&self.claim)?;
        let field = redis.holds(|holds| holds.field(from));
        let grip = self.claim.of(field);
        let _grip = match field == self.claim.owner {
            true => None,
            false => Some(redis.gates.try_enter(&grip)?),
        };
        let is_still = redis.holds(|holds| holds.field(from)) == field;
        if is_still { self.inherit(from, number) } else { None }
    }

    /// Takes over the hold of that number from another owner inside this client, without a call: this owner holds the lock
    /// through the same grip. Gives the time until which the client believes in it. `None`: only the server may pass it on.
    pub fn inherit(&self, from: &Claim, number: u64) -> Option<(Answer, Instant)> {
        let redis = &self.redis;
        let name = &self.claim.name;
        let fenced = self.row.traits.fenced;
        let hand_on = HandOn { from, number, to: &self.claim, fenced, incarnation: redis.link.incarnation() };
        // The same owner may ask for the same key by a kind with another field; for this field no other call is under way.
        let is_quiet = |field: i64| {
            let kinds = self.row.sharers().map(|row| row.traits.name);
            let others = kinds.filter(|kind| counted_as(kind) != counted_as(self.claim.kind));
            !redis.wakes.is_suspect(name)
                && redis.gates.are_quiet(others.map(|kind| Claim::new(kind, name.clone(), field)))
        };
        let now = Instant::now();
        let Inherited { number, token, left } = redis.holds(|holds| holds.hand_on(&hand_on, now, is_quiet))?;
        let items = if fenced { vec![token] } else { Vec::new() };
        Some((Answer { done: true, number: number as i64, items, ..Answer::default() }, now + left))
    }
}

impl Waiter {
    /// Gives it the lock, and lets running threads take it until the waiter's thread has come for it.
    pub fn offer(self, answer: Answer) {
        let Some(seat) = self.seat.clone() else { return self.answer(Ok(answer)) };
        self.target.redis.lines().end(self.ticket);
        seat.offer(answer, Box::new(OnItsWay(self)));
    }
}

/// A waiter whose lock is on its way to it.
struct OnItsWay(Waiter);

impl Offer for OnItsWay {
    fn accepted(mut self: Box<Self>) {
        self.0.say(Ok(&Answer { done: true, ..Answer::default() }));
        // The answer is there already.
        self.0.done = None;
    }

    fn missed(self: Box<Self>) {
        let waiter = self.0;
        let target = waiter.target.clone();
        let joined = target.redis.lines().join(waiter, Obstacle::Near, Instant::now());
        started(&target, joined);
    }

    fn kept(self: Box<Self>, answer: Answer) {
        self.0.answer(Ok(answer));
    }
}
