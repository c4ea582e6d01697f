//! Calls of one owner that cross: by several kinds, late, without an answer, beside the end of holds.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::{Direction, Proxy};

use super::row::{Row, scripts};
use super::turns;
use crate::{eventually, ms, secs};

/// Long before a lease ends, and longer than any machine takes.
const SOON: Duration = ms(10_000);

fn is_held(client: &Client, number: u64) -> bool {
    matches!(client.look(number), Look::Held { .. })
}

/// A hold that no caller had goes back after a release has taken it in the place of one by another kind.
#[test]
fn a_hold_that_no_caller_had_ends_the_one_by_another_kind_that_its_release_meant() {
    for (first, second) in [("plain", "fair"), ("plain", "plain"), ("fenced", "spin")] {
        let row = Row::of(first);
        let other = row.by(second);
        let client = row.client("");
        row.take(&client, 1);
        // This grant is on its way to a caller that is gone.
        let untaken = other.take(&client, 1).number as u64;
        other.give(&client, 1);
        let back = Request { hold: untaken, ..other.request(Op::GiveBack, 1) };
        let _ = client.run_blocking(back);
        assert_eq!(row.count(&client, 1), 0, "{first}, then {second}: one release and one give-back of two holds");
        assert!(row.try_for(&row.b, 9, SOON).is_some());
    }
}

/// The holds that a release leaves end while its answer is on its way.
#[test]
fn a_hold_that_ends_during_a_release_of_another_leaves_nothing_behind() {
    let row = Row::of("plain");
    let fair = row.by("fair");
    let proxy = Proxy::start(&row.server);
    let options = "watchdog=3&response_timeout=10";
    let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
    // The server knows the scripts, and the connection for such requests is there, before no answer comes any more.
    fair.take(&client, 1);
    fair.give(&client, 1);
    let held = row.take(&client, 1);
    assert!(fair.begin(&client, 1, Some(ms(0))).within(SOON).expect("the server answers").done);
    let mut view = row.view();
    let field = format!("{}:1", client.id());
    proxy.stall(Direction::ToClient);
    let (done, answered) = mpsc::channel();
    client.submit(client.ticket(), fair.request(Op::Release, 1), move |answer| drop(done.send(answer)));
    eventually(|| view.command::<String>(&["HGET", "n", &field]) == "1");
    view.command::<()>(&["PEXPIRE", "n", "600000"]);
    eventually(|| !is_held(&client, held.number as u64));
    proxy.flow();
    let released = answered.recv_timeout(SOON).expect("the server answers");
    assert!(released.is_ok(), "{released:?}");
    eventually(|| !view.exists("n"));
}

/// The reply to the release is lost, so that the client repeats it.
#[test]
fn a_repeated_release_by_one_kind_wakes_the_waiters_of_another_in_its_client() {
    for (first, second) in [("plain", "plain"), ("spin", "plain"), ("fair", "plain"), ("fair", "fenced")] {
        let row = Row::of(first);
        let other = row.by(second);
        let proxy = Proxy::start(&row.server);
        let client = Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
        // The server knows the scripts: the answer that is lost is not that it does not.
        for row in [&row, &other] {
            row.take(&client, 1);
            row.give(&client, 1);
        }
        row.take(&client, 1);
        let waiting = other.wait(&client, 2, None);
        proxy.lose_reply_to(&format!("{}:1", client.id()));
        row.give(&client, 1);
        assert!(waiting.within(SOON).expect("the server answers").done, "{first}, then {second}");
    }
}

/// The client knows that the hold is lost.
#[test]
fn the_loss_of_a_hold_wakes_the_waiters_of_another_kind_in_its_client() {
    for (first, second) in [("plain", "plain"), ("plain", "fenced"), ("write", "read")] {
        let row = Row::of(first);
        let other = row.by(second);
        let client = row.client("");
        let taken = row.take(&client, 1);
        let mut view = row.view();
        eventually(|| view.tells());
        let waiting = other.wait(&client, 2, None);
        view.command::<()>(&["DEL", "n"]);
        eventually(|| !is_held(&client, taken.number as u64));
        assert!(waiting.within(SOON).expect("the server answers").done, "{first}, then {second}");
    }
}

