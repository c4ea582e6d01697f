//! The list of locks that are held: every kind, by every client, Redisson's among them.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::time::Instant;

use redlatch::ffi::Op;
use redlatch::{BlockingGuard, HeldLock, Locks, LostReason};
use redlatch_tests::oracle::Statement;

use super::*;

const THEIRS: &str = "6f1b1c9e-0c1d-4e2f-8a3b-4c5d6e7f8091";

fn all(mut locks: Locks) -> BTreeMap<String, HeldLock> {
    let mut all = BTreeMap::new();
    while let Some(lock) = locks.next_blocking().expect("answered") {
        assert!(all.insert(lock.name.clone(), lock).is_none(), "it came twice");
    }
    all
}

fn one(client: &Client, name: &str) -> HeldLock {
    let mut all = all(client.locks(name));
    all.remove(name).unwrap_or_else(|| panic!("{name} is not listed, but {all:?}"))
}

#[test]
fn every_kind_of_lock_is_listed_with_its_holder() {
    let (_server, holder, client) = pair();
    let rw = holder.read_write_lock("n:read");
    let writes = holder.read_write_lock("n:write");
    let guards = [
        (holder.lock("n:plain"), "plain"),
        (holder.lock("n:{brace}"), "plain"),
        (holder.fair_lock("n:fair"), "plain"),
        (holder.fenced_lock("n:fenced"), "fenced"),
        (rw.read(), "read"),
        (writes.write(), "write"),
        (holder.multi_lock_group("n:multi", &["a", "b"]), "multi"),
    ]
    .map(|(lock, kind)| (lock.blocking().acquire().expect("free"), kind));
    let reads = rw.read().blocking().acquire().expect("readers share");
    let term = holder.leader("n:leader").lead().blocking().expect("it leads");
    let other = holder.lock("other").blocking().acquire().expect("free");

    let found = all(client.locks("n:*"));
    let kinds: Vec<_> = found.values().map(|lock| (lock.name.as_str(), lock.kind, lock.holder_count)).collect();
    assert_eq!(
        kinds,
        [
            ("n:fair", "plain", 1),
            ("n:fenced", "fenced", 1),
            ("n:leader", "leader", 1),
            ("n:multi", "multi", 2),
            ("n:plain", "plain", 1),
            ("n:read", "read", 2),
            ("n:write", "write", 1),
            ("n:{brace}", "plain", 1),
        ]
    );
    for lock in found.values() {
        assert!(lock.is_certain && lock.waiting == Some(0) && lock.queue.is_empty(), "{lock:?}");
        assert!(lock.remaining.is_some_and(|left| left > secs(15) && left <= secs(30)), "{lock:?}");
        assert_eq!(lock.holders.len() as u64, lock.holder_count, "{lock:?}");
        for who in &lock.holders {
            assert_eq!((who.client.as_str(), who.holds), (&*holder.id(), 1), "{lock:?}");
            assert_eq!(who.writes, lock.kind == "write", "{lock:?}");
            assert_eq!((who.process, who.may_be_redisson), (Some(std::process::id()), false), "{lock:?}");
        }
    }
    assert_eq!(found["n:fenced"].token, guards[3].0.token());
    assert_eq!(found["n:leader"].token, term.token());
    for (guard, _) in guards {
        guard.release().expect("held");
    }
    reads.release().expect("held");
    term.release_blocking().expect("it leads");
    assert!(all(client.locks("n:*")).is_empty());
    other.release().expect("held");
}

#[test]
fn a_holder_and_its_holds_are_those_of_its_owner() {
    let (_server, holder, client) = pair();
    let lock = holder.lock("n").owner(7);
    let first = lock.clone().blocking().acquire().expect("free");
    let second = lock.blocking().acquire().expect("reentrant");
    let found = one(&client, "n");
    assert_eq!((found.holders[0].owner.as_str(), found.holders[0].holds), ("7", 2));
    second.release().expect("held");
    first.release().expect("held");
}

