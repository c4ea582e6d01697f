//! A full server accepts every operation that gives something back, of every kind.

use std::sync::Arc;

use redlatch::ffi::Border;
use redlatch::ffi::kinds::{KindRow, Traits};

use super::*;
use crate::changes::{self, Change, Stage};

fn limit(view: &mut View, bytes: &str) {
    view.command::<()>(&["CONFIG", "SET", "maxmemory", bytes]);
}

fn is_taken(kind: &'static Traits, server: &Arc<Server>, change: &Change) {
    let mut view = server.view();
    view.command::<()>(&["FLUSHALL"]);
    let stage = Stage::new(kind, server);
    (change.before)(&stage);
    let before = Contents::of(&mut view);
    limit(&mut view, "1");
    let refused = view.try_command::<()>(&["SET", "other", "1"]).expect_err("the server is full");
    assert!(refused.to_string().contains("OOM"), "{refused}");
    (change.change)(&stage);
    assert!(!before.changed(&Contents::of(&mut view)).is_empty(), "{}: {} changes nothing", kind.name, change.name);
    limit(&mut view, "0");
    stage.client.close_blocking(Holds::Keep);
}

#[test]
fn a_full_server_takes_every_change_of_every_kind_that_gives_back() {
    all_at_once(changes::kinds().map(|KindRow { traits: kind, .. }| {
        let job = || {
            let server = Arc::new(Server::start());
            let freeing: Vec<_> = changes::of(kind).filter(|change| change.frees).collect();
            assert!(!freeing.is_empty(), "nothing of it gives back");
            freeing.into_iter().for_each(|change| is_taken(kind, &server, change));
        };
        (kind.name.to_owned(), job)
    }));
}

#[test]
fn a_full_server_lets_a_lock_of_any_kind_be_passed_on() {
    let passing = changes::kinds().filter(|KindRow { traits: kind, .. }| kind.queue.passes());
    all_at_once(passing.map(|KindRow { traits: kind, .. }| {
        let job = || {
            let server = Arc::new(Server::start());
            let stage = Stage::new(kind, &server);
            let mut view = server.view();
            // A release gives way to other clients 10 ms after its hold began. A busy machine may need that long to
            // fill the server.
            eventually("a lock that is passed on", || passed_on(&stage, &mut view).then_some(()));
        };
        (kind.name.to_owned(), job)
    }));
}

/// Whether the second of two waiters gets the lock from the first one. On a full server it cannot take the lock by
/// itself.
fn passed_on(stage: &Stage, view: &mut View) -> bool {
    let first = 2;
    let second = 3;
    stage.take();
    let released = std::sync::mpsc::channel();
    let mut full = stage.server.view();
    let client = stage.client.clone();
    let release = stage.release_of(first);
    stage.begin_to_wait_and(first, move |taken| {
        assert!(taken.expect("there is room").done);
        limit(&mut full, "1");
        client.submit(client.ticket(), release, move |end| drop(released.0.send(end)));
    });
    let next = stage.heir_of(second);
    stage.give(0);
    released.1.recv_timeout(PATIENCE).expect("it is released").expect("a full server takes it");
    let taken = next.recv_timeout(PATIENCE).expect("the next one is told").is_ok_and(|taken| taken.done);
    limit(view, "0");
    if taken {
        stage.give_of(second);
    }
    taken
}
