//! A client counts every acquire, release and loss once.

use redlatch::ffi::kinds::Queue;
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, LostReason, Stats};

use super::promises;
use super::row::Row;
use crate::{eventually, ms, secs};

fn losses(client: &Client) -> u64 {
    client.stats().lost.iter().map(|(_, count)| count).sum()
}

promises! {
    fn each_acquire_and_each_release_counts_once(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let Stats { held, waiting, acquired, released, .. } = row.a.stats();
        assert_eq!((held, waiting, acquired, released), (1, 0, 1, 0));

        assert!(row.try_for(&row.b, 2, ms(0)).is_none() && row.try_for(&row.b, 2, ms(20)).is_none());
        let Stats { waiting, acquired, not_acquired, waited, .. } = row.b.stats();
        assert_eq!((waiting, acquired, not_acquired), (0, 0, 2));
        assert!(waited >= ms(20), "{waited:?}");

        let waits = row.begin(&row.b, 2, None);
        eventually(|| row.b.stats().waiting == 1);
        waits.cancel();
        assert!(matches!(waits.within(ms(20_000)), Err(Error::Cancelled)));
        let Stats { waiting, cancelled, .. } = row.b.stats();
        assert_eq!((waiting, cancelled), (0, 1));

        let waits = row.begin(&row.b, 3, None);
        eventually(|| row.b.stats().waiting == 1);
        row.give(&row.a, 1);
        assert!(waits.within(ms(20_000)).expect("answered").done);
        let Stats { held, waiting, acquired, failed, .. } = row.b.stats();
        assert_eq!((held, waiting, acquired, failed), (1, 0, 1, 0));
        let Stats { held, released, held_for, .. } = row.a.stats();
        assert_eq!((held, released), (0, 1));
        assert!(held_for >= ms(20), "{held_for:?}");
        row.try_give(&row.a, 1).expect_err("it has none");
        assert_eq!((row.a.stats().released, losses(&row.a)), (1, 0));
        row.give(&row.b, 3);
    }

    fn nested_holds_count_each_and_their_time_once(row) of |kind| kind.reentrant; {
        (0..3).for_each(|_| drop(row.take(&row.a, 1)));
        assert_eq!((row.a.stats().held, row.a.stats().acquired), (3, 3));
        (0..2).for_each(|_| row.give(&row.a, 1));
        let Stats { held, released, held_for, .. } = row.a.stats();
        assert_eq!((held, released, held_for), (1, 2, ms(0)));
        row.give(&row.a, 1);
        assert!(row.a.stats().held == 0 && row.a.stats().held_for > ms(0));
    }

    fn a_loss_counts_once_under_its_reason(row) of |kind| kind.held; {
        row.take(&row.a, 1);
        row.b.run_blocking(row.request(Op::ForceRelease, 0)).expect("it is held");
        eventually(|| losses(&row.a) > 0);
        row.try_give(&row.a, 1).expect_err("it is lost");
        let Stats { held, released, lost, .. } = row.a.stats();
        let counted: Vec<_> = lost.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!((held, released), (0, 0));
        assert_eq!(counted, [(LostReason::Deleted, 1)]);

        row.lease(&row.a, 1, ms(30));
        eventually(|| losses(&row.a) == 2);
        assert!(row.a.stats().lost.contains(&(LostReason::Expired, 1)));
    }

    fn a_hold_that_comes_for_a_caller_that_is_gone_counts_as_cancelled_alone(row) of |kind| kind.held; {
        for owner in 1..=300 {
            let waits = row.begin(&row.a, owner, None);
            waits.cancel();
            if waits.within(secs(20)).is_ok() {
                row.give(&row.a, owner);
            }
        }
        eventually(|| row.a.stats().held == 0);
        let Stats { acquired, cancelled, released, .. } = row.a.stats();
        assert_eq!((acquired + cancelled, released), (300, acquired));
        assert!(cancelled > 0, "set up badly");
    }

    fn a_lock_that_is_handed_on_inside_counts_for_each_of_its_owners(row) of |kind| kind.queue == Queue::Inside; {
        std::thread::scope(|scope| {
            for owner in 1..=4 {
                scope.spawn(move || {
                    for _ in 0..100 {
                        let wait = Request { wait: None, ..row.request(Op::Acquire, owner) };
                        assert!(row.a.run_blocking(wait).expect("answered").done);
                        row.give(&row.a, owner);
                    }
                });
            }
        });
        let Stats { held, waiting, acquired, released, cancelled, .. } = row.a.stats();
        assert_eq!((held, waiting, acquired, released, cancelled), (0, 0, 400, 400, 0));
    }
}

#[test]
fn a_renewal_without_an_answer_counts() {
    let row = Row::of("plain");
    let client = row.quick(0.9);
    row.take(&client, 1);
    row.server.pause();
    eventually(|| client.stats().renewals_failed > 0);
    row.server.resume();
    eventually(|| client.stats().held == 0 || row.try_give(&client, 1).is_ok());
}

#[test]
fn permits_count_as_locks_do() {
    let row = Row::of("plain");
    let permits = row.a.permit_semaphore("permits");
    assert!(permits.try_set_permits(1).blocking().expect("answered"));
    let permit = permits.acquire().blocking().expect("available");
    permits.acquire().wait(ms(10)).blocking().expect_err("it is out");
    permit.release_blocking().expect("it is out");
    let semaphore = row.a.semaphore("semaphore");
    assert!(semaphore.try_set_permits(2).blocking().expect("answered"));
    semaphore.acquire(2).blocking().expect("available").release_blocking().expect("out");
    let Stats { held, waiting, acquired, not_acquired, released, .. } = row.a.stats();
    assert_eq!((held, waiting, acquired, not_acquired, released), (0, 0, 2, 1, 2));
}

#[test]
fn the_wait_for_a_latch_counts_as_none_and_a_closed_client_still_tells() {
    let row = Row::of("plain");
    let latch = row.a.latch("latch");
    assert!(latch.try_set_count(1).blocking().expect("answered"));
    assert!(!latch.wait().wait(ms(10)).blocking().expect("answered"));
    row.take(&row.a, 1);
    row.a.close_blocking(redlatch::Holds::Release);
    let Stats { held, waiting, acquired, not_acquired, .. } = row.a.stats();
    assert_eq!((held, waiting, acquired, not_acquired), (0, 0, 1, 0));
    assert!(row.a.stats().lost.contains(&(LostReason::Closed, 1)));
}
