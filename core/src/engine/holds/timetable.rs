//! The time at which each owner is due for a check. Many owners may have the same time. An owner that leaves such a
//! time stays listed, and the watchdog passes over it later.

use std::collections::btree_map::{BTreeMap, Entry};

use crate::base::clock::Instant;

pub struct Timetable {
    places: BTreeMap<Instant, Vec<usize>>,
    /// The time in use: many calls in a row add to the same time.
    hand: Option<(Instant, Vec<usize>)>,
    /// The time until which the watchdog sleeps. While it is awake no time is earlier than this: it looks before it
    /// sleeps again.
    asleep_until: Instant,
    /// A caller must wake the watchdog.
    calls: bool,
}

impl Timetable {
    pub fn new() -> Self {
        Timetable { places: BTreeMap::new(), hand: None, asleep_until: Instant::NEVER, calls: false }
    }

    /// The watchdog goes to sleep until the first time in the table, which this gives; an earlier time that comes later
    /// wakes it. One step does both: no time can come in between.
    pub fn sleep(&mut self) -> Option<Instant> {
        let first = self.first();
        self.asleep_until = first.unwrap_or(Instant::NEVER);
        first
    }

    /// Notes that the watchdog is awake.
    pub fn wake(&mut self) {
        self.asleep_until = Instant::FIRST;
        self.calls = false;
    }

    /// Tells whether the watchdog sleeps too long; true once.
    pub fn take_call(&mut self) -> bool {
        std::mem::take(&mut self.calls)
    }

    pub fn add(&mut self, at: Instant, key: usize) {
        if at < self.asleep_until {
            self.asleep_until = at;
            self.calls = true;
        }
        if self.hand.as_ref().is_none_or(|(time, _)| *time != at) {
            let keys = self.places.remove(&at).unwrap_or_default();
            let before = self.hand.replace((at, keys));
            self.places.extend(before);
        }
        self.hand.as_mut().expect("it was put there").1.push(key);
    }

    /// Takes an owner's time back, and frees the place if no other owner has that time.
    pub fn leave(&mut self, at: Instant, key: usize) {
        if self.hand.as_ref().is_some_and(|(time, keys)| *time == at && keys.as_slice() == [key]) {
            self.hand = None;
        } else if let Entry::Occupied(place) = self.places.entry(at)
            && place.get().as_slice() == [key]
        {
            place.remove();
        }
    }

    /// The first time in the table. It may be that of an owner that has left.
    pub fn first(&self) -> Option<Instant> {
        let first = self.places.first_key_value().map(|(at, _)| *at);
        let hand = self.hand.as_ref().map(|(at, _)| *at);
        first.into_iter().chain(hand).min()
    }

    /// Takes the first owner whose time has come, with that time. The time in use stays in use: the next call mostly
    /// adds the owner to it again.
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
            // No owner has this time any more.
            if self.places.remove(&at).is_none() {
                self.hand = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// The steps of the watchdog and of callers in any order. Each step is whole: it runs under the lock of the holds.
    fn play(steps: &[(u8, u8)]) {
        let start = Instant::now();
        let mut table = Timetable::new();
        // The time of each key; the time until which the watchdog sleeps, unless it is awake; whether a call is on its
        // way to it.
        let mut noted = [None; 8];
        let mut asleep = Some(Instant::NEVER);
        let mut called = false;
        for &(step, pick) in steps {
            let key = usize::from(pick) % noted.len();
            match step % 5 {
                0 | 1 => {
                    let at = start + Duration::from_millis(u64::from(pick));
                    let before: Option<Instant> = noted[key].replace(at);
                    before.inspect(|before| table.leave(*before, key));
                    table.add(at, key);
                }
                2 => {
                    let before = noted[key].take();
                    before.inspect(|before| table.leave(*before, key));
                }
                3 => asleep = Some(table.sleep().unwrap_or(Instant::NEVER)),
                _ => {
                    table.wake();
                    (asleep, called) = (None, false);
                    let now = start + Duration::from_millis(u64::from(pick));
                    while let Some((at, key)) = table.take(now) {
                        if noted[key] == Some(at) {
                            noted[key] = None;
                        }
                    }
                }
            }
            // The thread that worked on the holds wakes the watchdog after it frees their lock.
            called |= table.take_call();
            let first = noted.iter().flatten().min();
            if let (Some(until), Some(first)) = (asleep, first) {
                assert!(called || until <= *first, "the watchdog sleeps for {:?} beyond what is due", until - *first);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn the_watchdog_never_sleeps_beyond_what_is_due_without_being_called(steps in prop::collection::vec(any::<(u8, u8)>(), 1..60)) {
            play(&steps);
        }
    }

    #[test]
    fn the_watchdog_is_called_once_for_an_earlier_time_and_never_while_it_is_awake() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut table = Timetable::new();
        table.add(start + 2 * second, 0);
        assert!(table.take_call(), "it sleeps without an end at first");
        table.wake();
        table.add(start + second, 1);
        assert!(!table.take_call(), "it is awake");
        assert_eq!(table.sleep(), Some(start + second));
        table.add(start + second, 2);
        assert!(!table.take_call(), "it wakes in time");
        table.add(start, 3);
        table.add(start, 4);
        assert!(table.take_call() && !table.take_call());
    }
}
