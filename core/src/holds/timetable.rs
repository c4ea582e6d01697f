//! Who wants to be looked at when. Made for many at the same time: a place that is given up there is only passed over later.

use std::collections::btree_map::{BTreeMap, Entry};

use crate::clock::Instant;

#[derive(Default)]
pub struct Timetable {
    places: BTreeMap<Instant, Vec<usize>>,
    /// One of them at hand: many in a row are added to the same.
    hand: Option<(Instant, Vec<usize>)>,
}

impl Timetable {
    pub fn add(&mut self, at: Instant, key: usize) {
        if self.hand.as_ref().is_none_or(|(time, _)| *time != at) {
            let keys = self.places.remove(&at).unwrap_or_default();
            let before = self.hand.replace((at, keys));
            self.places.extend(before);
        }
        self.hand.as_mut().expect("it was put there").1.push(key);
    }

    /// Somebody does not want to be looked at then; the place is freed if nobody else has it.
    pub fn leave(&mut self, at: Instant, key: usize) {
        if self.hand.as_ref().is_some_and(|(time, keys)| *time == at && keys.as_slice() == [key]) {
            self.hand = None;
        } else if let Entry::Occupied(place) = self.places.entry(at)
            && place.get().as_slice() == [key]
        {
            place.remove();
        }
    }

    /// The next time for anybody, or for somebody who has left.
    pub fn first(&self) -> Option<Instant> {
        let (first, hand) = (self.places.first_key_value().map(|(at, _)| *at), self.hand.as_ref().map(|(at, _)| *at));
        first.into_iter().chain(hand).min()
    }

    /// The next of those whose time has come, and that time. What is at hand stays there: who is taken is mostly added to it next.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, usize)> {
        loop {
            let at = self.first().filter(|at| *at <= now)?;
            let taken = match &mut self.hand {
                Some((time, keys)) if *time == at => keys.pop(),
                _ => self.places.get_mut(&at).and_then(Vec::pop),
            };
            if let Some(key) = taken {
                return Some((at, key));
            }
            // Nobody wants to be looked at then any more.
            if self.places.remove(&at).is_none() {
                self.hand = None;
            }
        }
    }
}
