//! Dead connections that nothing reports, and servers that are only slow.

use redlatch::Client;
use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Border, Op, Request};
use redlatch_tests::*;

use super::{eventually, secs};

const CHANNEL: &str = "redisson_lock__channel:{n}";

fn connected(url: &str) -> Client {
    Client::connect(url).expect("a good URL")
}

/// The ids of the connections that listen, by the server.
fn listening(view: &mut View) -> Vec<String> {
    let list: String = view.command(&["CLIENT", "LIST", "TYPE", "pubsub"]);
    list.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
}

#[test]
fn a_waiter_whose_connection_leads_nowhere_is_woken_all_the_same() {
    for direction in [Direction::ToClient, Direction::ToServer] {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let holder = connected(&server.url());
        let waiter = connected(&server.url_at(proxy.port()));
        // Renewed until its release, the hold outlives the wait: only a wake can end the wait in time.
        let guard = holder.lock("n").blocking().acquire().expect("free");
        let waiting = std::thread::spawn(move || {
            waiter.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release())
        });
        let mut view = server.view();
        eventually(|| view.listeners(CHANNEL) == 1);
        proxy.freeze(direction);
        if direction == Direction::ToServer {
            // Towards the client the message would still come through: this direction needs the second connection.
            eventually(|| view.listeners(CHANNEL) == 2);
        }
        guard.release().expect("held");
        waiting.join().expect("no panic").unwrap_or_else(|e| panic!("{direction:?}: {e}")).expect("held");
    }
}

#[test]
fn a_call_on_a_connection_that_leads_nowhere_is_carried_out_on_another() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connected(&server.url_at(proxy.port()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    runtime.block_on(async {
        client.lock("n").acquire().await.expect("free").release().await.expect("held");
        for direction in [Direction::ToClient, Direction::ToServer] {
            proxy.freeze(direction);
            let guard = client.lock("n").acquire().await.unwrap_or_else(|e| panic!("{direction:?}: {e}"));
            guard.release().await.expect("held");
        }
    });
    assert!(!server.view().exists("n"));
}

#[test]
fn a_connection_that_leads_nowhere_while_it_is_opened_is_given_up_for_another() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    for reply in 1..=3 {
        let client = connected(&server.url_at(proxy.port()));
        proxy.hold_at(Direction::ToClient, "", reply);
        let lock = || client.lock("n").acquire();
        runtime.block_on(async {
            lock().await.unwrap_or_else(|e| panic!("reply {reply}: {e}")).release().await.expect("held")
        });
        proxy.disarm();
        proxy.flow();
    }
}

#[test]
fn a_slow_server_keeps_its_connection() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let holder = connected(&server.url());
    let waiter = connected(&server.url_at(proxy.port()));
    let guard = holder.lock("n").blocking().acquire().expect("free");
    let waiting =
        std::thread::spawn(move || waiter.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
    let mut view = server.view();
    eventually(|| view.listeners(CHANNEL) == 1);
    let before = listening(&mut view);
    let connections = proxy.connections();
    server.pause();
    eventually(|| proxy.connections() > connections);
    server.resume();
    eventually(|| proxy.connections() == connections);
    assert_eq!(listening(&mut view), before);
    guard.release().expect("held");
    waiting.join().expect("no panic").expect("woken").expect("held");
}

/// Two clients, of which one waits for the other's lock.
struct Waiting {
    _holder: Client,
    guard: redlatch::BlockingGuard,
    waiter: std::thread::JoinHandle<redlatch::Result<Client>>,
}

impl Waiting {
    fn at(server: &Server) -> Self {
        let holder = connected(&server.url());
        let waiter = connected(&server.url());
        let guard = holder.lock("n").blocking().acquire().expect("free");
        let wait = move || waiter.lock("n").wait(secs(20)).blocking().acquire().map(drop).map(|()| waiter);
        let waiter = std::thread::spawn(wait);
        eventually(|| server.view().listeners(CHANNEL) == 1);
        Waiting { _holder: holder, guard, waiter }
    }

    /// The waiter gets the lock, and waits for nothing any more.
    fn end(self) -> Client {
        self.guard.release().expect("held");
        self.waiter.join().expect("no panic").expect("woken")
    }
}

/// The commands that clients send to a quiet server while a waiter elsewhere shows three signs of life.
fn sent_meanwhile(quiet: &Server) -> std::collections::BTreeMap<String, u64> {
    let mut view = quiet.view();
    let busy = Server::start();
    let waiting = Waiting::at(&busy);
    let mut clock = busy.view();
    let signs = |view: &mut View| view.calls().get("ping").copied().unwrap_or_default();
    // The last sign of life of an idle waiter may have been on its way.
    let begun = signs(&mut clock);
    eventually(|| signs(&mut clock) >= begun + 2);
    view.forget_calls();
    let begun = signs(&mut clock);
    eventually(|| signs(&mut clock) >= begun + 3);
    let mut sent = view.calls();
    // The rig's own questions.
    sent.retain(|name, _| !name.starts_with("config") && !["info", "client|info"].contains(&name.as_str()));
    waiting.end();
    sent
}

#[test]
fn a_client_that_waits_for_nothing_sends_nothing() {
    let server = Server::start();
    let _idle = Waiting::at(&server).end();
    let mut view = server.view();
    eventually(|| !view.exists("n") && view.channels("*").is_empty());
    let sent = sent_meanwhile(&server);
    assert!(sent.is_empty(), "{sent:?}");
}

#[test]
fn a_client_that_holds_locks_of_every_kind_with_leases_of_their_own_and_waits_for_nothing_sends_nothing() {
    let server = Server::start();
    let client = connected(&server.url());
    assert!(client.permit_semaphore("permit").try_set_permits(1).blocking().expect("answered"));
    for KindRow { traits: kind, .. } in ALL.iter().filter(|row| row.traits.held) {
        let name = redlatch_tests::kinds::name(kind.name, kind.name);
        let request = Request::new(Op::Acquire, kind.name, name, 1);
        let taken = client.run_blocking(Request { lease: Some(secs(600)), ..request });
        assert!(taken.expect("answered").done, "{}", kind.name);
    }
    let mut view = server.view();
    // Each lock is read once, so that the server reports its changes from then on.
    let tracked = |view: &mut View| {
        view.command::<String>(&["INFO", "stats"])
            .lines()
            .find_map(|line| line.strip_prefix("tracking_total_keys:").and_then(|keys| keys.parse::<usize>().ok()))
    };
    let held = ALL.iter().filter(|row| row.traits.held).count();
    eventually(|| tracked(&mut view).is_some_and(|keys| keys >= held));
    let sent = sent_meanwhile(&server);
    assert!(sent.is_empty(), "{sent:?}");
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_costs_no_error() {
    let server = Server::start();
    let client = connected(&server.url());
    let mut view = server.view();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    for _ in 0..20 {
        runtime.block_on(async { client.lock("n").acquire().await.expect("free").release().await.expect("held") });
        view.command::<i64>(&["CLIENT", "KILL", "TYPE", "normal"]);
    }
    runtime.block_on(async { client.lock("n").acquire().await.expect("free").release().await.expect("held") });
}
