//! Locks are listed wherever they are.

use std::collections::BTreeMap;

use redlatch::{Client, HeldLock};
use redlatch_tests::{Cluster, Monitor, Seen, Sentinels, Server, eventually, secs};

use super::client;
use super::cluster::{listeners, name_at};

fn all(client: &Client, pattern: &str) -> BTreeMap<String, HeldLock> {
    let mut locks = client.locks(pattern);
    let mut all = BTreeMap::new();
    while let Some(lock) = locks.next_blocking().expect("answered") {
        assert!(all.insert(lock.name.clone(), lock).is_none(), "it came twice");
    }
    all
}

#[test]
fn the_locks_of_every_server_of_a_cluster_are_listed_with_their_holders_and_waiters() {
    let cluster = Cluster::start(3, 0);
    let holder = client(&cluster.url());
    let waiter = client(&cluster.url());
    let names: Vec<String> = (0..3).map(|place| name_at(&cluster, place)).collect();
    let held: Vec<_> = names
        .iter()
        .flat_map(|name| [holder.lock(name), holder.fenced_lock(&format!("{{{name}}}:fenced"))])
        .map(|lock| lock.blocking().acquire().expect("free"))
        .collect();
    std::thread::scope(|scope| {
        for name in &names {
            let lock = waiter.lock(name).wait(secs(30)).blocking();
            scope.spawn(move || lock.acquire().expect("released").release().expect("held"));
            let channel = format!("redisson_lock__channel:{{{name}}}");
            eventually("a listener", || (listeners(&cluster, &channel) == 1).then_some(()));
        }
        let found = all(&holder, "*");
        assert_eq!(found.len(), 6, "{:?}", found.keys());
        for name in &names {
            assert_eq!((found[name].kind, found[name].waiting), ("plain", Some(1)));
            assert_eq!(all(&waiter, name).len(), 1);
        }
        for lock in found.values() {
            assert_eq!(lock.holders[0].client, holder.id());
            assert_eq!(lock.holders[0].process, Some(std::process::id()), "{lock:?}");
        }
        held.into_iter().for_each(|guard| guard.release().expect("held"));
    });
}

#[test]
fn the_locks_of_the_master_that_sentinels_name_are_listed_before_and_after_a_failover() {
    let sentinels = Sentinels::start();
    let one = client(&format!("{}?retry_for=20", sentinels.url()));
    let held = one.lock("n").blocking().acquire().expect("free");
    assert_eq!(all(&one, "*")["n"].holders[0].process, Some(std::process::id()));
    drop(held);
    sentinels.servers[0].stop();
    sentinels.until_master(1);
    let held = one.lock("after").wait(secs(20)).blocking().acquire().expect("the new master");
    let found = all(&one, "a*");
    assert_eq!(found["after"].holders[0].client, one.id());
    held.release().expect("held");
}

/// Counts the scans that a script makes on one server.
struct Scans<'a> {
    server: &'a Server,
    monitor: Monitor,
}

impl<'a> Scans<'a> {
    fn of(server: &'a Server) -> Self {
        Scans { server, monitor: server.monitor() }
    }

    /// The number since the last look.
    fn count(&mut self) -> usize {
        self.server.view().command::<String>(&["PING", "looked"]);
        let is_scan = |seen: &&Seen| seen.by_script && seen.name() == "scan";
        self.monitor.seen_until("looked").iter().filter(is_scan).count()
    }
}

/// Returns once the only replica of the server follows in step. A new one may hear of nothing for a second.
fn until_followed(server: &Server, name: &str) {
    let mut view = server.view();
    view.command::<String>(&["SET", name, ""]);
    assert_eq!(view.command::<i64>(&["WAIT", "1", "20000"]), 1, "the replica does not follow");
    view.command::<i64>(&["DEL", name]);
}

/// The URL of a client that knows both.
fn replicated(server: &Server, replica: &Server) -> String {
    format!("redis+replicated://{},{}", server.address(), replica.address())
}

