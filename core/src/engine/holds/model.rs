//! Random histories of three owners against a server that keeps one time for each, as the scripts do. An acquire and a
//! renewal raise the time, a release that leaves holds reports it, and another program may lower it. Calls take time in
//! both directions.

use std::time::Duration;

use proptest::prelude::*;

use super::{Holds, Meant, believed};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::Look;
use crate::request::error::LostReason;

const WATCHDOG: Duration = Duration::from_secs(3);
const LEASE: Duration = Duration::from_millis(700);

/// A hold as the reference knows it.
#[derive(Clone, Copy, PartialEq)]
struct Noted {
    number: u64,
    owner: usize,
    is_renewed: bool,
}

fn claim(owner: usize) -> Claim {
    Claim::new("plain", "n".into(), owner as i64)
}

/// The time that the server keeps for an owner, and the time that the owner may believe after the answers so far.
#[derive(Clone, Copy)]
struct Kept {
    until: Instant,
    believed: Instant,
    /// Another program has shortened the time, and no answer has reported that.
    cut: bool,
}

/// The times of a call on its way to the server and back.
#[derive(Clone, Copy)]
struct Trip {
    sent: Instant,
    done: Instant,
    answered: Instant,
}

impl Trip {
    fn new(sent: Instant, pick: u8) -> Self {
        let done = sent + Duration::from_millis(u64::from(pick % 16));
        Trip { sent, done, answered: done + Duration::from_millis(u64::from(pick % 7)) }
    }
}

fn play(history: &[(u8, u8)]) {
    let mut now = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let mut noted = Vec::<Noted>::new();
    let mut kept = [Kept { until: now, believed: now, cut: false }; 3];
    let mut begun = 0;
    let mut ended = Vec::new();
    for &(action, pick) in history {
        let owner = usize::from(pick) % 3;
        let count = noted.iter().filter(|hold| hold.owner == owner).count();
        let trip = Trip::new(now, pick);
        match action % 9 {
            0 | 1 => {
                let lease = (action % 2 == 0).then_some(LEASE);
                let time = lease.unwrap_or(WATCHDOG);
                let until = trip.sent + believed(time);
                now = trip.answered;
                let own = &mut kept[owner];
                own.until = if own.until > trip.done { own.until.max(trip.done + time) } else { trip.done + time };
                // A hold that ended before the answer came is no outer hold.
                let is_more = noted.iter().any(|hold| hold.owner == owner) && own.believed > now;
                if is_more {
                    own.believed = own.believed.max(until);
                } else {
                    noted.retain(|hold| hold.owner != owner);
                    (own.believed, own.cut) = (until, false);
                }
                let _ = holds.count(&claim(owner), now);
                let number = holds.taken(&claim(owner), || None, lease, 0, trip.sent, now);
                noted.push(Noted { number, owner, is_renewed: lease.is_none() });
                begun += 1;
            }
            2 | 3 => {
                // The release of the latest hold, or of the first.
                let latest = action % 9 == 2;
                let its = |hold: &Noted| hold.owner == owner;
                let at = if latest { noted.iter().rposition(its) } else { noted.iter().position(its) };
                let meant = at.filter(|_| !latest).map_or(Meant::Latest, |at| Meant::Given(noted[at].number));
                match (holds.leaving(&claim(owner), meant, now), at) {
                    (Ok(Some(leaving)), Some(at)) => {
                        assert_eq!((leaving.number, leaving.leave as usize), (noted[at].number, count - 1));
                        noted.remove(at);
                        let is_renewed = noted.iter().any(|hold| hold.owner == owner && hold.is_renewed);
                        assert_eq!(leaving.lease > Duration::ZERO, is_renewed);
                        now = trip.answered;
                        holds.forget(&claim(owner), leaving.number, now);
                        if leaving.leave > 0 {
                            let left = kept[owner].until.saturating_duration_since(trip.done).max(leaving.lease);
                            let believed = trip.sent + believed(left);
                            holds.left(&claim(owner), owner as i64, left, leaving.lease, trip.sent, now);
                            kept[owner] = Kept { until: trip.done + left, believed, cut: false };
                        } else {
                            kept[owner].until = now;
                        }
                    }
                    (Ok(None) | Err(_), None) => {}
                    (found, at) => {
                        panic!("{:?} for {at:?}", found.map(|leaving| leaving.map(|leaving| leaving.number)))
                    }
                }
            }
            4 => {
                holds.lost(&claim(owner), LostReason::Deleted, now);
                noted.retain(|hold| hold.owner != owner);
            }
            5 => holds.suspect(None, now),
            6 => {
                let own = &mut kept[owner];
                own.until = own.until.min(now + Duration::from_millis(u64::from(pick) * 8));
                own.cut = true;
            }
            _ => now += Duration::from_millis(u64::from(pick) * 4),
        }
        noted.retain(|hold| kept[hold.owner].believed > now);
        let mut asked = Vec::new();
        holds.due(now, 100, |claim, ask| {
            asked.push((claim.owner as usize, ask));
            true
        });
        let trip = Trip::new(now, pick / 3);
        for (owner, ask) in asked {
            assert!(noted.iter().any(|hold| hold.owner == owner), "asked about an owner without a hold");
            // The answer is lost.
            if pick % 5 == 0 {
                continue;
            }
            now = trip.answered;
            let own = &mut kept[owner];
            if own.until <= trip.done {
                // The key has ended.
                holds.answered(&[ask], "-", 0, true, trip.sent, now);
                noted.retain(|hold| hold.owner != owner);
                continue;
            }
            if ask.lease > Duration::ZERO {
                assert!(
                    noted.iter().any(|hold| hold.owner == owner && hold.is_renewed),
                    "renewed a hold that the watchdog does not renew"
                );
                // The server gives the lease that the client asked for, which may be longer than the watchdog's.
                own.until = own.until.max(trip.done + ask.lease);
                own.believed = own.believed.max(trip.sent + believed(WATCHDOG));
            }
            holds.answered(&[ask], "1", 0, true, trip.sent, now);
        }
        for hold in &noted {
            holds.look(hold.number, now);
        }
        noted.retain(|hold| kept[hold.owner].believed > now);
        for hold in &noted {
            let own = kept[hold.owner];
            let Look::Held { remaining } = holds.look(hold.number, now) else { panic!("it is held") };
            assert_eq!(now + remaining, own.believed);
            assert!(
                own.cut || own.believed <= own.until,
                "it is believed in for {:?} too long",
                own.believed - own.until
            );
            assert!(holds.sleep().expect("a live hold is looked at") <= own.believed);
            assert_eq!(
                holds.count(&claim(hold.owner), now) as usize,
                noted.iter().filter(|other| other.owner == hold.owner).count()
            );
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
    fn a_client_renews_only_its_holds_and_believes_in_none_too_long(history in prop::collection::vec(any::<(u8, u8)>(), 1..120)) {
        play(&history);
    }
}
