//! The client knows the newest token of an owner as long as the server may keep a field of that owner.

use std::time::Duration;

use super::Holds;
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::LEASE_MAX;

const WATCHDOG: Duration = Duration::from_secs(1);
/// The time after its sending during which the server may still carry out a call.
const WINDOW: Duration = Duration::from_secs(1);
const SECOND: Duration = Duration::from_secs(1);
/// A hundredth of this is longer than the watchdog's lease.
const LONG: Duration = Duration::from_secs(1000);

fn claim() -> Claim {
    Claim::new("fenced", "n".into(), 1)
}

fn take(holds: &mut Holds, lease: Duration, token: i64, now: Instant) -> u64 {
    let number = holds.taken(&claim(), || None, Some(lease), 0, now, now);
    holds.fence(number, token, 0, lease);
    number
}

/// The watchdog checks the owners that are due.
fn pass_to(holds: &mut Holds, now: Instant) {
    holds.due(now, 10, |_, _| true);
}

#[test]
fn a_token_of_an_inner_hold_is_known_after_that_hold_was_let_go() {
    let now = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let [_, inner] = [3, 5].map(|token| take(&mut holds, LONG, token, now));
    holds.forget(&claim(), inner, now);
    assert_eq!(holds.known(&claim()), 5);
}

#[test]
fn a_token_of_a_lost_hold_is_known_until_its_lease_is_over_by_the_servers_clock() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let hold = take(&mut holds, LONG, 3, start);
    let lost = start + LONG - 10 * SECOND;
    assert!(!holds.look(hold, lost).is_held());
    holds.forget(&claim(), hold, lost);
    for seconds in 0..10 {
        pass_to(&mut holds, lost + seconds * SECOND);
        assert_eq!(holds.known(&claim()), 3, "{} s before the end of the lease", 10 - seconds);
    }
}

#[test]
fn a_token_of_a_hold_whose_release_was_never_settled_is_known_until_its_lease_is_over() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let hold = take(&mut holds, LONG, 3, start);
    holds.forget(&claim(), hold, start + SECOND);
    pass_to(&mut holds, start + LONG);
    assert_eq!(holds.known(&claim()), 3);
    pass_to(&mut holds, start + 2 * LONG);
    assert_eq!((holds.known(&claim()), holds.sleep()), (0, None), "it is remembered for ever");
}

#[test]
fn the_client_remembers_nothing_of_an_owner_whose_last_hold_was_released() {
    let now = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let hold = take(&mut holds, LONG, 3, now);
    holds.released(&claim(), hold, true, now);
    pass_to(&mut holds, now);
    assert_eq!((holds.known(&claim()), holds.sleep()), (0, None));
}

/// Leases as long as callers may ask for, and longer, at moments near the end of the clock.
#[test]
fn a_token_of_a_hold_with_an_extreme_lease_is_known_until_that_is_over_and_no_longer() {
    let year = 365 * 24 * 3600 * SECOND;
    for lease in [
        Duration::ZERO,
        Duration::from_millis(1),
        year,
        LEASE_MAX,
        500 * year,
        Duration::from_nanos(u64::MAX),
        Duration::MAX,
    ] {
        for start in [Instant::FIRST, Instant::now(), Instant::NEVER - year, Instant::NEVER - SECOND] {
            for is_renewed in [false, true] {
                let mut holds = Holds::new("u".into(), WATCHDOG);
                let asked = (!is_renewed).then_some(lease);
                let outer = holds.taken(&claim(), || None, asked, 0, start, start);
                let inner = holds.taken(&claim(), || None, Some(lease), 0, start, start);
                holds.fence(outer, 3, 0, lease);
                holds.fence(inner, 5, 0, lease);
                holds.extending(&claim(), lease);
                holds.lengthen(&claim(), lease, start, start);
                holds.left(&claim(), lease, WATCHDOG, start, start);
                pass_to(&mut holds, start);
                [inner, outer].into_iter().for_each(|hold| holds.forget(&claim(), hold, start));
                let what = format!("a lease of {lease:?} from {start:?} on");
                let longest = lease.max(WATCHDOG * u32::from(is_renewed));
                let over = start + longest + longest / 100 + WINDOW;
                // A hold without any lease has ended, and its token with it.
                pass_to(&mut holds, start + lease);
                let is_over = over <= start + lease;
                assert_eq!(holds.known(&claim()), if is_over { 0 } else { 5 }, "{what}");
                pass_to(&mut holds, over + 2 * SECOND);
                assert_eq!((holds.known(&claim()), holds.sleep()), (0, None), "{what}: it is remembered for ever");
            }
        }
    }
}
