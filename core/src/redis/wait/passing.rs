//! A release that passes its hold on to the next waiter of the same client, in the same script call.

use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::engine::gate::Entry;
use crate::redis::kinds::reply::Reply;
use crate::redis::link::Sent;
use crate::redis::target::{Attempt, InFlight, Target};
use crate::redis::wait::acquire::once_more;
use crate::redis::wait::lines::{EndedWait, Patience, Waiter};
use crate::request::Answer;
use crate::request::error::Error;

pub struct Pass {
    pub to: Target,
    renewed: bool,
    patience: Patience,
    /// `None`: the heir has its result.
    entry: Option<Entry>,
}

impl Pass {
    /// Finds the heir of a hold that began at `since`; `None`: the release frees the lock.
    pub fn find(from: &Target, since: Instant) -> Option<Pass> {
        let redis = &from.redis;
        let key = from.key();
        let now = Instant::now();
        let mut lines = redis.lines();
        let heir = |waiter: &Waiter| (waiter.target.clone(), waiter.renewed, waiter.patience);
        let (to, renewed, patience) =
            lines.change(&key, now, |line| line.pass(since, now).map(|place| heir(&place.waiter)))??;
        // Each owner has one changing call at a time: if one is in flight for the heir, the release passes nothing on.
        let Some(entry) = redis.gates.try_enter(&to.claim) else {
            let cancelled = lines.change(&key, now, |line| line.put_back()).flatten();
            drop(lines);
            answer_cancelled(cancelled.map(|place| place.waiter));
            return None;
        };
        Some(Pass { to, renewed, patience, entry: Some(entry) })
    }

    /// Notes that the server has passed the hold on, by a call sent at `sent` and answered by `reply`.
    pub fn done(mut self, reply: Reply, sent: Instant) {
        let redis = self.to.redis.clone();
        if redis.link.confirms(&self.to.claim.name) {
            let now = Instant::now();
            redis.lines().change(&self.to.key(), now, |line| {
                line.outlasts();
                line.pace.passed(self.to.lease, now);
            });
            redis.spawn(async move { self.confirm().await });
            return;
        }
        let taken = self.to.taken(reply, self.renewed, sent);
        drop(self.entry.take());
        match taken {
            Some(taken) => has_it(&self.to, taken),
            None => return_to_line(&self.to),
        }
    }

    /// Acquires for the heir the lock that it has already: like any acquire this one is confirmed, or given back. The
    /// former holder does not wait for that.
    async fn confirm(mut self) {
        let (to, Some(entry)) = (self.to.clone(), self.entry.take()) else { return };
        let passed = Sent { connection: None, over: Instant::now() };
        let tried = match to.acquire_call() {
            Ok(mut call) => {
                call.grants = false;
                to.acquire(
                    self.renewed,
                    to.retry_limits(self.patience.deadline()),
                    Some(InFlight { entry, call, tried: None, copies: vec![passed] }),
                )
                .await
            }
            Err(error) => Err(error),
        };
        match tried {
            Ok(Attempt::Taken(taken)) => has_it(&to, taken),
            Ok(Attempt::Busy(_)) => return_to_line(&to),
            Err(error) => {
                let returned = to.redis.lines().returned(&to.key(), Instant::now());
                if let Some((waiter, cancelled)) = returned {
                    waiter.answer(Err(if cancelled { Error::Cancelled } else { error }));
                }
            }
        }
    }

    /// Gives back what the heir may have got, because the outcome of the pass is unknown; the heir waits on.
    pub fn give_back(mut self, copies: Vec<Sent>) {
        if let Some(entry) = self.entry.take() {
            self.to.give_back(entry, 0, copies);
        }
        return_to_line(&self.to);
    }
}

/// Notes that the heir has the lock that was passed on.
fn has_it(to: &Target, taken: Answer) {
    let redis = to.redis.clone();
    let key = to.key();
    let now = Instant::now();
    let (returned, twins) = {
        let mut lines = redis.lines();
        lines.change(&key, now, |line| line.pace.near(Some(to.lease), now));
        (lines.returned(&key, now), lines.take_twins(to, now))
    };
    once_more(twins);
    hand_out(to.clone(), taken, returned);
}

/// The drop without a result means that nothing was passed on: the heir tries for itself.
impl Drop for Pass {
    fn drop(&mut self) {
        if self.entry.take().is_some() {
            return_to_line(&self.to);
        }
    }
}

/// Answers a waiter that has the lock, or gives the hold back if its caller is gone. `returned`: the waiter, and
/// whether it was cancelled.
pub fn hand_out(target: Target, taken: Answer, returned: Option<(Waiter, bool)>) {
    let redis = target.redis.clone();
    match returned {
        Some((waiter, false)) if !redis.is_closed() => waiter.answer(Ok(taken)),
        returned => {
            let departure = redis.departures.begin(target.departs_as().into());
            redis.io.spawn_present(async move {
                target.take_back(&taken).await;
                drop(departure);
                answer_cancelled(returned.map(|(waiter, _)| waiter));
            });
        }
    }
}

fn return_to_line(target: &Target) {
    let key = target.key();
    let now = Instant::now();
    let cancelled = target.redis.lines().change(&key, now, |line| {
        line.pace.hurry(now);
        line.put_back()
    });
    answer_cancelled(cancelled.flatten().map(|place| place.waiter));
}

/// Gives waiters their results, mostly an error. `leaves`: no waiter of their owner is left, so it gives up its place
/// in the server's queue. It does so before they hear the result, if the server answers: the next caller that asks then
/// finds the lock free.
pub fn refuse(target: &Target, ended: Vec<EndedWait>, leaves: bool) {
    let is_transient = ended.iter().all(|(_, end)| end.as_ref().err().is_none_or(Error::is_for_now));
    let tell = move || ended.into_iter().for_each(|(waiter, end)| waiter.answer(end));
    if !leaves || !target.queues() {
        return tell();
    }
    if is_transient {
        target.leave_behind();
        return tell();
    }
    let target = target.clone();
    target.redis.clone().io.spawn_present(async move {
        let response = target.response;
        let _ = timeout(response, tasks::spawn(async move { target.leave().await })).await;
        tell();
    });
}

pub fn answer_cancelled(waiter: Option<Waiter>) {
    if let Some(waiter) = waiter {
        waiter.answer(Err(Error::Cancelled));
    }
}
