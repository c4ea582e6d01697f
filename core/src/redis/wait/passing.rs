//! A release that passes its hold on to the next waiter of the same client, in the same script call.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::engine::departures::Departure;
use crate::engine::gate::Entry;
use crate::engine::holds::Leaving;
use crate::engine::line::Line;
use crate::redis::kinds::reply::Reply;
use crate::redis::link::Sent;
use crate::redis::target::{Attempt, InFlight, Target};
use crate::redis::wait::acquire::once_more;
use crate::redis::wait::lines::{EndedWait, Patience, Waiter};
use crate::request::Answer;
use crate::request::error::Error;
use crate::request::seat::WAKE_UP;

pub struct Pass {
    pub to: Target,
    renewed: bool,
    patience: Patience,
    /// The client's turn lasts, and nothing has come since the server gave it the lock that says it may be another's.
    sure: bool,
    /// The server may pass the lock on, if this client does not.
    pub by_server: bool,
    /// The number of tokens that the server is to draw for those behind the heir.
    pub spare: u32,
    /// The hold that ends was shorter than the time that a thread needs to wake up.
    is_short: bool,
    /// The heir's right to send. `None`: the release itself has it, because the heir is the owner of the grip.
    entry: Option<Entry>,
    /// The heir has its result.
    is_over: bool,
}

impl Pass {
    /// Finds the heir of a hold that began at `since`, and that the server keeps under the field of the owner `grip`.
    /// `None`: the release frees the lock.
    pub fn find(from: &Target, since: Instant, grip: i64) -> Option<Pass> {
        let redis = &from.redis;
        let key = from.key();
        let now = Instant::now();
        let mut lines = redis.lines();
        let is_short = lines.had(&key, now).is_some_and(|had| had < WAKE_UP);
        let heir = |waiter: &Waiter| (waiter.target.clone(), waiter.renewed, waiter.patience);
        let (sure, by_server, waiting, (to, renewed, patience)) = lines.change(&key, now, |line| {
            let (to, ways) = line.pass(since, now).map(|(place, ways)| (heir(&place.waiter), ways))?;
            // The heir's other waiters ask for one hold more each, and that is the server's.
            let sure = ways.inside && !line.pace.is_doubted() && !line.waits(to.0.claim.owner);
            Some((sure, ways.by_server, line.waiting(), to))
        })??;
        drop(lines);
        let spare = if sure && renewed && !from.member { to.spare(waiting) } else { 0 };
        // Each owner has one changing call at a time: if one is in flight for the heir, the release passes nothing on.
        let is_grips = to.claim.owner == grip;
        let entry = if is_grips { None } else { redis.gates.try_enter(&to.claim) };
        let found = Pass { to, renewed, patience, sure, by_server, spare, is_short, entry, is_over: false };
        if found.entry.is_none() && !is_grips {
            found.put_back();
            return None;
        }
        Some(found)
    }

    /// Leaves the heir in its place: it waits on.
    pub fn put_back(mut self) {
        drop(self.end());
        let cancelled = self.to.redis.lines().change(&self.to.key(), Instant::now(), Line::put_back);
        answer_cancelled(cancelled.flatten().map(|place| place.waiter));
    }

    /// Hands the hold of `from` on inside this client, without a call: the heir holds it through the same
    /// grip. `None`: only the server may pass it on.
    pub fn hand_on(&mut self, from: &Target, leaving: &Leaving) -> Option<Heir> {
        let to = &self.to;
        if !self.sure || !self.renewed || from.member || !to.is_handed_on() {
            return None;
        }
        let (answer, until) = to.inherit(&from.claim, leaving.number)?;
        let heir = Heir { to: to.clone(), answer, until, is_short: self.is_short };
        self.end();
        Some(heir)
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
        match taken {
            Some(taken) => {
                // The order matters: if the hold goes back, no other call of the heir's may meet it.
                let out = comes_out(&self.to, Instant::now() + self.to.lease);
                self.end();
                out.hand_out(self.to.clone(), taken);
            }
            None => {
                self.end();
                self.to.free_late_grant_beside();
                return_to_line(&self.to);
            }
        }
    }

