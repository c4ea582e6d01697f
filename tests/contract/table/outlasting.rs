//! The server keeps a lock for longer than its client believes, or than its caller wants: the client gives it back.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Direction, Proxy, all_at_once};

use super::row::Row;
use super::turns::{fields, know_releases, through_grip};
use crate::{eventually, ms, secs};

const HOUR: Duration = secs(3600);

fn connect(row: &Row, proxy: &Proxy, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL")
}

fn is_held(client: &Client, number: u64) -> bool {
    matches!(client.look(number), Look::Held { .. })
}

/// The release says nothing about the lease of its hold.
#[test]
fn a_lock_with_a_long_lease_that_is_released_during_an_outage_is_free_after_it() {
    for kind in ["plain", "fair", "read", "token"] {
        let row = Row::of(kind);
        let proxy = Proxy::start(&row.server);
        let client = connect(&row, &proxy, "watchdog=1&response_timeout=0.3&retry_for=0");
        row.lease(&client, 1, secs(600));
        let mut view = row.view();
        proxy.refuse();
        proxy.cut();
        let begun = Instant::now();
        let released = row.try_give(&client, 1);
        assert!(matches!(released, Err(Error::Unavailable { .. })), "{kind}: {released:?}");
        eventually(|| begun.elapsed() > secs(4));
        assert!(view.exists("n"), "{kind}");
        proxy.accept();
        eventually(|| !view.exists("n"));
    }
}

/// The release waits for its owner's call before it.
#[test]
fn a_lock_with_a_long_lease_that_is_released_behind_a_call_during_an_outage_is_free_after_it() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let client = connect(&row, &proxy, "watchdog=1&response_timeout=0.3&retry_for=0");
    let number = row.lease(&client, 1, secs(600)).number as u64;
    let mut view = row.view();
    proxy.stall(Direction::ToServer);
    let extend = Request { hold: number, lease: Some(secs(600)), ..row.request(Op::Extend, 1) };
    let extend = Request { response_timeout: Some(secs(1)), retry_for: Some(secs(4)), ..extend };
    client.submit(client.ticket(), extend, drop);
    let begun = Instant::now();
    let released = row.try_give(&client, 1);
    assert!(matches!(released, Err(Error::Unavailable { .. })), "{released:?}");
    eventually(|| begun.elapsed() > secs(3));
    assert!(view.exists("n"));
    proxy.flow();
    eventually(|| !view.exists("n"));
}

/// The client has believed in the new end, which the server never heard of.
#[test]
fn a_lock_whose_shorter_lease_never_came_to_the_server_is_free_after_its_release() {
    for kind in ["plain", "fenced", "write", "token"] {
        let row = Row::of(kind);
        let proxy = Proxy::start(&row.server);
        let client = connect(&row, &proxy, "response_timeout=0.3&retry_for=2");
        let number = row.lease(&client, 1, secs(600)).number as u64;
        let mut view = row.view();
        proxy.refuse();
        proxy.cut();
        let extend = Request { hold: number, lease: Some(ms(500)), ..row.request(Op::Extend, 1) };
        let extended = client.run_blocking(extend);
        assert!(matches!(extended, Err(Error::Unavailable { .. })), "{kind}: {extended:?}");
        assert!(!is_held(&client, number), "{kind}");
        proxy.accept();
        let released = row.try_give(&client, 1);
        assert!(matches!(released, Err(Error::Lost(_))), "{kind}: {released:?}");
        eventually(|| !view.exists("n"));
    }
}

/// The renewals come to the server, and their answers do not come to the client.
#[test]
fn a_lock_that_was_renewed_without_an_answer_is_free_after_its_release() {
    for kind in ["plain", "read", "token"] {
        let row = Row::of(kind);
        let proxy = Proxy::start(&row.server);
        let client = connect(&row, &proxy, "watchdog=6&response_timeout=0.3&retry_for=0");
        let number = row.take(&client, 1).number as u64;
        let mut view = row.view();
        eventually(|| view.tells());
        proxy.stall(Direction::ToClient);
        eventually(|| !is_held(&client, number));
        proxy.flow();
        let left = view.pttl("n");
        assert!(left > 2_000, "{kind}: {left} ms");
        let begun = Instant::now();
        let released = row.try_give(&client, 1);
        assert!(matches!(released, Err(Error::Lost(_))), "{kind}: {released:?}");
        eventually(|| !view.exists("n"));
        assert!(begun.elapsed() < ms(left as u64 - 500), "{kind}: it ended by itself");
    }
}

