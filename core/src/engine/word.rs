//! The last proof that a line has of its lock being taken. A wait that ends in vain is "not now" only with such a
//! proof; without one the caller gets an error that says so.

use std::time::Duration;

use crate::base::clock::Instant;

/// The time that a slow server has for an answer, however short the wait of the caller. So a proof that is hardly older
/// than a wait counts as part of it. A proof that has only just ended still counts too: a newer one may be on its way.
pub const AN_ANSWER: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug)]
pub struct Word {
    said: Instant,
    /// The lock is taken until then, unless its holder releases it before.
    until: Instant,
}

impl Word {
    /// A proof from `now`: the lock stays taken for so long.
    pub fn taken_for(lasts: Duration, now: Instant) -> Self {
        Word { said: now, until: now + lasts }
    }

    /// Notes a change: the lock may be free now.
    pub fn end(&mut self, now: Instant) {
        self.until = self.until.min(now);
    }

    /// Tells whether a waiter that came at `came` has heard that the lock is taken, and nothing since says that it may
    /// be free.
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
