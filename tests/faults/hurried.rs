//! Callers whose threads may be inside the library only for a moment, because there they notice no interrupt.

use std::sync::mpsc::Receiver;

use redlatch::Error;
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch_tests::begun;

use super::*;

/// How long such a caller's thread may stay inside.
const INSIDE: Duration = Duration::from_millis(250);
const OWNER: i64 = 7;
const ASKS: u64 = 5;

type End = Receiver<Result<Answer, Error>>;

/// Begins an acquire, and returns the channel of its answer.
fn ask(client: &Client, ticket: u64, name: &str) -> End {
    let request = Request { lease: Some(LONG), ..Request::new(Op::Acquire, "plain", name, OWNER) };
    begun(client, INSIDE, ticket, request)
}

/// Opens the connection of the caller's thread.
fn warm(client: &Client) {
    client.lock("warm").blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn a_caller_that_may_be_interrupted_is_not_kept_by_a_server_that_hangs() {
    let server = Server::start();
    let client = connect(&format!("{}?response_timeout=120", server.url()));
    warm(&client);
    server.pause();
    let ticket = client.ticket();
    let asked = Instant::now();
    let end = ask(&client, ticket, "hung");
    assert!(asked.elapsed() < PATIENCE, "its thread was kept for {:?}", asked.elapsed());
    client.cancel(ticket);
    server.resume();
    let error = end.recv_timeout(PATIENCE).expect("it ends").expect_err("it was cancelled");
    assert_eq!(error.code(), "cancelled", "{error}");
    nothing_is_left(&mut server.view(), "hung");
}

#[test]
fn a_caller_that_may_be_interrupted_loses_no_connection_to_a_server_that_is_far_away() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    proxy.delay(INSIDE * 3 / 4); // either way
    warm(&client);
    let mut view = server.view();
    let mut opened = || {
        let stats: redis::InfoDict = view.command(&["INFO", "stats"]);
        stats.get::<u64>("total_connections_received").expect("the server counts them")
    };
    let taken =
        |name: &str| ask(&client, client.ticket(), name).recv_timeout(PATIENCE).expect("it ends").expect("free").done;
    assert!(taken("first"));
    let before = opened();
    assert!((0..ASKS).all(|ask| taken(&format!("far-{ask}"))));
    let more = opened() - before;
    assert!(more < ASKS, "{ASKS} calls opened {more} connections: each has lost its own");
}