/// The server has given the inner hold a longer lease, and the client has not heard of it.
#[test]
fn the_end_of_a_key_that_an_acquire_without_an_answer_has_put_off_is_known() {
    for (first, second) in [("plain", "plain"), ("plain", "fair"), ("fenced", "spin")] {
        let row = Row::of(first);
        let other = row.by(second);
        let proxy = Proxy::start(&row.server);
        let options = "response_timeout=0.3&retry_for=0";
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        // The server knows the scripts: the answer that is lost is not that it does not.
        other.take(&client, 1);
        other.give(&client, 1);
        let outer = row.lease(&client, 1, secs(10));
        let hour = secs(3600);
        proxy.lose_reply_to(&hour.as_millis().to_string());
        let inner = Request { lease: Some(hour), ..other.request(Op::Acquire, 1) };
        client.run_blocking(inner).expect_err("no answer comes");
        // It is given back. What is left lasts as long as the key, as after any release of an inner hold.
        eventually(|| matches!(client.look(outer.number as u64), Look::Held { remaining } if remaining > secs(60)));
        row.give(&client, 1);
        eventually(|| row.is_clean());
    }
}

/// The owner of the grip asks while the client ends.
#[test]
fn a_kept_hold_through_another_owners_grip_outlasts_a_try_of_that_owner() {
    let row = Row::of("plain");
    let (client, heir) = turns::through(&row);
    let field = format!("{}:1", client.id());
    assert!(row.view().hgetall("n").contains_key(&field));
    row.view().command::<()>(&["CLIENT", "PAUSE", "700", "ALL"]);
    let extend = Request { hold: heir.number as u64, lease: Some(secs(600)), ..row.request(Op::Extend, 2) };
    client.submit(client.ticket(), extend, drop);
    client.submit(client.ticket(), row.request(Op::Acquire, 1), drop);
    client.close_blocking(Holds::Keep);
    assert!(row.view().exists("n"), "a hold that its program keeps is gone");
}

/// The release has no answer in time, and the client gives the lock back behind the caller's back.
#[test]
fn a_lock_that_is_given_back_by_one_kind_wakes_the_waiters_of_another_in_its_client() {
    for (first, second) in [("spin", "spin"), ("plain", "fenced"), ("spin", "plain"), ("fair", "plain")] {
        let row = Row::of(first);
        let other = row.by(second);
        let proxy = Proxy::start(&row.server);
        let options = "response_timeout=0.3&retry_for=0";
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        row.take(&client, 1);
        let waiting = other.wait(&client, 2, None);
        proxy.keep_request(&format!("{}:1", client.id()));
        row.try_give(&client, 1).expect_err("no answer comes");
        // The waiter's call may have come to the broken connection, too.
        let came = waiting.within(SOON);
        assert!(
            matches!(came, Ok(Answer { done: true, .. }) | Err(Error::Unavailable { .. })),
            "{first}, then {second}: {came:?}"
        );
    }
}

/// The server has given the lock to another owner of the client since: so the former owner's hold is lost.
#[test]
fn a_hold_that_the_client_knows_to_be_lost_by_its_own_call_is_told_and_not_handed_on() {
    for kind in ["plain", "fenced", "fair", "write"] {
        for turn in ["", "turn=60", "turn=0"] {
            let row = Row::of(kind);
            let client = row.client(turn);
            let first = row.take(&client, 1);
            row.view().command::<()>(&["DEL", "n"]);
            let second = row.take(&client, 5);
            assert!(matches!(client.look(first.number as u64), Look::Lost(_)), "{kind}, {turn:?}");
            assert!(is_held(&client, second.number as u64), "{kind}, {turn:?}");
            row.give(&client, 5);
            let waiting = row.begin(&client, 2, None);
            assert!(matches!(row.try_give(&client, 1), Err(Error::Lost(_))), "{kind}, {turn:?}");
            assert!(waiting.within(SOON).expect("the server answers").done, "{kind}, {turn:?}");
            assert!(row.try_for(&row.b, 9, ms(0)).is_none(), "{kind}, {turn:?}: two clients hold it");
        }
    }
}

