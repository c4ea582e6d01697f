//! How a request is carried out: in one round trip on the caller's thread where that is possible, else on the I/O thread.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::redis::Live;
use crate::redis::kinds::script::Call;
use crate::redis::link::{First, Limits, Outcome};
use crate::redis::ops::key_events;
use crate::redis::target::{Releasing, Target};
use crate::redis::wait::acquire;
use crate::redis::wait::lines::Waiting;
use crate::request::Done;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op, Request};

/// On the caller's thread, an acquire for no longer than `inside`; `None`: `done` will be called.
pub fn start(live: &Arc<Live>, inside: Duration, ticket: u64, request: Request, done: Done) -> Option<Result<Answer>> {
    let target = match Target::new(live, &request) {
        Ok(target) => target,
        Err(error) => return Some(Err(error)),
    };
    match request.op {
        Op::Acquire => acquire::start(Waiting::new(target, ticket, &request, done), inside),
        Op::Release if target.row.0.held => release(target, ticket, request.hold, done),
        Op::Extend if !target.row.0.held => ask(target, ticket, Op::Extend, done),
        Op::ForceRelease | Op::Delete | Op::Extend | Op::Ping | Op::Keys | Op::Watch | Op::Expiry | Op::Deletion => {
            submit(live, ticket, request, done);
            None
        }
        op => ask(target, ticket, op, done),
    }
}

/// On the I/O thread, or on the way of another call.
pub fn submit(live: &Arc<Live>, ticket: u64, request: Request, done: Done) {
    let target = match Target::new(live, &request) {
        Ok(target) => target,
        Err(error) => return done(Err(error)),
    };
    match request.op {
        Op::Acquire => acquire::submit(Waiting::new(target, ticket, &request, done)),
        Op::Release if target.row.0.held => submit_release(target, ticket, request.hold, done),
        Op::ForceRelease => spawn(live, ticket, done, async move { target.force_release().await }),
        Op::Delete => spawn(live, ticket, done, async move { target.delete().await }),
        Op::Extend if target.row.0.held => spawn(live, ticket, done, async move { target.extend(request.hold).await }),
        Op::Ping => spawn(live, ticket, done, async move { target.ping().await }),
        Op::Keys => spawn(live, ticket, done, async move { target.keys().await }),
        Op::Watch => live.watch(request.hold, ticket, done),
        Op::Expiry | Op::Deletion => match (request.hold, request.wait) {
            (0, _) => spawn(live, ticket, done, key_events::subscribe(target, request.op)),
            (number, Some(Duration::ZERO)) => key_events::end(live, number, done),
            (number, _) => key_events::next(live, number, ticket, done),
        },
        op => spawn(live, ticket, done, async move { target.ask(op, None).await }),
    }
}

fn release(target: Target, ticket: u64, number: u64, done: Done) -> Option<Result<Answer>> {
    let live = target.live.clone();
    let Some(turn) = live.gates.try_enter(&target.slot) else {
        spawn(&live, ticket, done, async move { target.release(number, None, Instant::now()).await });
        return None;
    };
    let releasing = match target.releasing(number, turn) {
        Ok(releasing) => releasing,
        Err(error) => return Some(Err(error)),
    };
    let (sent, limits) = (Instant::now(), Limits { response: target.response, window: WINDOW });
    match live.link.run_direct(&releasing.call, limits) {
        Some(Outcome::Reply(reply)) => Some(target.released(releasing, reply, sent, false)),
        None => {
            let_go(target, number, releasing, End::new(&live, ticket, done));
            None
        }
        Some(outcome) => {
            let first = Box::new((releasing, Some((outcome, sent))));
            spawn(&live, ticket, done, async move { target.release(number, Some(first), sent).await });
            None
        }
    }
}

