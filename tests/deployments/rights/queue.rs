//! A waiter of a fair lock without one of the rights: once it is told so, it stands in no queue.

use std::thread;

use redlatch::Error;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::*;

use super::client;
use super::missing::{done, lacking, rights};

/// The keys of a fair lock beside its own.
fn places(name: &str) -> [String; 3] {
    ["redisson_lock_queue", "redisson_lock_timeout", "redlatch_lock_seen"].map(|key| format!("{key}:{{{name}}}"))
}

#[test]
fn a_waiter_of_a_fair_lock_that_is_refused_stands_in_no_queue_and_the_lock_is_free_at_once() {
    let server = Server::start();
    let holder = client(&server.url());
    let next = client(&server.url());
    let patient = |right| {
        drop(lacking(&server, right));
        client(&format!("redis://{right}:secret@{}", server.address()))
    };
    let clients: Vec<_> = rights().map(|right| (right, patient(right))).collect();
    thread::scope(|scope| {
        for (right, lacking) in &clients {
            let server = &server;
            let holder = &holder;
            let next = &next;
            scope.spawn(move || {
                for kind in ["fair", "non_reentrant_fair"] {
                    let name = format!("{right}:{kind}");
                    let ask = |client: &redlatch::Client, op| client.run_blocking(Request::new(op, kind, &*name, 7));
                    assert!(ask(holder, Op::Acquire).expect("answered").done, "{name} is free");
                    let wait = Request { wait: Some(secs(3)), ..Request::new(Op::Acquire, kind, &*name, 8) };
                    let waited = lacking.run_blocking(wait);
                    assert!(ask(holder, Op::Release).expect("answered").done, "{name} is held");
                    match waited {
                        Ok(answer) => {
                            assert!(!answer.done, "{name} is held");
                            let is_gone = || places(&name).iter().all(|key| !server.view().exists(key));
                            eventually("an empty queue", || is_gone().then_some(()));
                        }
                        refused @ Err(Error::Refused { .. }) => assert!(done(right, kind, refused).is_none()),
                        Err(error) => panic!("{name}: {error:?}"),
                    }
                    let taken = ask(next, Op::Acquire).expect("answered").done;
                    let left = places(&name).map(|key| server.view().kind(&key));
                    assert!(taken, "without {right} a free {kind} lock is refused: there are {left:?}");
                    assert_eq!(left, ["none"; 3], "without {right}: what is left of a {kind} lock");
                    ask(next, Op::Release).expect("held");
                }
            });
        }
    });
}
