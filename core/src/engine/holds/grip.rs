//! A grip: the field under which the server keeps a lock for this client. It belongs to the owner that took the lock
//! from the server. Inside this client the lock may be handed on to other owners: they hold it through that grip, and the
//! server hears nothing of it.

use std::time::Duration;

use smallvec::SmallVec;

use super::owned::Hold;
use super::sharers::{Keys, Sharers};
use super::{Holds, Owned, believed, lease_for};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;

/// A hold through the grip of another owner. A call of one of the two would mean to the server what it does not mean to
/// this client.
#[derive(Debug)]
pub struct Tangle {
    pub holder: Claim,
    /// The time for which the client believes in the hold.
    pub left: Duration,
    /// The client has ended, and left the hold to the server.
    pub is_abandoned: bool,
}

/// A hold to hand on inside this client.
pub struct HandOn<'a> {
    pub from: &'a Claim,
    /// The number of the hold that ends.
    pub number: u64,
    pub to: &'a Claim,
    /// The heir gets a token.
    pub fenced: bool,
    /// The number of incarnations of the servers, as it is now.
    pub incarnation: u64,
}

/// The heir's hold.
#[derive(Debug, PartialEq, Eq)]
pub struct Inherited {
    pub number: u64,
    /// 0: it has none.
    pub token: i64,
    /// The time for which the client believes in it.
    pub left: Duration,
}

impl Owned {
    /// The claim under which the server keeps the holds.
    pub fn grip(&self) -> Claim {
        self.claim.of(self.field)
    }

    pub(super) fn is_through_another(&self) -> bool {
        self.field != self.claim.owner
    }

    /// Tells whether the lock can be handed on without a word of the server: the holder has nothing but this hold, the
    /// client believes in it for most of the watchdog's time and no longer, and nothing speaks against it.
    fn is_sure(&self, number: u64, incarnation: u64, watchdog: Duration, now: Instant) -> bool {
        let [hold] = self.holds.as_slice() else { return false };
        let is_usual = !hold.kept && self.term.is_none() && self.shared.is_none();
        let is_plain = hold.number == number && hold.lost.is_none() && is_usual;
        let whole = believed(watchdog);
        let left = self.deadline.saturating_duration_since(now);
        let is_answered = self.unanswered == 0 && !self.is_overdue;
        let is_end_known = self.outlasts.is_none_or(|end| end <= self.deadline);
        let is_undoubted = self.incarnation == incarnation && !self.unsure && !self.forced;
        is_plain && is_answered && is_end_known && is_undoubted && left >= whole * 2 / 3 && left <= whole
    }
}

impl Holds {
    /// The owner under whose field the server keeps the holds of this claim.
    pub fn field(&self, claim: &Claim) -> i64 {
        self.of(claim).map_or(claim.owner, |owned| owned.field)
    }

    /// The keys of all that the server counts together with what the owner has by this claim: by this kind and by others, in
    /// the same field.
    pub(super) fn counted_with(&self, claim: &Claim) -> SmallVec<[usize; 2]> {
        self.counted_in(claim, self.field(claim))
    }

    /// As [`Holds::counted_with`], in the field of this owner.
    pub(super) fn counted_in(&self, claim: &Claim, field: i64) -> SmallVec<[usize; 2]> {
        let Some(sharers) = self.names.get(&claim.name) else { return SmallVec::new() };
        let is_in = |owned: &Owned| owned.field == field && owned.claim.owner == claim.owner;
        if let Some(key) = sharers.only() {
            // Mostly nothing else has that name.
            let is_it = is_in(&self.owned[key]) && self.owned[key].claim.is_counted_with(claim);
            return is_it.then_some(key).into_iter().collect();
        }
        let keys = claim.counted_together().filter_map(|claim| self.claims.get(&claim).copied());
        keys.filter(|key| is_in(&self.owned[*key])).collect()
    }

    /// The number of holds that the server counts for the owner of this claim in the field of that owner or another one, as
    /// far as this client knows.
    pub fn count_in(&mut self, claim: &Claim, field: i64, now: Instant) -> u32 {
        let keys = self.counted_in(claim, field);
        keys.iter().for_each(|key| self.expire(*key, now));
        keys.iter().map(|key| self.owned[*key].live()).sum()
    }

