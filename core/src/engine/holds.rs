//! The holds of this client: their number, their end, and their losses. A state machine without I/O: the caller brings
//! the time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use slab::Slab;

use crate::base::clock::Instant;
use crate::base::scope::{Scope, UnkeptScope};
use crate::engine::claim::Claim;
use crate::engine::stats::Figures;
use crate::request::Look;
use crate::request::error::{Loss, LostReason};
use crate::request::names::without;
use crate::request::owner::OwnerField;

pub mod belief;
mod due;
pub mod grip;
mod owned;
pub mod past;
mod sharers;
pub mod stand_ins;
mod timetable;

#[cfg(test)]
mod fields;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod model;
#[cfg(test)]
mod suspicions;
#[cfg(test)]
mod time_line;
#[cfg(test)]
mod turns;

use owned::{Gone, Hold, Lost, Owned};
use past::Past;
use sharers::Sharers;
use stand_ins::StandIns;
use timetable::Timetable;

pub use due::Ask;
pub use owned::{Lapsed, Leaving, LetGo, Meant, SHORT, believed, lease_for};

/// The time for which a lost hold still counts as its owner's latest: the one that a release without a number means.
pub const REMEMBER: Duration = Duration::from_secs(600);
/// The age from which a hold makes the server report changes: shorter holds are not worth it. The requests for that go
/// out in batches, one step apart.
const LASTING: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(25);

pub struct Holds {
    uuid: String,
    watchdog: Duration,
    /// That of the watchdog's time, see [`step_of`]. The times count from `origin`.
    step: Duration,
    origin: Instant,
    /// The owners by key. Keys are used again, and neighbours in time are neighbours in memory.
    owned: Slab<Owned>,
    claims: HashMap<Claim, usize, RandomState>,
    /// The owners by each name for which the server may report a change.
    names: HashMap<Arc<str>, Sharers, RandomState>,
    numbers: HashMap<u64, usize, RandomState>,
    /// The scopes of the holds that have one.
    scopes: HashMap<u64, UnkeptScope, RandomState>,
    /// The holds that releases took as the latest ones of owners that had others, by the claim for all kinds together.
    stand_ins: HashMap<Claim, StandIns, RandomState>,
    /// The time of each owner's next check.
    due: Timetable,
    ended: Vec<Ended>,
    past: Past<Gone>,
    figures: Figures,
    /// The prefix of the names on the server; messages leave it out.
    prefix: String,
    next: u64,
}

/// A hold that has ended.
pub struct Ended {
    pub number: u64,
    pub claim: Claim,
    /// `None`: its owner released it, or heard of the loss at its release.
    pub loss: Option<Loss>,
    /// One report tells of all holds of the owner.
    report: Option<Report>,
}

/// A report for the log of the program. It waits until the holds are free: the program's subscriber may ask for one.
struct Report {
    /// That of the latest hold that has one.
    scope: Scope,
    is_own_doing: bool,
}

impl Ended {
    /// Logs the loss.
    pub fn say(&self) {
        let (Some(loss), Some(report)) = (&self.loss, &self.report) else { return };
        let lock = loss.lock.as_str();
        let owner = loss.owner.as_str();
        let reason = loss.reason.name();
        report.scope.report(|| match report.is_own_doing {
            true => tracing::debug!(target: "redlatch::lost", lock, owner, reason, "{loss}"),
            false => tracing::warn!(target: "redlatch::lost", lock, owner, reason, "{loss}"),
        });
    }
}

/// Renewals by this lease are due at multiples of this time, so that they come in batches.
fn step_of(lease: Duration) -> Duration {
    (lease / 12).max(Duration::from_millis(1))
}

impl Holds {
    pub fn new(uuid: String, watchdog: Duration) -> Self {
        let owned = Slab::new();
        let due = Timetable::new();
        let past = Past::default();
        let prefix = String::new();
        let step = step_of(watchdog);
        let origin = Instant::now();
        Holds {
            uuid,
            watchdog,
            step,
            origin,
            owned,
            claims: Default::default(),
            names: Default::default(),
            numbers: Default::default(),
            scopes: Default::default(),
            stand_ins: Default::default(),
            due,
            ended: Default::default(),
            past,
            figures: Figures::default(),
            prefix,
            next: 1,
        }
    }

