//! How waiters wait.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

use redlatch::Error;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::PATIENCE;

use super::promises;
use super::row::scripts;
use crate::{eventually, ms};

promises! {
    fn a_release_wakes_waiters_of_this_client_and_of_others_long_before_the_lease_ends(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let mut waiting = vec![(&row.b, 2, row.wait(&row.b, 2, None)), (&row.a, 3, row.wait(&row.a, 3, Some(ms(20_000))))];
        assert!(waiting.iter().all(|(.., waiting)| waiting.is_waiting()));
        row.give(&row.a, 1);
        for _ in 0..2 {
            let at = std::cell::Cell::new(0);
            eventually(|| waiting.iter().position(|(client, owner, _)| row.count(client, *owner) == 1).map(|found| at.set(found)).is_some());
            let (client, owner, taken) = waiting.remove(at.get());
            assert!(taken.within(ms(5_000)).expect("woken").done);
            row.give(client, owner);
        }
        eventually(|| row.is_clean());
    }

    fn a_wait_that_runs_out_is_an_answer_and_leaves_nothing(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        for (client, owner) in [(&row.a, 2), (&row.b, 2)] {
            assert!(row.try_for(client, owner, ms(0)).is_none());
            assert!(row.try_for(client, owner, ms(150)).is_none());
        }
        row.give(&row.a, 1);
        eventually(|| row.is_clean());
    }

    fn an_acquire_that_is_cancelled_leaves_nothing(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let waiting = [row.wait(&row.b, 2, None), row.wait(&row.b, 3, Some(ms(20_000))), row.wait(&row.a, 4, None)];
        waiting.iter().for_each(|waiting| waiting.cancel());
        for waiting in waiting {
            assert!(matches!(waiting.within(ms(5_000)), Err(Error::Cancelled)));
        }
        row.give(&row.a, 1);
        eventually(|| row.is_clean());
        row.take(&row.b, 5);
    }

    /// The deletion publishes nothing. A waiter without tries of its own must look when the remaining time that it saw
    /// is over.
    fn a_key_deleted_under_a_waiter_is_taken_when_its_time_is_over_at_the_latest(row) of |kind| kind.exclusive; {
        row.lease(&row.a, 1, ms(3_000));
        let waiting = row.wait(&row.b, 2, None);
        row.view().command::<()>(&["DEL", row.key()]);
        assert!(waiting.within(ms(8_000)).expect("taken").done);
    }

    fn an_acquire_and_a_release_are_one_script_call_each(row) of |kind| kind.held; {
        row.take(&row.a, 1);
        row.give(&row.a, 1);
        let mut view = row.view();
        view.forget_calls();
        row.take(&row.a, 1);
        assert_eq!(scripts(&mut view), 1);
        row.give(&row.a, 1);
        assert_eq!(scripts(&mut view), 2);
    }

    /// A waiter whose line is still listening tries once and sleeps. A slow machine may come back after the line has
    /// closed.
    fn a_caller_that_comes_back_at_once_tries_once_before_it_sleeps(row) of |kind| kind.exclusive; {
        if !row.hears() {
            return;
        }
        row.take(&row.a, 1);
        let mut view = row.view();
        let each = if row.traits.fair { 2 } else { 1 };
        eventually(|| {
            view.forget_calls();
            for _ in 0..20 {
                assert!(row.try_for(&row.b, 2, ms(3)).is_none());
            }
            scripts(&mut view) <= 20 * each + 5
        });
    }

    fn many_owners_of_two_clients_hold_the_lock_one_at_a_time_and_all_have_their_turn(row) of |kind| kind.exclusive; {
        let inside = AtomicUsize::new(0);
        let turns = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for owner in 1..=8 {
                let inside = &inside;
                let turns = &turns;
                scope.spawn(move || {
                    let client = if owner % 2 == 0 { &row.a } else { &row.b };
                    for _ in 0..20 {
                        assert!(row.try_for(client, owner, ms(30_000)).is_some(), "its turn comes");
                        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                        turns.fetch_add(1, SeqCst);
                        row.give(client, owner);
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 160);
        eventually(|| row.is_clean());
    }

    fn callers_of_one_client_take_hardly_more_than_one_script_call_each(row) of |kind| kind.queue.passes(); {
        row.take(&row.a, 101);
        let line: Vec<_> = (1..=100).map(|owner| (owner, row.wait(&row.a, owner, None))).collect();
        let mut view = row.view();
        let start = Instant::now();
        view.forget_calls();
        row.give(&row.a, 101);
        for (owner, waiting) in line {
            assert!(waiting.within(PATIENCE).expect("answered").done);
            row.give(&row.a, owner);
        }
        // Other clients have their turn after 64 holds in a row, or after 10 ms: there the lock is released and asked
        // for.
        let turns = 2 + start.elapsed().as_millis() as u64 / 10;
        let calls = scripts(&mut view);
        assert!(calls <= 101 + 2 * turns, "{calls} script calls for 100 acquisitions and {turns} turns of others");
    }

    fn a_hold_whose_acquire_was_abandoned_is_given_back(row) of |kind| kind.held; {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
        for _ in 0..50 {
            let client = row.a.clone();
            let request = Request { wait: None, ..row.request(Op::Acquire, 1) };
            let task = runtime.spawn(async move { client.run(request).await.map(drop) });
            task.abort();
        }
        eventually(|| row.is_clean());
        assert!(row.try_for(&row.b, 2, ms(5_000)).is_some());
    }
}