/// The server has a read hold for longer than the client. Another owner gets the write lock, and enters once more.
#[test]
fn a_read_that_outlasts_its_release_lets_nobody_in_beside_the_next_writer() {
    let write = Row::of("write");
    let read = write.by("read");
    let client = write.client("turn=60");
    write.take(&client, 1);
    let number = read.lease(&client, 1, ms(1_000)).number as u64;
    let mut view = write.view();
    let key = format!("{{n}}:{}:1:rwlock_timeout:1", client.id());
    assert!(view.command::<bool>(&["PEXPIRE", &key, "60000"]), "the key has ended");
    eventually(|| !is_held(&client, number));
    let released = read.try_give(&client, 1);
    assert!(matches!(released, Err(Error::Lost(_))), "{released:?}");
    let waiting = write.begin(&client, 2, None);
    write.give(&client, 1);
    let heir = waiting.within(secs(10)).expect("the server answers").number as u64;
    write.take(&client, 2);
    assert!(read.try_for(&read.b, 9, ms(0)).is_none(), "a reader of another client is let in");
    assert!(is_held(&client, heir));
}

fn extend(row: &Row, client: &Client, number: u64, lease: Duration) -> Result<Answer, Error> {
    client.run_blocking(Request { hold: number, lease: Some(lease), ..row.request(Op::Extend, 1) })
}

/// The server gives a hold of this lease an hour more, and no answer comes. Gives the number of the hold.
fn lengthen_unanswered(row: &Row, client: &Client, proxy: &Proxy, lease: Duration) -> u64 {
    let number = row.lease(client, 1, lease).number as u64;
    // The server knows the script: the answer that is lost is not that it does not.
    extend(row, client, number, lease).expect("it is held");
    proxy.lose_reply_to(&HOUR.as_millis().to_string());
    extend(row, client, number, HOUR).expect_err("no answer comes");
    number
}

/// The server cannot be reached, and gets nothing of what was sent to it.
fn part(proxy: &Proxy) {
    proxy.refuse();
    proxy.cut();
    proxy.flow();
}

/// The client does not know which of the two ends the server has.
#[test]
fn a_lock_whose_shorter_lease_had_no_answer_is_free_after_the_outage() {
    all_at_once(["plain", "fenced", "write", "token"].into_iter().map(|kind| {
        let check = move || {
            let row = Row::of(kind);
            let proxy = Proxy::start(&row.server);
            let client = connect(&row, &proxy, "watchdog=1&response_timeout=0.3&retry_for=0");
            let number = row.lease(&client, 1, secs(600)).number as u64;
            let mut view = row.view();
            // The connection for such calls may not be there, or another call is in the way: then nothing is sent.
            eventually(|| {
                proxy.stall(Direction::ToServer);
                extend(&row, &client, number, ms(500)).expect_err("no answer comes");
                let is_sent = !matches!(client.look(number), Look::Held { remaining } if remaining > secs(1));
                if !is_sent {
                    proxy.flow();
                    let _ = extend(&row, &client, number, secs(600));
                }
                is_sent
            });
            part(&proxy);
            eventually(|| !is_held(&client, number));
            let begun = Instant::now();
            row.try_give(&client, 1).expect_err("it is not held");
            eventually(|| begun.elapsed() > secs(6));
            assert!(view.pttl("n") > 500_000);
            proxy.accept();
            eventually(|| !view.exists("n"));
        };
        (kind.to_owned(), check)
    }));
}

