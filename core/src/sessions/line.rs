//! The task of one key. It makes the calls about the key, one at a time, as long as a request waits for one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::base::jitter::jitter;
use crate::base::tasks::{self, Work, boxed};
use crate::engine::line::Place;
use crate::request::Answer;
use crate::request::error::{Error, Result};
use crate::sessions::driver::{Bond, Drawn, Gone, Grip, Key, Seen, Took};
use crate::sessions::grips::Step;
use crate::sessions::waiter::{Patience, Waiter};
use crate::sessions::{After, Late, Sessions, State};

/// The longest time behind the end of a wait in vain for which its answer waits for the end of a call.
const AN_END: Duration = Duration::from_millis(400);

/// The outcome of a call about the key.
enum Outcome {
    Took(Took),
    Gone(Gone),
    Fenced(Result<Drawn>),
}

/// Runs on the I/O thread.
pub async fn run(sessions: Arc<Sessions>, key: Key, nudge: Arc<Notify>) {
    let mut ends = Ends { sessions: sessions.clone(), key: key.clone(), is_done: false };
    let driver = &sessions.driver;
    let mut call: Option<Work<Outcome>> = None;
    let mut begun = Instant::now();
    let mut stands = false;
    let mut look: Option<Work<Result<Seen>>> = None;
    loop {
        let now = Instant::now();
        let (step, give_up) = sessions.work(|state| {
            let next = state.step(&key, now);
            // In one step with the end: a later caller starts another task.
            if next.0 == Step::End {
                ends.is_done = true;
                driver.end(&key);
            }
            next
        });
        let mut until = now;
        match step {
            Step::Take => {
                (begun, stands) = (now, false);
                let taking = driver.take(&key);
                call = Some(boxed(async { Outcome::Took(taking.await) }));
            }
            Step::Stand => match driver.stand(&key) {
                Some(standing) => {
                    (begun, stands) = (now, true);
                    call = Some(boxed(async { Outcome::Took(standing.await) }));
                }
                None => sessions.work(|state| state.grips.no_room(&key, jitter(), now)),
            },
            Step::Leave => drop(tasks::spawn(driver.leave(&key))),
            Step::LetGo { bond, again } => {
                (begun, stands) = (now, false);
                let letting_go = driver.let_go(&Grip { key: key.clone(), bond }, again);
                call = Some(boxed(async { Outcome::Gone(letting_go.await) }));
            }
            Step::Fence { bond, count } => {
                (begun, stands) = (now, false);
                let fencing = driver.fence(&Grip { key: key.clone(), bond }, count);
                call = Some(boxed(async { Outcome::Fenced(fencing.await) }));
            }
            Step::Look => look = Some(driver.look(&key, false)),
            Step::Grant => {
                sessions.work(|state| state.pass_on(&key, now));
            }
            Step::Sleep(at) => until = at.min(give_up.unwrap_or(Instant::NEVER)),
            Step::End => return,
        }
        if until <= now {
            continue;
        }
        tokio::select! {
            biased;
            outcome = async { call.as_mut().expect("there is a call").await }, if call.is_some() => {
                call = None;
                let now = Instant::now();
                // A call that stands in the server's queue stands for long, and fails once no server has answered for a while.
                let since = if stands { begun.max(now - sessions.config.response_timeout) } else { begun };
                sessions.work(|state| state.came(&key, outcome, since, now));
            }
            seen = async { look.as_mut().expect("there is a look").await }, if look.is_some() => {
                look = None;
                let is_taken = seen.ok().map(|seen| seen.is_busy);
                sessions.work(|state| state.grips.looked(&key, is_taken, Instant::now()));
            }
            () = sleep_until(until.into()) => {}
            () = nudge.notified() => {}
        }
    }
}

