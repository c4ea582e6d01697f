//! The beginning of an acquire: it joins a line behind other waiters, or makes a try of its own, on the caller's thread
//! if that is possible.

use std::sync::Arc;
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
use crate::redis::wait::barge::barge;
use crate::redis::wait::contend;
use crate::redis::wait::lines::{Joined, Patience, Waiter};
use crate::redis::wait::passing::{answer_cancelled, hand_out, refuse};
use crate::request::Done;
use crate::request::error::{Error, Result};
use crate::request::seat::Seat;
use crate::request::{Answer, Request};

/// Runs on the caller's thread, for no longer than `inside`. `None`: the waiter will get its answer later.
pub fn start(waiter: Waiter, inside: Duration) -> Option<Result<Answer>> {
    if let Some(taken) = barge(&waiter) {
        return waiter.answer_here(taken);
    }
    let waiter = stand_in_line(waiter)?;
    let target = waiter.target.clone();
    let now = Instant::now();
    let redis = &target.redis;
    let Some(entry) = try_enter(&waiter) else {
        go_on(waiter, None, now);
        return None;
    };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiter.refuse(error),
    };
    let retry = target.retry_limits(waiter.patience.deadline());
    let response = retry.response(now);
    // A try that is cut short costs its connection, and a second try that the caller may have no time for. So `inside`
    // is for a server that hangs; a try to one that is far away goes over the I/O thread.
    if inside < response && (retry.give_up <= now + inside || !redis.link.is_likely_within(&call, inside)) {
        beside_others(waiter, entry, call, now);
        return None;
    }
    let limits = Limits { response: response.min(inside), window: WINDOW };
    match redis.link.run_direct(&call, limits) {
        None => beside_others(waiter, entry, call, now),
        Some(Outcome::Reply(reply)) => match target.acquired(&call, reply, waiter.renewed, now) {
            Ok(Some(Attempt::Taken(taken))) if !redis.is_closed() => {
                let twins = redis.lines().take_twins(&target, Instant::now());
                once_more(twins);
                return waiter.answer_here(taken);
            }
            Ok(Some(Attempt::Taken(taken))) => {
                drop(entry);
                hand_out(target, taken, Some((waiter, true)), None);
            }
            Ok(Some(Attempt::Busy(_))) if waiter.patience == Patience::Once => {
                return waiter.answer_here(Answer::not_now());
            }
            Ok(Some(Attempt::Busy(busy))) => {
                // The order matters: the end of the owner's former wait would give the place in the queue up.
                join(waiter, Some(busy), now);
                drop(entry);
            }
            Ok(Some(Attempt::Late)) => {
                if waiter.patience.is_over(Instant::now()) {
                    target.free_late_grant();
                    return waiter.refuse(target.granted_late());
                }
                join_late(waiter, now);
                drop(entry);
            }
            Err(error) => return waiter.refuse(error),
            Ok(None) => {
                drop(entry);
                go_on(waiter, None, now);
            }
        },
        Some(outcome) => {
            go_on(waiter, Some(InFlight { entry, call, tried: Some((outcome, now)), copies: Vec::new() }), now)
        }
    }
    None
}

/// Runs on the I/O thread.
pub fn submit(waiter: Waiter) {
    let Some(waiter) = stand_in_line(waiter) else { return };
    let target = &waiter.target;
    let now = Instant::now();
    let Some(entry) = try_enter(&waiter) else { return go_on(waiter, None, now) };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiter.answer(Err(error)),
    };
    beside_others(waiter, entry, call, now);
}

/// The right to send a first try now. `None`: another call of the owner is inside; or the server does not know the holder
/// that this client knows; or the caller minds a hold that is on its way back.
fn try_enter(waiter: &Waiter) -> Option<Entry> {
    let target = &waiter.target;
    let is_early = target.minds_departures(waiter.patience) && target.has_departures();
    let entry = if is_early { None } else { target.redis.gates.try_enter(&target.claim) };
    // The order matters: while the entry lasts, no hold gets tangled with this owner.
    entry.filter(|_| target.tangle().is_none())
}

/// Sends the first try together with those of others, if it may.
fn beside_others(waiter: Waiter, entry: Entry, call: Call, since: Instant) {
    let target = &waiter.target;
    if call.confirmed && target.redis.link.confirms(&target.claim.name) {
        return go_on(waiter, Some(InFlight { entry, call, tried: None, copies: Vec::new() }), since);
    }
    let redis = target.redis.clone();
    let response = target.retry_limits_since(since, waiter.patience.deadline()).response(since);
    redis.lines().begin(waiter.ticket, Some(&target.claim.name));
    redis.first(Box::new(FirstTry { entry, call, waiter, since }), response);
}

/// A first try on its way.
struct FirstTry {
    entry: Entry,
    call: Call,
    waiter: Waiter,
    /// The time at which the caller asked.
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
                    Some(tried) => end(waiter, tried, since),
                    None => go_on(waiter, None, since),
                }
            }
            // Without a try it still has its turn: a later call of its owner must not go before it.
            tried => go_on(waiter, Some(InFlight { entry, call, tried, copies: Vec::new() }), since),
        }
    }
}

