//! A guard is dropped, and its own program asks for the lock at once.

use std::time::Instant;

use redlatch::{Client, LockBuilder};
use redlatch_tests::{Direction, Proxy, Server, soon};

use super::*;

const ROUNDS: usize = 300;

/// A client whose tries wait long for a release, so that a machine that stands still for a while fails no test.
fn patient(server: &Server) -> Client {
    Client::connect(&format!("{}?retry_for=20&response_timeout=20", server.url())).expect("a good URL")
}

#[test]
fn a_lock_is_free_for_the_program_that_has_dropped_its_guard() {
    let server = Server::start();
    let client = patient(&server);
    let pairs: [(&str, LockBuilder, LockBuilder); 7] = [
        ("plain", client.lock("plain"), client.lock("plain")),
        ("fair", client.fair_lock("fair"), client.fair_lock("fair")),
        ("fenced", client.fenced_lock("fenced"), client.fenced_lock("fenced")),
        ("write and read", client.read_write_lock("rw").write(), client.read_write_lock("rw").read()),
        ("values", client.multi_lock_group("g", &["1", "2"]), client.multi_lock_group("g", &["2", "3"])),
        ("multi", client.multi_lock([client.lock("a"), client.lock("b")]), client.lock("b")),
        ("nested", client.multi_lock([client.lock("c"), client.multi_lock([client.lock("d")])]), client.lock("d")),
    ];
    for (what, lock, again) in pairs {
        for round in 0..ROUNDS {
            drop(lock.clone().blocking().acquire().expect("free"));
            let since = Instant::now();
            let taken = again.clone().blocking().try_acquire().expect("answered");
            taken
                .unwrap_or_else(|| panic!("{what}, round {round}, after {:?}", since.elapsed()))
                .release()
                .expect("held");
        }
        soon(async {
            for round in 0..ROUNDS {
                drop(lock.clone().acquire().await.expect("free"));
                let taken = again.clone().try_acquire().await.expect("answered");
                taken.unwrap_or_else(|| panic!("{what}, awaited, round {round}")).release().await.expect("held");
            }
        });
    }
}

#[test]
fn a_permit_is_available_for_the_program_that_has_dropped_it() {
    let server = Server::start();
    let client = patient(&server);
    let permits = client.permit_semaphore("n");
    permits.try_set_permits(1).blocking().expect("answered");
    for round in 0..ROUNDS {
        drop(permits.acquire().blocking().expect("available"));
        let taken = permits.try_acquire().blocking().expect("answered");
        taken.unwrap_or_else(|| panic!("round {round}")).release_blocking().expect("it is out");
        drop(permits.acquire_renewed().blocking().expect("available"));
        let taken = permits.try_acquire_renewed().blocking().expect("answered");
        taken.unwrap_or_else(|| panic!("renewed, round {round}")).release_blocking().expect("it is out");
    }
}

#[test]
fn a_dropped_guard_costs_the_next_try_no_call() {
    let server = Server::start();
    let [a, b] = [(); 2].map(|()| patient(&server));
    a.lock("warm").blocking().acquire().expect("free").release().expect("held");
    let mut view = server.view();
    view.forget_calls();
    drop(a.lock("n").blocking().acquire().expect("free"));
    let again = a.lock("n").blocking().try_acquire().expect("answered").expect("free");
    assert_eq!(view.calls().get("evalsha"), Some(&3));
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    again.release().expect("held");
}

#[test]
fn a_try_behind_a_release_that_hangs_ends_in_its_own_time() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let url = format!("{}?response_timeout=0.3&retry_for=0.5&flush=0", server.url_at(proxy.port()));
    let client = Client::connect(&url).expect("a good URL");
    let guard = client.lock("n").lease(secs(120)).blocking().acquire().expect("free");
    let other = client.lock("other").blocking().try_acquire().expect("answered").expect("free");
    proxy.stall(Direction::ToServer);
    drop(guard);
    let since = Instant::now();
    let taken = client.lock("n").blocking().try_acquire();
    assert!(matches!(taken.map(drop), Err(Error::Unavailable { .. })));
    assert!(since.elapsed() < secs(5), "{:?}", since.elapsed());
    proxy.flow();
    other.release().expect("held");
    eventually(|| server.view().keys("*").is_empty());
}

/// Each begins while others are on their way back, and is cancelled before it has begun to wait for them.
#[test]
fn a_cancelled_try_does_not_wait_for_itself() {
    let server = Server::start();
    for kind in ["plain", "fenced", "fair", "non_reentrant"] {
        let client =
            Client::connect(&format!("{}?retry_for=60&response_timeout=60", server.url())).expect("a good URL");
        let (done, answered) = std::sync::mpsc::channel();
        for owner in 1..=300 {
            let ticket = client.ticket();
            let request = Request { wait: Some(ms(0)), ..Request::new(Op::Acquire, kind, kind, owner) };
            let done = done.clone();
            client.submit(ticket, request, move |answer| drop(done.send(answer)));
            client.cancel(ticket);
        }
        for _ in 0..300 {
            drop(answered.recv_timeout(secs(20)).expect("no try waits for what it does itself"));
        }
        client.close_blocking(Holds::Release);
        eventually(|| !server.view().exists(kind));
    }
}