#[test]
fn the_locks_of_redisson_are_listed_as_ours() {
    let (server, client, _) = pair();
    server.exempt(Statement::Ends, "n", "the test writes as another library does");
    let mut view = server.view();
    let owner = |number: u64| format!("{THEIRS}:{number}");
    let write = |view: &mut View, words: &[&str]| {
        view.command::<()>(words);
        view.command::<i64>(&["PEXPIRE", words[1], "30000"]);
    };
    write(&mut view, &["HMSET", "n:plain", &owner(31), "2"]);
    write(&mut view, &["HMSET", "n:fair", &owner(31), "1"]);
    view.command::<i64>(&["RPUSH", "redisson_lock_queue:{n:fair}", &owner(32), &owner(33)]);
    write(&mut view, &["HMSET", "n:read", "mode", "read", &owner(1), "1", &owner(2), "3"]);
    write(&mut view, &["HMSET", "n:write", "mode", "write", &format!("{}:write", owner(1)), "1", &owner(1), "1"]);
    view.command::<()>(&["SET", "n:permits", "3"]);
    view.command::<i64>(&[
        "ZADD",
        "{n:permits}:timeout",
        "922337203685477",
        "0123456789abcdef",
        "1",
        "an ended permit",
    ]);

    let found = all(client.locks("n:*"));
    let kinds: Vec<_> = found.values().map(|lock| (lock.name.as_str(), lock.kind, lock.holder_count)).collect();
    assert_eq!(
        kinds,
        [
            ("n:fair", "fair", 1),
            ("n:permits", "permits", 1),
            ("n:plain", "plain", 1),
            ("n:read", "read", 2),
            ("n:write", "write", 2),
        ]
    );
    let holders = |name: &str| found[name].holders.iter().map(|holder| holder.may_be_redisson).collect::<Vec<_>>();
    assert_eq!(
        (holders("n:plain"), holders("n:read"), holders("n:permits")),
        (vec![true], vec![true, true], vec![false])
    );
    let plain = &found["n:plain"].holders[0];
    assert_eq!((plain.client.as_str(), plain.owner.as_str(), plain.holds, &plain.process), (THEIRS, "31", 2, &None));
    let queue: Vec<_> = found["n:fair"].queue.iter().map(|waiter| waiter.owner.as_str()).collect();
    assert_eq!((found["n:fair"].waiting, queue), (Some(2), vec!["32", "33"]));
    let writers: Vec<_> = found["n:write"].holders.iter().filter(|holder| holder.writes).map(|it| &it.owner).collect();
    assert_eq!(writers, ["1"]);
    let permit = &found["n:permits"].holders[0];
    assert_eq!((permit.client.as_str(), permit.remaining), ("30313233343536373839616263646566", None));
    for key in found.keys().map(String::as_str).chain(["redisson_lock_queue:{n:fair}", "{n:permits}:timeout"]) {
        view.command::<i64>(&["DEL", key]);
    }
}

/// A Redisson has no connection that tells. To ask for it again at each look would cost the server more than the look.
#[test]
fn a_client_that_the_server_does_not_know_is_asked_for_once() {
    let (server, _, client) = pair();
    let mut view = server.view();
    for name in ["n:1", "n:2"] {
        view.command::<()>(&["HSET", name, &format!("{THEIRS}:31"), "1"]);
        view.command::<()>(&["PEXPIRE", name, "30000"]);
    }
    let asked = || server.view().calls().get("client|list").copied().unwrap_or_default();
    let before = asked();
    let began = Instant::now();
    // Looks at once, and for longer than a list is fresh: five seconds.
    while began.elapsed() < secs(6) {
        std::thread::scope(|scope| {
            for name in ["n:1", "n:2"].repeat(4) {
                scope.spawn(|| assert!(one(&client, name).holders[0].may_be_redisson));
            }
        });
    }
    let times = 2 + began.elapsed().as_secs() / 5;
    assert!(asked() - before <= times, "{} times", asked() - before);
    // One that connects is found at once all the same.
    let late = Client::connect(&server.url()).expect("a good URL");
    let held = late.lock("n:late").blocking().acquire().expect("free");
    assert_eq!(one(&client, "n:late").holders[0].process, Some(std::process::id()));
    held.release().expect("held");
    view.command::<()>(&["DEL", "n:1", "n:2"]);
}