    /// The keys of the owners, of any number, that hold something for which the server has the field of this claim.
    pub(super) fn holders_under(&self, grip: &Claim) -> Keys {
        let all = self.names.get(&grip.name).into_iter().flat_map(|sharers| &sharers.holders).copied();
        let is_under = |owned: &Owned| owned.field == grip.owner && owned.claim.is_counted_with(grip);
        all.filter(|key| is_under(&self.owned[*key])).collect()
    }

    /// The number of holds, of any owner, for which the server is to keep the field of this claim: those that have not ended, and
    /// those that a client at its end has left to the server.
    pub fn kept_under(&mut self, grip: &Claim, now: Instant) -> u32 {
        let keys = self.holders_under(grip);
        keys.iter().for_each(|key| self.expire(*key, now));
        let is_kept = |hold: &&Hold| hold.lost.is_none() || hold.abandoned;
        keys.iter().map(|key| self.owned[*key].holds.iter().filter(is_kept).count() as u32).sum()
    }

    /// The claim whose holds the server keeps under this one.
    pub(super) fn claim_under(&self, grip: &Claim) -> Option<Claim> {
        if self.of(grip).is_some_and(|own| !own.is_through_another() && own.live() > 0) {
            return Some(grip.clone());
        }
        let keys = || self.names.get(&grip.name).into_iter().flat_map(|sharers| &sharers.holders);
        let owned = || keys().map(|key| &self.owned[*key]);
        let is_it = |owned: &&Owned| owned.field == grip.owner && owned.claim.is_counted_with(grip) && owned.live() > 0;
        let own = owned().filter(is_it).find(|owned| !owned.is_through_another());
        own.or_else(|| owned().find(is_it)).map(|owned| owned.claim.clone())
    }

    /// The hold of a lock of that name, of any kind, that this owner has through the grip of another one, or another one
    /// through the grip of this owner.
    pub fn tangle(&self, name: &str, owner: i64, now: Instant) -> Option<Tangle> {
        let sharers = self.names.get(name)?;
        let is_tangled = |owned: &&Owned| {
            let is_of_owner = owned.claim.owner == owner || owned.field == owner;
            let is_kept = owned.live() > 0 || owned.holds.iter().any(|hold| hold.abandoned);
            owned.is_through_another() && is_of_owner && is_kept && owned.deadline > now
        };
        let owned = sharers.holders.iter().map(|key| &self.owned[*key]).find(is_tangled)?;
        let left = owned.deadline.saturating_duration_since(now);
        Some(Tangle { holder: owned.claim.clone(), left, is_abandoned: owned.live() == 0 })
    }

