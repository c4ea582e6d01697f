//! A request that begins as in a binding: on the caller's thread if that is possible.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use redlatch::ffi::{Answer, Border, Request, Seat, WaitEnd};
use redlatch::{Client, Error};

/// Begins a request, for about `inside` on this thread. Gives the channel of its outcome, which closes if none comes.
pub fn begun(client: &Client, inside: Duration, ticket: u64, request: Request) -> Receiver<Result<Answer, Error>> {
    let (sender, outcome) = channel();
    let seat = Seat::new(ticket, |_, _| {});
    match client.start(inside, &seat, request) {
        Some(at_once) => drop(sender.send(at_once)),
        None => drop(thread::spawn(move || {
            if let WaitEnd::Over(later) = seat.wait(None) {
                let _ = sender.send(later);
            }
        })),
    }
    outcome
}
