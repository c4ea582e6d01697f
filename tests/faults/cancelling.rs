//! Futures that are dropped at every step.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use super::every_packet::{Run, at_every_packet};
use super::*;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("the system gives threads")
}

/// Begins an acquire, drops its future when the packet is reached (or the lock is taken), and lets the packet go on.
fn dropped_at_the_packet(run: &Run, client: &Client, before_it_flows: impl FnOnce()) {
    let runtime = runtime();
    let lock = client.lock(&run.name).lease(LONG);
    run.hold();
    let task = runtime.spawn(async move { lock.acquire().await.map(drop) });
    let mut view = run.server.view();
    eventually("the packet", || {
        (run.struck() || task.is_finished() || view.listeners(&channel(&run.name)) > 0).then_some(())
    });
    task.abort();
    let _ = runtime.block_on(task);
    before_it_flows();
    run.proxy.disarm();
    run.proxy.flow();
}

fn a_newcomer_gets_it(client: &Client, name: &str) {
    let newcomer = client.lock(name).wait(PATIENCE).blocking().acquire();
    newcomer.expect("no waiter stands before it").release().expect("held");
}

#[test]
fn an_acquire_dropped_at_any_step_leaves_nothing() {
    at_every_packet("dropped", |run| {
        let client = connect(&run.url());
        dropped_at_the_packet(run, &client, || {});
        nothing_is_left(&mut run.server.view(), &run.name);
        a_newcomer_gets_it(&client, &run.name);
    });
}

#[test]
fn a_waiter_dropped_at_any_step_leaves_nothing() {
    at_every_packet("waiter", |run| {
        let client = connect(&run.url());
        let holder = connect(&run.server.url());
        let held = holder.lock(&run.name).lease(LONG).blocking().acquire().expect("free");
        dropped_at_the_packet(run, &client, || held.release().expect("held"));
        nothing_is_left(&mut run.server.view(), &run.name);
        a_newcomer_gets_it(&client, &run.name);
    });
}

#[test]
fn a_waiter_dropped_while_its_silent_connection_is_replaced_leaves_nothing() {
    let server = Server::start();
    let runtime = runtime();
    let holder = connect(&server.url());
    let job = |name: String| {
        let server = &server;
        let runtime = &runtime;
        let holder = &holder;
        let job = {
            let name = name.clone();
            move || {
                let proxy = Proxy::start(server);
                let mut view = server.view();
                let client = connect(&server.url_at(proxy.port()));
                let held = holder.lock(&name).lease(LONG).blocking().acquire().expect("free");
                let lock = client.lock(&name).lease(LONG);
                let waiting = runtime.spawn(async move { lock.acquire().await.map(drop) });
                eventually("a listener", || (view.listeners(&channel(&name)) == 1).then_some(()));
                proxy.hold_at(Direction::ToClient, "subscribe", 1);
                proxy.freeze(Direction::ToClient);
                eventually("the new connection's confirmation", || (proxy.struck() > 0).then_some(()));
                waiting.abort();
                let _ = runtime.block_on(waiting);
                // A call over a connection of the caller's own, which nothing holds up. By its end the client has
                // noticed the dropped waiter.
                let other = client.lock(&format!("{name} other"));
                for _ in 0..50 {
                    other.clone().blocking().acquire().expect("free").release().expect("held");
                }
                proxy.flow();
                held.release().expect("held");
                nothing_is_left(&mut view, &name);
            }
        };
        (name, job)
    };
    all_at_once((0..8).map(|number| job(format!("n{number}"))));
}

