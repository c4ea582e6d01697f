//! The rig reports a violation of each statement that it watches over, for each kind, and reports nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, KindRow};
use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Holds};
use redlatch_tests::oracle::{Key, Statement, Violation};
use redlatch_tests::{Process, Server, all_at_once, eventually, kinds, ms, oracle, secs};

/// Changes a server's contents without the rig's knowledge.
fn change(server: &Server, words: &[&str]) {
    let client = redis::Client::open(server.direct_url()).expect("a good URL");
    let mut connection = client.get_connection().expect("it answers");
    words[1..]
        .iter()
        .fold(redis::cmd(words[0]), |mut cmd, word| cmd.arg(*word).clone())
        .query::<redis::Value>(&mut connection)
        .expect("it is done");
}

fn violated(server: &Server, statement: Statement) -> Violation {
    let violation =
        eventually("a violation", || server.watch().violations().into_iter().find(|seen| seen.statement == statement));
    server.watch().take_violations();
    violation
}

fn connect(server: &Server, options: &str) -> Client {
    Client::connect(&format!("{}{options}", server.url())).expect("a good URL")
}

/// Sets the end of a kind's hold of `n` to one second from now, without its owner's knowledge.
fn shorten(server: &Server, kind: &str) {
    let mut view = server.view();
    match kind {
        "multi" => {
            let fields = view.hgetall("n");
            for (field, end) in fields.iter().filter(|(field, _)| field.ends_with(":expire_time")) {
                let sooner = end.parse::<i64>().expect("a time in ms") - 59_000;
                change(server, &["HSET", "n", field, &sooner.to_string()]);
            }
        }
        "permit" => {
            let ids: Vec<Vec<u8>> = view.command(&["ZRANGE", "{n}:timeout", "0", "-1"]);
            let client = redis::Client::open(server.direct_url()).expect("a good URL");
            let mut connection = client.get_connection().expect("it answers");
            redis::cmd("ZINCRBY")
                .arg("{n}:timeout")
                .arg(-59_000)
                .arg(&ids[0])
                .query::<String>(&mut connection)
                .expect("it is done");
        }
        "read" => {
            for key in view.keys("*rwlock_timeout*") {
                change(server, &["PEXPIRE", &key, "1000"]);
            }
        }
        _ => change(server, &["PEXPIRE", "n", "1000"]),
    }
}

/// Only the last hold of the reader lasts as long as its client believes: each of its keys counts.
#[test]
fn a_reader_with_very_many_holds_is_judged_by_all_of_them() {
    let server = Server::start();
    let client = connect(&server, "");
    let take = |lease| {
        let request = Request { lease: Some(lease), ..Request::new(Op::Acquire, "read", "n", 1) };
        assert!(client.run_blocking(request).expect("answered").done);
    };
    (0..90).for_each(|_| take(secs(30)));
    take(secs(90));
    std::thread::sleep(ms(500));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
    // The server has more holds than the client believes in.
    let stem = format!("{{n}}:{}:1:rwlock_timeout:", client.id());
    for number in 92..=130 {
        change(&server, &["SET", &format!("{stem}{number}"), "1", "PX", "90000"]);
    }
    change(&server, &["HSET", "n", &format!("{}:1", client.id()), "130"]);
    for number in 1..130 {
        change(&server, &["PEXPIRE", &format!("{stem}{number}"), "30000"]);
    }
    std::thread::sleep(ms(500));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
    change(&server, &["PEXPIRE", &format!("{stem}130"), "30000"]);
    let violation = violated(&server, Statement::Belief);
    assert!(violation.text.contains(&client.id()) && violation.text.contains("kind read"), "{violation}");
    client.close_blocking(Holds::Keep);
}

#[test]
fn the_oracle_reports_a_belief_beyond_the_keys_life_of_each_kind() {
    let held = ALL.iter().filter(|KindRow { traits, .. }| traits.held).map(|KindRow { traits, .. }| traits.name);
    all_at_once(held.map(|kind| {
        (kind.to_owned(), move || {
            let server = Server::start();
            let client = connect(&server, "");
            kinds::set_up(&client, kind, "n", 1);
            let request =
                Request { lease: Some(secs(60)), ..Request::new(Op::Acquire, kind, kinds::name(kind, "n"), 1) };
            let answer = client.run_blocking(request).expect("answered");
            assert!(answer.done);
            let owner = if kind == "permit" { answer.number } else { 1 };
            let key = Key { kind: kind.to_owned(), name: kinds::name(kind, "n"), owner };
            let kept = || oracle::kept_until(&mut server.view(), &client.id(), &key).expect("the server has it");
            let believed = oracle::believed_until(&client.id(), &key).expect("the client believes in it");
            assert!(believed <= kept());
            std::thread::sleep(ms(200));
            assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
            shorten(&server, kind);
            assert!(believed > kept());
            let violation = violated(&server, Statement::Belief);
            assert!(
                violation.text.contains(&client.id()) && violation.text.contains(&format!("kind {kind}")),
                "{violation}"
            );
            client.close_blocking(Holds::Keep);
        })
    }));
}

