//! All lines of a client, and the state of each request that was not answered at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::sync::Notify;

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::departures::{Departure, Departures};
use crate::engine::line::{Line, Place, Returned, Step};
use crate::engine::pace::Obstacle;
use crate::engine::stats::Asked;
use crate::redis::kinds::{KindRow, Queue, Traits, multi};
use crate::redis::target::Target;
use crate::request::error::{Error, Result};
use crate::request::seat::{GRACE, Offer, Seat};
use crate::request::{Answer, Done};

/// The lock of a line, and the owner whose line it is; 0: the line of all owners.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LineKey {
    pub kind: &'static str,
    pub name: Arc<str>,
    pub owner: i64,
}

#[derive(Default)]
pub struct Lines {
    lines: HashMap<LineKey, OpenLine, RandomState>,
    tickets: HashMap<u64, Stage, RandomState>,
    departures: Arc<Departures>,
    /// The client is closed: no waiter joins a line any more.
    closed: bool,
}

struct OpenLine {
    line: Line<Waiter>,
    /// Wakes the line's task.
    nudge: Arc<Notify>,
    target: Target,
    last: Handed,
    /// The time at which that task looks again by itself.
    armed: Instant,
    /// The error of its last try; `None`: the server answered.
    trouble: Option<Error>,
}

/// The last holder that got the lock inside this client.
#[derive(Default)]
struct Handed {
    /// Its owner, and the seat of its thread; `None`: no thread waited for it.
    to: Option<(i64, Arc<Seat>)>,
    /// The time at which its running thread took the lock by itself.
    barged: Option<Instant>,
}

impl Handed {
    /// The time for which its thread has had the lock; `None`: the thread has not come for it, or is not known.
    fn had(&self, now: Instant) -> Option<Duration> {
        let since = self.barged.or_else(|| self.to.as_ref()?.1.taken_at());
        since.map(|since| now.saturating_duration_since(since))
    }
}

/// For the task of a line.
pub struct NextStep {
    /// The waiters whose time has run out.
    pub late: Vec<EndedWait>,
    pub step: Step,
    /// The latest time for the next look.
    pub until: Instant,
}

/// A waiter whose wait has ended, and its result.
pub type EndedWait = (Waiter, Result<Answer>);

/// The state of a request.
enum Stage {
    /// `lock`: that of an acquire.
    Running {
        cancelled: bool,
        lock: Option<Arc<str>>,
        leaving: Leaving,
    },
    Waiting {
        line: LineKey,
        leaving: Leaving,
    },
}

/// An acquire that was asked to end may still get the lock, and gives it back then. That is a departure, until it has ended.
type Leaving = Option<Departure>;

/// An acquire without an answer. A drop answers that the client is closed.
pub struct Waiter {
    pub ticket: u64,
    pub target: Target,
    pub renewed: bool,
    pub patience: Patience,
    /// The number of messages that its line had heard before its own first try, if the line listened.
    pub heard: Option<u64>,
    /// Its former place in the line, if it comes back there, as [`Place::number`].
    pub number: u64,
    /// The seat in which its thread waits.
    pub seat: Option<Arc<Seat>>,
    /// It counts until it has an answer; `None`: it is none for a lock.
    pub asked: Option<Asked>,
    pub done: Option<Done>,
}

/// The time that a caller is willing to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    Once,
    Until(Instant),
    Forever,
}

impl Patience {
    /// The time at which the caller stops waiting, if that is known.
    pub fn deadline(self) -> Option<Instant> {
        match self {
            Patience::Until(deadline) => Some(deadline),
            Patience::Once | Patience::Forever => None,
        }
    }

    pub fn is_over(self, now: Instant) -> bool {
        self == Patience::Once || self.deadline().is_some_and(|deadline| deadline <= now)
    }
}

/// The line in which an owner of a lock waits by a kind with these traits.
pub fn key(claim: &Claim, traits: &Traits) -> LineKey {
    let owner = if traits.queue == Queue::Alone { claim.owner } else { 0 };
    LineKey { kind: traits.name, name: claim.name.clone(), owner }
}

/// The result of a join.
pub enum Joined {
    /// `Some`: the line is new and needs its task.
    InLine(Option<LineKey>),
    Cancelled(Box<Waiter>),
}

impl Lines {
    pub fn new(departures: Arc<Departures>) -> Self {
        Lines { departures, ..Lines::default() }
    }

    /// Notes that a request continues out of its caller's sight. `lock`: that of an acquire.
    pub fn begin(&mut self, ticket: u64, lock: Option<&Arc<str>>) {
        let lock = lock.cloned();
        self.tickets.entry(ticket).or_insert(Stage::Running { cancelled: self.closed, lock, leaving: None });
    }

