//! Clients that a program drops without closing: their threads and connections end, after their holds are given back.

use std::sync::mpsc::channel;

use redlatch::RedLock;
use redlatch::ffi::{Answer, Border, Op, Request};

use super::*;

#[test]
fn dropped_clients_leave_no_thread_and_no_descriptor_and_free_their_locks() {
    const MANY: usize = 100;
    let server = Server::start();
    let mut view = server.view();
    let mut worker = worker(server.url());
    assert_eq!(worker.ask("clients redis://127.0.0.1:1?retry_for=0 0"), "ok");
    let before = worker.possessions();
    assert_eq!(worker.ask(&format!("clients {} {MANY}", server.url())), "ok");
    let is_as_before = || (worker.possessions() == before).then_some(());
    eventually(&format!("the threads and descriptors of before, {before:?}"), is_as_before);
    (0..MANY).for_each(|i| nothing_is_left(&mut view, &format!("dropped:{i}")));
}

#[test]
fn red_locks_that_are_made_for_each_use_leave_no_connection() {
    let server = Server::start();
    let mut view = server.view();
    for _ in 0..200 {
        let lock = RedLock::connect([server.url()]).expect("a good URL");
        lock.lock("n").blocking().acquire().expect("free").release().expect("held");
    }
    eventually("the end of their connections", || (view.clients() == 1).then_some(()));
}

#[test]
fn a_dropped_guard_is_given_back_behind_a_slow_server_although_its_client_is_gone() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&server.url_at(proxy.port()));
    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    proxy.lose_reply_to("EVALSHA");
    proxy.stall(Direction::ToServer);
    drop(client);
    drop(guard);
    assert!(server.view().exists("n"));
    proxy.flow();
    nothing_is_left(&mut server.view(), "n");
    eventually("the end of its connections", || (proxy.connections() == 0).then_some(()));
}

#[test]
fn a_waiter_in_flight_keeps_its_client_until_it_is_answered() {
    let server = Server::start();
    let mut view = server.view();
    let holder = connect(&server.url());
    let held = holder.lock("n").lease(LONG).blocking().acquire().expect("free");
    let waiting = connect(&server.url());
    let (sender, answers) = channel();
    let acquire = Request { wait: Some(PATIENCE), lease: Some(LONG), ..Request::new(Op::Acquire, "plain", "n", 1) };
    waiting.submit(waiting.ticket(), acquire, move |answer| sender.send(answer).expect("the test listens"));
    eventually("a waiter", || (view.listeners(&channel_of("n")) == 1).then_some(()));
    drop(waiting);
    held.release().expect("held");
    let answer = answers.recv_timeout(PATIENCE).expect("it is answered").expect("it is free");
    assert!(matches!(answer, Answer { done: true, .. }));
    drop(holder);
    eventually("the end of both clients", || (view.clients() == 1).then_some(()));
}

#[test]
fn a_guard_alone_keeps_its_hold() {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=1", server.url())).expect("the URL is good");
    let guard = client.lock("n").blocking().acquire().expect("free");
    drop(client);
    let since = Instant::now();
    while since.elapsed() < secs(3) {
        guard.ensure().expect("it is renewed");
        std::thread::sleep(ms(50));
    }
    assert!(server.view().exists("n"));
    drop(guard);
    nothing_is_left(&mut server.view(), "n");
}

/// [`channel`](super::channel), which the standard library's hides here.
fn channel_of(name: &str) -> String {
    super::channel(name)
}
