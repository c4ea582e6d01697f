//! No holder believes in its hold for longer than the server keeps it, and no hold is shortened by the end of another
//! hold of its owner.

use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Border, Look, Op, Request};
use redlatch_tests::oracle::Statement;
use redlatch_tests::{Proxy, Server, View, all_at_once, kinds};

use crate::{eventually, ms, pair, secs};

/// A client with this watchdog renews every ten seconds.
const WATCHDOG: Duration = secs(30);
/// How long a loaded machine may take between an acquire and the test's look at its result.
const SLACK: Duration = secs(8);

fn request(op: Op, kind: &'static str, owner: i64) -> Request {
    Request::new(op, kind, kinds::name(kind, "n"), owner)
}

fn take(client: &Client, kind: &'static str, lease: Option<Duration>) -> u64 {
    let taken = client.run_blocking(Request { lease, ..request(Op::Acquire, kind, 1) }).expect("answered");
    assert!(taken.done, "{kind}: it is free, or its owner's");
    taken.number as u64
}

fn give(client: &Client, kind: &'static str, hold: u64) {
    client
        .run_blocking(Request { hold, ..request(Op::Release, kind, 1) })
        .unwrap_or_else(|error| panic!("{kind}: {error}"));
}

/// How many ms the server keeps the holds of owner 1.
fn kept(view: &mut View, client: &Client, kind: &str) -> i64 {
    let key = view.pttl("n");
    match kind {
        "read" => {
            let holds = view.keys(&format!("{{n}}:{}:1:rwlock_timeout:*", client.id()));
            holds.iter().map(|hold| view.pttl(hold)).max().unwrap_or(0).min(key)
        }
        "multi" => {
            let fields = view.hgetall("n");
            let time: (i64, i64) = view.command(&["TIME"]);
            let ends = fields.iter().filter(|(field, _)| field.ends_with(":expire_time"));
            let left = ends.map(|(_, end)| end.parse::<i64>().expect("a time") - time.0 * 1000 - time.1 / 1000).min();
            left.expect("it is held").min(key)
        }
        _ => key,
    }
}

/// The time that a hold has left by the client's belief. The test fails if the server keeps it for less.
fn believed(view: &mut View, client: &Client, kind: &str, hold: u64, when: &str) -> Duration {
    let asked = Instant::now();
    let Look::Held { remaining } = client.look(hold) else { panic!("{kind}, {when}: it is lost") };
    let server = kept(view, client, kind);
    let latest = Instant::now() + Duration::from_millis(server.max(0) as u64);
    assert!(
        asked + remaining <= latest,
        "{kind}, {when}: {remaining:?} are believed, the server keeps it for {server} ms"
    );
    remaining
}

/// Every pair of leases without a renewed hold, in either order of the releases.
fn mixes() -> impl Iterator<Item = ([Option<Duration>; 2], bool)> {
    let leases = [Some(secs(20)), Some(secs(60)), None];
    let pairs = leases.into_iter().flat_map(move |outer| leases.map(|inner| [outer, inner]));
    pairs.flat_map(|pair| [(pair, false), (pair, true)])
}

fn kinds_that_are(wanted: fn(&Traits) -> bool) -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|KindRow { traits, .. }| traits).filter(move |traits| wanted(traits)).map(|traits| traits.name)
}

#[test]
fn a_hold_that_goes_shortens_no_other_hold_of_its_owner_and_leaves_no_false_belief() {
    all_at_once(kinds_that_are(|kind| kind.reentrant).map(|kind| {
        (kind.to_owned(), move || {
            let (server, client, _) = pair();
            let mut view = server.view();
            for (leases, outer_first) in mixes() {
                let holds = leases.map(|lease| take(&client, kind, lease));
                let (goes, stays) = if outer_first { (0, 1) } else { (1, 0) };
                let when =
                    format!("leases {leases:?}, the {} one goes first", if outer_first { "outer" } else { "inner" });
                believed(&mut view, &client, kind, holds[stays], &when);
                give(&client, kind, holds[goes]);
                let left = believed(&mut view, &client, kind, holds[stays], &when);
                let promised = leases[stays].unwrap_or(WATCHDOG);
                assert!(left + SLACK > promised, "{kind}, {when}: {left:?} are left of {promised:?}");
                give(&client, kind, holds[stays]);
                assert!(!view.exists("n"), "{kind}, {when}");
            }
        })
    }));
}

#[test]
fn an_inner_hold_that_goes_leaves_a_lock_held_whose_key_has_lost_its_end() {
    all_at_once(kinds_that_are(|kind| kind.reentrant).map(|kind| {
        (kind.to_owned(), move || {
            let (server, client, _) = pair();
            server.exempt(Statement::Ends, "n", "an operator has taken the end away");
            let [outer, inner] = [(); 2].map(|()| take(&client, kind, Some(secs(60))));
            assert_eq!(server.view().command::<i64>(&["PERSIST", "n"]), 1);
            give(&client, kind, inner);
            assert!(matches!(client.look(outer), Look::Held { .. }), "{kind}: the outer hold is lost");
            give(&client, kind, outer);
            assert!(!server.view().exists("n"), "{kind}");
        })
    }));
}

