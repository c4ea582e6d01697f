//! Carries out a request: at once where the client itself can decide, else by calls on the I/O thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::scope::UnkeptScope;
use crate::base::tasks::{Work, boxed};
use crate::engine::claim::Claim;
use crate::engine::departures::Departure;
use crate::engine::gate::Gates;
use crate::engine::holds::Ended;
use crate::engine::stats::Stats;
use crate::engine::{Engine, Serving};
use crate::request::error::{Error, Loss, Result};
use crate::request::names::LEADER_WATCH;
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Look, Op, Request, given_back};
use crate::sessions::waiter::Limits;
use crate::sessions::{Sessions, acquire, release, watchdog};

/// The least time that the end of a client gives the calls in flight.
const LAST: Duration = Duration::from_millis(100);

impl Engine for Arc<Sessions> {
    fn start(&self, _: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        let prefix = &self.config.prefix;
        begin(self, seat.ticket(), request, plainly(self, seat.done()), Some(seat))
            .map(|(_, answer)| answer.map_err(|error| error.without(prefix)))
    }

    fn submit(&self, ticket: u64, request: Request, done: Done) {
        if let Some((done, answer)) = begin(self, ticket, request, plainly(self, done), None) {
            done(answer);
        }
    }

    fn cancel(&self, ticket: u64) {
        self.loss_listeners.cancel(ticket);
        // The drop answers it, and the state must be free then.
        let waiter = self.work(|state| state.cancel(ticket));
        drop(waiter);
    }

    fn look(&self, hold: u64) -> Look {
        Sessions::look(self, hold)
    }

    fn is_wanted(&self, hold: u64) -> bool {
        self.work(|state| state.wanted.contains(&hold))
    }

    fn loss_of(&self, hold: u64) -> Option<Loss> {
        self.work(|state| {
            let now = Instant::now();
            state.expire_bonds(now);
            state.holds.loss_of(hold, now)
        })
    }

    fn abandon(&self, hold: u64) -> bool {
        self.work(|state| state.holds.abandon(hold, Instant::now()))
    }

    fn keep(&self, hold: u64) {
        self.work(|state| state.holds.keep(hold));
    }

    fn trace(&self, hold: u64, scope: UnkeptScope) {
        self.work(|state| state.holds.trace(hold, scope));
    }

    fn token(&self, hold: u64) -> Option<i64> {
        self.work(|state| state.holds.token(hold))
    }

    fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64> {
        let claim = Claim::new(kind, self.config.full_name(name), owner);
        self.work(|state| state.holds.latest(&claim))
    }

    fn owners(&self, name: &str) -> Vec<i64> {
        let name = self.config.full_name(name);
        self.work(|state| state.holds.owners(&name, Instant::now()))
    }

    fn is_held_back(&self, _: &str) -> bool {
        false
    }
}

impl Serving for Arc<Sessions> {
    fn id(&self) -> &str {
        &self.uuid
    }

    fn supports(&self, kind: &str) -> Result<()> {
        self.kind(kind).map(drop)
    }

    fn is_idle(&self) -> bool {
        self.work(|state| state.holds.is_empty())
    }

    fn stats(&self) -> Stats {
        self.counters.stats(self.work(|state| state.holds.figures().clone()))
    }

    /// These servers keep what they know.
    fn restarts(&self) -> u64 {
        0
    }

    /// The release of a caller that is gone stands before each later acquire anyway.
    fn depart(&self, name: &Arc<str>) -> Departure {
        self.departures.begin(name.clone())
    }

    fn gates(&self) -> Arc<Gates> {
        self.gates.clone()
    }

    fn run(&self) -> Work {
        boxed(watchdog::run(Arc::downgrade(self), self.earlier.clone()))
    }

    fn end(&self) {
        self.refuse();
        self.tell_closed();
        self.loss_listeners.end(|| Sessions::closed_error(self));
    }

    fn end_waits(&self) {
        Sessions::end_waits(self);
    }

