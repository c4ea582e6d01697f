//! What this client holds: how often, until when, and what was lost. A state machine without I/O: the caller brings the time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use slab::Slab;
use smallvec::SmallVec;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::claim::Claim;
use crate::request::Look;
use crate::request::error::{Loss, LostReason};
use crate::request::names::without;
use crate::request::owner::OwnerField;

mod belief;
mod due;
mod owned;
mod past;
mod timetable;

#[cfg(test)]
mod losses;
#[cfg(test)]
mod model;
#[cfg(test)]
mod suspicions;
#[cfg(test)]
mod time_line;
#[cfg(test)]
mod tokens;

use owned::{Hold, Lost, Owned};
use past::{Gone, Past};
use timetable::Timetable;

pub use due::Ask;
pub use owned::{Lapsed, Leaving, believed};

/// How long a lost hold is its owner's latest, which a release without its number ends.
const REMEMBER: Duration = Duration::from_secs(600);
/// A hold that has lasted so long is worth being told of by the server, which is asked for that in batches, a step apart.
const LASTING: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(25);

pub struct Holds {
    uuid: String,
    watchdog: Duration,
    /// Renewals are planned in steps of this from `origin` on, so that they come in batches.
    step: Duration,
    origin: Instant,
    /// By keys that are used again; neighbours in time are neighbours in memory.
    owned: Slab<Owned>,
    claims: HashMap<Claim, usize, RandomState>,
    /// By each name by which the server may tell of a change.
    names: HashMap<Arc<str>, SmallVec<[usize; 2]>, RandomState>,
    numbers: HashMap<u64, usize, RandomState>,
    /// When each owner wants to be looked at.
    due: Timetable,
    ended: Vec<Ended>,
    past: Past,
    /// Each name on the server begins with it, and no name in a message does.
    prefix: String,
    next: u64,
}

/// A hold that is over.
pub struct Ended {
    pub number: u64,
    pub claim: Claim,
    /// `None`: it was released, or its release was told of the loss.
    pub loss: Option<Loss>,
}

impl Holds {
    pub fn new(uuid: String, watchdog: Duration) -> Self {
        let owned = Slab::new();
        let (claims, names, numbers, ended) = Default::default();
        let due = Timetable::new();
        let past = Past::default();
        let prefix = String::new();
        let (step, origin) = ((watchdog / 12).max(Duration::from_millis(1)), Instant::now());
        Holds { uuid, watchdog, step, origin, owned, claims, names, numbers, due, ended, past, prefix, next: 1 }
    }

    /// Its messages have names without this prefix.
    pub fn without(self, prefix: &str) -> Self {
        Holds { prefix: prefix.to_owned(), ..self }
    }

    /// How many holds the owner has now.
    pub fn count(&mut self, claim: &Claim, now: Instant) -> u32 {
        let Some(key) = self.claims.get(claim).copied() else { return 0 };
        self.expire(key, now);
        self.owned[key].live()
    }

    /// Whether another owner of this client has it.
    pub fn is_near(&self, claim: &Claim, now: Instant) -> bool {
        let is_other = |other: &Claim| (other.kind, &other.name) == (claim.kind, &claim.name) && other.owner != claim.owner;
        let has = |other: &Owned| is_other(&other.claim) && other.live() > 0 && other.deadline > now;
        self.names.get(&claim.name).is_some_and(|keys| keys.iter().any(|key| has(&self.owned[*key])))
    }

