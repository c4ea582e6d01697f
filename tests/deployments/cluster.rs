use std::time::{Duration, Instant};

use redlatch::{Client, Error, LockBuilder, LostReason};
use redlatch_tests::{Cluster, eventually, ms, ports, secs, soon, told};

use super::{client, hand_over, use_every_kind};

/// A name whose slot that server has.
pub fn name_at(cluster: &Cluster, place: usize) -> String {
    (0..).map(|number| format!("n{number}")).find(|name| cluster.owner(name) == place).expect("there are enough names")
}

/// Checks that no other owner gets the lock for several times as long as its lease.
fn stays_taken(lock: &LockBuilder) {
    let waited = lock.clone().wait(secs(2)).blocking().acquire();
    assert!(matches!(waited, Err(Error::NotAcquired { .. })));
}

pub fn listeners(cluster: &Cluster, pattern: &str) -> usize {
    cluster
        .servers
        .iter()
        .map(|server| server.view().command::<Vec<String>>(&["PUBSUB", "SHARDCHANNELS", pattern]).len())
        .sum()
}

/// Without one of its three masters the whole cluster goes down.
fn take_down(cluster: &Cluster) {
    let rest = &cluster.servers[..2];
    rest.iter().for_each(|server| server.view().command(&["CONFIG", "SET", "cluster-require-full-coverage", "yes"]));
    cluster.servers[2].stop();
    for server in rest {
        let state = || server.view().command::<String>(&["CLUSTER", "INFO"]);
        eventually("a server that misses another", || state().contains("cluster_state:fail").then_some(()));
    }
}

#[test]
fn every_kind_works_wherever_its_name_belongs() {
    let cluster = Cluster::start(3, 0);
    let client = client(&cluster.url());
    for place in 0..3 {
        use_every_kind(&client, &name_at(&cluster, place));
    }
    for server in &cluster.servers {
        eventually("nothing but numbers", || {
            let keys = server.view().keys("*");
            keys.iter().all(|key| key.contains("semaphore") || key.contains("token")).then_some(())
        });
    }
}

#[test]
fn a_release_wakes_a_waiter_by_a_message_of_the_slot() {
    let cluster = Cluster::start(3, 0);
    let one = client(&cluster.url());
    let two = client(&cluster.url());
    for place in 0..3 {
        let name = name_at(&cluster, place);
        hand_over(&one, &two, &name, || {
            let pattern = format!("redisson_lock__channel:{{{name}}}");
            eventually("a listener", || (listeners(&cluster, &pattern) == 1).then_some(()));
        });
    }
}

#[test]
fn holds_are_renewed_wherever_they_are() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?watchdog=0.6", cluster.url()));
    let guards: Vec<_> =
        (0..60).map(|n| client.lock(&format!("renewed{n}")).blocking().acquire().expect("free")).collect();
    stays_taken(&super::client(&cluster.url()).lock("renewed0"));
    for guard in guards {
        guard.release().expect("still held");
    }
}

#[test]
fn groups_are_renewed_where_they_are_and_not_where_their_values_would_be() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?watchdog=0.6", cluster.url()));
    let mut view = cluster.servers[0].view();
    let mut slot = |key: &str| view.command::<i64>(&["CLUSTER", "KEYSLOT", key]);
    let first = slot("g\0v");
    let other = (0..)
        .map(|number| format!("g{number}"))
        .find(|group| slot(&format!("{group}\0v")) == first && slot(group) != slot("g"));
    let groups = ["g".to_owned(), other.expect("there are enough names")];
    let locks = groups.map(|group| client.multi_lock_group(&group, &["v"]));
    let guards = locks.map(|lock| lock.blocking().acquire().expect("free"));
    stays_taken(&super::client(&cluster.url()).multi_lock_group("g", &["v"]));
    for guard in guards {
        guard.release().expect("still held");
    }
}

#[test]
fn a_slot_that_moves_takes_holds_and_waiters_with_it() {
    let cluster = Cluster::start(3, 0);
    let one = client(&cluster.url());
    let two = client(&cluster.url());
    let name = name_at(&cluster, 0);
    for to in [1, 2, 0] {
        hand_over(&one, &two, &name, || {
            let pattern = format!("redisson_lock__channel:{{{name}}}");
            eventually("a listener", || (listeners(&cluster, &pattern) == 1).then_some(()));
            cluster.migrate(&name, to);
        });
        assert_eq!(cluster.owner(&name), to);
        use_every_kind(&one, &format!("{{{name}}}:{to}"));
    }
}

#[test]
fn a_replica_that_takes_over_serves_the_next_call() {
    let cluster = Cluster::start(3, 1);
    let client = client(&format!("{}?retry_for=15", cluster.url()));
    let name = name_at(&cluster, 1);
    client.lock(&name).blocking().acquire().expect("free").release().expect("held");
    cluster.fail_over(&name);
    let guard = client.lock(&name).wait(secs(20)).blocking().acquire().expect("a master serves the slot");
    guard.ensure().expect("held");
    guard.release().expect("held");
}

#[test]
fn a_holder_is_told_as_soon_as_a_replica_has_taken_over() {
    let cluster = Cluster::start(3, 1);
    // A failed check of a hold is repeated after a tenth of the watchdog: after the test has ended.
    let client = client(&format!("{}?watchdog=1000", cluster.url()));
    let name = name_at(&cluster, 1);
    let held = client.lock(&name).lease(secs(900)).blocking().acquire().expect("free");
    eventually("a hold that is looked at", || cluster.servers[1].view().tells().then_some(()));
    let heir = cluster.fail_over(&name);
    cluster.servers[heir].view().command::<()>(&["DEL", &name]);
    told(&held);
}

