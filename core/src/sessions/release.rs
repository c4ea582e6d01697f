//! A release: it hands the lock on inside this client, or gives the grip back.

use std::sync::Arc;

use crate::base::clock::Instant;
use crate::base::scope::Scope;
use crate::engine::claim::Claim;
use crate::engine::holds::{Lapsed, Leaving, Meant};
use crate::engine::reports;
use crate::request::error::{Error, Result};
use crate::request::names::without;
use crate::request::owner::OwnerField;
use crate::request::{Answer, Done, Request};
use crate::sessions::acquire::without_owner;
use crate::sessions::waiter::{Caller, Limits};
use crate::sessions::{After, Sessions};

/// Begins a release. `Some`: it has its answer already, for the caller's `done`.
pub fn begin(sessions: &Arc<Sessions>, ticket: u64, request: &Request, done: Done) -> Option<(Done, Result<Answer>)> {
    let limit = Limits::of(sessions, request).whole();
    let traits = match sessions.kind(request.kind) {
        Ok(traits) => traits,
        Err(error) => return Some((done, Err(error))),
    };
    if !traits.held {
        return Some((done, Err(without_owner(sessions, request))));
    }
    let asked = Claim::new(traits.name, sessions.config.full_name(request.name.clone()), request.owner);
    let shown = OwnerField(&sessions.uuid, request.owner);
    let not_held = || Error::NotHeld { lock: asked.name.to_string(), owner: shown.to_string() };
    let mut caller = Some(Caller::new(sessions, ticket, limit, done));
    let mut released = None;
    let answer = sessions.work(|state| {
        let now = Instant::now();
        state.expire_bonds(now);
        let meant = Meant::from(request);
        let (claim, _) = state.holds.meant(&asked, meant);
        let Leaving { number, leave, .. } = match state.holds.leaving(&claim, meant, now) {
            Ok(Some(leaving)) => leaving,
            Ok(None) if meant.number().is_some_and(|number| state.holds.gave(number)) => {
                return Some(Err(Error::Released { lock: claim.name.to_string() }));
            }
            Ok(None) => return Some(Err(not_held())),
            Err(Lapsed { loss, .. }) => return Some(Err(Error::Lost(loss))),
        };
        state.holds.released(&claim, number, leave == 0, now);
        released = Some(leave);
        // A hold that ended with its client has no key.
        let key = state.key_of_ended(number).filter(|key| state.grips.let_go(key, number));
        let Some(key) = key else { return Some(Ok(Answer::done(leave.into()))) };
        if state.pass_on(&key, now) {
            return Some(Ok(Answer::done(0)));
        }
        let caller = caller.take().expect("it has no answer yet");
        state.releases.entry(key.clone()).or_default().push(caller);
        state.poke(&key);
        None
    });
    if let Some(leave) = released {
        let lock = without(&sessions.config.prefix, &asked.name);
        reports::released(&Scope::current(), lock, &shown, leave);
        sessions.counters.released();
    }
    Some((caller?.take(), answer?))
}

impl crate::sessions::State {
    /// Answers the releases of a key whose grip has gone.
    pub fn answer_releases(&mut self, key: &crate::sessions::driver::Key) {
        if self.grips.is_given_back(key) {
            for caller in self.releases.remove(key).into_iter().flatten() {
                let number = caller.number;
                self.after.push(After::Tell(caller, Ok(Answer::done(number))));
            }
        }
    }

    /// Answers the releases of a key that have waited for the server long enough. It goes on without them.
    pub fn give_up_releases(&mut self, key: &crate::sessions::driver::Key, now: Instant) -> Option<Instant> {
        let callers = self.releases.get_mut(key)?;
        let late: Vec<_> = callers.extract_if(.., |caller| caller.until <= now).collect();
        let next = callers.iter().map(|caller| caller.until).min();
        if callers.is_empty() {
            self.releases.remove(key);
        }
        for caller in late {
            let server = caller.sessions.config.server();
            let error = Error::unavailable(server, "has not answered a release; the lock ends with its session", true);
            self.after.push(After::Tell(caller, Err(error)));
        }
        next
    }
}
