//! The times of a hold: a holder that asks for its loss again gets the same answer each time, and a renewal counts from its sending.

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

#[test]
fn a_hold_with_a_lease_of_its_own_is_renewed_by_that_lease_and_not_by_an_older_question() {
    let start = Instant::now();
    let lease = 60 * SECOND;
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let number = holds.taken(&claim(), || None, Some(lease), 0, start, start);
    assert!(asked(&mut holds, start + 15 * SECOND).iter().all(|ask| ask.lease.is_zero()), "nothing renews it");
    holds.renew(number, lease, start + 15 * SECOND);
    let renewal = asked(&mut holds, start + 40 * SECOND);
    assert!(renewal.len() == 1 && renewal[0].lease >= lease, "a third of its lease has passed");
    // A tenth of its lease later the client asks again: no answer has come.
    assert!(asked(&mut holds, start + 41 * SECOND).is_empty());
    holds.answered(&renewal, "1", 0, true, start + 40 * SECOND, start + 41 * SECOND);
    let until = start + 40 * SECOND + super::believed(lease);
    let Look::Held { remaining } = holds.look(number, start + 41 * SECOND) else { panic!("it is held") };
    assert_eq!(remaining, until - (start + 41 * SECOND));
    let loss = told(&mut holds, number, until);
    assert_eq!((loss.reason, loss.renewed), (LostReason::Paused, Some(until - (start + 40 * SECOND))));

    // A question that asked for less than a lease which came meanwhile.
    let number = holds.taken(&claim(), || None, None, 0, until, until);
    let question = asked(&mut holds, until + SECOND);
    holds.renew(number, lease, until + SECOND);
    holds.answered(&question, "1", 0, true, until + SECOND, until + SECOND);
    let Look::Held { remaining } = holds.look(number, until + SECOND) else { panic!("it is held") };
    assert!(remaining <= question[0].lease, "{remaining:?} of {:?}", question[0].lease);
}

#[test]
fn a_hold_that_is_let_go_is_forgotten_at_once_and_its_late_loss_is_counted() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let number = holds.taken(&claim(), || None, Some(60 * SECOND), 0, start, start);
    holds.renew(number, 60 * SECOND, start);
    let let_go = holds.let_go(&claim(), number, start + SECOND).expect("it is held");
    assert!(let_go.end >= start + 60 * SECOND, "the server may keep it until its lease ends");
    assert!(matches!(holds.look(number, start + SECOND), Look::Gone));
    assert!(holds.let_go(&claim(), number, start + SECOND).is_none() && holds.close(start + SECOND).is_empty());
    let loss = holds.was_lost(&claim(), number, &let_go, true, start + 2 * SECOND);
    assert_eq!((loss.reason, loss.acquired, loss.noticed), (LostReason::TakenOver, 2 * SECOND, Duration::ZERO));
    assert_eq!((holds.figures().held, holds.figures().lost.iter().sum::<u64>()), (0, 1));
    assert_eq!(holds.take_ended().iter().filter(|ended| ended.loss.is_some()).count(), 1, "the log tells of it");
}