/// A lock as its key is at a server.
fn put(server: &Server, name: &str) {
    let field = "6f1b1c9e-0000-4000-8000-000000000000:31";
    let mut view = server.view();
    view.command::<i64>(&["HSET", name, field, "1"]);
    view.command::<i64>(&["PEXPIRE", name, "60000"]);
}

#[test]
fn a_replica_is_scanned_in_place_of_its_server_and_the_server_says_what_is_locked() {
    let server = Server::start();
    let replica = server.replica();
    let one = client(&replicated(&server, &replica));
    let held = one.lock("held").blocking().acquire().expect("free");
    until_followed(&server, "followed");
    // A lock of the replica alone: the server has released it long ago.
    replica.view().command::<String>(&["CONFIG", "SET", "replica-read-only", "no"]);
    put(&replica, "released");
    let mut on_server = Scans::of(&server);
    let mut on_replica = Scans::of(&replica);
    assert_eq!(all(&one, "*").keys().collect::<Vec<_>>(), ["held"]);
    assert!(on_replica.count() > 0);
    // A lock is listed at once, though the replica hears of it a little later.
    for round in 0..50 {
        let name = format!("round {round}");
        let held = one.lock(&name).blocking().acquire().expect("free");
        assert!(all(&one, "r*d *").contains_key(&name));
        held.release().expect("held");
    }
    assert_eq!(on_server.count(), 0, "the server was scanned although its replica is there");
    held.release().expect("held");
}

#[test]
fn a_listing_whose_replica_goes_ends_on_the_server_and_lists_each_lock() {
    let server = Server::start();
    let replica = server.replica();
    let one = client(&replicated(&server, &replica));
    // They need more than one page.
    let names: Vec<_> = (0..250).map(|number| format!("n{number}")).collect();
    names.iter().for_each(|name| put(&server, name));
    until_followed(&server, "followed");
    let mut on_server = Scans::of(&server);
    let mut locks = one.locks("n*");
    let mut found = BTreeMap::new();
    let first = locks.next_blocking().expect("answered").expect("held");
    found.insert(first.name.clone(), first);
    assert_eq!(on_server.count(), 0);
    replica.stop();
    while let Some(lock) = locks.next_blocking().expect("answered") {
        assert!(found.insert(lock.name.clone(), lock).is_none(), "it came twice");
    }
    assert_eq!(found.len(), names.len());
    assert!(on_server.count() > 0);
}

#[test]
fn a_replica_that_is_silent_or_belongs_to_another_server_is_not_scanned() {
    let server = Server::start();
    let replica = server.replica();
    let one = client(&replicated(&server, &replica));
    let held = one.lock("held").blocking().acquire().expect("free");
    until_followed(&server, "followed");
    let mut on_server = Scans::of(&server);
    replica.pause();
    assert_eq!(all(&one, "*").len(), 1);
    assert!(on_server.count() > 0);
    replica.resume();
    // The program names a replica of another server.
    let other = Server::start();
    let stranger = other.replica();
    let misled = client(&replicated(&server, &stranger));
    let mut on_stranger = Scans::of(&stranger);
    assert_eq!(all(&misled, "*").len(), 1);
    assert_eq!(on_stranger.count(), 0);
    assert!(on_server.count() > 0);
    // A client of one server does not log in at another.
    assert_eq!(all(&client(&server.url()), "*").len(), 1);
    assert!(on_server.count() > 0);
    held.release().expect("held");
}

#[test]
fn the_replicas_of_a_cluster_are_scanned_in_place_of_its_masters() {
    let cluster = Cluster::start(3, 1);
    let one = client(&cluster.url());
    let held: Vec<_> =
        (0..30).map(|number| one.lock(&format!("lock{number}")).blocking().acquire().expect("free")).collect();
    (0..3).for_each(|place| until_followed(&cluster.servers[place], &name_at(&cluster, place)));
    let mut scans: Vec<_> = cluster.servers.iter().map(Scans::of).collect();
    assert_eq!(all(&one, "lock*").len(), 30);
    let scanned: Vec<_> = scans.iter_mut().map(|scans| scans.count() > 0).collect();
    assert_eq!(scanned, [false, false, false, true, true, true]);
    held.into_iter().for_each(|held| held.release().expect("held"));
}
