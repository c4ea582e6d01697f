//! Bad input and servers in trouble: a typed error in bounded time, and everything works again by itself.

use std::time::Duration;

use redlatch::{Client, Error};
use redlatch_tests::*;

use super::{pair, secs};

#[test]
fn a_call_that_no_server_could_take_is_refused_before_it_is_sent() {
    let (_server, a, _) = pair();
    let empty = a.lock("").blocking().try_acquire();
    let huge = a.lock(&"x".repeat(10_000_000)).blocking().try_acquire();
    let lease = a.lock("n").lease(Duration::MAX).blocking().try_acquire();
    let none = a.lock("n").lease(Duration::ZERO).blocking().try_acquire();
    let owner = a.lock("n").owner(u64::MAX).blocking().try_acquire();
    for refused in [empty, huge, lease, none, owner] {
        assert!(matches!(refused, Err(Error::Config(_))));
    }
    for url in [
        "",
        "nonsense",
        "http://localhost",
        "redis://",
        "redis://localhost:0",
        "redis://localhost?x=1",
        "redis://localhost/x",
    ] {
        assert!(matches!(Client::connect(url), Err(Error::Config(_))), "{url}");
    }
}

#[test]
fn a_key_of_another_type_is_refused_and_left_alone() {
    let (server, a, _) = pair();
    server.view().command::<()>(&["SET", "n", "v"]);
    let Err(Error::Refused { code, .. }) = a.lock("n").blocking().try_acquire() else { panic!("it must be refused") };
    assert_eq!(code, "WRONGTYPE");
    assert_eq!(server.view().command::<String>(&["GET", "n"]), "v");
}

#[test]
fn a_server_that_is_down_is_told_in_bounded_time_and_used_again_when_it_is_back() {
    let (server, a, _) = pair();
    server.stop();
    let client = Client::connect(&format!("{}?response_timeout=0.5&retry_for=0.5", server.url())).expect("a good URL");
    assert!(matches!(client.lock("n").blocking().try_acquire(), Err(Error::Unavailable { .. })));
    server.restart();
    client.lock("n").blocking().acquire().expect("it is back").release().expect("held");
    a.lock("n").blocking().acquire().expect("it is back").release().expect("held");
}

#[test]
fn a_server_that_says_nothing_is_told_in_bounded_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let client =
        Client::connect(&format!("redis://127.0.0.1:{port}?response_timeout=0.3&retry_for=0.3")).expect("a good URL");
    assert!(matches!(client.lock("n").blocking().try_acquire(), Err(Error::Unavailable { timeout: true, .. })));
}

#[test]
fn a_forgotten_script_is_sent_again_unseen() {
    let (server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    server.view().command::<()>(&["SCRIPT", "FLUSH"]);
    guard.release().expect("held");
}

#[test]
fn a_lost_reply_neither_doubles_a_count_nor_orphans_the_lock() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
    let mut view = server.view();
    for _ in 0..3 {
        proxy.lose_reply_to("EVALSHA");
        let guard = client.lock("n").wait(secs(10)).blocking().acquire().expect("taken in the end");
        assert_eq!(view.hgetall("n").into_values().collect::<Vec<_>>(), ["1"]);
        proxy.lose_reply_to("EVALSHA");
        guard.release().expect("released in the end");
        assert!(!view.exists("n"));
    }
}

#[test]
fn a_waiter_whose_subscription_was_cut_is_woken_all_the_same() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let holder = Client::connect(&server.url()).expect("a good URL");
    let waiter = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let guard = holder.lock("n").blocking().acquire().expect("free");
    let waiting =
        std::thread::spawn(move || waiter.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
    let mut view = server.view();
    super::eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    proxy.cut();
    guard.release().expect("held");
    waiting.join().expect("no panic").expect("woken").expect("held");
}
