//! The client, the server and each hand-on are checked against the promises of a turn.

use std::ops::Range;
use std::time::Duration;

use super::super::grip::Inherited;
use super::super::{Ask, believed};
use super::book::Belief;
use super::world::{NAME, OWNERS, WATCHDOG, World};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;

/// The holder before a hand-on.
pub struct Before {
    deadline: Instant,
    incarnation: u64,
    renew_at: Option<Instant>,
    check_at: Option<Instant>,
    spare: Range<i64>,
}

/// The time by which the server may keep a key for longer than an owner believes: calls come late, and copies of them later.
const SLACK: Duration = Duration::from_millis(1400);

impl World {
    /// Tells whether no other program has meddled with the lock since the server's last word about these holds.
    fn is_clean(&self, belief: &Belief) -> bool {
        belief.word == self.server.meddled
    }

    pub fn give_token(&mut self, owner: i64, token: i64) {
        let belief = &self.book.beliefs[&owner];
        let is_clean = self.is_clean(belief);
        self.book.give(token, is_clean);
        assert!(token > self.server.strange || !is_clean, "another client has had {}", self.server.strange);
    }

    pub fn before_hand_on(&self, from: i64) -> Before {
        let owned = self.holds.of(&self.claims[from as usize]).expect("it has a hold");
        Before {
            deadline: owned.deadline,
            incarnation: owned.incarnation,
            renew_at: owned.is_renewed().then_some(owned.renew_at),
            check_at: owned.check_at,
            spare: owned.spare.clone(),
        }
    }

    pub fn check_hand_on(&mut self, from: i64, to: i64, inherited: &Inherited, before: &Before) {
        let now = self.now;
        let belief = self.book.beliefs.get(&from).expect("only a holder hands the lock on");
        assert!(belief.deadline > now, "the hold is over");
        assert_eq!(belief.holds.len(), 1, "the holder keeps a hold");
        let others = self.book.beliefs.iter().filter(|(owner, other)| **owner != from && other.deadline > now);
        assert_eq!(others.count(), 0, "the server has given the lock to another owner");
        assert_eq!(belief.suspected, None, "nothing has cleared the suspicion");
        assert!(!self.suspect, "the watchdog has not looked into a change");
        assert_eq!(self.book.doubted, None, "the server has not answered the line's doubt");
        assert_eq!(belief.unanswered, 0, "the renewals have no answer");
        assert!(!belief.overdue && !belief.unsettled, "{belief:?}");
        assert_eq!(belief.incarnation, self.incarnation, "another server has taken the place");
        let whole = believed(WATCHDOG);
        let left = belief.deadline - now;
        assert!(left >= whole * 2 / 3 && left <= whole, "{left:?} are left");
        let age = now - belief.since;
        assert!(age < self.turn, "the turn began {age:?} ago");

        let owned = self.holds.of(&self.claims[to as usize]).expect("it is the heir");
        assert_eq!(owned.deadline, before.deadline, "the deadline moves");
        assert_eq!(inherited.left, left);
        assert_eq!(owned.incarnation, before.incarnation);
        assert_eq!(owned.field, belief.field, "it has another grip");
        assert!(owned.is_renewed());
        assert!(before.renew_at.is_none_or(|renew_at| owned.renew_at <= renew_at), "the renewal comes later");
        let is_later = owned.check_at.is_none_or(|at| before.check_at.is_some_and(|before| at > before));
        assert!(!is_later || before.check_at.is_none(), "the look comes later");
        let token = inherited.token;
        if self.server.fenced {
            assert!(token > self.book.void, "the token {token} is void, as all are up to {}", self.book.void);
            assert_eq!(token, before.spare.start);
            assert_eq!(owned.spare, token + 1..before.spare.end, "the heir has not all tokens");
            assert_eq!(self.holds.token(inherited.number), Some(token));
        } else {
            assert_eq!(token, 0);
        }
        self.book.handed_on(from, to, inherited.number);
        if token != 0 {
            self.give_token(to, token);
        }
    }

    /// A question goes by the grip of the holder of the moment, and renews only what the watchdog renews. Gives the
    /// holder, and the number of its first hold.
    pub fn check_ask(&self, field: i64, ask: &Ask) -> (i64, u64) {
        let owner = self.book.holder(field, self.now).expect("it asks about the grip of a holder");
        let belief = &self.book.beliefs[&owner];
        assert!(ask.lease.is_zero() || belief.is_renewed(), "it renews a hold that the watchdog does not renew");
        assert!(
            ask.lease.is_zero() || self.now + believed(ask.lease) >= belief.deadline,
            "{:?} is too short",
            ask.lease
        );
        (owner, belief.first)
    }

