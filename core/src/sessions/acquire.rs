//! An acquire: through the grip that the client has, or in the line of its key.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::{sleep, sleep_until};

use crate::base::clock::Instant;
use crate::base::jitter::jitter;
use crate::engine::line::Place;
use crate::request::error::{Error, Result};
use crate::request::names::LEADER;
use crate::request::permit_id::PermitId;
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Request};
use crate::sessions::driver::{Bond, Key, Kin};
use crate::sessions::grips::{Heir, TakenBack, Wish};
use crate::sessions::waiter::{Limits, Patience, Waiter};
use crate::sessions::{After, Sessions, State};

/// The longest pause between two tries to meet the server.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// Begins an acquire; `seat`: that of its thread, if it blocks one. `Some`: it has its answer already, for the caller's `done`.
pub fn begin(
    sessions: &Arc<Sessions>,
    ticket: u64,
    request: &Request,
    done: Done,
    seat: Option<&Arc<Seat>>,
) -> Option<(Done, Result<Answer>)> {
    let traits = match sessions.kind(request.kind) {
        Ok(traits) => traits,
        Err(error) => return Some((done, Err(error))),
    };
    if !traits.held {
        return Some((done, Err(without_owner(sessions, request))));
    }
    let mut waiter = Waiter::new(sessions, traits, ticket, request, done);
    waiter.seat = seat.cloned();
    match sessions.driver.key(waiter.traits, &waiter.claim.name, waiter.claim.owner) {
        Some(key) => enter(waiter, &key),
        None => {
            let (cancel, cancelled) = oneshot::channel();
            sessions.work(|state| state.meeting.insert(ticket, cancel));
            drop(sessions.io.spawn(meet(sessions.clone(), waiter, cancelled)));
            None
        }
    }
}

/// Begins to wait for the next change of a leader.
pub fn watch_leader(sessions: &Arc<Sessions>, ticket: u64, limits: Limits, request: Request, done: Done) {
    let (cancel, cancelled) = oneshot::channel::<()>();
    let is_closed = sessions.work(|state| {
        if !state.closed {
            state.meeting.insert(ticket, cancel);
        }
        state.closed
    });
    if is_closed {
        return done(Err(sessions.cancelled_error()));
    }
    let observer = sessions.clone();
    sessions.spawn(ticket, limits, done, async move {
        let changed = tokio::select! {
            biased;
            changed = observer.clone().next_leader(limits, request) => changed,
            _ = cancelled => Err(Error::Cancelled),
        };
        observer.work(|state| drop(state.meeting.remove(&ticket)));
        changed
    });
}

/// Meets the server, and then begins anew: the keys of names depend on it.
async fn meet(sessions: Arc<Sessions>, waiter: Waiter, mut cancelled: oneshot::Receiver<()>) {
    let begun = Instant::now();
    let deadline = waiter.deadline().unwrap_or(Instant::NEVER);
    let retry_for = waiter.retry_for;
    let met = loop {
        let met = tokio::select! {
            biased;
            met = sessions.driver.meet() => met,
            _ = &mut cancelled => Err(Error::Cancelled),
            () = sleep_until(deadline.into()) => Err(Error::unavailable(sessions.config.server(), "is silent", true)),
        };
        let now = Instant::now();
        let goes_on = sessions.config.retries_absent && now < deadline && now < begun + retry_for;
        match met {
            Err(error) if error.is_for_now() && goes_on => sleep(PAUSE.mul_f64(jitter())).await,
            met => break met,
        }
    };
    let ticket = waiter.caller.ticket;
    match (met, sessions.driver.key(waiter.traits, &waiter.claim.name, waiter.claim.owner)) {
        (Ok(()), Some(key)) => {
            if let Some((done, answer)) = enter(waiter, &key) {
                done(answer);
            }
        }
        (Ok(()), None) => waiter.answer(Err(Error::Cancelled)),
        (Err(error), _) => {
            let error = if error.is_for_now() { waiter.unanswered(Some(error)) } else { error };
            waiter.answer(Err(error));
        }
    } // A cancel that came before the waiter had its place in the line did not find it there.
    let late = sessions.work(|state| match state.meeting.remove(&ticket) {
        Some(_) => None,
        None => state.cancel(ticket),
    });
    drop(late);
}

