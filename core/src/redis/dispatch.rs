//! Carries out a request: in one round trip on the caller's thread if that is possible, else on the I/O thread.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::base::scope::UnkeptScope;
use crate::base::tasks::{Work, boxed};
use crate::engine::claim::Claim;
use crate::engine::departures::Departure;
use crate::engine::gate::Gates;
use crate::engine::holds::Meant;
use crate::engine::stats::Stats;
use crate::engine::{Engine, Serving, WINDOW};
use crate::redis::kinds::script::Call;
use crate::redis::link::{First, Limits, Outcome};
use crate::redis::ops::key_events;
use crate::redis::target::{Releasing, Target};
use crate::redis::wait::acquire;
use crate::redis::wait::lines::Waiter;
use crate::redis::wait::release::Begun;
use crate::redis::{Redis, kinds};
use crate::request::error::{Error, Loss, Result};
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Look, Op, Request, given_back};

impl Engine for Arc<Redis> {
    fn start(&self, inside: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        let done = plainly(self, seat.done());
        let ticket = seat.ticket();
        let answer = match Target::new(self, &request) {
            Ok(target) if request.op == Op::Acquire => {
                acquire::start(Waiter::new(target, ticket, &request, done).seated(seat.clone()), inside)?
            }
            Ok(target) => start(target, ticket, request, done)?,
            Err(error) => Err(error),
        };
        Some(answer.map_err(|error| error.without(&self.config.prefix)))
    }

    fn submit(&self, ticket: u64, request: Request, done: Done) {
        let done = plainly(self, done);
        match Target::new(self, &request) {
            Ok(target) => submit(target, ticket, request, done),
            Err(error) => done(Err(error)),
        }
    }

    fn cancel(&self, ticket: u64) {
        self.loss_listeners.cancel(ticket);
        key_events::cancel(self, ticket);
        let waiting = self.lines().cancel(ticket, Instant::now());
        drop(waiting);
    }

    fn look(&self, hold: u64) -> Look {
        self.holds(|holds| holds.look(hold, Instant::now()))
    }

    /// No client of Redis can ask.
    fn is_wanted(&self, _: u64) -> bool {
        false
    }

    fn loss_of(&self, hold: u64) -> Option<Loss> {
        self.holds(|holds| holds.loss_of(hold, Instant::now()))
    }

    fn abandon(&self, hold: u64) -> bool {
        self.holds(|holds| holds.abandon(hold, Instant::now()))
    }

    fn keep(&self, hold: u64) {
        self.holds(|holds| holds.keep(hold));
    }

    fn trace(&self, hold: u64, scope: UnkeptScope) {
        self.holds(|holds| holds.trace(hold, scope));
    }

    fn token(&self, hold: u64) -> Option<i64> {
        self.holds(|holds| holds.token(hold))
    }

    fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64> {
        let claim = Claim::new(kind, self.config.full_name(name), owner);
        self.holds(|holds| holds.latest(&claim))
    }

    fn owners(&self, name: &str) -> Vec<i64> {
        let name = self.config.full_name(name);
        self.holds(|holds| holds.owners(&name, Instant::now()))
    }

    fn is_held_back(&self, name: &str) -> bool {
        self.config.quarantine && self.link.held_back(&self.config.full_name(name)).is_some()
    }
}

impl Serving for Arc<Redis> {
    fn id(&self) -> &str {
        &self.uuid
    }

    fn supports(&self, kind: &str) -> Result<()> {
        kinds::name_of(kind).map(drop)
    }

    fn is_idle(&self) -> bool {
        self.holds(|holds| holds.is_empty())
    }

    fn stats(&self) -> Stats {
        self.counters.stats(self.holds(|holds| holds.figures().clone()))
    }

    fn restarts(&self) -> u64 {
        self.link.incarnation()
    }

    fn depart(&self, name: &Arc<str>) -> Departure {
        Redis::depart(self, name)
    }

    fn gates(&self) -> Arc<Gates> {
        self.gates.clone()
    }

    fn run(&self) -> Work {
        Redis::run(self)
    }

    fn end(&self) {
        Redis::end(self);
    }

    fn end_waits(&self) {
        Redis::end_waits(self);
    }

    fn tell_closed(&self) -> Vec<Claim> {
        Redis::tell_closed(self)
    }

    fn wind_up(&self, held: Vec<Claim>) -> Work {
        let redis = self.clone();
        boxed(async move { Redis::wind_up(&redis, held).await })
    }

