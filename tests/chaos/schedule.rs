//! The schedule of the faults. A seed fixes every episode, on every machine and at every time.

use std::time::Duration;

use redlatch_tests::dice::Dice;

use crate::quorum::{Ill, SERVERS};
use crate::verb::Verb;
use redlatch_tests::{Direction, ms};

/// How many processes there are.
pub const SLOTS: usize = 4;

/// Verbs that belong together, so that a violation can be blamed on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    Calm,
    Kill,
    Stop,
    Cut,
    Replies,
    Silence,
    Subscribers,
    Scripts,
    Slow,
    Operator,
    Restart,
    Full,
    Minority,
    Everything,
}

const ALL: [Family; 15] = [
    Family::Calm,
    Family::Kill,
    Family::Stop,
    Family::Cut,
    Family::Replies,
    Family::Replies,
    Family::Silence,
    Family::Subscribers,
    Family::Scripts,
    Family::Slow,
    Family::Operator,
    Family::Restart,
    Family::Full,
    Family::Minority,
    Family::Everything,
];

/// The number of episodes in which every family has its turn.
pub const ROUND: usize = ALL.len();

/// A time of faults. At its end all faults are healed and all processes rest.
pub struct Episode {
    pub family: Family,
    /// The verbs, each after a quiet time.
    pub steps: Vec<(Duration, Verb)>,
    /// The least time of the episode. Its steps may take longer.
    pub least: Duration,
    /// In so many of a hundred attempts a hurried lane takes a lock of its own.
    pub own: u64,
}

/// [`Episode::own`] of most episodes.
pub const OWN: u64 = 5;

/// The episode with this number and about this length. Its family is the next in turn, or `only`.
pub fn episode(seed: u64, number: usize, length: Duration, only: Option<Family>) -> Episode {
    let family = only.unwrap_or_else(|| family(seed, number));
    let mut dice = Dice::new(seed, number as u64);
    let mut steps = Vec::new();
    let mut left = if family == Family::Calm { Duration::ZERO } else { length };
    loop {
        let gap = dice.between(ms(20), longest_gap(family));
        let verb = verb(&mut dice, family);
        let takes = gap + verb.time();
        if takes > left {
            break;
        }
        left -= takes;
        steps.push((gap, verb));
    }
    // One reply in doubt stops all waiters for its lock, so many replies at once need many locks.
    let own = if family == Family::Replies { 80 } else { OWN };
    Episode { family, steps, least: length, own }
}

fn longest_gap(family: Family) -> Duration {
    match family {
        Family::Replies => ms(100),
        Family::Subscribers => ms(250),
        _ => ms(600),
    }
}

/// The family with this name.
pub fn named(name: &str) -> Option<Family> {
    ALL.into_iter().find(|family| format!("{family:?}").eq_ignore_ascii_case(name))
}

/// The family of an episode. Each round has every family, in an order of its own.
fn family(seed: u64, number: usize) -> Family {
    let mut order = ALL;
    let mut dice = Dice::new(seed, 1_000_000 + (number / ROUND) as u64);
    for last in (1..order.len()).rev() {
        order.swap(last, dice.below(last as u64 + 1) as usize);
    }
    order[number % ROUND]
}

fn verb(dice: &mut Dice, family: Family) -> Verb {
    let slot = dice.below(SLOTS as u64) as usize;
    let both = [Direction::ToServer, Direction::ToClient];
    let way = *dice.pick(&both);
    let some_way = dice.percent(50).then_some(way);
    // Watchdog leases are 1 to 3 s.
    let stop = if dice.percent(60) { dice.between(ms(10), ms(300)) } else { dice.between(ms(1000), ms(3500)) };
    let silence = dice.between(ms(20), ms(1500));
    match family {
        Family::Calm => Verb::ForgetScripts,
        Family::Kill => Verb::Kill { slot },
        Family::Stop => Verb::Stop { slot, time: stop },
        Family::Cut => match dice.below(10) {
            0..=2 => Verb::Cut { slot },
            3 => Verb::HalfClose { slot, way },
            4 => Verb::KillClients { subscribers: false },
            _ => Verb::CutPacket { slot, way, nth: dice.below(20) as usize + 1 },
        },
        Family::Replies if dice.percent(80) => Verb::LoseReplies { every: dice.below(20) as usize + 2, time: silence },
        Family::Replies => Verb::RetardReplies {
            every: dice.below(20) as usize + 1,
            beyond: dice.between(ms(20), ms(300)),
            time: silence,
        },
        Family::Silence => match dice.below(5) {
            0 => Verb::Delay { slot, each: dice.between(ms(1), ms(100)), time: silence },
            1 => Verb::Refuse { slot, time: silence },
            2 => Verb::Freeze { slot, way: some_way, time: silence },
            _ => Verb::Stall { slot, way: some_way, time: silence },
        },
        Family::Subscribers => Verb::KillClients { subscribers: true },
        Family::Scripts => Verb::ForgetScripts,
        Family::Slow if dice.percent(50) => Verb::Pause { time: silence },
        Family::Slow => Verb::Sleep { time: silence },
        Family::Operator if dice.percent(20) => Verb::Flush,
        Family::Operator => Verb::Delete { key: *dice.pick(&[0, 10, 11, 21, 31, 41, 53, 71, 91, 101, 111]) },
        Family::Restart => Verb::Restart,
        Family::Full => Verb::Fill { time: silence },
        Family::Minority => {
            let ills = [
                Ill::Killed,
                Ill::Stopped,
                Ill::Refused,
                Ill::Stalled,
                Ill::Mute { every: dice.below(10) as usize + 2 },
            ];
            let ill = *dice.pick(&ills);
            Verb::Minority { at: dice.below(SERVERS as u64) as usize, ill, time: silence.max(ill.least()) }
        }
        Family::Everything => {
            let any = *dice.pick(&ALL[1..ALL.len() - 1]);
            verb(dice, any)
        }
    }
}
