//! What a line was last told of its lock: that it is taken. A wait that ends in vain is "not now" by such a word alone; without one the
//! caller is told that the server gave none.

use std::time::Duration;

use crate::base::clock::Instant;

/// A server that is slow is not one that is down: it has so long for an answer, however short its caller waits. So a word that is hardly
/// older than a wait was said during it, and one that has only just ended still counts: a newer one may be under way.
pub const AN_ANSWER: Duration = Duration::from_millis(250);

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
        self.said + AN_ANSWER >= came && self.until + AN_ANSWER >= now
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
        assert!(word.stands(now, now + 2 * SECOND + AN_ANSWER));
        assert!(!word.stands(now, now + 2 * SECOND + 2 * AN_ANSWER), "the lease is over");
    }

    #[test]
    fn a_word_from_before_a_wait_does_not_count() {
        let now = Instant::now();
        let word = Word::taken_for(9 * SECOND, now);
        assert!(word.stands(now + AN_ANSWER, now + SECOND), "it may still be under way");
        assert!(!word.stands(now + 2 * AN_ANSWER, now + SECOND));
    }

    #[test]
    fn a_change_ends_a_word_and_never_makes_it_last_longer() {
        let now = Instant::now();
        let mut word = Word::taken_for(9 * SECOND, now);
        word.end(now + SECOND);
        word.end(now + 2 * SECOND);
        assert!(word.stands(now, now + SECOND + AN_ANSWER) && !word.stands(now, now + 2 * SECOND));
    }
}
