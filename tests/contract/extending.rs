//! A new lease for one hold, and its effects on the other holds of the owner and on waiters.

use std::time::Duration;

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{PATIENCE, Proxy, Server, all_at_once, kinds};

use crate::{eventually, ms, pair, secs};

/// The watchdog of a client, unless a test sets another.
const WATCHDOG: Duration = secs(30);
/// How long a loaded machine may take between an acquire and the test's look at its result.
const SLACK: Duration = secs(8);
const SHORT: Duration = secs(1);

fn request(op: Op, kind: &'static str, owner: i64) -> Request {
    Request::new(op, kind, kinds::name(kind, "n"), owner)
}

fn take(client: &Client, kind: &'static str, lease: Option<Duration>) -> u64 {
    let taken = client.run_blocking(Request { lease, ..request(Op::Acquire, kind, 1) }).expect("answered");
    assert!(taken.done, "{kind}: it is free, or its owner's");
    taken.number as u64
}

fn extend(client: &Client, kind: &'static str, hold: u64, lease: Duration) -> Answer {
    let extend = Request { hold, lease: Some(lease), ..request(Op::Extend, kind, 1) };
    client.run_blocking(extend).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

fn left(client: &Client, hold: u64, when: &str) -> Duration {
    let Look::Held { remaining } = client.look(hold) else { panic!("{when}: it is lost") };
    remaining
}

fn kinds_that_are(wanted: fn(&Traits) -> bool) -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|KindRow { traits, .. }| traits).filter(move |traits| wanted(traits)).map(|traits| traits.name)
}

#[test]
fn a_shorter_lease_for_one_hold_cuts_no_other_hold_of_its_owner() {
    let leases = [Some(secs(20)), Some(secs(60)), None];
    let mixes = || leases.into_iter().flat_map(|outer| leases.map(|inner| [outer, inner]));
    all_at_once(kinds_that_are(|kind| kind.reentrant && kind.renewed).map(|kind| {
        (kind.to_owned(), move || {
            let (server, client, _) = pair();
            let mut view = server.view();
            for (leases, extended) in mixes().flat_map(|leases| [(leases, 0), (leases, 1)]) {
                let holds = leases.map(|lease| take(&client, kind, lease));
                extend(&client, kind, holds[extended], SHORT);
                let other = 1 - extended;
                let when = format!("{kind}, leases {leases:?}, hold {extended} has {SHORT:?} now");
                let here = left(&client, holds[other], &when);
                let key = view.pttl("n");
                let promised = leases[other].unwrap_or(WATCHDOG);
                assert!(here + SLACK > promised, "{when}: {here:?} are left of {promised:?}");
                assert!(
                    Duration::from_millis(key.max(0) as u64) + SLACK > promised,
                    "{when}: the key has {key} ms of {promised:?}"
                );
                for _ in holds {
                    client
                        .run_blocking(request(Op::Release, kind, 1))
                        .unwrap_or_else(|error| panic!("{when}: {error}"));
                }
            }
        })
    }));
}

#[test]
fn a_multi_lock_that_has_waited_cuts_no_other_hold_of_its_owner() {
    let builders = kinds::locks().filter(|(kind, _)| kind.reentrant && kind.name != "multi");
    all_at_once(builders.map(|(kind, lock)| {
        (kind.name.to_owned(), move || {
            let (server, client, _) = pair();
            let outer = lock(&client, "n").owner(7).blocking().acquire().expect("free");
            let all = client.multi_lock([lock(&client, "n"), lock(&client, "other")]);
            let inner = all.owner(7).lease(SHORT).wait(PATIENCE).blocking().acquire().expect("free, or its owner's");
            let key = server.view().pttl("n");
            assert!(key > 20_000, "{}: the key has {key} ms, and the watchdog renews it every 10 s", kind.name);
            // The multi lock's own lease may be over.
            let _ = inner.release();
            outer.ensure().expect("it is watched");
            outer.release().expect("held");
        })
    }));
}

#[test]
fn a_shorter_lease_lets_the_next_owner_in_when_it_ends() {
    all_at_once(kinds_that_are(|kind| kind.exclusive && kind.renewed).map(|kind| {
        (kind.to_owned(), move || {
            let (_server, a, b) = pair();
            let hold = take(&a, kind, Some(secs(600)));
            extend(&a, kind, hold, ms(500));
            let next = b.run_blocking(Request { wait: Some(PATIENCE), ..request(Op::Acquire, kind, 2) });
            assert!(next.expect("answered").done, "{kind}: it is taken for longer than {PATIENCE:?}");
        })
    }));
}

