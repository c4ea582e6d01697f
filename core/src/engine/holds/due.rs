//! The time at which each hold is due for a check, and the answers of the server.

use std::time::Duration;

use smallvec::SmallVec;

use super::{Gone, Holds, LASTING, Lost, Owned, REMEMBER, STEP, believed, lease_for, step_of};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;

/// The number of neighbours that renew together: that makes fewer and fuller batches of owners that are close in
/// memory.
const NEIGHBOURS: usize = 32;

/// Many owners share such a key, and it changes all the time: one look in this time is enough.
const SHARED: Duration = Duration::from_secs(1);

/// A question to the server about one owner.
#[derive(Clone, Copy)]
pub struct Ask {
    key: usize,
    first: u64,
    /// The lease for the key from now on; 0: the call only looks at the key.
    pub lease: Duration,
}

impl Holds {
    /// Notes that these keys have changed, as the server says; `None`: the server cannot report changes of any key any
    /// more.
    pub fn suspect(&mut self, names: Option<&[String]>, now: Instant) {
        let Some(names) = names else {
            let all: Vec<usize> = self.owned.iter().map(|(key, _)| key).collect();
            return all.into_iter().for_each(|key| self.check(key, now));
        };
        let later = self.stepped(now + SHARED, STEP);
        for name in names {
            let sharers = self.names.get(name.as_str()).map(|sharers| sharers.holders.clone());
            for key in sharers.unwrap_or_default() {
                let is_own = *self.owned[key].claim.name == **name;
                self.check(key, if is_own { now } else { later });
            }
        }
    }

    fn check(&mut self, key: usize, at: Instant) {
        self.owned[key].doubt();
        self.check_by(key, at);
    }

    /// Notes that the server has given a lock to this owner, by a call sent at `sent`: holds that other owners had before
    /// that are lost, if they were exclusive or this one is. The client asks about those that came meanwhile, and those
    /// about which a call is under way: it may be their release. `is_quiet` tells whether none is, about the holds under a
    /// claim.
    pub fn supersede(
        &mut self,
        claim: &Claim,
        exclusive: bool,
        incarnation: u64,
        sent: Instant,
        now: Instant,
        is_quiet: impl Fn(Claim) -> bool,
    ) {
        let Some(sharers) = self.names.get_mut(&claim.name) else { return };
        let own = self.claims[claim];
        // Very many owners may read a lock: only its writer matters to each of them.
        let writer = sharers.exclusive.filter(|(key, first)| self.owned.get(*key).is_some_and(|it| it.first == *first));
        let others: SmallVec<[usize; 2]> = match exclusive {
            true if sharers.holders.len() > 1 => sharers.holders.clone(),
            true => SmallVec::new(),
            false => writer.map(|(key, _)| key).into_iter().collect(),
        };
        if exclusive {
            sharers.exclusive = Some((own, self.owned[own].first));
        }
        let is_first = self.owned[own].live() == 1;
        for key in others {
            let owned = &self.owned[key];
            if owned.claim.name != claim.name || owned.live() == 0 {
                continue;
            }
            if owned.claim.owner == claim.owner {
                // A writer may read, but no reader begins to write: only the server knows whether it has written all the
                // while.
                if exclusive && is_first && !owned.claim.is_counted_with(claim) {
                    self.check(key, now);
                }
                continue;
            }
            match owned.gripped <= sent && is_quiet(owned.grip()) {
                true => self.missing(&owned.claim.clone(), owned.field, true, incarnation, sent, now),
                false => self.check(key, now),
            }
        }
    }

    /// Notes that a lock of that name may be another client's, as a message says. The server decides about the next heir:
    /// the watchdog need not hurry.
    pub fn doubt(&mut self, name: &str) {
        for key in self.names.get(name).into_iter().flat_map(|sharers| &sharers.holders) {
            self.owned[*key].doubt();
        }
    }

    /// Notes that a call of this client may have changed a key. The server does not report that to the client, nor any
    /// further change until the client asks again. Many calls in a row make one question, and a hold that has only
    /// begun has its question before it anyway.
    pub fn changed(&mut self, name: &str, now: Instant) {
        let Some(sharers) = self.names.get_mut(name).filter(|sharers| !sharers.all_ask) else { return };
        sharers.all_ask = true;
        for key in sharers.holders.clone() {
            if self.owned[key].live() == 0 || std::mem::replace(&mut self.owned[key].changed, true) {
                continue;
            }
            self.check_by(key, self.after_change(key, now));
        }
    }

