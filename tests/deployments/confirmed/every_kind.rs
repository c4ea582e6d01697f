//! Confirmation of every kind that takes something.

use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch_tests::{Options, newest};

use super::*;

const TAKING: fn(&&&str) -> bool = |kind| **kind != "latch";

fn kinds() -> Vec<&'static str> {
    ALL.iter().map(|KindRow { traits, .. }| &traits.name).filter(TAKING).copied().collect()
}

fn request(op: Op, kind: &'static str, owner: i64) -> Request {
    Request { numbers: vec![1], ..Request::new(op, kind, redlatch_tests::kinds::name(kind, kind), owner) }
}

fn acquire(client: &Client, kind: &'static str, owner: i64) -> Result<Answer, Error> {
    client.run_blocking(request(Op::Acquire, kind, owner))
}

/// As many permits as one acquire takes.
fn set_permits(client: &Client) {
    for kind in ["semaphore", "permit_semaphore"] {
        client.run_blocking(request(Op::TrySet, kind, 1)).expect("answered");
    }
    // On the server they are the permits of a semaphore with ids.
    client
        .run_blocking(Request { name: "permit".into(), ..request(Op::TrySet, "permit_semaphore", 1) })
        .expect("answered");
}

#[test]
fn every_kind_works_where_every_write_is_confirmed() {
    let master = Server::start();
    let replica = master.replica();
    use_every_kind(&confirmed(&master.url(), 10_000), "n");
    eventually("the same on both", || (master.view().keys("*") == replica.view().keys("*")).then_some(()));
}

#[test]
fn an_unconfirmed_acquire_of_any_kind_leaves_nothing() {
    let master = Server::start();
    let replica = master.replica();
    let client = confirmed(&master.url(), 50);
    let other = super::super::client(&master.url());
    set_permits(&other);
    replica.pause();
    for kind in kinds() {
        is_not_synced(acquire(&client, kind, 1));
        assert!(acquire(&other, kind, 2).expect("answered").done, "the {kind} is not given back");
    }
    replica.resume();
}

#[test]
fn an_owner_keeps_its_hold_when_one_more_is_not_confirmed() {
    let master = Server::start();
    let replica = master.replica();
    let client = Client::connect(&format!("{}?sync=wait(within=0.3)", master.url())).expect("a good URL");
    let reentrant = || ALL.iter().map(|KindRow { traits, .. }| traits).filter(|traits| traits.reentrant);
    for traits in reentrant() {
        eventually("a hold", || acquire(&client, traits.name, 1).is_ok_and(|answer| answer.done).then_some(()));
        replica.pause();
        is_not_synced(acquire(&client, traits.name, 1));
        let count = client.run_blocking(request(Op::Inspect, traits.name, 1)).expect("answered").items[0];
        assert_eq!(count, 1, "{}", traits.name);
        client.run_blocking(request(Op::Release, traits.name, 1)).expect("held");
        replica.resume();
    }
    eventually("nothing but tokens", || master.view().keys("*").iter().all(|key| key.contains("token")).then_some(()));
}

/// A server confirms the last write of the asking connection. On a new connection a repeat that writes nothing would be
/// confirmed without any replica.
#[test]
fn a_repeat_over_another_connection_confirms_no_kind() {
    let master = newest(&[]);
    let replica = master.replica();
    let proxy = Proxy::start(&master);
    let client = confirmed(&master.url_at(proxy.port()), 100);
    let other = super::super::client(&master.url());
    set_permits(&other);
    // The first copy of each kind goes over the connection that opens now.
    eventually("a confirmation", || client.lock("before").blocking().acquire().ok()).release().expect("held");
    replica.pause();
    for (number, kind) in kinds().into_iter().enumerate() {
        proxy.lose_reply_to("WAIT");
        is_not_synced(acquire(&client, kind, 1));
        assert_eq!(proxy.struck(), number + 1, "{kind} was sent twice");
        assert!(acquire(&other, kind, 2).expect("answered").done, "the {kind} is not given back");
    }
    replica.resume();
}

#[test]
fn every_kind_is_refused_untaken_where_the_server_cannot_wait() {
    let args = ["--rename-command", "WAIT", ""].map(str::to_owned).into();
    let server = Server::with(Options { args, ..Options::default() });
    let client = confirmed(&server.url(), 1000);
    let other = super::super::client(&server.url());
    set_permits(&other);
    let permits = ["permit", "permit_semaphore", "semaphore"];
    eventually("nothing but permits", || (server.view().keys("*") == permits).then_some(()));
    for kind in kinds() {
        let error = acquire(&client, kind, 1).map(drop).expect_err("no replica can confirm it");
        assert!(matches!(&error, Error::Unsupported(said) if said.contains("unknown command")), "{error:?}");
    }
    assert_eq!(server.view().keys("*"), permits);
}
