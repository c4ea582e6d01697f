//! Many waiters of one client: a release passes the hold on, and other clients have their turn all the same.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::{Client, Error};
use redlatch_tests::{Proxy, Server, View};

use super::{eventually, pair, secs};

/// Runs `count` waiters in the line behind a held lock, and releases the lock once all of them wait.
fn in_line(client: &Client, count: usize, then: impl Fn(usize) + Send + Sync) {
    let ready = AtomicUsize::new(0);
    let then = &then;
    let guard = client.lock("n").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        for number in 0..count {
            let client = client.clone();
            let ready = &ready;
            scope.spawn(move || {
                let lock = client.lock("n").blocking();
                ready.fetch_add(1, SeqCst);
                let guard = lock.acquire().expect("its turn comes");
                then(number);
                guard.release().expect("held");
            });
            eventually(|| ready.load(SeqCst) == number + 1);
        }
        guard.release().expect("held");
    });
}

#[test]
fn sixteen_callers_take_hardly_more_than_one_script_call_each() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let rounds = 500;
    let start = Instant::now();
    view.forget_calls();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    a.lock("n").blocking().acquire().expect("its turn comes").release().expect("held");
                }
            });
        }
    });
    // Other clients have their turn after 10 ms at the latest. In that time a slow machine serves only a few waiters.
    let turns = start.elapsed().as_millis() as u64 / 10;
    let calls = view.calls();
    let scripts = calls.get("evalsha").unwrap_or(&0) + calls.get("eval").unwrap_or(&0);
    assert!(
        scripts <= 16 * rounds * 11 / 10 + turns,
        "{scripts} script calls for {} acquisitions in {turns} turns",
        16 * rounds
    );
    eventually(|| view.keys("*").is_empty() && view.channels("*").is_empty());
}

#[test]
fn a_lock_that_is_passed_on_is_held_by_one_at_a_time() {
    let (server, a, _) = pair();
    let inside = AtomicUsize::new(0);
    let served = AtomicUsize::new(0);
    in_line(&a, 100, |_| {
        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
        assert_eq!(server.view().hgetall("n").into_values().collect::<Vec<_>>(), ["1"]);
        inside.fetch_sub(1, SeqCst);
        served.fetch_add(1, SeqCst);
    });
    assert_eq!(served.load(SeqCst), 100);
    assert!(!server.view().exists("n"));
}

#[test]
fn another_client_has_its_turn_while_one_passes_on() {
    let (_server, a, b) = pair();
    let stop = AtomicUsize::new(0);
    let turns: redlatch::Result<Vec<()>> = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while stop.load(SeqCst) == 0 {
                    a.lock("n").blocking().acquire().expect("its turn comes").release().expect("held");
                }
            });
        }
        let turns = (0..20).map(|_| b.lock("n").wait(secs(10)).blocking().acquire()?.release()).collect();
        stop.store(1, SeqCst);
        turns
    });
    turns.expect("turns of its own");
}

#[test]
fn a_shorter_lease_that_is_passed_on_is_told_to_waiters_that_sleep_longer() {
    let (server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let mut listener = server.listen("redisson_lock__channel:{n}");
    std::thread::scope(|scope| {
        let heir = scope.spawn(|| a.lock("n").lease(secs(5)).blocking().acquire().expect("passed on"));
        let mut view = server.view();
        eventually(|| view.listeners("redisson_lock__channel:{n}") == 2);
        guard.release().expect("held");
        assert_eq!(listener.hear(), "0");
        let guard = heir.join().expect("no panic");
        assert!(view.pttl("n") <= 5000);
        guard.release().expect("held");
    });
}

#[test]
fn a_waiter_that_gave_up_is_passed_over() {
    let (server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let late = a.lock("n").wait(Duration::from_millis(50)).blocking().acquire();
    assert!(matches!(late, Err(Error::NotAcquired { .. })));
    guard.release().expect("held");
    assert!(!server.view().exists("n"));
}

#[test]
fn a_full_server_lets_a_lock_be_passed_on_and_released() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let limit = |view: &mut View, bytes: &str| view.command::<()>(&["CONFIG", "SET", "maxmemory", bytes]);
    let lock = || a.lock("n").blocking();
    // A release gives way to other clients 10 ms after its hold began. A slow machine may need that long to fill the
    // server: then the test repeats.
    eventually(|| {
        let mut heirs_view = server.view();
        let guard = lock().acquire().expect("free");
        let passed_on = std::thread::scope(|scope| {
            let heir = scope.spawn(|| {
                let guard = lock().acquire().expect("there is room");
                limit(&mut heirs_view, "1");
                guard.release().expect("a full server takes it");
            });
            eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
            let next = scope.spawn(|| lock().acquire().map(|guard| guard.release().expect("a full server takes it")));
            guard.release().expect("held");
            heir.join().expect("no panic");
            next.join().expect("no panic").is_ok()
        });
        assert!(matches!(a.lock("other").blocking().try_acquire(), Err(Error::Refused { code, .. }) if code == "OOM"));
        assert!(!view.exists("n"));
        limit(&mut view, "0");
        passed_on
    });
}

#[test]
fn a_release_whose_reply_is_lost_passes_on_once() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    for _ in 0..3 {
        let guard = client.lock("n").blocking().acquire().expect("free");
        std::thread::scope(|scope| {
            let heir = scope.spawn(|| client.lock("n").blocking().acquire().expect("passed on"));
            let mut view = server.view();
            eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
            proxy.lose_reply_to("EVALSHA");
            guard.release().expect("held");
            let guard = heir.join().expect("no panic");
            assert_eq!(view.hgetall("n").into_values().collect::<Vec<_>>(), ["1"]);
            guard.release().expect("held");
            assert!(!view.exists("n"));
        });
    }
}