    pub fn end(&mut self, ticket: u64) {
        self.tickets.remove(&ticket);
    }

    pub fn is_cancelled(&self, ticket: u64) -> bool {
        matches!(self.tickets.get(&ticket), Some(Stage::Running { cancelled: true, .. }))
    }

    /// Tells whether what a request may still get is on its way back.
    pub fn is_leaving(&self, ticket: u64) -> bool {
        let leaving = match self.tickets.get(&ticket) {
            Some(Stage::Running { leaving, .. } | Stage::Waiting { leaving, .. }) => leaving.is_some(),
            None => false,
        };
        leaving || self.is_cancelled(ticket)
    }

    /// Asks a request to end. Gives it back if no call is in flight for it.
    pub fn cancel(&mut self, ticket: u64, now: Instant) -> Option<Waiter> {
        let departures = &self.departures;
        let leave = |lock: &Arc<str>| departures.begin(multi::group(lock).into());
        match self.tickets.get_mut(&ticket)? {
            Stage::Running { cancelled, lock, leaving } => {
                *cancelled = true;
                *leaving = leaving.take().or_else(|| lock.as_ref().map(leave));
                None
            }
            Stage::Waiting { line, leaving } => {
                let open = self.lines.get_mut(line)?;
                let place = open.line.leave(ticket);
                open.poke(now);
                if place.is_none() && leaving.is_none() {
                    *leaving = Some(leave(&line.name));
                }
                place.map(|place| place.waiter)
            }
        }
    }

    /// Asks every request to end, and those that come later too. Gives back the requests without a call in flight.
    pub fn close(&mut self, now: Instant) -> Vec<Waiter> {
        self.closed = true;
        let tickets: Vec<u64> = self.tickets.keys().copied().collect();
        tickets.into_iter().filter_map(|ticket| self.cancel(ticket, now)).collect()
    }

    /// Tells whether a newcomer must join the line instead of trying for itself.
    pub fn is_waited_in(&self, key: &LineKey, now: Instant) -> bool {
        self.lines.get(key).is_some_and(|open| open.line.is_waited_in(now))
    }

    /// The number of waiters in a line.
    pub fn waiting(&self, key: &LineKey) -> usize {
        self.lines.get(key).map_or(0, |open| open.line.waiting())
    }

    /// Tells whether the line knows that the lock is taken, so that a newcomer need not ask.
    pub fn is_taken(&self, key: &LineKey, now: Instant) -> bool {
        self.lines.get(key).is_some_and(|open| open.line.pace.is_taken(now, now))
    }

    pub fn join(&mut self, waiter: Waiter, met: Obstacle, now: Instant) -> Joined {
        if self.closed || self.is_cancelled(waiter.ticket) {
            return Joined::Cancelled(Box::new(waiter));
        }
        let key = waiter.target.key();
        self.tickets.insert(waiter.ticket, Stage::Waiting { line: key.clone(), leaving: None });
        let mut fresh = None;
        let open = self.lines.entry(key.clone()).or_insert_with(|| {
            fresh = Some(key);
            let mut line = Line::new(matches!(met, Obstacle::Near), now);
            line.turn = waiter.target.redis.config.turn;
            line.pace.set_delays(waiter.target.delays(), waiter.target.wake().channel.is_some());
            let target = waiter.target.of_no_caller();
            OpenLine { line, nudge: Arc::default(), target, last: Handed::default(), armed: now, trouble: None }
        });
        open.line.pace.join(&met, waiter.patience.deadline(), now);
        if fresh.is_none() && !open.line.is_waited_in(now) {
            open.line.meet(met, now);
        }
        // The waiter has asked the server already.
        open.line.placed = waiter.target.queues();
        open.line.join(Place {
            id: waiter.ticket,
            deadline: waiter.patience.deadline(),
            joined: now,
            wants: waiter.target.wants(),
            number: waiter.number,
            owner: waiter.target.claim.owner,
            waiter,
        });
        open.poke(now);
        Joined::InLine(fresh)
    }

    pub fn has(&self, key: &LineKey) -> bool {
        self.lines.contains_key(key)
    }

    pub fn nudge(&self, key: &LineKey) -> Arc<Notify> {
        self.lines.get(key).map_or_else(Arc::default, |open| open.nudge.clone())
    }

    /// The next step of the line's task.
    pub fn step(&mut self, key: &LineKey, now: Instant) -> NextStep {
        let Some(open) = self.lines.get_mut(key) else {
            return NextStep { late: Vec::new(), step: Step::End, until: now };
        };
        let late = open.line.expired(now);
        let late = late.into_iter().map(|place| open.in_vain(place, now)).collect();
        let step = open.line.step(now);
        match step {
            Step::End => self.lines.remove(key).into_iter().for_each(|open| open.leave_doubt()),
            Step::Sleep(until) => open.armed = until,
            Step::Listen | Step::Try | Step::TryFitting | Step::Leave => {
                open.armed = open.line.deadline().unwrap_or(now + Duration::from_secs(60))
            }
        }
        let until = self.lines.get(key).map_or(now, |open| open.armed);
        NextStep { late, step, until }
    }

