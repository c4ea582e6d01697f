//! The holds that one owner has of one lock, and their end.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::Holds;
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::error::{Loss, LostReason};
use crate::request::{Op, Request};

/// The longest lease that may be over when the answer comes: a caller that asks for such a lease gets it.
pub const SHORT: Duration = Duration::from_millis(10);

pub struct Owned {
    pub claim: Claim,
    /// The owner under whose field the server keeps the holds, see `grip`.
    pub field: i64,
    /// The key that decides whether the holds last, if that is not the lock's name. Holds of other names may share it.
    pub shared: Option<Arc<str>>,
    /// The number of its first hold: never used again.
    pub first: u64,
    /// Nearly always one hold. It is stored here, not behind a pointer, because the watchdog goes through very many.
    pub holds: SmallVec<[Hold; 1]>,
    pub deadline: Instant,
    pub acquired: Instant,
    /// The time at which the server gave this client the lock; `acquired` is later if the lock was handed on inside.
    pub gripped: Instant,
    /// The sending time of the last renewal that the server confirmed.
    pub renewed: Option<Instant>,
    /// The lease that each renewal gives; `None`: the watchdog's time.
    pub term: Option<Duration>,
    /// The time of the next renewal, if the watchdog renews a hold.
    pub renew_at: Instant,
    /// The renewal was due while another call of the owner was under way.
    pub is_overdue: bool,
    /// The time of the next question, which makes the server report changes; `None`: the server will report them.
    pub check_at: Option<Instant>,
    /// Renewals sent since the last answer.
    pub unanswered: u32,
    /// The incarnation of the server that granted the holds.
    pub incarnation: u64,
    /// Its place in the timetable.
    pub due: Option<Instant>,
    /// Its place in a list of each of its names: of the owners that have lost all, or of the others.
    pub places: [usize; 2],
    pub is_lapsed: bool,
    /// The key has changed, and the client has not asked the server since.
    pub suspected: bool,
    /// The key has changed, and the server has answered no question since.
    pub unsure: bool,
    /// This client has changed the key, and has not asked the server since: the server reports no further change of it.
    pub changed: bool,
    /// The server may keep the key until then, whatever the client believes.
    pub outlasts: Option<Instant>,
    /// This client itself takes the lock away by force.
    pub forced: bool,
    /// The fencing tokens that are left for heirs inside this client.
    pub spare: Range<i64>,
}

pub struct Hold {
    pub number: u64,
    pub is_renewed: bool,
    /// 0: the hold has no token.
    pub token: i64,
    pub lost: Option<Box<Lost>>,
    /// The hold was lost because the client ended: the server keeps it until its lease ends.
    pub abandoned: bool,
    /// No caller can release the hold, nor ask for its fate.
    pub unasked: bool,
    /// The program has let go of the hold, so that it ends with its lease.
    pub kept: bool,
}

impl Hold {
    pub fn new(number: u64, is_renewed: bool) -> Self {
        Hold { number, is_renewed, token: 0, lost: None, abandoned: false, unasked: false, kept: false }
    }
}

/// The story of a loss at its time. Later answers do not change it.
#[derive(Clone, Copy)]
pub struct Lost {
    pub reason: LostReason,
    pub acquired: Instant,
    pub renewed: Option<Instant>,
    pub noticed: Instant,
}

/// A hold that was lost, and that the client has otherwise forgotten.
pub struct Gone {
    pub claim: Claim,
    pub lost: Lost,
    /// See [`Lapsed::outlasts`].
    pub outlasts: Option<Instant>,
}

/// The reason why a release finds no hold to send a call for.
#[derive(Debug)]
pub struct Lapsed {
    pub loss: Box<Loss>,
    /// `Some`: the server may still have the hold. The time is the latest one that the client knows of.
    pub outlasts: Option<Instant>,
}

/// The hold that a release is for.
#[derive(Clone, Copy, Debug)]
pub enum Meant {
    /// The owner's latest.
    Latest,
    /// The hold of that number.
    Given(u64),
    /// The hold of that number, or another one in its place: its caller never had it.
    Untaken(u64),
}

impl Meant {
    /// The number by which the program knows the hold.
    pub fn number(self) -> Option<u64> {
        match self {
            Meant::Latest => None,
            Meant::Given(number) | Meant::Untaken(number) => Some(number),
        }
    }
}

impl From<&Request> for Meant {
    fn from(request: &Request) -> Self {
        match (request.op, request.hold) {
            (Op::GiveBack, number) => Meant::Untaken(number),
            (_, 0) => Meant::Latest,
            (_, number) => Meant::Given(number),
        }
    }
}

