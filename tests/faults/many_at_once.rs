//! Calls of many tasks at once, which share one connection.

use redlatch::{Guard, Holds};
use tokio::task::JoinSet;

use super::*;

const MANY: usize = 40;

pub fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("the system gives threads");
    runtime.block_on(async { tokio::time::timeout(3 * PATIENCE, work).await.expect("an end before long") })
}

pub async fn pairs(client: &Client, count: usize) {
    for _ in 0..count {
        client.lock("warm").wait(PATIENCE).acquire().await.expect("free").release().await.expect("held");
    }
}

pub fn names() -> impl Iterator<Item = String> {
    (0..MANY).map(|i| format!("n{i}"))
}

pub fn all_lock(client: &Client) -> JoinSet<(String, Guard)> {
    names()
        .map(|name| {
            let lock = client.lock(&name).lease(LONG).wait(2 * PATIENCE);
            async move { (name, lock.acquire().await.expect("it is free and the server is there")) }
        })
        .collect()
}

/// Begins all acquires while no answer arrives, and applies a fault to the connections. Each lock must then be held
/// exactly once.
pub fn all_are_held_once(silence: impl Fn(&Proxy), fault: impl Fn(&Proxy)) {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut view = server.view();
    run(async {
        let client = connect(&server.url_at(proxy.port()));
        pairs(&client, 20).await;
        eventually("a second connection", || (proxy.connections() == 2).then_some(()));
        silence(&proxy);
        let taking = all_lock(&client);
        eventually("all of them in the server", || names().all(|name| view.exists(&name)).then_some(()));
        fault(&proxy);
        for (name, guard) in taking.join_all().await {
            guard.ensure().expect("it was just taken");
            assert_eq!(counts(&mut view, &name), ["1"], "{name}");
            guard.release().await.expect("held");
        }
        names().for_each(|name| nothing_is_left(&mut view, &name));
    });
}

#[test]
fn locks_that_many_tasks_took_over_a_cut_connection_are_held_once() {
    all_are_held_once(
        |proxy| proxy.stall(Direction::ToClient),
        |proxy| {
            proxy.cut();
            proxy.flow();
        },
    );
}

#[test]
fn locks_that_many_tasks_took_over_a_dead_connection_are_held_once() {
    all_are_held_once(|proxy| proxy.freeze(Direction::ToClient), |_| ());
}

#[test]
fn many_tasks_share_a_connection_that_ends_with_the_client() {
    let guarded = Server::with(Options { password: Some("secret".into()), ..Options::default() });
    let local = Server::with(Options { unix_socket: true, ..Options::default() });
    for (server, url) in [(&guarded, guarded.url()), (&local, local.unix_url())] {
        let mut view = server.view();
        run(async {
            let client = connect(&url);
            pairs(&client, 20).await;
            eventually("a second connection", || (view.clients() == 1 + 2).then_some(()));
            for (_, guard) in all_lock(&client).join_all().await {
                guard.release().await.expect("held");
            }
            names().for_each(|name| nothing_is_left(&mut view, &name));
            client.close(Holds::Release).await;
            eventually("the end of its connections", || (view.clients() == 1).then_some(()));
        });
    }
}