/// Each kind has the end of the key.
#[test]
fn holds_of_one_owner_by_several_kinds_end_together() {
    let row = Row::of("plain");
    for (first, second) in [("plain", "fenced"), ("fair", "plain"), ("spin", "fair")] {
        let [outer, inner] = [first, second].map(|kind| row.by(kind));
        let client = row.client("watchdog=1");
        outer.take(&client, 1);
        let leased = inner.lease(&client, 1, ms(200));
        let mut view = row.view();
        let begun = Instant::now();
        eventually(|| begun.elapsed() > ms(1_500) && view.pttl("n") > 0);
        assert!(is_held(&client, leased.number as u64), "{first}, then {second}");
        inner.give(&client, 1);
        outer.give(&client, 1);
        let short = inner.lease(&client, 1, ms(200));
        let long = outer.lease(&client, 1, secs(60));
        assert!(matches!(client.look(short.number as u64), Look::Held { remaining } if remaining > secs(50)));
        outer.give(&client, 1);
        assert!(is_held(&client, short.number as u64) && !is_held(&client, long.number as u64));
        inner.give(&client, 1);
        assert!(row.is_clean());
        client.close_blocking(Holds::Release);
    }
}

/// The release has no answer in time, and the owner takes the lock again.
#[test]
fn a_lock_that_is_taken_again_behind_its_give_back_stays_with_its_owner() {
    for kind in ["plain", "fenced", "fair", "non_reentrant", "write", "read"] {
        let row = Row::of(kind);
        let proxy = Proxy::start(&row.server);
        let options = "response_timeout=0.3&retry_for=0";
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        row.take(&client, 1);
        row.give(&client, 1);
        row.take(&client, 1);
        proxy.keep_request(&format!("{}:1", client.id()));
        let _ = row.try_give(&client, 1);
        let again = Request { wait: Some(secs(1)), ..row.request(Op::Acquire, 1) };
        let mut taken = None;
        eventually(|| {
            taken = client.run_blocking(again.clone()).ok().filter(|answer| answer.done);
            taken.is_some()
        });
        let number = taken.expect("it was taken").number as u64;
        let rival = row.by(if kind == "read" { "write" } else { kind });
        let end = Instant::now() + ms(600);
        while Instant::now() < end {
            assert!(rival.try_for(&row.b, 9, ms(0)).is_none(), "{kind}: two clients hold it");
            assert!(is_held(&client, number), "{kind}");
        }
    }
}

/// The server has carried out the release, and given the lock to another owner, before the client hears of the release.
#[test]
fn a_release_whose_answer_is_on_its_way_is_no_loss() {
    let pairs = [("plain", "plain"), ("plain", "fenced"), ("fair", "fair"), ("write", "write"), ("read", "write")];
    for (held, other) in pairs {
        let row = Row::of(held);
        let next = row.by(other);
        let proxy = Proxy::start(&row.server);
        let client = Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
        for row in [&row, &next] {
            row.take(&client, 1);
            row.give(&client, 1);
        }
        let number = row.take(&client, 1).number as u64;
        let mut view = row.view();
        proxy.hold_at(Direction::ToClient, "", 1);
        std::thread::scope(|scope| {
            let back = Request { hold: number, ..row.request(Op::Release, 1) };
            let releasing = scope.spawn(|| client.run_blocking(back));
            eventually(|| !view.exists("n"));
            next.take(&client, 2);
            assert!(!matches!(client.look(number), Look::Lost(_)), "{held}, then {other}");
            proxy.flow();
            releasing.join().expect("no panic").expect("held");
        });
    }
}

