//! The rest that stays when a server refuses a part of a script: no key without an end, no half of a lock, and no loss
//! for another owner.

use std::time::{Duration, Instant};

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Proxy, Server, View, all_at_once, kinds};

use crate::{eventually, ms, pair, secs};

fn request(op: Op, kind: &'static str, owner: i64) -> Request {
    Request::new(op, kind, kinds::name(kind, "n"), owner)
}

fn held_kinds() -> impl Iterator<Item = &'static Traits> {
    ALL.iter().map(|KindRow { traits, .. }| traits).filter(|traits| traits.held)
}

fn limit(view: &mut View, bytes: &str) {
    view.command::<()>(&["CONFIG", "SET", "maxmemory", bytes]);
}

/// Creates the permits that a test takes.
fn prepare(view: &mut View, kind: &str) {
    if kind == "permit" {
        view.command::<()>(&["SET", "n", "1"]);
    }
}

/// Whether the wire leaves the key without an end: counters of tokens and permits, and a fair lock's queue.
fn may_be_endless(key: &str, kind: &str) -> bool {
    key.starts_with("redisson_lock_token") || kind == "permit" && (key == "n" || key == "{n}:timeout")
}

fn endless(view: &mut View, kind: &str) -> Vec<String> {
    let keys = view.keys("*");
    keys.into_iter().filter(|key| !may_be_endless(key, kind) && view.pttl(key) == -1).collect()
}

#[test]
fn a_full_server_renews_every_hold() {
    all_at_once(held_kinds().filter(|kind| kind.renewed).map(|kind| {
        (kind.name.to_owned(), move || {
            let server = Server::start();
            // Each renewal has two seconds more than it needs, for a busy machine.
            let client = Client::connect(&format!("{}?watchdog=3", server.url())).expect("a good URL");
            let mut view = server.view();
            prepare(&mut view, kind.name);
            let hold = client.run_blocking(request(Op::Acquire, kind.name, 1)).expect("answered").number as u64;
            limit(&mut view, "1");
            let begun = Instant::now();
            // Three leases long.
            while begun.elapsed() < secs(9) {
                let look = client.look(hold);
                assert!(matches!(look, Look::Held { .. }), "{} after {:?}: {look:?}", kind.name, begun.elapsed());
                std::thread::sleep(ms(20));
            }
            client.run_blocking(request(Op::Release, kind.name, 1)).expect("a full server takes it");
        })
    }));
}

#[test]
fn a_full_server_takes_one_of_two_holds_back() {
    all_at_once(held_kinds().filter(|kind| kind.reentrant).map(|kind| {
        (kind.name.to_owned(), move || {
            let (server, a, _) = pair();
            let mut view = server.view();
            for _ in 0..2 {
                assert!(a.run_blocking(request(Op::Acquire, kind.name, 1)).expect("answered").done);
            }
            limit(&mut view, "1");
            for count in [1, 0] {
                a.run_blocking(request(Op::Release, kind.name, 1)).expect("a full server takes it");
                assert_eq!(
                    a.run_blocking(request(Op::Inspect, kind.name, 1)).expect("answered").items[0],
                    count,
                    "{}",
                    kind.name
                );
            }
            limit(&mut view, "0");
        })
    }));
}

/// The commands of the scripts. Each test denies one of them.
const COMMANDS: &[&str] = &[
    "hset",
    "hdel",
    "pexpire",
    "set",
    "del",
    "incr",
    "hget",
    "hgetall",
    "hkeys",
    "hlen",
    "hexists",
    "pttl",
    "zadd",
    "zrem",
    "lrem",
    "rpush",
    "zscore",
    "zrange",
    "lindex",
    "exists",
    "get",
    "decrby",
    "incrby",
    "publish",
    "zremrangebyscore",
    "zcount",
];

/// A client of a user with these rights, with an open connection for calls. Once the proxy refuses further connections,
/// the client cannot repair what the server left undone.
fn cut_short(server: &Server, user: &str, rights: &[&str]) -> (Client, Proxy) {
    server.view().command::<()>(&[&["ACL", "SETUSER", user, "on", ">secret", "+@all", "&*"][..], rights].concat());
    let proxy = Proxy::start(server);
    let url = format!("redis://{user}:secret@127.0.0.1:{}?retry_for=0&response_timeout=2", proxy.port());
    let client = Client::connect(&url).expect("a good URL");
    client.run_blocking(Request::new(Op::Inspect, "plain", "n", 1)).map(drop).unwrap_or_default();
    (client, proxy)
}

