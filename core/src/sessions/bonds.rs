//! The bonds of a client: what dies as one, and until when the client believes in each. A state machine without I/O: the
//! caller brings the time.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::base::clock::Instant;
use crate::engine::holds::believed;
use crate::sessions::driver::{Bond, Key};

pub struct Bonds {
    /// The time for which the server keeps a session without a sign of life.
    lease: Duration,
    bonds: HashMap<Bond, State>,
}

struct State {
    /// The sending of the last sign of life that the server has answered.
    answered: Instant,
    /// A sign of life is under way since then.
    asked: Option<Instant>,
    keys: BTreeSet<Key>,
}

impl State {
    fn until(&self, lease: Duration) -> Instant {
        self.answered + believed(lease)
    }

    fn due(&self, lease: Duration) -> Instant {
        match self.asked {
            Some(_) => self.until(lease),
            None => (self.answered + lease / 3).min(self.until(lease)),
        }
    }
}

impl Bonds {
    pub fn new(lease: Duration) -> Self {
        Bonds { lease, bonds: HashMap::new() }
    }

    /// Notes a new bond.
    pub fn opened(&mut self, bond: Bond, sent: Instant) {
        self.bonds.insert(bond, State { answered: sent, asked: None, keys: BTreeSet::new() });
    }

    /// Notes that the server has answered a call sent then.
    pub fn answered(&mut self, bond: Bond, sent: Instant) {
        if let Some(state) = self.bonds.get_mut(&bond) {
            state.answered = state.answered.max(sent);
            state.asked.take_if(|asked| *asked <= sent);
        }
    }

    /// Notes that the client has a grip of that key by this bond. False: the bond has ended, or the client believes in it
    /// no longer.
    pub fn add(&mut self, bond: Bond, key: &Key, now: Instant) -> bool {
        let Some(state) = self.bonds.get_mut(&bond).filter(|state| state.until(self.lease) > now) else { return false };
        state.keys.insert(key.clone());
        true
    }

    /// The time for which the server keeps a session without a sign of life.
    pub fn lease(&self) -> Duration {
        self.lease
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

    /// The sending of the last sign of life that the server has answered.
    pub fn last_answer(&self, bond: Bond) -> Option<Instant> {
        self.bonds.get(&bond).map(|state| state.answered)
    }

    /// Tells whether a sign of life is overdue: it was asked for, and the server has not answered.
    pub fn is_unanswered(&self, bond: Bond, now: Instant) -> bool {
        self.bonds.get(&bond).is_none_or(|state| {
            let late = self.lease / 20;
            state.asked.is_some_and(|asked| asked + late < now)
        })
    }

    /// The time for which the client still believes in a bond.
    pub fn left(&self, bond: Bond, now: Instant) -> Duration {
        self.bonds.get(&bond).map_or(Duration::ZERO, |state| state.until(self.lease).saturating_duration_since(now))
    }

    /// The time of the next sign of life, or of the end of a belief.
    pub fn next(&self) -> Option<Instant> {
        let held = self.bonds.values().filter(|state| !state.keys.is_empty());
        held.map(|state| state.due(self.lease)).min()
    }

    /// The bonds in which the client believes no longer; true: the server owes an answer.
    pub fn over(&self, now: Instant) -> Vec<(Bond, bool)> {
        let is_over = |state: &State| !state.keys.is_empty() && state.until(self.lease) <= now;
        self.bonds
            .iter()
            .filter(|(_, state)| is_over(state))
            .map(|(bond, state)| (*bond, state.asked.is_some()))
            .collect()
    }

    /// The bonds for which a sign of life is due, and notes that it is asked for.
    pub fn take_due(&mut self, now: Instant) -> Vec<Bond> {
        let lease = self.lease;
        let is_due = |state: &State| {
            !state.keys.is_empty() && state.asked.is_none() && state.due(lease) <= now && state.until(lease) > now
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
        let mut bonds = Bonds::new(LEASE);
        bonds.opened(1, now);
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
        bonds.answered(1, now + SECOND);
        assert_eq!(bonds.left(1, now + 2 * SECOND), believed(LEASE) - SECOND);
        bonds.answered(1, now);
        assert_eq!(bonds.left(1, now + 2 * SECOND), believed(LEASE) - SECOND, "an older answer shortens nothing");
    }

    #[test]
    fn one_sign_of_life_is_under_way_each_third_of_the_lease_and_none_for_a_bond_without_grips() {
        let now = Instant::now();
        let mut bonds = bonds(now);
        assert_eq!(bonds.next(), Some(now + SECOND));
        assert!(bonds.take_due(now + SECOND / 2).is_empty());
        assert_eq!(bonds.take_due(now + SECOND), [1]);
        assert!(bonds.take_due(now + SECOND + SECOND / 2).is_empty(), "one at a time");
        bonds.answered(1, now + SECOND);
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
