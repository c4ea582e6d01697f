//! Calls whose answer was lost, and whose next copy the server refuses: for a missing right, or because it cannot save its data.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Look, Op, Request};
use redlatch::{BlockingGuard, Client};
use redlatch_tests::{Direction, Proxy, Server, View};

use super::row::Row;
use super::turns::{fields, know_releases, through_grip};
use crate::{eventually, ms, secs};

/// A client whose owner 2 holds the lock, and whose call that puts that owner's own field into the place of another one was carried
/// out without an answer.
fn without_answer(row: &Row, proxy: &Proxy, watchdog: u64) -> (Client, u64) {
    let options = format!("turn=60&watchdog={watchdog}&response_timeout=1&retry_for=0");
    let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
    know_releases(row);
    let heir = through_grip(row, &client).number as u64;
    proxy.lose_replies_to(&format!("{}:2", client.id()), 1);
    client.run_blocking(row.request(Op::Acquire, 2)).expect_err("no answer comes");
    assert_eq!(fields(row, &client), ["2"]);
    (client, heir)
}

fn is_held(client: &Client, number: u64) -> bool {
    matches!(client.look(number), Look::Held { .. })
}

#[test]
fn a_hold_outlasts_the_refusal_of_a_question_about_its_field() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let (client, heir) = without_answer(&row, &proxy, 30);
    let mut view = row.view();
    allow(&mut view, &["-pexpire"]);
    proxy.disarm();
    let end = Instant::now() + secs(4);
    while Instant::now() < end {
        let is_there = view.exists("n");
        assert!(is_there || !is_held(&client, heir), "the client has freed it: {:?}", client.look(heir));
    }
    assert!(is_held(&client, heir), "{:?}", client.look(heir));
    allow(&mut view, &["+pexpire"]);
    eventually(|| row.try_give(&client, 2).is_ok() && !view.exists("n"));
}

#[test]
fn a_question_about_a_field_that_is_refused_for_a_moment_lets_no_other_client_in() {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let (client, heir) = without_answer(&row, &proxy, 6);
    proxy.disarm();
    let refusal =
        b"-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.\r\n";
    proxy.answer_to(&format!("{}:2", client.id()), refusal);
    let end = Instant::now() + secs(8);
    while Instant::now() < end {
        let other = row.b.run_blocking(Request { wait: Some(ms(0)), ..row.request(Op::Acquire, 9) });
        let held = client.look(heir);
        if let Ok(Answer { done: true, .. }) = other {
            assert!(!matches!(held, Look::Held { .. }), "two have it: {held:?}");
            return row.give(&row.b, 9);
        }
    }
    assert!(is_held(&client, heir), "{:?}", client.look(heir));
    row.give(&client, 2);
}

/// Has the server refuse these commands, and forget earlier refusals.
fn refuse(view: &mut View, commands: &[&str]) {
    view.command::<()>(&["ACL", "LOG", "RESET"]);
    allow(view, commands);
}

/// Gives the user these rights, or takes them away.
fn allow(view: &mut View, rights: &[&str]) {
    view.command::<()>(&[&["ACL", "SETUSER", "default"], rights].concat());
}

/// Returns once the server has refused a call so many times.
fn is_refused(view: &mut View, times: i64) {
    eventually(|| refusals(view) >= times);
}

/// The number of refusals of one call.
fn refusals(view: &mut View) -> i64 {
    let entries: Vec<Vec<redis::Value>> = view.command(&["ACL", "LOG"]);
    let count =
        |entry: &Vec<redis::Value>| entry.get(1).and_then(|count| redis::from_redis_value::<i64>(count.clone()).ok());
    entries.iter().filter_map(count).sum()
}

const LONG: Duration = secs(600);

/// A lock, and a client that reaches its server through the proxy and soon gives a call up.
fn quick() -> (Row, Proxy, Client) {
    let row = Row::of("plain");
    let proxy = Proxy::start(&row.server);
    let options = "watchdog=1&response_timeout=0.3&retry_for=4";
    know_releases(&row);
    let client = Client::connect(&format!("{}?{options}", row.server.url_at(proxy.port()))).expect("a good URL");
    (row, proxy, client)
}

/// Its caller cannot release again, so the client has to.
#[test]
fn a_release_whose_first_copy_got_lost_and_whose_second_one_is_refused_for_a_moment_frees_the_lock() {
    let (row, proxy, client) = quick();
    row.lease(&client, 1, LONG);
    let mut view = row.view();
    refuse(&mut view, &["-hdel"]);
    proxy.cut_at(Direction::ToServer, &format!("{}:1", client.id()), 1);
    row.try_give(&client, 1).expect_err("the server refuses it");
    assert!(proxy.struck() > 0, "set up badly");
    is_refused(&mut view, 2);
    allow(&mut view, &["+hdel"]);
    eventually(|| !view.exists("n"));
}