/// Takes the lock, waits for it and releases it with these rights. Afterwards no key is without an end, and no lock is
/// held without a holder.
fn try_with(kind: &'static Traits, what: &str, rights: &[&str]) {
    let server = Server::start();
    let mut view = server.view();
    prepare(&mut view, kind.name);
    let (client, proxy) = cut_short(&server, "some", rights);
    proxy.refuse();
    let lease = Some(secs(40));
    let taken = client.run_blocking(Request { lease, ..request(Op::Acquire, kind.name, 1) });
    let left = endless(&mut view, kind.name);
    assert!(left.is_empty(), "{} {what}: {left:?} stay without an end after {taken:?}", kind.name);
    if !matches!(&taken, Ok(answer) if answer.done) && kind.name != "permit" {
        assert!(view.kind_if_there("n").is_empty(), "{} {what}: half of a lock stays after {taken:?}", kind.name);
    }
    drop(proxy);
}

trait IfThere {
    fn kind_if_there(&mut self, key: &str) -> Vec<String>;
}

impl IfThere for View {
    fn kind_if_there(&mut self, key: &str) -> Vec<String> {
        if self.kind(key) == "none" { Vec::new() } else { vec![self.kind(key)] }
    }
}

#[test]
fn an_acquire_without_any_one_command_leaves_no_endless_key_and_no_half_of_a_lock() {
    all_at_once(held_kinds().map(|kind| {
        (kind.name.to_owned(), move || {
            for command in COMMANDS {
                try_with(kind, &format!("without {command}"), &["~*", &format!("-{command}")]);
            }
            try_with(kind, "with the lock's own key alone", &["~n"]);
            try_with(kind, "without pexpire and hdel", &["~*", "-pexpire", "-hdel"]);
            try_with(kind, "without pexpire and del", &["~*", "-pexpire", "-del"]);
        })
    }));
}

#[test]
fn a_read_that_is_refused_names_the_keys_of_its_holds() {
    let server = Server::start();
    server.view().command::<()>(&["ACL", "SETUSER", "some", "on", ">secret", "+@all", "&*", "~locks:*"]);
    let client = Client::connect(&format!("redis://some:secret@{}", server.address())).expect("a good URL");
    let refused =
        client.read_write_lock("locks:a").read().blocking().acquire().map(drop).expect_err("it has more keys");
    let Error::Refused { code, message, .. } = &refused else { panic!("{refused:?}") };
    assert!(code == "NOPERM" && message.contains("~{locks:a}:*:rwlock_timeout:*"), "{message}");
    let fenced = client.fenced_lock("locks:a").blocking().acquire().map(drop).expect_err("it has more keys");
    assert!(fenced.to_string().contains("~redisson_lock_token:{locks:a}"), "{fenced}");
    eventually(|| server.view().keys("*").is_empty());
}

#[test]
fn a_user_that_may_not_publish_is_told_which_channel_is_missing() {
    let server = Server::start();
    server.view().command::<()>(&["ACL", "SETUSER", "some", "on", ">secret", "+@all", "~*", "resetchannels"]);
    let client = Client::connect(&format!("redis://some:secret@{}", server.address())).expect("a good URL");
    let guard = client.lock("n").blocking().acquire().expect("free");
    let refused = guard.release().expect_err("a release tells the waiters");
    assert!(refused.to_string().contains("&redisson_lock__channel:{n}"), "{refused}");
}