impl State {
    /// The next step of the key's task; and the time at which a caller of a release waits no longer.
    fn step(&mut self, key: &Key, now: Instant) -> (Step, Option<Instant>) {
        self.expire_bonds(now);
        for (waiter, is_taken) in self.grips.expired(key, now) {
            self.waits.remove(&waiter.caller.ticket);
            let trouble = self.failing.get(key).map(|(_, error)| error.clone());
            // Without a word of the server it has waited for the end of the call already.
            let (answer, until) = match is_taken {
                true => (Ok(Answer::not_now()), waiter.deadline().unwrap_or(now) + AN_END),
                false => (Err(waiter.unanswered(trouble)), now),
            };
            self.late.entry(key.clone()).or_default().push(Late { waiter, answer, until });
        }
        self.answer_releases(key);
        let step = self.grips.step(key, now);
        let late = self.answer_late(key, now);
        let give_up = [self.give_up_releases(key, now), late].into_iter().flatten().min();
        if step == Step::End {
            self.tasks.remove(key);
            self.failing.remove(key);
        }
        (step, give_up)
    }

    /// Answers the waiters whose wait has ended. The last ones hear of it when the client has left the server's queue, if that
    /// is soon: the next caller that tries, in any process, then finds a free lock free.
    fn answer_late(&mut self, key: &Key, now: Instant) -> Option<Instant> {
        let late = self.late.remove(key)?;
        let is_ending = self.grips.is_ending(key);
        let (waits, answered): (Vec<_>, Vec<_>) = late.into_iter().partition(|late| is_ending && late.until > now);
        self.after.extend(answered.into_iter().map(|late| After::Grant(late.waiter, late.answer)));
        let next = waits.iter().map(|late| late.until).min();
        if !waits.is_empty() {
            self.late.insert(key.clone(), waits);
        }
        next
    }

    /// Notes the outcome of a call that began at `begun`.
    fn came(&mut self, key: &Key, outcome: Outcome, begun: Instant, now: Instant) {
        match outcome {
            Outcome::Took(Took::Yes { bond }) => self.took(key, bond, begun, now),
            Outcome::Took(Took::Busy { sent }) | Outcome::Gone(Gone::Taken { sent }) => {
                self.leave_bond(key);
                self.failing.remove(key);
                if let Some(waiter) = self.grips.busy(key, sent, now) {
                    self.waits.remove(&waiter.caller.ticket);
                    self.after.push(After::Grant(waiter, Ok(Answer::not_now())));
                }
            }
            Outcome::Took(Took::NoRoom) => self.grips.no_room(key, jitter(), now),
            Outcome::Took(Took::Failed(error)) => self.failed(key, error, begun, now),
            Outcome::Gone(Gone::Freed) => {
                self.leave_bond(key);
                self.grips.freed(key, now);
            }
            Outcome::Gone(Gone::Again) => match self.grips.bond(key) {
                Some(bond) => self.took(key, bond, begun, now),
                None => self.grips.freed(key, now),
            },
            Outcome::Gone(Gone::Ended) => {
                self.leave_bond(key);
                self.grips.freed(key, now);
            }
            Outcome::Gone(Gone::Refused(error)) => {
                self.leave_bond(key);
                for caller in self.releases.remove(key).into_iter().flatten() {
                    self.after.push(After::Tell(caller, Err(error.clone())));
                }
                self.grips.freed(key, now);
            }
            Outcome::Fenced(Ok(Drawn::Tokens(tokens))) => {
                self.failing.remove(key);
                self.grips.fenced(key, tokens);
            }
            Outcome::Fenced(Ok(Drawn::NotYet(error))) => {
                // The server answers, so the waiters wait on.
                self.failing.insert(key.clone(), (now, error));
                self.grips.not_yet_fenced(key, now);
            }
            Outcome::Fenced(Err(error)) => self.not_fenced(key, &error, begun, now),
        }
    }

