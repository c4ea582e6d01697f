use redlatch_tests::{Direction, Options, Proxy, Server, eventually, ms};

use super::{client, hand_over, use_every_kind};

#[test]
fn the_server_that_calls_itself_the_master_is_used() {
    let master = Server::start();
    let args = ["--replicaof", "127.0.0.1", &master.port().to_string()].map(str::to_owned).into();
    let replica = Server::with(Options { args, ..Options::default() });
    let client = client(&format!("redis+replicated://{},{}?retry_for=10", replica.address(), master.address()));
    use_every_kind(&client, "n");
    // An operator exchanges the two roles.
    let mut views = [master.view(), replica.view()];
    views[1].command::<()>(&["REPLICAOF", "NO", "ONE"]);
    views[0].command::<()>(&["REPLICAOF", "127.0.0.1", &replica.port().to_string()]);
    let guard = client.lock("after").blocking().acquire().expect("the new master");
    assert_eq!(replica.view().hgetall("after").len(), 1);
    guard.release().expect("held");
}

#[test]
fn no_client_listens_for_a_waiter_that_gave_up_while_its_connection_was_reopened() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let there = client(&server.url());
    let here = client(&format!("redis+replicated://127.0.0.1:{}?retry_for=10", proxy.port()));
    let held = there.lock("n").blocking().acquire().expect("free");
    let mut view = server.view();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| here.lock("n").wait(ms(1800)).blocking().acquire().map(drop));
        eventually("a listener", || (!view.channels("*").is_empty()).then_some(()));
        proxy.stall(Direction::ToServer);
        proxy.cut();
        waiting.join().expect("no panic").expect_err("it is held");
        // When a second wait has ended in vain, the line of the first one is closed.
        here.lock("m").wait(ms(100)).blocking().acquire().map(drop).expect_err("nothing gets there");
    });
    proxy.flow();
    held.release().expect("held");
    // When this subscription is there, all earlier ones have been there.
    hand_over(&there, &here, "m", || {
        eventually("a listener", || view.channels("*").iter().any(|name| name.contains("{m}")).then_some(()))
    });
    eventually("no subscriber", || view.channels("*").is_empty().then_some(()));
}
