//! How an acquire begins: in line behind others, or by a try of its own, on the caller's thread where that is possible.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::gate::Entry;
use crate::engine::pace::{Busy, Obstacle};
use crate::engine::word::AN_ANSWER;
use crate::redis::kinds::script::Call;
use crate::redis::link::{First, Limits, Outcome};
use crate::redis::target::{Attempt, InFlight, Target};
use crate::redis::wait::contend;
use crate::redis::wait::lines::{Joined, Patience, Waiter};
use crate::redis::wait::passing::{answer_cancelled, hand_out, refuse};
use crate::request::Done;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Request};

/// On the caller's thread, for no longer than `inside`; `None`: the waiter will be answered.
pub fn start(waiter: Waiter, inside: Duration) -> Option<Result<Answer>> {
    let waiter = stand_in_line(waiter)?;
    let (target, now) = (waiter.target.clone(), Instant::now());
    let redis = &target.redis;
    let Some(entry) = redis.gates.try_enter(&target.claim) else {
        go_on(waiter, None, now);
        return None;
    };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiter.refuse(error),
    };
    let retry = target.retry_limits(waiter.patience.deadline());
    let response = retry.response(now);
    // A try that ends early costs its connection and a second one, which a caller may not allow: it is for a server that hangs, not for one
    // that is far away.
    if inside < response && (retry.give_up <= now + inside || !redis.link.is_likely_within(&call, inside)) {
        beside_others(waiter, entry, call, now);
        return None;
    }
    let limits = Limits { response: response.min(inside), window: WINDOW };
    match redis.link.run_direct(&call, limits) {
        None => beside_others(waiter, entry, call, now),
        Some(Outcome::Reply(reply)) => match target.acquired(&call, reply, waiter.renewed, now) {
            Ok(Some(Attempt::Taken(taken))) if !redis.is_closed() => return waiter.answer_here(taken),
            Ok(Some(Attempt::Taken(taken))) => {
                drop(entry);
                hand_out(target, taken, Some((waiter, true)));
            }
            Ok(Some(Attempt::Busy(_))) if waiter.patience == Patience::Once => return waiter.answer_here(Answer::not_now()),
            Ok(Some(Attempt::Busy(busy))) => {
                // In this order: the end of the owner's former wait would give the place in the queue up.
                join(waiter, busy);
                drop(entry);
            }
            Err(error) => return waiter.refuse(error),
            Ok(None) => {
                drop(entry);
                go_on(waiter, None, now);
            }
        },
        Some(outcome) => go_on(waiter, Some(InFlight { entry, call, tried: Some((outcome, now)), copies: Vec::new() }), now),
    }
    None
}

/// On the I/O thread.
pub fn submit(waiter: Waiter) {
    let Some(waiter) = stand_in_line(waiter) else { return };
    let (target, now) = (&waiter.target, Instant::now());
    let Some(entry) = target.redis.gates.try_enter(&target.claim) else { return go_on(waiter, None, now) };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiter.answer(Err(error)),
    };
    beside_others(waiter, entry, call, now);
}

/// Has a first try made together with those of others, where that may be.
fn beside_others(waiter: Waiter, entry: Entry, call: Call, since: Instant) {
    let target = &waiter.target;
    if call.confirmed && target.redis.link.confirms(&target.claim.name) {
        return go_on(waiter, Some(InFlight { entry, call, tried: None, copies: Vec::new() }), since);
    }
    let (redis, response) = (target.redis.clone(), target.retry_limits_since(since, waiter.patience.deadline()).response(since));
    redis.lines().begin(waiter.ticket);
    redis.first(Box::new(FirstTry { entry, call, waiter, since }), response);
}

/// A first try on its way.
struct FirstTry {
    entry: Entry,
    call: Call,
    waiter: Waiter,
    /// When its caller asked.
    since: Instant,
}

impl First for FirstTry {
    fn call(&self) -> &Call {
        &self.call
    }

    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>) {
        let FirstTry { entry, call, waiter, since } = *self;
        match tried {
            Some((Outcome::Reply(reply), sent)) => {
                let acquired = waiter.target.acquired(&call, reply, waiter.renewed, sent).transpose();
                drop(entry);
                match acquired {
                    Some(tried) => end(waiter, tried),
                    None => go_on(waiter, None, since),
                }
            }
            tried => go_on(waiter, tried.map(|tried| InFlight { entry, call, tried: Some(tried), copies: Vec::new() }), since),
        }
    }
}

