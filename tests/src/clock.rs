//! The machine's monotonic clock in nanoseconds. All processes share it, so that their histories can be compared.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since some moment before this machine's first process.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The same clock's reading at an [`Instant`].
pub fn at(instant: Instant) -> u64 {
    let now = now();
    let here = Instant::now();
    match instant.checked_duration_since(here) {
        Some(ahead) => now + ns(ahead),
        None => now.saturating_sub(ns(here - instant)),
    }
}

/// The [`Instant`] of a reading that is not in the future.
pub fn instant(reading: u64) -> Instant {
    let now = now();
    let here = Instant::now();
    here.checked_sub(Duration::from_nanos(now.saturating_sub(reading))).unwrap_or(here)
}

pub fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
