//! Holds that count only once replicas have them.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::Instant;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Config, Error, SyncPolicy};
use redlatch_tests::{Proxy, Sentinels, Server, View, all_at_once, eventually, ms, secs};

use super::use_every_kind;

mod cluster;
mod every_kind;
mod files;
mod stalls;
mod without;

/// A client whose writes one replica must confirm.
fn confirmed(url: &str, within_ms: u64) -> Client {
    let config = Config::from_url(url).expect("a good URL");
    Client::with_config(config.sync(SyncPolicy::Wait { replicas: 1, within: ms(within_ms) })).expect("a good policy")
}

/// Returns once a client waits for a replica.
fn until_waited_for(view: &mut View) {
    eventually("a call that waits", || is_waited_for(view).then_some(()));
}

fn is_waited_for(view: &mut View) -> bool {
    view.command::<String>(&["INFO", "clients"]).contains("blocked_clients:1")
}

fn is_not_synced<T>(result: Result<T, Error>) -> String {
    let error = result.map(drop).expect_err("no replica has confirmed it");
    assert!(matches!(error, Error::NotSynced { confirmed: 0, expected: 1, .. }), "{error:?}");
    error.to_string()
}

#[test]
fn an_acquired_hold_is_on_the_replica_already() {
    let master = Server::start();
    let proxy = Proxy::start(&master);
    let replica = master.replica_over(proxy.port());
    proxy.delay(ms(5));
    let client = confirmed(&master.url(), 10_000);
    for number in 0..20 {
        let guard = client.lock(&format!("n{number}")).blocking().acquire().expect("free");
        assert!(replica.view().exists(&format!("n{number}")));
        guard.release().expect("held");
    }
}

#[test]
fn a_cut_link_grants_nothing_and_the_error_says_what_to_check() {
    let master = Server::start();
    let proxy = Proxy::start(&master);
    let replica = master.replica_over(proxy.port());
    let client = confirmed(&master.url(), 100);
    let patient = confirmed(&master.url(), 10_000);
    let mut view = master.view();
    patient.lock("before").blocking().acquire().expect("confirmed").release().expect("held");
    proxy.stall(redlatch_tests::Direction::ToClient);
    for wait in [ms(0), secs(5)] {
        let said = is_not_synced(client.lock("n").wait(wait).blocking().acquire());
        assert!(
            said.contains("`n`") && said.contains("0 of 1 replicas") && said.contains("INFO replication"),
            "{said}"
        );
        assert!(!view.exists("n"));
    }
    proxy.flow();
    eventually("what was given back", || replica.view().keys("*").is_empty().then_some(()));
    patient.lock("n").blocking().acquire().expect("confirmed again").release().expect("held");
}

#[test]
fn no_other_caller_waits_while_a_call_is_confirmed() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 15_000);
    let mut view = master.view();
    let held = client.lock("held").blocking().acquire().expect("confirmed");
    replica.pause();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.lock("n").blocking().acquire().expect("confirmed in the end").release());
        until_waited_for(&mut view);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("an event queue");
        assert!(client.lock("n").blocking().is_locked().expect("answered"));
        assert!(runtime.block_on(client.lock("held").is_locked()).expect("answered"));
        assert!(
            client.lock("held").blocking().try_acquire().expect("answered").is_none(),
            "the lock is held, and a refusal needs no confirmation"
        );
        held.release().expect("a release waits for no replica");
        assert!(!view.exists("held"));
        assert!(is_waited_for(&mut view) && !waiting.is_finished());
        replica.resume();
        waiting.join().expect("no panic").expect("held");
    });
}

#[test]
fn a_failover_keeps_what_was_confirmed() {
    let sentinels = Sentinels::start();
    let client = confirmed(&sentinels.url(), 5_000);
    let other = super::client(&format!("{}?retry_for=20", sentinels.url()));
    let guards: Vec<_> = (0..20)
        .map(|n| client.lock(&format!("n{n}")).lease(secs(60)).blocking().acquire().expect("confirmed"))
        .collect();
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    for number in 0..20 {
        assert!(other.lock(&format!("n{number}")).blocking().try_acquire().expect("answered").is_none());
    }
    for guard in guards {
        guard.release().expect("the new master has it");
    }
    assert!(sentinels.servers[1].view().keys("n*").is_empty());
}

#[test]
fn a_dropped_acquire_leaves_nothing() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 15_000);
    let mut view = master.view();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("threads");
    client.lock("before").blocking().acquire().expect("confirmed").release().expect("held");
    replica.pause();
    let lock = client.lock("n");
    let task = runtime.spawn(async move { lock.acquire().await.map(drop) });
    until_waited_for(&mut view);
    task.abort();
    let _ = runtime.block_on(task);
    assert!(view.exists("n"));
    replica.resume();
    eventually("an end of it", || (!view.exists("n") && !replica.view().exists("n")).then_some(()));
}