    /// The time of the question after a change by this client.
    fn after_change(&self, key: usize, now: Instant) -> Instant {
        let delay = if self.owned[key].shared.is_some() { SHARED } else { LASTING + STEP };
        self.stepped(now + delay, STEP)
    }

    fn check_by(&mut self, key: usize, at: Instant) {
        let owned = &mut self.owned[key];
        owned.check_at = Some(owned.check_at.map_or(at, |before| before.min(at)));
        self.plan(key);
    }

    /// Notes that the call under this grip has ended: the question that had to wait for it goes to the server now.
    pub fn look_again(&mut self, grip: &Claim, now: Instant) {
        let Some(claim) = self.claim_under(grip) else { return };
        for key in self.counted_with(&claim) {
            if self.owned[key].live() == 0 {
                continue;
            }
            self.owned[key].hurry_renewal(now);
            self.plan(key);
            if self.owned[key].suspected || self.owned[key].changed {
                let is_shared = self.owned[key].names().count() > 1;
                self.check(key, if is_shared { self.stepped(now + SHARED, STEP) } else { now });
            }
        }
    }

    /// Offers the grip of each owner that is due to `ask`, which says whether it sends the question. Ends expired holds and forgets
    /// old losses on the way. Gives the number of questions, at most `most`.
    pub fn due(&mut self, now: Instant, most: usize, mut ask: impl FnMut(&Claim, Ask) -> bool) -> usize {
        let mut asked = 0;
        while asked < most {
            let Some((at, key)) = self.due.take(now) else { break };
            let Some(owned) = self.owned.get_mut(key).filter(|owned| owned.due == Some(at)) else { continue };
            owned.due = None;
            self.expire(key, now);
            // The next question comes soon, unless an answer changes that: an error is not a loss.
            let term = self.term_of(key);
            let again = self.stepped(now + term / 10, step_of(term));
            let owned = &mut self.owned[key];
            if owned.live() > 0 {
                let renew = owned.is_renewed() && owned.renew_at <= now;
                if renew || owned.check_at.is_some_and(|at| at <= now) {
                    owned.check_at = Some(again);
                    // A look must not put the renewal off: looks may come all the time.
                    if renew {
                        owned.renew_at = again;
                    }
                    let lease = if renew {
                        lease_for(owned.deadline.saturating_duration_since(now)).max(term)
                    } else {
                        Duration::ZERO
                    };
                    let is_asked = ask(&owned.grip(), Ask { key, first: owned.first, lease });
                    if renew {
                        owned.is_overdue = !is_asked;
                    }
                    if is_asked {
                        owned.unanswered += u32::from(renew);
                        owned.suspected = false;
                        if std::mem::take(&mut owned.changed) {
                            for name in owned.names() {
                                self.names.get_mut(name).into_iter().for_each(|sharers| sharers.all_ask = false);
                            }
                        }
                        asked += 1;
                    }
                }
            } else {
                let numbers = &mut self.numbers;
                let past = &mut self.past;
                let claim = &owned.claim;
                let outlasts = owned.outlasting();
                owned.holds.retain(|hold| {
                    // As long as the server may keep the key, a release has to find the field.
                    let is_old = |lost: &&Lost| lost.noticed + REMEMBER <= now && outlasts.is_none_or(|end| end <= now);
                    let Some(lost) = hold.lost.as_deref().filter(is_old) else {
                        return true;
                    };
                    if numbers.remove(&hold.number).is_some() && !hold.unasked {
                        past.add(hold.number, Gone { claim: claim.clone(), lost: *lost, outlasts }, false);
                    }
                    false
                });
            }
            self.plan(key);
        }
        asked
    }

    /// Notes the server's answer about many owners, to a call sent at `sent`. Each character is a state: 1 the owner
    /// holds it, 0 another owner does, - no owner does. `tells`: the server reports changes from now on. If it does
    /// not, the client asks as often as it renews.
    pub fn answered(&mut self, asks: &[Ask], states: &str, incarnation: u64, tells: bool, sent: Instant, now: Instant) {
        let usual = (sent + believed(self.watchdog), self.next_renewal(self.watchdog, now));
        for (ask, state) in asks.iter().zip(states.bytes()) {
            let Some(owned) = self.owned.get_mut(ask.key).filter(|owned| owned.first == ask.first && owned.live() > 0)
            else {
                continue;
            };
            if state != b'1' {
                let claim = owned.claim.clone();
                let field = owned.field;
                self.missing(&claim, field, state == b'0', incarnation, sent, now);
                continue;
            }
            let (until, renew_at) = match owned.term {
                None => usual,
                // It may be newer than the question.
                Some(term) => (sent + believed(term.min(ask.lease)), self.next_renewal(term, now)),
            };
            if ask.lease > Duration::ZERO {
                self.owned[ask.key].renewed(until, renew_at, sent);
                self.tell("until", &self.owned[ask.key], 0, Some(sent), 0);
                let claim = self.owned[ask.key].claim.clone();
                self.last_until(&claim, until, sent);
            }
            let owned = &mut self.owned[ask.key];
            // The answer may be older than a change since the question.
            owned.unsure = owned.suspected;
            owned.hurry_renewal(now);
            let check_at = match owned.suspected {
                false if owned.changed => Some(self.after_change(ask.key, now)),
                false => (!tells).then_some(renew_at),
                true if owned.shared.is_some() => Some(self.stepped(now + SHARED, STEP)),
                true => Some(now),
            };
            self.owned[ask.key].check_at = check_at;
            self.plan(ask.key);
        }
    }