/// A hold that has ended, and whose key the server keeps for a while.
pub struct LetGo {
    /// The owner under whose field the server keeps it.
    pub field: i64,
    pub acquired: Instant,
    pub renewed: Option<Instant>,
    /// The server keeps the key no longer, unless a later call says so.
    pub end: Instant,
}

/// The facts for the call of a release.
#[derive(Debug)]
pub struct Leaving {
    pub number: u64,
    pub leave: u32,
    /// 0: the key lives as long as before.
    pub lease: Duration,
    /// The time at which the server gave this client the lock.
    pub since: Instant,
}

impl Holds {
    /// The hold that a release by this claim ends: the claim by which its owner has it, and its number; 0: the latest.
    pub fn meant(&self, claim: &Claim, meant: Meant) -> (Claim, u64) {
        match meant {
            Meant::Latest => (self.claim_of_latest(claim), 0),
            Meant::Given(number) => (claim.clone(), number),
            Meant::Untaken(number) => self.instead_of(claim, number),
        }
    }

    /// The claim whose latest hold a release by this claim ends: the same one, or if its owner has no hold by it, another one
    /// that the server counts together with it.
    fn claim_of_latest(&self, claim: &Claim) -> Claim {
        if self.of(claim).is_some_and(|owned| !owned.holds.is_empty()) {
            return claim.clone();
        }
        let latest = |owned: &Owned| owned.holds.last().filter(|_| owned.live() > 0).map(|hold| hold.number);
        let held = claim.counted_together().filter_map(|claim| Some((self.of(&claim).and_then(latest)?, claim)));
        held.max_by_key(|(number, _)| *number).map_or_else(|| claim.clone(), |(_, other)| other)
    }

    /// The hold that ends when a caller gives back the hold of that number without having had it. If a release has
    /// taken that one as the latest, it meant the latest before, by whichever kind; a later hold has nothing to do with it.
    fn instead_of(&self, claim: &Claim, number: u64) -> (Claim, u64) {
        let is_there = self.of(claim).is_some_and(|owned| owned.holds.iter().any(|hold| hold.number == number));
        let has_ended = !is_there && self.stand_ins.get(&claim.counted()).is_some_and(|ended| ended.has(number));
        let meant = if has_ended { self.latest_before(claim, number) } else { None };
        meant.unwrap_or_else(|| (claim.clone(), number))
    }

    /// The owner's latest hold before the one of that number, by any kind that the server counts together.
    fn latest_before(&self, claim: &Claim, number: u64) -> Option<(Claim, u64)> {
        let before = |hold: &&Hold| hold.number < number && hold.lost.is_none();
        let of = |claim: &Claim| self.of(claim)?.holds.iter().rev().find(before).map(|hold| hold.number);
        let all = claim.counted_together().filter_map(|claim| Some((of(&claim)?, claim)));
        all.max_by_key(|(number, _)| *number).map(|(number, claim)| (claim, number))
    }

    /// Notes that a release has taken a hold because it is the latest, and leaves others.
    pub(super) fn stands_in(&mut self, claim: &Claim, number: u64) {
        self.stand_ins.entry(claim.counted()).or_default().note(number);
    }

    /// Notes that the hold of the number `meant` ends in the place of the other one.
    pub(super) fn ends_instead(&mut self, claim: &Claim, meant: u64, number: u64) {
        if meant == number {
            return;
        }
        if let Some(stand_ins) = self.stand_ins.get_mut(&claim.counted()) {
            stand_ins.take(number);
        }
        // The caller of that one may not have had it either.
        if self.latest_before(claim, meant).is_some() {
            self.stands_in(claim, meant);
        }
    }