#[test]
fn an_acquire_without_an_answer_is_given_back_although_the_server_refuses_for_a_moment() {
    let (row, proxy, client) = quick();
    let mut view = row.view();
    proxy.lose_reply_to(&format!("{}:1", client.id()));
    let (sender, answer) = mpsc::channel();
    let acquire = Request { lease: Some(LONG), wait: Some(ms(0)), ..row.request(Op::Acquire, 1) };
    client.submit(client.ticket(), acquire, move |result| drop(sender.send(result)));
    eventually(|| view.exists("n"));
    refuse(&mut view, &["-hset", "-hdel"]);
    answer.recv_timeout(secs(20)).expect("it is answered").expect_err("the server refuses it");
    is_refused(&mut view, 2);
    allow(&mut view, &["+hset", "+hdel"]);
    eventually(|| !view.exists("n"));
}

/// The server has carried out no part of it.
#[test]
fn an_acquire_whose_user_may_run_no_script_leaves_nothing_to_give_back() {
    let row = Row::of("plain");
    let client = row.client("");
    let mut view = row.view();
    refuse(&mut view, &["-evalsha", "-eval"]);
    for owner in 1..=5 {
        let error = client.run_blocking(row.request(Op::Acquire, owner)).expect_err("the user lacks a right");
        assert!(error.to_string().contains("NOPERM"), "{error}");
    }
    let before = refusals(&mut view);
    let begun = Instant::now();
    eventually(|| begun.elapsed() > ms(600));
    assert_eq!(refusals(&mut view), before, "the client gives back what it never had");
    allow(&mut view, &["+evalsha", "+eval"]);
    row.take(&client, 1);
    row.give(&client, 1);
}

/// A hold has ended by itself, and its extension had no answer.
fn outlasted(row: &Row, client: &Client, proxy: &Proxy) {
    let number = row.lease(client, 1, secs(2)).number as u64;
    let extend =
        |lease| Request { hold: number, lease: Some(lease), retry_for: Some(ms(0)), ..row.request(Op::Extend, 1) };
    client.run_blocking(extend(secs(2))).expect("it is held");
    proxy.lose_reply_to(&LONG.as_millis().to_string());
    client.run_blocking(extend(LONG)).expect_err("no answer comes");
    eventually(|| !is_held(client, number));
}

#[test]
fn a_lock_that_outlasts_its_hold_is_given_back_although_the_server_refuses_for_a_moment() {
    let (row, proxy, client) = quick();
    outlasted(&row, &client, &proxy);
    let mut view = row.view();
    refuse(&mut view, &["-hdel"]);
    row.try_give(&client, 1).expect_err("it is lost");
    is_refused(&mut view, 1);
    allow(&mut view, &["+hdel"]);
    eventually(|| !view.exists("n"));
}

#[test]
fn a_lock_that_outlasts_its_hold_is_free_after_the_end_of_its_client() {
    let (row, proxy, client) = quick();
    outlasted(&row, &client, &proxy);
    client.close_blocking(redlatch::Holds::Release);
    let mut view = row.view();
    eventually(|| !view.exists("n"));
}

/// No caller can release that lock, or give that permit back.
#[test]
fn what_is_dropped_while_the_server_refuses_for_a_moment_comes_back() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let mut view = server.view();
    let semaphore = client.semaphore("s");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    let permit = semaphore.try_acquire(1).blocking().expect("answered").expect("available");
    refuse(&mut view, &["-incrby"]);
    drop(permit);
    is_refused(&mut view, 1);
    allow(&mut view, &["+incrby"]);
    eventually(|| semaphore.available().blocking().expect("answered") == 1);

    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    refuse(&mut view, &["-hdel"]);
    drop(guard);
    is_refused(&mut view, 1);
    allow(&mut view, &["+hdel"]);
    eventually(|| !view.exists("n"));
}