    fn tell_closed(&self) -> Vec<Claim> {
        self.work(|state| state.holds.close(Instant::now()))
    }

    fn wind_up(&self, _: Vec<Claim>) -> Work {
        let sessions = self.clone();
        boxed(async move {
            let longest =
                sessions.config.retry_for.max(sessions.config.response_timeout) + sessions.config.response_timeout;
            let begun = Instant::now();
            // The end of its session frees a lock as well as a release.
            let _ = timeout(longest, sessions.driver.close()).await;
            let emptied = async {
                loop {
                    sessions.io.presence.empty().await;
                    if sessions.io.presence.shut_if_empty() {
                        return;
                    }
                }
            };
            let _ = timeout(longest.saturating_sub(begun.elapsed()).max(LAST), emptied).await;
            tracing::trace!(target: "redlatch::belief", change = "over", client = &*sessions.uuid);
        })
    }

    fn cut(&self) {
        self.driver.cut();
    }

    fn closed_error(&self) -> Error {
        Sessions::closed_error(self)
    }
}

/// Wraps `done`: errors name the locks as the program named them.
fn plainly(sessions: &Arc<Sessions>, done: Done) -> Done {
    if sessions.config.prefix.is_empty() {
        return done;
    }
    // The closure must not own the engine: a listener would keep it alive.
    let prefix = sessions.config.prefix.clone();
    Box::new(move |result| done(result.map_err(|error| error.without(&prefix))))
}

/// Begins a request; `seat`: that of its thread, if it blocks one. `Some`: it has its answer already, for `done`.
fn begin(
    sessions: &Arc<Sessions>,
    ticket: u64,
    request: Request,
    done: Done,
    seat: Option<&Arc<Seat>>,
) -> Option<(Done, Result<Answer>)> {
    let limits = Limits::of(sessions, &request);
    if let Some(counting) = sessions.permits(&request) {
        sessions.spawn(ticket, limits, done, sessions.clone().repeated(limits, counting));
        return None;
    }
    match request.op {
        Op::Acquire if request.kind == LEADER_WATCH => acquire::watch_leader(sessions, ticket, limits, request, done),
        Op::Acquire => return acquire::begin(sessions, ticket, &request, done, seat),
        Op::Release => return release::begin(sessions, ticket, &request, done),
        Op::GiveBack => {
            let done: Done = Box::new(move |result| done(given_back(result)));
            return release::begin(sessions, ticket, &request, done);
        }
        Op::Extend => return Some((done, sessions.extend(&request))),
        Op::Watch => sessions.watch(request.hold, ticket, done),
        Op::Ping => sessions.spawn(ticket, limits, done, sessions.clone().ping(limits)),
        Op::Inspect => sessions.spawn(ticket, limits, done, sessions.clone().inspect(limits, request)),
        Op::ForceRelease if !request.texts.is_empty() => {
            let error = Error::Unsupported(format!(
                "{} takes `{}` away from any holder, and not from one that is named; use a forced release",
                sessions.driver.system(),
                request.name
            ));
            return Some((done, Err(error)));
        }
        Op::ForceRelease => sessions.spawn(ticket, limits, done, sessions.clone().force_release(limits, request)),
        Op::Inventory => {
            let system = sessions.driver.system();
            let error = Error::Unsupported(format!("{system} has no list of its locks; only Redis has one"));
            return Some((done, Err(error)));
        }
        op => {
            let error = match sessions.kind(request.kind) {
                Err(error) if op != Op::Keys => error,
                _ => Error::Unsupported(format!(
                    "{} has no {op:?} for `{}`; its locks are acquired, released, extended, inspected and forced",
                    sessions.driver.system(),
                    request.name
                )),
            };
            return Some((done, Err(error)));
        }
    }
    None
}

impl Sessions {
    /// Reports holds that have ended; the state is free.
    pub fn report(&self, ended: &[Ended]) {
        for ended in ended {
            self.loss_listeners.tell(ended.number, ended.loss.clone());
        }
        ended.iter().for_each(Ended::say);
    }
}