    /// The server said yes to a call sent at `sent`, in its `incarnation`th life. `shared`: the key that says whether the hold lasts, where that is
    /// another than its name. Gives the new hold's number.
    pub fn taken(
        &mut self,
        claim: &Claim,
        shared: impl FnOnce() -> Option<String>,
        lease: Option<Duration>,
        incarnation: u64,
        sent: Instant,
        now: Instant,
    ) -> u64 {
        let number = self.next;
        self.next += 1;
        let until = sent + believed(lease.unwrap_or(self.watchdog));
        let check_at = Some(self.stepped(now + LASTING + STEP, STEP));
        let fresh = || Owned { check_at, ..Owned::new(claim.clone(), number, until, incarnation, now) };
        let key = match self.claims.get(claim) {
            Some(key) => *key,
            None => {
                let key = self.owned.insert(Owned { shared: shared().map(Arc::from), ..fresh() });
                self.claims.insert(claim.clone(), key);
                self.owned[key].names().for_each(|name| self.names.entry(name.clone()).or_default().push(key));
                key
            }
        };
        let renew_at = self.first_renewal(key, now);
        let owned = &mut self.owned[key];
        if owned.live() == 0 {
            let holds = std::mem::take(&mut owned.holds);
            *owned = Owned { shared: owned.shared.take(), holds, due: owned.due, tokens: owned.tokens.take(), ..fresh() };
        }
        owned.deadline = owned.deadline.max(until);
        if lease.is_none() && !owned.is_renewed() {
            owned.renew_at = renew_at;
        }
        owned.holds.push(Hold { number, is_renewed: lease.is_none(), token: 0, lost: None, abandoned: false, unasked: false });
        self.numbers.insert(number, key);
        self.tell("taken", &self.owned[key], number, Some(sent), 0);
        self.plan(key, now);
        number
    }

    /// What releasing a hold (0: the latest) takes. `Ok(None)`: there is none. `Err`: it was lost, and is forgotten by this. What is lost by
    /// the end of the client alone is released all the same.
    pub fn leaving(&mut self, claim: &Claim, number: u64, now: Instant) -> Result<Option<Leaving>, Lapsed> {
        if let Some(&Gone { lost, outlasts, .. }) = self.past.tell(number, claim) {
            return Err(Lapsed { loss: Box::new(self.loss(claim, &lost, now)), outlasts });
        }
        let Some(owned) = self.of(claim) else { return Ok(None) };
        let found = match number {
            0 => owned.holds.last(),
            _ => owned.holds.iter().find(|hold| hold.number == number),
        };
        let Some(hold) = found else { return Ok(None) };
        let number = hold.number;
        if let Some(lost) = hold.lost.as_ref().filter(|_| !hold.abandoned) {
            let lapsed = Lapsed { loss: Box::new(self.loss(claim, lost, now)), outlasts: owned.outlasts };
            self.tell_loss(claim, number, now);
            return Err(lapsed);
        }
        let others = || owned.holds.iter().filter(|hold| hold.number != number);
        let renewed = others().any(|hold| hold.is_renewed && hold.lost.is_none());
        let lease = if renewed { self.watchdog } else { Duration::ZERO };
        let leave = others().filter(|hold| hold.lost.is_none() || hold.abandoned).count() as u32;
        self.tell("leaving", owned, number, None, 0);
        Ok(Some(Leaving { number, leave, lease, since: owned.acquired }))
    }

    /// A hold was released, which the server has said; `is_last`: it has nothing of the owner any more.
    pub fn released(&mut self, claim: &Claim, number: u64, is_last: bool, now: Instant) {
        if is_last {
            self.freed(claim);
        }
        self.forget(claim, number, now);
    }

    /// Forgets a hold whose release is told of its loss, which [`Holds::loss_of`] knows all the same.
    pub fn tell_loss(&mut self, claim: &Claim, number: u64, now: Instant) {
        if let Some(owned) = self.of(claim) {
            let lost = owned.holds.iter().find(|hold| hold.number == number).and_then(|hold| hold.lost.as_deref().copied());
            let gone = lost.map(|lost| Gone { claim: claim.clone(), lost, outlasts: owned.outlasts, told: true });
            gone.into_iter().for_each(|gone| self.past.add(number, gone));
        }
        self.forget(claim, number, now);
    }