    /// Leaves this prefix out of the names in messages.
    pub fn without(self, prefix: &str) -> Self {
        Holds { prefix: prefix.to_owned(), ..self }
    }

    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The number of holds that the owner has now.
    pub fn count(&mut self, claim: &Claim, now: Instant) -> u32 {
        let Some(key) = self.claims.get(claim).copied() else { return 0 };
        self.expire(key, now);
        self.owned[key].live()
    }

    /// Tells whether another owner of this client holds the lock by this kind.
    pub fn is_near(&self, claim: &Claim, now: Instant) -> bool {
        self.is_held(claim, now, |other| other.kind == claim.kind && other.owner != claim.owner)
    }

    /// Tells whether another owner of this client holds the lock by any kind that is counted together with this one.
    pub fn is_taken(&self, claim: &Claim, now: Instant) -> bool {
        self.is_held(claim, now, |other| other.is_counted_with(claim) && other.owner != claim.owner)
    }

    fn is_held(&self, claim: &Claim, now: Instant, by: impl Fn(&Claim) -> bool) -> bool {
        let has = |owned: &Owned| owned.claim.name == claim.name && by(&owned.claim);
        let holds = |owned: &Owned| has(owned) && owned.live() > 0 && owned.deadline > now;
        self.names.get(&claim.name).is_some_and(|sharers| sharers.holders.iter().any(|key| holds(&self.owned[*key])))
    }