/// The client ends, and leaves the outer hold to the server.
#[test]
fn an_inner_acquire_without_an_answer_frees_no_kept_hold() {
    for (outer, inner) in [("plain", "plain"), ("plain", "fenced"), ("fair", "plain")] {
        let row = Row::of(outer);
        let other = row.by(inner);
        let proxy = Proxy::start(&row.server);
        let options = "response_timeout=0.6&retry_for=0";
        let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
        for row in [&row, &other] {
            assert!(row.begin(&client, 1, Some(ms(0))).within(SOON).expect("the server answers").done);
            row.give(&client, 1);
        }
        row.take(&client, 1);
        let mut view = row.view();
        let field = format!("{}:1", client.id());
        proxy.stall(Direction::ToClient);
        client.submit(client.ticket(), other.request(Op::Acquire, 1), drop);
        eventually(|| view.command::<Option<String>>(&["HGET", "n", &field]).as_deref() == Some("2"));
        client.close_blocking(Holds::Keep);
        assert!(view.exists("n"), "{outer}, then {inner}");
        proxy.flow();
    }
}

/// The owner's former hold was kept in the field of another owner.
#[test]
fn an_owner_whose_two_holds_are_lost_one_after_the_other_takes_the_lock_anew() {
    for (first, second) in [("plain", "fair"), ("plain", "spin"), ("fenced", "plain")] {
        let row = Row::of(first);
        let other = row.by(second);
        let (client, heir) = turns::through(&row);
        let mut view = row.view();
        eventually(|| view.tells());
        view.command::<()>(&["DEL", "n"]);
        eventually(|| !is_held(&client, heir.number as u64));
        let lost = other.take(&client, 2).number as u64;
        // The client does not hear of that: it has not asked about its new hold yet.
        view.command::<()>(&["DEL", "n"]);
        let before = scripts(&mut view);
        let again = row.begin(&client, 2, Some(ms(0))).within(SOON).expect("the server answers");
        assert!(again.done && !is_held(&client, lost), "{first}, then {second}");
        let calls = scripts(&mut view) - before;
        assert!(calls < 20, "{first}, then {second}: {calls} calls");
    }
}

/// One of two permits is this client's own. The other one comes free, and no try for it is answered.
#[test]
fn a_hold_that_others_may_share_is_no_proof_that_the_lock_is_taken() {
    let row = Row::of("permit");
    let proxy = Proxy::start(&row.server);
    let client = Client::connect(&row.server.url_at(proxy.port())).expect("a good URL");
    let set = Request { numbers: vec![2], ..Request::new(Op::TrySet, "permit_semaphore", row.name(), 0) };
    assert!(row.b.run_blocking(set).expect("the server answers").done);
    row.take(&client, 1);
    row.take(&row.b, 9);
    let mut view = row.view();
    eventually(|| view.tells());
    let waiting = row.wait(&client, 2, Some(secs(2)));
    proxy.hold_at(Direction::ToServer, "EVALSHA", 1);
    row.give(&row.b, 9);
    // The message has come, and the next try goes out.
    eventually(|| proxy.struck() == 1);
    proxy.stall(Direction::ToServer);
    let came = waiting.within(SOON);
    assert!(matches!(came, Err(Error::Unavailable { .. })), "{came:?}");
}

/// The server lets the reader in only because no other owner writes any more.
#[test]
fn a_reader_that_the_client_lets_in_ends_the_write_of_another_owner() {
    let write = Row::of("write");
    let read = write.by("read");
    let first = write.take(&write.a, 1);
    write.view().command::<()>(&["DEL", "n"]);
    let second = read.take(&write.a, 5);
    assert!(matches!(write.a.look(first.number as u64), Look::Lost(_)));
    assert!(is_held(&write.a, second.number as u64));
}
