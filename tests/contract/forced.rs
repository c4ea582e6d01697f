//! Forced releases: by another client, by the holder's own client, and at the moment when a waiter gives up.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Client, Error, LostReason};
use redlatch_tests::{PATIENCE, Proxy, Server, kinds, soon};
use tracing::Level;

use super::logs::{keep, losses_of, warnings_of};
use super::{eventually, pair};

/// The reason of the loss when `other` takes the hold away. The holder must be told.
fn forced(holder: &Client, other: &Client, name: &str, lease: Option<Duration>) -> LostReason {
    let lock = holder.lock(name);
    let guard = lease.map_or(lock.clone(), |lease| lock.lease(lease)).blocking().acquire().expect("free");
    assert!(other.lock(name).blocking().force_release().expect("answered"));
    let loss = soon(guard.lost()).expect("it is a loss, not a release");
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    loss.reason
}

#[test]
fn a_client_that_takes_its_own_lock_away_tells_the_holder_and_warns_of_nothing() {
    keep();
    let (_server, a, b) = pair();
    for (name, lease) in [("forced own watched", None), ("forced own leased", Some(Duration::from_secs(60)))] {
        assert_eq!(forced(&a, &a, name, lease), LostReason::Deleted);
        // The report comes after the holder is told.
        eventually(|| losses_of(name).len() == 1);
        let [(Level::DEBUG, _, message)] = &losses_of(name)[..] else {
            panic!("one line for debugging: {:?}", losses_of(name))
        };
        assert!(message.contains("is lost"), "{message}");
        assert!(warnings_of(name).is_empty());
    }
    assert_eq!(forced(&a, &b, "forced other", None), LostReason::Deleted);
    assert_eq!(warnings_of("forced other").len(), 1, "what another client does is a loss to warn of");
}

/// Deletes the key of a held lock: by the holder's own client, or by another one.
#[test]
fn a_client_that_deletes_its_own_lock_tells_the_holder_and_warns_of_nothing() {
    keep();
    let (_server, a, b) = pair();
    let semaphore_of = |client: &Client, name: &str| client.permit_semaphore(name);
    for (name, deletes) in [("deleted own permits", &a), ("deleted other permits", &b)] {
        assert!(semaphore_of(&a, name).try_set_permits(1).blocking().expect("answered"));
        let permit = a.run_blocking(Request::new(Op::Acquire, "permit", name, 1)).expect("answered").number as u64;
        deletes.run_blocking(Request::new(Op::Delete, "permit_semaphore", name, 1)).expect("answered");
        ended(&a, permit, name);
    }
    for (name, deletes, words) in
        [("deleted own", &a, ["DEL"]), ("deleted other", &b, ["DEL"]), ("unlinked own", &a, ["UNLINK"])]
    {
        let hold = a.run_blocking(Request::new(Op::Acquire, "plain", name, 1)).expect("answered").number as u64;
        let texts = words.map(|word| word.as_bytes().to_vec()).to_vec();
        deletes.run_blocking(Request { texts, ..Request::new(Op::Keys, "plain", name, 1) }).expect("answered");
        ended(&a, hold, name);
    }
}

/// The hold ends as deleted, with a warning if another client deleted its key.
fn ended(holder: &Client, hold: u64, name: &str) {
    eventually(|| !matches!(holder.look(hold), Look::Held { .. }));
    let loss = holder.loss_of(hold).expect("it is a loss, not a release");
    assert_eq!(loss.reason, LostReason::Deleted, "{name}");
    // The report comes after a look can see the loss.
    eventually(|| losses_of(name).len() == 1);
    assert_eq!(warnings_of(name).len(), usize::from(name.contains("other")), "{name}: {:?}", warnings_of(name));
}

/// A waiter that is cancelled during a forced release either gets the lock and says so, or gives it back.
#[test]
fn a_waiter_that_gives_up_while_the_lock_is_taken_away_by_force_leaves_nothing_held() {
    thread::scope(|scope| {
        for KindRow { traits, .. } in ALL.iter().filter(|KindRow { traits, .. }| traits.held && traits.exclusive) {
            scope.spawn(move || give_up_beside_force(traits.name));
        }
    });
}

