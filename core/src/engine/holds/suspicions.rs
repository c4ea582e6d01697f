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

#[test]
fn the_watchdog_renews_a_hold_of_which_the_key_changes_all_the_time() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let number = holds.taken(&claim(), || None, None, 0, start, start);
    let mut renewals = 0;
    for tenth in 1..1000 {
        let now = start + tenth * SECOND / 10;
        holds.suspect(Some(&["n".to_owned()]), now);
        let asks = asked(&mut holds, now, true);
        renewals += asks.iter().filter(|ask| ask.lease > Duration::ZERO).count();
        holds.answered(&asks, &"1".repeat(asks.len()), 0, true, now, now);
        assert!(holds.look(number, now).is_held(), "lost after {:?} and {renewals} renewals", now - start);
    }
}

#[test]
fn a_renewal_that_another_call_of_its_owner_was_in_the_way_of_goes_out_once_that_call_ends() {
    let start = Instant::now();
    for is_look in [true, false] {
        let mut holds = Holds::new("u".into(), WATCHDOG);
        holds.taken(&claim(), || None, None, 0, start, start);
        let looks = asked(&mut holds, start + SECOND, true);
        let due = start + 12 * SECOND;
        assert!(asked(&mut holds, due, false).is_empty(), "the other call is on its way");
        match is_look {
            true => holds.answered(&looks, "1", 0, true, start + SECOND, due),
            false => holds.look_again(&claim(), due),
        }
        let renewals = asked(&mut holds, due, true);
        assert!(renewals.iter().any(|ask| ask.lease > Duration::ZERO), "the other call was a look: {is_look}");
        holds.answered(&renewals, "1", 0, true, due, due);
        holds.look_again(&claim(), due);
        assert!(asked(&mut holds, due, true).is_empty(), "it is renewed");
    }
}

/// Answers the questions that are due.
fn answered(holds: &mut Holds, now: Instant) -> usize {
    let asks = asked(holds, now, true);
    holds.answered(&asks, &"1".repeat(asks.len()), 0, true, now, now);
    asks.len()
}

fn shared() -> Option<String> {
    Some("shared".into())
}

#[test]
fn changes_by_the_client_itself_in_a_row_make_one_look_soon_after_the_first() {
    type Change = fn(&mut Holds, Instant);
    let extended: Change = |holds, now| holds.lengthen(&claim(), 1000 * SECOND, now, now);
    let taken_again: Change = |holds, now| {
        holds.taken(&claim(), || None, Some(SECOND), 0, now, now);
    };
    let released: Change = |holds, now| {
        let number = holds.taken(&claim(), || None, Some(SECOND), 0, now, now);
        holds.released(&claim(), number, false, now);
    };
    let of_another: Change = |holds, now| {
        let other = Claim::new("plain", "n".into(), 2);
        let number = holds.taken(&other, || None, Some(SECOND), 0, now, now);
        holds.released(&other, number, true, now);
    };
    let start = Instant::now();
    let changes = [("extended", extended), ("taken", taken_again), ("released", released), ("another's", of_another)];
    for (title, change) in changes {
        let mut holds = held(start);
        assert_eq!(answered(&mut holds, start + SECOND), 1, "{title}: it lasts");
        for round in 1..5 {
            let begun = start + 10 * round * SECOND;
            for ms in 0..95 {
                change(&mut holds, begun + Duration::from_millis(ms));
                assert_eq!(answered(&mut holds, begun + Duration::from_millis(ms)), 0, "{title}: look by look");
            }
            assert_eq!(answered(&mut holds, begun + Duration::from_millis(125)), 1, "{title}: the server is deaf");
            assert_eq!(answered(&mut holds, begun + 9 * SECOND), 0, "{title}: nothing has changed since");
        }
    }
}

#[test]
fn a_change_by_the_client_itself_while_the_server_is_asked_outlasts_the_answer() {
    let start = Instant::now();
    let mut holds = held(start);
    let asks = asked(&mut holds, start + SECOND, true);
    holds.changed("n", start + SECOND);
    holds.answered(&asks, "1", 0, true, start + SECOND, start + SECOND);
    assert_eq!(answered(&mut holds, start + 2 * SECOND), 1, "the question may have come before the change");
    assert_eq!(answered(&mut holds, start + 900 * SECOND), 0, "nothing has changed since");
}

