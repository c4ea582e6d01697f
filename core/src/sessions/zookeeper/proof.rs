//! The time until which the server surely keeps a session. A server that is not the leader tells the leader of its
//! sessions' signs of life only with its answers to the leader's pings, every half tick; a write that it forwards tells
//! nothing. So an answered write proves that the leader knows of the signs of life that the server had half a tick before,
//! no more. A state machine without I/O.

use std::collections::VecDeque;
use std::time::Duration;

use crate::base::clock::Instant;

/// The signs of life of which one connection has proven that the leader knows.
pub struct Proof {
    /// The sending of the first packet, of which the leader heard at once.
    opened: Instant,
    /// The signs of life that the server has answered, far enough apart.
    answered: VecDeque<Sign>,
    /// More than half a tick of the server: a session lasts two ticks or more, and the leader's pings may come a little late.
    lag: Duration,
    /// The time by which the session outlasts the belief of the client.
    spare: Duration,
}

struct Sign {
    sent: Instant,
    /// The server had it by then.
    came: Instant,
}

impl Proof {
    /// `timeout`: that of the session; `lease`: the time for which the client believes in it.
    pub fn new(opened: Instant, timeout: Duration, lease: Duration) -> Self {
        // A twentieth of the session more than a quarter, for pings that come late. With a third, each renewal would just miss
        // the one before it.
        let lag = timeout * 3 / 10;
        Proof { opened, answered: VecDeque::new(), lag, spare: timeout.saturating_sub(lease) }
    }

    /// Notes the answer to a packet that was sent then.
    pub fn answers(&mut self, sent: Instant, now: Instant) {
        if self.answered.back().is_none_or(|last| last.sent + self.lag / 16 <= sent) {
            self.answered.push_back(Sign { sent, came: now });
        }
        // A write may have been sent a while ago when its answer comes.
        while self.answered.get(1).is_some_and(|next| next.came + self.lag * 3 <= now) {
            self.answered.pop_front();
        }
    }

    /// The moment from which a lease counts by the answer to a write that was sent at `sent`.
    pub fn from(&self, sent: Instant) -> Instant {
        let known = self.answered.iter().rev().find(|sign| sign.came + self.lag <= sent);
        let proven = known.map_or(self.opened, |known| self.opened.max(known.sent));
        sent.min(proven + self.spare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn a_write_proves_the_signs_of_life_that_were_answered_a_third_of_the_session_before() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 12 * SECOND, 12 * SECOND);
        assert_eq!(proof.from(opened + SECOND), opened, "the leader heard of the connection at once");
        for second in 1..=100 {
            let sent = opened + SECOND * second;
            proof.answers(sent, sent + MOMENT);
        }
        assert_eq!(proof.from(opened + SECOND * 100), opened + SECOND * 96);
        assert_eq!(proof.from(opened + SECOND * 95), opened + SECOND * 91, "its answer took a while");
        assert!(proof.answered.len() < 20, "{} are kept", proof.answered.len());
    }

    /// The leader's pings are no clockwork, and a session may be as short as two ticks.
    #[test]
    fn a_sign_of_life_of_just_half_a_tick_before_proves_nothing() {
        let opened = Instant::now();
        let tick = SECOND;
        let session = 2 * tick;
        let mut proof = Proof::new(opened, session, session);
        let sign = opened + SECOND;
        proof.answers(sign, sign);
        assert_eq!(proof.from(sign + tick / 2), opened);
        assert_eq!(proof.from(sign + tick / 2 + tick / 20), opened, "a ping that comes late");
        assert_eq!(proof.from(sign + tick / 2 + tick / 10), sign);
    }

    /// A sign of life may reach the server together with the write.
    #[test]
    fn a_sign_of_life_counts_from_its_sending_when_its_answer_has_come_long_enough_before() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 10 * SECOND, 10 * SECOND);
        let sign = opened + SECOND;
        proof.answers(sign, sign + 4 * SECOND);
        assert_eq!(proof.from(sign + 4 * SECOND), opened);
        assert_eq!(proof.from(sign + 7 * SECOND), sign);
    }

    #[test]
    fn the_renewal_a_third_of_the_session_before_is_a_sign_of_life_that_counts() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 30 * SECOND, 30 * SECOND);
        proof.answers(opened + SECOND, opened + SECOND + SECOND / 2);
        assert_eq!(proof.from(opened + 11 * SECOND), opened + SECOND);
    }

    #[test]
    fn a_session_that_outlasts_the_belief_by_enough_is_believed_in_from_the_sending() {
        let opened = Instant::now();
        let mut proof = Proof::new(opened, 12 * SECOND, 8 * SECOND);
        proof.answers(opened + SECOND, opened + SECOND);
        assert_eq!(proof.from(opened + 4 * SECOND), opened + 4 * SECOND);
        assert_eq!(proof.from(opened + 30 * SECOND), opened + 5 * SECOND, "no sign of life is known since");
    }
}
