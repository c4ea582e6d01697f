//! Waiters whose subscription breaks.

use std::thread;

use redlatch::{BlockingGuard, Client};

use super::every_packet::{Run, at_every_packet};
use super::*;

/// Waits for the lock on a thread of its own.
type Waiting = thread::JoinHandle<redlatch::Result<BlockingGuard>>;

fn wait(client: Client, name: &str) -> Waiting {
    let lock = client.lock(name).wait(PATIENCE).blocking();
    thread::spawn(move || lock.acquire())
}

fn is_woken(waiting: Waiting) {
    let guard = waiting.join().expect("no panic").expect("woken long before the lease would have ended");
    guard.release().expect("held");
}

/// A client whose connection for waiters is open already.
fn warm(run: &Run) -> Client {
    let client = connect(&run.url());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the system gives a runtime");
    let lock = client.lock(&format!("{}, warm", run.name));
    runtime.block_on(async { lock.acquire().await.expect("free").release().await }).expect("held");
    client
}

/// A waiter begins to wait while a fault strikes one packet. Then the holder releases, over a connection without
/// faults.
fn a_waiter_and_a_release(run: &Run, waiter: Client, strike: impl Fn(&Run), then: impl Fn(&Run)) {
    let holder = connect(&run.server.url());
    let held = holder.lock(&run.name).lease(LONG).blocking().acquire().expect("free");
    strike(run);
    let waiting = wait(waiter, &run.name);
    let mut view = run.server.view();
    eventually("a listener, or the fault", || (run.struck() || view.listeners(&channel(&run.name)) > 0).then_some(()));
    held.release().expect("held");
    eventually("the fault, or the end", || (run.struck() || waiting.is_finished()).then_some(()));
    run.proxy.disarm();
    then(run);
    is_woken(waiting);
    nothing_is_left(&mut view, &run.name);
}

#[test]
fn a_waiter_cut_at_any_step_is_woken() {
    at_every_packet("cut", |run| a_waiter_and_a_release(run, connect(&run.url()), |run| run.cut(), |_| {}));
}

#[test]
fn a_waiter_held_up_at_any_step_until_after_the_release_is_woken() {
    at_every_packet("held up", |run| {
        a_waiter_and_a_release(run, connect(&run.url()), |run| run.hold(), |run| run.proxy.flow())
    });
}

#[test]
fn a_waiter_that_is_connected_already_is_woken_wherever_it_is_cut() {
    at_every_packet("warm cut", |run| a_waiter_and_a_release(run, warm(run), |run| run.cut(), |_| {}));
}

#[test]
fn a_waiter_that_is_connected_already_is_woken_wherever_it_is_held_up_until_after_the_release() {
    at_every_packet("warm held up", |run| {
        a_waiter_and_a_release(run, warm(run), |run| run.hold(), |run| run.proxy.flow())
    });
}

#[test]
fn a_waiter_held_up_at_any_step_and_then_cut_is_woken() {
    at_every_packet("held up and cut", |run| {
        a_waiter_and_a_release(run, connect(&run.url()), |run| run.hold(), |run| run.proxy.cut())
    });
}

#[test]
fn a_waiter_whose_subscriber_the_server_kills_is_woken() {
    let server = Server::start();
    let holder = connect(&server.url());
    let mut view = server.view();
    for round in 0..20 {
        let name = format!("n{round}");
        let held = holder.lock(&name).lease(LONG).blocking().acquire().expect("free");
        let waiting = wait(connect(&server.url()), &name);
        eventually("a listener", || (view.listeners(&channel(&name)) == 1).then_some(()));
        view.command::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        held.release().expect("held");
        is_woken(waiting);
        nothing_is_left(&mut view, &name);
    }
}

#[test]
fn a_waiter_behind_a_half_open_link_is_woken() {
    let server = Server::start();
    let holder = connect(&server.url());
    all_at_once(
        [None, Some(Direction::ToServer), Some(Direction::ToClient)]
            .map(|silent| {
                let server = &server;
                let holder = &holder;
                let job = move || {
                    let name = format!("{silent:?}");
                    let proxy = Proxy::start(server);
                    let held = holder.lock(&name).lease(LONG).blocking().acquire().expect("free");
                    let waiting = wait(connect(&server.url_at(proxy.port())), &name);
                    eventually("a listener", || (server.view().listeners(&channel(&name)) == 1).then_some(()));
                    let both = [Direction::ToServer, Direction::ToClient];
                    both.iter()
                        .filter(|way| silent.is_none_or(|silent| silent == **way))
                        .for_each(|way| proxy.freeze(*way));
                    held.release().expect("held");
                    is_woken(waiting);
                };
                (format!("silent: {silent:?}"), job)
            })
            .into_iter(),
    );
}

#[test]
fn a_waiter_whose_connection_ends_on_one_side_only_is_woken() {
    let server = Server::start();
    let holder = connect(&server.url());
    for direction in [Direction::ToServer, Direction::ToClient] {
        let name = format!("{direction:?}");
        let proxy = Proxy::start(&server);
        let held = holder.lock(&name).lease(LONG).blocking().acquire().expect("free");
        let waiting = wait(connect(&server.url_at(proxy.port())), &name);
        eventually("a listener", || (server.view().listeners(&channel(&name)) == 1).then_some(()));
        proxy.half_close(direction);
        held.release().expect("held");
        is_woken(waiting);
    }
}