fn enter(waiter: Waiter, key: &Key) -> Option<(Done, Result<Answer>)> {
    let sessions = waiter.caller.sessions.clone();
    let kin = sessions.driver.kin(key, waiter.claim.owner);
    let entry = sessions.work(|state| {
        let now = Instant::now();
        // In one step with its entry: the end of an earlier task of the key would take the value away.
        if waiter.traits.name == LEADER {
            sessions.driver.bring(key, &waiter.value);
        }
        let has = |state: &mut State, key: &Key| {
            state.refresh(key, now);
            state.grips.holder(key) == Some(waiter.claim.owner)
        };
        match kin.iter().find(|(other, _)| has(state, other)) {
            Some((other, Kin::Same)) => state.enter(waiter, other, now),
            // It would wait for itself: a limited wait ends without the lock.
            Some((_, Kin::Barred)) if !has(state, key) => {
                let answer = if waiter.wait.is_some() { Ok(Answer::not_now()) } else { Err(waiter.already_held()) };
                Some((waiter, answer))
            }
            _ => state.enter(waiter, key, now),
        }
    });
    entry.map(|(waiter, answer)| {
        waiter.say(&answer);
        (waiter.caller.take(), answer)
    })
}

impl Waiter {
    /// Goes back to its place in the line, because another owner has the lock that was on its way.
    pub fn rejoin(self) {
        let sessions = self.caller.sessions.clone();
        let answered = sessions.work(|state| state.rejoin(self, Instant::now()));
        if let Some((waiter, answer)) = answered {
            waiter.answer(answer);
        }
    }

    fn into_place(self, now: Instant) -> Place<Waiter> {
        Place {
            id: self.caller.ticket,
            deadline: self.deadline(),
            joined: now,
            wants: 1,
            number: self.number,
            owner: self.claim.owner,
            waiter: self,
        }
    }
}

/// The error of a request for a permit that would have no owner.
pub fn without_owner(sessions: &Sessions, request: &Request) -> Error {
    Error::Unsupported(format!(
        "{} keeps a permit of `{}` for as long as the session of its owner lasts; take one that is renewed, and release that: \
         acquire_renewed in Rust, acquire(renew=True) in Python; in Java there is none",
        sessions.driver.system(),
        request.name
    ))
}

impl State {
    /// A waiter comes. `Some`: it has its answer already.
    fn enter(&mut self, waiter: Waiter, key: &Key, now: Instant) -> Option<(Waiter, Result<Answer>)> {
        if self.closed {
            return Some((waiter, Err(Error::Cancelled)));
        }
        self.refresh(key, now);
        let owner = waiter.claim.owner;
        if self.grips.holder(key) == Some(owner) {
            if !waiter.traits.reentrant {
                let error = waiter.already_held();
                return Some((waiter, Err(error)));
            }
            let token = if waiter.traits.fenced { self.grips.token(key) } else { Some(0) };
            if let (Some(token), Some(bond)) = (token, self.grips.bond(key)) {
                let answer = self.grant(&waiter, key, bond, token, now);
                return Some((waiter, answer));
            }
            self.waits.insert(waiter.caller.ticket, key.clone());
            self.grips.join_more(key, waiter.into_place(now));
        } else if waiter.patience == Patience::Once && self.grips.is_refused(key) {
            return Some((waiter, Ok(Answer::not_now())));
        } else if let Some(answer) = self.barge(&waiter, key, now) {
            return Some((waiter, answer));
        } else {
            self.waits.insert(waiter.caller.ticket, key.clone());
            self.grips.join(key, waiter.into_place(now), now);
        }
        self.poke_if_due(key, now);
        None
    }

