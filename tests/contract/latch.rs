//! Latches: callers wait until a count is zero.

use std::time::Duration;

use redlatch::{Client, Error, Holds};
use redlatch_tests::{Proxy, Server};

use super::{eventually, pair, secs};

const CHANNEL: &str = "redisson_countdownlatch__channel__{n}";

#[test]
fn the_last_count_lets_every_waiter_go() {
    let (server, a, b) = pair();
    let latch = a.latch("n");
    let mut view = server.view();
    let mut heard = server.listen(CHANNEL);
    assert!(latch.try_set_count(3).blocking().expect("answered"));
    assert!(!b.latch("n").try_set_count(9).blocking().expect("answered"));
    assert_eq!(heard.hear(), "1");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = [&a, &b, &b, &b].map(|client| scope.spawn(|| client.latch("n").wait().blocking())).into();
        eventually(|| view.listeners(CHANNEL) == 3);
        for left in [2, 1] {
            assert_eq!(b.latch("n").count_down().blocking().expect("answered"), left);
            assert_eq!(latch.count().blocking().expect("answered"), left);
        }
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        assert_eq!(latch.count_down().blocking().expect("answered"), 0);
        assert_eq!(heard.hear(), "0");
        for waiting in waiting {
            assert!(waiting.join().expect("no panic").expect("answered"));
        }
    });
    drop(heard);
    eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
    assert_eq!(latch.count_down().blocking().expect("answered"), 0);
    assert!(view.keys("*").is_empty() || view.keys("*").iter().all(|key| key.starts_with("redlatch_request")));
}

#[test]
fn a_latch_that_is_open_or_was_never_set_is_not_waited_for_and_a_wait_may_end() {
    let (_server, a, b) = pair();
    assert!(a.latch("n").wait().blocking().expect("answered"));
    assert!(a.latch("n").try_set_count(1).blocking().expect("answered"));
    assert!(!b.latch("n").wait().wait(Duration::from_millis(100)).blocking().expect("answered"));
    assert!(!b.latch("n").wait().wait(Duration::ZERO).blocking().expect("answered"));
}

#[test]
fn a_deleted_latch_is_open() {
    let (server, a, b) = pair();
    assert!(a.latch("n").try_set_count(5).blocking().expect("answered"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| b.latch("n").wait().wait(secs(20)).blocking());
        eventually(|| server.view().listeners(CHANNEL) == 1);
        assert!(a.latch("n").delete().blocking().expect("answered"));
        assert!(waiting.join().expect("no panic").expect("answered"));
    });
}

#[test]
fn a_count_whose_reply_is_lost_counts_once() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let latch = client.latch("n");
    assert!(latch.try_set_count(5).blocking().expect("answered"));
    assert_eq!(latch.count_down().blocking().expect("answered"), 4);
    // A script also forgets answered requests, and its reply is not the one to lose.
    eventually(|| server.view().keys("*") == ["n"]);
    proxy.lose_reply_to("EVALSHA");
    assert_eq!(latch.count_down().blocking().expect("answered"), 3);
    assert_eq!(latch.count().blocking().expect("answered"), 3);
}

#[test]
fn impossible_counts_and_keys_of_other_types_are_errors_that_name_the_latch() {
    let (server, a, _) = pair();
    let latch = a.latch("n");
    for count in [0, 1 << 63] {
        assert!(matches!(latch.try_set_count(count).blocking(), Err(Error::Config(said)) if said.contains("`n`")));
    }
    server.view().command::<()>(&["RPUSH", "n", "x"]);
    let refused = latch.count_down().blocking();
    assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"), "{refused:?}");
}

#[test]
fn a_client_that_is_closed_leaves_no_call_that_is_remembered() {
    let (server, ..) = pair();
    for round in 0..20 {
        let client = redlatch::Client::connect(&server.url()).expect("a good URL");
        let latch = client.latch(&format!("n{round}"));
        assert!(latch.try_set_count(1).blocking().expect("answered"));
        assert_eq!(latch.count_down().blocking().expect("answered"), 0);
        client.close_blocking(Holds::Release);
    }
    assert_eq!(server.view().keys("redlatch_request:*"), [""; 0]);
}
