//! The client looks at a changed key after the change, even if a question was on its way.

use std::time::Duration;

use super::Holds;
use super::due::Ask;
use crate::base::clock::Instant;
use crate::engine::claim::Claim;

const WATCHDOG: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

fn claim() -> Claim {
    Claim::new("plain", "n".into(), 1)
}

/// A hold with a lease of its own: the client looks at it and does not renew it.
fn held(now: Instant) -> Holds {
    let mut holds = Holds::new("u".into(), WATCHDOG);
    holds.taken(&claim(), || None, Some(1000 * SECOND), 0, now, now);
    holds
}

/// Sends the questions that are due, unless another call of the owner is on its way.
fn asked(holds: &mut Holds, now: Instant, is_free: bool) -> Vec<Ask> {
    let mut asks = Vec::new();
    holds.due(now, 10, |_, ask| {
        asks.extend(is_free.then_some(ask));
        is_free
    });
    asks
}

#[test]
fn a_suspicion_that_comes_while_the_server_is_asked_outlasts_the_answer() {
    let start = Instant::now();
    let mut holds = held(start);
    let asks = asked(&mut holds, start + SECOND, true);
    assert_eq!(asks.len(), 1, "the server is to tell of changes");
    let suspected = start + SECOND + Duration::from_millis(1);
    holds.suspect(Some(&["n".to_owned()]), suspected);
    holds.answered(&asks, "1", 0, true, start + SECOND, suspected);
    assert_eq!(asked(&mut holds, suspected, true).len(), 1, "the answer may be older than the change");
}

#[test]
fn a_suspicion_that_finds_a_call_on_its_way_is_looked_into_after_its_answer() {
    let start = Instant::now();
    let mut holds = held(start);
    let asks = asked(&mut holds, start + SECOND, true);
    let suspected = start + SECOND + Duration::from_millis(1);
    holds.suspect(Some(&["n".to_owned()]), suspected);
    assert!(asked(&mut holds, suspected, false).is_empty(), "the question is on its way still");
    holds.answered(&asks, "1", 0, true, start + SECOND, suspected);
    assert_eq!(asked(&mut holds, suspected, true).len(), 1, "the answer may be older than the change");
}

#[test]
fn a_suspicion_that_another_call_of_its_owner_was_in_the_way_of_is_looked_into_once_that_call_ends() {
    let start = Instant::now();
    let mut holds = held(start);
    let asks = asked(&mut holds, start + SECOND, true);
    holds.answered(&asks, "1", 0, true, start + SECOND, start + SECOND);
    let suspected = start + 2 * SECOND;
    holds.suspect(Some(&["n".to_owned()]), suspected);
    assert!(asked(&mut holds, suspected, false).is_empty(), "a call of its owner is on its way");
    holds.look_again(&claim(), suspected);
    assert_eq!(asked(&mut holds, suspected, true).len(), 1, "that call has ended");
    holds.look_again(&claim(), suspected);
    assert!(asked(&mut holds, suspected, true).is_empty(), "it was looked into");
}

#[test]
fn an_answer_without_a_suspicion_since_its_question_ends_the_looks() {
    let start = Instant::now();
    let mut holds = held(start);
    holds.suspect(Some(&["n".to_owned()]), start + SECOND);
    let asks = asked(&mut holds, start + SECOND, true);
    holds.answered(&asks, "1", 0, true, start + SECOND, start + SECOND);
    assert!(asked(&mut holds, start + 900 * SECOND, true).is_empty(), "nothing has changed since");
}
