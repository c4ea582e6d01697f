//! What this client holds: how often, until when, and what was lost. A state machine without I/O: the caller brings the time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::command::Look;
use crate::error::{Loss, LostReason};

/// One owner of one lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    pub kind: &'static str,
    pub name: Arc<str>,
    pub owner: i64,
}

/// How long the memory of a lost hold waits for its release.
const REMEMBER: Duration = Duration::from_secs(600);

pub struct Holds {
    watchdog: Duration,
    slots: HashMap<Slot, Owned>,
    numbers: HashMap<u64, Slot>,
    /// When each slot wants to be looked at: renewed, found expired, or forgotten.
    due: BTreeSet<(Instant, Slot)>,
    next: u64,
}

struct Owned {
    holds: Vec<Hold>,
    deadline: Instant,
    acquired: Instant,
    renewed: Option<Instant>,
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
}

impl Holds {
    pub fn new(watchdog: Duration) -> Self {
        Holds { watchdog, slots: HashMap::new(), numbers: HashMap::new(), due: BTreeSet::new(), next: 1 }
    }

    /// How many holds the owner has now.
    pub fn count(&mut self, slot: &Slot, now: Instant) -> u32 {
        self.expire(slot, now);
        self.slots.get(slot).map_or(0, Owned::live)
    }

    /// The server said yes to a call sent at `sent`. Gives the new hold's number.
    pub fn taken(&mut self, slot: &Slot, lease: Option<Duration>, sent: Instant, now: Instant) -> u64 {
        let number = self.next;
        self.next += 1;
        let until = sent + believed(lease.unwrap_or(self.watchdog));
        let hold = Hold { number, watched: lease.is_none(), lost: None };
        let new = || Owned { holds: Vec::new(), deadline: until, acquired: now, renewed: None, due: now };
        let owned = self.slots.entry(slot.clone()).or_insert_with(new);
        if owned.live() == 0 {
            (owned.deadline, owned.acquired, owned.renewed) = (until, now, None);
        }
        owned.deadline = owned.deadline.max(until);
        owned.holds.push(hold);
        self.numbers.insert(number, slot.clone());
        self.plan(slot, now);
        number
    }

    /// What releasing a hold (0: the latest) takes. `Ok(None)`: there is none. `Err`: it was lost, and is forgotten by this.
    pub fn leaving(&mut self, slot: &Slot, number: u64) -> Result<Option<Leaving>, (LostReason, Instant)> {
        let Some(owned) = self.slots.get_mut(slot) else { return Ok(None) };
        let found = match number {
            0 => owned.holds.last(),
            _ => owned.holds.iter().find(|hold| hold.number == number),
        };
        let Some(hold) = found else { return Ok(None) };
        if let Some(lost) = hold.lost {
            return Err(lost);
        }
        let number = hold.number;
        let watched = owned.holds.iter().any(|hold| hold.watched && hold.number != number && hold.lost.is_none());
        let lease = if watched { self.watchdog } else { Duration::ZERO };
        Ok(Some(Leaving { number, leave: owned.live() - 1, lease }))
    }

    /// Forgets a hold: released, or its loss was told.
    pub fn forget(&mut self, slot: &Slot, number: u64, now: Instant) {
        self.numbers.remove(&number);
        if let Some(owned) = self.slots.get_mut(slot) {
            owned.holds.retain(|hold| hold.number != number);
            self.plan(slot, now);
        }
    }

    /// The latest hold of an owner, lost or not.
    pub fn latest(&self, slot: &Slot) -> Option<u64> {
        self.slots.get(slot).and_then(|owned| owned.holds.last()).map(|hold| hold.number)
    }

    /// The key lives on since a call sent at `sent`.
    pub fn renewed(&mut self, slot: &Slot, sent: Instant, now: Instant) {
        let until = sent + believed(self.watchdog);
        if let Some(owned) = self.slots.get_mut(slot).filter(|owned| owned.live() > 0) {
            owned.deadline = owned.deadline.max(until);
            owned.renewed = Some(now);
            self.plan(slot, now);
        }
    }