    /// Has the client ask about these owners again before long: the server that has answered reports no change yet.
    pub fn ask_again(&mut self, asks: &[Ask], now: Instant) {
        let later = self.stepped(now + SHARED, STEP);
        for ask in asks {
            if self.asked(ask).is_some_and(|owned| owned.live() > 0) {
                self.check_by(ask.key, later);
            }
        }
    }

    /// The grips that these questions are about; `None`: the client has forgotten the owner.
    pub fn grips_of(&self, asks: &[Ask]) -> Vec<Option<Claim>> {
        asks.iter().map(|ask| self.asked(ask).map(Owned::grip)).collect()
    }

    fn asked(&self, ask: &Ask) -> Option<&Owned> {
        self.owned.get(ask.key).filter(|owned| owned.first == ask.first)
    }

    /// Notes that a release of this claim, sent at `sent`, has left holds behind under the field of an owner, by whichever kind,
    /// which the server keeps for `left`. The client believes that, even if it is less than before. The release asked for
    /// `lease` at least; if that was more than zero, it renewed the holds.
    pub fn left(&mut self, claim: &Claim, field: i64, left: Duration, lease: Duration, sent: Instant, now: Instant) {
        for key in self.holders_under(&claim.of(field)) {
            let renew_at = self.next_renewal(self.term_of(key), now);
            let owned = &mut self.owned[key];
            // The belief of another owner that is over stays over: this one may have taken the lock since.
            let is_over = owned.deadline <= now && owned.claim.owner != claim.owner;
            if owned.live() == 0 || is_over {
                continue;
            }
            if lease > Duration::ZERO && left >= lease {
                owned.renewed(sent, renew_at, sent);
            }
            owned.deadline = sent + believed(left);
            self.tell("until", &self.owned[key], 0, Some(sent), 0);
            self.plan(key);
        }
    }

    /// The time of a new owner's first renewal. Spreads very many owners over most of the interval, in groups.
    pub(super) fn first_renewal(&self, key: usize, now: Instant) -> Instant {
        let third = self.watchdog / 3;
        let later = self.watchdog / 3 - self.step;
        self.stepped(now + third - later.mul_f64((key / NEIGHBOURS * 61 % 128) as f64 / 128.0), self.step)
    }

    /// The time of the renewal after one that gives this lease.
    pub(super) fn next_renewal(&self, lease: Duration, now: Instant) -> Instant {
        self.stepped(now + lease / 3, step_of(lease))
    }

    /// The last step at or before a time.
    pub(super) fn stepped(&self, at: Instant, step: Duration) -> Instant {
        let since = at.saturating_duration_since(self.origin).as_nanos() as u64;
        at - Duration::from_nanos(since % step.as_nanos() as u64)
    }

    /// Notes the time of the owner's next check, or drops the owner if it has no holds any more.
    pub(super) fn plan(&mut self, key: usize) {
        let owned = &mut self.owned[key];
        let due = match owned.live() {
            _ if owned.holds.is_empty() => None,
            // Each step on the way here would put it off, if the time began anew.
            0 => {
                let lost = owned.holds.iter().filter_map(|hold| hold.lost.as_deref());
                lost.map(|lost| lost.noticed + REMEMBER)
                    .min()
                    .map(|end| owned.outlasting().map_or(end, |kept| kept.max(end)))
            }
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
        match due {
            Some(_) => self.relist(key),
            None => self.drop_owner(key),
        }
    }

    fn drop_owner(&mut self, key: usize) {
        let owned = self.owned.remove(key);
        self.claims.remove(&owned.claim);
        if !self.stand_ins.is_empty() && owned.claim.counted_together().all(|claim| !self.claims.contains_key(&claim)) {
            self.stand_ins.remove(&owned.claim.counted());
        }
        self.delist(&owned);
    }
}