    /// The call under this grip has ended: the questions that had to wait for it are due.
    pub fn check_look_again(&self, grip: &Claim) {
        let Some(owner) = self.book.holder(grip.owner, self.now) else { return };
        let Some(owned) = self.holds.of(&self.claims[owner as usize]).filter(|owned| owned.live() > 0) else { return };
        assert!(!owned.is_overdue || owned.renew_at <= self.now, "its renewal is late");
        let is_asked = owned.suspected || owned.changed;
        assert!(!is_asked || owned.check_at.is_some_and(|at| at <= self.now), "its look is late");
    }

    /// A belief that is over ends as the client notices it. Until then an answer of the server may prolong it.
    pub fn drop_lapsed(&mut self) {
        let (now, claims, holds) = (self.now, &self.claims, &self.holds);
        let is_live = |owner: i64| holds.of(&claims[owner as usize]).is_some_and(|owned| owned.live() > 0);
        self.book.beliefs.retain(|owner, belief| belief.deadline > now || is_live(*owner));
    }

    pub fn check(&mut self) {
        self.holds.check_lists();
        let now = self.now;
        self.drop_lapsed();
        let claims = &self.claims;
        let live = |owner: i64| self.holds.of(&claims[owner as usize]).filter(|owned| owned.live() > 0);
        let book = &self.book;
        let believed = |owner: i64| book.beliefs.get(&owner).filter(|belief| belief.deadline > now);
        let mut clean = 0;
        for owner in 1..=OWNERS {
            let owned = live(owner).filter(|owned| owned.deadline > now);
            let belief = believed(owner);
            let [its, known] = [
                owned.map(|owned| (owned.field, owned.deadline, owned.incarnation, owned.live() as usize)),
                belief.map(|belief| (belief.field, belief.deadline, belief.incarnation, belief.holds.len())),
            ];
            assert_eq!(its, known, "the holds of {owner}: field, deadline, incarnation, number");
            let through = |belief: &Belief, holder: i64| {
                belief.field != holder && (belief.field == owner || holder == owner) && belief.deadline > now
            };
            let tangled: Vec<i64> = book
                .beliefs
                .iter()
                .filter(|(holder, belief)| through(belief, **holder))
                .map(|(holder, _)| *holder)
                .collect();
            match self.holds.tangle(NAME, owner, now) {
                Some(tangle) => assert!(
                    tangled.contains(&tangle.holder.owner)
                        && believed(tangle.holder.owner).is_some_and(|belief| now + tangle.left == belief.deadline),
                    "{owner} is tangled by {tangle:?}"
                ),
                None => assert!(tangled.is_empty(), "{owner} is not tangled by {tangled:?}"),
            }
            let (Some(belief), Some(owned)) = (belief, owned) else { continue };
            let due = self.holds.due.first().expect("a hold is looked at");
            assert!(due <= belief.deadline && (!belief.is_renewed() || due <= owned.renew_at));
            assert_eq!(owned.is_renewed(), belief.is_renewed());
            if self.is_clean(belief) && !belief.leaves {
                clean += 1;
                let key = self.server.key(now).unwrap_or_else(|| panic!("the server has no lock of {owner}"));
                let is_its = key.field == belief.field || belief.moves && key.field == owner;
                assert!(is_its, "the server has {key:?} instead of {owner}, {belief:?}");
                assert!(
                    key.until >= belief.deadline,
                    "{owner} believes for {:?} too long",
                    belief.deadline - key.until
                );
            }
        }
        assert!(clean <= 1, "{clean} owners believe");
        self.check_ghost();
    }

    /// Some owner knows of what the server keeps for this client, and until when: else no release would free it.
    fn check_ghost(&self) {
        let now = self.now;
        let Some(key) = self.server.key(now).filter(|key| (1..=OWNERS).contains(&key.field)) else { return };
        if !self.gates.are_quiet([self.claims[key.field as usize].clone()]) || !self.todo.is_empty() {
            return;
        }
        let is_in_time = |end: Instant| end + SLACK >= key.until;
        let knows = |owner: i64| {
            self.holds.of(&self.claims[owner as usize]).is_some_and(|owned| {
                let end = owned.outlasting().unwrap_or(owned.deadline);
                owned.field == key.field && (owned.live() > 0 || is_in_time(end))
            })
        };
        let lent = self.holds.names.get(NAME).and_then(|sharers| sharers.outlasting(&self.claims[key.field as usize]));
        let is_known = is_in_time(now) || lent.is_some_and(is_in_time) || (1..=OWNERS).any(knows);
        assert!(
            is_known,
            "no owner knows that the server keeps the field of {} for {:?} more",
            key.field,
            key.until - now
        );
    }

    /// After all is released and remembered long enough.
    pub fn check_end(&mut self) {
        let mut answered = self.answered.clone();
        answered.sort_unstable();
        assert_eq!(answered, (1..=self.asked).collect::<Vec<_>>(), "each acquire has one answer");
        assert!(self.gates.is_idle(), "a call keeps its owner's gate shut");
        let holds = &mut self.holds;
        assert_eq!([holds.owned.len(), holds.claims.len(), holds.names.len(), holds.numbers.len()], [0; 4]);
        assert_eq!(holds.sleep(), None);
    }
}