    /// Has the watchdog renew a hold, each time by this lease, although it has a lease of its own.
    pub fn renew(&mut self, number: u64, lease: Duration, now: Instant) {
        let Some(key) = self.numbers.get(&number).copied() else { return };
        let renew_at = self.next_renewal(lease, now);
        let owned = &mut self.owned[key];
        owned.holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.is_renewed = true);
        owned.term = Some(lease);
        owned.renew_at = renew_at;
        self.plan(key);
    }

    /// Ends a hold whose key the server is to keep for a while. `None`: it is lost, or its owner has others, so that only a
    /// release can end it.
    pub fn let_go(&mut self, claim: &Claim, number: u64, now: Instant) -> Option<LetGo> {
        let key = *self.numbers.get(&number)?;
        self.expire(key, now);
        let owned = &self.owned[key];
        let is_held = owned.holds.iter().any(|hold| hold.number == number && hold.lost.is_none());
        let is_alone = self.counted_with(claim).iter().map(|key| self.owned[*key].holds.len()).sum::<usize>() == 1;
        if !is_held || !is_alone {
            return None;
        }
        // A renewal may be under way.
        let left = lease_for(owned.outlasting().unwrap_or(owned.deadline).saturating_duration_since(now));
        let end = now + left.max(self.term_of(key));
        let let_go = LetGo { field: owned.field, acquired: owned.acquired, renewed: owned.renewed, end };
        self.tell("leaving", owned, number, None, 0);
        self.forget(claim, number, now);
        Some(let_go)
    }

    /// Notes that such a hold had been lost before its end, as the server says: another owner has the key, or no owner has it.
    pub fn was_lost(&mut self, claim: &Claim, number: u64, let_go: &LetGo, is_taken: bool, now: Instant) -> Loss {
        let reason = if is_taken { LostReason::TakenOver } else { LostReason::Deleted };
        let LetGo { acquired, renewed, .. } = *let_go;
        let loss = self.loss(claim, &Lost { reason, acquired, renewed, noticed: now }, now);
        self.found_lost(claim, number, loss.clone());
        loss
    }

    /// Ends the renewal of a hold.
    pub fn stop_renewing(&mut self, claim: &Claim, number: u64) {
        let Some(key) = self.claims.get(claim).copied() else { return };
        self.owned[key].holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.is_renewed = false);
        self.tell("kept", &self.owned[key], number, None, 0);
        self.plan(key);
    }

    /// Notes that no caller can release the hold any more: the watchdog renews it no longer, and it ends with its
    /// lease. False: it is not held, or the watchdog does not renew it anyway.
    pub fn abandon(&mut self, number: u64, now: Instant) -> bool {
        let Some(key) = self.numbers.get(&number).copied() else {
            self.past.remove(number);
            return false;
        };
        self.expire(key, now);
        let owned = &mut self.owned[key];
        let mut is_renewed = false;
        for hold in owned.holds.iter_mut().filter(|hold| hold.number == number) {
            hold.unasked = true;
            is_renewed = hold.is_renewed && hold.lost.is_none();
        }
        if is_renewed {
            let claim = owned.claim.clone();
            self.stop_renewing(&claim, number);
        }
        is_renewed
    }

    /// Notes that the program lets the hold end with its lease, which is then no loss to warn of.
    pub fn keep(&mut self, number: u64) {
        let Some(key) = self.numbers.get(&number) else { return };
        self.owned[*key].holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.kept = true);
    }

    /// The time since which the owner of a hold has the lock; `None`: the client does not know the hold.
    pub fn acquired(&self, number: u64) -> Option<Instant> {
        self.numbers.get(&number).map(|key| self.owned[*key].acquired)
    }

    /// The owners that hold something of that name now.
    pub fn owners(&self, name: &str, now: Instant) -> Vec<i64> {
        let has = |owned: &&Owned| owned.live() > 0 && owned.deadline > now;
        let keys = self.names.get(name).into_iter().flat_map(|sharers| &sharers.holders);
        let owned = keys.map(|key| &self.owned[*key]);
        owned.filter(has).map(|owned| owned.claim.owner).collect()
    }

    /// The time since which the owner of this claim holds the lock by one of these other kinds, if it does.
    pub fn held_since(
        &self,
        claim: &Claim,
        kinds: impl Iterator<Item = &'static str>,
        now: Instant,
    ) -> Option<Instant> {
        let owned = kinds.filter_map(|kind| self.of(&claim.by(kind)));
        owned.filter(|owned| owned.live() > 0 && owned.deadline > now).map(|owned| owned.acquired).max()
    }

    /// Notes that the server has nothing of this owner any more.
    pub fn freed(&mut self, claim: &Claim) {
        let grip = claim.of(self.field(claim));
        self.names.get_mut(&claim.name).into_iter().for_each(|sharers| sharers.freed(&grip));
        for key in self.counted_with(claim) {
            self.owned[key].holds.iter_mut().for_each(|hold| hold.abandoned = false);
            self.relist(key);
        }
    }

    /// Notes the token that the server gave a hold, and how many it gave for heirs inside this client.
    pub fn fence(&mut self, number: u64, token: i64, spare: i64) {
        let Some(key) = self.numbers.get(&number) else { return };
        let owned = &mut self.owned[*key];
        owned.holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.token = token);
        owned.spare = token + 1..token + 1 + spare;
        self.tell("token", &self.owned[*key], number, None, token);
    }

    /// The token of a hold; `None`: it has none, or was released.
    pub fn token(&self, number: u64) -> Option<i64> {
        let owned = &self.owned[*self.numbers.get(&number)?];
        owned.holds.iter().find(|hold| hold.number == number).map(|hold| hold.token).filter(|token| *token != 0)
    }
}

