//! What a line was last told of its lock: that it is taken. A wait that ends in vain is "not now" by such a word alone; without one the
//! caller is told that the server gave none.

use std::time::Duration;

use crate::clock::Instant;

/// A newer word may be under way for so long: one that is hardly older than a wait was said during it, and one that has only just ended
/// still counts.
pub const ROUND_TRIP: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
pub struct Word {
    said: Instant,
    /// The lock is taken until then, if it is not let go of before.
    until: Instant,
}

impl Word {
    /// Said at `now`: the lock stays taken for so long.
    pub fn taken_for(lasts: Duration, now: Instant) -> Self {
        Word { said: now, until: now + lasts }
    }

    /// Something has changed since.
    pub fn end(&mut self, now: Instant) {
        self.until = self.until.min(now);
    }

    /// Whether a waiter that came at `came` has been told that the lock is taken, and nothing since says that it may be free.
    pub fn stands(&self, came: Instant, now: Instant) -> bool {
        self.said + ROUND_TRIP >= came && self.until + ROUND_TRIP >= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_word_counts_for_waiters_that_were_there_until_the_lease_that_it_tells_of_is_over() {
        let now = Instant::now();
        let word = Word::taken_for(2 * SECOND, now);
        assert!(word.stands(now - SECOND, now + SECOND));
        assert!(word.stands(now, now + 2 * SECOND + ROUND_TRIP));
        assert!(!word.stands(now, now + 2 * SECOND + 2 * ROUND_TRIP), "the lease is over");
    }

    #[test]
    fn a_word_from_before_a_wait_does_not_count() {
        let now = Instant::now();
        let word = Word::taken_for(9 * SECOND, now);
        assert!(word.stands(now + ROUND_TRIP, now + SECOND), "a round trip is nothing");
        assert!(!word.stands(now + 2 * ROUND_TRIP, now + SECOND));
    }

    #[test]
    fn a_change_ends_a_word_and_never_makes_it_last_longer() {
        let now = Instant::now();
        let mut word = Word::taken_for(9 * SECOND, now);
        word.end(now + SECOND);
        word.end(now + 2 * SECOND);
        assert!(word.stands(now, now + SECOND + ROUND_TRIP) && !word.stands(now, now + 2 * SECOND));
    }
}
