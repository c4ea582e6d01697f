//! When the command must end because the server is silent: times before the end of the client's belief in its lock.

use std::time::Duration;

/// The most time that is left for the end of a killed command.
const MARGIN: Duration = Duration::from_secs(1);

/// How a server keeps a hold alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// By a lease: two thirds of the belief are left before each renewal.
    Lease,
    /// By a session, of which a sign of life is proven only later: of MariaDB a third of the belief is left before each renewal, of
    /// ZooKeeper a fifth.
    Session,
}

/// The times of one hold. They scale with its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margins {
    whole: Duration,
    life: Life,
}

impl Margins {
    /// Of a hold that the client believes in for so long from a renewal.
    pub fn new(whole: Duration, life: Life) -> Self {
        Margins { whole, life }
    }

    /// The same if more is left than ever before.
    pub fn at_least(self, left: Duration) -> Self {
        Margins { whole: self.whole.max(left), ..self }
    }

    /// A command that began with less left might be asked to end before the next renewal. Between two renewals of a lease more is left; a
    /// session cannot be renewed by a call.
    pub fn begin(self) -> Duration {
        match self.life {
            Life::Lease => self.whole / 2,
            Life::Session => Duration::ZERO,
        }
    }

    /// The command is asked to end when so much is left: of a lease two renewals have failed by then.
    pub fn term(self) -> Duration {
        match self.life {
            Life::Lease => self.whole / 3,
            Life::Session => self.whole / 8,
        }
    }

    /// The command is killed when so much is left.
    pub fn kill(self) -> Duration {
        MARGIN.min(match self.life {
            Life::Lease => self.whole / 5,
            Life::Session => self.whole / 12,
        })
    }

    /// The warden kills it when so much is left: later, so that it has something to do only if this process stands still.
    pub fn warden(self) -> Duration {
        self.kill() / 2
    }

    /// The time without an answer, if so much is left.
    pub fn silence(self, left: Duration) -> Duration {
        self.whole.saturating_sub(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_asked_at_two_thirds_and_killed_one_second_before_the_end() {
        let margins = Margins::new(Duration::from_secs(30), Life::Lease);
        assert_eq!(margins.term(), Duration::from_secs(10));
        assert_eq!(margins.kill(), Duration::from_secs(1));
        assert_eq!(margins.silence(margins.term()), Duration::from_secs(20));
    }

    #[test]
    fn with_a_session_the_command_is_asked_when_less_is_left_than_before_any_renewal() {
        let margins = Margins::new(Duration::from_secs(30), Life::Session);
        assert_eq!(margins.term(), Duration::from_millis(3_750));
        assert_eq!(margins.kill(), Duration::from_secs(1));
    }

    #[test]
    fn with_every_lease_it_is_asked_first_then_killed_then_killed_by_the_warden() {
        for ms in [980, 1_500, 3_000, 5_000, 30_000, 86_400_000] {
            for (life, least) in [(Life::Lease, 90), (Life::Session, 40)] {
                let margins = Margins::new(Duration::from_millis(ms), life);
                assert!(margins.term() > margins.kill(), "{ms} ms");
                assert!(margins.kill() > margins.warden(), "{ms} ms");
                assert!(margins.warden() >= Duration::from_millis(least), "{ms} ms");
            }
        }
    }
}