    /// Ends a hold and gives its lock to another owner of this client, under the same field of the server and until the
    /// same time. `None`: only the server may pass the lock on now, and nothing has changed. `is_quiet` tells whether no
    /// other call under the grip's field is under way.
    pub fn hand_on(&mut self, hand_on: &HandOn, now: Instant, is_quiet: impl FnOnce(i64) -> bool) -> Option<Inherited> {
        let HandOn { from, number, to, fenced, incarnation } = *hand_on;
        let key = self.claims.get(from).copied()?;
        let before = &self.owned[key];
        if !before.is_sure(number, incarnation, self.watchdog, now) {
            return None;
        }
        let field = before.field;
        // The same owner may hold the name by another kind too, in the same field; or it reads beside this hold. Or the server
        // has given another owner, perhaps the heir, the lock that this hold has lost. Of the owner's, a lost hold counts as
        // well: the server may still have it, and would let readers in for it.
        let is_of_owner = |other: &usize| self.owned[*other].claim.owner == from.owner;
        let shares = |other: &usize| *other != key && (self.owned[*other].live() > 0 || is_of_owner(other));
        let has_lost = || from.of_any_kind().filter_map(|claim| self.claims.get(&claim)).any(|other| *other != key);
        let is_elsewhere = |sharers: &Sharers| {
            sharers.granted != field || sharers.holders.iter().any(shares) || (sharers.has_lapsed() && has_lost())
        };
        if self.names.get(&from.name).is_some_and(is_elsewhere) || !is_quiet(field) {
            return None;
        }
        let token = match fenced {
            true => self.owned[key].spare_token()?,
            false => 0,
        };
        let spare = std::mem::take(&mut self.owned[key].spare);
        let before = &self.owned[key];
        let heir = self.next;
        self.next += 1;
        let fresh = Owned {
            field,
            gripped: before.gripped,
            renewed: before.renewed,
            renew_at: if before.is_renewed() { before.renew_at } else { self.first_renewal(key, now) },
            // The hand-on has changed nothing at the server, which reports the next change as before.
            check_at: before.check_at,
            changed: before.changed,
            ..Owned::new(to.clone(), heir, before.deadline, before.incarnation, now)
        };
        let left = before.deadline.saturating_duration_since(now);
        let asked = before.deadline - believed(self.watchdog);
        let key = self.key_for(to, || Owned::new(to.clone(), heir, asked, incarnation, now));
        let owned = &mut self.owned[key];
        let holds = std::mem::take(&mut owned.holds);
        let Owned { due, places, is_lapsed, .. } = *owned;
        *owned = Owned { holds, due, places, is_lapsed, spare, ..fresh };
        owned.holds.push(Hold { token, ..Hold::new(heir, true) });
        self.figures.held += 1;
        self.numbers.insert(heir, key);
        self.names.get_mut(&to.name).into_iter().for_each(|sharers| sharers.exclusive = Some((key, heir)));
        self.tell("taken", &self.owned[key], heir, Some(asked), 0);
        if token != 0 {
            self.tell("token", &self.owned[key], heir, None, token);
        }
        self.plan(key);
        self.end(from, number, now);
        Some(Inherited { number: heir, token, left })
    }

    /// The lease that keeps the holds of this claim from now on, for at least the watchdog's time; `None`: there is no hold.
    pub fn lease_to_keep(&mut self, claim: &Claim, now: Instant) -> Option<Duration> {
        if self.count(claim, now) == 0 {
            return None;
        }
        let left = self.believed_until(claim)?.saturating_duration_since(now);
        Some(lease_for(left).max(self.watchdog))
    }

    /// The time until which the client believes in the holds of this claim.
    pub fn believed_until(&self, claim: &Claim) -> Option<Instant> {
        self.of(claim).filter(|owned| owned.live() > 0).map(|owned| owned.deadline)
    }

    /// The end of the time for which the client believes in the holds of this claim, or would if it had not ended.
    pub fn end_of(&self, claim: &Claim) -> Option<Instant> {
        self.of(claim).map(|owned| owned.deadline)
    }

    /// The latest end of what the server has of this claim, as far as the client knows.
    pub fn latest_end_of(&self, claim: &Claim) -> Option<Instant> {
        self.of(claim).map(|owned| owned.outlasting().unwrap_or(owned.deadline))
    }

