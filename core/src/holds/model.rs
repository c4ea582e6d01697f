//! Random histories of three owners against the plainest book-keeping there is: a list of holds, each with its own deadline.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Holds, believed};
use crate::command::Look;
use crate::error::LostReason;
use crate::slot::Slot;

const WATCHDOG: Duration = Duration::from_secs(3);
const LEASE: Duration = Duration::from_millis(700);

/// A hold as the reference knows it; its deadline is that of the latest yes to any hold of its owner.
#[derive(Clone, Copy, PartialEq)]
struct Noted {
    number: u64,
    owner: usize,
    watched: bool,
}

fn slot(owner: usize) -> Slot {
    Slot::new("plain", "n".into(), owner as i64)
}

fn play(history: &[(u8, u8)]) {
    let mut now = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let (mut noted, mut deadlines) = (Vec::<Noted>::new(), [now; 3]);
    let (mut begun, mut ended) = (0, Vec::new());
    for &(action, pick) in history {
        let owner = usize::from(pick) % 3;
        match action % 8 {
            0 | 1 => {
                let lease = (action % 2 == 0).then_some(LEASE);
                let until = now + believed(lease.unwrap_or(WATCHDOG));
                deadlines[owner] = if noted.iter().any(|hold| hold.owner == owner) { deadlines[owner].max(until) } else { until };
                let number = holds.taken(&slot(owner), lease, 0, now, now);
                noted.push(Noted { number, owner, watched: lease.is_none() });
                begun += 1;
            }
            2 => {
                let found = holds.leaving(&slot(owner), 0, now);
                let latest = noted.iter().rposition(|hold| hold.owner == owner);
                match (found, latest) {
                    (Ok(Some(leaving)), Some(at)) => {
                        let count = noted.iter().filter(|hold| hold.owner == owner).count();
                        assert_eq!((leaving.number, leaving.leave as usize), (noted[at].number, count - 1));
                        let others = noted.iter().any(|hold| hold.owner == owner && hold.watched && hold.number != leaving.number);
                        assert_eq!(leaving.lease > Duration::ZERO, others);
                        holds.forget(&slot(owner), leaving.number, now);
                        noted.remove(at);
                    }
                    (Ok(None) | Err(_), None) => {}
                    (found, latest) => panic!("{:?} for {latest:?}", found.map(|leaving| leaving.map(|leaving| leaving.number))),
                }
            }
            3 => {
                holds.lost(&slot(owner), LostReason::Deleted, now);
                noted.retain(|hold| hold.owner != owner);
            }
            4 => holds.suspect(None, now),
            _ => now += Duration::from_millis(u64::from(pick) * 4),
        }
        noted.retain(|hold| deadlines[hold.owner] > now);
        let mut asked = Vec::new();
        holds.due(now, 100, |slot, ask| {
            asked.push((slot.owner as usize, ask));
            true
        });
        for (owner, ask) in asked {
            assert!(noted.iter().any(|hold| hold.owner == owner), "asked about what is not held");
            // No answer comes.
            if pick % 5 == 0 {
                continue;
            }
            if ask.lease > Duration::ZERO {
                assert!(noted.iter().any(|hold| hold.owner == owner && hold.watched), "renewed what nobody watches");
                deadlines[owner] = deadlines[owner].max(now + believed(WATCHDOG));
            }
            holds.answered(&[ask], "1", 0, now, now);
        }
        for hold in &noted {
            let Look::Held { remaining } = holds.look(hold.number, now) else { panic!("it is held") };
            assert_eq!(now + remaining, deadlines[hold.owner]);
            assert!(holds.next_due().expect("a live hold is looked at") <= deadlines[hold.owner]);
            assert_eq!(holds.count(&slot(hold.owner), now) as usize, noted.iter().filter(|other| other.owner == hold.owner).count());
        }
        ended.extend(holds.take_ended().into_iter().filter(|ended| ended.loss.is_some()).map(|ended| ended.number));
    }
    let told = ended.len();
    ended.sort_unstable();
    ended.dedup();
    assert_eq!(ended.len(), told, "a loss was told twice");
    assert!(told + noted.len() <= begun);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_held_is_known_and_renewed_and_nothing_else(history in prop::collection::vec(any::<(u8, u8)>(), 1..120)) {
        play(&history);
    }
}