    /// A call for tokens that began at `begun` has failed.
    fn not_fenced(&mut self, key: &Key, error: &Error, begun: Instant, now: Instant) {
        let (waiting, more) = self.grips.not_fenced(key, now);
        let since = self.failing.entry(key.clone()).or_insert_with(|| (begun, error.clone())).0;
        self.failing.insert(key.clone(), (since, error.clone()));
        for (place, has_it) in
            waiting.into_iter().map(|place| (place, false)).chain(more.into_iter().map(|place| (place, true)))
        {
            match self.waits_on(&place, error, since, now) {
                true if has_it && self.grips.holder(key) == Some(place.owner) => self.grips.join_more(key, place),
                true => self.grips.join(key, place, now),
                false => self.fail(place.waiter, error, now),
            }
        }
    }

    fn took(&mut self, key: &Key, bond: Bond, begun: Instant, now: Instant) {
        if !self.bonds.add(bond, key, now) {
            // The session ended before its answer came, or is about to.
            self.after.push(After::Drop(bond));
            let ended = Error::unavailable(self.server.as_str(), "has ended the session", false);
            return self.failed(key, ended, begun, now);
        }
        self.failing.remove(key);
        self.grips.took(key, bond, now);
        self.pass_on(key, now);
    }

    fn leave_bond(&mut self, key: &Key) {
        if let Some(bond) = self.grips.bond(key) {
            self.bonds.remove(bond, key);
        }
    }

    /// A call that began at `begun` has failed. A waiter that has waited through it for as long as it wants repeats gets the
    /// error; the others wait on.
    fn failed(&mut self, key: &Key, error: Error, begun: Instant, now: Instant) {
        self.grips.failed(key, now);
        let since = self.failing.entry(key.clone()).or_insert_with(|| (begun, error.clone())).0;
        self.failing.insert(key.clone(), (since, error.clone()));
        for place in self.grips.take_waiting_since(key, now) {
            match self.waits_on(&place, &error, since, now) {
                true => self.grips.join(key, place, now),
                false => self.fail(place.waiter, &error, now),
            }
        }
    }

    /// Tells whether a waiter waits on behind calls that have failed since then.
    fn waits_on(&self, place: &Place<Waiter>, error: &Error, since: Instant, now: Instant) -> bool {
        let waiter = &place.waiter;
        let is_absent = !self.met && !waiter.caller.sessions.config.retries_absent;
        let has_waited = now.saturating_duration_since(since.max(place.joined)) >= waiter.retry_for;
        error.is_for_now() && !is_absent && !has_waited
    }

    /// Ends the wait of a waiter with the error of a call.
    fn fail(&mut self, waiter: Waiter, error: &Error, now: Instant) {
        self.waits.remove(&waiter.caller.ticket);
        let is_over = matches!(waiter.patience, Patience::Until(deadline) if deadline <= now);
        let error = if is_over { waiter.unanswered(Some(error.clone())) } else { error.clone() };
        self.after.push(After::Grant(waiter, Err(error)));
    }

    /// Ends the wait of a request. Gives it back if it waits.
    pub fn cancel(&mut self, ticket: u64) -> Option<Waiter> {
        drop(self.meeting.remove(&ticket));
        let key = self.waits.remove(&ticket)?;
        let waiter = self.grips.leave(&key, ticket);
        self.poke(&key);
        waiter
    }
}

/// Notes at its drop that the key has no task any more. A task that panics leaves no waiter behind, and no grip.
struct Ends {
    sessions: Arc<Sessions>,
    key: Key,
    is_done: bool,
}

impl Drop for Ends {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let (waiters, callers, bond) = {
            let mut state = self.sessions.lock();
            state.tasks.remove(&self.key);
            let bond = state.grips.bond(&self.key);
            ((state.grips.forget(&self.key), state.late.remove(&self.key)), state.releases.remove(&self.key), bond)
        };
        drop((waiters, callers));
        bond.into_iter().for_each(|bond| self.sessions.driver.drop_bond(bond));
    }
}
