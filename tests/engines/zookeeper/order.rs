//! Order: the owner that has waited longest for a fair lock is next, in any process, and tokens only grow.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Direction, Proxy, Zookeeper, ms, secs};

use crate::zookeeper::client;
use crate::{acquire, eventually, wait};

#[test]
fn owners_of_two_clients_get_a_fair_lock_in_the_order_in_which_they_came() {
    let server = Zookeeper::shared();
    let clients = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    for kind in ["fair", "non_reentrant_fair"] {
        let name = format!("order-{kind}");
        let first = clients[0].run_blocking(acquire(kind, &name, 100, Some(ms(0)))).expect("answered");
        assert!(first.done);
        let mut waiting = Vec::new();
        for owner in 1..=10 {
            let client = &clients[owner as usize % 3 % 2];
            waiting.push((client, owner, wait(client, acquire(kind, &name, owner, None))));
            eventually(|| nodes.children(&format!("/{name}")).len() == 1 + owner as usize);
        }
        let mut holder = (&clients[0], 100);
        for (client, owner, waits) in waiting {
            assert!(waits.is_waiting(), "{owner} came before its turn");
            holder.0.run_blocking(Request::new(Op::Release, kind, name.as_str(), holder.1)).expect("held");
            assert!(waits.within(secs(5)).expect("its turn").done);
            holder = (client, owner);
        }
        holder.0.run_blocking(Request::new(Op::Release, kind, name.as_str(), holder.1)).expect("held");
        assert!(nodes.children(&format!("/{name}")).is_empty());
    }
}

#[test]
fn an_owner_that_comes_again_stands_behind_those_that_wait() {
    let server = Zookeeper::shared();
    let ours = client(server, "turn=10");
    let take = |owner: i64, time| acquire("fair", "again", owner, time);
    let release = |owner: i64| ours.run_blocking(Request::new(Op::Release, "fair", "again", owner)).expect("held");
    ours.run_blocking(take(1, None)).expect("free");
    let second = wait(&ours, take(2, None));
    let mut nodes = server.nodes();
    eventually(|| nodes.children("/again").len() == 2);
    release(1);
    let first = wait(&ours, take(1, None));
    assert!(second.within(secs(5)).expect("its turn").done);
    eventually(|| nodes.children("/again").len() == 2);
    assert!(first.is_waiting());
    release(2);
    assert!(first.within(secs(5)).expect("its turn").done);
    release(1);
}

#[test]
fn all_exclusive_kinds_of_one_name_exclude_each_other_and_an_owner_has_them_together() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let kinds = ["plain", "fenced", "fair", "write"];
    for held in kinds {
        let name = format!("together-{held}");
        assert!(one.run_blocking(acquire(held, &name, 1, Some(ms(0)))).expect("answered").done);
        for kind in kinds.into_iter().chain(["read", "non_reentrant", "non_reentrant_fair"]) {
            for (client, owner) in [(&two, 1), (&one, 2)] {
                let tried = client.run_blocking(acquire(kind, &name, owner, Some(ms(0)))).expect("answered");
                assert!(!tried.done, "{kind} beside {held}");
            }
        }
        one.run_blocking(Request::new(Op::Release, held, name.as_str(), 1)).expect("held");
    }
    // As on Redis, a lock that its owner takes by several kinds is one lock.
    for (first, second) in [("plain", "fair"), ("fair", "plain"), ("fair", "fenced")] {
        let name = format!("mixed-{first}-{second}");
        for kind in [first, second] {
            assert!(
                one.run_blocking(acquire(kind, &name, 1, Some(secs(5)))).expect("answered").done,
                "{first} {second}"
            );
        }
        assert_eq!(server.nodes().children(&format!("/{name}")).len(), 1, "one node for both");
        let left = one.run_blocking(Request::new(Op::Release, first, name.as_str(), 1)).expect("held").number;
        assert_eq!(left, 1);
        assert!(!two.run_blocking(acquire(first, &name, 1, Some(ms(0)))).expect("answered").done);
        let left = one.run_blocking(Request::new(Op::Release, second, name.as_str(), 1)).expect("held").number;
        assert_eq!(left, 0);
        assert!(server.nodes().children(&format!("/{name}")).is_empty());
    }
}

