//! A grant that comes when the caller is gone: its owner's next call finds no trace of it.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::kinds::{ALL, Traits};
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::dice::Dice;
use redlatch_tests::{Server, all_at_once};

/// The time for each kind, and the callers of each of two clients.
const LONG: Duration = Duration::from_secs(2);
const CALLERS: i64 = 3;

fn kinds() -> impl Iterator<Item = &'static Traits> {
    let kinds = ["plain", "spin", "fenced", "fair", "non_reentrant", "non_reentrant_fair", "token", "write"];
    ALL.iter().map(|row| &row.traits).filter(move |traits| kinds.contains(&traits.name))
}

/// The number of holds that the owner has.
fn count(client: &Client, kind: &'static str, owner: i64) -> i64 {
    client.run_blocking(Request::new(Op::Inspect, kind, "n", owner)).expect("answered").items[0]
}

/// Callers that hardly wait, so that many grants come about the end of a wait.
#[test]
fn an_owner_that_got_no_lock_in_time_has_none_and_may_ask_again() {
    all_at_once(kinds().map(|kind| {
        let job = move || {
            let server = Server::start();
            let clients = [(); 2].map(|()| Client::connect(&server.url()).expect("a good URL"));
            let refused = AtomicU64::new(0);
            let end = Instant::now() + LONG;
            std::thread::scope(|scope| {
                for (owner, client) in (1..=CALLERS).flat_map(|owner| clients.iter().map(move |client| (owner, client)))
                {
                    let refused = &refused;
                    scope.spawn(move || {
                        let mut dice = Dice::new(owner as u64, 7);
                        while Instant::now() < end {
                            let wait = Some(Duration::from_micros(*dice.pick(&[300, 700, 1000, 2000, 4000])));
                            let asked = Request { wait, ..Request::new(Op::Acquire, kind.name, "n", owner) };
                            let answer = client.run_blocking(asked).unwrap_or_else(|error| panic!("{error}"));
                            if answer.done {
                                client.run_blocking(Request::new(Op::Release, kind.name, "n", owner)).expect("held");
                            } else {
                                refused.fetch_add(1, SeqCst);
                                assert_eq!(count(client, kind.name, owner), 0, "it holds what it was refused");
                            }
                        }
                    });
                }
            });
            assert!(refused.load(SeqCst) > 20, "only {} waits were in vain", refused.load(SeqCst));
        };
        (kind.name.to_owned(), job)
    }));
}

#[test]
fn an_owner_whose_call_was_cancelled_has_no_lock_and_may_ask_again() {
    all_at_once(kinds().map(|kind| {
        let job = move || {
            let server = Server::start();
            let client = Client::connect(&server.url()).expect("a good URL");
            let mut dice = Dice::new(3, 7);
            let mut cancelled = 0;
            let end = Instant::now() + LONG;
            while Instant::now() < end {
                let ticket = client.ticket();
                let (sender, came) = std::sync::mpsc::channel();
                let asked = Request { wait: None, ..Request::new(Op::Acquire, kind.name, "n", 1) };
                client.submit(ticket, asked, move |answer| drop(sender.send(answer)));
                let until = Instant::now() + dice.between(Duration::ZERO, Duration::from_micros(300));
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                client.cancel(ticket);
                // The caller does not wait for this answer, unless it is there: then the lock is its own.
                if let Ok(answer) = came.try_recv() {
                    if answer.is_ok_and(|answer| answer.done) {
                        client.run_blocking(Request::new(Op::Release, kind.name, "n", 1)).expect("held");
                    }
                    continue;
                }
                let has = count(&client, kind.name, 1);
                match came.recv() {
                    Ok(Err(Error::Cancelled | Error::Closed { .. })) => {
                        cancelled += 1;
                        assert_eq!(has, 0, "it holds what it has cancelled");
                        let again =
                            Request { wait: Some(Duration::ZERO), ..Request::new(Op::Acquire, kind.name, "n", 1) };
                        let answer = client.run_blocking(again).unwrap_or_else(|error| panic!("{error}"));
                        assert!(answer.done, "it meets the hold of the call that it has cancelled");
                    }
                    // The answer was on its way.
                    Ok(answer) => assert!(answer.expect("answered").done),
                    Err(gone) => panic!("{gone}"),
                }
                client.run_blocking(Request::new(Op::Release, kind.name, "n", 1)).expect("held");
            }
            assert!(cancelled > 5, "only {cancelled} calls were cancelled in time");
        };
        (kind.name.to_owned(), job)
    }));
}