/// The server has carried the extension out.
#[test]
fn a_lock_whose_longer_lease_had_no_answer_is_free_after_the_outage() {
    let cases = ["plain", "write", "token"].map(|kind| [(kind, true), (kind, false)]);
    all_at_once(cases.into_iter().flatten().map(|(kind, is_over)| {
        let check = move || {
            let row = Row::of(kind);
            let proxy = Proxy::start(&row.server);
            let client = connect(&row, &proxy, "watchdog=1&response_timeout=0.3&retry_for=0");
            let mut view = row.view();
            let number = lengthen_unanswered(&row, &client, &proxy, secs(2));
            part(&proxy);
            eventually(|| !is_over || !is_held(&client, number));
            let begun = Instant::now();
            row.try_give(&client, 1).expect_err("the server does not answer");
            eventually(|| begun.elapsed() > secs(9));
            assert!(view.pttl("n") > 3_000_000);
            proxy.accept();
            eventually(|| !view.exists("n"));
        };
        (format!("{kind}, released {}", if is_over { "after its end" } else { "before" }), check)
    }));
}

/// The owner takes the lock anew for a short time, and the server keeps it for the longer one.
#[test]
fn a_lock_that_its_owner_has_taken_again_is_free_after_its_release() {
    for (kind, other) in [("plain", "plain"), ("plain", "fenced"), ("write", "write"), ("token", "token")] {
        let row = Row::of(kind);
        let other = row.by(other);
        let proxy = Proxy::start(&row.server);
        let client = connect(&row, &proxy, "response_timeout=0.3&retry_for=0");
        let mut view = row.view();
        let number = lengthen_unanswered(&row, &client, &proxy, secs(1));
        eventually(|| !is_held(&client, number));
        let again = other.lease(&client, 1, ms(500)).number as u64;
        eventually(|| !is_held(&client, again));
        assert!(view.pttl("n") > 3_000_000, "{kind}");
        let released = other.try_give(&client, 1);
        assert!(matches!(released, Err(Error::Lost(_))), "{kind}: {released:?}");
        eventually(|| !view.exists("n"));
    }
}

/// The release waits for a call that may let the lock end sooner, and that never comes to the server in time.
#[test]
fn a_lock_that_is_released_behind_a_shorter_lease_during_an_outage_is_free_after_it() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let client = connect(&row, &proxy, "watchdog=1&response_timeout=0.3&retry_for=0");
    let number = row.lease(&client, 1, secs(600)).number as u64;
    let mut view = row.view();
    proxy.stall(Direction::ToServer);
    let extend = Request { hold: number, lease: Some(ms(500)), ..row.request(Op::Extend, 1) };
    let extend = Request { response_timeout: Some(secs(1)), retry_for: Some(secs(4)), ..extend };
    let (sender, extended) = mpsc::channel();
    client.submit(client.ticket(), extend, move |result| drop(sender.send(result)));
    eventually(|| matches!(client.look(number), Look::Held { remaining } if remaining < secs(1)));
    let released = row.try_give(&client, 1);
    assert!(matches!(released, Err(Error::Unavailable { .. })), "{released:?}");
    extended.recv_timeout(secs(20)).expect("it is answered").expect_err("the server does not answer");
    let begun = Instant::now();
    eventually(|| begun.elapsed() > secs(3));
    assert!(view.pttl("n") > 500_000);
    proxy.flow();
    eventually(|| !view.exists("n"));
}

/// As above, but the owner of the field takes the lock, and not the holder through it.
#[test]
fn a_lock_that_the_owner_of_a_lent_field_takes_is_free_after_its_release() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let client = connect(&row, &proxy, "turn=60&watchdog=1&response_timeout=0.3&retry_for=0");
    let extend = |hold: &Answer, owner, lease| Request {
        hold: hold.number as u64,
        lease: Some(lease),
        ..row.request(Op::Extend, owner)
    };
    // The server knows the scripts.
    let other = row.take(&client, 7);
    client.run_blocking(extend(&other, 7, secs(1))).expect("it is held");
    row.give(&client, 7);
    let heir = through_grip(&row, &client);
    proxy.lose_reply_to(&HOUR.as_millis().to_string());
    client.run_blocking(extend(&heir, 2, HOUR)).expect_err("no answer comes");
    eventually(|| !is_held(&client, heir.number as u64));
    let mut view = row.view();
    assert!(view.pttl("n") > 3_000_000, "set up badly");
    let own = row.lease(&client, 1, ms(500)).number as u64;
    eventually(|| !is_held(&client, own));
    let released = row.try_give(&client, 1);
    assert!(matches!(released, Err(Error::Lost(_))), "{released:?}");
    eventually(|| !view.exists("n"));
}

