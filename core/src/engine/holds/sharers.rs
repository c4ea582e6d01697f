//! The owners to which a change of one key may matter, in two lists: those that hold something, and those that have lost all that
//! they held. The client remembers losses for long, so the second list may become very long, and no call goes through it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Holds, Owned};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::traits::counted_as;

/// A field of the server: the kind by which it is counted, and the owner.
type Field = (&'static str, i64);

fn field(grip: &Claim) -> Field {
    (counted_as(grip.kind), grip.owner)
}

/// The keys of owners.
pub type Keys = SmallVec<[usize; 2]>;

#[derive(Default)]
pub struct Sharers {
    /// They hold something, or have left something to the server at the end of the client.
    pub holders: Keys,
    lapsed: Keys,
    /// This client has changed the key, and none of them has asked the server since: each will.
    pub all_ask: bool,
    /// The owner of the field that the server has given this client last.
    pub granted: i64,
    /// Fields that the server may keep until then by a call of an owner that held through them. The owner of such a field does
    /// not know of that call, and may take the lock anew.
    lent: SmallVec<[(Field, Instant); 1]>,
    /// The owner that this client has let in last by a kind that lets no other in: its key, and the number of its first hold.
    pub exclusive: Option<(usize, u64)>,
}

impl Sharers {
    /// The owner, if there is no other one.
    pub fn only(&self) -> Option<usize> {
        match (self.holders.as_slice(), self.lapsed.as_slice()) {
            ([key], []) | ([], [key]) => Some(*key),
            _ => None,
        }
    }

    /// Notes that the server may keep the field of this grip until then, by a call of another owner.
    pub fn outlast(&mut self, grip: &Claim, end: Instant) {
        let end = self.outlasting(grip).map_or(end, |known| known.max(end));
        self.freed(grip);
        self.lent.push((field(grip), end));
    }

    /// See [`Sharers::outlast`].
    pub fn outlasting(&self, grip: &Claim) -> Option<Instant> {
        self.lent.iter().find(|(of, _)| *of == field(grip)).map(|(_, end)| *end)
    }

    /// Notes that the server has that field no more.
    pub fn freed(&mut self, grip: &Claim) {
        self.lent.retain(|(of, _)| *of != field(grip));
    }

    pub fn has_lapsed(&self) -> bool {
        !self.lapsed.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.holders.is_empty() && self.lapsed.is_empty()
    }

    fn list(&mut self, is_lapsed: bool) -> &mut Keys {
        if is_lapsed { &mut self.lapsed } else { &mut self.holders }
    }

    /// Adds an owner to a list. Gives its place.
    fn add(&mut self, is_lapsed: bool, key: usize) -> usize {
        let list = self.list(is_lapsed);
        list.push(key);
        list.len() - 1
    }
}

impl Holds {
    /// Puts a new owner into the list of holders of each of its names.
    pub(super) fn enlist(&mut self, key: usize) {
        let owned = &mut self.owned[key];
        let mut places = [0; 2];
        for (place, name) in places.iter_mut().zip(owned.names()) {
            *place = self.names.entry(name.clone()).or_default().add(false, key);
        }
        owned.places = places;
    }

    /// Moves an owner between the lists of its names, if it has just lost the last of what it held, or holds something again.
    pub(super) fn relist(&mut self, key: usize) {
        let owned = &self.owned[key];
        let is_lapsed = owned.has_lost_all();
        if is_lapsed == owned.is_lapsed {
            return;
        }
        let names: SmallVec<[Arc<str>; 2]> = owned.names().cloned().collect();
        let mut places = owned.places;
        for (place, name) in places.iter_mut().zip(&names) {
            self.take_off(name, !is_lapsed, *place);
            *place = self.names.get_mut(name).map_or(0, |sharers| sharers.add(is_lapsed, key));
        }
        let owned = &mut self.owned[key];
        owned.is_lapsed = is_lapsed;
        owned.places = places;
    }

    /// Takes an owner that the client has just forgotten off all lists.
    pub(super) fn delist(&mut self, owned: &Owned) {
        for (name, place) in owned.names().zip(owned.places) {
            self.take_off(name, owned.is_lapsed, place);
            if self.names.get(name).is_some_and(Sharers::is_empty) {
                self.names.remove(name);
            }
        }
    }

    /// Removes the owner at that place of a list. The last one takes the place.
    fn take_off(&mut self, name: &Arc<str>, is_lapsed: bool, place: usize) {
        let Some(sharers) = self.names.get_mut(name) else { return };
        let list = sharers.list(is_lapsed);
        list.swap_remove(place);
        let Some(last) = list.get(place) else { return };
        let last = &mut self.owned[*last];
        let which = last.names().position(|other| other == name).unwrap_or_default();
        last.places[which] = place;
    }

    /// Checks that each owner stands where it should.
    #[cfg(test)]
    pub(super) fn check_lists(&self) {
        let mut listed = 0;
        assert_eq!(self.figures.held, self.owned.iter().map(|(_, owned)| u64::from(owned.live())).sum::<u64>());
        for (key, owned) in &self.owned {
            assert_eq!(owned.is_lapsed, owned.has_lost_all(), "{:?}", owned.claim);
            for (name, place) in owned.names().zip(owned.places) {
                let sharers = &self.names[name];
                let list = if owned.is_lapsed { &sharers.lapsed } else { &sharers.holders };
                assert_eq!(list.get(place), Some(&key), "{:?}", owned.claim);
                listed += 1;
            }
        }
        assert_eq!(
            listed,
            self.names.values().map(|sharers| sharers.holders.len() + sharers.lapsed.len()).sum::<usize>()
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::base::clock::Instant;
    use crate::engine::claim::Claim;
    use crate::engine::holds::{Holds, Meant, REMEMBER};
    use crate::request::error::LostReason;

    const SECOND: Duration = Duration::from_secs(1);

    fn claim(kind: &'static str, owner: i64) -> Claim {
        Claim::new(kind, "n".into(), owner)
    }

    #[test]
    fn owners_that_have_lost_all_stand_among_no_holders_until_they_hold_something_again() {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), SECOND);
        let shared = || Some("shared".to_owned());
        let all: Vec<_> = (0..100).map(|owner| claim("read", owner)).collect();
        let numbers: Vec<_> = all.iter().map(|claim| holds.taken(claim, shared, None, 0, start, start)).collect();
        for claim in all.iter().step_by(2) {
            holds.lost(claim, LostReason::Deleted, start);
            holds.check_lists();
        }
        for name in ["n", "shared"] {
            assert_eq!(holds.names[name].holders.len(), 50, "{name}");
            assert_eq!(holds.names[name].lapsed.len(), 50, "{name}");
        }
        let again = holds.taken(&all[0], shared, None, 0, start, start);
        holds.check_lists();
        assert_eq!(holds.names["n"].holders.len(), 51);
        // Its loss is told all the same, and the new hold stays.
        assert!(holds.leaving(&all[0], Meant::Given(numbers[0]), start).is_err());
        assert!(holds.look(again, start).is_held());
        holds.released(&all[0], again, true, start);
        for (claim, number) in all.iter().zip(&numbers).skip(1).step_by(2) {
            holds.released(claim, *number, true, start);
            holds.check_lists();
        }
        assert_eq!((holds.names["n"].holders.len(), holds.names["n"].lapsed.len()), (0, 49));
        holds.due(start + 2 * REMEMBER, 1000, |_, _| true);
        assert!(holds.names.is_empty() && holds.owned.is_empty());
    }

    #[test]
    fn what_a_client_leaves_to_the_server_at_its_end_is_among_the_holders() {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), SECOND);
        holds.taken(&claim("plain", 1), || None, None, 0, start, start);
        holds.close(start);
        holds.check_lists();
        assert_eq!(holds.kept_under(&claim("plain", 1), start), 1);
        holds.freed(&claim("plain", 1));
        holds.check_lists();
        assert_eq!(holds.kept_under(&claim("plain", 1), start), 0);
    }
}
