//! The bonds of a client: what dies as one, and until when the client believes in each. A state machine without I/O: the
//! caller brings the time.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::base::clock::Instant;
use crate::engine::holds::believed;
use crate::sessions::driver::{Bond, Key};

#[derive(Default)]
pub struct Bonds {
    bonds: HashMap<Bond, State>,
}

struct State {
    /// The time for which the client may believe in it without a sign of life.
    lease: Duration,
    /// The server counts the lease from then on, or from later.
    from: Instant,
    /// The sending of the last sign of life that the server has answered.
    answered: Instant,
    /// A sign of life is under way since then.
    asked: Option<Instant>,
    keys: BTreeSet<Key>,
}

impl State {
    fn until(&self) -> Instant {
        self.from + believed(self.lease)
    }

    fn due(&self) -> Instant {
        match self.asked {
            Some(_) => self.until(),
            // An answer may prove little: then the next one has to come before the belief is over.
            None => {
                let last = (self.until() - self.lease / 8).max(self.answered + self.lease / 16);
                (self.answered + self.lease / 3).min(last)
            }
        }
    }
}

impl Bonds {
    /// Notes a new bond.
    pub fn opened(&mut self, bond: Bond, sent: Instant, lease: Duration) {
        let state = State { lease, from: sent, answered: sent, asked: None, keys: BTreeSet::new() };
        self.bonds.insert(bond, state);
    }

    /// Notes that the server has answered a sign of life sent then, and counts the lease `from` another moment on.
    pub fn answered(&mut self, bond: Bond, sent: Instant, from: Instant) {
        if let Some(state) = self.bonds.get_mut(&bond) {
            state.answered = state.answered.max(sent);
            state.asked.take_if(|asked| *asked <= sent);
        }
        self.lives(bond, from);
    }

    /// Notes that the server keeps the bond for another time from then on, or from later.
    pub fn agreed(&mut self, bond: Bond, lease: Duration, from: Instant) {
        if let Some(state) = self.bonds.get_mut(&bond) {
            state.lease = lease;
        }
        self.lives(bond, from);
    }

    /// Notes that the server counts the lease from then on, or from later.
    pub fn lives(&mut self, bond: Bond, from: Instant) {
        if let Some(state) = self.bonds.get_mut(&bond) {
            state.from = state.from.max(from);
        }
    }

    /// Notes that the client has a grip of that key by this bond. False: the bond has ended, or the client believes in it
    /// no longer.
    pub fn add(&mut self, bond: Bond, key: &Key, now: Instant) -> bool {
        let Some(state) = self.bonds.get_mut(&bond).filter(|state| state.until() > now) else { return false };
        state.keys.insert(key.clone());
        true
    }

    /// The keys of a bond's grips.
    pub fn keys(&self, bond: Bond) -> impl Iterator<Item = &Key> {
        self.bonds.get(&bond).into_iter().flat_map(|state| &state.keys)
    }

    pub fn remove(&mut self, bond: Bond, key: &Key) {
        if let Some(state) = self.bonds.get_mut(&bond) {
            state.keys.remove(key);
        }
    }

    /// Notes the end of a bond: gives the keys of its grips.
    pub fn ended(&mut self, bond: Bond) -> BTreeSet<Key> {
        self.bonds.remove(&bond).map(|state| state.keys).unwrap_or_default()
    }

    /// The moment from which a hold lasts by a bond. The end of the bond ends it in time. Its own end must not come before its
    /// next renewal, a third of a lease later. It is no later than the bond's, unless the server is late with an answer: a hold
    /// that began a while after the sign of life has its renewals as long after those.
    pub fn renewed(&self, bond: Bond, now: Instant) -> Option<Instant> {
        self.bonds.get(&bond).map(|state| state.from.max(now - state.lease * 9 / 20))
    }

    /// Tells whether a sign of life is overdue: it was asked for, and the server has not answered.
    pub fn is_unanswered(&self, bond: Bond, now: Instant) -> bool {
        self.bonds.get(&bond).is_none_or(|state| {
            let late = state.lease / 20;
            state.asked.is_some_and(|asked| asked + late < now)
        })
    }

    /// The time for which the client still believes in a bond.
    pub fn left(&self, bond: Bond, now: Instant) -> Duration {
        self.bonds.get(&bond).map_or(Duration::ZERO, |state| state.until().saturating_duration_since(now))
    }

    /// The time of the next sign of life, or of the end of a belief.
    pub fn next(&self) -> Option<Instant> {
        let held = self.bonds.values().filter(|state| !state.keys.is_empty());
        held.map(State::due).min()
    }

    /// The bonds in which the client believes no longer; true: the server owes an answer.
    pub fn over(&self, now: Instant) -> Vec<(Bond, bool)> {
        let is_over = |state: &State| !state.keys.is_empty() && state.until() <= now;
        self.bonds
            .iter()
            .filter(|(_, state)| is_over(state))
            .map(|(bond, state)| (*bond, state.asked.is_some()))
            .collect()
    }