    /// Notes a hold that the server granted, by a call sent at `sent`, in this incarnation of the server. `shared`: the
    /// key that decides whether the hold lasts, if that is not its name. Gives the new hold's number.
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
        let fresh = || Owned { check_at, changed: true, ..Owned::new(claim.clone(), number, until, incarnation, now) };
        let key = self.key_for(claim, || Owned { shared: shared().map(Arc::from), ..fresh() });
        if self.owned[key].field != claim.owner {
            // The server has given the own field: a hold under another one that is over stays over, although nothing has looked at it.
            self.expire(key, now);
        }
        self.names.get_mut(&claim.name).into_iter().for_each(|sharers| sharers.granted = claim.owner);
        let renew_at = self.first_renewal(key, now);
        // The server shortens no key that it has kept for the owner.
        let ends = self.counted_in(claim, claim.owner).into_iter().filter_map(|key| self.owned[key].outlasts);
        let lent = self.names.get(&claim.name).and_then(|sharers| sharers.outlasting(claim));
        let outlasts = ends.chain(lent).max().filter(|end| *end > until);
        let owned = &mut self.owned[key];
        if owned.live() == 0 {
            let holds = std::mem::take(&mut owned.holds);
            let Owned { due, places, is_lapsed, .. } = *owned;
            *owned = Owned { shared: owned.shared.take(), holds, due, places, is_lapsed, ..fresh() };
        }
        owned.outlasts = outlasts;
        if lease.is_none() && !owned.is_renewed() {
            owned.renew_at = renew_at;
        }
        owned.holds.push(Hold::new(number, lease.is_none()));
        self.figures.held += 1;
        self.numbers.insert(number, key);
        let decides = owned.decides().clone();
        self.tell("taken", &self.owned[key], number, Some(sent), 0);
        self.last_until(claim, until, sent);
        self.changed(&decides, now);
        number
    }

    /// Has all that the server counts together with what the owner has by this claim last until then, or until the latest end of
    /// its parts: the server has one end for them.
    fn last_until(&mut self, claim: &Claim, until: Instant, sent: Instant) {
        let together = self.counted_with(claim);
        let ends = together.iter().map(|key| &self.owned[*key]).filter(|owned| owned.live() > 0);
        let until = ends.map(|owned| owned.deadline).fold(until, Instant::max);
        for key in together {
            if self.owned[key].live() > 0 && self.owned[key].deadline != until {
                self.owned[key].deadline = until;
                self.tell("until", &self.owned[key], 0, Some(sent), 0);
            }
            self.plan(key);
        }
    }

    /// The key of an owner, which is `fresh` if the client does not know it.
    fn key_for(&mut self, claim: &Claim, fresh: impl FnOnce() -> Owned) -> usize {
        if let Some(key) = self.claims.get(claim) {
            return *key;
        }
        let key = self.owned.insert(fresh());
        self.claims.insert(claim.clone(), key);
        self.enlist(key);
        key
    }

    /// Gives the facts for the release of a hold, by the claim that [`Holds::meant`] gives. `Ok(None)`: there is no such
    /// hold. `Err`: the hold was lost, and this call forgets it. A hold that was lost only because the client ended is
    /// released all the same.
    pub fn leaving(&mut self, claim: &Claim, meant: Meant, now: Instant) -> Result<Option<Leaving>, Lapsed> {
        let number = match meant {
            Meant::Latest => 0,
            Meant::Given(number) => number,
            Meant::Untaken(0) => return Ok(None),
            Meant::Untaken(untaken) => {
                let (_, number) = self.meant(claim, meant);
                self.ends_instead(claim, number, untaken);
                number
            }
        };
        if let Some(&Gone { lost, outlasts, .. }) = self.past.tell(number, |gone| gone.claim == *claim) {
            return Err(Lapsed { loss: Box::new(self.loss(claim, &lost, now)), outlasts });
        }
        let together = self.counted_with(claim);
        for &key in &together {
            // After its end the field may be its owner's again: a release would free the lock of that one. And no release
            // gives new life to a hold by another kind.
            let owned = &self.owned[key];
            if owned.is_through_another() || owned.claim != *claim {
                self.expire(key, now);
            }
        }
        let Some(owned) = self.of(claim) else { return Ok(None) };
        let is_latest = number == 0;
        let found = match number {
            0 => owned.holds.last(),
            _ => owned.holds.iter().find(|hold| hold.number == number),
        };
        let Some(hold) = found else { return Ok(None) };
        let number = hold.number;
        if let Some(lost) = hold.lost.as_ref().filter(|_| !hold.abandoned) {
            let lapsed = Lapsed { loss: Box::new(self.loss(claim, lost, now)), outlasts: owned.outlasting() };
            self.tell_loss(claim, number, now);
            return Err(lapsed);
        }
        let others = || together.iter().flat_map(|key| &self.owned[*key].holds).filter(|hold| hold.number != number);
        let renewed = others().any(|hold| hold.is_renewed && hold.lost.is_none());
        let lease = if renewed { self.watchdog } else { Duration::ZERO };
        let leave = others().filter(|hold| hold.lost.is_none() || hold.abandoned).count() as u32;
        self.tell("leaving", owned, number, None, 0);
        let leaving = Leaving { number, leave, lease, since: owned.gripped };
        if is_latest && together.iter().map(|key| self.owned[*key].holds.len()).sum::<usize>() > 1 {
            self.stands_in(claim, number);
        }
        Ok(Some(leaving))
    }

    /// Notes a hold that the server released; `is_last`: the server has nothing of the owner any more, by any kind.
    pub fn released(&mut self, claim: &Claim, number: u64, is_last: bool, now: Instant) {
        if is_last {
            self.freed(claim);
        }
        self.forget(claim, number, now);
    }

    /// Forgets a hold whose release reports its loss; [`Holds::loss_of`] still knows the loss.
    pub fn tell_loss(&mut self, claim: &Claim, number: u64, now: Instant) {
        if let Some(owned) = self.of(claim) {
            let lost =
                owned.holds.iter().find(|hold| hold.number == number).and_then(|hold| hold.lost.as_deref().copied());
            let gone = lost.map(|lost| Gone { claim: claim.clone(), lost, outlasts: owned.outlasting() });
            gone.into_iter().for_each(|gone| self.past.add(number, gone, true));
        }
        self.forget(claim, number, now);
    }

    /// Forgets a hold: its release is on its way, or a release has reported its loss.
    pub fn forget(&mut self, claim: &Claim, number: u64, now: Instant) {
        if let Some(decides) = self.end(claim, number, now) {
            self.changed(&decides, now);
        }
    }

    /// Drops a hold. Gives the key that decided whether it lasted.
    fn end(&mut self, claim: &Claim, number: u64, now: Instant) -> Option<Arc<str>> {
        self.numbers.remove(&number);
        drop(self.take_scope(number));
        self.ended.push(Ended { number, claim: claim.clone(), loss: None, report: None });
        let key = self.claims.get(claim).copied()?;
        self.tell("ended", &self.owned[key], number, None, 0);
        let owned = &mut self.owned[key];
        let before = owned.live();
        owned.holds.retain(|hold| hold.number != number);
        let ended = before - owned.live();
        let acquired = owned.acquired;
        let is_over = ended > 0 && owned.live() == 0;
        let decides = owned.decides().clone();
        self.count_out(ended, is_over.then_some(acquired), now);
        self.plan(key);
        Some(decides)
    }

    /// Notes that the owner has lost all its holds of this lock.
    pub fn lost(&mut self, claim: &Claim, reason: LostReason, now: Instant) {
        if let Some(key) = self.claims.get(claim) {
            self.lose(*key, reason, now);
        }
    }

    /// Notes that the client has ended, and all its holds with it. Gives the claims that were held, and those of which the server
    /// may still have something.
    pub fn close(&mut self, now: Instant) -> Vec<Claim> {
        let outlasts = |owned: &Owned| owned.live() == 0 && owned.outlasts.is_some_and(|end| end > now);
        let left: Vec<_> =
            self.owned.iter().filter(|(_, owned)| outlasts(owned)).map(|(_, owned)| owned.claim.clone()).collect();
        let held = self.held();
        held.iter().for_each(|claim| self.lost(claim, LostReason::Closed, now));
        held.into_iter().chain(left).collect()
    }

    fn lose(&mut self, key: usize, reason: LostReason, now: Instant) {
        let mut numbers = Vec::new();
        let owned = &mut self.owned[key];
        let is_kept = owned.holds.iter().all(|hold| hold.kept || hold.lost.is_some());
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
        self.count_out(numbers.len() as u32, Some(lost.acquired), now);
        self.figures.lost[reason as usize - 1] += numbers.len() as u64;
        let owned = &self.owned[key];
        // The program knows of losses that it caused itself, and of ends with the lease of holds that it has kept.
        let is_own_doing = reason == LostReason::Closed || owned.forced || (reason == LostReason::Expired && is_kept);
        numbers.iter().for_each(|number| self.tell("lost", &self.owned[key], *number, None, 0));
        let loss = self.loss(&claim, &lost, now);
        let scopes = numbers.iter().filter_map(|number| self.take_scope(*number));
        let scope = scopes.last().unwrap_or_default().get();
        let mut report = Some(Report { scope, is_own_doing });
        self.ended.extend(numbers.into_iter().map(|number| Ended {
            number,
            claim: claim.clone(),
            loss: Some(loss.clone()),
            report: report.take(),
        }));
        self.plan(key);
    }

    /// Counts and reports the loss of a hold that the ledger has forgotten.
    fn found_lost(&mut self, claim: &Claim, number: u64, loss: Loss) {
        self.figures.lost[loss.reason as usize - 1] += 1;
        let report = Some(Report { scope: Scope::default(), is_own_doing: false });
        self.ended.push(Ended { number, claim: claim.clone(), loss: Some(loss), report });
    }

    /// Counts holds that have ended; `acquired`: the time since which their owner had the lock, if it has it no more.
    fn count_out(&mut self, ended: u32, acquired: Option<Instant>, now: Instant) {
        self.figures.held -= u64::from(ended);
        self.figures.held_for += acquired.map_or(Duration::ZERO, |acquired| now.duration_since(acquired));
    }

    /// Has the loss of a hold reported in this scope.
    pub fn trace(&mut self, number: u64, scope: UnkeptScope) {
        let is_live = |owned: &Owned| owned.holds.iter().any(|hold| hold.number == number && hold.lost.is_none());
        if self.numbers.get(&number).is_some_and(|key| is_live(&self.owned[*key])) {
            self.scopes.insert(number, scope);
        }
    }

    fn take_scope(&mut self, number: u64) -> Option<UnkeptScope> {
        if self.scopes.is_empty() { None } else { self.scopes.remove(&number) }
    }

    /// The lease that a renewal gives to what this owner has.
    fn term_of(&self, key: usize) -> Duration {
        self.owned[key].term.unwrap_or(self.watchdog)
    }

    /// The lease of what it renews.
    #[cfg_attr(not(any(feature = "mysql", feature = "zookeeper")), allow(dead_code))]
    pub fn watchdog(&self) -> Duration {
        self.watchdog
    }

    /// Tells whether the watchdog renews what the owner has by this claim.
    #[cfg_attr(not(any(feature = "mysql", feature = "zookeeper")), allow(dead_code))]
    pub fn is_renewed(&self, claim: &Claim) -> bool {
        self.of(claim).is_some_and(Owned::is_renewed)
    }

    /// Tells whether an extension may let a hold end sooner than before: its owner has no other hold, by any kind, and the
    /// watchdog does not renew it.
    pub fn may_shorten(&self, claim: &Claim) -> bool {
        let is_renewed = self.of(claim).is_none_or(Owned::is_renewed);
        !is_renewed && self.counted_with(claim).iter().map(|key| self.owned[*key].live()).sum::<u32>() == 1
    }

    /// Notes that the key may end sooner: after `lease` from now on.
    pub fn shorten(&mut self, claim: &Claim, lease: Duration, now: Instant) -> Option<Instant> {
        let before = self.of(claim)?.deadline;
        let until = now + believed(lease);
        self.change_end(claim, None, |deadline| deadline.min(until));
        Some(before)
    }

    /// Notes that the server may keep the key until `end`: the answer to a call came too late or not at all.
    pub fn outlasts(&mut self, claim: &Claim, end: Instant) {
        self.outlasts_in(claim, self.field(claim), end);
    }

    /// As [`Holds::outlasts`], for what the owner of this claim has under the field of that owner.
    pub fn outlasts_in(&mut self, claim: &Claim, field: i64, end: Instant) {
        for key in self.counted_in(claim, field) {
            self.owned[key].outlast(end);
        }
        if field != claim.owner {
            let grip = claim.of(field);
            self.names.get_mut(&claim.name).into_iter().for_each(|sharers| sharers.outlast(&grip, end));
        }
    }

    /// As [`Holds::outlasts`], for what the owners hold now under this grip.
    pub fn outlasts_under(&mut self, grip: &Claim, end: Instant) {
        for key in self.holders_under(grip) {
            self.owned[key].outlast(end);
        }
    }

    /// Notes that the server keeps the key for as long as the client believes, and no longer.
    pub fn ends_as_believed(&mut self, claim: &Claim) {
        for key in self.counted_with(claim) {
            self.owned[key].outlasts = None;
        }
    }

    /// Undoes [`Holds::shorten`] of what the owner has in the field of that owner: the key ends at `before` after all, even if the
    /// holds have ended since. What it has in another field by now ends as it would.
    pub fn restore(&mut self, claim: &Claim, field: i64, before: Instant) {
        if self.field(claim) != field {
            return;
        }
        self.change_end(claim, None, |deadline| deadline.max(before));
    }

    /// Notes that the key lives for `lease` after a call sent at `sent`.
    pub fn lengthen(&mut self, claim: &Claim, lease: Duration, sent: Instant, now: Instant) {
        let until = sent + believed(lease);
        self.change_end(claim, Some(sent), |deadline| deadline.max(until));
        let decides = self.of(claim).map(|owned| owned.decides().clone());
        decides.into_iter().for_each(|name| self.changed(&name, now));
    }

    fn change_end(&mut self, claim: &Claim, sent: Option<Instant>, change: impl Fn(Instant) -> Instant) {
        for key in self.counted_with(claim) {
            self.owned[key].deadline = change(self.owned[key].deadline);
            self.tell("until", &self.owned[key], 0, sent, 0);
            self.plan(key);
        }
    }

    /// Notes whether this client takes the lock of that name away from its holders. Its own holds of the lock are then
    /// lost by its own doing.
    pub fn force(&mut self, name: &str, is_forced: bool) {
        for key in self.names.get(name).into_iter().flat_map(|sharers| &sharers.holders) {
            self.owned[*key].forced = is_forced;
        }
    }

    /// Notes the server's answer to a call about `field` that was sent at `sent`: it has no such field, under which the owner
    /// of this claim had its holds; `taken`: another owner has one.
    pub fn missing(&mut self, claim: &Claim, field: i64, taken: bool, incarnation: u64, sent: Instant, now: Instant) {
        let grip = claim.of(field);
        self.names.get_mut(&claim.name).into_iter().for_each(|sharers| sharers.freed(&grip));
        for key in self.counted_in(claim, field) {
            // A belief that was over when the call went out ended by itself, whether or not the watchdog has looked since.
            if self.owned[key].deadline <= sent {
                self.expire(key, now);
            }
            let reason = match taken {
                true => LostReason::TakenOver,
                false if self.owned[key].incarnation != incarnation => LostReason::ServerLostData,
                false => LostReason::Deleted,
            };
            self.lose(key, reason, now);
        }
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

    /// The loss of a hold, even if its release reported it; `None`: the hold was not lost, or it was lost long ago and
    /// very many others since.
    pub fn loss_of(&mut self, number: u64, now: Instant) -> Option<Loss> {
        match self.look(number, now) {
            Look::Lost(loss) => Some(loss),
            Look::Held { .. } => None,
            Look::Gone => self.past.get(number).map(|gone| self.loss(&gone.claim, &gone.lost, now)),
        }
    }

    /// The owner's claim of which this is a hold, lost or not; `None`: it was released.
    pub fn claim_of(&self, number: u64) -> Option<Claim> {
        self.numbers.get(&number).map(|key| self.owned[*key].claim.clone())
    }

    /// Tells whether a hold has or had that number.
    pub fn gave(&self, number: u64) -> bool {
        (1..self.next).contains(&number)
    }

    /// The number of the owner's latest hold, lost or not, unless it was released or a release reported its loss.
    pub fn latest(&self, claim: &Claim) -> Option<u64> {
        self.of(claim)?.holds.last().map(|hold| hold.number)
    }

    /// All claims with a hold, for the end of the client.
    pub fn held(&self) -> Vec<Claim> {
        self.owned.iter().filter(|(_, owned)| owned.live() > 0).map(|(_, owned)| owned.claim.clone()).collect()
    }

    /// Tells whether the client holds nothing.
    pub fn is_empty(&self) -> bool {
        self.owned.iter().all(|(_, owned)| owned.live() == 0)
    }

    /// Notes that the watchdog goes to sleep, see [`Timetable::sleep`].
    pub fn sleep(&mut self) -> Option<Instant> {
        self.due.sleep()
    }

    /// Notes that the watchdog is awake.
    pub fn wake(&mut self) {
        self.due.wake();
    }

    /// Tells whether the caller must wake the watchdog: a check is due before it wakes by itself.
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
        let owned = &mut self.owned[key];
        if owned.deadline > now || owned.live() == 0 {
            return;
        }
        // The server may have carried such a renewal out.
        if owned.unanswered > 0 {
            let claim = owned.claim.clone();
            let field = owned.field;
            let end = owned.deadline + owned.term.unwrap_or_default().max(self.watchdog);
            self.outlasts_in(&claim, field, end);
        }
        let owned = &self.owned[key];
        let reason = match owned.is_renewed() {
            false => LostReason::Expired,
            // The watchdog was there in time, and the call in its way has no answer either.
            true if owned.unanswered > 0 || owned.is_overdue => LostReason::Partitioned,
            true => LostReason::Paused,
        };
        self.lose(key, reason, now);
    }
}
