//! Clients that no server lets in, and clients that the program drops.

use std::time::Instant;

use redlatch::ffi::{Border, Look};
use redlatch::{Client, Error};
use redlatch_tests::{Direction, Proxy, Server, Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::client;

#[test]
fn an_endless_wait_beside_a_server_that_is_silent_from_the_start_fails_in_the_time_of_a_try() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    proxy.stall(Direction::ToServer);
    let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    for wait in [None, Some(secs(30))] {
        let lock = ours.lock("silent");
        let lock = match wait {
            Some(wait) => lock.wait(wait),
            None => lock,
        };
        let begun = Instant::now();
        let error = lock.blocking().acquire().map(drop).expect_err("it is silent");
        let took = begun.elapsed();
        let said = error.to_string();
        assert!(matches!(error, Error::Unavailable { .. }) && said.contains("did not let the client in"), "{said}");
        assert!(took < secs(7), "{took:?}");
    }
    // The connection that came late serves the next call.
    proxy.flow();
    ours.lock("silent").wait(secs(20)).blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn a_client_that_no_server_has_let_in_closes_at_once() {
    let redis = Server::start();
    let ours = Client::connect(&format!("zookeeper://127.0.0.1:{}", redis.port())).expect("a good URL");
    ours.lock("n").wait(ms(100)).blocking().acquire().map(drop).expect_err("it is no ZooKeeper");
    let begun = Instant::now();
    ours.close_blocking(redlatch::Holds::Release);
    assert!(begun.elapsed() < secs(1), "{:?}", begun.elapsed());
}

#[test]
fn a_client_that_is_dropped_ends_its_session() {
    let server = Zookeeper::start();
    for _ in 0..5 {
        let ours = client(&server, "");
        ours.lock("dropped").blocking().acquire().expect("free").release().expect("held");
        let guard = ours.lock("dropped too").blocking().acquire().expect("free");
        drop(ours);
        assert_eq!(server.sessions().len(), 1, "its guard keeps it");
        let begun = Instant::now();
        drop(guard);
        assert!(begun.elapsed() < secs(1), "the drop waits for {:?}", begun.elapsed());
        eventually(|| server.sessions().is_empty());
    }
}

/// The server counts the session from then on, and the client from its own first word. A hold of such a session is no shorter for that.
#[test]
fn a_hold_of_a_session_that_the_server_has_let_in_late_is_renewed_as_any_other() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    proxy.stall(Direction::ToClient);
    let ours =
        Client::connect(&format!("{}?watchdog=6&connect_timeout=8&response_timeout=8", server.url_at(proxy.port())))
            .expect("a good URL");
    let waiting = crate::wait(&ours, crate::acquire("plain", "late", 1, None));
    let begun = Instant::now();
    eventually(|| begun.elapsed() > ms(4_200));
    proxy.flow();
    let hold = waiting.within(secs(20)).expect("the server lets it in").number as u64;
    let granted = Instant::now();
    while granted.elapsed() < secs(8) {
        assert!(matches!(ours.look(hold), Look::Held { .. }), "{:?} after {:?}", ours.look(hold), granted.elapsed());
        std::thread::sleep(ms(10));
    }
}
