//! One of several servers is silent: no call to the others waits longer because of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::{Error, Holds, LostReason};
use redlatch_tests::{Cluster, Sentinels, Server, Stray, ms, secs, soon};

use super::client;
use super::cluster::name_at;

#[test]
fn one_silent_sentinel_of_three_keeps_no_caller_from_a_lock() {
    let sentinels = Sentinels::start();
    for silent in 0..3 {
        sentinels.pause(silent);
        let client = client(&sentinels.url());
        let began = Instant::now();
        for _ in 0..8 {
            let guard =
                client.lock("n").wait(secs(2)).blocking().acquire().expect("two sentinels and the master are well");
            // By then the client must ask again which server is the master.
            thread::sleep(ms(600));
            guard.release().expect("held");
        }
        assert!(began.elapsed() < secs(11), "4.8 s of it are pauses: {:?}", began.elapsed());
        sentinels.resume(silent);
    }
}

#[test]
fn a_silent_sentinel_costs_no_hold() {
    let sentinels = Sentinels::start();
    let client = client(&format!("{}?watchdog=4", sentinels.url()));
    let guard = client.lock("n").blocking().acquire().expect("free");
    sentinels.pause(0);
    stays_held(&guard, secs(10));
    guard.release().expect("held");
}

#[test]
fn holds_are_renewed_and_locks_taken_at_the_last_master_while_no_sentinel_answers() {
    let mut sentinels = Sentinels::start();
    let client = client(&format!("{}?watchdog=4", sentinels.url()));
    let guard = client.lock("n").blocking().acquire().expect("free");
    (0..3).for_each(|place| sentinels.pause(place));
    stays_held(&guard, secs(10));
    let other = client.lock("other").wait(secs(5)).blocking().acquire().expect("its replica still follows the master");
    sentinels.stop();
    stays_held(&guard, secs(6));
    other.release().expect("held");
    guard.release().expect("held");
}

#[test]
fn a_master_that_its_replica_has_left_is_used_no_more_while_no_sentinel_answers() {
    let mut sentinels = Sentinels::start();
    let client = client(&format!("{}?watchdog=4", sentinels.url()));
    let guard = client.lock("n").blocking().acquire().expect("free");
    sentinels.stop();
    sentinels.servers[1].view().command::<()>(&["REPLICAOF", "NO", "ONE"]);
    let loss = soon(guard.lost()).expect("another server may be the master by now");
    assert_eq!(loss.reason, LostReason::Partitioned);
    let error =
        client.lock("other").wait(secs(2)).blocking().acquire().map(drop).expect_err("it may not be the master");
    assert!(matches!(error, Error::Unavailable { .. } | Error::NotAcquired { .. }), "{error:?}");
    assert!(!sentinels.servers[0].view().exists("other"));
}

#[test]
fn the_answer_of_a_sentinel_that_was_cut_off_never_counts() {
    let former = Server::start();
    let sentinels = Sentinels::start();
    let stray = Stray::watching("127.0.0.1", former.port());
    // From now on the others have a greater epoch than a sentinel that saw no failover.
    sentinels.fail_over();
    sentinels.until_master(1);
    let url = sentinels.url().replace("://", &format!("://127.0.0.1:{},", stray.port));
    let is_there = |number: usize| {
        let client = client(&format!("{url}?retry_for=10"));
        let guard = client.lock(&format!("n{number}")).wait(secs(20)).blocking().acquire().expect("a master");
        assert!(sentinels.servers[1].view().exists(&format!("n{number}")), "it was taken elsewhere");
        guard.release().expect("held");
        client.close_blocking(Holds::Release);
    };
    (0..20).for_each(is_there);
    sentinels.pause(2);
    (20..30).for_each(is_there);
    assert!(former.view().keys("*").is_empty());
}

#[test]
fn a_master_that_no_sentinel_knows_is_an_error_before_the_wait_is_over() {
    let sentinels = Sentinels::start();
    let client = client(&sentinels.url().replace("mymaster", "theirs"));
    let asked = Instant::now();
    let wait = secs(2);
    let error = client.lock("n").wait(wait).blocking().acquire().map(drop).expect_err("no sentinel knows it");
    assert!(matches!(&error, Error::Config(said) if said.contains("`theirs`")), "{error:?}");
    assert!(asked.elapsed() < wait + secs(2), "{:?} for a wait of {wait:?}", asked.elapsed());
}

/// A round of renewals asks all servers. The silent server's part of it must not delay the holds on the others.
#[test]
fn releases_at_healthy_servers_wait_for_no_silent_one() {
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?response_timeout=10&retry_for=10", cluster.url()));
    let take = |place: usize, number: usize| {
        let name = name_like(&cluster, &format!("n{number}-"), place);
        client.lock(&name).blocking().acquire().expect("free")
    };
    let silent: Vec<_> = (0..10).map(|number| take(2, number)).collect();
    let healthy: Vec<_> = (0..10).flat_map(|number| [take(0, number), take(1, number)]).collect();
    cluster.servers[2].pause();
    for guard in healthy {
        // After the end of a connection the client checks all holds, those at the silent server too.
        cluster.servers[0].view().command::<()>(&["CLIENT", "KILL", "TYPE", "normal"]);
        thread::sleep(ms(20));
        let asked = Instant::now();
        guard.release().expect("held");
        assert!(asked.elapsed() < secs(5), "it took {:?}", asked.elapsed());
    }
    cluster.servers[2].resume();
    silent.into_iter().for_each(|guard| guard.release().expect("held"));
}

#[test]
fn calls_at_healthy_servers_go_on_while_those_at_a_silent_one_fail() {
    const SECTIONS: usize = 100;
    let cluster = Cluster::start(3, 0);
    let client = client(&format!("{}?response_timeout=0.3&retry_for=0.3", cluster.url()));
    let names = [0, 1, 2].map(|place| name_at(&cluster, place));
    names
        .iter()
        .for_each(|name| client.lock(name).wait(secs(20)).blocking().acquire().expect("free").release().expect("held"));
    cluster.servers[2].pause();
    let done = AtomicBool::new(false);
    let failed = AtomicUsize::new(0);
    let section = |number: usize| client.lock(&names[number % 2]).wait(secs(20)).blocking().acquire()?.release();
    let (sections, error) = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(SeqCst) {
                failed.fetch_add(usize::from(client.lock(&names[2]).blocking().try_acquire().is_err()), SeqCst);
            }
        });
        let began = Instant::now();
        let mut sections = 0;
        let mut error = None;
        while sections < SECTIONS && error.is_none() && began.elapsed() < secs(20) {
            error = section(sections).err();
            sections += 1;
            // The calls at the silent server fail meanwhile.
            thread::sleep(ms(50));
        }
        done.store(true, SeqCst);
        (sections, error)
    });
    assert!(error.is_none(), "after {sections} sections: {error:?}");
    assert_eq!(sections, SECTIONS, "within 20 s");
    assert!(failed.load(SeqCst) > 0, "the silent server has answered");
    cluster.servers[2].resume();
}

fn name_like(cluster: &Cluster, start: &str, place: usize) -> String {
    (0..)
        .map(|number| format!("{start}{number}"))
        .find(|name| cluster.owner(name) == place)
        .expect("there are enough names")
}

fn stays_held(guard: &redlatch::BlockingGuard, time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        guard.ensure().unwrap_or_else(|error| panic!("after {:?}: {error}", began.elapsed()));
        thread::sleep(ms(50));
    }
}