/// Stands in line where others wait already or a hold of this client is in the way; `Some`: the way is free.
fn stand_in_line(mut waiter: Waiter) -> Option<Waiter> {
    let (target, now) = (waiter.target.clone(), Instant::now());
    if waiter.patience == Patience::Once {
        return Some(waiter);
    }
    let key = target.key();
    let mut lines = target.redis.lines();
    let near = match target.count() {
        0 => Some(target.is_near(now)),
        _ => None,
    };
    let has_a_line = lines.is_waited_in(&key, now) && (lines.is_taken(&key, now) || !is_short(&waiter, now));
    match near {
        Some(near) if near || has_a_line => {
            let joined = lines.join(waiter, if near { Obstacle::Near } else { Obstacle::Unknown }, now);
            drop(lines);
            started(&target, joined);
            None
        }
        // Whoever has it already takes it once more at once.
        _ => {
            waiter.heard = lines.has(&key).then(|| target.heard()).flatten();
            Some(waiter)
        }
    }
}

/// Whether it waits for less than an answer may take: where its line has no word for it, it asks for itself.
fn is_short(waiter: &Waiter, now: Instant) -> bool {
    waiter.patience.deadline().is_some_and(|deadline| deadline < now + AN_ANSWER)
}

/// Stands in line after a try, which met this.
fn join(waiter: Waiter, busy: Busy) {
    let (target, now) = (waiter.target.clone(), Instant::now());
    let joined = {
        let mut lines = target.redis.lines();
        let met = match target.is_near(now) {
            true => Obstacle::Near,
            // It listened all the while: no second try has more to say.
            false if waiter.heard.is_some() && waiter.heard == target.heard() => Obstacle::Busy(busy),
            false => Obstacle::WasBusy(busy),
        };
        lines.join(waiter, met, now)
    };
    started(&target, joined);
}

fn started(target: &Target, joined: Joined) {
    match joined {
        Joined::InLine(Some(_)) => {
            drop(target.redis.io.spawn(contend::run(target.clone())));
            if !target.redis.looks.load(SeqCst) {
                target.redis.earlier.notify_one();
            }
        }
        Joined::InLine(None) => {}
        Joined::Cancelled(waiter) => {
            target.leave_behind();
            answer_cancelled(Some(*waiter));
        }
    }
}

/// The owner of these waiters has the lock now: like any call of a holder, each asks for one hold more. The first one has the owner's turn
/// before the lock can be let go: it is not to wait behind those who came later.
pub fn once_more(twins: Vec<Waiter>) {
    let now = Instant::now();
    for waiter in twins {
        let target = &waiter.target;
        let begun = target.redis.gates.try_enter(&target.claim).and_then(|entry| {
            let call = target.acquire_call().ok()?;
            Some(InFlight { entry, call, tried: None, copies: Vec::new() })
        });
        go_on(waiter, begun, now);
    }
}

/// Goes on with an acquire on the I/O thread; `first` is a try that was made before, `since` when all of it began.
fn go_on(waiter: Waiter, first: Option<InFlight>, since: Instant) {
    let target = waiter.target.clone();
    target.redis.lines().begin(waiter.ticket);
    let redis = target.redis.clone();
    redis.spawn(async move {
        // A caller that waits has another end, or none.
        let since = if waiter.patience == Patience::Once { since } else { Instant::now() };
        let tried = target.acquire(waiter.renewed, target.retry_limits_since(since, waiter.patience.deadline()), first).await;
        end(waiter, tried);
    });
}

/// What becomes of an acquire that was tried where its caller cannot see it.
fn end(waiter: Waiter, tried: Result<Attempt>) {
    let (target, late) = (waiter.target.clone(), waiter.patience.is_over(Instant::now()));
    match tried {
        Ok(Attempt::Taken(taken)) => {
            let cancelled = target.redis.lines().is_cancelled(waiter.ticket);
            hand_out(target, taken, Some((waiter, cancelled)));
        }
        Ok(Attempt::Busy(busy)) if !late => join(waiter, busy),
        Ok(_) => {
            target.leave_behind();
            waiter.answer(Ok(Answer::not_now()));
        }
        Err(error) => {
            let once = waiter.patience == Patience::Once;
            let error = if late && !once { target.unanswered(Some(error)) } else { error };
            refuse(&target, vec![(waiter, Err(error))], true);
        }
    }
}

impl Waiter {
    pub fn new(target: Target, ticket: u64, request: &Request, done: Done) -> Self {
        let patience = match request.wait {
            Some(Duration::ZERO) => Patience::Once,
            Some(wait) => Patience::Until(Instant::now() + wait),
            None => Patience::Forever,
        };
        Waiter { ticket, target, renewed: request.lease.is_none(), patience, heard: None, number: 0, done: Some(done) }
    }

    /// The caller's thread takes the answer with it: nobody else is told.
    fn answer_here(mut self, answer: Answer) -> Option<Result<Answer>> {
        self.done = None;
        self.target.say(&answer);
        Some(Ok(answer))
    }

    fn refuse(mut self, error: Error) -> Option<Result<Answer>> {
        self.done = None;
        Some(Err(error))
    }
}
