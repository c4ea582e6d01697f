//! A holder that asks for its loss again gets the same answer each time.

use std::time::Duration;

use super::Holds;
use super::due::Ask;
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::request::Look;
use crate::request::error::{Loss, LostReason};

const WATCHDOG: Duration = Duration::from_secs(3);
const SECOND: Duration = Duration::from_secs(1);

fn claim() -> Claim {
    Claim::new("plain", "n".into(), 1)
}

fn told(holds: &mut Holds, number: u64, now: Instant) -> Loss {
    let Look::Lost(loss) = holds.look(number, now) else { panic!("it is lost") };
    loss
}

/// Sends the questions that are due.
fn asked(holds: &mut Holds, now: Instant) -> Vec<Ask> {
    let mut asks = Vec::new();
    holds.due(now, 10, |_, ask| {
        asks.push(ask);
        true
    });
    asks
}

#[test]
fn a_loss_keeps_its_time_line_after_later_answers() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let number = holds.taken(&claim(), || None, None, 0, start, start);
    let renewal = asked(&mut holds, start + SECOND);
    assert_eq!(renewal.len(), 1);
    let lost = start + 4 * SECOND;
    let first = told(&mut holds, number, lost);
    assert_eq!((first.reason, first.renewed), (LostReason::Partitioned, None));
    // The answer comes at last, and the owner acquires the lock again.
    holds.answered(&renewal, "1", 0, true, start + SECOND, lost + SECOND);
    let again = told(&mut holds, number, lost + SECOND);
    assert_eq!(
        (again.reason, again.renewed, again.noticed, again.acquired),
        (first.reason, None, SECOND, first.acquired + SECOND)
    );
    assert!(again.to_string().contains("never renewed"), "{again}");
    holds.taken(&claim(), || None, None, 0, lost + 2 * SECOND, lost + 2 * SECOND);
    let anew = told(&mut holds, number, lost + 3 * SECOND);
    assert_eq!((anew.renewed, anew.noticed, anew.acquired), (None, 3 * SECOND, first.acquired + 3 * SECOND));
}

#[test]
fn a_renewal_counts_from_its_sending() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let number = holds.taken(&claim(), || None, None, 0, start, start);
    let renewal = asked(&mut holds, start + SECOND);
    // The answer was there, but the machine was suspended before the client could read it.
    let awake = start + 100 * SECOND;
    holds.answered(&renewal, "1", 0, true, start + SECOND, awake);
    let loss = told(&mut holds, number, awake);
    assert_eq!((loss.reason, loss.renewed), (LostReason::Paused, Some(99 * SECOND)));
}
