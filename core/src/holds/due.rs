//! When each hold wants to be looked at, and what the server says of it then.

use std::time::{Duration, Instant};

use super::{Holds, REMEMBER, Slot, believed};

/// A slot to ask the server about.
pub struct Ask {
    pub slot: Slot,
    /// What the key is to live from now on; 0: it is only looked at.
    pub lease: Duration,
}

impl Holds {
    /// The server says that these keys have changed, or `None`: that it cannot tell any more of any.
    pub fn suspect(&mut self, names: Option<&[String]>, now: Instant) {
        let slots: Vec<Slot> = match names {
            Some(names) => names.iter().filter_map(|name| self.names.get(name.as_str())).flatten().cloned().collect(),
            None => self.slots.keys().cloned().collect(),
        };
        for slot in slots {
            if let Some(owned) = self.slots.get_mut(&slot).filter(|owned| names.is_some() || owned.check_at.is_none()) {
                owned.check_at = Some(now);
                self.plan(&slot, now);
            }
        }
    }

    /// When the next slot wants to be looked at.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// What to ask the server now; expired and long lost holds are dealt with on the way.
    pub fn due(&mut self, now: Instant, most: usize) -> Vec<Ask> {
        let mut asks = Vec::new();
        while asks.len() < most {
            let Some((_, slot)) = self.due.first().cloned().filter(|(due, _)| *due <= now) else { break };
            self.expire(&slot, now);
            // Asked again soon unless the answer says otherwise: an error is not a loss.
            let again = now + self.watchdog / 10;
            let owned = self.slots.get_mut(&slot).expect("a due slot exists");
            if owned.live() > 0 {
                let renew = owned.is_watched() && owned.renew_at <= now;
                if renew || owned.check_at.is_some_and(|at| at <= now) {
                    (owned.renew_at, owned.check_at) = (owned.renew_at.max(again), Some(again));
                    owned.unanswered += u32::from(renew);
                    let lease = if renew { owned.deadline.saturating_duration_since(now).max(self.watchdog) } else { Duration::ZERO };
                    asks.push(Ask { slot: slot.clone(), lease });
                }
            } else {
                owned.holds.retain(|hold| match hold.lost {
                    Some((_, since)) if since + REMEMBER <= now => {
                        self.numbers.remove(&hold.number);
                        false
                    }
                    _ => true,
                });
            }
            self.plan(&slot, now);
        }
        asks
    }

    /// Whether it is still to be asked about: it may have been released since it was due.
    pub fn is_due(&self, slot: &Slot) -> bool {
        self.slots.get(slot).is_some_and(|owned| owned.live() > 0)
    }

    /// The server has answered that the owner has it, and will tell when that changes.
    pub fn confirmed(&mut self, slot: &Slot, now: Instant) {
        if let Some(owned) = self.slots.get_mut(slot) {
            owned.check_at = None;
            self.plan(slot, now);
        }
    }

    /// The key lives on since a call sent at `sent`.
    pub fn renewed(&mut self, slot: &Slot, sent: Instant, now: Instant) {
        let (until, third) = (sent + believed(self.watchdog), self.watchdog / 3);
        if let Some(owned) = self.slots.get_mut(slot).filter(|owned| owned.live() > 0) {
            owned.deadline = owned.deadline.max(until);
            (owned.renewed, owned.unanswered) = (Some(now), 0);
            owned.renew_at = now + third - third.mul_f64((now - owned.acquired).subsec_micros() as f64 / 4e6);
            self.plan(slot, now);
        }
    }

    pub(super) fn plan(&mut self, slot: &Slot, now: Instant) {
        let Some(owned) = self.slots.get_mut(slot) else { return };
        self.due.remove(&(owned.due, slot.clone()));
        if owned.holds.is_empty() {
            self.slots.remove(slot);
            if let Some(slots) = self.names.get_mut(&slot.name) {
                slots.retain(|other| other != slot);
                if slots.is_empty() {
                    self.names.remove(&slot.name);
                }
            }
            return;
        }
        owned.due = match owned.live() {
            0 => now + REMEMBER,
            _ => {
                let renew_at = owned.is_watched().then_some(owned.renew_at);
                [renew_at, owned.check_at].into_iter().flatten().fold(owned.deadline, Instant::min)
            }
        };
        self.due.insert((owned.due, slot.clone()));
    }
}
