//! When each hold wants to be looked at, and what the server says of it then.

use std::time::Duration;

use super::{Gone, Holds, REMEMBER, STEP, believed};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;

/// How many neighbours are renewed together: fewer and fuller batches, of what lies together in memory.
const TOGETHER: usize = 32;

/// A key that many share changes all the time: it is looked at once in so long.
const SHARED: Duration = Duration::from_secs(1);

/// An owner to ask the server about.
#[derive(Clone, Copy)]
pub struct Ask {
    key: usize,
    first: u64,
    /// What the key is to live from now on; 0: it is only looked at.
    pub lease: Duration,
}

impl Holds {
    /// The server says that these keys have changed, or `None`: that it cannot tell any more of any.
    pub fn suspect(&mut self, names: Option<&[String]>, now: Instant) {
        let Some(names) = names else {
            let all: Vec<usize> = self.owned.iter().map(|(key, _)| key).collect();
            return all.into_iter().for_each(|key| self.check(key, now, now));
        };
        let later = self.stepped(now + SHARED, STEP);
        for name in names {
            for key in self.names.get(name.as_str()).cloned().unwrap_or_default() {
                let is_own = *self.owned[key].claim.name == **name;
                self.check(key, if is_own { now } else { later }, now);
            }
        }
    }

    fn check(&mut self, key: usize, at: Instant, now: Instant) {
        let owned = &mut self.owned[key];
        owned.suspected = true;
        owned.check_at = Some(owned.check_at.map_or(at, |before| before.min(at)));
        self.plan(key, now);
    }

    /// No call of that owner is on its way any more: what the server was not asked for because of it is asked now.
    pub fn look_again(&mut self, claim: &Claim, now: Instant) {
        let Some(key) = self.claims.get(claim).copied() else { return };
        if self.owned[key].suspected {
            let is_shared = self.owned[key].names().count() > 1;
            self.check(key, if is_shared { self.stepped(now + SHARED, STEP) } else { now }, now);
        }
    }

    /// Tells `ask` whom to ask the server about now, which says whether it does; expired and long lost holds are dealt with on the way.
    /// Gives how many are asked about, up to `most`.
    pub fn due(&mut self, now: Instant, most: usize, mut ask: impl FnMut(&Claim, Ask) -> bool) -> usize {
        let mut asked = 0;
        // Asked again soon unless the answer says otherwise: an error is not a loss.
        let again = self.stepped(now + self.watchdog / 10, self.step);
        while asked < most {
            let Some((at, key)) = self.due.take(now) else { break };
            let Some(owned) = self.owned.get_mut(key).filter(|owned| owned.due == Some(at)) else { continue };
            owned.due = None;
            self.expire(key, now);
            let owned = &mut self.owned[key];
            if owned.live() > 0 {
                let renew = owned.is_renewed() && owned.renew_at <= now;
                if renew || owned.check_at.is_some_and(|at| at <= now) {
                    (owned.renew_at, owned.check_at) = (owned.renew_at.max(again), Some(again));
                    let lease = if renew { owned.deadline.saturating_duration_since(now).max(self.watchdog) } else { Duration::ZERO };
                    if ask(&owned.claim, Ask { key, first: owned.first, lease }) {
                        owned.unanswered += u32::from(renew);
                        owned.suspected = false;
                        owned.asks_for(lease);
                        asked += 1;
                    }
                }
            } else {
                let numbers = &mut self.numbers;
                let past = &mut self.past;
                let claim = &owned.claim;
                let outlasts = owned.outlasts;
                owned.holds.retain(|hold| {
                    let Some(lost) = hold.lost.as_deref().filter(|lost| lost.noticed + REMEMBER <= now) else { return true };
                    if numbers.remove(&hold.number).is_none() {
                        return true;
                    }
                    if !hold.unasked {
                        past.add(hold.number, Gone { claim: claim.clone(), lost: *lost, outlasts, told: false });
                    }
                    false
                });
            }
            self.plan(key, now);
        }
        asked
    }

