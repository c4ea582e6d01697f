//! An owner that uses one name by two kinds which share its keys, while other owners wait.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, Queue, Traits};
use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::{Direction, Proxy, all_at_once};

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
                    // This frees all in the end, also after a failure.
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

/// Tells whether the owner got the lock, or heard by a kind that it cannot take again that it has it already.
fn is_answered(row: &Row, came: &Result<Answer, Error>) -> bool {
    let is_refused = !row.traits.reentrant && matches!(came, Err(Error::AlreadyHeld { .. }));
    is_refused || came.as_ref().is_ok_and(|answer| answer.done)
}

#[test]
fn an_owner_that_has_a_lock_takes_it_by_another_kind_before_others_that_wait() {
    let is_pair =
        |first: &Traits, second: &Traits| are_locks(first, second) || (first.name, second.name) == ("write", "read");
    each(is_pair, |first, second, client| {
        first.take(client, 1);
        let _before = second.wait(client, 3, None);
        let came = second.begin(client, 1, None).within(SOON);
        assert!(is_answered(second, &came), "{came:?}");
        assert_eq!(came.is_ok(), second.traits.reentrant, "{came:?}");
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
        let came = [(first, by_first), (second, by_second)].map(|(row, waiting)| (row, waiting.within(SOON)));
        assert!(came.iter().all(|(row, came)| is_answered(row, came)), "{:?}", came.each_ref().map(|(_, came)| came));
        assert!(came.iter().any(|(_, came)| came.is_ok()), "no kind got it");
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
            let by_try = first.begin(client, 1, Some(Duration::ZERO));
            let came = [(first, by_try), (second, by_second)].map(|(row, waiting)| (row, waiting.within(SOON)));
            assert!(
                came.iter().all(|(row, came)| is_answered(row, came)),
                "{:?}",
                came.each_ref().map(|(_, came)| came)
            );
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

/// The owner held it through the grip of another one, by the kind by which it takes it again.
#[test]
fn a_lost_hold_through_another_owners_grip_hides_no_hold_by_another_kind() {
    let row = Row::of("plain");
    let fair = row.by("fair");
    let (client, heir) = super::turns::through(&row);
    let mut view = row.view();
    eventually(|| view.tells());
    view.command::<()>(&["DEL", "n"]);
    eventually(|| matches!(client.look(heir.number as u64), Look::Lost(_)));
    fair.take(&client, 2);
    row.take(&client, 2);
    let field = format!("{}:2", client.id());
    assert_eq!(view.command::<String>(&["HGET", "n", &field]), "2");
    row.give(&client, 2);
    fair.give(&client, 2);
    assert!(matches!(row.try_give(&client, 2), Err(Error::Lost(_))));
    assert!(row.is_clean());
}

/// The server counts the holds together: so does Redisson, whose locks of these kinds are one.
#[test]
fn a_release_by_a_kind_that_the_owner_has_no_hold_by_ends_its_latest_hold_of_the_lock() {
    each(are_locks, |first, second, client| {
        first.take(client, 1);
        let waiting = first.begin(client, 2, None);
        second.give(client, 1);
        assert!(waiting.within(SOON).expect("the server answers").done);
        assert!(matches!(second.try_give(client, 1), Err(Error::NotHeld { .. })));
        second.give(client, 2);
        eventually(|| first.is_clean());
        if first.traits.reentrant && second.traits.reentrant {
            first.take(client, 1);
            second.take(client, 1);
            second.give(client, 1);
            assert!(first.is_taken(client));
            second.give(client, 1);
        }
    });
}

/// As above, but the latest hold is on its way back when the release begins.
#[test]
fn a_release_by_a_kind_that_the_owner_has_no_hold_by_ends_the_hold_that_is_left() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    for kinds in [
        ["plain", "fair", "fenced"],
        ["fenced", "spin", "non_reentrant"],
        ["fair", "plain", "spin"],
        // Both releases are by the same kind.
        ["plain", "fenced", "fenced"],
        ["spin", "fair", "fair"],
    ] {
        let client = Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
        let [first, second, third] = kinds.map(|kind| row.by(kind));
        first.take(&client, 1);
        second.take(&client, 1);
        proxy.stall(Direction::ToServer);
        let back = [&second, &third].map(|by| {
            let (done, answered) = mpsc::channel();
            client.submit(client.ticket(), by.request(Op::Release, 1), move |answer| drop(done.send(answer)));
            answered
        });
        proxy.flow();
        let left = back.map(|answered| {
            let answer = answered.recv_timeout(SOON).expect("the server answers");
            answer.unwrap_or_else(|error| panic!("{kinds:?}: {error}")).number
        });
        assert_eq!(left, [1, 0], "{kinds:?}");
        client.close_blocking(Holds::Release);
        eventually(|| row.is_clean());
    }
}

/// No message of the one kind tells the other one's waiters that the lock is free.
#[test]
fn a_release_by_one_kind_wakes_the_waiters_of_another_in_its_client() {
    let is_pair = |first: &Traits, second: &Traits| {
        are_locks(first, second) && second.queue != Queue::Alone && ["spin", "fair", "plain"].contains(&first.name)
    };
    each(is_pair, |first, second, client| {
        first.take(client, 1);
        let waiting = second.wait(client, 2, None);
        first.give(client, 1);
        assert!(waiting.within(SOON).expect("the server answers").done);
        second.give(client, 2);
    });
}

/// Each of two threads of one owner takes and releases the lock by its own kind, while another client tries to come in.
#[test]
fn a_release_by_one_kind_leaves_the_lock_to_a_hold_of_the_same_owner_by_another() {
    let is_pair = |first: &Traits, second: &Traits| are_locks(first, second) && first.reentrant && second.reentrant;
    each(is_pair, |first, second, client| {
        let held = AtomicI64::new(0);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let owners = [first, second].map(|row| {
                scope.spawn(|| {
                    for _ in 0..60 {
                        // No message of one kind may tell a waiter of the other.
                        while row.try_for(client, 1, ms(0)).is_none() {
                            std::thread::yield_now();
                        }
                        held.fetch_add(1, SeqCst);
                        std::thread::yield_now();
                        held.fetch_sub(1, SeqCst);
                        row.give(client, 1);
                    }
                })
            });
            let other = &first.b;
            let held = &held;
            let over = &over;
            scope.spawn(move || {
                while !over.load(SeqCst) {
                    if first.try_for(other, 9, ms(0)).is_some() {
                        let inside = held.load(SeqCst);
                        first.give(other, 9);
                        assert_eq!(inside, 0, "then {}: two owners hold it", second.traits.name);
                    }
                }
            });
            let ends = owners.map(std::thread::ScopedJoinHandle::join);
            over.store(true, SeqCst);
            ends.into_iter().for_each(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        });
    });
}
