//! A timer that rings in time even if the machine was suspended meanwhile.

use std::time::Duration;

use tokio::time::sleep_until;

use super::Instant;

/// The interval at which a task looks at the clock if the system has no timer: a timer of tokio that began before a
/// suspension fires later by that time.
const LOOK: Duration = Duration::from_millis(500);

/// A timer for one task, on the I/O thread.
pub struct Alarm {
    timer: Option<system::Timer>,
}

impl Alarm {
    pub fn new() -> Self {
        Alarm { timer: system::Timer::new() }
    }

    /// Returns at that time; with `None` never. Dropping the future turns the timer off.
    pub async fn ring(&self, at: Option<Instant>) {
        let Some(at) = at else { return std::future::pending().await };
        if let Some(timer) = &self.timer
            && timer.ring(at).await
        {
            return;
        }
        loop {
            let now = Instant::now();
            if now >= at {
                return;
            }
            sleep_until(at.min(now + LOOK).into()).await;
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::Instant;

    /// A timer of the system that rings at a moment of [`Instant`]'s own clock.
    pub struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        /// `None`: the system gives no timer.
        pub fn new() -> Option<Timer> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            // This is deprecated for types whose descriptor may be closed elsewhere, which is not so here; its
            // replacement is unsafe.
            #[allow(deprecated)]
            AsyncFd::with_interest(timer, Interest::READABLE).ok().map(Timer)
        }

        /// Waits, and tells whether it rang; if not, it cannot ring.
        pub async fn ring(&self, at: Instant) -> bool {
            let never = Timespec { tv_sec: 0, tv_nsec: 0 };
            let time = Timespec { tv_sec: (at.ns / 1_000_000_000) as i64, tv_nsec: (at.ns % 1_000_000_000) as _ };
            let once = Itimerspec { it_interval: never, it_value: time };
            while Instant::now() < at {
                if timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once).is_err() {
                    return false;
                }
                // The timer may still show its ring for an earlier request.
                match self.0.readable().await {
                    Ok(mut rang) => rang.clear_ready(),
                    Err(_) => return false,
                }
            }
            true
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use super::Instant;

    /// These systems have no such timer.
    pub enum Timer {}

    impl Timer {
        pub fn new() -> Option<Timer> {
            None
        }

        pub async fn ring(&self, _: Instant) -> bool {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks rings of an alarm, early and late ones, with one that is turned off in between.
    async fn rings_in_order(alarm: Alarm) {
        for ms in [0, 1, 20, 2] {
            let at = Instant::now() + Duration::from_millis(ms);
            alarm.ring(Some(at)).await;
            assert!(Instant::now() >= at, "it rang too early");
            let later = Instant::now() + Duration::from_secs(3600);
            for never in [None, Some(later), Some(later + Duration::MAX)] {
                let silent = tokio::time::timeout(Duration::from_millis(5), alarm.ring(never)).await;
                assert!(silent.is_err(), "it rang for {never:?}");
            }
        }
    }

    fn on_a_runtime(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
    }

    #[test]
    fn an_alarm_rings_in_time_with_a_timer_of_the_system_and_without() {
        on_a_runtime(async {
            let alarm = Alarm::new();
            assert!(alarm.timer.is_some() || !cfg!(target_os = "linux"), "Linux has such timers");
            rings_in_order(alarm).await;
            rings_in_order(Alarm { timer: None }).await;
        });
    }
}