    /// The bonds for which a sign of life is due, and notes that it is asked for.
    pub fn take_due(&mut self, now: Instant) -> Vec<Bond> {
        let is_due = |state: &State| {
            !state.keys.is_empty() && state.asked.is_none() && state.due() <= now && state.until() > now
        };
        let mut due = Vec::new();
        for (bond, state) in self.bonds.iter_mut().filter(|(_, state)| is_due(state)) {
            state.asked = Some(now);
            due.push(*bond);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(3);
    const SECOND: Duration = Duration::from_secs(1);

    fn bonds(now: Instant) -> Bonds {
        let mut bonds = Bonds::default();
        bonds.opened(1, now, LEASE);
        assert!(bonds.add(1, &"n".into(), now));
        bonds
    }

    #[test]
    fn belief_counts_from_the_sending_of_the_last_answered_sign_of_life() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        assert_eq!(bonds.left(1, now), believed(LEASE));
        assert_eq!(bonds.take_due(now + SECOND), [1]);
        assert_eq!(bonds.left(1, now + SECOND), believed(LEASE) - SECOND, "an unanswered sign of life is none");
        // The answer comes a second after the sending.
        bonds.answered(1, now + SECOND, now + SECOND);
        assert_eq!(bonds.left(1, now + 2 * SECOND), believed(LEASE) - SECOND);
        bonds.answered(1, now, now);
        assert_eq!(bonds.left(1, now + 2 * SECOND), believed(LEASE) - SECOND, "an older answer shortens nothing");
    }

    /// R4: a server that is not the leader tells the leader late.
    #[test]
    fn a_sign_of_life_may_prove_less_than_the_moment_of_its_sending_and_the_next_one_comes_after_it_all_the_same() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        assert_eq!(bonds.take_due(now + SECOND), [1]);
        bonds.answered(1, now + SECOND, now + SECOND / 2);
        assert_eq!(bonds.left(1, now + SECOND), believed(LEASE) - SECOND / 2);
        assert_eq!(bonds.next(), Some(now + 2 * SECOND));
        bonds.lives(1, now + SECOND);
        assert_eq!(bonds.left(1, now + SECOND), believed(LEASE));
        assert_eq!(bonds.next(), Some(now + 2 * SECOND), "that was no look at the grips");
    }

    /// A hold is renewed each third of the lease, by the answers that have come until then.
    #[test]
    fn a_hold_does_not_end_before_its_next_renewal_while_the_client_believes_in_its_bond() {
        let now = Instant::now();
        let bonds = bonds(now - SECOND * 2);
        let until = bonds.renewed(1, now).expect("it goes on") + believed(LEASE);
        assert!(until > now + SECOND + SECOND / 2);
        assert_eq!(bonds.left(1, now), believed(LEASE) - 2 * SECOND, "the bond ends earlier, and with it the hold");
    }

    /// The token of a hold may have been drawn meanwhile, or another owner may have had the lock before.
    #[test]
    fn a_hold_that_began_after_the_sign_of_life_lasts_no_longer_than_its_bond() {
        let now = Instant::now();
        let bonds = bonds(now);
        let late = now + SECOND + SECOND / 10;
        assert_eq!(bonds.renewed(1, late), Some(now));
    }

    #[test]
    fn a_bond_is_believed_in_for_the_time_that_was_agreed_upon_last() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        bonds.agreed(1, LEASE / 3, now + SECOND);
        assert_eq!(bonds.left(1, now + SECOND), believed(LEASE / 3));
        bonds.lives(1, now + SECOND + SECOND / 2);
        assert_eq!(bonds.left(1, now + 2 * SECOND), believed(LEASE / 3) - SECOND / 2);
    }

    #[test]
    fn each_bond_is_believed_in_for_its_own_lease() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        bonds.opened(2, now, LEASE * 2);
        assert_eq!((bonds.left(1, now), bonds.left(2, now)), (believed(LEASE), believed(LEASE * 2)));
    }

    #[test]
    fn one_sign_of_life_is_under_way_each_third_of_the_lease_and_none_for_a_bond_without_grips() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        assert_eq!(bonds.next(), Some(now + SECOND));
        assert!(bonds.take_due(now + SECOND / 2).is_empty());
        assert_eq!(bonds.take_due(now + SECOND), [1]);
        assert!(bonds.take_due(now + SECOND + SECOND / 2).is_empty(), "one at a time");
        bonds.answered(1, now + SECOND, now + SECOND);
        assert_eq!(bonds.next(), Some(now + 2 * SECOND));
        bonds.remove(1, &"n".into());
        assert_eq!(bonds.next(), None);
        assert!(bonds.take_due(now + 2 * SECOND).is_empty());
    }

    #[test]
    fn a_bond_in_which_the_client_believes_no_longer_takes_no_grip_and_gives_back_its_own() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        bonds.take_due(now + SECOND);
        let over = now + believed(LEASE);
        assert!(bonds.over(over - Duration::from_millis(1)).is_empty());
        assert_eq!(bonds.over(over), [(1, true)], "the server owes an answer");
        assert!(!bonds.add(1, &"m".into(), over), "its session may be over at the server");
        assert_eq!(bonds.ended(1).into_iter().collect::<Vec<_>>(), [Key::from("n")]);
        assert!(!bonds.add(1, &"n".into(), now), "it has ended");
    }
}
