//! A thread that runs takes a lock that is on its way to a sleeping thread of its client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use redlatch::ffi::{Border, Look, Op, Request, Seat, WaitEnd};
use redlatch::{Client, Error, Holds};
use redlatch_tests::seats::{comes, run_past, sit};
use redlatch_tests::{Mariadb, PATIENCE, ms, secs};

use crate::{acquire, client, eventually};

/// The turn of a client that hands its locks on for as long as a test takes.
const LONG: &str = "turn=60";
const BARGED: [&str; 2] = ["plain", "non_reentrant"];

fn give(client: &Client, kind: &'static str, owner: i64) {
    client.run_blocking(Request::new(Op::Release, kind, "n", owner)).expect("held");
}

/// A lock is on its way to owner 3, whose thread sleeps, after a short hold of owner 2. Gives the seat of owner 3.
fn on_its_way(client: &Client, kind: &'static str) -> Arc<Seat> {
    assert!(client.run_blocking(acquire(kind, "n", 1, None)).expect("answered").done);
    let [second, third] = [2, 3].map(|owner| sit(client, acquire(kind, "n", owner, None)));
    give(client, kind, 1);
    comes(&second);
    give(client, kind, 2);
    third
}

/// The same, and `request` has gone before owner 3. A busy machine may make the short hold a long one.
fn gone_past(client: &Client, kind: &'static str, request: &Request) -> Option<Arc<Seat>> {
    for _ in 0..200 {
        let third = on_its_way(client, kind);
        let (seat, taken) = run_past(client, request.clone());
        if taken.is_some_and(|taken| taken.done) {
            return Some(third);
        }
        assert!(comes(&third).done);
        give(client, kind, 3);
        if request.wait.is_none() {
            assert!(comes(&seat).done);
            give(client, kind, request.owner);
        }
    }
    None
}

#[test]
fn a_running_thread_takes_a_lock_that_is_on_its_way_to_a_sleeping_one() {
    let server = Mariadb::start();
    let mut view = server.sql();
    for kind in BARGED {
        let client = client(&server, LONG);
        let third = gone_past(&client, kind, &acquire(kind, "n", 4, None)).expect("a running thread goes first");
        assert!(matches!(third.wait(Some(ms(1))), WaitEnd::NotYet), "two owners have the lock");
        assert_eq!(client.owners("n"), [4]);
        // The thread has woken in vain: the next release is for it, and it stands before later waiters.
        let fifth = sit(&client, acquire(kind, "n", 5, None));
        give(&client, kind, 4);
        let sixth = sit(&client, acquire(kind, "n", 6, None));
        assert!(comes(&third).done);
        assert_eq!(client.owners("n"), [3]);
        give(&client, kind, 3);
        for (owner, seat) in [(5, fifth), (6, sixth)] {
            assert!(comes(&seat).done);
            give(&client, kind, owner);
        }
        eventually(|| view.holder("n").is_none());
    }
}

#[test]
fn a_try_without_a_wait_and_a_lease_of_ones_own_go_past_no_waiter() {
    let server = Mariadb::start();
    let client = client(&server, LONG);
    let once = acquire("plain", "n", 4, Some(Duration::ZERO));
    let leased = Request { lease: Some(secs(60)), ..acquire("plain", "n", 4, None) };
    for request in [once, leased] {
        assert!(gone_past(&client, "plain", &request).is_none(), "{request:?}");
    }
}

#[test]
fn a_thread_that_was_passed_by_gives_up_and_leaves_nothing_behind() {
    let server = Mariadb::start();
    let mut view = server.sql();
    let client = client(&server, LONG);
    let fourth = acquire("plain", "n", 4, None);
    let third = gone_past(&client, "plain", &fourth).expect("a running thread goes first");
    third.insist();
    client.cancel(third.ticket());
    let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    give(&client, "plain", 4);
    eventually(|| view.holder("n").is_none() && view.waiting() == 0);
    // The lock of a thread that gives up before it was passed by stays its own.
    for _ in 0..20 {
        let third = on_its_way(&client, "plain");
        third.insist();
        client.cancel(third.ticket());
        let fourth = sit(&client, fourth.clone());
        assert!(comes(&third).done);
        give(&client, "plain", 3);
        comes(&fourth);
        give(&client, "plain", 4);
    }
    eventually(|| view.holder("n").is_none() && view.waiting() == 0);
}

#[test]
fn a_lock_on_its_way_ends_with_its_client() {
    let server = Mariadb::start();
    let mut view = server.sql();
    let passed_by = client(&server, LONG);
    let third = gone_past(&passed_by, "plain", &acquire("plain", "n", 4, None)).expect("a running thread goes first");
    passed_by.close_blocking(Holds::Release);
    let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
    assert!(matches!(outcome, Err(Error::Closed { .. })), "{outcome:?}");
    eventually(|| view.sessions() == 0);
    let waited_for = client(&server, LONG);
    let third = on_its_way(&waited_for, "plain");
    waited_for.close_blocking(Holds::Release);
    let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
    let is_held = outcome.is_ok_and(|taken| matches!(waited_for.look(taken.number as u64), Look::Held { .. }));
    assert!(!is_held, "it is held after the end");
    eventually(|| view.sessions() == 0);
}

#[test]
fn many_threads_have_a_lock_one_at_a_time_though_some_go_first() {
    let server = Mariadb::start();
    let mut view = server.sql();
    for kind in BARGED {
        let client = client(&server, "");
        let inside = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for owner in 1..=8 {
                let client = &client;
                let inside = &inside;
                scope.spawn(move || {
                    for _ in 0..300 {
                        assert!(client.run_blocking(acquire(kind, "n", owner, None)).expect("answered").done);
                        assert!(!inside.swap(true, SeqCst), "two owners have the lock");
                        inside.store(false, SeqCst);
                        give(client, kind, owner);
                    }
                });
            }
        });
        eventually(|| view.holder("n").is_none());
    }
}
