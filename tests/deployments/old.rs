//! Servers and proxies that know RESP2 only: waiters are woken over a connection of their own.

use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch_tests::*;

/// Two servers without `HELLO`: one denies it to its default user, the other does not know it.
fn old_servers() -> [Server; 2] {
    let denied = Server::start();
    denied.view().command::<()>(&["ACL", "SETUSER", "default", "-hello"]);
    let args = ["--rename-command", "HELLO", ""].map(str::to_owned).to_vec();
    [denied, Server::with(Options { args, ..Options::default() })]
}

fn connect(server: &Server) -> Client {
    Client::connect(&format!("{}?watchdog=2", server.url())).expect("a good URL")
}

#[test]
fn a_waiter_is_woken_over_resp2() {
    for server in old_servers() {
        let a = connect(&server);
        let b = connect(&server);
        for kind in [Client::lock, Client::fair_lock, Client::fenced_lock] {
            let held = kind(&a, "n").lease(Duration::from_secs(60)).blocking().acquire().expect("free");
            let waiter = kind(&b, "n").wait(PATIENCE);
            let waiting = std::thread::spawn(move || waiter.blocking().acquire());
            eventually("a subscription", || (!server.view().channels("*").is_empty()).then_some(()));
            let freed = Instant::now();
            held.release().expect("held");
            let guard = waiting.join().expect("no panic").expect("it is free");
            // A waiter that was not woken would try again after the 60 s of the lease.
            assert!(freed.elapsed() < Duration::from_secs(15), "{:?}", freed.elapsed());
            guard.release().expect("held");
        }
    }
}

#[test]
fn holds_are_renewed_told_of_and_released_over_resp2() {
    for server in old_servers() {
        let client = connect(&server);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("the system gives an event queue");
        runtime.block_on(async {
            let guard = client.lock("n").acquire().await.expect("free");
            tokio::time::sleep(Duration::from_secs(3)).await;
            guard.ensure().expect("it is renewed");
            server.view().command::<()>(&["DEL", "n"]);
            let loss = tokio::time::timeout(PATIENCE, guard.lost()).await.expect("it is told");
            assert_eq!(loss.expect("it is lost").reason.name(), "deleted");
            client.lock("m").acquire().await.expect("free").release().await.expect("held");
        });
    }
}

#[test]
fn each_lock_works_with_the_scripts_rights_alone_and_a_waiter_is_told_what_is_missing() {
    let server = Server::start();
    server.view().command::<()>(&["ACL", "SETUSER", "default", "-hello", "-subscribe", "-client", "-info"]);
    let a = connect(&server);
    let b = connect(&server);
    let held = a.lock("n").lease(Duration::from_secs(60)).blocking().acquire().expect("free");
    let refused =
        b.lock("n").wait(PATIENCE).blocking().acquire().map(drop).expect_err("no message would wake it").to_string();
    assert!(refused.contains("'subscribe'") && refused.contains("ACL SETUSER"), "{refused}");
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    held.release().expect("held");
    b.lock("n").blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn a_connection_of_messages_that_is_cut_is_opened_again_and_its_waiter_woken() {
    let [server, _] = old_servers();
    let proxy = Proxy::start(&server);
    let a = connect(&server);
    let b = Client::connect(&format!("{}?watchdog=2", server.url_at(proxy.port()))).expect("a good URL");
    let held = a.lock("n").lease(Duration::from_secs(60)).blocking().acquire().expect("free");
    let waiter = b.lock("n").wait(PATIENCE);
    let waiting = std::thread::spawn(move || waiter.blocking().acquire());
    eventually("a subscription", || (!server.view().channels("*").is_empty()).then_some(()));
    proxy.cut();
    eventually("another one", || (!server.view().channels("*").is_empty()).then_some(()));
    held.release().expect("held");
    waiting.join().expect("no panic").expect("it is free").release().expect("held");
}

/// The server, or a box on the way to it, swallows all messages on one connection. The other connections go on.
#[test]
fn a_waiter_is_woken_although_the_connection_of_its_messages_has_gone_dark() {
    for server in old_servers() {
        let proxy = Proxy::start(&server);
        let a = connect(&server);
        let b = Client::connect(&format!("{}?watchdog=2", server.url_at(proxy.port()))).expect("a good URL");
        let held = a.lock("n").lease(Duration::from_secs(600)).blocking().acquire().expect("free");
        let waiter = b.lock("n").wait(PATIENCE);
        let waiting = std::thread::spawn(move || waiter.blocking().acquire());
        eventually("a subscription", || (!server.view().channels("*").is_empty()).then_some(()));
        proxy.hold_at(Direction::ToClient, "message", 1);
        held.release().expect("held");
        waiting.join().expect("no panic").expect("it is free").release().expect("held");
        assert_eq!(proxy.struck(), 1, "the message came through");
    }
}

#[test]
fn a_holder_whose_hold_is_not_renewed_is_told_of_its_end_over_resp2() {
    for server in old_servers() {
        let client = connect(&server);
        let guard = client.lock("n").lease(Duration::from_secs(600)).blocking().acquire().expect("free");
        // The client's first check of the hold goes over another connection than the acquire.
        let asked = |view: &mut View| view.command::<String>(&["CLIENT", "LIST"]).matches(" cmd=eval").count();
        eventually("a look at the hold", || (asked(&mut server.view()) == 2).then_some(()));
        connect(&server).lock("n").blocking().force_release().expect("answered");
        told(&guard);
    }
}
