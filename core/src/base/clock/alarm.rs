//! A timer that rings in time although the machine was suspended meanwhile.

use std::time::Duration;

use tokio::time::sleep_until;

use super::Instant;

/// Without a timer of the system, a task looks at the clock in between: a timer of tokio's that began before a suspension lasts as much
/// longer.
const LOOK: Duration = Duration::from_millis(500);

/// For one task, on the I/O thread.
pub struct Alarm {
    timer: Option<system::Timer>,
}

impl Alarm {
    pub fn new() -> Self {
        Alarm { timer: system::Timer::new() }
    }

    /// Returns once that time has come, which is never for `None`. Dropping the future turns it off.
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

    use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::Instant;

    /// Rings at a moment of [`Instant`]'s own clock.
    pub struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        /// `None`: the system has none to give.
        pub fn new() -> Option<Timer> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Boottime, flags).ok()?;
            // Deprecated for types whose descriptor may be closed elsewhere, which this one's is not; what took its place is unsafe.
            #[allow(deprecated)]
            AsyncFd::with_interest(timer, Interest::READABLE).ok().map(Timer)
        }

        /// Tells whether it rang; else it cannot.
        pub async fn ring(&self, at: Instant) -> bool {
            let never = Timespec { tv_sec: 0, tv_nsec: 0 };
            let time = Timespec { tv_sec: (at.ns / 1_000_000_000) as i64, tv_nsec: (at.ns % 1_000_000_000) as _ };
            let once = Itimerspec { it_interval: never, it_value: time };
            while Instant::now() < at {
                if timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once).is_err() {
                    return false;
                }
                // It may show still that it rang for what was asked before.
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

    /// There is none.
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

    /// Rings of an alarm, early and late ones, and one that is turned off in between.
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