fn submit_release(target: Target, ticket: u64, number: u64, done: Done) {
    let live = target.live.clone();
    let Some(turn) = live.gates.try_enter(&target.slot) else {
        return spawn(&live, ticket, done, async move { target.release(number, None, Instant::now()).await });
    };
    match target.releasing(number, turn) {
        Ok(releasing) => let_go(target, number, releasing, End::new(&live, ticket, done)),
        Err(error) => done(Err(error)),
    }
}

/// Has a release tried together with the first tries of others.
fn let_go(target: Target, number: u64, releasing: Releasing, end: End) {
    let (live, response, since) = (target.live.clone(), target.response, Instant::now());
    live.first(Box::new(Letting { target, number, releasing, end, since }), response);
}

/// The first try of a release on its way.
struct Letting {
    target: Target,
    number: u64,
    releasing: Releasing,
    end: End,
    /// When it was made ready.
    since: Instant,
}

impl First for Letting {
    fn call(&self) -> &Call {
        &self.releasing.call
    }

    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>) {
        let Letting { target, number, releasing, mut end, since } = *self;
        match tried {
            Some((Outcome::Reply(reply), sent)) => end.tell(target.released(releasing, reply, sent, false)),
            tried => {
                let (live, first) = (target.live.clone(), Box::new((releasing, tried)));
                live.spawn(async move { end.tell(target.release(number, Some(first), since).await) });
            }
        }
    }
}

fn ask(target: Target, ticket: u64, op: Op, done: Done) -> Option<Result<Answer>> {
    let (live, limits) = (target.live.clone(), Limits { response: target.response, window: WINDOW });
    let call = match target.ask_call(op) {
        Ok(call) => call,
        Err(error) => return Some(Err(error)),
    };
    let turn = if call.changes() { live.gates.try_enter(&target.slot) } else { None };
    if call.changes() && turn.is_none() {
        spawn(&live, ticket, done, async move { target.ask(op, None).await });
        return None;
    }
    let sent = Instant::now();
    match live.link.run_direct(&call, limits) {
        Some(Outcome::Reply(reply)) => Some(target.told(&call, reply)),
        None => {
            drop(turn);
            spawn(&live, ticket, done, async move { target.ask(op, None).await });
            None
        }
        Some(outcome) => {
            spawn(&live, ticket, done, async move { target.ask(op, Some((turn, call, (outcome, sent)))).await });
            None
        }
    }
}

/// Carries an operation out on the I/O thread, to its end: it cannot be cancelled.
pub fn spawn(live: &Arc<Live>, ticket: u64, done: Done, operation: impl Future<Output = Result<Answer>> + Send + 'static) {
    live.spawn(ending(live, ticket, done, operation));
}

/// As [`spawn`] for what may last as long as the client does: the client's end ends it.
pub fn spawn_apart(live: &Arc<Live>, ticket: u64, done: Done, operation: impl Future<Output = Result<Answer>> + Send + 'static) {
    live.spawn_apart(ending(live, ticket, done, operation));
}

fn ending(
    live: &Arc<Live>,
    ticket: u64,
    done: Done,
    operation: impl Future<Output = Result<Answer>> + Send + 'static,
) -> impl Future<Output = ()> + Send + 'static {
    let mut end = End::new(live, ticket, done);
    // It is big, and would be twice in the task.
    let operation = Box::pin(operation);
    async move { end.tell(operation.await) }
}

/// Calls `done` exactly once, also when the task dies with its runtime.
struct End {
    live: Arc<Live>,
    ticket: u64,
    done: Option<Done>,
}

impl End {
    fn new(live: &Arc<Live>, ticket: u64, done: Done) -> Self {
        live.lines().begin(ticket);
        End { live: live.clone(), ticket, done: Some(done) }
    }

    fn tell(&mut self, result: Result<Answer>) {
        self.live.lines().end(self.ticket);
        if let Some(done) = self.done.take() {
            done(match result {
                Err(Error::Cancelled) => Err(self.live.cancelled_error()),
                result => result,
            });
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.tell(Err(self.live.closed_error()));
    }
}
