//! Servers without a replica that could confirm.

use redlatch_tests::{Direction, Options};

use super::*;

/// A client that waits for all connected replicas, as Redisson does.
fn connected(url: &str, replicas: u32, within_ms: u64) -> Client {
    Client::connect(&format!("{url}?sync=connected(replicas={replicas},within={})", within_ms as f64 / 1000.0))
        .expect("a good URL")
}

/// How often the server was told to wait for so many replicas.
fn waits(view: &mut View) -> u64 {
    view.calls().get("wait").copied().unwrap_or_default()
}

#[test]
fn a_master_without_replicas_grants_nothing_if_one_must_confirm() {
    let server = Server::start();
    is_not_synced(confirmed(&server.url(), 50).lock("n").blocking().acquire());
    assert!(!server.view().exists("n"));
}

#[test]
fn a_master_without_replicas_grants_at_once_if_only_connected_replicas_must_confirm() {
    let server = Server::start();
    let client = connected(&server.url(), 1, 20_000);
    let mut view = server.view();
    use_every_kind(&client, "n");
    view.forget_calls();
    for _ in 0..10 {
        client.lock("n").blocking().acquire().expect("there is no replica to wait for").release().expect("held");
    }
    assert_eq!(waits(&mut view), 0);
}

#[test]
fn replicas_that_are_connected_must_confirm_but_not_all_of_them() {
    let master = Server::start();
    let one = master.replica();
    let two = master.replica();
    let client = connected(&master.url(), 1, 1000);
    client.lock("n").blocking().acquire().expect("both confirm").release().expect("held");
    one.pause();
    client.lock("n").blocking().acquire().expect("one confirms").release().expect("held");
    two.pause();
    is_not_synced(client.lock("n").blocking().acquire());
    assert!(!master.view().exists("n"));
    connected(&master.url(), 0, 50)
        .lock("n")
        .blocking()
        .acquire()
        .expect("no replica must confirm")
        .release()
        .expect("held");
    for replica in [&one, &two] {
        replica.resume();
    }
}

#[test]
fn a_replica_that_comes_later_is_waited_for_soon() {
    let master = Server::start();
    let client = connected(&master.url(), 1, 10_000);
    let mut view = master.view();
    client.lock("n").blocking().acquire().expect("there is no replica").release().expect("held");
    let _replica = master.replica();
    view.forget_calls();
    eventually("a call that waits for it", || {
        client.lock("n").blocking().acquire().expect("confirmed").release().expect("held");
        (waits(&mut view) > 1).then_some(())
    });
}

#[test]
fn a_replica_without_all_the_data_yet_keeps_no_caller_waiting() {
    let args = ["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "60"].map(str::to_owned).into();
    let master = Server::with(Options { args, ..Options::default() });
    let args = ["--replicaof", "127.0.0.1", &master.port().to_string()].map(str::to_owned).into();
    let _replica = Server::with(Options { args, ..Options::default() });
    let mut view = master.view();
    eventually("a replica that waits", || {
        view.command::<String>(&["INFO", "replication"]).contains("state=wait_bgsave").then_some(())
    });
    connected(&master.url(), 1, 20)
        .lock("n")
        .blocking()
        .acquire()
        .expect("it could not confirm anything")
        .release()
        .expect("held");
}

#[test]
fn a_server_that_forbids_wait_is_used_unless_replicas_must_confirm() {
    let server = Server::start();
    let mut view = server.view();
    view.command::<()>(&["ACL", "SETUSER", "limited", "on", ">word", "~*", "&*", "+@all", "-wait"]);
    let url = server.url().replace("redis://", "redis://limited:word@");
    let error = confirmed(&url, 1000).lock("n").blocking().acquire().map(drop).expect_err("it may not");
    assert!(
        matches!(&error, Error::Unsupported(said) if said.contains("NOPERM") && said.contains("allow WAIT")),
        "{error:?}"
    );
    assert!(!view.exists("n"));
    use_every_kind(&connected(&url, 1, 1000), "n");
}

#[test]
fn a_master_that_becomes_a_replica_meanwhile_leaves_it_to_the_next_one() {
    let master = Server::start();
    let next = master.replica();
    let client = confirmed(&format!("redis+replicated://{},{}?retry_for=20", master.address(), next.address()), 15_000);
    let mut view = master.view();
    client.lock("before").blocking().acquire().expect("confirmed").release().expect("held");
    next.pause();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.lock("n").blocking().acquire());
        until_waited_for(&mut view);
        view.command::<()>(&["REPLICAOF", "127.0.0.1", &next.port().to_string()]);
        next.resume();
        next.view().command::<()>(&["REPLICAOF", "NO", "ONE"]);
        let guard = waiting.join().expect("no panic").expect("confirmed by the former master");
        assert!(next.view().exists("n") && master.view().exists("n"));
        guard.release().expect("held");
    });
}

#[test]
fn a_master_that_becomes_a_replica_before_it_is_asked_to_wait_leaves_it_to_the_next_one() {
    let master = Server::start();
    let next = master.replica();
    let proxy = Proxy::start(&master);
    let client =
        confirmed(&format!("redis+replicated://127.0.0.1:{},{}?retry_for=20", proxy.port(), next.address()), 15_000);
    client.lock("before").blocking().acquire().expect("confirmed").release().expect("held");
    proxy.hold_at(Direction::ToServer, "WAIT", 1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.lock("n").blocking().acquire());
        eventually("a question on its way", || (proxy.struck() == 1).then_some(()));
        next.view().command::<()>(&["REPLICAOF", "NO", "ONE"]);
        master.view().command::<()>(&["REPLICAOF", "127.0.0.1", &next.port().to_string()]);
        proxy.flow();
        let guard = waiting.join().expect("no panic").expect("confirmed by the former master");
        assert!(next.view().exists("n"));
        guard.release().expect("held");
    });
}
