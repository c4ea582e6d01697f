//! What this client holds: how often, until when, and what was lost. A state machine without I/O: the caller brings the time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::command::Look;
use crate::error::{Loss, LostReason};

mod due;

#[cfg(test)]
mod model;

pub use due::Ask;

/// One owner of one lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    pub kind: &'static str,
    pub name: Arc<str>,
    pub owner: i64,
}

/// How long the memory of a lost hold waits for its release.
const REMEMBER: Duration = Duration::from_secs(600);
/// A hold that has lasted so long is worth being told of by the server.
const LASTING: Duration = Duration::from_millis(100);

pub struct Holds {
    uuid: String,
    watchdog: Duration,
    slots: HashMap<Slot, Owned>,
    names: HashMap<Arc<str>, Vec<Slot>>,
    numbers: HashMap<u64, Slot>,
    /// When each slot wants to be looked at.
    due: BTreeSet<(Instant, Slot)>,
    ended: Vec<Ended>,
    next: u64,
}

/// A hold that is over.
pub struct Ended {
    pub number: u64,
    pub slot: Slot,
    /// `None`: it was released, or its loss was told to whoever released it.
    pub loss: Option<Loss>,
}

struct Owned {
    holds: Vec<Hold>,
    deadline: Instant,
    acquired: Instant,
    renewed: Option<Instant>,
    /// When the next renewal is to be sent, if any hold is watched.
    renew_at: Instant,
    /// When the server is to be asked, which makes it tell of changes; `None`: it will tell.
    check_at: Option<Instant>,
    /// Renewals sent since the last answer.
    unanswered: u32,
    /// Which life of the server it was taken from.
    epoch: u64,
    due: Instant,
}

struct Hold {
    number: u64,
    watched: bool,
    lost: Option<(LostReason, Instant)>,
}

/// What a release is to send.
pub struct Leaving {
    pub number: u64,
    pub leave: u32,
    /// 0: the key lives as long as before.
    pub lease: Duration,
    /// When the owner's first hold was acquired.
    pub since: Instant,
}

impl Holds {
    pub fn new(uuid: String, watchdog: Duration) -> Self {
        let (slots, names, numbers, due, ended) = Default::default();
        Holds { uuid, watchdog, slots, names, numbers, due, ended, next: 1 }
    }

    /// How many holds the owner has now.
    pub fn count(&mut self, slot: &Slot, now: Instant) -> u32 {
        self.expire(slot, now);
        self.slots.get(slot).map_or(0, Owned::live)
    }

    /// Whether another owner of this client has it.
    pub fn is_near(&self, slot: &Slot, now: Instant) -> bool {
        let has = |other: &Slot| self.slots.get(other).is_some_and(|owned| owned.live() > 0 && owned.deadline > now);
        self.names.get(&slot.name).is_some_and(|slots| slots.iter().any(|other| other.kind == slot.kind && other != slot && has(other)))
    }

    /// The server said yes to a call sent at `sent`, in its `epoch`th life. Gives the new hold's number.
    pub fn taken(&mut self, slot: &Slot, lease: Option<Duration>, epoch: u64, sent: Instant, now: Instant) -> u64 {
        let number = self.next;
        self.next += 1;
        let until = sent + believed(lease.unwrap_or(self.watchdog));
        if !self.slots.contains_key(slot) {
            self.names.entry(slot.name.clone()).or_default().push(slot.clone());
        }
        let owned = self.slots.entry(slot.clone()).or_insert_with(|| Owned::new(until, epoch, now));
        if owned.live() == 0 {
            *owned = Owned { holds: std::mem::take(&mut owned.holds), due: owned.due, ..Owned::new(until, epoch, now) };
        }
        owned.deadline = owned.deadline.max(until);
        if lease.is_none() && !owned.is_watched() {
            // Spread, so that holds taken together are not renewed together.
            let third = self.watchdog / 3;
            owned.renew_at = now + third - third.mul_f64((number * 61 % 128) as f64 / 256.0);
        }
        owned.holds.push(Hold { number, watched: lease.is_none(), lost: None });
        self.numbers.insert(number, slot.clone());
        self.plan(slot, now);
        number
    }

    /// What releasing a hold (0: the latest) takes. `Ok(None)`: there is none. `Err`: it was lost, and is forgotten by this.
    pub fn leaving(&mut self, slot: &Slot, number: u64, now: Instant) -> Result<Option<Leaving>, Box<Loss>> {
        let Some(owned) = self.slots.get(slot) else { return Ok(None) };
        let found = match number {
            0 => owned.holds.last(),
            _ => owned.holds.iter().find(|hold| hold.number == number),
        };
        let Some(hold) = found else { return Ok(None) };
        let number = hold.number;
        if let Some(lost) = hold.lost {
            let loss = self.loss(slot, lost, now);
            self.forget(slot, number, now);
            return Err(Box::new(loss));
        }
        let watched = owned.holds.iter().any(|hold| hold.watched && hold.number != number && hold.lost.is_none());
        let lease = if watched { self.watchdog } else { Duration::ZERO };
        Ok(Some(Leaving { number, leave: owned.live() - 1, lease, since: owned.acquired }))
    }