#[test]
fn each_owner_that_shares_a_key_looks_once_a_second_at_most_however_often_the_client_changes_it() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let taken = |holds: &mut Holds, owner, now| {
        holds.taken(&Claim::new("permit", "n".into(), owner), shared, Some(1000 * SECOND), 0, now, now)
    };
    for owner in 0..3 {
        taken(&mut holds, owner, start);
    }
    assert_eq!(answered(&mut holds, start + SECOND), 3, "they last");
    let mut looks = 0;
    for ms in 1000..5000 {
        let now = start + Duration::from_millis(ms);
        let other = Claim::new("permit", "n".into(), 7);
        let number = holds.taken(&other, shared, Some(SECOND), 0, now, now);
        holds.released(&other, number, true, now);
        looks += answered(&mut holds, now);
    }
    assert!((9..=12).contains(&looks), "{looks} looks of three owners in four seconds");
    assert_eq!(answered(&mut holds, start + 6 * SECOND), 3, "each looks after the last change");
    assert_eq!(answered(&mut holds, start + 900 * SECOND), 0, "nothing has changed since");
}

#[test]
fn a_short_hold_is_not_looked_at_however_often_its_owner_takes_the_lock_in_it() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    for round in 0..100 {
        let begun = start + round * SECOND;
        let outer = holds.taken(&claim(), || None, None, 0, begun, begun);
        let inner = holds.taken(&claim(), || None, None, 0, begun, begun + Duration::from_millis(10));
        holds.released(&claim(), inner, false, begun + Duration::from_millis(50));
        assert_eq!(answered(&mut holds, begun + Duration::from_millis(98)), 0, "round {round}");
        holds.released(&claim(), outer, true, begun + Duration::from_millis(99));
        assert_eq!(answered(&mut holds, begun + SECOND - Duration::from_millis(1)), 0, "round {round}");
    }
}

/// The server lets a reader in beside a writer only if both are one owner.
#[test]
fn a_reader_that_is_let_in_proves_that_another_owners_write_is_over() {
    for (is_before, is_quiet, is_lost) in [(true, true, true), (true, false, false), (false, true, false)] {
        let start = Instant::now();
        let mut holds = Holds::new("u".into(), WATCHDOG);
        let [writer, reader] = [("write", 1), ("read", 5)].map(|(kind, owner)| Claim::new(kind, "n".into(), owner));
        let later = start + SECOND;
        let (gripped, sent) = if is_before { (start, later) } else { (later, start) };
        holds.taken(&writer, || None, Some(1000 * SECOND), 0, start, gripped);
        holds.supersede(&writer, true, 0, start, gripped, |_| true);
        holds.taken(&reader, || None, Some(1000 * SECOND), 0, sent, later);
        holds.supersede(&reader, false, 0, sent, later, |_| is_quiet);
        assert_eq!(holds.count(&writer, later) == 0, is_lost, "before: {is_before}, quiet: {is_quiet}");
        assert_eq!(
            asked(&mut holds, later, true).len(),
            usize::from(!is_lost),
            "before: {is_before}, quiet: {is_quiet}"
        );
        assert_eq!(holds.count(&reader, later), 1);
    }
}

/// It may have written all the while, and the client has not believed that: then it still reads.
#[test]
fn a_reader_that_begins_to_write_is_asked_about_at_once() {
    let start = Instant::now();
    let mut holds = Holds::new("u".into(), WATCHDOG);
    let [reader, writer] = ["read", "write"].map(|kind| Claim::new(kind, "n".into(), 1));
    holds.taken(&reader, || None, Some(1000 * SECOND), 0, start, start);
    let asks = asked(&mut holds, start + SECOND, true);
    holds.answered(&asks, "1", 0, true, start + SECOND, start + SECOND);
    let now = start + 2 * SECOND;
    for questions in [1, 0] {
        holds.taken(&writer, || None, Some(1000 * SECOND), 0, now, now);
        holds.supersede(&writer, true, 0, now, now, |_| true);
        let asks = asked(&mut holds, now, true);
        assert_eq!(asks.len(), questions);
        holds.answered(&asks, "1", 0, true, now, now);
        assert_eq!(holds.count(&reader, now), 1);
    }
}