/// The call that puts the holder's own field there is carried out without an answer. Then no call comes to the server for longer than
/// the watchdog's time.
#[test]
fn the_own_field_of_a_long_hold_is_given_back_after_an_outage() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let client = connect(&row, &proxy, "turn=60&watchdog=1&response_timeout=0.3&retry_for=0");
    know_releases(&row);
    let heir = through_grip(&row, &client);
    let lease = secs(15);
    client
        .run_blocking(Request { hold: heir.number as u64, lease: Some(lease), ..row.request(Op::Extend, 2) })
        .expect("it is held");
    let begun = Instant::now();
    let mut view = row.view();
    proxy.lose_replies_to(&format!("{}:2", client.id()), 1);
    client.run_blocking(row.request(Op::Acquire, 2)).expect_err("no answer comes");
    // Copies go on to come there, and each has the server keep the key for the whole lease.
    eventually(|| begun.elapsed() > lease - secs(1));
    assert_eq!(fields(&row, &client), ["2"], "set up badly");
    proxy.refuse();
    proxy.cut();
    proxy.disarm();
    eventually(|| !is_held(&client, heir.number as u64));
    let released = row.try_give(&client, 2);
    assert!(matches!(released, Err(Error::Lost(_))), "{released:?}");
    eventually(|| begun.elapsed() > lease + secs(5));
    let left = view.pttl("n");
    assert!(left > 4_000, "{left}: set up badly");
    proxy.accept();
    let back = Instant::now();
    eventually(|| !view.exists("n"));
    assert!(back.elapsed() < ms(left as u64 - 1_500), "it ended by itself, {:?} after the outage", back.elapsed());
}

/// A hold that a release leaves ends before the answer to the release comes. Then no call comes to the server for longer than the watchdog's time.
#[test]
fn what_a_release_has_left_is_given_back_after_an_outage() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let client = connect(&row, &proxy, "watchdog=1&response_timeout=10&retry_for=0");
    let extend = |number, lease| Request { hold: number, lease: Some(lease), ..row.request(Op::Extend, 1) };
    let outer = row.lease(&client, 1, secs(4)).number as u64;
    let inner = row.lease(&client, 1, secs(4)).number as u64;
    // The server knows the scripts.
    client.run_blocking(extend(inner, secs(4))).expect("held");
    let begun = Instant::now();
    let other = row.lease(&client, 1, secs(4)).number as u64;
    client.run_blocking(Request { hold: other, ..row.request(Op::Release, 1) }).expect("held");
    proxy.lose_reply_to(&HOUR.as_millis().to_string());
    client.run_blocking(extend(inner, HOUR)).expect_err("no answer comes");
    let mut view = row.view();
    assert!(view.pttl("n") > 3_000_000, "set up badly");
    // No copy can come any more.
    eventually(|| begun.elapsed() > ms(1_500));
    let Look::Held { remaining } = client.look(outer) else { panic!("set up badly: it is over") };
    // The release comes there, and its answer late; the next call does not.
    proxy.refuse();
    proxy.cut_at(Direction::ToServer, &format!("{}:1", client.id()), 2);
    proxy.retard_replies_to(&format!("{}:1", client.id()), 1, remaining + ms(300));
    let _ = client.run_blocking(Request { hold: inner, ..row.request(Op::Release, 1) });
    proxy.refuse();
    proxy.cut();
    proxy.disarm();
    let parted = Instant::now();
    assert!(view.exists("n"), "set up badly: it is given back already");
    eventually(|| parted.elapsed() > secs(6));
    proxy.accept();
    eventually(|| !view.exists("n"));
}
