//! The beliefs that the owners of the model may have after the words that the client has heard from the server, and the
//! tokens that they have got.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::clock::Instant;

/// The holds of one owner.
#[derive(Clone, Debug)]
pub struct Belief {
    /// The owner under whose field the server keeps them.
    pub field: i64,
    pub deadline: Instant,
    /// The time at which the client got the grip from the server.
    pub since: Instant,
    pub incarnation: u64,
    /// The number of its first hold.
    pub first: u64,
    /// The number of each hold, and whether the watchdog renews it.
    pub holds: Vec<(u64, bool)>,
    /// The server's word that it keeps the holds until the deadline is as new as this many times that another program
    /// has meddled with the lock.
    pub word: u64,
    /// The client has been told that the key may have changed, and has no answer to a later question.
    pub suspected: Option<u64>,
    /// Renewals sent since the last answer to one.
    pub unanswered: u32,
    /// The renewal was due while another call was under way.
    pub overdue: bool,
    /// The server may have carried out an extension without an answer.
    pub unsettled: bool,
    /// The owner has released the last hold, and the server may know it.
    pub leaves: bool,
    /// A call puts the owner's own field in the place of the grip's.
    pub moves: bool,
}

#[derive(Default)]
pub struct Book {
    pub beliefs: BTreeMap<i64, Belief>,
    /// The number of suspicions and of questions so far.
    moment: u64,
    /// The tokens that owners have got.
    given: BTreeSet<i64>,
    /// No owner may get a token up to this one any more inside the client.
    pub void: i64,
    /// The newest token that the client knows it has drawn.
    pub newest: i64,
    /// The time at which the line has heard that the lock may be another client's; `None`: the server has given it to
    /// this one by a later call.
    pub doubted: Option<Instant>,
}

impl Belief {
    pub fn is_renewed(&self) -> bool {
        self.holds.iter().any(|(_, is_renewed)| *is_renewed)
    }
}

impl Book {
    /// The owner that has its holds under this field.
    pub fn holder(&self, field: i64, now: Instant) -> Option<i64> {
        let has = |belief: &Belief| belief.field == field && belief.deadline > now;
        self.beliefs.iter().find(|(_, belief)| has(belief)).map(|(owner, _)| *owner)
    }

    pub fn first(&self, owner: i64) -> Option<u64> {
        self.beliefs.get(&owner).map(|belief| belief.first)
    }

    /// The server has given an owner a first hold.
    pub fn began(&mut self, owner: i64, hold: (u64, bool), until: Instant, incarnation: u64, word: u64, now: Instant) {
        let belief = Belief {
            field: owner,
            deadline: until,
            since: now,
            incarnation,
            first: hold.0,
            holds: vec![hold],
            word,
            suspected: None,
            unanswered: 0,
            overdue: false,
            unsettled: false,
            leaves: false,
            moves: false,
        };
        self.beliefs.insert(owner, belief);
    }

    /// The server has given an owner one hold more.
    pub fn grew(&mut self, owner: i64, hold: (u64, bool), until: Instant) {
        self.change(owner, |belief| {
            belief.holds.push(hold);
            belief.deadline = belief.deadline.max(until);
        });
    }

    /// The only hold of an owner went to another owner inside the client.
    pub fn handed_on(&mut self, from: i64, to: i64, number: u64) {
        let belief = self.beliefs.remove(&from).expect("it held the lock");
        self.beliefs.insert(to, Belief { first: number, holds: vec![(number, true)], ..belief });
    }

    pub fn leaves(&mut self, owner: i64) {
        self.change(owner, |belief| belief.leaves = true);
    }

    pub fn moves(&mut self, owner: i64) {
        self.change(owner, |belief| belief.moves = true);
    }

    pub fn gripped(&mut self, owner: i64, until: Instant, word: u64) {
        self.change(owner, |belief| {
            (belief.field, belief.moves) = (owner, false);
            (belief.deadline, belief.word) = (belief.deadline.max(until), word);
        });
    }

    pub fn lengthened(&mut self, owner: i64, until: Instant, word: u64) {
        self.change(owner, |belief| (belief.deadline, belief.word) = (belief.deadline.max(until), word));
    }

    pub fn shortened(&mut self, owner: i64, until: Instant) {
        self.change(owner, |belief| belief.deadline = belief.deadline.min(until));
    }

    /// A release of this owner has left holds behind under this field. `is_renewal`: it has renewed them.
    pub fn left(&mut self, owner: i64, field: i64, until: Instant, is_renewal: bool, word: u64, now: Instant) {
        for (holder, belief) in &mut self.beliefs {
            if belief.field != field || (belief.deadline <= now && *holder != owner) {
                continue;
            }
            (belief.deadline, belief.word) = (until, word);
            if is_renewal {
                (belief.unanswered, belief.overdue) = (0, false);
            }
        }
    }

    pub fn suspect(&mut self) {
        self.moment += 1;
        let moment = self.moment;
        self.void = self.newest;
        self.beliefs.values_mut().for_each(|belief| belief.suspected = Some(moment));
    }

    /// The watchdog cannot ask about an owner now.
    pub fn is_shut_out(&mut self, owner: i64, renews: bool) {
        self.change(owner, |belief| belief.overdue |= renews);
    }

    pub fn unsettled(&mut self, owner: i64) {
        self.change(owner, |belief| belief.unsettled = true);
    }

    /// The watchdog asks about an owner. Gives the moment of the question.
    pub fn asks(&mut self, owner: i64, renews: bool) -> u64 {
        self.change(owner, |belief| {
            belief.unanswered += u32::from(renews);
            belief.overdue &= !renews;
        });
        self.moment += 1;
        self.moment
    }

    /// The server has the owner's holds, as it answers the question of the moment `asked`. `until`: the question was a
    /// renewal.
    pub fn answered(&mut self, owner: i64, asked: u64, until: Option<Instant>, word: u64) {
        self.change(owner, |belief| {
            belief.suspected = belief.suspected.filter(|moment| *moment > asked);
            if let Some(until) = until {
                (belief.deadline, belief.word) = (belief.deadline.max(until), word);
                (belief.unanswered, belief.overdue) = (0, false);
            }
        });
    }

    /// A hold ends.
    pub fn ended(&mut self, owner: i64, number: u64) {
        self.change(owner, |belief| belief.holds.retain(|(other, _)| *other != number));
        self.beliefs.retain(|_, belief| !belief.holds.is_empty());
    }

    pub fn lost(&mut self, owner: i64) {
        self.beliefs.remove(&owner);
    }

    fn change(&mut self, owner: i64, change: impl FnOnce(&mut Belief)) {
        self.beliefs.get_mut(&owner).map(change);
    }

    /// An owner gets a token. `is_clean`: no other program has meddled with the lock since the server's word about its
    /// holds.
    pub fn give(&mut self, token: i64, is_clean: bool) {
        if is_clean {
            let newest = self.given.last().copied().unwrap_or_default();
            assert!(token > newest, "the token {token} comes after {newest}");
        }
        assert!(self.given.insert(token), "the token {token} is given twice");
    }
}
