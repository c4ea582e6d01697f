//! Several waiters of one owner.

use std::sync::mpsc;

use redlatch::Error;
use redlatch::ffi::{Border, Op, Request};

use super::promises;
use super::row::{Row, Waiting};
use crate::{eventually, ms};

/// Long before the lease ends, and longer than any machine takes.
const SOON: std::time::Duration = ms(10_000);

/// Both waiters of one owner get the lock; or one is told that the owner has it already, as a later call of the owner
/// would be.
fn both_are_answered(row: &Row, waiting: [Waiting; 2]) {
    let mut answers = waiting.map(|waiting| waiting.within(SOON));
    answers.sort_by_key(|answer| answer.is_err());
    let [first, second] = answers;
    assert!(first.expect("one of them has it").done);
    if row.traits.reentrant {
        assert!(second.expect("the owner has it").done);
        assert_eq!(row.count(&row.a, 7), 2);
        row.give(&row.a, 7);
    } else {
        assert!(matches!(second, Err(Error::AlreadyHeld { .. })), "{second:?}");
    }
    row.give(&row.a, 7);
    eventually(|| row.is_clean());
}

promises! {
    fn two_waiters_of_one_owner_are_answered_as_soon_as_another_client_lets_go(row) of |kind| kind.exclusive; {
        row.take(&row.b, 1);
        let waiting = [row.wait(&row.a, 7, None), row.wait(&row.a, 7, Some(ms(20_000)))];
        row.give(&row.b, 1);
        both_are_answered(row, waiting);
    }

    fn two_waiters_of_one_owner_are_answered_as_soon_as_their_own_client_lets_go(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let waiting = [row.wait(&row.a, 7, None), row.wait(&row.a, 7, Some(ms(20_000)))];
        row.give(&row.a, 1);
        both_are_answered(row, waiting);
    }

    /// Each waiter releases at once. Of two waits of one owner the second may begin when its first hold is over.
    fn a_second_waiter_of_an_owner_keeps_its_place_before_later_waiters(row) of |kind| kind.queue.passes() && kind.reentrant; {
        for round in 0..50 {
            row.take(&row.a, 1);
            let (sender, order) = mpsc::channel();
            let (tell, gone) = mpsc::channel();
            for owner in [7, 7, 8, 9] {
                let sender = sender.clone();
                let tell = tell.clone();
                let again = row.a.clone();
                let back = row.request(Op::Release, owner);
                row.a.submit(row.a.ticket(), Request { wait: None, ..row.request(Op::Acquire, owner) }, move |taken| {
                    assert!(taken.expect("taken").done);
                    sender.send(owner).expect("the test counts");
                    again.submit(again.ticket(), back, move |released| {
                        released.expect("held");
                        tell.send(()).expect("the test counts");
                    });
                });
            }
            row.give(&row.a, 1);
            let order = [(); 4].map(|()| order.recv_timeout(SOON).expect("each gets it"));
            assert_eq!(order, [7, 7, 8, 9], "round {round}");
            // An owner whose release has no answer yet still holds, so that it would not stand in line.
            for _ in 0..4 {
                gone.recv_timeout(SOON).expect("each has released");
            }
            eventually(|| row.is_clean());
        }
    }
}
