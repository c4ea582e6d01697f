//! The numbers of requests: a binding may have its own, and the client has some for what it asks by itself.

use std::sync::mpsc::{self, TryRecvError};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::{PATIENCE, Server};

const NUMBERS: u64 = 200;

/// The bindings for the JVM count their requests by themselves; a lock of several locks asks each of them by requests
/// of the client's own.
#[test]
fn no_request_with_a_number_of_the_binding_ends_with_one_of_the_client() {
    let server = Server::start();
    for op in [Op::Watch, Op::Acquire] {
        let client = Client::connect(&server.url()).expect("a good URL");
        let held = Request { wait: None, ..Request::new(Op::Acquire, "plain", "held", 0) };
        let hold = client.run_blocking(held.clone()).expect("free").number as u64;
        let (tell, told) = mpsc::channel();
        for number in 1..=NUMBERS {
            let tell = tell.clone();
            let request = Request { op, hold, owner: if op == Op::Watch { 0 } else { number as i64 }, ..held.clone() };
            client.submit(number, request, move |end| drop(tell.send((number, end))));
        }
        cancel_some(&client, &Request { owner: -1, ..held.clone() });
        let early = told.try_recv();
        assert!(matches!(early, Err(TryRecvError::Empty)), "{op:?}: {early:?}");
        client.run_blocking(Request { op: Op::Release, hold, ..held.clone() }).expect("held");
        let mut ended: Vec<u64> = Vec::new();
        for _ in 1..=NUMBERS {
            let (number, end) = told.recv_timeout(PATIENCE).expect("each request is answered");
            let end = end.expect("the lock is released");
            assert_eq!(end.done, op == Op::Acquire, "{op:?} {number}");
            if end.done {
                let release =
                    Request { op: Op::Release, hold: end.number as u64, owner: number as i64, ..held.clone() };
                client.run_blocking(release).expect("held");
            }
            ended.push(number);
        }
        ended.sort_unstable();
        assert!(ended.into_iter().eq(1..=NUMBERS), "{op:?}: each once");
    }
}

/// Begins as many requests of the client's own, and lets each go.
fn cancel_some(client: &Client, waits: &Request) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..NUMBERS {
            tokio::select! {
                biased;
                end = client.run(waits.clone()) => panic!("the lock is held: {end:?}"),
                () = async {} => {}
            }
        }
    });
}