impl Owned {
    pub fn new(claim: Claim, first: u64, deadline: Instant, incarnation: u64, now: Instant) -> Self {
        Owned {
            field: claim.owner,
            claim,
            shared: None,
            first,
            holds: SmallVec::new(),
            deadline,
            acquired: now,
            gripped: now,
            renewed: None,
            term: None,
            renew_at: now,
            is_overdue: false,
            check_at: None,
            unanswered: 0,
            incarnation,
            due: None,
            places: [0; 2],
            is_lapsed: false,
            suspected: false,
            unsure: false,
            changed: false,
            outlasts: None,
            forced: false,
            spare: 0..0,
        }
    }

    /// The names of the keys on the server whose change may be the loss of a hold.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.claim.name).chain(&self.shared)
    }

    /// The key that decides whether the holds last.
    pub fn decides(&self) -> &Arc<str> {
        self.shared.as_ref().unwrap_or(&self.claim.name)
    }

    /// See [`Lapsed::outlasts`].
    pub fn outlasting(&self) -> Option<Instant> {
        self.outlasts.map(|end| end.max(self.deadline))
    }

    /// Notes that the server may keep the key until then.
    pub fn outlast(&mut self, end: Instant) {
        self.outlasts = self.outlasts.max(Some(end));
    }

    pub fn live(&self) -> u32 {
        self.holds.iter().filter(|hold| hold.lost.is_none()).count() as u32
    }

    /// Notes a new time of the key, by a call sent at `sent`.
    pub fn renewed(&mut self, until: Instant, renew_at: Instant, sent: Instant) {
        self.deadline = self.deadline.max(until);
        (self.renewed, self.unanswered, self.renew_at) = (Some(sent), 0, renew_at);
        self.is_overdue = false;
    }

    /// Lets a renewal go out now for which another call was in the way: that call has ended.
    pub fn hurry_renewal(&mut self, now: Instant) {
        if self.is_overdue {
            self.renew_at = now;
        }
    }

    /// Notes a change of the key. Another client may have drawn newer tokens.
    pub fn doubt(&mut self) {
        (self.suspected, self.unsure) = (true, true);
        self.spare = 0..0;
    }

    /// Draws the token of an heir inside this client.
    pub fn spare_token(&mut self) -> Option<i64> {
        self.spare.next()
    }

    /// Tells whether all that it held is lost, and nothing is left to the server.
    pub fn has_lost_all(&self) -> bool {
        !self.holds.is_empty() && self.holds.iter().all(|hold| hold.lost.is_some() && !hold.abandoned)
    }

    pub fn is_renewed(&self) -> bool {
        self.holds.iter().any(|hold| hold.is_renewed && hold.lost.is_none())
    }
}

/// The time for which the client believes in a lease: less than the server's, because the clocks differ.
pub fn believed(lease: Duration) -> Duration {
    lease.saturating_sub(lease / 100 + Duration::from_millis(2))
}

/// The shortest lease in whole ms that the client believes in for so long.
pub fn lease_for(believed: Duration) -> Duration {
    let lease = (believed + Duration::from_millis(2)).saturating_mul(100) / 99;
    Duration::from_millis(lease.as_millis() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Look;

    #[test]
    fn the_client_believes_a_time_of_its_lease_and_hardly_more() {
        for micros in [0, 1, 999, 1_000, 97_999, 98_000, 1_700_000, 29_698_000, 600_000_000, 3_153_600_000_000_000] {
            let time = Duration::from_micros(micros);
            let lease = lease_for(time);
            assert!(believed(lease) >= time, "{time:?}: {lease:?} is too short");
            assert!(believed(lease) <= time + Duration::from_millis(1), "{time:?}: {lease:?} is too long");
            assert_eq!(lease.subsec_nanos() % 1_000_000, 0, "{lease:?}");
        }
    }

    /// A script makes a key of a reader's hold anew if it finds none: the key must not end before the client's belief.
    #[test]
    fn a_renewal_asks_for_a_lease_that_covers_the_longest_hold_of_its_owner() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        for lease in [second, 31 * second, 600 * second] {
            let mut holds = Holds::new("u".into(), 30 * second);
            let claim = Claim::new("read", "n".into(), 1);
            let number = holds.taken(&claim, || None, None, 0, start, start);
            holds.taken(&claim, || None, Some(lease), 0, start, start);
            let due = start + 12 * second;
            let mut asked = Duration::ZERO;
            holds.due(due, 1, |_, ask| {
                asked = ask.lease;
                true
            });
            let Look::Held { remaining } = holds.look(number, due) else { panic!("a lease of {lease:?}: it is lost") };
            assert!(believed(asked) >= remaining, "a lease of {lease:?}: {asked:?} for {remaining:?}");
        }
    }
}