    /// The server has answered a call about many, sent at `sent`: 1 held, 0 another owner holds it, - no owner does. `tells`: from now on it
    /// tells of changes; one that does not is asked again as often as holds are renewed.
    pub fn answered(&mut self, asks: &[Ask], states: &str, incarnation: u64, tells: bool, sent: Instant, now: Instant) {
        let (until, renew_at) = (sent + believed(self.watchdog), self.next_renewal(now));
        for (ask, state) in asks.iter().zip(states.bytes()) {
            let Some(owned) = self.owned.get_mut(ask.key).filter(|owned| owned.first == ask.first && owned.live() > 0) else { continue };
            if state != b'1' {
                let claim = owned.claim.clone();
                self.missing(&claim, state == b'0', incarnation, now);
                continue;
            }
            if ask.lease > Duration::ZERO {
                owned.renewed(until, renew_at, sent);
                self.tell("until", &self.owned[ask.key], 0, Some(sent), 0);
            }
            let owned = &self.owned[ask.key];
            let check_at = match owned.suspected {
                false => (!tells).then_some(renew_at),
                // A change since the question may not be in the answer.
                true if owned.shared.is_some() => Some(self.stepped(now + SHARED, STEP)),
                true => Some(now),
            };
            self.owned[ask.key].check_at = check_at;
            self.plan(ask.key, now);
        }
    }

    /// A release sent at `sent` has left holds behind, and the server keeps them for `left`: that is what is believed, be it more or less than
    /// before. It was to give them `lease` at least, which renews them if it was more than nothing.
    pub fn left(&mut self, claim: &Claim, left: Duration, lease: Duration, sent: Instant, now: Instant) {
        let renew_at = self.next_renewal(now);
        let Some(key) = self.claims.get(claim).copied() else { return };
        let owned = &mut self.owned[key];
        if lease > Duration::ZERO && left >= lease {
            owned.renewed(sent, renew_at, sent);
        }
        owned.deadline = sent + believed(left);
        self.tell("until", &self.owned[key], 0, Some(sent), 0);
        self.plan(key, now);
    }

    /// Very many holds are spread over most of the time until then, each some of them together.
    pub(super) fn first_renewal(&self, key: usize, now: Instant) -> Instant {
        let (third, later) = (self.watchdog / 3, self.watchdog / 3 - self.step);
        self.stepped(now + third - later.mul_f64((key / TOGETHER * 61 % 128) as f64 / 128.0), self.step)
    }

    fn next_renewal(&self, now: Instant) -> Instant {
        self.stepped(now + self.watchdog / 3, self.step)
    }

    /// The last step at or before a time.
    pub(super) fn stepped(&self, at: Instant, step: Duration) -> Instant {
        let since = at.saturating_duration_since(self.origin).as_nanos() as u64;
        at - Duration::from_nanos(since % step.as_nanos() as u64)
    }

    /// Notes when it wants to be looked at next, or drops it if it has no holds any more.
    pub(super) fn plan(&mut self, key: usize, now: Instant) {
        let owned = &mut self.owned[key];
        let due = match owned.live() {
            // Nothing but the newest token is left to be remembered.
            _ if owned.holds.is_empty() => owned.tokens.as_ref().and_then(|tokens| tokens.until).filter(|until| *until > now),
            0 => Some(now + REMEMBER),
            _ => {
                let renew_at = owned.is_renewed().then_some(owned.renew_at);
                Some([renew_at, owned.check_at].into_iter().flatten().fold(owned.deadline, Instant::min))
            }
        };
        let before = std::mem::replace(&mut owned.due, due);
        if before != due {
            before.inspect(|before| self.due.leave(*before, key));
            due.inspect(|due| self.due.add(*due, key));
        }
        if due.is_none() {
            self.drop_owner(key);
        }
    }

    fn drop_owner(&mut self, key: usize) {
        let owned = self.owned.remove(key);
        self.claims.remove(&owned.claim);
        for name in owned.names() {
            if let Some(keys) = self.names.get_mut(name) {
                keys.retain(|other| *other != key);
                if keys.is_empty() {
                    self.names.remove(name);
                }
            }
        }
    }
}