#[test]
fn a_returned_permit_is_announced_to_no_waiter_while_fewer_than_none_are_there() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&format!("{}?retry_for=0&response_timeout=5", server.url_at(proxy.port())))
        .expect("a good URL");
    let other = Client::connect(&server.url()).expect("a good URL").semaphore("n");
    assert!(other.try_set_permits(1).blocking().expect("answered"));
    assert_eq!(client.semaphore("n").available().blocking().expect("answered"), 1);
    let mut listener = server.listen("redisson_sc:{n}");
    // The permit is taken, but the answer does not arrive. After the wait has ended in vain, the client gives the
    // permit back.
    proxy.hold_at(redlatch_tests::Direction::ToClient, "*1\r\n:1\r\n", 1);
    std::thread::scope(|scope| {
        let taking =
            scope.spawn(|| client.semaphore("n").try_acquire(1).blocking().expect_err("no answer comes in time"));
        eventually(|| proxy.struck() == 1);
        assert_eq!(other.remove_permits(5).blocking().expect("answered"), 0);
        taking.join().expect("no panic");
    });
    eventually(|| server.view().command::<i64>(&["GET", "n"]) == -4);
    assert_eq!(listener.heard(), [""; 0], "a listener of Redisson fails with a number below zero");
}

#[test]
fn a_call_from_before_the_server_s_clock_was_set_back_is_refused_and_tells_the_time() {
    let server = Server::start();
    let mut view = server.view();
    let script = concat!(include_str!("../../core/scripts/_late.lua"), "return late(ARGV[1]) or {1}");
    let mut asked = |ahead: i64| {
        let time: (i64, i64) = view.command(&["TIME"]);
        let not_after = time.0 * 1000 + time.1 / 1000 + ahead;
        view.command::<Vec<i64>>(&["EVAL", script, "0", &not_after.to_string()])
    };
    assert_eq!(asked(10_000), [1], "in time");
    assert_eq!(asked(-10)[0], -2, "too late");
    let early = asked(3_600_000);
    assert_eq!(early[0], -2, "no call is carried out so long after its sending: the clock was set back by an hour");
    assert!(early[1] > 1_000_000_000_000, "{early:?}");
}

#[test]
fn a_dead_head_of_the_queue_is_given_up_though_the_server_s_clock_was_set_back_meanwhile() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let guard = a.fair_lock("n").blocking().acquire().expect("free");
    // A waiter whose last sign of life is dated one hour ahead.
    let time: (i64, i64) = view.command(&["TIME"]);
    let ahead = (time.0 * 1000 + 3_600_000).to_string();
    view.command::<()>(&["RPUSH", "redisson_lock_queue:{n}", "dead:1"]);
    view.command::<()>(&["ZADD", "redisson_lock_timeout:{n}", &ahead, "dead:1"]);
    view.command::<()>(&["ZADD", "redlatch_lock_seen:{n}", &ahead, "dead:1"]);
    guard.release().expect("held");
    b.fair_lock("n").wait(secs(20)).blocking().acquire().expect("the dead one is given up").release().expect("held");
}

/// A client of Redisson takes an expired waiter of redlatch out of the queue, and leaves its sign of life behind.
#[test]
fn a_waiter_behind_one_of_redisson_has_that_waiters_share_of_time_despite_old_signs_of_life() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let guard = a.fair_lock("n").lease(secs(60)).blocking().acquire().expect("free");
    let now = |view: &mut View| {
        let time: (i64, i64) = view.command(&["TIME"]);
        time.0 * 1000 + time.1 / 1000
    };
    let far = (now(&mut view) + 600_000).to_string();
    for (gone, ago) in [("gone:1", 60_000), ("gone:2", 0)] {
        let sign = (now(&mut view) - ago).to_string();
        view.command::<()>(&["ZADD", "redlatch_lock_seen:{n}", &sign, gone]);
    }
    view.command::<()>(&["RPUSH", "redisson_lock_queue:{n}", "redisson:1"]);
    view.command::<()>(&["ZADD", "redisson_lock_timeout:{n}", &far, "redisson:1"]);
    let ticket = b.ticket();
    let waiting = Request { wait: Some(secs(60)), ..request(Op::Acquire, "fair", 7) };
    b.submit(ticket, waiting, drop);
    let waiter = format!("{}:7", b.id());
    // First the waiter joins the queue; later it renews its sign of life. The test sees whichever comes.
    let mut deadlines = Vec::new();
    eventually(|| {
        let deadline: Option<f64> = view.command(&["ZSCORE", "redisson_lock_timeout:{n}", &waiter]);
        deadlines.extend(deadline.filter(|deadline| deadlines.last() != Some(deadline)));
        deadlines.len() > 1
    });
    let left: Vec<i64> = deadlines.iter().map(|deadline| *deadline as i64 - now(&mut view)).collect();
    assert!(
        left.iter().all(|left| *left > 240_000),
        "the one before it will bring it forward by 300 s, and it has {left:?} ms"
    );
    b.cancel(ticket);
    guard.release().expect("held");
}

