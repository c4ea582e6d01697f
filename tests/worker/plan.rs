//! A lane's next attempt, rolled from its dice before any call, so that a seed fixes it.

use std::time::Duration;

use redlatch_tests::dice::Dice;
use redlatch_tests::ms;
use redlatch_tests::traffic::{self, Kind, LONGEST_LEASE, LONGEST_RED_LEASE, OWN_KEYS};

/// The temper of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Temper {
    /// Takes a lock and releases it at once.
    Fast,
    /// Holds a lock long enough to be renewed, or to lose it.
    Slow,
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct Plan {
    pub key: u32,
    /// The same owner as in other attempts of the lane, so that a late call of one meets the next; or an owner of this
    /// attempt's own.
    pub owner: u64,
    /// `None`: without a limit. Zero: a single try.
    pub wait: Option<Duration>,
    pub lease: Option<Duration>,
    pub stay: Duration,
    /// The pause before the next attempt if this one got nothing.
    pub pause: Duration,
    /// Takes the lock a second time while holding it.
    pub inner: bool,
    /// Reads the server's count of the holds, beside the code under test.
    pub count: bool,
    /// Drops the acquire's future after this time, if the lane has futures.
    pub drop_acquire: Option<Duration>,
    /// Drops the release's future after this time, if the lane has futures.
    pub drop_release: Option<Duration>,
    /// Drops the guard instead of releasing it.
    pub drop_guard: bool,
    /// How many permits; 0: the lane reads.
    pub takes: u64,
    /// Goes on reading after the write.
    pub downgrade: bool,
}

impl Plan {
    /// Rolls an attempt. `own`: in so many of a hundred attempts a hurried lane takes its own lock; otherwise the lock
    /// is of one of `kinds`.
    pub fn roll(dice: &mut Dice, kinds: &[Kind], temper: Temper, lane: u32, attempt: u64, own: u64) -> Self {
        let fast = temper == Temper::Fast;
        let kind = *dice.pick(kinds);
        let key = match temper {
            Temper::Fast if dice.percent(own) => OWN_KEYS + lane,
            Temper::Fast => *dice.pick(kind.fast_keys()),
            Temper::Slow => *dice.pick(kind.slow_keys()),
        };
        let kind = Kind::of(key);
        let wait = match dice.below(10) {
            // The permits of a killed process never come back to a semaphore.
            0..=4 if kind.excludes() => None,
            0..=4 => Some(ms(1000)),
            5..=7 => Some(dice.between(ms(1), ms(2000))),
            8 => Some(dice.between(ms(1), ms(20))),
            _ => Some(Duration::ZERO),
        };
        // All calls but the last wait for nothing, and the last one finds the latch open.
        let wait = if kind == Kind::Latch { Some(Duration::ZERO) } else { wait };
        let lease = match dice.percent(60) {
            true => None,
            false if kind == Kind::Red => Some(dice.between(ms(300), LONGEST_RED_LEASE)),
            false if fast => Some(LONGEST_LEASE),
            false => Some(dice.between(ms(300), ms(2000))),
        };
        let stay = match (temper, dice.below(10)) {
            (Temper::Fast, 1..) => Duration::ZERO,
            (Temper::Fast, _) => dice.between(ms(0), ms(2)),
            (Temper::Slow, 0..=5) => dice.between(ms(0), ms(20)),
            (Temper::Slow, 6..=8) => dice.between(ms(20), ms(300)),
            (Temper::Slow, _) => dice.between(ms(300), ms(2500)),
        };
        let inner = dice.percent(if fast { 5 } else { 20 }) && kind.is_reentrant();
        let reads = dice.percent(70);
        let downgrade = dice.percent(30);
        let takes = dice.below(2) + 1;
        let takes = match kind {
            Kind::ReadWrite => u64::from(!reads),
            Kind::Semaphore => takes,
            _ => 1,
        };
        let writes = kind == Kind::ReadWrite && takes > 0;
        let mut some = |share, most| dice.percent(share).then(|| dice.between(ms(0), most));
        let drop_acquire = some(if fast { 10 } else { 25 }, if fast { ms(20) } else { ms(500) });
        let drop_release = some(5, ms(2));
        let pause = dice.between(ms(0), ms(5));
        let count = dice.percent(if fast && key < OWN_KEYS { 5 } else { 50 });
        let drop_guard = dice.percent(10);
        let count = count && matches!(kind, Kind::Plain | Kind::Fenced | Kind::Fair);
        // The same owner may still have a hold that is released in the background. The server would count it too.
        // Beside it the owner could not wait to write, nor take a set with one of its values, nor take a lock that is
        // not reentrant.
        let owner = if count || writes || kind == Kind::Values || !kind.is_reentrant() || dice.percent(50) {
            (u64::from(lane) + 1) << 20 | attempt & 0xf_ffff
        } else {
            lane.into()
        };
        let downgrade = downgrade && writes;
        Plan {
            key,
            owner,
            wait,
            lease,
            stay,
            pause,
            inner,
            count,
            drop_acquire,
            drop_release,
            drop_guard,
            takes,
            downgrade,
        }
    }

    pub fn kind(&self) -> Kind {
        Kind::of(self.key)
    }

    pub fn name(&self) -> String {
        traffic::name(self.key)
    }

    /// The same owner's second acquire.
    pub fn inside(&self) -> Self {
        Plan { wait: Some(ms(2000)), inner: false, ..self.clone() }
    }

    /// The writer's own read lock, which it keeps after it has written.
    pub fn reading(&self) -> Self {
        Plan { takes: 0, ..self.inside() }
    }
}
