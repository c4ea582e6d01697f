//! A holder can ask for its loss at any time after it, however late.

use std::time::Duration;

use super::{Holds, Meant, REMEMBER};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::Look;
use crate::request::error::LostReason;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn claim() -> Claim {
    Claim::new("plain", "n".into(), 1)
}

/// A hold whose lease has ended; its client's watchdog looks at it a day later.
fn lost_for_a_day() -> (Holds, u64, Instant) {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), SECOND);
    let number = holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
    assert!(!holds.look(number, start + 2 * SECOND).is_held());
    let later = start + DAY;
    holds.due(later, 10, |_, _| true);
    (holds, number, later)
}

#[test]
fn a_loss_is_known_however_late_its_holder_asks() {
    let (mut holds, number, later) = lost_for_a_day();
    let Look::Lost(loss) = holds.look(number, later) else { panic!("the loss is forgotten") };
    assert_eq!((&*loss.lock, loss.reason), ("n", LostReason::Expired));
    assert_eq!(holds.loss_of(number, later).expect("it was lost").reason, LostReason::Expired);
}

#[test]
fn a_late_release_is_told_of_the_loss_once_and_the_loss_stays_known() {
    let (mut holds, number, later) = lost_for_a_day();
    let lapsed = holds.leaving(&claim(), Meant::Given(number), later).expect_err("it was lost");
    assert_eq!(lapsed.loss.reason, LostReason::Expired);
    assert!(matches!(holds.leaving(&claim(), Meant::Given(number), later), Ok(None)), "it was told before");
    assert!(matches!(holds.look(number, later), Look::Gone), "it was told before");
    assert_eq!(holds.loss_of(number, later).expect("it was lost").reason, LostReason::Expired);
}

#[test]
fn another_owner_is_not_told_of_a_loss() {
    let (mut holds, number, later) = lost_for_a_day();
    let other = Claim::new("plain", "n".into(), 2);
    assert!(matches!(holds.leaving(&other, Meant::Given(number), later), Ok(None)));
    assert!(holds.leaving(&claim(), Meant::Given(number), later).is_err());
}

#[test]
fn a_loss_counts_with_the_end_of_its_hold() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), SECOND);
    for reason in LostReason::ALL {
        holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
        holds.lost(&claim(), reason, start);
        let figures = holds.figures();
        assert_eq!((figures.held, figures.lost.iter().sum::<u64>()), (0, reason as u64));
        assert_eq!(figures.lost[reason as usize - 1], 1);
    }
}

#[test]
fn a_released_hold_was_never_lost() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), SECOND);
    let number = holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
    holds.released(&claim(), number, true, start);
    assert!(holds.loss_of(number, start + DAY).is_none());
}

#[test]
fn a_lost_hold_counts_as_its_owners_latest_no_longer_however_often_connections_end() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), SECOND);
    let number = holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
    let noticed = start + 2 * SECOND;
    assert!(!holds.look(number, noticed).is_held());
    for third in 1..=3 {
        assert_eq!(holds.latest(&claim()), Some(number));
        let now = noticed + third * REMEMBER / 3;
        holds.suspect(None, now);
        holds.due(now, 10, |_, _| true);
    }
    assert_eq!(holds.latest(&claim()), None, "it is remembered without end");
    assert!(matches!(holds.look(number, noticed + REMEMBER), Look::Lost(_)), "the loss itself stays known");
}

#[test]
fn a_loss_that_no_caller_can_ask_for_is_forgotten() {
    let (mut holds, number, later) = lost_for_a_day();
    assert!(!holds.abandon(number, later));
    assert!(holds.loss_of(number, later).is_none());
}

#[test]
fn a_hold_that_no_caller_could_ask_for_leaves_no_loss() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), SECOND);
    let number = holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
    assert!(!holds.abandon(number, start), "it is not renewed anyway");
    assert!(!holds.look(number, start + 2 * SECOND).is_held());
    holds.due(start + DAY, 10, |_, _| true);
    assert!(holds.loss_of(number, start + DAY).is_none());
}

#[test]
fn a_lease_that_was_over_when_the_call_went_out_is_no_deletion() {
    let start = Instant::now();
    let over = start + 2 * SECOND;
    for (sent, taken, reason) in [
        (over, false, LostReason::Expired),
        (over, true, LostReason::Expired),
        (start, false, LostReason::Deleted),
        (start, true, LostReason::TakenOver),
    ] {
        let mut holds = Holds::new("u".into(), SECOND);
        let number = holds.taken(&claim(), || None, Some(SECOND), 0, start, start);
        // The watchdog is late: it has not looked at the hold since its end.
        holds.missing(&claim(), 1, taken, 0, sent, over);
        assert_eq!(holds.loss_of(number, over).expect("it is lost").reason, reason, "taken: {taken}");
    }
}
