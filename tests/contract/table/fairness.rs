//! The waiter that has waited longest is next, in any client; a dead one is passed over.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{Direction, Proxy};

use super::row::scripts;
use super::{Row, promises};
use crate::{eventually, ms};

const QUEUE: &str = "redisson_lock_queue:{n}";
const DEADLINES: &str = "redisson_lock_timeout:{n}";

/// A waiter of another library stands in the queue, until so many ms from now.
fn stranger(row: &Row, owner: &str, left: i64) {
    let mut view = row.view();
    let (seconds, micros): (i64, i64) = view.command(&["TIME"]);
    let until = seconds * 1000 + micros / 1000 + left;
    view.command::<()>(&["ZADD", DEADLINES, &until.to_string(), owner]);
    view.command::<()>(&["RPUSH", QUEUE, owner]);
}

fn queue(row: &Row) -> Vec<String> {
    row.view().command(&["LRANGE", QUEUE, "0", "-1"])
}

promises! {
    fn the_lock_goes_to_the_waiter_that_has_waited_longest(row) of |kind| kind.fair; {
        row.take(&row.a, 1);
        let (sender, order) = mpsc::channel();
        for owner in 2..=60 {
            let client = if owner % 3 == 0 { &row.a } else { &row.b };
            let sender = sender.clone();
            let again = client.clone();
            let back = row.request(Op::Release, owner);
            client.submit(client.ticket(), Request { wait: None, ..row.request(Op::Acquire, owner) }, move |taken| {
                assert!(taken.expect("taken").done);
                sender.send(owner).expect("the test counts");
                again.submit(again.ticket(), back, |released| drop(released.expect("held")));
            });
            eventually(|| queue(row).len() as i64 == owner - 1);
        }
        row.give(&row.a, 1);
        let order: Vec<i64> = (2..=60).map(|_| order.recv_timeout(ms(20_000)).expect("every waiter gets the lock")).collect();
        assert_eq!(order, (2..=60).collect::<Vec<_>>());
        eventually(|| row.is_clean());
    }

    fn fifty_dead_waiters_cost_the_next_one_a_single_grace(row) of |kind| kind.fair; {
        let proxy = Proxy::start(&row.server);
        let doomed = Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
        row.take(&row.a, 1);
        for owner in 2..=51 {
            doomed.submit(doomed.ticket(), Request { wait: None, ..row.request(Op::Acquire, owner) }, drop);
        }
        eventually(|| queue(row).len() == 50);
        let next = row.wait(&row.b, 9, None);
        proxy.stall(Direction::ToServer);
        let died = Instant::now();
        row.give(&row.a, 1);
        assert!(next.within(ms(12_000)).expect("the dead are passed over").done);
        // The promise is not speed: one dead waiter costs no longer than this, and fifty cost no longer than one.
        assert!(died.elapsed() <= ms(5_000), "{:?}", died.elapsed());
        row.give(&row.b, 9);
        assert!(row.view().keys("*").is_empty());
    }

    fn no_newcomer_takes_a_free_lock_past_a_living_head(row) of |kind| kind.fair; {
        stranger(row, "u:1", 60_000);
        assert!(row.try_for(&row.a, 1, ms(0)).is_none());
        assert_eq!(queue(row), ["u:1"], "an owner that tries once does not stand in the queue");
        assert!(row.try_for(&row.a, 1, ms(200)).is_none());
        eventually(|| queue(row) == ["u:1"]);
        row.view().command::<()>(&["ZADD", DEADLINES, "1", "u:1"]);
        row.take(&row.a, 1);
        assert!(queue(row).is_empty());
        row.give(&row.a, 1);
        eventually(|| row.is_clean());
    }

    fn a_waiter_behind_an_absent_one_tries_now_and_then(row) of |kind| kind.fair; {
        stranger(row, "u:1", 60_000);
        let waiting = row.wait(&row.a, 2, None);
        let mut view = row.view();
        let before = scripts(&mut view);
        std::thread::sleep(ms(1_000));
        assert!(scripts(&mut view) <= before + 20, "it spins");
        assert!(waiting.is_waiting());
        row.view().command::<()>(&["ZADD", DEADLINES, "1", "u:1"]);
        assert!(waiting.within(ms(5_000)).expect("the other is given up").done);
    }

    fn a_waiter_counts_the_time_of_the_others_in_the_queue(row) of |kind| kind.fair; {
        row.take(&row.a, 1);
        stranger(row, "u:1", 60_000);
        let client = Client::connect(&format!("{}?fair_wait=20", row.server.url())).expect("a good URL");
        let waiting = row.wait(&client, 2, None);
        eventually(|| queue(row).len() == 2);
        let mut view = row.view();
        let until: f64 = view.command(&["ZSCORE", DEADLINES, &queue(row)[1]]);
        let (seconds, _): (f64, f64) = view.command(&["TIME"]);
        // A new waiter counts the stranger's share of time from the first moment on, and one grace remains.
        let left = until / 1000.0 - seconds;
        assert!((20.0..40.0).contains(&left), "{left} s");
        waiting.cancel();
    }

    fn the_head_is_told_of_a_release_and_of_one_before_it_that_leaves(row) of |kind| kind.fair; {
        let mut listener = row.server.listen("redisson_lock__channel:{n}:u:1");
        row.take(&row.a, 1);
        stranger(row, "u:1", 60_000);
        row.give(&row.a, 1);
        assert_eq!(listener.hear(), "0");
        assert_eq!(queue(row), ["u:1"]);
        row.view().command::<()>(&["DEL", QUEUE, DEADLINES]);
        stranger(row, "u:2", 60_000);
        let waiting = row.wait(&row.b, 2, None);
        stranger(row, "u:1", 60_000);
        row.view().command::<()>(&["LREM", QUEUE, "0", "u:2"]);
        waiting.cancel();
        assert_eq!(listener.hear(), "0");
    }

    /// Each of these waits is over before its first try is answered.
    fn a_wait_that_is_over_leaves_the_place_of_another_wait_of_its_owner(row) of |kind| kind.fair; {
        row.take(&row.b, 1);
        let first = row.wait(&row.a, 7, None);
        eventually(|| queue(row).len() == 1);
        let second = row.wait(&row.b, 8, None);
        eventually(|| queue(row).len() == 2);
        let order = queue(row);
        for _ in 0..5 {
            // A line that has just heard that the lock is taken does not begin the next wait with a try.
            std::thread::sleep(ms(300));
            let (sender, end) = mpsc::channel();
            let short = Request { wait: Some(Duration::from_nanos(1)), ..row.request(Op::Acquire, 7) };
            row.a.submit(row.a.ticket(), short, move |end| drop(sender.send(end)));
            let end = end.recv_timeout(ms(20_000)).expect("its time is over");
            assert!(!end.is_ok_and(|answer| answer.done));
            std::thread::sleep(ms(100));
            assert_eq!(queue(row), order);
        }
        row.give(&row.b, 1);
        assert!(first.within(ms(20_000)).expect("it came first").done);
        assert!(second.is_waiting());
        row.give(&row.a, 7);
        assert!(second.within(ms(20_000)).expect("its turn").done);
        row.give(&row.b, 8);
        eventually(|| row.is_clean());
    }

    /// The leave message of an earlier wait is on its way when the next wait begins.
    fn a_new_wait_of_an_owner_keeps_its_place_when_its_former_one_gives_up(row) of |kind| kind.fair; {
        row.take(&row.b, 1);
        let mut without = 0;
        for round in 0..300_u64 {
            let former = row.wait(&row.a, 7, None);
            eventually(|| queue(row).len() == 1);
            former.cancel();
            let since = Instant::now();
            while since.elapsed().as_micros() < u128::from(round % 100) {}
            let next = row.wait(&row.a, 7, None);
            std::thread::sleep(ms(15));
            if queue(row).is_empty() {
                std::thread::sleep(ms(200));
                without += usize::from(queue(row).is_empty());
            }
            next.cancel();
            eventually(|| queue(row).is_empty());
        }
        assert_eq!(without, 0, "so many waits have no place");
        row.give(&row.b, 1);
    }
}
