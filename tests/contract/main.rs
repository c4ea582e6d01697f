//! The promises of every lock, on a real server.

use std::sync::mpsc;
use std::time::Duration;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::*;

mod abandoned;
mod arrival;
mod bad_input;
mod beliefs;
mod callbacks;
mod departures;
mod errors;
mod extending;
mod extremes;
mod forced;
mod group_ends;
mod group_losses;
mod groups;
mod guards;
mod half_done;
mod inventory;
mod job;
mod keys;
mod kinds;
mod last_hold;
mod latch;
mod late_grants;
mod leader;
mod logs;
mod lost;
mod models;
mod multi;
mod nothing_listens;
mod outages;
mod own_calls;
mod passing;
mod permit_semaphore;
mod permits;
mod polling;
mod pulse;
mod read_write;
mod red;
mod renewing;
mod runtimes;
mod secrets;
mod spans;
mod table;
mod tickets;
mod tls;
mod token;
mod trouble;
mod wants;

fn pair() -> (Server, Client, Client) {
    let server = Server::start();
    let (a, b) =
        (Client::connect(&server.url()).expect("a good URL"), Client::connect(&server.url()).expect("a good URL"));
    (server, a, b)
}

#[test]
fn only_one_client_holds_it_at_a_time() {
    let (_server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    guard.release().expect("held");
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_some());
}

#[test]
fn one_lock_is_one_script_call_and_so_is_one_unlock() {
    let (server, a, _) = pair();
    a.lock("warm").blocking().acquire().expect("free").release().expect("held");
    let mut view = server.view();
    view.forget_calls();
    let guard = a.lock("n").blocking().acquire().expect("free");
    assert_eq!(view.calls().get("evalsha"), Some(&1));
    guard.release().expect("held");
    assert_eq!(view.calls().get("evalsha"), Some(&2));
    assert_eq!(view.calls().get("eval"), None);
}

#[test]
fn a_release_wakes_a_waiter_long_before_the_lease_ends() {
    let (server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let waiter =
        std::thread::spawn(move || b.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
    let mut view = server.view();
    eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    guard.release().expect("held");
    waiter.join().expect("no panic").expect("woken").expect("held");
    eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
}

#[test]
fn an_owner_holds_it_as_often_as_it_took_it() {
    let (server, a, b) = pair();
    let lock = || a.lock("n").owner(7).blocking();
    let outer = lock().acquire().expect("free");
    let inner = lock().acquire().expect("own");
    assert_eq!(server.view().hgetall("n").into_values().collect::<Vec<_>>(), ["2"]);
    inner.release().expect("held");
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    outer.release().expect("held");
    assert!(!server.view().exists("n"));
}

#[test]
fn a_wait_that_runs_out_is_told_and_leaves_nothing() {
    let (server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let wait = Duration::from_millis(100);
    assert!(matches!(b.lock("n").wait(wait).blocking().acquire(), Err(Error::NotAcquired { .. })));
    assert!(b.lock("n").wait(wait).blocking().try_acquire().expect("answered").is_none());
    guard.release().expect("held");
    let mut view = server.view();
    eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
}

#[test]
fn a_lease_that_runs_out_frees_the_lock_and_its_holder_is_told() {
    let (_server, a, b) = pair();
    let guard = a.lock("n").lease(Duration::from_millis(300)).blocking().acquire().expect("free");
    guard.ensure().expect("held");
    let next = b.lock("n").wait(secs(20)).blocking().acquire().expect("expired");
    assert!(matches!(guard.ensure(), Err(Error::Lost(_))));
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    next.ensure().expect("the late release took nothing away");
    next.release().expect("held");
}

#[test]
fn a_hold_without_a_lease_is_renewed() {
    let (server, ..) = pair();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let guard = client.lock("n").blocking().acquire().expect("free");
    let mut view = server.view();
    let renewals = |view: &mut View| view.calls().get("pexpire").copied().unwrap_or_default();
    eventually(|| renewals(&mut view) >= 6);
    guard.ensure().expect("held");
    guard.release().expect("held");
    assert!(!view.exists("n"));
}

#[test]
fn a_forced_release_frees_it_and_the_former_holder_takes_nothing_away() {
    let (_server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    assert!(b.lock("n").blocking().force_release().expect("answered"));
    assert!(!b.lock("n").blocking().force_release().expect("answered"));
    let next = b.lock("n").blocking().acquire().expect("free");
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    next.release().expect("held");
}

#[test]
fn a_thousand_waiters_use_one_subscription_and_all_get_it() {
    let (server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let (sender, receiver) = mpsc::channel();
    let mut request = Request::new(Op::Acquire, "plain", "n", 0);
    request.wait = None;
    for owner in 1..=1000 {
        let client = b.clone();
        let sender = sender.clone();
        let again = b.clone();
        let request = Request { owner, ..request.clone() };
        let back = Request { op: Op::Release, ..request.clone() };
        client.submit(client.ticket(), request, move |taken| {
            assert!(taken.expect("taken").done);
            again.submit(again.ticket(), back, move |released| drop(sender.send(released)));
        });
    }
    let mut view = server.view();
    eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    guard.release().expect("held");
    for _ in 0..1000 {
        receiver.recv_timeout(secs(60)).expect("every waiter gets it").expect("released");
    }
    eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
}

#[test]
fn a_dropped_future_leaves_nothing_held_and_no_waiter_in_line() {
    let (server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
    let b2 = b.clone();
    let task = runtime.spawn(async move { b2.lock("n").acquire().await.map(drop) });
    let mut view = server.view();
    eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    task.abort();
    eventually(|| view.channels("*").is_empty());
    guard.release().expect("held");
    eventually(|| !view.exists("n"));
    b.lock("n").wait(secs(5)).blocking().acquire().expect("no waiter stands before it").release().expect("held");
    drop(runtime);
}

#[test]
fn a_closed_client_gives_its_locks_back_and_says_so() {
    let (server, a, b) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let kept = b.lock("kept").blocking().acquire().expect("free");
    a.close_blocking(Holds::Release);
    b.close_blocking(Holds::Keep);
    let mut view = server.view();
    assert!(!view.exists("n") && view.exists("kept"));
    assert!(matches!(guard.release(), Err(Error::Closed { .. })));
    assert!(matches!(kept.release(), Err(Error::Closed { .. })));
    assert!(matches!(a.lock("n").blocking().try_acquire(), Err(Error::Closed { .. })));
}

#[test]
fn every_close_returns_only_once_the_client_has_ended() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let _guard = client.lock("n").blocking().acquire().expect("free");
    proxy.stall(Direction::ToServer);
    let is_held_then = |close: &dyn Fn()| {
        close();
        server.view().exists("n")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| is_held_then(&|| client.close_blocking(Holds::Release)));
        eventually(|| client.is_closed());
        let blocking = scope.spawn(|| is_held_then(&|| client.close_blocking(Holds::Keep)));
        let asynchronous = scope.spawn(|| is_held_then(&|| runtime.block_on(client.close(Holds::Keep))));
        // A call that waits for nothing returns meanwhile.
        std::thread::sleep(Duration::from_millis(300));
        proxy.flow();
        for (what, close) in [("the first", first), ("a second", blocking), ("an awaited", asynchronous)] {
            assert!(!close.join().expect("no panic"), "{what} close has returned before the release");
        }
    });
}

/// Waits for a state that must come.
///
/// # Panics
/// When it does not come.
#[track_caller]
fn eventually(mut it_is_so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + secs(20);
    while !it_is_so() {
        assert!(std::time::Instant::now() < end, "it did not come about within 20 s");
        std::thread::sleep(Duration::from_millis(2));
    }
}
