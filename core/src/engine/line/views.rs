//! A turn as engines see it that hand every lock on inside.

use super::{CHAIN, Line, PASSES, Place};
use crate::base::clock::Instant;

impl<W> Line<W> {
    /// The first waiter without a call in flight.
    pub fn first(&self) -> Option<&Place<W>> {
        self.waiting.front()
    }

    /// Tells whether a release may hand on inside the client a lock that this client has had from the server since `since`,
    /// as [`Line::pass`] would.
    pub fn turn_lasts(&self, since: Instant, now: Instant) -> bool {
        let (served, since) = self.chain.unwrap_or((0, since));
        let took = now.saturating_duration_since(since);
        took < self.turn || (took < CHAIN && served < PASSES && !self.turn.is_zero())
    }

    /// Notes that the lock goes back to the server: the next turn begins anew.
    pub fn end_turn(&mut self) {
        self.chain = None;
    }
}
