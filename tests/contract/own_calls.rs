//! A holder is told of its loss after calls of its own client, too. The server does not report a client's own change of
//! a key to it, and reports no further change of that key until the client asks again.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::kinds::{ALL, Traits};
use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch_tests::{Server, View, all_at_once, eventually, kinds, secs};

/// A client whose renewals, and whose looks after a failed one, come long after a test.
const PATIENT: &str = "watchdog=3000";
/// The time that a test gives the client to have the server report changes again, before it makes one all the same.
const WATCHED: Duration = secs(5);

/// A hold by owner 1.
struct Case<'a> {
    client: &'a Client,
    kind: &'static str,
    hold: u64,
    /// The holds have a lease of their own; `None`: the watchdog renews them.
    lease: Option<Duration>,
}

impl Case<'_> {
    /// Asks on the connection of the I/O thread, which is the one that hears of changes.
    fn run(&self, request: Request) -> Answer {
        let (sender, answer) = mpsc::channel();
        let op = request.op;
        self.client.submit(self.client.ticket(), request, move |said| drop(sender.send(said)));
        let answer = answer.recv().expect("it is answered").unwrap_or_else(|error| panic!("{op:?}: {error}"));
        assert!(answer.done, "{op:?}: not done");
        answer
    }

    fn take(&self, kind: &'static str, name: String, owner: i64) -> Request {
        let request = Request { lease: self.lease, numbers: vec![1], ..Request::new(Op::Acquire, kind, name, owner) };
        let taken = self.run(request.clone());
        Request { op: Op::Release, hold: taken.number as u64, ..request }
    }

    fn take_again(&self) -> Request {
        self.take(self.kind, kinds::name(self.kind, "n"), 1)
    }

    /// Takes for another owner another part of the same key.
    fn take_beside(&self) -> Request {
        let name = if self.kind == "multi" { "n\0three".to_owned() } else { kinds::name(self.kind, "n") };
        self.take(self.kind, name, 2)
    }

    fn extend(&self) {
        let name = kinds::name(self.kind, "n");
        let lease = Some(self.lease.unwrap_or(secs(3000)) + secs(100));
        self.run(Request { hold: self.hold, lease, ..Request::new(Op::Extend, self.kind, name, 1) });
    }
}

struct Change {
    name: &'static str,
    of: fn(&Traits) -> bool,
    make: fn(&Case),
}

fn shares(kind: &Traits) -> bool {
    !kind.exclusive || kind.name == "multi"
}

const CHANGES: &[Change] = &[
    Change { name: "an extension", of: |_| true, make: |case| case.extend() },
    Change { name: "one more acquire", of: |kind| kind.reentrant, make: |case| drop(case.take_again()) },
    Change {
        name: "one more acquire and its release",
        of: |kind| kind.reentrant,
        make: |case| drop(case.run(case.take_again())),
    },
    Change { name: "an acquire of another owner", of: shares, make: |case| drop(case.take_beside()) },
    Change {
        name: "an acquire and a release of another owner",
        of: shares,
        make: |case| drop(case.run(case.take_beside())),
    },
    Change {
        name: "an acquire and a release of a permit without an owner",
        of: |kind| kind.name == "permit",
        make: |case| drop(case.run(case.take("permit_semaphore", "n".into(), 0))),
    },
];

fn tracked(view: &mut View) -> u64 {
    let stats: String = view.command(&["INFO", "stats"]);
    let count = stats.lines().find_map(|line| line.strip_prefix("tracking_total_keys:")?.trim().parse().ok());
    count.expect("every server counts them")
}

fn is_told_after(server: &Server, kind: &'static str, change: &Change, lease: Option<Duration>) {
    let what = format!("{kind}, lease {lease:?}, after {}", change.name);
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let client = Client::connect(&format!("{}?{PATIENT}", server.url())).expect("a good URL");
    kinds::set_up(&client, kind, "n", 9);
    let mut case = Case { client: &client, kind, hold: 0, lease };
    case.hold = case.take_again().hold;
    eventually(&what, || view.tells().then_some(()));
    let before = tracked(&mut view);
    (change.make)(&case);
    let begun = Instant::now();
    while tracked(&mut view) < before && begun.elapsed() < WATCHED {
        std::thread::yield_now();
    }
    let is_held = || matches!(client.look(case.hold), Look::Held { .. });
    assert!(is_held(), "{what}: the lock is lost before its key is");
    view.command::<()>(&["DEL", if kind == "permit" { "{n}:timeout" } else { "n" }]);
    eventually(&format!("the news that the lock is lost: {what}"), || (!is_held()).then_some(()));
    client.close_blocking(redlatch::Holds::Keep);
}

#[test]
fn a_holder_is_told_of_its_loss_after_any_call_of_its_own_client_that_changed_the_key() {
    let kinds = ALL.iter().map(|row| &row.traits).filter(|traits| traits.held);
    all_at_once(kinds.map(|traits| {
        (traits.name.to_owned(), move || {
            let server = Server::start();
            for change in CHANGES.iter().filter(|change| (change.of)(traits)) {
                for lease in [Some(secs(600)), None] {
                    is_told_after(&server, traits.name, change, lease);
                }
            }
        })
    }));
}
