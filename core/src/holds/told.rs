//! Losses that a release was told of: a caller that still has the hold can ask for its loss for a while.

use std::collections::{HashMap, VecDeque};

use super::owned::Lost;
use super::{Instant, REMEMBER, Slot};

/// How many are remembered at most.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Told {
    losses: HashMap<u64, (Slot, Lost)>,
    /// In the order in which their releases were told.
    order: VecDeque<(Instant, u64)>,
}

impl Told {
    /// A release of that hold was told how it was lost.
    pub fn add(&mut self, number: u64, slot: &Slot, lost: Lost, now: Instant) {
        while self.order.front().is_some_and(|(told, _)| *told + REMEMBER <= now || self.order.len() >= MOST) {
            let oldest = self.order.pop_front();
            oldest.inspect(|(_, number)| drop(self.losses.remove(number)));
        }
        self.order.push_back((now, number));
        self.losses.insert(number, (slot.clone(), lost));
    }

    pub fn get(&self, number: u64) -> Option<&(Slot, Lost)> {
        self.losses.get(&number)
    }
}