fn give_up_beside_force(kind: &'static str) {
    let server = Server::start();
    let client = || Client::connect(&server.url()).expect("a good URL");
    let holder = client();
    let waiter = client();
    let other = client();
    let request = |op| Request::new(op, kind, kinds::name(kind, "n"), 1);
    let mut view = server.view();
    let mut given_back = 0;
    // The cancel comes earlier and later: in some rounds the waiter's try is on its way.
    for round in 0..60 {
        let held = holder.run_blocking(request(Op::Acquire)).expect("answered");
        assert!(held.done, "{kind}, round {round}: the waiter before has left it held");
        let (sender, answer) = mpsc::channel();
        let ticket = waiter.ticket();
        waiter.submit(ticket, Request { wait: None, ..request(Op::Acquire) }, move |result| drop(sender.send(result)));
        eventually(|| !view.channels("*").is_empty() || !kinds::listens(kind));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_micros(round * 20));
                waiter.cancel(ticket);
            });
            other.run_blocking(request(Op::ForceRelease)).expect("answered");
        });
        let waited = answer.recv_timeout(PATIENCE).expect("a cancelled waiter is answered");
        match waited {
            Ok(taken) => {
                assert!(taken.done, "{kind}, round {round}: it waits without an end");
                waiter.run_blocking(request(Op::Release)).expect("what it says that it has, it has");
            }
            Err(error) => {
                assert!(matches!(error, Error::Cancelled), "{kind}, round {round}: {error}");
                given_back += 1;
            }
        }
        let _ = holder.run_blocking(request(Op::Release));
        eventually(|| !view.exists("n") && view.channels("*").is_empty());
    }
    assert!(given_back > 0, "{kind}: no waiter gave up in time");
}

/// The client takes a lock away from another one by the request `taking_away`, and takes it itself before it hears of that: a call
/// with the text that `late` gives for the other client has its answer late.
fn a_later_loss_is_warned_of(name: &'static str, taking_away: fn(Request) -> Request, late: fn(&Client) -> String) {
    keep();
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let other = Client::connect(&server.url()).expect("a good URL");
    let acquire = |owner| Request::new(Op::Acquire, "plain", name, owner);
    let take_away = || taking_away(acquire(1));
    // The server knows the scripts, and the client has its connections.
    for _ in 0..2 {
        client.run_blocking(acquire(1)).expect("answered");
        client.run_blocking(take_away()).expect("answered");
    }
    eventually(|| losses_of(name).len() == 2);
    assert!(other.run_blocking(acquire(9)).expect("answered").done);
    proxy.retard_replies_to(&late(&other), 1, Duration::from_millis(700));
    let (sender, taken_away) = mpsc::channel();
    client.submit(client.ticket(), take_away(), move |result| drop(sender.send(result)));
    let mut view = server.view();
    eventually(|| !view.exists(name));
    let own = client.run_blocking(acquire(2)).expect("answered");
    assert!(own.done && taken_away.try_recv().is_err(), "set up badly");
    assert!(taken_away.recv_timeout(PATIENCE).expect("answered").expect("answered").done);
    view.command::<()>(&["DEL", name]);
    eventually(|| !matches!(client.look(own.number as u64), Look::Held { .. }));
    let of_own = || {
        let owner = format!("{}:2", client.id());
        losses_of(name).into_iter().find(|(_, _, message)| message.contains(&owner))
    };
    eventually(|| of_own().is_some());
    assert_eq!(of_own().expect("it came").0, Level::WARN, "an operator deleted it: {:?}", losses_of(name));
}

#[test]
fn a_later_loss_of_a_hold_that_came_during_a_forced_release_is_warned_of() {
    // The call that names the holder.
    let late = |other: &Client| format!("{}:9", other.id());
    a_later_loss_is_warned_of("forced before", |request| Request { op: Op::ForceRelease, ..request }, late);
}

#[test]
fn a_later_loss_of_a_hold_that_came_during_a_deletion_is_warned_of() {
    let delete = |request| Request { op: Op::Keys, texts: vec![b"DEL".to_vec()], ..request };
    a_later_loss_is_warned_of("deleted before", delete, |_| "DEL".to_owned());
}
