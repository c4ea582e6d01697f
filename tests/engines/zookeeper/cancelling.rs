//! Futures that are dropped at any moment, and clients that are closed, leave nothing behind.

use redlatch::Client;
use redlatch_tests::{Direction, Proxy, Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::client;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("threads")
}

/// Takes and releases, and drops the future after `round` × 10 µs.
async fn dropped(client: Client, at: u64, round: u64) {
    let name = "n";
    let lock = match at % 4 {
        0 => client.fenced_lock(name),
        1 => client.fair_lock(name),
        2 => client.read_write_lock(name).read(),
        _ => client.read_write_lock(name).write(),
    };
    let work = async {
        let guard = lock.wait(ms(500)).acquire().await?;
        guard.release().await
    };
    let _ = tokio::time::timeout(ms(1) * round as u32 / 100, work).await;
}

#[test]
fn a_future_that_is_dropped_at_any_moment_leaves_no_lock_and_no_waiter() {
    let server = Zookeeper::start();
    let (one, two) = (client(&server, ""), client(&server, ""));
    let runtime = runtime();
    runtime.block_on(async {
        for round in 0..400 {
            let beside = tokio::spawn(dropped(two.clone(), round / 2, 400 - round));
            dropped(one.clone(), round, round).await;
            beside.await.expect("no panic");
        }
    });
    let mut nodes = server.nodes();
    eventually(|| nodes.children("/n").is_empty());
    for client in [&one, &two] {
        client.lock("n").wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
    }
}

#[test]
fn a_client_that_closes_in_any_state_leaves_no_session() {
    let server = Zookeeper::start();
    let nodes = server.nodes();
    let runtime = runtime();
    for round in 0..30 {
        let (one, two) = (client(&server, ""), client(&server, ""));
        let _held = one.lock("held").blocking().acquire().expect("free");
        let tasks: Vec<_> = (0..4)
            .map(|at| {
                let client = if at % 2 == 0 { one.clone() } else { two.clone() };
                runtime.spawn(async move { client.lock("held").wait(secs(20)).acquire().await.map(drop) })
            })
            .collect();
        std::thread::sleep(ms(1) * (round % 10));
        one.close_blocking(if round % 2 == 0 { redlatch::Holds::Release } else { redlatch::Holds::Keep });
        two.close_blocking(redlatch::Holds::Release);
        for task in tasks {
            let _ = runtime.block_on(task).expect("no panic");
        }
        eventually(|| server.sessions() == [nodes.id()]);
    }
}

/// A client whose caller gives up while the session is about to begin, and that is closed then.
#[test]
fn a_session_that_begins_while_its_client_closes_is_ended() {
    let server = Zookeeper::start();
    let nodes = server.nodes();
    let proxy = Proxy::to(server.port());
    for _ in 0..5 {
        let url = format!("{}?response_timeout=5", server.url_at(proxy.port()));
        let ours = Client::connect(&url).expect("a good URL");
        // The server begins it, and its answer takes a while.
        proxy.stall(Direction::ToClient);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| ours.lock("begins").wait(ms(100)).blocking().acquire().map(drop));
            eventually(|| server.sessions().len() == 2);
            assert!(waits.join().expect("no panic").is_err());
            let closes = scope.spawn(|| ours.close_blocking(redlatch::Holds::Release));
            std::thread::sleep(ms(50));
            assert!(!closes.is_finished(), "it waits for the session");
            proxy.flow();
            closes.join().expect("no panic");
        });
        assert_eq!(server.sessions(), [nodes.id()]);
    }
}

#[test]
fn a_client_that_closes_beside_a_slow_server_ends_its_session() {
    let server = Zookeeper::start();
    let nodes = server.nodes();
    let proxy = Proxy::to(server.port());
    for direction in [Direction::ToServer, Direction::ToClient] {
        let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
        let _held = ours.lock("slow").blocking().acquire().expect("free");
        proxy.stall(direction);
        std::thread::scope(|scope| {
            let closes = scope.spawn(|| ours.close_blocking(redlatch::Holds::Release));
            // As long as the server is slow.
            std::thread::sleep(ms(1500));
            assert!(!closes.is_finished(), "it waits for the server");
            proxy.flow();
            closes.join().expect("no panic");
        });
        assert_eq!(server.sessions(), [nodes.id()]);
    }
}

#[test]
fn a_client_whose_connection_breaks_while_it_closes_ends_its_session_by_another() {
    let server = Zookeeper::start();
    let nodes = server.nodes();
    let proxy = Proxy::to(server.port());
    for direction in [Direction::ToServer, Direction::ToClient] {
        let ours = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
        let _held = ours.lock("breaks").blocking().acquire().expect("free");
        proxy.stall(direction);
        std::thread::scope(|scope| {
            let closes = scope.spawn(|| ours.close_blocking(redlatch::Holds::Release));
            eventually(|| ours.is_closed());
            proxy.cut();
            proxy.flow();
            closes.join().expect("no panic");
        });
        assert_eq!(server.sessions(), [nodes.id()]);
    }
}
