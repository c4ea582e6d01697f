//! The server's clock as this client knows it, with an error of half a round trip.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::base::clock::Instant;

/// The longest time after its sending at which the server may carry out a call. If a call seems to come much longer
/// than this before its end, the server's clock was set back, see `_late.lua`.
const LONGEST: Duration = Duration::from_secs(20);
/// Client and server both cut their times to whole ms.
const ROUNDING: u64 = 3;

pub struct Clock {
    base: Instant,
    /// The server's ms minus the ms since `base`.
    offset: AtomicI64,
    /// The possible error in ms: half of the round trip in which the client learnt the time, and the rounding.
    error: AtomicU64,
}

impl Clock {
    pub fn new() -> Self {
        Clock { base: Instant::now(), offset: AtomicI64::new(0), error: AtomicU64::new(0) }
    }

    /// Notes the time of the server's clock, asked at `asked` and answered now.
    pub fn learn(&self, server_ms: i64, asked: Instant) {
        let middle = asked + asked.elapsed() / 2;
        self.error.store(asked.elapsed().as_millis() as u64 / 2 + ROUNDING, Relaxed);
        self.offset.store(server_ms.saturating_sub(middle.duration_since(self.base).as_millis() as i64), Relaxed);
    }

    /// The longest time by which the server's clock may be later than the client believes.
    pub fn error(&self) -> Duration {
        Duration::from_millis(self.error.load(Relaxed))
    }

    /// The server's time in ms, `ahead` of now, but no more than [`LONGEST`].
    pub fn server_ms(&self, ahead: Duration) -> u64 {
        ((self.base.elapsed() + ahead.min(LONGEST)).as_millis() as i64).saturating_add(self.offset.load(Relaxed)).max(0)
            as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_is_to_be_carried_out_so_late_that_the_server_takes_it_for_one_from_before_its_clock_was_set_back() {
        let clock = Clock::new();
        clock.learn(1_000_000, Instant::now());
        let ahead = |seconds| clock.server_ms(Duration::from_secs(seconds));
        assert!((1_003_000..1_020_000).contains(&ahead(3)), "{}", ahead(3));
        assert!(ahead(3600) < 1_000_000 + 30_000, "{} is refused by _late.lua", ahead(3600));
    }
}