    /// Changes a line, if there is one, and wakes its task if that must do something earlier now.
    pub fn change<T>(&mut self, key: &LineKey, now: Instant, change: impl FnOnce(&mut Line<Waiter>) -> T) -> Option<T> {
        let open = self.lines.get_mut(key)?;
        let result = change(&mut open.line);
        open.poke(now);
        Some(result)
    }

    /// Tells whether a waiter of that line wants the place in the server's queue: then its own end gives the place up.
    pub fn keeps_place(&mut self, key: &LineKey) -> bool {
        let open = self.lines.get_mut(key).filter(|_| !self.closed);
        open.is_some_and(|open| {
            let keeps = open.line.has_waiters();
            open.line.placed |= keeps;
            keeps
        })
    }

    /// The targets whose place in the server's queue no waiter wants any more, for the end of the client.
    pub fn take_places(&mut self) -> Vec<Target> {
        let placed = self.lines.values_mut().filter(|open| open.line.placed);
        let leave = |open: &mut OpenLine| {
            open.line.placed = false;
            open.target.clone()
        };
        placed.map(leave).collect()
    }

    /// All waiters, for the end of the client.
    pub fn take_all(&mut self) -> Vec<Waiter> {
        std::mem::take(&mut self.lines).into_values().flat_map(|open| open.line.into_waiters()).collect()
    }

    /// Takes out the other waiters of an owner that has the lock now, by this kind or one that shares its keys: they must
    /// not wait behind those that wait for their own owner. A line without passing tries again by itself.
    pub fn take_twins(&mut self, target: &Target, now: Instant) -> Vec<Waiter> {
        let mut waiters = if target.passes() { self.take_twins_of(&target.key(), target, now) } else { Vec::new() };
        for key in self.sharers(target.row, &target.claim) {
            waiters.extend(self.take_twins_of(&key, target, now));
        }
        waiters
    }

    /// The lines of other kinds that share the keys of this one.
    pub fn sharers(&self, row: &KindRow, claim: &Claim) -> Vec<LineKey> {
        // Mostly there is no line of another name or kind.
        if self.lines.len() <= usize::from(self.lines.contains_key(&key(claim, &row.traits))) {
            return Vec::new();
        }
        let keys = row.sharers().map(|row| key(claim, &row.traits));
        keys.filter(|key| self.lines.contains_key(key)).collect()
    }

    /// Takes out the waiters of an owner from one line.
    pub fn take_twins_of(&mut self, key: &LineKey, target: &Target, now: Instant) -> Vec<Waiter> {
        let twins = self.change(key, now, |line| line.take_twins(target.claim.owner));
        let mut waiters = Vec::new();
        for Place { number, waiter: mut twin, .. } in twins.into_iter().flatten() {
            twin.number = number;
            let lock = Some(key.name.clone());
            self.tickets.insert(twin.ticket, Stage::Running { cancelled: false, lock, leaving: None });
            waiters.push(twin);
        }
        waiters
    }

    pub fn are_none(&self) -> bool {
        self.lines.is_empty()
    }

    /// Makes every line try now, because the timers of their tasks may be late.
    pub fn hurry(&mut self, now: Instant) {
        for open in self.lines.values_mut() {
            open.line.pace.hurry(now);
            open.nudge.notify_one();
        }
    }

    /// Notes the error of the line's last try, or that the server answered.
    pub fn note(&mut self, key: &LineKey, trouble: Option<Error>) {
        self.lines.get_mut(key).into_iter().for_each(|open| open.trouble.clone_from(&trouble));
    }

    /// Ends a failed try that began at `since`: gives the waiters that have waited through it, each with its result.
    pub fn fail(&mut self, key: &LineKey, error: &Error, since: Instant, now: Instant) -> Vec<EndedWait> {
        let failed = self.change(key, now, |line| {
            line.pace.deaf(now);
            line.take_all_since(since)
        });
        let Some(open) = self.lines.get(key) else { return Vec::new() };
        failed.into_iter().flatten().map(|place| open.failed(place, error, now)).collect()
    }

