//! Requests that wait in a seat, whose thread comes when a test wants it to.

use std::sync::Arc;
use std::time::Duration;

use redlatch::ffi::{Answer, Border, Request, Seat, WaitEnd};
use redlatch::{Client, Result};

use crate::PATIENCE;

fn late(ticket: u64, outcome: Result<Answer>) {
    panic!("the outcome of {ticket} came too late: {outcome:?}");
}

/// Begins a request as a running thread does. Without an answer at once it waits in the seat.
pub fn run_past(client: &Client, request: Request) -> (Arc<Seat>, Option<Answer>) {
    let seat = Seat::new(client.ticket(), late);
    let at_once = client.start(Duration::MAX, &seat, request);
    (seat, at_once.map(|outcome| outcome.expect("answered")))
}

/// Has a request wait in a seat to which no thread has come.
pub fn sit(client: &Client, request: Request) -> Arc<Seat> {
    let (seat, at_once) = run_past(client, request);
    assert!(at_once.is_none(), "the lock is taken");
    seat
}

/// A thread comes to the seat, and waits for the answer.
pub fn comes(seat: &Seat) -> Answer {
    match seat.wait(Some(PATIENCE)) {
        WaitEnd::Over(outcome) => outcome.expect("answered"),
        other => panic!("its turn does not come: {other:?}"),
    }
}
