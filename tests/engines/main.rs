//! The locks of systems with sessions, on real servers: MySQL and MariaDB here, ZooKeeper in a room of its own.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::{Mariadb, PATIENCE};

mod bad_input;
mod barging;
mod beside;
mod cancelling;
mod crossings;
mod faults;
mod forcing;
mod ghosts;
mod groups;
mod handing_on;
mod interop;
mod leaders;
mod relay;
mod silences;
mod table;
mod timers;
mod waiters;
mod zookeeper;

/// A client of the server, with these options.
fn client(server: &Mariadb, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url())).expect("a good URL")
}

/// The value and the token of the present leader.
fn leader(client: &Client, name: &str) -> Option<(String, Option<i64>)> {
    let leader = client.leader(name).current().blocking().expect("answered");
    leader.map(|leader| (leader.value, leader.token))
}

/// The end of a client ends its observers.
fn ends_its_observers(client: &Client) {
    let mut observer = client.leader("observed").observe();
    observer.next_blocking().expect("answered");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| observer.next_blocking().map(drop));
        std::thread::yield_now();
        client.close_blocking(Holds::Release);
        assert!(matches!(waits.join().expect("no panic"), Err(Error::Closed { .. })));
    });
}

/// Begins to wait.
fn wait(client: &Client, request: Request) -> Waiting {
    let (sender, answer) = mpsc::channel();
    let ticket = client.ticket();
    client.submit(ticket, request, move |result| drop(sender.send(result)));
    Waiting { client: client.clone(), ticket, answer }
}

/// A request without an answer yet.
struct Waiting {
    client: Client,
    ticket: u64,
    answer: mpsc::Receiver<Result<Answer, Error>>,
}

impl Waiting {
    fn cancel(&self) {
        self.client.cancel(self.ticket);
    }

    fn is_waiting(&self) -> bool {
        matches!(self.answer.try_recv(), Err(mpsc::TryRecvError::Empty))
    }

    /// Waits for the answer.
    fn within(self, time: Duration) -> Result<Answer, Error> {
        self.answer.recv_timeout(time).unwrap_or_else(|e| panic!("no answer within {time:?}: {e}"))
    }
}

fn acquire(kind: &'static str, name: &str, owner: i64, wait: Option<Duration>) -> Request {
    Request { wait, ..Request::new(Op::Acquire, kind, name, owner) }
}

/// Waits for a state that must come.
#[track_caller]
fn eventually(mut it_is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !it_is_so() {
        assert!(Instant::now() < end, "it did not come about within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
