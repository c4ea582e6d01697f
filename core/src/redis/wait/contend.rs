//! The task of one line: it listens, tries for the head, sleeps, and ends when no waiter has come for a while.

use std::sync::Arc;

use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::base::tasks::{self, Work};
use crate::engine::line::{Line, Place, Step};
use crate::redis::Redis;
use crate::redis::link::wakes::Listener;
use crate::redis::target::{Attempt, Target};
use crate::redis::wait::acquire::once_more;
use crate::redis::wait::lines::{LineKey, NextStep, Patience, Waiter};
use crate::redis::wait::passing::{OutOfLine, answer_cancelled, refuse};
use crate::request::error::{Error, Result};

/// The result of a step.
enum StepResult {
    Listened(Result<()>),
    Tried(Box<Target>, Patience, Result<Attempt>),
    Left,
}

/// Runs on the I/O thread as long as the line of `target`'s lock exists.
pub async fn run(target: Target) {
    let redis = target.redis.clone();
    let key = target.key();
    let nudge = redis.lines().nudge(&key);
    let mut ear = Ear { redis: redis.clone(), channel: target.wake().channel, listener: None };
    let mut work: Option<Work<StepResult>> = None;
    let mut since = Instant::now();
    // The latest message that came during a step.
    let mut missed = None;
    let mut anew: Option<Work<StepResult>> = None;
    loop {
        let now = Instant::now();
        let NextStep { late, step, until } = redis.lines().step(&key, now);
        late.into_iter().for_each(|(waiter, end)| waiter.answer(end));
        match step {
            Step::End => return,
            Step::Listen if work.is_none() => {
                since = now;
                ear.join();
                work = ear.channel.clone().map(|channel| listen(target.clone(), channel));
            }
            Step::Try if work.is_none() => {
                since = now;
                ear.mark();
                work = take(&redis, &key, now, Line::take_head);
            }
            Step::TryFitting if work.is_none() => {
                since = now;
                // The head must still hear messages that came after its own try.
                work = take(&redis, &key, now, Line::take_fitting);
            }
            Step::Leave if work.is_none() => work = Some(leave(target.clone())),
            _ => {}
        }
        tokio::select! {
            // If a try and the wait of its waiter end together, the try gives the reason.
            biased;
            did = async { work.as_mut().expect("there is work").await }, if work.is_some() => {
                work = None;
                // The connection of the subscription is over, and the try went over another one.
                if did.is_busy() && ear.is_deaf() && anew.is_none() {
                    anew = ear.channel.clone().map(|channel| listen(target.clone(), channel));
                }
                finish(&redis, &key, did, since, ear.is_proven());
                if let Some(count) = missed.take() {
                    redis.lines().change(&key, Instant::now(), |line| line.pace.heard(count, Instant::now()));
                }
            }
            _ = async { anew.as_mut().expect("a subscription").await }, if anew.is_some() => {
                anew = None;
                // The line may have missed messages.
                ear.wake();
            }
            count = ear.heard() => {
                let is_missed = work.is_some();
                redis.lines().change(&key, Instant::now(), |line| match is_missed {
                    true => line.pace.doubt(Instant::now()),
                    false => line.pace.heard(count, Instant::now()),
                });
                missed = is_missed.then_some(count);
            }
            _ = sleep_until(until.into()) => {}
            _ = nudge.notified() => {}
        }
    }
}

impl StepResult {
    fn is_busy(&self) -> bool {
        matches!(self, StepResult::Tried(.., Ok(Attempt::Busy(_))))
    }
}

fn listen(target: Target, channel: String) -> Work<StepResult> {
    // It is for all waiters of the line, whatever limits the first one has.
    let limit = target.redis.config.retry_for.max(target.redis.config.response_timeout);
    Box::pin(async move { StepResult::Listened(target.redis.link.listen(&channel, limit).await) })
}

fn leave(target: Target) -> Work<StepResult> {
    Box::pin(async move {
        target.leave().await;
        StepResult::Left
    })
}

/// Makes a try for the waiter that `choose` takes out of the line.
fn take(
    redis: &Arc<Redis>,
    key: &LineKey,
    now: Instant,
    choose: impl FnOnce(&mut Line<Waiter>, Instant) -> Option<&Place<Waiter>>,
) -> Option<Work<StepResult>> {
    let confirms = redis.link.confirms(&key.name);
    let mut lines = redis.lines();
    let (target, ticket, renewed, patience) = lines.change(key, now, |line| {
        let waiter = &choose(line, now)?.waiter;
        let taken = (waiter.target.clone(), waiter.ticket, waiter.renewed, waiter.patience);
        if confirms {
            line.outlasts();
        }
        Some(taken)
    })??;
    Some(Box::pin(async move {
        let tried = target.acquire(ticket, renewed, target.retry_limits(patience.deadline()), None).await;
        StepResult::Tried(Box::new(target), patience, tried)
    }))
}

