//! The promises of single kinds.

use std::time::Duration;

use redlatch_tests::{View, all_at_once, eventually};

use crate::holds;
use crate::languages::ALL;
use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair, kinds};
use crate::waiting::until_told_by_a_newcomer;

#[test]
fn a_lock_that_is_not_reentrant_is_refused_to_its_owner_and_kept() {
    every_pair(
        "twice",
        |kind| kind.exclusive && !kind.reentrant,
        |holder, other| {
            holder.lock(None);
            holder.lock_in_vain();
            assert!(!other.try_lock(Duration::ZERO));
            holds(&mut STAGE.server.view(), holder, 1);
            holder.unlock();
            assert!(other.try_lock(Duration::ZERO));
            other.unlock();
        },
    );
}

#[test]
fn every_language_counts_the_same_tokens() {
    every_pair(
        "tokens",
        |kind| kind.fenced,
        |one, two| {
            assert_eq!((one.token(), two.token()), (0, 0));
            for (round, party) in [one, two, one, one, two].into_iter().enumerate() {
                party.lock(None);
                assert_eq!((one.token(), two.token()), (round as i64 + 1, round as i64 + 1));
                party.unlock();
            }
        },
    );
}

/// How many waiters stand in the queue of a fair lock.
fn queued(view: &mut View, name: &str) -> usize {
    view.command(&["LLEN", &format!("redisson_lock_queue:{{{name}}}")])
}

#[test]
fn the_waiter_that_has_waited_longest_is_next_in_any_language() {
    let rounds = kinds(|kind| kind.fair).flat_map(|kind| (0..ALL.len()).map(move |first| (kind, first)));
    all_at_once(rounds.map(|(kind, first)| {
        let name = format!("order: {}: from {}", kind.traits.name, ALL[first].name);
        let job = {
            let name = name.clone();
            move || {
                let mut view = STAGE.server.view();
                let parties: Vec<_> = STAGE.agents().map(|agent| Party::new(agent, kind, &name)).collect();
                let turn = |at: usize| &parties[(first + at * 3) % parties.len()];
                turn(0).lock(None);
                let mut waiting = Vec::new();
                for at in 1..parties.len() {
                    waiting.push(turn(at).begin_lock(None));
                    eventually("one more in the queue", || (queued(&mut view, &name) == at).then_some(()));
                }
                for (at, pending) in (1..).zip(waiting) {
                    turn(at - 1).unlock();
                    pending.within(SOON).expect("it is free");
                    holds(&mut view, turn(at), 1);
                }
                turn(parties.len() - 1).unlock();
            }
        };
        (name, job)
    }));
}

#[test]
fn a_redisson_that_sleeps_over_a_free_fair_lock_is_woken_by_the_next_caller() {
    every_pair(
        "oversleeping",
        |kind| kind.fair,
        |holder, waiter| {
            if !waiter.is_redisson() {
                return;
            }
            let mut view = STAGE.server.view();
            let lease = Duration::from_millis(1500);
            holder.lock(Some(lease));
            let pending = waiter.begin_lock(None);
            eventually("the waiter to have asked", || {
                (queued(&mut view, waiter.name()) == 1 || waiter.has(&mut view)).then_some(())
            });
            // The time that the waiter counts with is over when the lease is not.
            let longer =
                "return redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('PEXPIRE', KEYS[1], ARGV[2])";
            let ms = (2 * lease).as_millis().to_string();
            view.command::<()>(&["EVAL", longer, "1", holder.name(), &holder.field(), &ms]);
            until_told_by_a_newcomer(waiter, 2 * lease + SOON);
            pending.within(SOON).expect("it has the lock");
            waiter.unlock();
        },
    );
}