    fn cut(&self) {
        self.link.close();
    }

    fn closed_error(&self) -> Error {
        Redis::closed_error(self)
    }
}

/// Wraps `done`: errors name the locks as the program named them.
fn plainly(redis: &Arc<Redis>, done: Done) -> Done {
    if redis.config.prefix.is_empty() {
        return done;
    }
    // The closure must not own the engine: a listener would keep it alive.
    let prefix = redis.config.prefix.clone();
    Box::new(move |result| done(result.map_err(|error| error.without(&prefix))))
}

/// Starts a request other than an acquire.
fn start(target: Target, ticket: u64, request: Request, done: Done) -> Option<Result<Answer>> {
    match request.op {
        Op::Release if target.row.traits.held => release(target, ticket, Meant::from(&request), done),
        Op::GiveBack if target.row.traits.held => {
            release(target, ticket, Meant::from(&request), giving_back(done)).map(given_back)
        }
        Op::Extend if !target.row.traits.held => ask(target, ticket, Op::Extend, done),
        Op::ForceRelease
        | Op::Delete
        | Op::Extend
        | Op::Renew
        | Op::LetGo
        | Op::Ping
        | Op::Keys
        | Op::Inventory
        | Op::Ask
        | Op::Watch
        | Op::Expiry
        | Op::Deletion => {
            submit(target, ticket, request, done);
            None
        }
        op => ask(target, ticket, op, done),
    }
}

fn submit(target: Target, ticket: u64, request: Request, done: Done) {
    let redis = target.redis.clone();
    match request.op {
        Op::Acquire => acquire::submit(Waiter::new(target, ticket, &request, done)),
        Op::Release if target.row.traits.held => submit_release(target, ticket, Meant::from(&request), done),
        Op::GiveBack if target.row.traits.held => {
            submit_release(target, ticket, Meant::from(&request), giving_back(done))
        }
        Op::ForceRelease => spawn(&redis, ticket, done, async move { target.force_release().await }),
        Op::Delete => spawn(&redis, ticket, done, async move { target.delete().await }),
        Op::Extend if target.row.traits.held => {
            spawn(&redis, ticket, done, async move { target.extend(request.hold).await })
        }
        Op::Renew => done(target.renew(request.hold)),
        Op::LetGo => {
            let at_least = request.lease.unwrap_or_default();
            spawn(&redis, ticket, done, target.let_go(request.hold, at_least))
        }
        Op::Ping => spawn(&redis, ticket, done, async move { target.ping().await }),
        Op::Keys => spawn(&redis, ticket, done, async move { target.keys().await }),
        Op::Inventory => spawn(&redis, ticket, done, async move { target.inventory().await }),
        Op::Ask => spawn(&redis, ticket, done, async move { target.ask_servers().await }),
        Op::Watch => redis.watch(request.hold, ticket, done),
        Op::Expiry | Op::Deletion => match (request.hold, request.wait) {
            (0, _) => spawn(&redis, ticket, done, key_events::subscribe(target, request.op)),
            (number, Some(Duration::ZERO)) => key_events::end(&redis, number, done),
            (number, _) => key_events::next(&redis, number, ticket, done),
        },
        op => spawn(&redis, ticket, done, async move { target.ask(op, None).await }),
    }
}

fn giving_back(done: Done) -> Done {
    Box::new(move |result| done(given_back(result)))
}

fn release(target: Target, ticket: u64, meant: Meant, done: Done) -> Option<Result<Answer>> {
    let redis = target.redis.clone();
    let (target, begun) = begin_release(target, meant);
    let releasing = match begun {
        Ok(Begun::Call(releasing)) => releasing,
        Ok(Begun::HandedOn(answer)) => return Some(Ok(answer)),
        Ok(Begun::Moved) => {
            spawn(&redis, ticket, done, async move { target.release(meant, None, Instant::now()).await });
            return None;
        }
        Err(error) => return Some(Err(error)),
    };
    let sent = Instant::now();
    let limits = Limits { response: target.response, window: WINDOW };
    match redis.link.run_direct(&releasing.call, limits) {
        Some(Outcome::Reply(reply)) => Some(target.released(releasing, reply, sent, false)),
        None => {
            let_go(target, meant, releasing, Caller::new(&redis, ticket, done));
            None
        }
        Some(outcome) => {
            let first = (releasing, Some((outcome, sent)));
            spawn(&redis, ticket, done, async move { target.release(meant, Some(first), sent).await });
            None
        }
    }
}

