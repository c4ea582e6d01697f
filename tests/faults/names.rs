//! Names that are used once. `REDLATCH_TEST_NAMES` says how many.

use super::*;

/// How many names one command to the worker has: it answers within the rig's patience.
const PART: u64 = 5_000;
/// The variation by buffers and the allocator.
const SERVER_SLACK: u64 = 500_000;
const CLIENT_SLACK: u64 = 4_000_000;

#[test]
fn names_that_were_used_leave_nothing_in_the_server_and_nothing_in_the_clients() {
    let names = std::env::var("REDLATCH_TEST_NAMES")
        .map_or(30_000, |count| count.parse().expect("REDLATCH_TEST_NAMES is a number"));
    let server = Server::start();
    let mut worker = worker(server.url());
    let mut view = server.view();
    let mut memory = |first: u64, end: u64| {
        for first in (first..end).step_by(PART as usize) {
            assert_eq!(worker.ask(&format!("names {first} {}", PART.min(end - first))), "ok");
        }
        eventually("a server without keys", || view.keys("*").is_empty().then_some(()));
        eventually("a server without subscribers", || view.channels("*").is_empty().then_some(()));
        (view.memory(), worker.memory())
    };
    // By then everything exists that is made only once.
    let before = memory(0, 2 * PART);
    let began = Instant::now();
    let after = memory(2 * PART, 2 * PART + names);
    println!(
        "{names} names in {:?}: the server has {} bytes, {} before; the client {}, {} before",
        began.elapsed(),
        after.0,
        before.0,
        after.1,
        before.1
    );
    let subscriptions = view.calls().get("subscribe").copied().unwrap_or_default();
    assert!(subscriptions > names / 10, "{subscriptions} subscriptions: hardly any client waited");
    assert!(after.0 < before.0 + SERVER_SLACK, "the server has {} bytes, it had {}", after.0, before.0);
    assert!(after.1 < before.1 + CLIENT_SLACK, "the client has {} bytes, it had {}", after.1, before.1);
}