#[test]
fn keys_that_are_no_locks_are_left_out() {
    let (server, client, _) = pair();
    let mut view = server.view();
    let owner = format!("{THEIRS}:1");
    view.command::<i64>(&["HSET", "n:counts", &owner, "of visits"]);
    view.command::<i64>(&["PEXPIRE", "n:counts", "30000"]);
    view.command::<i64>(&["HSET", "n:session", "user", "7"]);
    view.command::<i64>(&["PEXPIRE", "n:session", "30000"]);
    view.command::<i64>(&["ZADD", "{n:alone}:timeout", "922337203685477", "x"]);
    view.command::<()>(&["SET", "n:text", "x", "PX", "30000"]);
    assert_eq!(all(client.locks("n:*")), BTreeMap::new());
    let text = one(&client, "n:text");
    assert!(!text.is_certain && text.holders.is_empty(), "the text may be a secret: {text:?}");
    assert_eq!(all(client.locks("n:session")), BTreeMap::new());
    assert_eq!(all(client.locks("n:not there")), BTreeMap::new());
}

#[test]
fn waiters_are_counted_and_locks_that_are_waited_for_come_first() {
    let (server, holder, client) = pair();
    let mut view = server.view();
    for count in 0..40 {
        view.command::<()>(&["SET", &format!("key {count}"), "x"]);
    }
    let guards: Vec<_> =
        (0..20).map(|at| holder.lock(&format!("n:{at}")).blocking().acquire().expect("free")).collect();
    let fair = holder.fair_lock("n:fair").blocking().acquire().expect("free");
    let token = holder.token_lock("n:token").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        for lock in [client.lock("n:7"), client.fair_lock("n:fair"), client.token_lock("n:token")] {
            scope.spawn(move || lock.wait(secs(30)).blocking().acquire().expect("released").release().expect("held"));
        }
        while view.listeners("redisson_lock__channel:{n:7}") == 0
            || view.listeners("redlatch_token_lock:{n:token}") == 0
            || !view.exists("redisson_lock_queue:{n:fair}")
        {
            std::thread::yield_now();
        }
        let mut locks = holder.locks("n:*");
        let mut first: Vec<_> =
            (0..3).map(|_| locks.next_blocking().expect("answered").expect("more than three")).collect();
        first.sort_by(|a, b| a.name.cmp(&b.name));
        let told: Vec<_> =
            first.iter().map(|lock| (lock.name.as_str(), lock.kind, lock.waiting, lock.is_certain)).collect();
        assert_eq!(
            told,
            [("n:7", "plain", Some(1), true), ("n:fair", "fair", Some(1), true), ("n:token", "token", Some(1), false),]
        );
        assert_eq!(first[1].queue[0].client, *client.id());
        assert_eq!(all(holder.locks("n:*")).len(), 22);
        guards.into_iter().for_each(|guard| guard.release().expect("held"));
        fair.release().expect("held");
        token.release().expect("held");
    });
}

#[test]
fn a_client_with_a_prefix_lists_the_locks_with_that_prefix() {
    let (server, client, _) = pair();
    let mine = Client::connect(&format!("{}?prefix=a%2A:", server.url())).expect("a good URL");
    let held = mine.lock("n").blocking().acquire().expect("free");
    let other = client.lock("ab:n").blocking().acquire().expect("free");
    assert_eq!(all(mine.locks("*")).into_keys().collect::<Vec<_>>(), ["n"]);
    assert_eq!(one(&mine, "n").holders[0].client, *mine.id());
    held.release().expect("held");
    other.release().expect("held");
}