    /// Acquires for the heir the lock that it has already: like any acquire this one is confirmed, or given back. The
    /// former holder does not wait for that.
    async fn confirm(mut self) {
        let (to, Some(entry)) = (self.to.clone(), self.end()) else { return };
        let passed = Sent { connection: None, over: Instant::now() };
        let tried = match to.acquire_call() {
            Ok(mut call) => {
                call.grants = false;
                // Only an acquire that begins anew looks at its ticket. This one is for the heir's first hold: it never does.
                to.acquire(
                    0,
                    self.renewed,
                    to.retry_limits(self.patience.deadline()),
                    Some(InFlight { entry, call, tried: None, copies: vec![passed] }),
                )
                .await
            }
            Err(error) => Err(error),
        };
        match tried {
            Ok(Attempt::Taken(taken)) => comes_out(&to, Instant::now() + to.lease).hand_out(to, taken),
            Ok(Attempt::Busy(_)) => return_to_line(&to),
            Ok(Attempt::Late) => {
                to.free_late_grant_beside();
                return_to_line(&to);
            }
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
        if let Some(entry) = self.end() {
            self.to.give_back(entry, 0, copies);
        }
        return_to_line(&self.to);
    }

    /// Notes that the heir has its result. Gives its right to send.
    fn end(&mut self) -> Option<Entry> {
        self.is_over = true;
        self.entry.take()
    }
}

/// A waiter that has the lock, and does not know it yet.
pub struct Heir {
    to: Target,
    answer: Answer,
    /// The time until which the client believes in its hold.
    until: Instant,
    /// See [`Pass::is_short`].
    is_short: bool,
}

thread_local! {
    /// The heirs that this thread has still to tell, and whether it is about to.
    static UNTOLD: RefCell<VecDeque<Heir>> = const { RefCell::new(VecDeque::new()) };
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

/// Notes at its drop that this thread tells no heir any more.
struct Telling;

impl Drop for Telling {
    fn drop(&mut self) {
        TELLS.set(false);
        // Some are left only after a panic in a caller's code: no other heir waits for that.
        for heir in UNTOLD.take() {
            let redis = heir.to.redis.clone();
            redis.spawn(async move { heir.tell() });
        }
    }
}

impl Heir {
    fn gets_it(self) {
        let Heir { to, answer, until, is_short } = self;
        let OutOfLine { returned, twins, leaving } = comes_out(&to, until);
        once_more(twins);
        match returned {
            Some((waiter, false)) if !to.redis.is_closed() => {
                let may_wait = to.redis.lines().hands_to(&to.key(), &waiter, Instant::now());
                if is_short && may_wait { waiter.offer(answer) } else { waiter.answer(Ok(answer)) }
            }
            returned => hand_out(to, answer, returned, leaving),
        }
    }

    /// Tells it. An heir that releases the lock on this thread while it is told has the next heir told after it: inside,
    /// that would be a recursion through all waiters.
    pub fn tell(self) {
        UNTOLD.with_borrow_mut(|untold| untold.push_back(self));
        if TELLS.replace(true) {
            return;
        }
        let _telling = Telling;
        while let Some(heir) = UNTOLD.with_borrow_mut(VecDeque::pop_front) {
            heir.gets_it();
        }
    }
}

/// Takes the heir, which has the lock until `until` at most, out of its line. All heirs of a turn have the same end: if it
/// came a little earlier each time, each would wake the I/O thread.
fn comes_out(to: &Target, until: Instant) -> OutOfLine {
    let key = to.key();
    let now = Instant::now();
    let mut lines = to.redis.lines();
    lines.change(&key, now, |line| line.pace.near(Some(until - now), now));
    let returned = lines.returned(&key, now);
    let twins = lines.take_twins(to, now);
    drop(lines);
    OutOfLine::new(to, returned, twins)
}

/// A waiter that has the lock, out of its line.
pub struct OutOfLine {
    /// The waiter, and whether it was cancelled; `None`: its wait was over, and it has its answer.
    returned: Option<(Waiter, bool)>,
    /// The other waiters of its owner.
    twins: Vec<Waiter>,
    leaving: Option<Departure>,
}

impl OutOfLine {
    pub fn new(target: &Target, returned: Option<(Waiter, bool)>, twins: Vec<Waiter>) -> Self {
        // The hold of a waiter that has its answer is on its way back before its twins look.
        let leaving = returned.is_none().then(|| target.redis.departures.begin(target.departs_as().into()));
        OutOfLine { returned, twins, leaving }
    }

    pub fn hand_out(self, target: Target, taken: Answer) {
        once_more(self.twins);
        hand_out(target, taken, self.returned, self.leaving);
    }
}

/// The drop without a result means that nothing was passed on: the heir tries for itself.
impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_over {
            drop(self.entry.take());
            return_to_line(&self.to);
        }
    }
}

/// Answers a waiter that has the lock, or gives the hold back if its caller is gone. `returned`: the waiter, and
/// whether it was cancelled. `leaving`: the hold is on its way back already.
pub fn hand_out(target: Target, taken: Answer, returned: Option<(Waiter, bool)>, leaving: Option<Departure>) {
    let redis = target.redis.clone();
    match returned {
        Some((waiter, false)) if !redis.is_closed() => waiter.answer(Ok(taken)),
        returned => {
            let departure = leaving.unwrap_or_else(|| redis.departures.begin(target.departs_as().into()));
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