/// Ends a step. `since`: its beginning. `proven`: the server has confirmed the subscription.
fn finish(redis: &Arc<Redis>, key: &LineKey, did: StepResult, since: Instant, proven: bool) {
    let now = Instant::now();
    let trouble = match &did {
        StepResult::Listened(Err(error)) | StepResult::Tried(.., Err(error)) => Some(error.clone()),
        StepResult::Listened(Ok(())) | StepResult::Tried(.., Ok(_)) | StepResult::Left => None,
    };
    redis.lines().note(key, trouble);
    match did {
        StepResult::Left => drop(redis.lines().change(key, now, Line::left)),
        StepResult::Listened(Ok(())) => drop(redis.lines().change(key, now, |line| line.pace.listening())),
        StepResult::Listened(Err(error)) => fail(redis, key, error, since),
        StepResult::Tried(target, _, Ok(Attempt::Taken(taken))) => {
            let (returned, twins) = {
                let mut lines = redis.lines();
                lines.change(key, now, |line| {
                    if target.passes() {
                        line.pace.near(Some(target.lease), now)
                    } else {
                        line.took(now)
                    }
                    line.placed = false;
                });
                (lines.returned(key, now), lines.take_twins(&target, now))
            };
            OutOfLine::new(&target, returned, twins).hand_out(*target, taken);
        }
        StepResult::Tried(target, _, Ok(Attempt::Busy(busy))) => {
            // This comes first: an owner that gets the lock later finds its waiter in the line.
            let cancelled = redis.lines().change(key, now, |line| {
                line.busy(busy, proven, now);
                line.placed = target.queues();
                line.put_back()
            });
            answer_cancelled(cancelled.flatten().map(|place| place.waiter));
            if target.is_let_in_since(since, Instant::now()) {
                let twins = redis.lines().take_twins_of(key, &target, now);
                once_more(twins);
            }
        }
        StepResult::Tried(target, _, Ok(Attempt::Late)) => {
            target.free_late_grant_beside();
            let cancelled = redis.lines().change(key, now, |line| {
                line.pace.hurry(now);
                line.placed = target.queues();
                line.put_back()
            });
            answer_cancelled(cancelled.flatten().map(|place| place.waiter));
        }
        StepResult::Tried(target, _, Err(error)) if !target.is_as_patient_as_client() || is_of_one(&error) => {
            // The other waiters have other time limits, or do not hold the lock, or get a try of their own.
            let ended = redis.lines().fail_head(key, &error, now);
            if let Some(ended) = ended {
                let leaves = redis.lines().change(key, now, Line::leaves).unwrap_or_default();
                refuse(&target, vec![ended], leaves);
            }
        }
        StepResult::Tried(_, patience, Err(error)) => {
            let cancelled = redis.lines().change(key, now, |line| line.put_back()).flatten();
            answer_cancelled(cancelled.map(|place| place.waiter));
            // Perhaps only the time of the head has run out: then the next waiter tries.
            if !(error.is_for_now() && patience.is_over(now)) {
                fail(redis, key, error, since);
            }
        }
    }
}

fn is_of_one(error: &Error) -> bool {
    matches!(error, Error::AlreadyHeld { .. } | Error::NotSynced { .. })
}

/// Reports an error to every waiter that has waited through the failed step.
fn fail(redis: &Arc<Redis>, key: &LineKey, error: Error, since: Instant) {
    let now = Instant::now();
    let failed = redis.lines().fail(key, &error, since, now);
    if let Some(target) = failed.first().map(|(waiter, _)| waiter.target.clone()) {
        let leaves = redis.lines().change(key, now, Line::leaves).unwrap_or_default();
        refuse(&target, failed, leaves);
    }
}

/// The line's subscription. After its drop the I/O thread unsubscribes, if it was the last of the channel.
struct Ear {
    redis: Arc<Redis>,
    /// `None`: no message reports a release.
    channel: Option<String>,
    listener: Option<Listener>,
}

impl Ear {
    fn join(&mut self) {
        if self.listener.is_none() {
            self.listener = self.channel.as_ref().map(|channel| self.redis.wakes.join(channel));
        }
    }

    fn is_proven(&self) -> bool {
        self.listener.as_ref().is_some_and(Listener::is_proven)
    }

    /// Tells whether the line has joined the channel, and the server has not confirmed that on a connection of now.
    fn is_deaf(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| !listener.is_proven())
    }

    /// Has the line try again if it can hear messages from now on.
    fn wake(&self) {
        if let Some(channel) = self.channel.as_ref().filter(|_| self.is_proven()) {
            self.redis.wakes.message(channel);
        }
    }

    fn mark(&mut self) {
        if let Some(listener) = &mut self.listener {
            listener.mark();
        }
    }

    async fn heard(&mut self) -> u64 {
        match &mut self.listener {
            Some(listener) => listener.heard().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if let (Some(listener), Some(channel)) = (self.listener.take(), self.channel.take()) {
            let redis = self.redis.clone();
            if redis.wakes.leave(&channel, listener) {
                tasks::spawn(async move { redis.link.unlisten(&channel).await });
            }
        }
    }
}