#[test]
fn a_holder_may_believe_in_a_deleted_key_until_it_is_told_of_the_loss() {
    let server = Server::start();
    let client = connect(&server, "?watchdog=1");
    let guard = client.lock("n").blocking().acquire().expect("free");
    change(&server, &["DEL", "n"]);
    eventually("a loss", || guard.ensure().is_err().then_some(()));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
}

#[test]
fn the_oracle_reports_an_endless_key_unless_it_may_be_endless() {
    let server = Server::start();
    let owner = "01234567-89ab-4cde-8f01-23456789abcd:7";
    for (key, is_ours) in [("n", true), ("other", false)] {
        change(&server, &["HSET", key, if is_ours { owner } else { "field" }, "1"]);
    }
    change(&server, &["RPUSH", "redisson_lock_queue:{n}", owner]);
    change(&server, &["SET", "permits", "3"]);
    let violation = violated(&server, Statement::Ends);
    assert!(violation.text.contains("`n` is a lock, and has no end"), "{violation}");
    change(&server, &["DEL", "n"]);
    std::thread::sleep(ms(50));
    server.watch().take_violations();
}

#[test]
fn the_oracle_reports_a_repeated_token_and_a_falling_counter() {
    let server = Server::start();
    let client = connect(&server, "");
    let take = || client.fenced_lock("n").blocking().acquire().expect("free").release().expect("held");
    (0..5).for_each(|_| take());
    std::thread::sleep(ms(300));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
    change(&server, &["SET", "redisson_lock_token:{n}", "2"]);
    let violation = violated(&server, Statement::Tokens);
    assert!(violation.text.contains("fell from 5 to 2"), "{violation}");
    take();
    let violation = violated(&server, Statement::Tokens);
    assert!(violation.text.contains("the token 3"), "{violation}");
}

#[test]
fn a_renewal_after_its_client_has_gone_fails_the_test_at_the_servers_end() {
    let server = Server::start();
    let client = connect(&server, "");
    std::mem::forget(client.lock("n").lease(Duration::from_secs(1)).blocking().acquire().expect("free"));
    client.close_blocking(Holds::Keep);
    let url = server.direct_url();
    let renewing = std::thread::spawn(move || {
        let mut connection = redis::Client::open(url).expect("a good URL").get_connection().expect("it answers");
        while redis::cmd("PEXPIRE").arg("n").arg(1000).query::<i64>(&mut connection).is_ok() {
            std::thread::sleep(ms(100));
        }
    });
    let panic = catch_unwind(AssertUnwindSafe(|| drop(server))).expect_err("it was renewed");
    let said = panic.downcast_ref::<String>().expect("a text");
    assert!(said.contains("(d) `n` of clients that are gone was renewed"), "{said}");
    renewing.join().expect("no panic");
}

#[test]
fn a_statement_that_a_test_breaks_on_purpose_does_not_fail_it() {
    let server = Server::start();
    server.exempt(Statement::Belief, "n", "its end is changed behind its owner's back");
    let client = connect(&server, "");
    let guard = client.lock("n").blocking().acquire().expect("free");
    change(&server, &["PEXPIRE", "n", "2000"]);
    std::thread::sleep(ms(300));
    assert!(server.watch().violations().is_empty());
    drop(guard);
}

#[test]
fn the_oracle_reports_beliefs_of_another_process_until_it_is_gone() {
    let server = Server::start();
    let start = || Process::start(env!("CARGO_BIN_EXE_redlatch-worker"), &[server.url()]);
    let mut holder = start();
    assert_eq!(holder.ask("acquire n 60000"), "ok");
    std::thread::sleep(ms(200));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
    change(&server, &["PEXPIRE", "n", "1000"]);
    let violation = violated(&server, Statement::Belief);
    assert!(violation.text.contains("kind plain") && violation.name == "n", "{violation}");
    drop(holder);
    let mut view = server.view();
    eventually("its end", || (!view.exists("n")).then_some(()));
    // The rig reported it until it heard of the end of the process.
    server.watch().take_violations();

    let mut killed = start();
    assert_eq!(killed.ask("acquire m 60000"), "ok");
    drop(killed);
    change(&server, &["PEXPIRE", "m", "1000"]);
    eventually("its end", || (!view.exists("m")).then_some(()));
    assert!(server.watch().violations().is_empty(), "{:?}", server.watch().violations());
}

#[test]
fn a_token_that_another_process_was_given_is_given_to_no_other_owner() {
    let server = Server::start();
    let mut holder = Process::start(env!("CARGO_BIN_EXE_redlatch-worker"), &[server.url()]);
    assert_eq!(holder.ask("fenced n"), "ok");
    assert_eq!(holder.ask("release"), "ok");
    change(&server, &["SET", "redisson_lock_token:{n}", "0"]);
    let client = connect(&server, "");
    client.fenced_lock("n").blocking().acquire().expect("free").release().expect("held");
    let told = || server.watch().violations().into_iter().find(|seen| seen.text.contains("is that of hold"));
    eventually("a violation", told);
    server.watch().take_violations();
}