#[test]
fn a_forced_release_tells_the_waiters_of_a_read_write_lock_though_other_keys_are_forbidden() {
    let server = Server::start();
    let a = Client::connect(&server.url()).expect("a good URL");
    server.view().command::<()>(&["ACL", "SETUSER", "some", "on", ">secret", "+@all", "&*", "~n"]);
    let other =
        Client::connect(&format!("redis://some:secret@{}?retry_for=0.2", server.address())).expect("a good URL");
    let reading = a.read_write_lock("n").read().lease(Duration::from_secs(60)).blocking().acquire().expect("free");
    let mut listener = server.listen("redisson_rwlock:{n}");
    other.read_write_lock("n").read().blocking().force_release().map(drop).unwrap_or_default();
    assert!(!server.view().exists("n"));
    assert_eq!(listener.hear(), "0");
    drop(reading);
}

/// A user loses a right in the midst of its work. Each release, forced release and renewal is done, or leaves
/// everything as it was.
fn give_without(kind: &'static Traits, what: &str, rights: &[&str]) {
    let server = Server::start();
    let mut view = server.view();
    prepare(&mut view, kind.name);
    let other = Client::connect(&server.url()).expect("a good URL");
    let (client, proxy) = cut_short(&server, "some", &["~*"]);
    let lease = |owner| Request { lease: Some(secs(40)), ..request(Op::Acquire, kind.name, owner) };
    let holds = if kind.reentrant { 2 } else { 1 };
    for _ in 0..holds {
        assert!(client.run_blocking(lease(1)).expect("answered").done);
    }
    let shared = kind.name == "read" && other.run_blocking(lease(2)).expect("answered").done;
    proxy.refuse();
    view.command::<()>(&[&["ACL", "SETUSER", "some", "resetkeys"][..], rights].concat());
    let ended: Vec<_> = (0..holds)
        .map(|_| client.run_blocking(request(Op::Release, kind.name, 1)).map(|answer| answer.number))
        .collect();
    let left = endless(&mut view, kind.name);
    assert!(left.is_empty(), "{} {what}: {left:?} stay without an end after {ended:?}", kind.name);
    if shared {
        let hold = format!("{{n}}:{}:2:rwlock_timeout:1", other.id());
        let lock = view.pttl("n");
        let hold = view.pttl(&hold);
        assert!(
            lock > 20_000 && hold > 20_000,
            "{} {what}: the other reader has {hold} ms, the lock {lock} ms after {ended:?}",
            kind.name
        );
        other.run_blocking(request(Op::Release, kind.name, 2)).expect("nothing of another owner is lost");
    }
    drop(proxy);
}

#[test]
fn a_release_without_any_one_right_leaves_no_endless_key_and_other_owners_their_holds() {
    all_at_once(held_kinds().map(|kind| {
        (kind.name.to_owned(), move || {
            for command in COMMANDS {
                give_without(kind, &format!("without {command}"), &["~*", &format!("-{command}")]);
            }
            give_without(kind, "with the lock's own key alone", &["~n"]);
            give_without(kind, "without any channel", &["~*", "resetchannels"]);
        })
    }));
}

/// Releases the lock after its user has lost these rights, with a waiter in line that wants a shorter lease. Afterwards
/// the holder's belief must be true.
fn let_go_without(kind: &'static Traits, what: &str, rights: &[&str]) {
    let server = Server::start();
    let mut view = server.view();
    let (client, _proxy) = cut_short(&server, "some", &["~*"]);
    let taken =
        client.run_blocking(Request { lease: Some(secs(40)), ..request(Op::Acquire, kind.name, 1) }).expect("answered");
    let heir = Request { lease: Some(secs(5)), wait: Some(secs(60)), ..request(Op::Acquire, kind.name, 2) };
    let ticket = client.ticket();
    client.submit(ticket, heir, drop);
    view.command::<()>(&[&["ACL", "SETUSER", "some", "resetkeys"][..], rights].concat());
    let refused = client.run_blocking(request(Op::Release, kind.name, 1));
    let Look::Held { remaining } = client.look(taken.number as u64) else { return };
    view.command::<()>(&["ACL", "SETUSER", "some", "~*", "&*", "+@all"]);
    let there = client.run_blocking(request(Op::Inspect, kind.name, 1)).expect("answered");
    let left = there.number;
    let because =
        format!("{} {what}: it believes in {remaining:?} more after {refused:?}, the server has {there:?}", kind.name);
    assert!(there.items[0] == 1 && left + 1000 > remaining.as_millis() as i64, "{because}");
    client.cancel(ticket);
}