    /// Forgets a hold: its release is on its way, or its loss was told.
    pub fn forget(&mut self, claim: &Claim, number: u64, now: Instant) {
        self.numbers.remove(&number);
        self.ended.push(Ended { number, claim: claim.clone(), loss: None });
        let Some(key) = self.claims.get(claim).copied() else { return };
        self.tell("ended", &self.owned[key], number, None, 0);
        let owned = &mut self.owned[key];
        if let Some(tokens) = &mut owned.tokens {
            // The last call for it may be on its way still, and the server's clock is another one.
            tokens.until = Some(now + tokens.longest + tokens.longest / 100 + WINDOW);
        }
        owned.holds.retain(|hold| hold.number != number);
        self.plan(key, now);
    }

    /// Everything the owner held of this lock is gone.
    pub fn lost(&mut self, claim: &Claim, reason: LostReason, now: Instant) {
        if let Some(key) = self.claims.get(claim) {
            self.lose(*key, reason, now);
        }
    }

    fn lose(&mut self, key: usize, reason: LostReason, now: Instant) {
        let mut numbers = Vec::new();
        let owned = &mut self.owned[key];
        let lost = Lost { reason, acquired: owned.acquired, renewed: owned.renewed, noticed: now };
        for hold in owned.holds.iter_mut().filter(|hold| hold.lost.is_none()) {
            hold.lost = Some(Box::new(lost));
            hold.abandoned = reason == LostReason::Closed;
            numbers.push(hold.number);
        }
        if numbers.is_empty() {
            return;
        }
        let claim = owned.claim.clone();
        // A program knows what it has done itself.
        let is_own_doing = reason == LostReason::Closed || owned.forced;
        numbers.iter().for_each(|number| self.tell("lost", &self.owned[key], *number, None, 0));
        let loss = self.loss(&self.owned[key].claim, &lost, now);
        let lock = loss.lock.as_str();
        let owner = loss.owner.as_str();
        let reason = loss.reason.name();
        match is_own_doing {
            true => tracing::debug!(target: "redlatch::lost", lock, owner, reason, "{loss}"),
            false => tracing::warn!(target: "redlatch::lost", lock, owner, reason, "{loss}"),
        }
        self.ended.extend(numbers.into_iter().map(|number| Ended { number, claim: claim.clone(), loss: Some(loss.clone()) }));
        self.plan(key, now);
    }

    /// A hold is to last for `lease` from now on. Tells whether it may end sooner by that than before: its owner has no other one, and the
    /// watchdog does not renew it.
    pub fn extending(&mut self, claim: &Claim, lease: Duration) -> bool {
        let Some(key) = self.claims.get(claim).copied() else { return false };
        let owned = &mut self.owned[key];
        owned.asks_for(lease);
        owned.live() == 1 && !owned.is_renewed()
    }

    /// The key may end sooner: after `lease` from now on.
    pub fn shorten(&mut self, claim: &Claim, lease: Duration, now: Instant) -> Option<Instant> {
        let before = self.of(claim)?.deadline;
        let until = now + believed(lease);
        self.change_end(claim, None, now, |deadline| deadline.min(until));
        Some(before)
    }

    /// The server may keep it for longer than is believed, by a call that was answered too late or not at all.
    pub fn outlasts(&mut self, claim: &Claim) {
        let Some(key) = self.claims.get(claim).copied() else { return };
        self.owned[key].outlasts = true;
    }

    /// It ends when it was to end `before` all the same.
    pub fn restore(&mut self, claim: &Claim, before: Instant, now: Instant) {
        self.change_end(claim, None, now, |deadline| deadline.max(before));
    }

    /// The key lives for `lease` since a call sent at `sent`.
    pub fn lengthen(&mut self, claim: &Claim, lease: Duration, sent: Instant, now: Instant) {
        let until = sent + believed(lease);
        self.change_end(claim, Some(sent), now, |deadline| deadline.max(until));
    }

    fn change_end(&mut self, claim: &Claim, sent: Option<Instant>, now: Instant, change: impl Fn(Instant) -> Instant) {
        if let Some(key) = self.claims.get(claim).copied() {
            self.owned[key].deadline = change(self.owned[key].deadline);
            self.tell("until", &self.owned[key], 0, sent, 0);
            self.plan(key, now);
        }
    }

