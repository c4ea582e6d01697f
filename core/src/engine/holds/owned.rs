//! What one owner holds of one lock, and until when.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::Holds;
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::error::{Loss, LostReason};

pub struct Owned {
    pub claim: Claim,
    /// The key that says whether its holds last, where that is another than its name. Holds of other names may share it.
    pub shared: Option<Arc<str>>,
    /// The number of its first hold: never used again.
    pub first: u64,
    /// Nearly always one: kept here, not behind a pointer, because very many are gone through again and again.
    pub holds: SmallVec<[Hold; 1]>,
    pub deadline: Instant,
    pub acquired: Instant,
    /// When the last renewal was sent that the server has confirmed.
    pub renewed: Option<Instant>,
    /// When the next renewal is to be sent, if any hold is watched.
    pub renew_at: Instant,
    /// When the server is to be asked, which makes it tell of changes; `None`: it will tell.
    pub check_at: Option<Instant>,
    /// Renewals sent since the last answer.
    pub unanswered: u32,
    /// Which life of the server it was taken from.
    pub incarnation: u64,
    /// Its place in the timetable.
    pub due: Option<Instant>,
    /// The key has changed, and the server was not asked since.
    pub suspected: bool,
    /// The server may keep it for longer than is believed.
    pub outlasts: bool,
    /// This client itself takes the lock away by force.
    pub forced: bool,
    /// `None`: it has had none.
    pub tokens: Option<Box<Tokens>>,
}

/// The fencing tokens of an owner. A repeated acquire that finds the owner's field needs the newest: one that is no newer belongs to a hold
/// that this client has forgotten, and the server has not.
pub struct Tokens {
    pub newest: i64,
    /// The longest time that the server was asked to keep a hold.
    pub longest: Duration,
    /// Until then the server may keep a field of the owner for which there is no hold here.
    pub until: Option<Instant>,
}

pub struct Hold {
    pub number: u64,
    pub is_renewed: bool,
    /// 0: it has none.
    pub token: i64,
    pub lost: Option<Box<Lost>>,
    /// It was lost by the end of the client: the server keeps it until its lease ends.
    pub abandoned: bool,
    /// No caller can release it, nor ask what became of it.
    pub unasked: bool,
}

/// How it was lost, as it was then: later answers change nothing of it.
#[derive(Clone, Copy)]
pub struct Lost {
    pub reason: LostReason,
    pub acquired: Instant,
    pub renewed: Option<Instant>,
    pub noticed: Instant,
}

/// Why a release has no hold to send one for.
#[derive(Debug)]
pub struct Lapsed {
    pub loss: Box<Loss>,
    /// The server may still have it.
    pub outlasts: bool,
}

/// What a release is to send.
#[derive(Debug)]
pub struct Leaving {
    pub number: u64,
    pub leave: u32,
    /// 0: the key lives as long as before.
    pub lease: Duration,
    /// When the owner's first hold was acquired.
    pub since: Instant,
}

impl Holds {
    /// A hold is not to be renewed any more.
    pub fn stop_renewing(&mut self, claim: &Claim, number: u64, now: Instant) {
        let Some(key) = self.claims.get(claim).copied() else { return };
        self.owned[key].holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.is_renewed = false);
        self.tell("kept", &self.owned[key], number, None, 0);
        self.plan(key, now);
    }

    /// No caller can release the hold any more: it is not renewed from now on, and ends with its lease. False: it is not held, or is not
    /// renewed anyway.
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
            self.stop_renewing(&claim, number, now);
        }
        is_renewed
    }

    /// The owners that hold something of that name now.
    pub fn owners(&self, name: &str, now: Instant) -> Vec<i64> {
        let has = |owned: &&Owned| owned.live() > 0 && owned.deadline > now;
        let owned = self.names.get(name).into_iter().flatten().map(|key| &self.owned[*key]);
        owned.filter(has).map(|owned| owned.claim.owner).collect()
    }

    /// The server has nothing of this owner any more.
    pub fn freed(&mut self, claim: &Claim) {
        let Some(key) = self.claims.get(claim) else { return };
        let owned = &mut self.owned[*key];
        owned.holds.iter_mut().for_each(|hold| hold.abandoned = false);
        owned.tokens = None;
    }

    /// The server gave a hold that token, by a call for `lease`.
    pub fn fence(&mut self, number: u64, token: i64, lease: Duration) {
        let Some(key) = self.numbers.get(&number) else { return };
        let owned = &mut self.owned[*key];
        owned.holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.token = token);
        let tokens = owned.tokens.get_or_insert_with(|| Box::new(Tokens { newest: token, longest: lease, until: None }));
        tokens.newest = tokens.newest.max(token);
        tokens.longest = tokens.longest.max(lease);
        self.tell("token", &self.owned[*key], number, None, token);
    }

    /// The newest token that the owner has had of this lock, while the server may have a field of the owner; 0: none is remembered.
    pub fn known(&self, claim: &Claim) -> i64 {
        self.of(claim).and_then(|owned| owned.tokens.as_ref()).map_or(0, |tokens| tokens.newest)
    }

    /// A hold's token; `None`: it has none, or was released.
    pub fn token(&self, number: u64) -> Option<i64> {
        let owned = &self.owned[*self.numbers.get(&number)?];
        owned.holds.iter().find(|hold| hold.number == number).map(|hold| hold.token).filter(|token| *token != 0)
    }
}

impl Owned {
    pub fn new(claim: Claim, first: u64, deadline: Instant, incarnation: u64, now: Instant) -> Self {
        Owned {
            claim,
            shared: None,
            first,
            holds: SmallVec::new(),
            deadline,
            acquired: now,
            renewed: None,
            renew_at: now,
            check_at: None,
            unanswered: 0,
            incarnation,
            due: None,
            suspected: false,
            outlasts: false,
            forced: false,
            tokens: None,
        }
    }

    /// What the server calls that whose change may be the loss of a hold.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        std::iter::once(&self.claim.name).chain(&self.shared)
    }

    pub fn live(&self) -> u32 {
        self.holds.iter().filter(|hold| hold.lost.is_none()).count() as u32
    }

    /// The key was given a new time, by a call sent at `sent`.
    pub fn renewed(&mut self, until: Instant, renew_at: Instant, sent: Instant) {
        self.deadline = self.deadline.max(until);
        (self.renewed, self.unanswered, self.renew_at) = (Some(sent), 0, renew_at);
    }

    /// The server is asked to keep it for so long from now on.
    pub fn asks_for(&mut self, lease: Duration) {
        if let Some(tokens) = &mut self.tokens {
            tokens.longest = tokens.longest.max(lease);
        }
    }

    pub fn is_renewed(&self) -> bool {
        self.holds.iter().any(|hold| hold.is_renewed && hold.lost.is_none())
    }
}

/// How long a lease may be believed in: less than the server's, for the clocks' difference.
pub fn believed(lease: Duration) -> Duration {
    lease.saturating_sub(lease / 100 + Duration::from_millis(2))
}