    /// Takes the lock for a waiter whose thread runs, from one whose thread has not come for it. The lock would stand idle
    /// until that thread has woken up.
    fn barge(&mut self, waiter: &Waiter, key: &Key, now: Instant) -> Option<Result<Answer>> {
        waiter.seat()?;
        let bond = self.grips.bond(key).filter(|bond| self.bonds.renewed(*bond, now).is_some())?;
        let TakenBack { number, ticket, offer } = self.grips.take_back(key, waiter.claim.owner, now)?;
        if let Some(heir) = self.claim_of(number) {
            self.holds.released(&heir, number, true, now);
        }
        self.key_of_ended(number);
        // The heir may be cancelled before it is back in the line.
        self.waits.insert(ticket, key.clone());
        self.after.push(After::Miss(offer));
        Some(self.grant(waiter, key, bond, 0, now))
    }

    /// A waiter whose lock another owner has taken goes back to its place. `Some`: it has its answer already.
    fn rejoin(&mut self, waiter: Waiter, now: Instant) -> Option<(Waiter, Result<Answer>)> {
        let Some(key) = self.waits.get(&waiter.caller.ticket).cloned().filter(|_| !self.closed) else {
            return Some((waiter, Err(Error::Cancelled)));
        };
        // Another thread of its owner may have got the lock meanwhile.
        if self.grips.holder(&key) == Some(waiter.claim.owner) {
            self.waits.remove(&waiter.caller.ticket);
            return self.enter(waiter, &key, now);
        }
        self.grips.join(&key, waiter.into_place(now), now);
        self.poke_if_due(&key, now);
        None
    }

    /// Ends the holds of a key whose time is over.
    fn refresh(&mut self, key: &Key, now: Instant) {
        self.expire_bonds(now);
        for number in self.grips.holds(key) {
            let _ = self.holds.look(number, now);
        }
        let ended = self.settle();
        self.told.extend(ended);
    }

    /// Notes a hold of an owner through the client's grip.
    pub fn grant(&mut self, waiter: &Waiter, key: &Key, bond: Bond, token: i64, now: Instant) -> Result<Answer> {
        let Some(renewed) = self.bonds.renewed(bond, now) else { return Ok(Answer::not_now()) };
        // A lease of one's own is kept by this client; the session's counts from the last sign of life.
        let sent = if waiter.lease.is_some() { now } else { renewed };
        let number = self.holds.taken(&waiter.claim, || None, waiter.lease, bond, sent, now);
        if token != 0 {
            self.holds.fence(number, token, 0);
        }
        self.keys.insert(number, key.clone());
        self.grips.held(key, number);
        let items = match waiter.traits.name {
            "permit" => PermitId::new(&waiter.caller.sessions.uuid, waiter.claim.owner).halves().to_vec(),
            _ if token != 0 => vec![token],
            _ => Vec::new(),
        };
        Ok(Answer { done: true, number: number as i64, items, ..Answer::default() })
    }

    /// Gives the grip to its heirs, if there are any and the turn allows it. Tells whether one has it now.
    pub fn pass_on(&mut self, key: &Key, now: Instant) -> bool {
        let heirs = self.grips.heirs(key, now);
        let mut has_holder = false;
        for Heir { place, bond, token, may_miss } in heirs {
            let mut waiter = place.waiter;
            waiter.number = place.number;
            self.waits.remove(&waiter.caller.ticket);
            let answer = match has_holder && !waiter.traits.reentrant {
                true => Err(waiter.already_held()),
                false => self.grant(&waiter, key, bond, token, now),
            };
            has_holder |= answer.as_ref().is_ok_and(|answer| answer.done);
            self.after.push(match answer {
                Ok(answer) if may_miss && answer.done => After::Offer(waiter, answer),
                answer => After::Grant(waiter, answer),
            });
        }
        if !has_holder && self.grips.settle_holder(key) {
            self.poke(key);
        }
        has_holder
    }
}