    /// This client takes the lock of that name away from its holders, or `false`: it did not. Its own holds of it are lost by its own doing.
    pub fn force(&mut self, name: &str, is_forced: bool) {
        for key in self.names.get(name).into_iter().flatten() {
            self.owned[*key].forced = is_forced;
        }
    }

    /// The server found no field of this owner; `taken`: somebody else has one.
    pub fn missing(&mut self, claim: &Claim, taken: bool, incarnation: u64, now: Instant) {
        let reason = match self.of(claim) {
            _ if taken => LostReason::TakenOver,
            Some(owned) if owned.incarnation != incarnation => LostReason::ServerLostData,
            _ => LostReason::Deleted,
        };
        self.lost(claim, reason, now);
    }

    pub fn look(&mut self, number: u64, now: Instant) -> Look {
        let Some(key) = self.numbers.get(&number).copied() else {
            let untold = self.past.untold(number);
            return untold.map_or(Look::Gone, |gone| Look::Lost(self.loss(&gone.claim, &gone.lost, now)));
        };
        self.expire(key, now);
        let owned = &self.owned[key];
        match owned.holds.iter().find(|hold| hold.number == number).and_then(|hold| hold.lost.as_ref()) {
            None => Look::Held { remaining: owned.deadline.saturating_duration_since(now) },
            Some(lost) => Look::Lost(self.loss(&owned.claim, lost, now)),
        }
    }

    /// How a hold was lost, also where its release was told of that; `None`: it was not, or is one of very many long ago.
    pub fn loss_of(&mut self, number: u64, now: Instant) -> Option<Loss> {
        match self.look(number, now) {
            Look::Lost(loss) => Some(loss),
            Look::Held { .. } => None,
            Look::Gone => self.past.get(number).map(|gone| self.loss(&gone.claim, &gone.lost, now)),
        }
    }

    /// Whether a hold has or had that number.
    pub fn gave(&self, number: u64) -> bool {
        (1..self.next).contains(&number)
    }

    /// The number of the owner's latest hold, lost or not, unless it was released or its loss was told.
    pub fn latest(&self, claim: &Claim) -> Option<u64> {
        self.of(claim)?.holds.last().map(|hold| hold.number)
    }

    /// Every slot that is held, for closing.
    pub fn held(&self) -> Vec<Claim> {
        self.owned.iter().filter(|(_, owned)| owned.live() > 0).map(|(_, owned)| owned.claim.clone()).collect()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.owned.iter().all(|(_, owned)| owned.live() == 0)
    }

    /// The watchdog sleeps from now on, see [`Timetable::sleep`].
    pub fn sleep(&mut self) -> Option<Instant> {
        self.due.sleep()
    }

    /// The watchdog is awake.
    pub fn wake(&mut self) {
        self.due.wake();
    }

    /// Whether the watchdog is to be woken: something is due before it wakes by itself.
    pub fn take_call(&mut self) -> bool {
        self.due.take_call()
    }

    /// The holds that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    fn of(&self, claim: &Claim) -> Option<&Owned> {
        self.claims.get(claim).map(|key| &self.owned[*key])
    }

    fn loss(&self, claim: &Claim, lost: &Lost, now: Instant) -> Loss {
        Loss {
            lock: without(&self.prefix, &claim.name).to_owned(),
            owner: OwnerField(&self.uuid, claim.owner).to_string(),
            reason: lost.reason,
            acquired: now - lost.acquired,
            renewed: lost.renewed.map(|renewed| now - renewed),
            noticed: now - lost.noticed,
        }
    }

    fn expire(&mut self, key: usize, now: Instant) {
        let owned = &self.owned[key];
        if owned.deadline > now || owned.live() == 0 {
            return;
        }
        let reason = match owned.is_renewed() {
            false => LostReason::Expired,
            true if owned.unanswered > 0 => LostReason::Partitioned,
            true => LostReason::Paused,
        };
        self.lose(key, reason, now);
    }
}
