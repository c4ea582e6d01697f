//! Who wants to be looked at when. Made for many at the same time: a place that is given up there is only passed over later.

use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Instant;

#[derive(Default)]
pub struct Timetable(BTreeMap<Instant, Vec<usize>>);

impl Timetable {
    pub fn add(&mut self, at: Instant, key: usize) {
        self.0.entry(at).or_default().push(key);
    }

    /// Somebody does not want to be looked at then; the place is freed if nobody else has it.
    pub fn leave(&mut self, at: Instant, key: usize) {
        if let Entry::Occupied(place) = self.0.entry(at)
            && place.get().as_slice() == [key]
        {
            place.remove();
        }
    }

    /// The next time for anybody, or for somebody who has left.
    pub fn first(&self) -> Option<Instant> {
        self.0.first_key_value().map(|(at, _)| *at)
    }

    /// The next of those whose time has come, and that time.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, usize)> {
        loop {
            let mut place = self.0.first_entry().filter(|place| *place.key() <= now)?;
            match place.get_mut().pop() {
                Some(key) => return Some((*place.key(), key)),
                None => drop(place.remove()),
            }
        }
    }
}