/// A scan reads all keys, and rests nine times as long as it reads. The server's time on a processor is counted, which other
/// programs of the machine do not lengthen.
#[test]
fn a_scan_of_many_keys_takes_a_tenth_of_the_server_at_most() {
    for program in [None, Some(newest_program())] {
        let server = Server::with(Options { program, unwatched: true, ..Options::default() });
        let client = Client::connect(&server.url()).expect("a good URL");
        let mut view = server.view();
        let fill = "for at = 1, 1000 do redis.call('SET', KEYS[1] .. at, '') end";
        for at in 0..100 {
            view.command::<()>(&["EVAL", fill, "1", &format!("{{fill}}:{at}:")]);
        }
        let held = client.lock("n").blocking().acquire().expect("free");
        let before = server.processor_time();
        let began = Instant::now();
        assert_eq!(all(client.locks("*")).len(), 1);
        let elapsed = began.elapsed();
        let worked = server.processor_time() - before;
        assert!(worked * 6 < elapsed, "the server worked {worked:?} of {elapsed:?}");
        held.release().expect("held");
    }
}

/// The description of a lock costs as much as a look at many other keys.
#[test]
fn a_call_of_a_scan_ends_early_where_keys_are_locks() {
    let (server, client, _) = pair();
    let mut view = server.view();
    let fill = "for at = 1, 1000 do
        redis.call('HSET', '{n}:' .. at, ARGV[1], 1)
        redis.call('PEXPIRE', '{n}:' .. at, 30000)
    end";
    view.command::<()>(&["EVAL", fill, "1", "{n}", &format!("{THEIRS}:31")]);
    let before = view.calls();
    assert_eq!(all(client.locks("{n}:*")).len(), 1000);
    let after = view.calls();
    let calls =
        |name: &str| after.get(name).copied().unwrap_or_default() - before.get(name).copied().unwrap_or_default();
    let scripts = calls("eval") + calls("evalsha");
    let described = calls("hrandfield");
    assert!(described >= 1000 && described < 40 * scripts, "{scripts} scripts described {described} locks");
    view.command::<()>(&["EVAL", "for at = 1, 1000 do redis.call('DEL', '{n}:' .. at) end", "1", "{n}"]);
}

/// Such locks are texts: only their channels show them.
#[test]
fn all_locks_that_are_waited_for_are_found_if_they_fill_more_than_one_page() {
    let (server, client, _) = pair();
    let mut view = server.view();
    let names: Vec<String> = (0..150).map(|at| format!("n:{at:03}")).collect();
    for name in &names {
        view.command::<()>(&["SET", name, &format!("{THEIRS}:31"), "PX", "30000"]);
    }
    let channels: Vec<String> = names.iter().map(|name| format!("redlatch_token_lock:{{{name}}}")).collect();
    let mut waiter = TcpStream::connect(("127.0.0.1", server.port())).expect("it runs");
    waiter.write_all(format!("SUBSCRIBE {}\r\n", channels.join(" ")).as_bytes()).expect("it listens");
    eventually(|| view.listeners(&channels[149]) == 1);
    let found = all(client.locks("n:*"));
    assert_eq!(found.keys().cloned().collect::<Vec<_>>(), names);
    assert!(found.values().all(|lock| lock.kind == "token" && lock.waiting == Some(1)), "{found:?}");
    for name in &names {
        view.command::<i64>(&["DEL", name]);
    }
}

/// A lock that has one holder at a time, or readers.
type Take = fn(&Client) -> BlockingGuard;