#[test]
fn a_hold_is_renewed_in_time_however_often_its_owner_takes_and_gives_another() {
    all_at_once(kinds_that_are(|kind| kind.reentrant && kind.renewed).map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let client = Client::connect(&format!("{}?watchdog=0.9", server.url())).expect("a good URL");
            let outer = take(&client, kind, None);
            let mut view = server.view();
            let begun = Instant::now();
            // Three leases long.
            while begun.elapsed() < ms(2700) {
                let inner = take(&client, kind, None);
                give(&client, kind, inner);
                believed(&mut view, &client, kind, outer, "between two inner holds");
                std::thread::sleep(ms(100));
            }
            give(&client, kind, outer);
        })
    }));
}

#[test]
fn an_owner_that_writes_and_reads_believes_in_neither_longer_than_the_server_does() {
    let (server, client, _) = pair();
    let mut view = server.view();
    for (leases, write_first) in mixes() {
        let holds = [take(&client, "write", leases[0]), take(&client, "read", leases[1])];
        let kinds = ["write", "read"];
        let (goes, stays) = if write_first { (0, 1) } else { (1, 0) };
        let when = format!("leases {leases:?}, the {} lock goes first", kinds[goes]);
        give(&client, kinds[goes], holds[goes]);
        let left = believed(&mut view, &client, kinds[stays], holds[stays], &when);
        assert!(left + SLACK > leases[stays].unwrap_or(WATCHDOG), "{when}: {left:?}");
        give(&client, kinds[stays], holds[stays]);
        assert!(!view.exists("n"), "{when}");
    }
}

#[test]
fn a_renewal_that_comes_late_shortens_no_newer_and_longer_lease() {
    all_at_once(kinds_that_are(|kind| kind.renewed && kind.name != "permit").map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let client = Client::connect(&format!("{}?watchdog=6", server.url_at(proxy.port()))).expect("a good URL");
            // The client's first look at a new hold is an EVALSHA too. It must be over before the proxy keeps the next
            // one.
            let hold = take(&client, kind, None);
            let mut view = server.view();
            eventually(|| view.tells());
            proxy.keep_request("EVALSHA");
            eventually(|| proxy.struck() == 1);
            client.run_blocking(Request { hold, lease: Some(secs(60)), ..request(Op::Extend, kind, 1) }).expect("held");
            assert!(believed(&mut view, &client, kind, hold, "once extended") > secs(50));
            proxy.deliver_kept();
            believed(&mut view, &client, kind, hold, "after the late renewal");
        })
    }));
}

#[test]
fn an_heir_believes_no_longer_than_the_server_though_the_reply_to_the_pass_was_lost() {
    all_at_once(kinds_that_are(|kind| kind.exclusive && kind.queue.passes()).map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let proxy = Proxy::start(&server);
            let options = "?response_timeout=1&retry_for=10";
            let client = Client::connect(&format!("{}{options}", server.url_at(proxy.port()))).expect("a good URL");
            let mut view = server.view();
            // A hold that has lasted too long is not passed on, so on a slow machine it takes more than one attempt.
            let heir = (0..100).find_map(|_| {
                let hold = take(&client, kind, None);
                let (sender, heirs) = std::sync::mpsc::channel();
                let waiting = Request { lease: Some(secs(20)), wait: None, ..request(Op::Acquire, kind, 2) };
                client.submit(client.ticket(), waiting, move |taken| drop(sender.send(taken)));
                // The answer to a pass comes only after the pass's lease.
                let passed = if kinds::traits(kind).fenced { "*3\r\n:2\r\n" } else { "*1\r\n:2\r\n" };
                proxy.hold_at(redlatch_tests::Direction::ToClient, passed, 1);
                give(&client, kind, hold);
                proxy.disarm();
                let heir = heirs.recv_timeout(secs(20)).expect("its turn comes").expect("it is taken");
                if proxy.struck() == 0 {
                    client.run_blocking(request(Op::Release, kind, 2)).expect("held");
                }
                (proxy.struck() == 1).then_some(heir)
            });
            let heir = heir.unwrap_or_else(|| panic!("{kind}: it was never passed on"));
            proxy.flow();
            let asked = Instant::now();
            let look = client.look(heir.number as u64);
            let Look::Held { remaining } = look else { panic!("{kind}: {look:?}") };
            let latest = Instant::now() + Duration::from_millis(view.pttl("n") as u64);
            assert!(
                asked + remaining <= latest,
                "{kind}: {remaining:?} are believed, the server keeps it for {} ms",
                view.pttl("n")
            );
        })
    }));
}