    /// Notes that the server has put the field of this claim in the place of `grip`, for `lease` after a call sent at
    /// `sent`. False: no hold is left for which it should keep that.
    pub fn gripped(&mut self, claim: &Claim, grip: i64, lease: Duration, sent: Instant, now: Instant) -> bool {
        let Some(key) = self.claims.get(claim).copied() else { return false };
        self.expire(key, now);
        let owned = &mut self.owned[key];
        if owned.field != grip {
            return false;
        }
        owned.field = claim.owner;
        self.names.get_mut(&claim.name).into_iter().for_each(|sharers| sharers.granted = claim.owner);
        let owned = &mut self.owned[key];
        let is_held = owned.live() > 0;
        if !is_held || lease > self.watchdog {
            owned.outlast(sent + lease);
        }
        if is_held {
            self.lengthen(claim, self.watchdog, sent, now);
            return true;
        }
        let owned = &self.owned[key];
        owned.holds.iter().any(|hold| hold.abandoned)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Meant;
    use super::*;
    use crate::request::error::LostReason;

    const WATCHDOG: Duration = Duration::from_secs(3);

    fn claim(kind: &'static str, owner: i64) -> Claim {
        Claim::new(kind, "n".into(), owner)
    }

    /// A change after which only the server may pass the hold of that number on.
    type Change = fn(&mut Holds, u64, Instant);

    #[test]
    fn a_lock_is_handed_on_inside_only_if_nothing_speaks_against_it() {
        let take = |holds: &mut Holds, claim: &Claim, now| holds.taken(claim, || None, None, 0, now, now);
        let changes: [(&str, bool, Change); 10] = [
            ("nothing", true, |_, _, _| {}),
            ("the owner has one hold more", false, |holds, _, now| {
                holds.taken(&claim("plain", 1), || None, None, 0, now, now);
            }),
            ("the owner has the lock by another kind", false, |holds, _, now| {
                holds.taken(&claim("read", 1), || None, None, 0, now, now);
            }),
            ("the heir has the lock", false, |holds, _, now| {
                holds.taken(&claim("plain", 2), || None, None, 0, now, now);
            }),
            ("the server has let a reader in since", false, |holds, _, now| {
                let reader = claim("read", 3);
                let number = holds.taken(&reader, || None, None, 0, now, now);
                holds.released(&reader, number, true, now);
            }),
            ("the owner has read beside, and that has ended by itself", false, |holds, _, now| {
                holds.taken(&claim("read", 1), || None, None, 0, now, now);
                holds.lost(&claim("read", 1), LostReason::Expired, now);
            }),
            ("the hold is lost", false, |holds, _, now| holds.lost(&claim("plain", 1), LostReason::Deleted, now)),
            ("the program has let go of the hold", false, |holds, number, _| holds.keep(number)),
            ("the client takes the lock away", false, |holds, _, _| holds.force("n", true)),
            ("the end of the key is not known", false, |holds, _, now| {
                holds.outlasts(&claim("plain", 1), now + WATCHDOG);
            }),
        ];
        for (what, is_handed_on, change) in changes {
            let now = Instant::now();
            let mut holds = Holds::new("u".into(), WATCHDOG);
            let [from, to] = [1, 2].map(|owner| claim("plain", owner));
            let number = take(&mut holds, &from, now);
            change(&mut holds, number, now);
            let hand_on = HandOn { from: &from, number, to: &to, fenced: false, incarnation: 0 };
            let before = [&from, &to].map(|claim| holds.count(claim, now));
            assert_eq!(holds.hand_on(&hand_on, now, |_| false), None, "{what}: a call is under way");
            let heir = holds.hand_on(&hand_on, now, |field| field == 1);
            assert_eq!(heir.is_some(), is_handed_on, "{what}");
            let after = if is_handed_on { [0, 1] } else { before };
            assert_eq!([&from, &to].map(|claim| holds.count(claim, now)), after, "{what}");
        }
    }

    /// As after a pause of the whole client: the release may come before the watchdog.
    #[test]
    fn a_release_through_another_owners_field_goes_out_only_before_the_end_of_the_hold() {
        let now = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        let [lender, holder] = [1, 2].map(|owner| claim("plain", owner));
        let number = holds.taken(&lender, || None, None, 0, now, now);
        let hand_on = HandOn { from: &lender, number, to: &holder, fenced: false, incarnation: 0 };
        let heir = holds.hand_on(&hand_on, now, |_| true).expect("nothing speaks against it").number;
        assert!(holds.leaving(&holder, Meant::Given(heir), now).is_ok());
        let later = now + WATCHDOG;
        assert!(holds.tangle("n", 1, later).is_none(), "the lender may take the lock again");
        holds.taken(&lender, || None, None, 0, later, later);
        assert!(holds.leaving(&holder, Meant::Given(heir), later).is_err());
    }

    /// A loss through the grip of another owner says nothing about the own field of an owner.
    #[test]
    fn an_answer_about_the_owners_field_ends_the_holds_that_are_counted_there() {
        let now = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        let [lender, holder] = [1, 2].map(|owner| claim("plain", owner));
        let number = holds.taken(&lender, || None, None, 0, now, now);
        let hand_on = HandOn { from: &lender, number, to: &holder, fenced: false, incarnation: 0 };
        holds.hand_on(&hand_on, now, |_| true).expect("nothing speaks against it");
        holds.lost(&holder, LostReason::Deleted, now);
        holds.taken(&claim("fair", 2), || None, None, 0, now, now);
        assert_eq!(holds.count_in(&holder, 2, now), 1);
        holds.missing(&holder, 2, false, 0, now, now);
        assert_eq!(holds.count_in(&holder, 2, now), 0);
    }
}
