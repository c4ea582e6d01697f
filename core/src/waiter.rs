//! The one wait loop: try; listen, try, wait; until taken, too late, cancelled or failed. A state machine without I/O.

use std::time::{Duration, Instant};

use crate::error::Error;

/// How long a caller is willing to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    Once,
    Until(Instant),
    Forever,
}

#[derive(Debug)]
pub enum Event {
    /// Somebody else holds it for this long; `None`: without end.
    Busy {
        ttl: Option<Duration>,
    },
    /// The subscription is in place.
    Listening,
    /// A message, the end of the sleep, or a connection lost and found.
    Woken,
    Failed(Error),
    Cancelled,
}

#[derive(Debug)]
pub enum Action {
    Try,
    Listen,
    Sleep { until: Instant },
    Finish(End),
}

#[derive(Debug)]
pub enum End {
    NotNow,
    Failed(Error),
    Cancelled,
}

/// Longest sleep behind a key without an end.
const LONGEST: Duration = Duration::from_secs(30);
/// Longest sleep while nothing proves that messages arrive.
const UNPROVEN: Duration = Duration::from_secs(1);

pub struct Waiter {
    patience: Patience,
    listening: bool,
}

impl Waiter {
    /// `listening`: the subscription is in place already.
    pub fn new(patience: Patience, listening: bool) -> Self {
        Waiter { patience, listening }
    }

    /// What to do next. `proven`: the server has confirmed the subscription on the present connection.
    pub fn on(&mut self, event: Event, proven: bool, now: Instant) -> Action {
        let over = match self.patience {
            Patience::Once => true,
            Patience::Until(deadline) => deadline <= now,
            Patience::Forever => false,
        };
        match event {
            Event::Cancelled => Action::Finish(End::Cancelled),
            Event::Busy { .. } | Event::Woken | Event::Listening if over => Action::Finish(End::NotNow),
            Event::Failed(_) if over && self.patience != Patience::Once => Action::Finish(End::NotNow),
            Event::Failed(error) => Action::Finish(End::Failed(error)),
            Event::Busy { .. } if !self.listening => Action::Listen,
            Event::Listening => {
                self.listening = true;
                Action::Try
            }
            Event::Busy { ttl } => {
                let most = if proven { LONGEST } else { UNPROVEN };
                // The server's ms are rounded down: one more, or the try comes just before the end.
                let sleep = ttl.map_or(most, |ttl| (ttl + Duration::from_millis(1)).min(most));
                let until = match self.patience {
                    Patience::Until(deadline) => deadline.min(now + sleep),
                    _ => now + sleep,
                };
                Action::Sleep { until }
            }
            Event::Woken => Action::Try,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(ms: u64) -> Event {
        Event::Busy { ttl: Some(Duration::from_millis(ms)) }
    }

    #[test]
    fn it_listens_and_tries_again_before_it_sleeps() {
        let now = Instant::now();
        let mut waiter = Waiter::new(Patience::Forever, false);
        assert!(matches!(waiter.on(busy(500), false, now), Action::Listen));
        assert!(matches!(waiter.on(Event::Listening, true, now), Action::Try));
        assert!(matches!(waiter.on(busy(500), true, now), Action::Sleep { until: at } if at == now + Duration::from_millis(501)));
        assert!(matches!(waiter.on(Event::Woken, true, now), Action::Try));
    }

    #[test]
    fn no_sleep_is_longer_than_a_second_while_the_subscription_is_unproven() {
        let now = Instant::now();
        let mut waiter = Waiter::new(Patience::Forever, false);
        waiter.on(busy(9000), false, now);
        waiter.on(Event::Listening, false, now);
        assert!(matches!(waiter.on(busy(9000), false, now), Action::Sleep { until: at } if at == now + UNPROVEN));
        assert!(matches!(waiter.on(Event::Busy { ttl: None }, true, now), Action::Sleep { until: at } if at == now + LONGEST));
    }

    #[test]
    fn it_ends_at_its_deadline_and_a_single_try_never_waits() {
        let now = Instant::now();
        let mut waiter = Waiter::new(Patience::Until(now), false);
        assert!(matches!(waiter.on(busy(500), true, now), Action::Finish(End::NotNow)));
        assert!(matches!(Waiter::new(Patience::Once, false).on(busy(500), true, now), Action::Finish(End::NotNow)));
    }
}
