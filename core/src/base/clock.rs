//! The clock for leases. It counts the time during which the machine is suspended, as the server's clock does; the
//! clocks of the standard library and of tokio's timers stand still meanwhile. Every file of the core that reads a
//! clock reads this one.

use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

mod alarm;

pub use alarm::Alarm;

/// The monotonic clock of macOS counts suspension. That of other systems may not, and they have no better one.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const CLOCK: ClockId = ClockId::Monotonic;

/// The difference that two clocks may show without a suspension: they are not read at the same time.
const SLEPT: Duration = Duration::from_secs(1);

/// A moment. A sum or a difference beyond the first or the last moment is that moment; the last one stands for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// The ns since the start of the machine.
    ns: u64,
}

impl Instant {
    pub const FIRST: Instant = Instant { ns: 0 };
    pub const NEVER: Instant = Instant { ns: u64::MAX };

    pub fn now() -> Self {
        Instant { ns: ns() }
    }

    /// The time from `earlier` to this moment; zero if `earlier` is not earlier.
    pub fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.ns.saturating_sub(earlier.ns))
    }

    pub fn saturating_duration_since(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }

    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant { ns: self.ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)) }
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, time: Duration) -> Instant {
        Instant { ns: self.ns.saturating_sub(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)) }
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// Detects that the machine was suspended.
pub struct Suspension {
    looked: Instant,
    standing: std::time::Instant,
}

impl Suspension {
    pub fn new() -> Self {
        Suspension { looked: Instant::now(), standing: std::time::Instant::now() }
    }

    /// Tells whether the machine was suspended since the last look.
    pub fn was(&mut self) -> bool {
        let before = std::mem::replace(self, Suspension::new());
        let counted = self.looked - before.looked;
        let stood = self.standing - before.standing;
        counted > stood + SLEPT
    }
}

/// For a timer that may fire later by the time of a suspension; [`Alarm`] does not fire late.
impl From<Instant> for tokio::time::Instant {
    fn from(at: Instant) -> Self {
        tokio::time::Instant::now() + at.duration_since(Instant::now())
    }
}

#[cfg(unix)]
fn ns() -> u64 {
    let time = clock_gettime(CLOCK);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(unix))]
fn ns() -> u64 {
    use std::sync::LazyLock;
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_sum_or_a_difference_ends_at_the_last_or_the_first_moment() {
        let now = Instant::now();
        let never = now + Duration::MAX;
        assert!(never > now + Duration::from_secs(100 * 365 * 24 * 3600));
        assert_eq!(never + Duration::MAX, never);
        assert_eq!(now - (now + Duration::from_secs(1)), Duration::ZERO);
        assert!(now - Duration::MAX < now);
        // No timer overflows either.
        let _ = tokio::time::Instant::from(never);
    }

    #[test]
    fn no_other_file_of_the_core_reads_the_clock_that_stands_still() {
        let mut wrong = Vec::new();
        look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut wrong);
        assert!(wrong.is_empty(), "write crate::base::clock::Instant in {wrong:?}");
    }

    /// Files of the API, because Rust programs use the standard clock; and files of this module.
    const ALLOWED: [&str; 4] = ["clock.rs", "alarm.rs", "guard.rs", "permit.rs"];

    fn look(dir: &Path, wrong: &mut Vec<String>) {
        for entry in dir.read_dir().expect("the sources are here") {
            let path = entry.expect("it can be read").path();
            let name = path.file_name().expect("it is in a folder").to_string_lossy().into_owned();
            if path.is_dir() {
                look(&path, wrong);
            } else if !ALLOWED.contains(&&*name) {
                let source = std::fs::read_to_string(&path).expect("it can be read");
                let reads = |line: &str| line.starts_with("use std::time::") && line.contains("Instant");
                if source.lines().any(|line| {
                    reads(line.trim()) || line.contains("std::time::Instant") || line.contains("SystemTime")
                }) {
                    wrong.push(path.display().to_string());
                }
            }
        }
    }
}