/// Joins a line if others wait already, or if a hold of this client is in the way. `Some`: the way is free.
fn stand_in_line(mut waiter: Waiter) -> Option<Waiter> {
    let target = waiter.target.clone();
    let now = Instant::now();
    if waiter.patience == Patience::Once {
        return Some(waiter);
    }
    let key = target.key();
    // This may find that a hold has ended, which the program is told of: no line is locked meanwhile.
    let count = target.count();
    let mut lines = target.redis.lines();
    // Inside the lines: an owner that gets the lock after this look finds its waiter there.
    let has_it = count > 0 || target.by_another_kind(now).is_some();
    let near = (!has_it).then(|| target.is_near(now));
    let has_a_line = lines.is_waited_in(&key, now) && (lines.is_taken(&key, now) || !is_short(&waiter, now));
    match near {
        Some(near) if near || has_a_line => {
            let joined = lines.join(waiter, if near { Obstacle::Near } else { Obstacle::Unknown }, now);
            drop(lines);
            started(&target, joined);
            None
        }
        // An owner that has the lock takes it once more at once, by any kind: those in line wait for that owner.
        _ => {
            waiter.heard = lines.has(&key).then(|| target.heard()).flatten();
            Some(waiter)
        }
    }
}

/// Tells whether the wait is shorter than an answer may take. Then the waiter asks for itself if its line has no proof
/// that the lock is taken.
fn is_short(waiter: &Waiter, now: Instant) -> bool {
    waiter.patience.deadline().is_some_and(|deadline| deadline < now + AN_ANSWER)
}

/// Joins the line after a try since `since` that was granted too late. The line asks again at once.
fn join_late(waiter: Waiter, since: Instant) {
    waiter.target.free_late_grant_beside();
    join(waiter, None, since);
}

/// Joins the line after a try since `since` that found the lock `busy`; `None`: it has not told.
fn join(waiter: Waiter, busy: Option<Busy>, since: Instant) {
    let target = waiter.target.clone();
    let now = Instant::now();
    let joined = {
        let mut lines = target.redis.lines();
        if target.is_let_in_since(since, now) {
            drop(lines);
            return once_more(vec![waiter]);
        }
        let met = match busy {
            _ if target.is_near(now) => Obstacle::Near,
            None => Obstacle::Unknown,
            // The line listened all the while: a second try would find the same.
            Some(busy) if waiter.heard.is_some() && waiter.heard == target.heard() => Obstacle::Busy(busy),
            Some(busy) => Obstacle::WasBusy(busy),
        };
        lines.join(waiter, met, now)
    };
    started(&target, joined);
}

pub fn started(target: &Target, joined: Joined) {
    match joined {
        Joined::InLine(Some(_)) => {
            drop(target.redis.io.spawn(contend::run(target.of_no_caller())));
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

/// Starts the waiters of an owner that has the lock now: like any call of a holder, each asks for one hold more. The
/// first one gets the owner's right to send before a release can: it must not wait behind later calls.
pub fn once_more(twins: Vec<Waiter>) {
    let now = Instant::now();
    for waiter in twins {
        let target = &waiter.target;
        let begun = try_enter(&waiter).and_then(|entry| {
            let call = target.acquire_call().ok()?;
            Some(InFlight { entry, call, tried: None, copies: Vec::new() })
        });
        go_on(waiter, begun, now);
    }
}

/// Continues an acquire on the I/O thread. `first` is a try that was made before, `since` the beginning of all of it.
fn go_on(waiter: Waiter, first: Option<InFlight>, since: Instant) {
    let target = waiter.target.clone();
    target.redis.lines().begin(waiter.ticket, Some(&target.claim.name));
    let redis = target.redis.clone();
    redis.spawn(async move {
        // The time limit of a single try counts from its beginning. A caller that waits has its own deadline, or none.
        let once = waiter.patience == Patience::Once;
        let counts_from = if once { since } else { Instant::now() };
        let retry = target.retry_limits_since(counts_from, waiter.patience.deadline());
        if once && first.is_none() {
            target.departed(waiter.ticket, retry).await;
        }
        let tried = target.acquire(waiter.ticket, waiter.renewed, retry, first).await;
        end(waiter, tried, since);
    });
}

/// Ends an acquire whose try, since `since`, ran out of its caller's sight.
fn end(waiter: Waiter, tried: Result<Attempt>, since: Instant) {
    let target = waiter.target.clone();
    let late = waiter.patience.is_over(Instant::now());
    match tried {
        Ok(Attempt::Taken(taken)) => {
            let (cancelled, twins) = {
                let mut lines = target.redis.lines();
                (lines.is_cancelled(waiter.ticket), lines.take_twins(&target, Instant::now()))
            };
            once_more(twins);
            hand_out(target, taken, Some((waiter, cancelled)), None);
        }
        Ok(Attempt::Busy(busy)) if !late => join(waiter, Some(busy), since),
        Ok(Attempt::Late) if !late => join_late(waiter, since),
        Ok(Attempt::Late) => {
            target.free_late_grant();
            refuse(&target, vec![(waiter, Err(target.granted_late()))], true);
        }
        Ok(Attempt::Busy(_)) => {
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
        let renewed = request.lease.is_none();
        let asked = target.redis.counters.begin(request);
        Waiter { ticket, target, renewed, patience, heard: None, number: 0, seat: None, asked, done: Some(done) }
    }

    /// The same, whose thread waits in this seat.
    pub fn seated(mut self, seat: Arc<Seat>) -> Self {
        self.seat = Some(seat);
        self
    }

    /// Gives the answer to the caller's thread itself; `done` is not called.
    fn answer_here(mut self, answer: Answer) -> Option<Result<Answer>> {
        self.done = None;
        self.say(Ok(&answer));
        Some(Ok(answer))
    }

    fn refuse(mut self, error: Error) -> Option<Result<Answer>> {
        self.done = None;
        self.say(Err(&error));
        Some(Err(error))
    }
}