#[test]
fn a_holder_is_told_of_its_loss_after_its_slot_has_moved() {
    let cluster = Cluster::start(2, 0);
    // Neither a failed look nor a renewal is due while the test lasts.
    let client = client(&format!("{}?watchdog=3000", cluster.url()));
    let name = name_at(&cluster, 0);
    let held = client.lock(&name).lease(secs(900)).blocking().acquire().expect("free");
    for place in [0, 1, 0] {
        cluster.migrate(&name, place);
        let mut view = cluster.servers[place].view();
        eventually("a server that will report changes of the key it has got", || view.tells().then_some(()));
        held.ensure().expect("no move loses it");
    }
    cluster.servers[0].view().command::<()>(&["DEL", &name]);
    told(&held);
}

#[test]
fn a_hold_whose_master_dies_with_it_is_told_of_as_lost() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?watchdog=2&retry_for=0.5&response_timeout=0.5", cluster.url()));
    let name = name_at(&cluster, 2);
    let guard = client.lock(&name).blocking().acquire().expect("free");
    cluster.servers[2].stop();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads");
    let loss = runtime
        .block_on(async { tokio::time::timeout(secs(10), guard.lost()).await })
        .expect("in time")
        .expect("it is lost");
    assert_eq!(loss.reason, LostReason::Partitioned);
    let other = name_at(&cluster, 0);
    client.lock(&other).blocking().acquire().expect("the others go on").release().expect("held");
}

#[test]
fn a_cluster_that_is_down_says_so_at_the_end_of_the_wait() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?watchdog=1000&response_timeout=1000", cluster.url()));
    let lock = client.lock(&name_at(&cluster, 0)).wait(Duration::from_millis(50));
    lock.clone().blocking().acquire().expect("free").release().expect("held");
    take_down(&cluster);
    // The refusal comes long before the response timeout.
    let refused = soon(lock.acquire());
    assert!(matches!(refused.map(drop), Err(Error::Refused { code, .. }) if code == "CLUSTERDOWN"));
}

#[test]
fn a_cluster_that_is_down_is_asked_ever_more_rarely_though_servers_are_named_that_have_no_slots() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{},127.0.0.1:{}?retry_for=1000", cluster.url(), ports::free()));
    let lock = client.lock(&name_at(&cluster, 0)).wait(secs(1000));
    lock.clone().blocking().acquire().expect("free").release().expect("held");
    take_down(&cluster);
    let waiting = std::thread::spawn(move || lock.blocking().acquire()?.release());
    let refusals = || {
        let said: String = cluster.servers[0].view().command(&["INFO", "errorstats"]);
        let count = said.lines().find_map(|line| line.strip_prefix("errorstat_CLUSTERDOWN:count=")?.parse().ok());
        count.unwrap_or(0)
    };
    // By now half a second passes between two refusals.
    eventually("refusals", || (refusals() > 7).then_some(()));
    let since = Instant::now();
    let before = refusals();
    eventually("four more", || (refusals() >= before + 4).then_some(()));
    assert!(since.elapsed() >= ms(1500), "three pauses lie between them: {:?}", since.elapsed());
    cluster.servers[0].view().command::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    waiting.join().expect("no panic").expect("the others answer again");
}

#[test]
fn braces_that_part_the_keys_of_a_lock_are_refused_with_the_remedy() {
    let cluster = Cluster::start(3, 0);
    let client = client(&cluster.url());
    for name in ["a{b", "a}b", "a}{b", "a{}b"] {
        // That of a plain lock is one key, and its release names two.
        for lock in [client.fenced_lock(name), client.lock(name), client.read_write_lock(name).read()] {
            let refused = lock.blocking().acquire().map(drop).expect_err("two slots");
            let is_meant = matches!(refused, Error::Config(_)) && refused.to_string().contains("no {tag}");
            assert!(is_meant, "{name}: {refused}");
        }
    }
    let refused =
        client.latch("{a}b").try_set_count(1).blocking().map(drop).expect_err("its channel has braces of its own");
    assert!(refused.to_string().contains("two slots"), "{refused}");
    client.fenced_lock("a{b}c").blocking().acquire().expect("one slot").release().expect("held");
}

#[test]
fn a_client_of_one_server_is_told_what_to_write_for_a_cluster() {
    let cluster = Cluster::start(3, 0);
    let one = client(&cluster.servers[0].url());
    let refused = one.lock(&name_at(&cluster, 1)).blocking().acquire().map(drop).expect_err("another server's");
    assert!(matches!(refused, Error::Unsupported(_)) && refused.to_string().contains("redis+cluster://"), "{refused}");
}

#[test]
fn servers_that_are_no_cluster_and_databases_of_one_are_refused() {
    let server = redlatch_tests::Server::start();
    let refused =
        client(&format!("redis+cluster://{}?retry_for=0", server.address())).lock("n").blocking().acquire().map(drop);
    let said = refused.expect_err("no cluster").to_string();
    assert!(said.contains("CLUSTER") || said.contains("cluster"), "{said}");
    let error = Client::connect("redis+cluster://a,b/3").map(drop).expect_err("only database 0");
    assert!(error.to_string().contains("the database is 3"), "{error}");
}