    /// Everything the owner held of this lock is gone.
    pub fn lost(&mut self, slot: &Slot, reason: LostReason, now: Instant) {
        if let Some(owned) = self.slots.get_mut(slot) {
            owned.holds.iter_mut().filter(|hold| hold.lost.is_none()).for_each(|hold| hold.lost = Some((reason, now)));
            self.plan(slot, now);
        }
    }

    /// When the next slot wants to be looked at.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Slots to renew now, with the ms each key is to live; expired and long lost ones are dealt with on the way.
    pub fn due(&mut self, now: Instant, most: usize) -> Vec<(Slot, Duration)> {
        let mut renew = Vec::new();
        while renew.len() < most {
            let Some((due, slot)) = self.due.first().cloned().filter(|(due, _)| *due <= now) else { break };
            self.expire(&slot, now);
            let owned = self.slots.get_mut(&slot).expect("a due slot exists");
            if owned.watched() {
                // Asked again soon unless the answer says otherwise: an error is not a loss.
                let again = now + self.watchdog / 10;
                renew.push((slot.clone(), owned.deadline.saturating_duration_since(now).max(self.watchdog)));
                owned.due = again;
                self.due.remove(&(due, slot.clone()));
                self.due.insert((again, slot));
            } else {
                owned.holds.retain(|hold| match hold.lost {
                    Some((_, since)) if since + REMEMBER <= now => {
                        self.numbers.remove(&hold.number);
                        false
                    }
                    _ => true,
                });
                self.plan(&slot, now);
            }
        }
        renew
    }

    pub fn look(&mut self, number: u64, uuid: &str, now: Instant) -> Look {
        let Some(slot) = self.numbers.get(&number).cloned() else { return Look::Gone };
        self.expire(&slot, now);
        let owned = &self.slots[&slot];
        match owned.holds.iter().find(|hold| hold.number == number).and_then(|hold| hold.lost) {
            None => Look::Held { remaining: owned.deadline.saturating_duration_since(now) },
            Some(lost) => Look::Lost(self.loss(&slot, uuid, lost, now)),
        }
    }

    pub fn loss(&self, slot: &Slot, uuid: &str, (reason, noticed): (LostReason, Instant), now: Instant) -> Loss {
        let owned = self.slots.get(slot);
        Loss {
            lock: slot.name.to_string(),
            owner: format!("{uuid}:{}", slot.owner),
            reason,
            acquired: owned.map_or(Duration::ZERO, |owned| now - owned.acquired),
            renewed: owned.and_then(|owned| owned.renewed).map(|renewed| now - renewed),
            noticed: now.saturating_duration_since(noticed),
        }
    }

    /// Every slot that is held, for closing.
    pub fn held(&self) -> Vec<(Slot, u64)> {
        let live = |(slot, owned): (&Slot, &Owned)| (owned.live() > 0).then(|| (slot.clone(), owned.holds[0].number));
        self.slots.iter().filter_map(live).collect()
    }

    fn expire(&mut self, slot: &Slot, now: Instant) {
        if self.slots.get(slot).is_some_and(|owned| owned.live() > 0 && owned.deadline <= now) {
            self.lost(slot, LostReason::Expired, now);
        }
    }

    fn plan(&mut self, slot: &Slot, now: Instant) {
        let Some(owned) = self.slots.get_mut(slot) else { return };
        self.due.remove(&(owned.due, slot.clone()));
        if owned.holds.is_empty() {
            self.slots.remove(slot);
            return;
        }
        owned.due = if owned.watched() {
            // Spread, so that holds taken together are not renewed together.
            let third = self.watchdog / 3;
            (now + third - third.mul_f64((self.next * 61 % 128) as f64 / 256.0)).min(owned.deadline)
        } else if owned.live() > 0 {
            owned.deadline
        } else {
            now + REMEMBER
        };
        self.due.insert((owned.due, slot.clone()));
    }
}

impl Owned {
    fn live(&self) -> u32 {
        self.holds.iter().filter(|hold| hold.lost.is_none()).count() as u32
    }

    fn watched(&self) -> bool {
        self.holds.iter().any(|hold| hold.watched && hold.lost.is_none())
    }
}

/// How long a lease may be believed in: less than the server's, for the clocks' difference.
fn believed(lease: Duration) -> Duration {
    lease.saturating_sub(lease / 100 + Duration::from_millis(2))
}
