//! The time until which the server surely keeps a session. A server that is not the leader tells the leader of its
//! sessions' signs of life only with its answers to the leader's pings, every half tick; a write that it forwards tells
//! nothing. So an answered write proves that the leader knows of the signs of life of half a tick before, no more. A state
//! machine without I/O.

use std::collections::VecDeque;
use std::time::Duration;

use crate::base::clock::Instant;

/// What one connection has proven.
pub struct Proof {
    /// The sending of the first packet, of which the leader heard at once.
    opened: Instant,
    /// The sending of later packets, far enough apart.
    sent: VecDeque<Instant>,
    /// At least half a tick of the server: a session lasts two ticks or more.
    lag: Duration,
    /// The time by which the session outlasts the belief of the client.
    spare: Duration,
}

impl Proof {
    /// `timeout`: that of the session; `lease`: the time for which the client believes in it.
    pub fn new(opened: Instant, timeout: Duration, lease: Duration) -> Self {
        Proof { opened, sent: VecDeque::new(), lag: timeout / 4, spare: timeout.saturating_sub(lease) }
    }

    /// Notes that a packet is sent.
    pub fn sends(&mut self, now: Instant) {
        if self.sent.back().is_none_or(|last| *last + self.lag / 16 <= now) {
            self.sent.push_back(now);
        }
        // A write may have been sent a while ago when its answer comes.
        while self.sent.get(1).is_some_and(|next| *next + self.lag * 3 <= now) {
            self.sent.pop_front();
        }
    }

    /// The moment from which a lease counts by the answer to a write that was sent at `sent`.
    pub fn from(&self, sent: Instant) -> Instant {
        let known = self.sent.iter().rev().find(|earlier| **earlier + self.lag <= sent);
        let proven = known.map_or(self.opened, |known| self.opened.max(*known));
        sent.min(proven + self.spare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_write_proves_the_signs_of_life_of_a_quarter_of_the_session_before() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 12 * SECOND, 12 * SECOND);
        assert_eq!(proof.from(opened + SECOND), opened, "the leader heard of the connection at once");
        for second in 1..=100 {
            proof.sends(opened + SECOND * second);
        }
        assert_eq!(proof.from(opened + SECOND * 100), opened + SECOND * 97);
        assert_eq!(proof.from(opened + SECOND * 95), opened + SECOND * 92, "its answer took a while");
        assert!(proof.sent.len() < 20, "{} are kept", proof.sent.len());
    }

    #[test]
    fn a_session_that_outlasts_the_belief_by_enough_is_believed_in_from_the_sending() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 12 * SECOND, 9 * SECOND);
        proof.sends(opened + SECOND);
        assert_eq!(proof.from(opened + 3 * SECOND), opened + 3 * SECOND);
        assert_eq!(proof.from(opened + 30 * SECOND), opened + 4 * SECOND, "no sign of life is known since");
    }
}
