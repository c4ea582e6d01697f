//! The server's clock, as far as this side knows it: good to the time of half a round trip.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub struct Clock {
    base: Instant,
    /// Server ms minus ms since `base`.
    offset: AtomicI64,
}

impl Clock {
    pub fn new() -> Self {
        Clock { base: Instant::now(), offset: AtomicI64::new(0) }
    }

    /// Takes over what the server's clock showed, asked at `asked` and answered now.
    pub fn learn(&self, server_ms: i64, asked: Instant) {
        let middle = asked + asked.elapsed() / 2;
        self.offset.store(server_ms - middle.duration_since(self.base).as_millis() as i64, Relaxed);
    }

    /// The server's time in ms, `ahead` of now.
    pub fn server_ms(&self, ahead: Duration) -> u64 {
        ((self.base.elapsed() + ahead).as_millis() as i64 + self.offset.load(Relaxed)).max(0) as u64
    }
}
