//! A thread that runs takes a lock that is on its way to a sleeping thread of its client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::kinds::{Queue, Traits};
use redlatch::ffi::{Answer, Border, Look, Op, Request, Seat, WaitEnd};
use redlatch::{Client, Error, Holds};
use redlatch_tests::PATIENCE;
use redlatch_tests::seats::{self, comes, run_past};

use super::promises;
use super::row::Row;
use crate::{eventually, ms, secs};

/// The turn of a client that hands its locks on for as long as a test takes.
const LONG: &str = "turn=60";

fn is_barged(kind: &Traits) -> bool {
    kind.queue == Queue::Inside && !kind.fenced
}

fn acquire(row: &Row, owner: i64) -> Request {
    Request { wait: None, ..row.request(Op::Acquire, owner) }
}

/// Has an owner wait in a seat to which no thread has come.
fn sit(row: &Row, client: &Client, owner: i64) -> Arc<Seat> {
    seats::sit(client, acquire(row, owner))
}

/// A lock is on its way to owner 3, whose thread sleeps, after a short hold of owner 2. Gives the seat of owner 3.
fn on_its_way(row: &Row, client: &Client) -> Arc<Seat> {
    row.take(client, 1);
    let second = sit(row, client, 2);
    let third = sit(row, client, 3);
    row.give(client, 1);
    comes(&second);
    row.give(client, 2);
    third
}

/// The same, and `request` has gone before owner 3. A busy machine may make the short hold a long one.
fn gone_past(row: &Row, client: &Client, request: &Request) -> Option<Arc<Seat>> {
    for _ in 0..200 {
        let third = on_its_way(row, client);
        let (seat, taken) = run_past(client, request.clone());
        if taken.is_some_and(|taken| taken.done) {
            return Some(third);
        }
        assert!(comes(&third).done);
        row.give(client, 3);
        if request.wait.is_none() {
            assert!(comes(&seat).done);
            row.give(client, request.owner);
        }
    }
    None
}

promises! {
    fn a_running_thread_takes_a_lock_that_is_on_its_way_to_a_sleeping_one(row) of |kind| is_barged(kind); {
        let client = row.client(LONG);
        let third = gone_past(row, &client, &acquire(row, 4)).expect("a running thread goes first");
        assert!(matches!(third.wait(Some(ms(1))), WaitEnd::NotYet), "two owners have the lock");
        assert_eq!(client.owners("n"), [4]);
        // The thread has woken in vain: the next release is for it, and it stands before later waiters.
        let fifth = sit(row, &client, 5);
        row.give(&client, 4);
        let (sixth, at_once) = run_past(&client, acquire(row, 6));
        assert!(at_once.is_none());
        assert!(comes(&third).done);
        assert_eq!(client.owners("n"), [3]);
        row.give(&client, 3);
        for (owner, seat) in [(5, fifth), (6, sixth)] {
            assert!(comes(&seat).done);
            row.give(&client, owner);
        }
        eventually(|| row.is_clean());
    }

    fn a_try_without_a_wait_and_a_lease_of_ones_own_go_past_no_waiter(row) of |kind| is_barged(kind); {
        let client = row.client(LONG);
        let wait = |wait, lease| Request { wait, lease, ..row.request(Op::Acquire, 4) };
        for request in [wait(Some(Duration::ZERO), None), wait(None, Some(secs(60)))] {
            assert!(gone_past(row, &client, &request).is_none(), "{request:?}");
        }
    }

    fn a_thread_of_the_heirs_own_owner_takes_one_hold_more(row) of |kind| is_barged(kind) && kind.reentrant; {
        let client = row.client(LONG);
        for _ in 0..20 {
            let third = on_its_way(row, &client);
            let (again, at_once) = run_past(&client, acquire(row, 3));
            let again = at_once.unwrap_or_else(|| comes(&again));
            assert!(again.done && comes(&third).done);
            assert_eq!(row.count(&client, 3), 2);
            row.give(&client, 3);
            row.give(&client, 3);
        }
        eventually(|| row.is_clean());
    }

    fn no_thread_takes_a_lock_from_a_task_or_after_a_hold_that_lasts(row) of |kind| is_barged(kind); {
        let client = row.client(LONG);
        for _ in 0..20 {
            row.take(&client, 1);
            let second = sit(row, &client, 2);
            let third = sit(row, &client, 3);
            row.give(&client, 1);
            comes(&second);
            let begun = Instant::now();
            while begun.elapsed() < ms(1) {}
            row.give(&client, 2);
            let (fourth, at_once) = run_past(&client, acquire(row, 4));
            assert!(at_once.is_none(), "it has waited for a long hold");
            assert!(comes(&third).done);
            let (sender, answer) = std::sync::mpsc::channel();
            client.submit(client.ticket(), acquire(row, 5), move |taken| drop(sender.send(taken)));
            row.give(&client, 3);
            comes(&fourth);
            row.give(&client, 4);
            let (sixth, at_once) = run_past(&client, acquire(row, 6));
            assert!(at_once.is_none(), "tasks are served in order");
            assert!(answer.recv_timeout(PATIENCE).expect("answered").expect("answered").done);
            row.give(&client, 5);
            comes(&sixth);
            row.give(&client, 6);
        }
    }

    fn a_thread_that_was_passed_by_gives_up_and_leaves_nothing_behind(row) of |kind| is_barged(kind); {
        let client = row.client(LONG);
        let third = gone_past(row, &client, &acquire(row, 4)).expect("a running thread goes first");
        third.insist();
        client.cancel(third.ticket());
        let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
        assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
        row.give(&client, 4);
        eventually(|| row.is_clean());
        // The lock of a thread that gives up before it was passed by stays its own.
        for _ in 0..20 {
            let third = on_its_way(row, &client);
            third.insist();
            client.cancel(third.ticket());
            let (fourth, at_once) = run_past(&client, acquire(row, 4));
            assert!(at_once.is_none());
            assert!(comes(&third).done);
            row.give(&client, 3);
            comes(&fourth);
            row.give(&client, 4);
        }
        eventually(|| row.is_clean());
    }

    fn a_lock_on_its_way_ends_with_its_client(row) of |kind| is_barged(kind); {
        let client = row.client(LONG);
        let third = gone_past(row, &client, &acquire(row, 4)).expect("a running thread goes first");
        client.close_blocking(Holds::Release);
        let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
        assert!(matches!(outcome, Err(Error::Closed { .. })), "{outcome:?}");
        eventually(|| row.is_clean());
        let client = row.client(LONG);
        let third = on_its_way(row, &client);
        client.close_blocking(Holds::Release);
        let WaitEnd::Over(outcome) = third.wait(Some(PATIENCE)) else { panic!("it is told") };
        let is_held = |taken: Answer| matches!(client.look(taken.number as u64), Look::Held { .. });
        assert!(!outcome.is_ok_and(is_held), "it is held after the end");
        eventually(|| row.is_clean());
    }

    fn many_threads_have_a_lock_one_at_a_time_though_some_go_first(row) of |kind| is_barged(kind); {
        let client = row.client("");
        let threads = 8;
        let rounds = 300;
        let inside = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = |owner: i64| {
                let client = client.clone();
                let inside = &inside;
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let answer = client.run_blocking(acquire(row, owner)).expect("answered");
                        assert!(answer.done);
                        assert!(!inside.swap(true, SeqCst), "two owners have the lock");
                        inside.store(false, SeqCst);
                        row.give(&client, owner);
                    }
                });
            };
            (1..=threads).for_each(work);
        });
        eventually(|| row.is_clean());
    }
}