/// The script has shortened the key of the hold before the server refuses it.
#[test]
fn a_shorter_lease_that_is_refused_half_way_leaves_no_reader_beside_a_writer() {
    let row = Row::of("read");
    let write = row.by("write");
    let client = row.client("");
    let number = row.lease(&client, 1, secs(600)).number as u64;
    row.take(&row.b, 9);
    let mut view = row.view();
    eventually(|| view.tells());
    allow(&mut view, &["-hgetall"]);
    client
        .run_blocking(Request { hold: number, lease: Some(ms(800)), ..row.request(Op::Extend, 1) })
        .expect_err("the user lacks a right");
    allow(&mut view, &["+hgetall"]);
    let key = format!("{{n}}:{}:1:rwlock_timeout:1", client.id());
    assert!(view.pttl(&key) <= 800, "set up badly");
    let begun = Instant::now();
    eventually(|| begun.elapsed() > ms(1200));
    row.give(&row.b, 9);
    eventually(|| {
        let other = write.try_for(&write.b, 9, ms(0));
        let held = client.look(number);
        assert!(other.is_none() || !matches!(held, Look::Held { .. }), "a writer beside a reader: {held:?}");
        other.is_some() || view.pttl("n") > 2_000
    });
    if let Some(other) = write.try_for(&write.b, 9, secs(40)) {
        assert!(!is_held(&client, number), "a writer beside a reader: {other:?}");
        write.give(&write.b, 9);
    }
}

fn gives_back(row: &Row, client: &Client, number: i64) {
    let back = Request { hold: number as u64, ..row.request(Op::GiveBack, 1) };
    client.run_blocking(back).expect_err("the server refuses it");
}

/// Its owner takes it anew for a second, before the client tries again.
#[test]
fn a_lock_whose_give_back_is_refused_is_free_although_its_owner_has_had_it_once_more_meanwhile() {
    let row = Row::of("plain");
    let client = row.client("");
    let taken = row.lease(&client, 1, LONG);
    let mut view = row.view();
    refuse(&mut view, &["-hdel"]);
    gives_back(&row, &client, taken.number);
    let again = row.lease(&client, 1, secs(1)).number as u64;
    allow(&mut view, &["+hdel"]);
    eventually(|| !is_held(&client, again));
    row.try_give(&client, 1).expect_err("it has ended by itself");
    eventually(|| !view.exists("n"));
}

/// A lock of 600 s, whose release the server refuses.
fn guarded(server: &Server) -> (Client, View, BlockingGuard) {
    let client = Client::connect(&server.url()).expect("a good URL");
    let mut view = server.view();
    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    refuse(&mut view, &["-hdel"]);
    (client, view, guard)
}

/// The same, whose guard is dropped; the server refuses its release so many times.
fn dropped(server: &Server, refusals: i64) -> (Client, View) {
    let (client, mut view, guard) = guarded(server);
    drop(guard);
    is_refused(&mut view, refusals);
    allow(&mut view, &["+hdel"]);
    (client, view)
}

/// The client ends before it tries again: it does so once a second by then.
#[test]
fn a_lock_whose_give_back_was_refused_is_free_after_the_end_of_its_client() {
    let server = Server::start();
    let (client, mut view) = dropped(&server, 6);
    client.close_blocking(redlatch::Holds::Release);
    assert!(!view.exists("n"), "the server keeps it for {} ms more", view.pttl("n"));
}

/// It counts whether or not its caller saw that.
#[test]
fn a_release_with_which_the_client_goes_on_counts() {
    let server = Server::start();
    let (client, mut view) = dropped(&server, 1);
    eventually(|| !view.exists("n"));
    let stats = client.stats();
    assert_eq!((stats.acquired, stats.held, stats.released), (1, 0, 1));
}

/// The guard is gone with its release, so no caller can release again.
#[test]
fn a_lock_whose_guard_was_released_while_the_server_refused_for_a_moment_is_free_before_its_lease_ends() {
    let server = Server::start();
    let (_client, mut view, guard) = guarded(&server);
    guard.release().expect_err("the server refuses it");
    allow(&mut view, &["+hdel"]);
    eventually(|| !view.exists("n"));
}

/// Owners take a lock and give it back again and again while the server refuses that.
#[test]
fn very_many_refused_give_backs_of_one_lock_make_few_calls() {
    let row = Row::of("plain");
    let client = row.client("");
    let mut view = row.view();
    refuse(&mut view, &["-hdel"]);
    for _ in 0..500 {
        let taken = row.lease(&client, 1, LONG);
        gives_back(&row, &client, taken.number);
    }
    // Each give-back by itself would be tried about once a second.
    let before = super::row::scripts(&mut view);
    std::thread::sleep(secs(2));
    let calls = super::row::scripts(&mut view) - before;
    assert!(calls <= 20, "{calls} calls in 2 s for one lock");
}