#[test]
fn a_holder_whose_release_is_refused_for_any_right_still_has_what_it_believes_in() {
    all_at_once(held_kinds().filter(|kind| kind.name != "permit").map(|kind| {
        (kind.name.to_owned(), move || {
            for command in COMMANDS {
                let_go_without(kind, &format!("without {command}"), &["~*", &format!("-{command}")]);
            }
            let_go_without(kind, "with the lock's own key alone", &["~n"]);
            let_go_without(kind, "without any channel", &["~*", "resetchannels"]);
        })
    }));
}

#[test]
fn a_repeated_acquire_gets_no_token_that_an_owner_has_had_before() {
    for (kind, is_told) in [("fenced", false), ("fenced", true), ("plain", false), ("plain", true)] {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
        let mut view = server.view();
        let take = |client: &Client, kind, lease| {
            let request = Request { lease: Some(lease), wait: Some(secs(20)), ..request(Op::Acquire, kind, 1) };
            client.run_blocking(request).expect("answered")
        };
        let other = Client::connect(&server.url()).expect("a good URL");
        let newest = take(&other, "fenced", secs(20)).items[0];
        other.run_blocking(request(Op::Release, "fenced", 1)).expect("held");
        let first = take(&client, kind, ms(300));
        let newest = first.items.first().copied().unwrap_or(newest);
        // The server keeps the lock for longer than its holder believes.
        view.command::<()>(&["PEXPIRE", "n", "60000"]);
        eventually(|| matches!(client.look(first.number as u64), Look::Lost(_)));
        if is_told {
            client.run_blocking(request(Op::Release, kind, 1)).expect_err("it is lost");
        }
        // The first copy does not reach the server: the second one finds a state that it has not made.
        proxy.keep_request("EVALSHA");
        let second = take(&client, "fenced", secs(20)).items[0];
        assert!(second > newest, "token {second} after {newest}, a lost {kind} hold, told of the loss: {is_told}");
    }
}

/// The release of an inner hold was never settled: its owner has forgotten the hold, and the server has not.
#[test]
fn a_repeated_acquire_gets_no_token_of_an_inner_hold_that_its_owner_has_let_go() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let options = "?watchdog=0.5&retry_for=0.2&response_timeout=0.5";
    let client = Client::connect(&format!("{}{options}", server.url_at(proxy.port()))).expect("a good URL");
    let lease = || Request { lease: Some(secs(60)), ..request(Op::Acquire, "fenced", 1) };
    let [outer, inner] = [(); 2].map(|()| client.run_blocking(lease()).expect("answered"));
    proxy.refuse();
    proxy.cut();
    client
        .run_blocking(Request { hold: inner.number as u64, ..request(Op::Release, "fenced", 1) })
        .expect_err("no server is there");
    // Until then the client still tries to free what the server may have kept.
    let again = Request { hold: outer.number as u64, lease: Some(secs(60)), ..request(Op::Extend, "fenced", 1) };
    eventually(|| {
        !client.run_blocking(again.clone()).expect_err("no server is there").to_string().contains("an earlier call")
    });
    assert_eq!(
        server.view().hgetall("n").into_values().collect::<Vec<_>>(),
        ["2"],
        "the server still has the inner hold"
    );
    proxy.accept();
    // The first copy does not reach the server: the second one finds a state that it has not made.
    eventually(|| client.run_blocking(Request::new(Op::Ping, "plain", "", 0)).is_ok());
    proxy.keep_request("EVALSHA");
    let patient = Request { wait: Some(secs(20)), retry_for: Some(secs(20)), ..lease() };
    let second = client.run_blocking(patient).expect("its owner's");
    assert!(second.items[0] > inner.items[0], "token {} after {}", second.items[0], inner.items[0]);
}
