//! A server that takes over from another grants nothing until it is known to have all locks of that server.

use redlatch::{Client, LockBuilder};
use redlatch_tests::{Cluster, Options, Sentinels, Server, View, eventually, secs};

use super::client;

/// How long a server must have run before it grants locks: a lock that was granted sooner was not held back.
const QUARANTINE: u64 = 12;
const SOON: u64 = 10;

fn careful(url: &str) -> Client {
    client(&format!("{url}?quarantine=true&watchdog={QUARANTINE}&retry_for=15"))
}

fn take(lock: LockBuilder, seconds: u64) {
    lock.wait(secs(seconds)).blocking().acquire().expect("it is granted").release().expect("held");
}

fn is_held_back(lock: LockBuilder) {
    // The first calls may still go to the dead server.
    eventually("a refusal", || {
        lock.clone().blocking().try_acquire().ok().inspect(|taken| assert!(taken.is_none(), "it is granted"))
    });
    let said = lock.wait(secs(0)).blocking().acquire().map(drop).expect_err("it grants nothing").to_string();
    assert!(said.contains("quarantine"), "{said}");
}

#[test]
fn a_replica_that_takes_over_after_a_crash_keeps_what_it_has_and_grants_nothing_new() {
    let sentinels = Sentinels::start();
    let client = careful(&sentinels.url());
    let lock = client.lock("kept").owner(1);
    let held = lock.clone().wait(secs(20)).blocking().acquire().expect("free");
    assert_eq!(sentinels.servers[0].view().command::<i64>(&["WAIT", "1", "5000"]), 1, "the replica has it");
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    is_held_back(client.lock("new"));
    let again = lock.wait(secs(SOON)).blocking().acquire().expect("a holder may take its lock once more");
    again.release().expect("held twice");
    held.ensure().expect("it is renewed");
    held.release().expect("held");
    take(client.lock("new"), 20);
}

#[test]
fn a_lock_that_was_not_replicated_has_no_second_owner_after_a_crash() {
    let sentinels = Sentinels::start();
    let one = careful(&sentinels.url());
    let two = careful(&sentinels.url());
    take(two.lock("seen"), 20);
    let mut master = sentinels.servers[0].view();
    master.command::<()>(&["ACL", "SETUSER", "default", "-psync", "-sync", "-replconf"]);
    master.command::<i64>(&["CLIENT", "KILL", "TYPE", "replica"]);
    let held = one.lock("n").wait(secs(20)).blocking().acquire().expect("free");
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    is_held_back(two.lock("n"));
    let taken = two.lock("n").wait(secs(20)).blocking().acquire().expect("at last");
    assert!(held.ensure().is_err(), "two believe to have it");
    taken.release().expect("held");
}

#[test]
fn a_replica_that_shows_that_it_has_everything_grants_at_once() {
    let master = Server::start();
    let args = ["--replicaof", "127.0.0.1", &master.port().to_string()].map(str::to_owned).into();
    let replica = Server::with(Options { args, ..Options::default() });
    let servers = [master, replica];
    let client = careful(&format!("redis+replicated://{},{}", servers[0].address(), servers[1].address()));
    take(client.lock("n"), 20);
    for from in [0, 1] {
        let mut view = servers[from].view();
        let to = servers[1 - from].port().to_string();
        eventually("an orderly change", || view.try_command::<()>(&["FAILOVER", "TO", "127.0.0.1", &to]).ok());
        eventually("another master", || role(&mut servers[1 - from].view(), "master"));
        take(client.lock("n"), SOON);
    }
}

#[test]
fn in_a_cluster_slots_may_move_and_replicas_take_over_in_order_but_not_after_a_crash() {
    let cluster = Cluster::start(3, 1);
    let client = careful(&cluster.url());
    let name =
        (0..).map(|number| format!("n{number}")).find(|name| cluster.owner(name) == 0).expect("there are enough names");
    take(client.lock(&name), 20);
    cluster.migrate(&name, 1);
    take(client.lock(&name), SOON);
    // The replica of the second master.
    cluster.servers[4].view().command::<()>(&["CLUSTER", "FAILOVER"]);
    eventually("another owner", || (cluster.owner(&name) == 4).then_some(()));
    take(client.lock(&name), SOON);
    cluster.servers[4].stop();
    eventually("another owner", || (cluster.owner(&name) != 4).then_some(()));
    is_held_back(client.lock(&name));
}

/// An heir makes no call of its own: it stands in line behind a holder of the same client, which hands the lock on.
#[test]
fn the_quarantine_lasts_as_long_as_the_lease_of_an_heir() {
    let server = Server::start();
    let watchdog = secs(2);
    let client = client(&format!("{}?quarantine=true&watchdog=2", server.url()));
    let first = client.lock("n").owner(1).blocking().acquire().expect("free");
    let waiting = |count| eventually("waiters", || (client.stats().waiting == count).then_some(()));
    std::thread::scope(|scope| {
        let second = client.lock("n").owner(2).wait(secs(SOON)).blocking();
        scope.spawn(move || second.acquire().expect("released").release().expect("held"));
        waiting(1);
        let heir = client.lock("n").owner(3).lease(secs(600)).wait(secs(SOON)).blocking();
        let heir = scope.spawn(move || heir.acquire().expect("released").keep());
        waiting(2);
        first.release().expect("held");
        heir.join().expect("no panic");
    });
    server.restart();
    is_held_back(client.lock("n"));
    let granted = client.lock("n").wait(2 * watchdog).blocking().acquire();
    assert!(granted.is_err(), "it is granted while the heir may believe to have it");
}

fn role(view: &mut View, role: &str) -> Option<()> {
    view.command::<String>(&["INFO", "replication"]).contains(&format!("role:{role}")).then_some(())
}
