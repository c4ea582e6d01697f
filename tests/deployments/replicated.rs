use redlatch_tests::{Options, Server};

use super::{client, use_every_kind};

#[test]
fn whichever_says_that_it_is_the_master_is_used() {
    let master = Server::start();
    let args = ["--replicaof", "127.0.0.1", &master.port().to_string()].map(str::to_owned).into();
    let replica = Server::with(Options { args, ..Options::default() });
    let client = client(&format!("redis+replicated://{},{}?retry_for=10", replica.address(), master.address()));
    use_every_kind(&client, "n");
    // An operator turns them round.
    let mut views = [master.view(), replica.view()];
    views[1].command::<()>(&["REPLICAOF", "NO", "ONE"]);
    views[0].command::<()>(&["REPLICAOF", "127.0.0.1", &replica.port().to_string()]);
    let guard = client.lock("after").blocking().acquire().expect("the new master");
    assert_eq!(replica.view().hgetall("after").len(), 1);
    guard.release().expect("held");
}
