//! What a lane does next: rolled from its dice before anything is asked, so that a seed fixes it.

use std::time::Duration;

use redlatch_tests::dice::Dice;
use redlatch_tests::ms;
use redlatch_tests::traffic::{self, Kind, LONGEST_LEASE, LONGEST_RED_LEASE, OWN_KEYS};

/// What a lane is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Temper {
    /// Takes and gives back at once.
    Fast,
    /// Stays long enough to be renewed, or to lose it.
    Slow,
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct Plan {
    pub key: u32,
    /// The same as in other attempts of the lane, so that what comes late of one meets the next; or one of this attempt's own.
    pub owner: u64,
    /// `None`: for ever. Zero: tries once.
    pub wait: Option<Duration>,
    pub lease: Option<Duration>,
    pub stay: Duration,
    /// Waits so long before the next attempt when nothing came of this one.
    pub pause: Duration,
    /// Takes it a second time while it holds it.
    pub inner: bool,
    /// Asks the server beside the code under test how often it holds it.
    pub count: bool,
    /// Drops the future that acquires after this time, if the lane has futures.
    pub drop_acquire: Option<Duration>,
    /// Drops the future that releases after this time, likewise.
    pub drop_release: Option<Duration>,
    /// Drops the guard instead of releasing it.
    pub drop_guard: bool,
    /// How many permits; 0: it reads.
    pub takes: u64,
    /// Having written, it goes on reading.
    pub downgrade: bool,
}

impl Plan {
    /// `own`: so many times of a hundred a lane in a hurry takes the lock that is its own; else it is one of `kinds`.
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
            // What the dead had of a semaphore never comes back.
            0..=4 if kind.excludes() => None,
            0..=4 => Some(ms(1000)),
            5..=7 => Some(dice.between(ms(1), ms(2000))),
            8 => Some(dice.between(ms(1), ms(20))),
            _ => Some(Duration::ZERO),
        };
        // Its calls but the last wait for nothing, and the last finds it open.
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
        let (reads, downgrade, takes) = (dice.percent(70), dice.percent(30), dice.below(2) + 1);
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
        let (count, drop_guard) = (dice.percent(if fast && key < OWN_KEYS { 5 } else { 50 }), dice.percent(10));
        let count = count && matches!(kind, Kind::Plain | Kind::Fenced | Kind::Fair);
        // The same owner may still have a hold that is released in the background. It would be counted too; and beside it the owner could
        // not ask to write, nor take a set with one of its values, nor take a lock that is not reentrant.
        let owner = if count || writes || kind == Kind::Values || !kind.is_reentrant() || dice.percent(50) {
            (u64::from(lane) + 1) << 20 | attempt & 0xf_ffff
        } else {
            lane.into()
        };
        let downgrade = downgrade && writes;
        Plan { key, owner, wait, lease, stay, pause, inner, count, drop_acquire, drop_release, drop_guard, takes, downgrade }
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

    /// The writer's own reading, which goes on after it has written.
    pub fn reading(&self) -> Self {
        Plan { takes: 0, ..self.inside() }
    }
}