#[test]
fn a_waiter_that_comes_and_goes_while_another_subscription_is_being_ended_leaves_nothing() {
    let server = Server::start();
    let runtime = runtime();
    let holder = connect(&server.url());
    let proxy = Proxy::start(&server);
    let mut view = server.view();
    let client = connect(&server.url_at(proxy.port()));
    let held = holder.lock("n").lease(LONG).blocking().acquire().expect("free");
    client.lock("other").blocking().acquire().expect("free").release().expect("held");
    let lock = client.lock("n").lease(LONG);
    let first = runtime.spawn(async move { lock.acquire().await.map(drop) });
    eventually("a listener", || (view.listeners(&channel("n")) == 1).then_some(()));
    proxy.hold_at(Direction::ToClient, "unsubscribe", 1);
    first.abort();
    let _ = runtime.block_on(first);
    eventually("the end of the subscription", || (proxy.struck() > 0).then_some(()));
    // The second waiter tries over a connection of its own, and then wants the subscription that is just being ended.
    let second = client.lock("n").wait(ms(500));
    let second = std::thread::spawn(move || second.blocking().try_acquire().map(|taken| taken.is_some()));
    eventually("the second one's subscription", || (view.listeners(&channel("n")) == 1).then_some(()));
    let subscriptions = |view: &mut View| view.calls().get("subscribe").copied().unwrap_or_default();
    let subscribed = subscriptions(&mut view);
    proxy.refuse();
    proxy.cut();
    assert!(!second.join().expect("no panic").unwrap_or_default(), "it is held by another one");
    proxy.accept();
    eventually("a subscription for a waiter that is gone", || (subscriptions(&mut view) > subscribed).then_some(()));
    held.release().expect("held");
    nothing_is_left(&mut view, "n");
}

#[test]
fn a_release_dropped_at_any_step_is_carried_out() {
    at_every_packet("release", |run| {
        let client = connect(&run.url());
        let runtime = runtime();
        let guard = runtime.block_on(client.lock(&run.name).lease(LONG).acquire()).expect("free");
        run.hold();
        let task = runtime.spawn(guard.release());
        eventually("the packet", || (run.struck() || task.is_finished()).then_some(()));
        task.abort();
        let _ = runtime.block_on(task);
        run.proxy.disarm();
        run.proxy.flow();
        nothing_is_left(&mut run.server.view(), &run.name);
    });
}

#[test]
fn acquires_dropped_at_random_under_contention_leave_nothing_and_stop_no_other_waiter() {
    const LANES: u64 = 16;
    const ROUNDS: u64 = 100;
    let server = Server::start();
    let clients = Arc::new([connect(&server.url()), connect(&server.url())]);
    let runtime = runtime();
    let lane = |lane: u64| {
        let clients = clients.clone();
        let mut dice = dice::Dice::new(12, lane);
        runtime.spawn(async move {
            let mut dropped = 0;
            for round in 0..ROUNDS {
                let lock = clients[(round % 2) as usize].lock("n").lease(LONG);
                let patience = dice.between(ms(0), ms(5));
                match tokio::time::timeout(patience, lock.acquire()).await {
                    Err(_) => dropped += 1,
                    Ok(guard) => guard.expect("it waits as long as it takes").release().await.expect("held"),
                }
            }
            dropped
        })
    };
    let lanes: Vec<_> = (0..LANES).map(lane).collect();
    let dropped: u64 = lanes.into_iter().map(|lane| runtime.block_on(lane).expect("no panic")).sum();
    assert!(dropped > LANES && dropped < LANES * ROUNDS, "{dropped} of {} were dropped", LANES * ROUNDS);
    nothing_is_left(&mut server.view(), "n");
    a_newcomer_gets_it(&clients[0], "n");
}

#[test]
fn an_acquire_of_permits_dropped_at_any_step_leaves_nothing() {
    at_every_packet("permits", |run| {
        let client = connect(&run.url());
        let other = connect(&run.server.url());
        let runtime = runtime();
        let semaphore = client.permit_semaphore(&run.name);
        let seen = other.permit_semaphore(&run.name);
        assert!(seen.try_set_permits(3).blocking().expect("answered"));
        run.hold();
        let task = runtime.spawn(semaphore.acquire_many(2));
        eventually("the packet", || (run.struck() || task.is_finished()).then_some(()));
        task.abort();
        // The end of the task drops its guard, if that was not dropped before.
        drop(runtime.block_on(task));
        run.proxy.disarm();
        run.proxy.flow();
        let counts = || [seen.available(), seen.acquired()].map(|count| count.blocking().expect("answered"));
        eventually("all of them there", || (counts() == [3, 0]).then_some(()));
        drop(semaphore.acquire_many(3).wait(PATIENCE).blocking().expect("no waiter stands before it"));
    });
}