    /// Ends the failed try for the line's waiter in flight: gives its result; `None`: it has an answer already.
    pub fn fail_head(&mut self, key: &LineKey, error: &Error, now: Instant) -> Option<EndedWait> {
        let returned = self.change(key, now, Line::returned)?;
        let open = self.lines.get(key)?;
        match returned {
            Returned::Wants(place) => Some(open.failed(place, error, now)),
            Returned::Cancelled(place) => Some((place.waiter, Err(Error::Cancelled))),
            Returned::Late => None,
        }
    }

    /// Ends the call for the line's waiter in flight: gives the waiter, and whether it asked to end meanwhile.
    pub fn returned(&mut self, key: &LineKey, now: Instant) -> Option<(Waiter, bool)> {
        let (Place { number, mut waiter, .. }, cancelled) = match self.change(key, now, Line::returned)? {
            Returned::Wants(place) => (place, false),
            Returned::Cancelled(place) => (place, true),
            Returned::Late => return None,
        };
        waiter.number = number;
        Some((waiter, cancelled))
    }

    /// The time for which the last thread that got the lock inside this client has had it.
    pub fn had(&self, key: &LineKey, now: Instant) -> Option<Duration> {
        self.lines.get(key).and_then(|open| open.last.had(now))
    }

    /// Notes that the lock goes to this waiter inside this client. Tells whether running threads may take it before the
    /// waiter's thread has come for it.
    pub fn hands_to(&mut self, key: &LineKey, waiter: &Waiter, now: Instant) -> bool {
        let Some(open) = self.lines.get_mut(key) else { return false };
        let to = waiter.seat.clone().map(|seat| (waiter.target.claim.owner, seat));
        open.last = Handed { to, barged: None };
        waiter.seat.is_some() && open.line.is_in_turn(GRACE, now)
    }

    /// Takes the lock back from a waiter whose thread has not come for it: gives its owner. `owner`: that of the running
    /// thread that wants the lock.
    pub fn take_back(&mut self, key: &LineKey, owner: i64, now: Instant) -> Option<(i64, Answer, Box<dyn Offer>)> {
        let open = self.lines.get_mut(key)?;
        // As for the heir of a release.
        if open.line.pace.is_doubted() || open.line.waits(owner) || !open.line.is_in_turn(Duration::ZERO, now) {
            return None;
        }
        // The heir's own other threads ask for one hold more.
        let (heir, seat) = open.last.to.clone().filter(|(heir, _)| *heir != owner)?;
        let (answer, offer) = seat.take_back(now)?;
        // The waiter may be cancelled before it is back in its line.
        self.begin(seat.ticket(), Some(&key.name));
        Some((heir, answer, offer))
    }

    /// Notes that a running thread has taken the lock.
    pub fn barged(&mut self, key: &LineKey, now: Instant) {
        self.lines.get_mut(key).into_iter().for_each(|open| open.last.barged = Some(now));
    }
}

impl OpenLine {
    /// Leaves the line's doubt to the holds, at the end of the line: the next line has heard of nothing.
    fn leave_doubt(self) {
        if self.line.pace.is_doubted() {
            self.target.redis.holds(|holds| holds.doubt(&self.target.claim.name));
        }
    }

    /// The result of a wait that ran out: "not now" if the line knows that the lock is taken, else that the server did
    /// not say so.
    fn in_vain(&self, place: Place<Waiter>, now: Instant) -> EndedWait {
        let target = &place.waiter.target;
        let end = match self.line.pace.is_taken(place.joined, now) || target.is_taken(now) {
            true => Ok(Answer::not_now()),
            false => Err(target.unanswered(self.trouble.clone())),
        };
        (place.waiter, end)
    }

    /// The result of a wait that ended with an error.
    fn failed(&self, place: Place<Waiter>, error: &Error, now: Instant) -> EndedWait {
        if error.is_for_now() && place.waiter.patience.is_over(now) {
            return self.in_vain(place, now);
        }
        (place.waiter, Err(error.clone()))
    }

    fn poke(&mut self, now: Instant) {
        let until = match self.line.step(now) {
            Step::Sleep(until) => until,
            _ => now,
        };
        if until < self.armed {
            self.nudge.notify_one();
        }
    }
}

impl Waiter {
    /// Answers the caller, after the client has forgotten the request.
    pub fn answer(mut self, result: Result<Answer>) {
        self.tell(result);
    }

    /// Logs and counts its answer.
    pub fn say(&self, came: std::result::Result<&Answer, &Error>) {
        self.target.say(came);
        self.asked.iter().for_each(|asked| asked.over(came));
    }

    fn tell(&mut self, result: Result<Answer>) {
        let Some(done) = self.done.take() else { return };
        let redis = &self.target.redis;
        redis.lines().end(self.ticket);
        self.say(result.as_ref());
        done(match result {
            Err(Error::Cancelled) => Err(redis.cancelled_error()),
            result => result,
        });
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.tell(Err(Error::Cancelled));
    }
}
