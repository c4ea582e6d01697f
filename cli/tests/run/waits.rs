//! Waiting, and what several commands of one name do.

use redlatch::Client;
use redlatch_tests::{Server, eventually, ms, secs};

use crate::process::Ended;
use crate::{Folder, Running, redlatch, run};

#[test]
fn a_wait_without_an_end_goes_on_when_the_lock_is_released() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a client");
    for words in [vec!["n"], vec!["-w", "20", "n"]] {
        let guard = client.lock("n").blocking().acquire().expect("it is free");
        let mut waiting = Running::start(&server.url(), &[&words[..], &["sh", "-c", "echo ran > $DIR/ran"]].concat());
        eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
        assert!(!waiting.has_ended());
        guard.release().expect("it is held");
        assert_eq!(waiting.code(), 0, "{}", waiting.told());
        assert_eq!(waiting.line("ran"), "ran");
    }
}

/// The keys of `getLock` of Redisson, by a client that is not ours.
#[test]
fn a_lock_of_redisson_is_waited_for_and_its_message_wakes() {
    let server = Server::start();
    let mut view = server.view();
    let owner = "6f1b1c9e-0000-4000-8000-000000000000:31";
    view.command::<()>(&["HSET", "n", owner, "1"]);
    view.command::<()>(&["PEXPIRE", "n", "30000"]);
    assert_eq!(run(&server.url(), &["-n", "n", "true"]).code, 75);
    let mut waiting = Running::start(&server.url(), &["n", "sh", "-c", "echo ran > $DIR/ran"]);
    eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
    view.command::<()>(&["DEL", "n"]);
    view.command::<()>(&["PUBLISH", "redisson_lock__channel:{n}", "0"]);
    assert_eq!(waiting.code(), 0, "{}", waiting.told());
}

#[test]
fn redisson_sees_the_lock_of_a_command() {
    let server = Server::start();
    let running = Running::start(&server.url(), &["n", "sh", "-c", "echo $REDLATCH_OWNER > $DIR/owner; exec sleep 60"]);
    let owner = running.line("owner");
    let mut view = server.view();
    assert_eq!(view.hgetall("n").into_iter().collect::<Vec<_>>(), [(owner, "1".to_owned())]);
    let left = view.pttl("n");
    assert!((1..=30_000).contains(&left), "{left}");
    let client = Client::connect(&server.url()).expect("a client");
    assert!(client.lock("n").blocking().try_acquire().expect("it answers").is_none());
}

#[test]
fn ten_commands_of_one_name_run_one_after_the_other() {
    let server = Server::start();
    let folder = Folder::new();
    // A second command would find the folder of the first one.
    let script =
        format!("mkdir {0}/in && sleep 0.02 && rmdir {0}/in && echo $REDLATCH_TOKEN >> {0}/tokens", folder.0.display());
    let start = || {
        let mut command = redlatch(&server.url());
        command.args(["n", "sh", "-c", &script]).stderr(std::process::Stdio::piped()).spawn().expect("it starts")
    };
    let children: Vec<_> = (0..10).map(|_| start()).collect();
    for child in children {
        let ended = Ended::of(child.wait_with_output().expect("it ends"));
        assert_eq!((ended.code, ended.told.as_str()), (0, ""));
    }
    let tokens: Vec<i64> = folder.read("tokens").lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(tokens.len(), 10);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

#[test]
fn a_fair_lock_serves_waiters_in_their_order() {
    let server = Server::start();
    let folder = Folder::new();
    let client = Client::connect(&server.url()).expect("a client");
    let guard = client.fair_lock("n").blocking().acquire().expect("it is free");
    let script = |number: usize| format!("echo {number} >> {}", folder.path("order").display());
    let mut waiting = Vec::new();
    for number in 0..4 {
        waiting.push(Running::start(&server.url(), &["--fair", "n", "sh", "-c", &script(number)]));
        eventually("its place in the queue", || {
            let queue: i64 = server.view().command(&["LLEN", "redisson_lock_queue:{n}"]);
            (queue == number as i64 + 1).then_some(())
        });
    }
    guard.release().expect("it is held");
    for running in &mut waiting {
        assert_eq!(running.code(), 0, "{}", running.told());
    }
    assert_eq!(folder.read("order"), "0\n1\n2\n3\n");
}

#[test]
fn a_waiter_survives_a_restart_of_the_server() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a client");
    let guard = client.lock("n").lease(secs(60)).blocking().acquire().expect("it is free");
    let mut waiting = Running::start(&server.url(), &["n", "sh", "-c", "exit 7"]);
    eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
    server.restart();
    assert_eq!(waiting.code(), 7, "{}", waiting.told());
    assert!(guard.ensure().is_err() || guard.deadline().is_some_and(|at| at.elapsed() < ms(1)));
}
