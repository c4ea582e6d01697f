//! Waiters of one semaphore that want different numbers of permits. Available permits go to the waiters that want no
//! more than that, and none waits for ever.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{PATIENCE, Server, all_at_once, secs};

use super::eventually;

/// A semaphore of either sort, with permits in the hands of one client and of another.
struct Stage {
    kind: &'static str,
    server: Server,
    one: Client,
    other: Client,
}

impl Stage {
    fn request(&self, op: Op, permits: i64) -> Request {
        Request { wait: None, numbers: vec![permits], ..Request::new(op, self.kind, "n", 1) }
    }

    fn set(&self, permits: i64) {
        let set = self.other.run_blocking(self.request(Op::TrySet, permits)).expect("answered");
        assert_eq!(set.number, 1, "they were never set");
    }

    fn add(&self, permits: i64) {
        self.other.run_blocking(self.request(Op::Add, permits)).expect("answered");
    }

    fn available(&self) -> i64 {
        self.other.run_blocking(self.request(Op::Inspect, 0)).expect("answered").number
    }

    /// Begins a wait of the first client, and returns once it waits.
    fn wait_for(&self, permits: i64) -> Receiver<Result<Answer, Error>> {
        let (sender, end) = mpsc::channel();
        self.one.submit(self.one.ticket(), self.request(Op::Acquire, permits), move |result| drop(sender.send(result)));
        eventually(|| self.server.view().listeners("redisson_sc:{n}") == 1);
        end
    }

    fn take(&self, permits: i64) -> Answer {
        let request = Request { wait: Some(PATIENCE), ..self.request(Op::Acquire, permits) };
        self.one.run_blocking(request).expect("answered")
    }

    fn give(&self, permits: i64, taken: &Answer) {
        let release = match self.kind {
            "semaphore" => self.request(Op::Release, permits),
            // The first permit's id; the others follow it.
            _ => Request { numbers: vec![permits], hold: taken.number as u64, ..self.request(Op::Release, permits) },
        };
        assert!(self.one.run_blocking(release).expect("answered").done);
    }
}

fn on_both_sorts(check: impl Fn(&Stage) + Sync) {
    all_at_once(["semaphore", "permit_semaphore"].into_iter().map(|kind| {
        let check = &check;
        let run = move || {
            let server = Server::start();
            let client = || Client::connect(&server.url()).expect("a good URL");
            check(&Stage { kind, one: client(), other: client(), server });
        };
        (kind.to_owned(), run)
    }));
}

fn is_taken(end: Receiver<Result<Answer, Error>>) -> Answer {
    let answer = end.recv_timeout(PATIENCE).expect("it ends").expect("answered");
    assert!(answer.done);
    answer
}

#[test]
fn a_waiter_for_more_than_there_is_does_not_stand_in_the_way_of_one_that_wants_less() {
    on_both_sorts(|stage| {
        stage.set(1);
        let much = stage.wait_for(2);
        for wait in [secs(2), PATIENCE] {
            let taken = stage
                .one
                .run_blocking(Request { wait: Some(wait), ..stage.request(Op::Acquire, 1) })
                .expect("answered");
            assert!(taken.done, "{}: one is there, and another client would get it", stage.kind);
            stage.give(1, &taken);
        }
        let taken = is_taken(stage.wait_for(1));
        stage.give(1, &taken);
        assert!(much.try_recv().is_err(), "there are not two");
        stage.add(1);
        is_taken(much);
        assert_eq!(stage.available(), 0);
    });
}

#[test]
fn permits_that_are_set_or_added_go_to_every_waiter_that_they_are_enough_for() {
    on_both_sorts(|stage| {
        let ends = [4, 3, 1, 2].map(|permits| stage.wait_for(permits));
        let [four, three, one, two] = ends;
        stage.set(1);
        is_taken(one);
        stage.add(3);
        let first = three.recv_timeout(PATIENCE).expect("it ends").expect("answered");
        let second = two;
        assert!(first.done && second.try_recv().is_err(), "the one that came first is served first");
        stage.add(2);
        is_taken(second);
        assert!(four.try_recv().is_err());
        stage.add(4);
        is_taken(four);
        assert_eq!(stage.available(), 0);
    });
}

#[test]
fn a_waiter_that_wants_all_is_served_although_others_keep_coming_that_want_less() {
    const ALL: i64 = 4;
    on_both_sorts(|stage| {
        stage.set(ALL);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 * ALL {
                scope.spawn(|| {
                    while !over.load(SeqCst) {
                        let taken = stage.take(1);
                        assert!(taken.done, "{}: some are there all the time", stage.kind);
                        // The holder of a permit works for a while.
                        thread::sleep(redlatch_tests::ms(3));
                        stage.give(1, &taken);
                    }
                });
            }
            let much = stage.wait_for(ALL);
            let end = much.recv_timeout(PATIENCE);
            if let Ok(Ok(taken)) = &end {
                stage.give(ALL, taken);
            }
            over.store(true, SeqCst);
            assert!(end.is_ok_and(|end| end.is_ok_and(|taken| taken.done)), "{}: it waits for ever", stage.kind);
        });
        assert_eq!(stage.available(), ALL);
    });
}

#[test]
fn a_waiter_that_was_overtaken_is_told_not_now_and_not_that_the_server_is_silent() {
    on_both_sorts(|stage| {
        stage.set(1);
        let wait = |permits| Request { wait: Some(secs(2)), ..stage.request(Op::Acquire, permits) };
        let (sender, end) = mpsc::channel();
        stage.one.submit(stage.one.ticket(), wait(5), move |told| drop(sender.send(told)));
        eventually(|| stage.server.view().listeners("redisson_sc:{n}") == 1);
        assert!(stage.one.run_blocking(wait(1)).expect("answered").done, "{}: one is there", stage.kind);
        let told = end.recv_timeout(PATIENCE).expect("it ends");
        assert!(matches!(&told, Ok(Answer { done: false, .. })), "{}: {told:?}", stage.kind);
    });
}