    /// Forgets a hold: released, or its loss was told.
    pub fn forget(&mut self, slot: &Slot, number: u64, now: Instant) {
        self.numbers.remove(&number);
        self.ended.push(Ended { number, slot: slot.clone(), loss: None });
        if let Some(owned) = self.slots.get_mut(slot) {
            owned.holds.retain(|hold| hold.number != number);
            self.plan(slot, now);
        }
    }

    /// Everything the owner held of this lock is gone.
    pub fn lost(&mut self, slot: &Slot, reason: LostReason, now: Instant) {
        let Some(owned) = self.slots.get_mut(slot) else { return };
        let mut numbers = Vec::new();
        for hold in owned.holds.iter_mut().filter(|hold| hold.lost.is_none()) {
            hold.lost = Some((reason, now));
            numbers.push(hold.number);
        }
        if numbers.is_empty() {
            return;
        }
        let loss = self.loss(slot, (reason, now), now);
        tracing::warn!(target: "redlatch::lost", "{loss}");
        self.ended.extend(numbers.into_iter().map(|number| Ended { number, slot: slot.clone(), loss: Some(loss.clone()) }));
        self.plan(slot, now);
    }

    /// The server found no field of this owner; `taken`: somebody else has one.
    pub fn missing(&mut self, slot: &Slot, taken: bool, epoch: u64, now: Instant) {
        let reason = match self.slots.get(slot) {
            _ if taken => LostReason::TakenOver,
            Some(owned) if owned.epoch != epoch => LostReason::ServerLostData,
            _ => LostReason::Deleted,
        };
        self.lost(slot, reason, now);
    }

    pub fn look(&mut self, number: u64, now: Instant) -> Look {
        let Some(slot) = self.numbers.get(&number).cloned() else { return Look::Gone };
        self.expire(&slot, now);
        let owned = &self.slots[&slot];
        match owned.holds.iter().find(|hold| hold.number == number).and_then(|hold| hold.lost) {
            None => Look::Held { remaining: owned.deadline.saturating_duration_since(now) },
            Some(lost) => Look::Lost(self.loss(&slot, lost, now)),
        }
    }

    /// The number of the owner's latest hold, lost or not, unless it was released or its loss was told.
    pub fn latest(&self, slot: &Slot) -> Option<u64> {
        self.slots.get(slot)?.holds.last().map(|hold| hold.number)
    }

    /// Every slot that is held, for closing.
    pub fn held(&self) -> Vec<Slot> {
        self.slots.iter().filter(|(_, owned)| owned.live() > 0).map(|(slot, _)| slot.clone()).collect()
    }

    /// The holds that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    fn loss(&self, slot: &Slot, (reason, noticed): (LostReason, Instant), now: Instant) -> Loss {
        let owned = self.slots.get(slot);
        Loss {
            lock: slot.name.to_string(),
            owner: format!("{}:{}", self.uuid, slot.owner),
            reason,
            acquired: owned.map_or(Duration::ZERO, |owned| now - owned.acquired),
            renewed: owned.and_then(|owned| owned.renewed).map(|renewed| now - renewed),
            noticed: now.saturating_duration_since(noticed),
        }
    }

    fn expire(&mut self, slot: &Slot, now: Instant) {
        let Some(owned) = self.slots.get(slot).filter(|owned| owned.live() > 0 && owned.deadline <= now) else { return };
        let reason = match owned.is_watched() {
            false => LostReason::Expired,
            true if owned.unanswered > 0 => LostReason::Partitioned,
            true => LostReason::Paused,
        };
        self.lost(slot, reason, now);
    }
}

impl Owned {
    fn new(deadline: Instant, epoch: u64, now: Instant) -> Self {
        let check_at = Some(now + LASTING);
        Owned { holds: Vec::new(), deadline, acquired: now, renewed: None, renew_at: now, check_at, unanswered: 0, epoch, due: now }
    }

    fn live(&self) -> u32 {
        self.holds.iter().filter(|hold| hold.lost.is_none()).count() as u32
    }

    fn is_watched(&self) -> bool {
        self.holds.iter().any(|hold| hold.watched && hold.lost.is_none())
    }
}

/// How long a lease may be believed in: less than the server's, for the clocks' difference.
pub fn believed(lease: Duration) -> Duration {
    lease.saturating_sub(lease / 100 + Duration::from_millis(2))
}
