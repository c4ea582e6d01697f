//! How an acquire begins: in line behind others, or by a try of its own, on the caller's thread where that is possible.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::gate::Turn;
use crate::engine::pace::{Busy, Met};
use crate::engine::word::AN_ANSWER;
use crate::redis::kinds::script::Call;
use crate::redis::link::{First, Limits, Outcome};
use crate::redis::target::{Begun, Target, Tried};
use crate::redis::wait::contend;
use crate::redis::wait::lines::{Joined, Patience, Waiting};
use crate::redis::wait::passing::{answer_cancelled, hand_out, refuse};
use crate::request::Done;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Request};

/// On the caller's thread, for no longer than `inside`; `None`: the waiter will be answered.
pub fn start(waiting: Waiting, inside: Duration) -> Option<Result<Answer>> {
    let waiting = stand_in_line(waiting)?;
    let (target, now) = (waiting.target.clone(), Instant::now());
    let redis = &target.redis;
    let Some(turn) = redis.gates.try_enter(&target.claim) else {
        go_on(waiting, None, now);
        return None;
    };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiting.refuse(error),
    };
    let tries = target.tries(waiting.patience.deadline());
    let response = tries.response(now);
    // A try that ends early costs its connection and a second one, which a caller may not allow: it is for a server that hangs, not for one
    // that is far away.
    if inside < response && (tries.give_up <= now + inside || !redis.link.is_likely_within(&call, inside)) {
        beside_others(waiting, turn, call, now);
        return None;
    }
    let limits = Limits { response: response.min(inside), window: WINDOW };
    match redis.link.run_direct(&call, limits) {
        None => beside_others(waiting, turn, call, now),
        Some(Outcome::Reply(reply)) => match target.acquired(&call, reply, waiting.watched, now) {
            Ok(Some(Tried::Taken(taken))) if !redis.is_closed() => return waiting.answer_here(taken),
            Ok(Some(Tried::Taken(taken))) => {
                drop(turn);
                hand_out(target, taken, Some((waiting, true)));
            }
            Ok(Some(Tried::Busy(_))) if waiting.patience == Patience::Once => return waiting.answer_here(Answer::not_now()),
            Ok(Some(Tried::Busy(busy))) => {
                // In this order: the end of the owner's former wait would give the place in the queue up.
                join(waiting, busy);
                drop(turn);
            }
            Err(error) => return waiting.refuse(error),
            Ok(None) => {
                drop(turn);
                go_on(waiting, None, now);
            }
        },
        Some(outcome) => go_on(waiting, Some(Begun { turn, call, tried: Some((outcome, now)), copies: Vec::new() }), now),
    }
    None
}

/// On the I/O thread.
pub fn submit(waiting: Waiting) {
    let Some(waiting) = stand_in_line(waiting) else { return };
    let (target, now) = (&waiting.target, Instant::now());
    let Some(turn) = target.redis.gates.try_enter(&target.claim) else { return go_on(waiting, None, now) };
    let call = match target.acquire_call() {
        Ok(call) => call,
        Err(error) => return waiting.answer(Err(error)),
    };
    beside_others(waiting, turn, call, now);
}

/// Has a first try made together with those of others, where that may be.
fn beside_others(waiting: Waiting, turn: Turn, call: Call, since: Instant) {
    let target = &waiting.target;
    if call.confirmed && target.redis.link.confirms(&target.claim.name) {
        return go_on(waiting, Some(Begun { turn, call, tried: None, copies: Vec::new() }), since);
    }
    let (redis, response) = (target.redis.clone(), target.tries_since(since, waiting.patience.deadline()).response(since));
    redis.lines().begin(waiting.ticket);
    redis.first(Box::new(Trying { turn, call, waiting, since }), response);
}

/// A first try on its way.
struct Trying {
    turn: Turn,
    call: Call,
    waiting: Waiting,
    /// When its caller asked.
    since: Instant,
}

impl First for Trying {
    fn call(&self) -> &Call {
        &self.call
    }

    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>) {
        let Trying { turn, call, waiting, since } = *self;
        match tried {
            Some((Outcome::Reply(reply), sent)) => {
                let acquired = waiting.target.acquired(&call, reply, waiting.watched, sent).transpose();
                drop(turn);
                match acquired {
                    Some(tried) => end(waiting, tried),
                    None => go_on(waiting, None, since),
                }
            }
            tried => go_on(waiting, tried.map(|tried| Begun { turn, call, tried: Some(tried), copies: Vec::new() }), since),
        }
    }
}

