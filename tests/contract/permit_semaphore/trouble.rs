//! Permits with ids under faults.

use std::time::Duration;

use redlatch::{Client, Error, Permit};
use redlatch_tests::{Proxy, Server, View, secs};

use super::super::{eventually, pair};
use super::{CHANNEL, LEASES, counts, only_the_count, out, set, take};

/// Loses the reply to the next call. The client first forgets answered requests: that is a call too.
fn lose(proxy: &Proxy, view: &mut View) {
    eventually(|| view.keys("redlatch_request*").is_empty());
    proxy.lose_reply_to("EVALSHA");
}

#[test]
fn a_call_whose_reply_is_lost_counts_once() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let semaphore = set(&client, 10);
    let mut view = server.view();
    // The server knows every script before a reply is lost: the lost reply is that of a call that was carried out.
    let warm =
        semaphore.acquire_many(2).blocking().expect("available").into_iter().map(Permit::keep).collect::<Vec<_>>();
    semaphore.update_lease(warm[0], secs(90)).blocking().expect("answered");
    semaphore.release_many(&warm).blocking().expect("out");
    semaphore.add_permits(1).blocking().expect("answered");
    semaphore.set_permits(10).blocking().expect("answered");
    semaphore.acquire_renewed().blocking().expect("available").release_blocking().expect("held");
    assert_eq!(counts(&semaphore), [10, 0, 10]);
    lose(&proxy, &mut view);
    let ids: Vec<_> = semaphore.acquire_many(3).blocking().expect("available").into_iter().map(Permit::keep).collect();
    assert_eq!(counts(&semaphore), [7, 3, 10]);
    assert!(ids.iter().all(|id| out(&mut view).iter().any(|(there, _)| *there == id.to_string())), "{ids:?}");
    lose(&proxy, &mut view);
    semaphore.release(ids[0]).blocking().expect("it was out");
    assert_eq!(counts(&semaphore), [8, 2, 10]);
    lose(&proxy, &mut view);
    assert!(
        !semaphore.try_release_many(&ids).blocking().expect("answered"),
        "one of them is not out, so that no repeat succeeds"
    );
    lose(&proxy, &mut view);
    semaphore.release_many(&ids[1..]).blocking().expect("they were out");
    assert_eq!(counts(&semaphore), [10, 0, 10]);
    lose(&proxy, &mut view);
    semaphore.remove_permits(3).blocking().expect("answered");
    assert_eq!(counts(&semaphore), [7, 0, 7]);
    lose(&proxy, &mut view);
    let renewed = semaphore.acquire_renewed().blocking().expect("available");
    assert_eq!(counts(&semaphore), [6, 1, 7]);
    lose(&proxy, &mut view);
    renewed.release_blocking().expect("held");
    assert_eq!(counts(&semaphore), [7, 0, 7]);
    assert_eq!(proxy.struck(), 7);
    eventually(|| only_the_count(&mut view));
}

#[test]
fn a_permit_whose_acquire_was_abandoned_goes_back() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let url = format!("{}?response_timeout=0.3&retry_for=0.2", server.url_at(proxy.port()));
    let client = Client::connect(&url).expect("a good URL");
    let one = set(&client, 5);
    let mut view = server.view();
    take(&one);
    proxy.lose_replies_to("EVALSHA", 1);
    assert!(matches!(one.acquire_many(3).blocking().map(drop), Err(Error::Unavailable { .. })));
    assert_eq!(view.command::<i64>(&["GET", "n"]), 1, "it was carried out");
    assert_eq!(out(&mut view).len(), 4, "the copies are known for what they are");
    proxy.disarm();
    eventually(|| view.command::<i64>(&["GET", "n"]) == 4 && out(&mut view).len() == 1);
}

#[test]
fn an_abandoned_acquire_takes_nothing() {
    let (server, a, b) = pair();
    let one = set(&a, 2);
    let mut view = server.view();
    let held = one.acquire_many(2).blocking().expect("available");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let several = |client: &Client| runtime.spawn(client.permit_semaphore("n").acquire_many(2));
    let waiting = (several(&b), runtime.spawn(b.permit_semaphore("n").acquire_renewed()));
    eventually(|| view.listeners(CHANNEL) == 1 && view.channels("*").len() == 1);
    waiting.0.abort();
    waiting.1.abort();
    eventually(|| view.channels("*").is_empty());
    drop(held);
    for _ in 0..30 {
        several(&b).abort();
        runtime.spawn(b.permit_semaphore("n").acquire()).abort();
        runtime.spawn(b.permit_semaphore("n").acquire_renewed()).abort();
    }
    eventually(|| counts(&one) == [2, 0, 2] && only_the_count(&mut view));
    drop(runtime);
}

#[test]
fn impossible_numbers_and_keys_of_other_types_are_errors_that_name_the_semaphore() {
    let (server, a, _) = pair();
    let semaphore = a.permit_semaphore("n");
    for count in [0, 10_001, 1 << 63] {
        let Err(Error::Config(said)) = semaphore.acquire_many(count).blocking().map(drop) else {
            panic!("it must be refused")
        };
        assert!(said.contains("`n`") && said.contains(&count.to_string()), "{said}");
    }
    assert!(matches!(semaphore.try_set_permits(1 << 63).blocking(), Err(Error::Config(_))));
    assert!(matches!(semaphore.set_permits(1 << 63).blocking(), Err(Error::Config(_))));
    let Err(Error::Config(said)) = semaphore.acquire().lease(Duration::ZERO).blocking().map(drop) else {
        panic!("it must be refused")
    };
    assert!(said.contains("1 ms"), "{said}");
    assert!(server.view().keys("*").is_empty());
    let mut view = server.view();
    for write in [&["HSET", "n", "u:1", "1"][..], &["SET", "n", "some token"], &["SET", LEASES, "x"]] {
        view.command::<()>(&["FLUSHALL"]);
        view.command::<()>(write);
        let refused =
            [semaphore.acquire().blocking().map(drop), semaphore.acquire_renewed().wait(secs(1)).blocking().map(drop)];
        for refused in refused {
            assert!(
                matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"),
                "{write:?}: {refused:?}"
            );
        }
    }
}

#[test]
fn a_full_server_refuses_an_acquire_and_takes_a_release() {
    let (server, a, _) = pair();
    let semaphore = set(&a, 3);
    let mut view = server.view();
    let id = take(&semaphore);
    let renewed = semaphore.acquire_renewed().blocking().expect("available");
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(matches!(semaphore.acquire().blocking().map(drop), Err(Error::Refused { code, .. }) if code == "OOM"));
    semaphore.release(id).blocking().expect("a full server takes it");
    renewed.release_blocking().expect("a full server takes it");
    assert!(matches!(semaphore.acquire().blocking().map(drop), Err(Error::Refused { code, .. }) if code == "OOM"));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(counts(&semaphore), [3, 0, 3]);
}
