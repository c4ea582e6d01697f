//! An owner that uses one name by two kinds which share its keys, while other owners wait.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, Queue, Traits};
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::all_at_once;

use super::row::Row;
use crate::{eventually, ms};

/// Long before a lease ends, and longer than any machine takes.
const SOON: Duration = ms(10_000);

/// The turns that a client may have: its own, none, and one that ends with no test.
const TURNS: [&str; 3] = ["", "turn=0", "turn=60"];

/// Plays each pair of kinds that `is_pair` chooses, with each turn; pairs with the same first kind on one server.
fn each(is_pair: fn(&Traits, &Traits) -> bool, play: fn(&Row, &Row, &Client)) {
    let kinds = || ALL.iter().map(|row| &row.traits);
    let firsts = kinds().filter(|first| kinds().any(|second| is_pair(first, second)));
    all_at_once(firsts.map(|first| {
        (first.name.to_owned(), move || {
            let row = Row::of(first.name);
            for second in kinds().filter(|second| is_pair(first, second)) {
                for turn in TURNS {
                    let other = row.by(second.name);
                    let client = row.client(turn);
                    // This frees all in the end, also after a failure: a release by one of two kinds would free both.
                    let played = catch_unwind(AssertUnwindSafe(|| play(&row, &other, &client)));
                    client.close_blocking(Holds::Release);
                    played.unwrap_or_else(|panic| panic!("then {}, {turn:?}: {}", second.name, words(&*panic)));
                    eventually(|| row.is_clean());
                }
            }
        })
    }));
}

fn words(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().cloned();
    said.or_else(|| panic.downcast_ref::<&str>().map(|said| said.to_string())).unwrap_or_default()
}

fn are_locks(first: &Traits, second: &Traits) -> bool {
    let is_lock =
        |kind: &Traits| ["plain", "spin", "non_reentrant", "fenced", "fair", "non_reentrant_fair"].contains(&kind.name);
    first.name != second.name && is_lock(first) && is_lock(second)
}

#[test]
fn an_owner_that_has_a_lock_takes_it_by_another_kind_before_others_that_wait() {
    let is_pair =
        |first: &Traits, second: &Traits| are_locks(first, second) || (first.name, second.name) == ("write", "read");
    each(is_pair, |first, second, client| {
        first.take(client, 1);
        let _before = second.wait(client, 3, None);
        let taken = second.begin(client, 1, None).within(SOON).expect("the server answers");
        assert!(taken.done, "it waits for itself");
    });
}

#[test]
fn a_reader_that_would_wait_for_itself_is_refused_although_others_wait_to_write() {
    let is_pair = |first: &Traits, second: &Traits| (first.name, second.name) == ("read", "write");
    each(is_pair, |first, second, client| {
        first.take(client, 1);
        let _before = second.wait(client, 3, None);
        let refused = second.begin(client, 1, None).within(SOON);
        assert!(matches!(refused, Err(Error::AlreadyHeld { .. })), "{refused:?}");
    });
}

/// The owner has a waiter of each kind, and gets the lock by the first one.
#[test]
fn an_owner_that_gets_a_lock_by_one_kind_gets_it_by_the_other_for_which_it_waits_already() {
    let is_pair = |first: &Traits, second: &Traits| {
        first.queue != Queue::Alone && (are_locks(first, second) || (first.name, second.name) == ("write", "read"))
    };
    each(is_pair, |first, second, client| {
        first.take(client, 5);
        // Perhaps this one gets the lock first, because the line of the first kind is about to try.
        let again = client.clone();
        let back = second.request(Op::Release, 3);
        let before = Request { wait: None, ..second.request(Op::Acquire, 3) };
        client.submit(client.ticket(), before, move |taken| {
            if taken.is_ok() {
                again.submit(again.ticket(), back, |released| drop(released.expect("held")));
            }
        });
        let by_second = second.begin(client, 1, None);
        let by_first = first.begin(client, 1, None);
        first.give(client, 5);
        assert!(by_first.within(SOON).expect("the server answers").done);
        assert!(by_second.within(SOON).expect("the server answers").done, "it waits for itself");
    });
}

/// As above, but the owner gets the lock by a try that does not wait.
#[test]
fn an_owner_that_takes_a_lock_by_a_try_gets_it_by_the_other_kind_for_which_it_waits_already() {
    each(
        |first, second| are_locks(first, second) && !second.fair,
        |first, second, client| {
            // The server has the lock for this owner, as after a hold that the client believes in no longer.
            let take = "redis.call('HSET', KEYS[1], ARGV[1], 1) return redis.call('PEXPIRE', KEYS[1], 30000)";
            let field = format!("{}:1", client.id());
            first.view().command::<i64>(&["EVAL", take, "1", "n", &field]);
            let _before = second.wait(client, 3, None);
            let by_second = second.begin(client, 1, None);
            assert!(first.try_for(client, 1, Duration::ZERO).is_some());
            assert!(by_second.within(SOON).expect("the server answers").done, "it waits for itself");
        },
    );
}

/// The owner of the grip waits by a kind of which it is not told: another owner of its client has the lock.
#[test]
fn the_owner_of_a_grip_that_waits_for_the_fair_lock_gets_it_soon_after_the_release() {
    let row = Row::of("plain");
    let fair = row.by("fair");
    let client = super::turns::through(&row).0;
    let waiting = fair.wait(&client, 1, None);
    row.give(&client, 2);
    assert!(waiting.within(SOON).expect("the server answers").done);
    let back = Request::new(Op::Release, "fair", fair.name(), 1);
    client.run_blocking(back).expect("held");
    eventually(|| row.is_clean());
}