#[test]
fn a_hold_that_is_passed_on_is_confirmed() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 300);
    let patient = confirmed(&master.url(), 10_000);
    let mut view = master.view();
    patient.lock("before").blocking().acquire().expect("confirmed").release().expect("held");
    let held = client.lock("n").blocking().acquire().expect("confirmed");
    replica.pause();
    let waiters = std::thread::scope(|scope| {
        let waiters = [0; 2].map(|_| scope.spawn(|| client.lock("n").wait(secs(20)).blocking().acquire().map(drop)));
        eventually("a listener", || (!view.channels("*").is_empty()).then_some(()));
        held.release().expect("a release waits for no replica");
        waiters.map(|waiter| waiter.join().expect("no panic"))
    });
    waiters.into_iter().for_each(|waiter| drop(is_not_synced(waiter)));
    assert!(!view.exists("n"), "each has given back what it got");
    replica.resume();
    eventually("what was given back", || replica.view().keys("*").is_empty().then_some(()));
    patient.lock("n").blocking().acquire().expect("confirmed again").release().expect("held");
}

/// The server grants the lock in time; only the replica is late.
#[test]
fn a_wait_that_ends_while_its_lock_is_confirmed_ends_with_the_lock() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 20_000);
    let mut view = master.view();
    // A short hold is passed on; after a longer one the waiter tries for itself.
    for held_for in [ms(0), ms(100)] {
        let wait = secs(2);
        let held = client.lock("n").blocking().acquire().expect("confirmed");
        replica.pause();
        let (sender, end) = mpsc::channel();
        let waiting = Request { wait: Some(wait), ..Request::new(Op::Acquire, "plain", "n", 7) };
        client.submit(client.ticket(), waiting, move |taken| drop(sender.send(taken)));
        let begun = Instant::now();
        std::thread::sleep(held_for);
        held.release().expect("a release waits for no replica");
        until_waited_for(&mut view);
        let early = end.recv_timeout((wait + ms(500)).saturating_sub(begun.elapsed()));
        assert!(early.is_err(), "held for {held_for:?}: {early:?}, though the replica may still confirm it");
        replica.resume();
        let taken = end.recv_timeout(secs(20)).expect("the replica confirms it").expect("it is confirmed");
        assert!(taken.done, "held for {held_for:?}");
        client.run_blocking(Request::new(Op::Release, "plain", "n", 7)).expect("held");
        eventually("nothing", || (view.keys("*").is_empty() && replica.view().keys("*").is_empty()).then_some(()));
    }
}

/// Its tries go over connections of their own, so that none of them opens the connection for messages anew.
#[test]
fn a_waiter_whose_subscription_was_cut_listens_again() {
    let master = Server::start();
    let _replica = master.replica();
    let held = confirmed(&master.url(), 10_000).lock("n").blocking().acquire().expect("confirmed");
    let waiter = confirmed(&master.url(), 10_000);
    let waiting = std::thread::spawn(move || waiter.lock("n").wait(secs(60)).blocking().acquire());
    let mut view = master.view();
    let listener = |view: &mut View| {
        let clients: String = view.command(&["CLIENT", "LIST"]);
        let of_listener = clients.lines().find(|line| line.contains(" sub=1 "))?;
        of_listener.split(' ').find_map(|word| word.strip_prefix("id=")).map(str::to_owned)
    };
    let first = eventually("a listener", || listener(&mut view));
    view.command::<i64>(&["CLIENT", "KILL", "ID", &first]);
    eventually("a listener on a new connection", || listener(&mut view).filter(|next| *next != first));
    held.release().expect("held");
    waiting.join().expect("no panic").expect("it hears of the release").release().expect("held");
}

#[test]
fn many_callers_take_turns_and_each_hold_is_on_the_replica() {
    const EACH: u64 = 25;
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 10_000);
    let count = AtomicU64::new(0);
    let turns = || {
        let mut view = replica.view();
        for _ in 0..EACH {
            let guard = client.lock("n").blocking().acquire().expect("its turn comes");
            let seen = count.load(SeqCst);
            assert!(view.exists("n"));
            count.store(seen + 1, SeqCst);
            guard.release().expect("held");
        }
    };
    all_at_once((0..8).map(|number| (number.to_string(), turns)));
    assert_eq!(count.into_inner(), 8 * EACH);
    eventually("nothing", || master.view().keys("*").is_empty().then_some(()));
}

#[test]
fn more_callers_than_connections_wait_in_line_and_each_has_its_answer() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&format!("{}?retry_for=20", master.url()), 100);
    replica.pause();
    let patient = confirmed(&master.url(), 10_000);
    let acquire = |client: &Client, number: usize| client.lock(&format!("n{number}")).blocking().acquire();
    let refused = |number| drop(is_not_synced(acquire(&client, number)));
    all_at_once((0..40).map(|number| (number.to_string(), move || refused(number))));
    assert!(master.view().keys("*").is_empty());
    assert!(master.view().clients() < 20);
    replica.resume();
    let granted = |number| acquire(&patient, number).expect("confirmed").release().expect("held");
    all_at_once((0..40).map(|number| (number.to_string(), move || granted(number))));
}
