//! The clock of deadlines that cross processes. It counts the time of a suspended machine, as the clocks of servers do.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The time since the start of the machine.
pub fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The same moment on this clock.
pub fn at(moment: Instant) -> Duration {
    now() + moment.saturating_duration_since(Instant::now())
}