/// Between the grant and the write of a token the first node has none.
#[test]
fn the_latest_token_that_a_client_asks_for_never_falls() {
    let server = Zookeeper::start();
    let [one, two, asking] = ["", "", ""].map(|options| client(&server, options));
    // The server removes an empty queue each minute, and with it the tokens of a lock that no client has.
    let mut nodes = server.nodes();
    nodes.prepare("/falls");
    nodes.create("/falls/stays", b"", Mode::Persistent).expect("made");
    let over = AtomicBool::new(false);
    let tokens: Vec<i64> = std::thread::scope(|scope| {
        for client in [&one, &two] {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let guard = client.fenced_lock("falls").wait(secs(30)).blocking().acquire().expect("its turn");
                    guard.release().expect("held");
                }
            });
        }
        let ask = || asking.run_blocking(Request::new(Op::Inspect, "fenced", "falls", 9));
        let told: Vec<_> = (0..500).map(|_| ask()).collect();
        over.store(true, Relaxed);
        told.into_iter().map(|told| told.expect("answered").items[1]).collect()
    });
    assert!(tokens.windows(2).all(|two| two[0] <= two[1]), "{tokens:?}");
}

#[test]
fn the_latest_token_does_not_fall_when_the_first_node_goes_while_a_client_asks_for_it() {
    let server = Zookeeper::shared();
    let clients = ["", "", ""].map(|options| client(server, options));
    let proxy = Proxy::to(server.port());
    let asking = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let inspect = || Request::new(Op::Inspect, "fenced", "goes", 9);
    let wait_at = |at: usize| wait(&clients[at], acquire("fenced", "goes", 1, None));
    let release = |at: usize| {
        clients[at].run_blocking(Request::new(Op::Release, "fenced", "goes", 1)).expect("held");
    };
    let mut nodes = server.nodes();
    let former = wait_at(0).within(secs(5)).expect("free").items[0];
    assert_eq!(asking.run_blocking(inspect()).expect("answered").items[1], former);
    let next = wait_at(1);
    eventually(|| nodes.children("/goes").len() == 2);
    // The list of the nodes is told; the question for the first of them waits.
    proxy.hold_at(Direction::ToServer, "/goes/", 1);
    let asks = wait(&asking, inspect());
    eventually(|| proxy.struck() == 1);
    release(0);
    let token = next.within(secs(5)).expect("its turn").items[0];
    let last = wait_at(2);
    eventually(|| nodes.children("/goes").len() == 2);
    proxy.flow();
    let told = asks.within(secs(5)).expect("answered").items[1];
    assert!((former..=token).contains(&told), "{told}, and not from {former} to {token}");
    assert_eq!(asking.run_blocking(inspect()).expect("answered").items[1], token);
    release(1);
    last.within(secs(5)).expect("its turn");
    release(2);
}

/// An operator asks for a lock by a write to a node, by mistake to that of a waiter.
#[test]
fn the_latest_token_does_not_fall_when_the_first_node_was_written_to_while_it_waited() {
    let server = Zookeeper::shared();
    let ours = client(server, "");
    let take = || ours.run_blocking(acquire("fenced", "written", 1, None)).expect("its own").items[0];
    let latest = || ours.run_blocking(Request::new(Op::Inspect, "fenced", "written", 9)).expect("answered").items[1];
    take();
    let mut nodes = server.nodes();
    let waits = nodes.create("/written/_c_0-lock-", b"", Mode::EphemeralSequential).expect("made");
    nodes.set(&waits, b"__REVOKE__").expect("written");
    let token = take();
    assert_eq!(latest(), token);
    for _ in 0..2 {
        ours.run_blocking(Request::new(Op::Release, "fenced", "written", 1)).expect("held");
    }
    assert!(latest() >= token, "{} behind {token}", latest());
}

/// The node of a try stands before those of later tries, whose callers would be told of an owner that there is not.
#[test]
fn a_try_ends_in_vain_only_while_another_owner_has_the_lock() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let proxy = Proxy::to(server.port());
    let tries = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    tries.lock("warm").blocking().is_locked().expect("answered");
    let held = one.lock("vain").blocking().acquire().expect("free");
    // The first request with such a path makes a node; the next one is to take it away.
    proxy.hold_at(Direction::ToServer, "/vain/", 2);
    let tried = wait(&tries, acquire("plain", "vain", 1, Some(ms(0))));
    eventually(|| proxy.struck() == 1);
    held.release().expect("held");
    let later = two.run_blocking(acquire("plain", "vain", 1, Some(ms(0)))).expect("answered").done;
    proxy.flow();
    let tried = tried.within(secs(5)).expect("answered").done;
    assert!(tried || later, "each was told of another owner");
    assert!(!(tried && later), "two owners");
    if later {
        two.run_blocking(Request::new(Op::Release, "plain", "vain", 1)).expect("held");
    } else {
        tries.run_blocking(Request::new(Op::Release, "plain", "vain", 1)).expect("held");
    }
    assert!(server.nodes().children("/vain").is_empty());
}
