//! Locks are listed wherever they are.

use std::collections::BTreeMap;

use redlatch::{Client, HeldLock};
use redlatch_tests::{Cluster, Sentinels, eventually, secs};

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