/// Stands in line where others wait already or a hold of this client is in the way; `Some`: the way is free.
fn stand_in_line(mut waiting: Waiting) -> Option<Waiting> {
    let (target, now) = (waiting.target.clone(), Instant::now());
    if waiting.patience == Patience::Once {
        return Some(waiting);
    }
    let key = target.key();
    let mut lines = target.redis.lines();
    let near = match target.count() {
        0 => Some(target.is_near(now)),
        _ => None,
    };
    let has_a_line = lines.is_waited_in(&key, now) && (lines.is_taken(&key, now) || !is_short(&waiting, now));
    match near {
        Some(near) if near || has_a_line => {
            let joined = lines.join(waiting, if near { Met::Near } else { Met::Unknown }, now);
            drop(lines);
            started(&target, joined);
            None
        }
        // Whoever has it already takes it once more at once.
        _ => {
            waiting.heard = lines.has(&key).then(|| target.heard()).flatten();
            Some(waiting)
        }
    }
}

/// Whether it waits for less than an answer may take: where its line has no word for it, it asks for itself.
fn is_short(waiting: &Waiting, now: Instant) -> bool {
    waiting.patience.deadline().is_some_and(|deadline| deadline < now + AN_ANSWER)
}

/// Stands in line after a try, which met this.
fn join(waiting: Waiting, busy: Busy) {
    let (target, now) = (waiting.target.clone(), Instant::now());
    let joined = {
        let mut lines = target.redis.lines();
        let met = match target.is_near(now) {
            true => Met::Near,
            // It listened all the while: no second try has more to say.
            false if waiting.heard.is_some() && waiting.heard == target.heard() => Met::Busy(busy),
            false => Met::WasBusy(busy),
        };
        lines.join(waiting, met, now)
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
        Joined::Cancelled(waiting) => {
            target.leave_behind();
            answer_cancelled(Some(*waiting));
        }
    }
}

/// The owner of these waiters has the lock now: like any call of a holder, each asks for one hold more. The first one has the owner's turn
/// before the lock can be let go: it is not to wait behind those who came later.
pub fn once_more(twins: Vec<Waiting>) {
    let now = Instant::now();
    for waiting in twins {
        let target = &waiting.target;
        let begun = target.redis.gates.try_enter(&target.claim).and_then(|turn| {
            let call = target.acquire_call().ok()?;
            Some(Begun { turn, call, tried: None, copies: Vec::new() })
        });
        go_on(waiting, begun, now);
    }
}

/// Goes on with an acquire on the I/O thread; `first` is a try that was made before, `since` when all of it began.
fn go_on(waiting: Waiting, first: Option<Begun>, since: Instant) {
    let target = waiting.target.clone();
    target.redis.lines().begin(waiting.ticket);
    let redis = target.redis.clone();
    redis.spawn(async move {
        // A caller that waits has another end, or none.
        let since = if waiting.patience == Patience::Once { since } else { Instant::now() };
        let tried = target.acquire(waiting.watched, target.tries_since(since, waiting.patience.deadline()), first).await;
        end(waiting, tried);
    });
}

/// What becomes of an acquire that was tried where its caller cannot see it.
fn end(waiting: Waiting, tried: Result<Tried>) {
    let (target, late) = (waiting.target.clone(), waiting.patience.is_over(Instant::now()));
    match tried {
        Ok(Tried::Taken(taken)) => {
            let cancelled = target.redis.lines().is_cancelled(waiting.ticket);
            hand_out(target, taken, Some((waiting, cancelled)));
        }
        Ok(Tried::Busy(busy)) if !late => join(waiting, busy),
        Ok(_) => {
            target.leave_behind();
            waiting.answer(Ok(Answer::not_now()));
        }
        Err(error) => {
            let once = waiting.patience == Patience::Once;
            let error = if late && !once { target.unanswered(Some(error)) } else { error };
            refuse(&target, vec![(waiting, Err(error))], true);
        }
    }
}

impl Waiting {
    pub fn new(target: Target, ticket: u64, request: &Request, done: Done) -> Self {
        let patience = match request.wait {
            Some(Duration::ZERO) => Patience::Once,
            Some(wait) => Patience::Until(Instant::now() + wait),
            None => Patience::Forever,
        };
        Waiting { ticket, target, watched: request.lease.is_none(), patience, heard: None, number: 0, done: Some(done) }
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