#[test]
fn a_lock_is_taken_from_the_holder_that_a_listing_has_shown_and_from_no_later_one() {
    let (server, client, other) = pair();
    let kinds: [(&str, Take); 6] = [
        ("plain", |client| client.lock("n").blocking().acquire().expect("free")),
        ("fair", |client| client.fair_lock("n").blocking().acquire().expect("free")),
        ("fenced", |client| client.fenced_lock("n").blocking().acquire().expect("free")),
        ("spin", |client| client.spin_lock("n").blocking().acquire().expect("free")),
        ("read", |client| client.read_write_lock("n").read().blocking().acquire().expect("free")),
        ("write", |client| client.read_write_lock("n").write().blocking().acquire().expect("free")),
    ];
    let operator = Client::connect(&server.url()).expect("a good URL");
    for (kind, take) in kinds {
        let first = take(&client);
        let shown = one(&operator, "n");
        assert!(operator.evict(&shown).blocking().expect("answered"), "{kind}: {shown:?}");
        assert_eq!(soon(first.lost()).expect("it is a loss, not a release").reason, LostReason::Deleted, "{kind}");
        assert!(!operator.evict(&shown).blocking().expect("answered"), "{kind}: it is free");

        let second = take(&other);
        assert!(!operator.evict(&shown).blocking().expect("answered"), "{kind}: another holder has it");
        second.ensure().unwrap_or_else(|loss| panic!("{kind}: {loss}"));
        second.release().expect("held");
        server.view().command::<i64>(&["DEL", "redisson_lock_token:{n}"]);
    }
    let term = client.leader("n").lead().blocking().expect("no other candidate");
    let shown = one(&operator, "n");
    assert!(shown.kind == "leader" && operator.evict(&shown).blocking().expect("answered"), "{shown:?}");
    assert_eq!(soon(term.lost()).expect("it is a loss, not a release").reason, LostReason::Deleted);
}

#[test]
fn readers_lose_a_lock_together_and_a_writer_loses_its_read_with_it() {
    let (_server, client, operator) = pair();
    let lock = client.read_write_lock("n");
    let readers: Vec<_> = (0..3).map(|_| lock.read().blocking().acquire().expect("readers share")).collect();
    assert!(operator.evict(&one(&operator, "n")).blocking().expect("answered"));
    for reader in readers {
        soon(reader.lost()).expect("it is a loss, not a release");
    }
    let write = lock.write().owner(1).blocking().acquire().expect("free");
    let read = lock.read().owner(1).blocking().acquire().expect("a writer may read");
    assert!(operator.evict(&one(&operator, "n")).blocking().expect("answered"));
    for guard in [write, read] {
        soon(guard.lost()).expect("it is a loss, not a release");
    }
    assert!(all(operator.locks("n")).is_empty());
}

#[test]
fn a_lock_without_one_holder_is_not_evicted_and_the_error_says_what_frees_it() {
    let (server, client, operator) = pair();
    let semaphore = client.permit_semaphore("permits");
    assert!(semaphore.try_set_permits(2).blocking().expect("answered"));
    let id = semaphore.acquire().blocking().expect("there are two").keep();
    let group = client.multi_lock_group("multi", &["a", "b"]).blocking().acquire().expect("free");
    let token = client.token_lock("token").blocking().acquire().expect("free");
    assert!(client.semaphore("semaphore").try_set_permits(2).blocking().expect("answered"));
    // The client deletes soon what the server remembers of its calls.
    let keys = || -> Vec<String> {
        server.view().keys("*").into_iter().filter(|key| !key.starts_with("redlatch_request:")).collect()
    };
    let before = keys();
    for (name, remedy) in
        [("permits", "by its id"), ("multi", "values"), ("token", "token lock"), ("semaphore", "permits")]
    {
        let refused = operator.evict(&one(&operator, name)).blocking();
        let Err(Error::Unsupported(why)) = refused else { panic!("{name}: {refused:?}") };
        assert!(why.contains(&format!("`{name}`")) && why.contains(remedy), "{why}");
    }
    assert_eq!(keys(), before);
    token.release().expect("held");
    group.release().expect("held");
    semaphore.release(id).blocking().expect("it is out");
    semaphore.delete().blocking().expect("answered");
    client.semaphore("semaphore").delete().blocking().expect("answered");
}

#[test]
fn a_page_that_no_listing_gave_is_refused() {
    let (_server, client, _) = pair();
    let asked = Request { texts: vec![b"nonsense".to_vec()], ..Request::new(Op::Inventory, "plain", "n*", 0) };
    assert!(matches!(client.run_blocking(asked), Err(Error::Config(why)) if why.contains("`nonsense`")));
}
