//! Random numbers that follow from a seed, for schedules that can be replayed.

use std::time::Duration;

/// SplitMix64: small, quick, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice for one purpose. The same seed and purpose give the same numbers.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut dice = Dice(seed ^ purpose.wrapping_mul(0xd6e8_feb8_6659_fd93));
        dice.roll();
        dice
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    /// True in `share` of a hundred cases.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A time between the two, in whole microseconds.
    pub fn between(&mut self, least: Duration, most: Duration) -> Duration {
        least + Duration::from_micros(self.below((most.saturating_sub(least)).as_micros() as u64 + 1))
    }
}