#[test]
fn a_shorter_lease_that_comes_late_cuts_no_newer_hold_of_its_owner() {
    all_at_once(kinds_that_are(|kind| kind.reentrant && kind.renewed).map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let options = "?response_timeout=0.2&retry_for=0";
            let client = Client::connect(&format!("{}{options}", server.url_at(proxy.port()))).expect("a good URL");
            let older = take(&client, kind, Some(secs(60)));
            // The client's first look at a new hold is over before the proxy keeps the next call.
            let mut view = server.view();
            eventually(|| view.tells());
            proxy.keep_request(&format!("\r\n{}\r\n", SHORT.as_millis()));
            let cut = Request { hold: older, lease: Some(SHORT), ..request(Op::Extend, kind, 1) };
            client.run_blocking(cut).expect_err("the server has not seen it");
            let patient = Request { wait: Some(PATIENCE), retry_for: Some(PATIENCE), ..request(Op::Acquire, kind, 1) };
            let newer = client.run_blocking(patient).expect("answered");
            assert!(newer.done, "{kind}: its owner's");
            proxy.deliver_kept();
            // For the server the late copy comes before this inspection.
            let here = left(&client, newer.number as u64, kind);
            let key = view.pttl("n");
            assert!(here.as_millis() as i64 <= key, "{kind}: {here:?} are believed, the key has {key} ms");
        })
    }));
}

const HOUR: Duration = secs(3600);

/// Releases a lost hold, and returns once the server keeps the key for a short time only.
fn freed_after(server: &Server, client: &Client, kind: &'static str, hold: u64, when: &str) {
    eventually(|| !matches!(client.look(hold), Look::Held { .. }));
    let told = client.run_blocking(Request { hold, ..request(Op::Release, kind, 1) });
    assert!(matches!(told, Err(Error::Lost(_))), "{kind}: {told:?} {when}");
    eventually(|| server.view().pttl("n") < HOUR.as_millis() as i64 / 2);
}

fn exclusive_ones() -> impl Iterator<Item = &'static str> {
    kinds_that_are(|kind| kind.exclusive && kind.renewed)
}

#[test]
fn a_longer_lease_that_comes_too_late_for_its_holder_does_not_keep_the_lock_when_the_holder_lets_go() {
    all_at_once(exclusive_ones().map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
            let hold = take(&client, kind, Some(SHORT));
            proxy.retard_replies_to(&HOUR.as_millis().to_string(), 1, SHORT + ms(200));
            let extend = Request { hold, lease: Some(HOUR), ..request(Op::Extend, kind, 1) };
            client.run_blocking(extend).expect_err("the hold was over before the answer");
            freed_after(&server, &client, kind, hold, "though it was over");
        })
    }));
}

#[test]
fn a_longer_lease_without_an_answer_does_not_keep_the_lock_when_its_holder_lets_go() {
    all_at_once(exclusive_ones().map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let url = format!("{}?response_timeout=0.3&retry_for=0", server.url_at(proxy.port()));
            let client = Client::connect(&url).expect("a good URL");
            let hold = take(&client, kind, Some(SHORT));
            proxy.lose_reply_to(&HOUR.as_millis().to_string());
            let extend = Request { hold, lease: Some(HOUR), ..request(Op::Extend, kind, 1) };
            client.run_blocking(extend).expect_err("no answer comes");
            freed_after(&server, &client, kind, hold, "though its lease is over here");
        })
    }));
}

#[test]
fn a_shorter_lease_that_is_refused_leaves_the_hold_as_it_was() {
    all_at_once(exclusive_ones().map(|kind| {
        (kind.to_owned(), move || {
            let (server, client, _) = pair();
            let hold = take(&client, kind, Some(HOUR));
            let mut view = server.view();
            view.command::<()>(&["ACL", "SETUSER", "default", "-pexpire"]);
            let shorter = Request { hold, lease: Some(SHORT), ..request(Op::Extend, kind, 1) };
            client.run_blocking(shorter).expect_err("the user lacks the right");
            view.command::<()>(&["ACL", "SETUSER", "default", "+pexpire"]);
            assert!(left(&client, hold, kind) > HOUR / 2, "{kind}: it is believed in for less");
            client.run_blocking(Request { hold, ..request(Op::Release, kind, 1) }).expect("held");
            eventually(|| view.pttl("n") < HOUR.as_millis() as i64 / 2);
        })
    }));
}