fn submit_release(target: Target, ticket: u64, meant: Meant, done: Done) {
    let redis = target.redis.clone();
    let (target, begun) = begin_release(target, meant);
    match begun {
        Ok(Begun::Call(releasing)) => let_go(target, meant, releasing, Caller::new(&redis, ticket, done)),
        Ok(Begun::HandedOn(answer)) => done(Ok(answer)),
        Ok(Begun::Moved) => {
            spawn(&redis, ticket, done, async move { target.release(meant, None, Instant::now()).await })
        }
        Err(error) => done(Err(error)),
    }
}

/// The first step of a release: `Moved` if another call about the hold is under way. Gives the target for the call.
fn begin_release(target: Target, meant: Meant) -> (Target, Result<Begun>) {
    let target = target.of_meant(meant);
    let Some(entry) = target.try_enter_grip() else { return (target, Ok(Begun::Moved)) };
    let target = target.through(entry.claim.owner);
    let begun = target.releasing(meant, entry);
    (target, begun)
}

/// Sends the first try of a release together with the first tries of other requests.
fn let_go(target: Target, meant: Meant, releasing: Box<Releasing>, caller: Caller) {
    let redis = target.redis.clone();
    let response = target.response;
    let since = Instant::now();
    redis.first(Box::new(Letting { target, meant, releasing, caller, since }), response);
}

/// The first try of a release on its way.
struct Letting {
    target: Target,
    meant: Meant,
    releasing: Box<Releasing>,
    caller: Caller,
    /// The time at which the call was ready.
    since: Instant,
}

impl First for Letting {
    fn call(&self) -> &Call {
        &self.releasing.call
    }

    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>) {
        let Letting { target, meant, releasing, mut caller, since } = *self;
        match tried {
            Some((Outcome::Reply(reply), sent)) => caller.tell(target.released(releasing, reply, sent, false)),
            tried => {
                let redis = target.redis.clone();
                let first = (releasing, tried);
                redis.spawn(async move { caller.tell(target.release(meant, Some(first), since).await) });
            }
        }
    }
}

fn ask(target: Target, ticket: u64, op: Op, done: Done) -> Option<Result<Answer>> {
    let redis = target.redis.clone();
    let now = Instant::now();
    let response = target.retry_limits_since(now, target.end_of(op, now)).response(now);
    let limits = Limits { response, window: WINDOW };
    let call = match target.ask_call(op) {
        Ok(call) => call,
        Err(error) => return Some(Err(error)),
    };
    let entry = if call.changes() { redis.gates.try_enter(&target.claim) } else { None };
    if (call.changes() && entry.is_none()) || target.counts_departures(op) {
        spawn(&redis, ticket, done, async move { target.ask(op, None).await });
        return None;
    }
    let before = target.count_of_tangled(op);
    let sent = Instant::now();
    match redis.link.run_direct(&call, limits) {
        Some(Outcome::Reply(reply)) => Some(target.informed(op, &call, reply, before)),
        None => {
            drop(entry);
            spawn(&redis, ticket, done, async move { target.ask(op, None).await });
            None
        }
        Some(outcome) => {
            spawn(&redis, ticket, done, async move { target.ask(op, Some((entry, call, (outcome, sent)))).await });
            None
        }
    }
}

/// Runs an operation on the I/O thread to its end: no caller can cancel it.
fn spawn(
    redis: &Arc<Redis>,
    ticket: u64,
    done: Done,
    operation: impl Future<Output = Result<Answer>> + Send + 'static,
) {
    let mut caller = Caller::new(redis, ticket, done);
    // It is big, and the task would have it twice.
    let operation = Box::pin(operation);
    redis.spawn(async move { caller.tell(operation.await) });
}

/// A caller whose answer comes later: it is answered exactly once, even if the task dies with its runtime.
struct Caller {
    redis: Arc<Redis>,
    ticket: u64,
    done: Option<Done>,
}

impl Caller {
    fn new(redis: &Arc<Redis>, ticket: u64, done: Done) -> Self {
        redis.lines().begin(ticket, None);
        Caller { redis: redis.clone(), ticket, done: Some(done) }
    }

    fn tell(&mut self, result: Result<Answer>) {
        self.redis.lines().end(self.ticket);
        if let Some(done) = self.done.take() {
            done(match result {
                Err(Error::Cancelled) => Err(self.redis.cancelled_error()),
                result => result,
            });
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.tell(Err(self.redis.closed_error()));
    }
}
