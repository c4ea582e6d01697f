//! `--at-least`: the lock outlives a short command.

use redlatch_tests::{Server, Zookeeper};

use crate::process::{Folder, STAYS, delete, ends};
use crate::{Running, run};

fn left(server: &Server) -> i64 {
    server.view().pttl("n")
}

#[test]
fn the_lock_is_kept_for_what_is_missing_after_a_short_command() {
    let server = Server::start();
    for words in [vec!["n"], vec!["--fair", "n"], vec!["--lease", "5s", "n"]] {
        let ended = run(&server.url(), &[&["--at-least", "50s"], &words[..], &["true"]].concat());
        assert_eq!((ended.code, ended.told.as_str()), (0, ""));
        let left = left(&server);
        assert!((40_000..=50_000).contains(&left), "{words:?}: {left}");
        assert_eq!(run(&server.url(), &["-n", "n", "true"]).code, 75);
        delete(&server);
    }
}

/// The lease is 30 s: the lock would last as long after a renewal.
#[test]
fn the_lock_is_kept_no_longer_than_that() {
    let server = Server::start();
    let ended = run(&server.url(), &["--at-least", "2s", "n", "sleep", "0.5"]);
    assert_eq!(ended.code, 0, "{}", ended.told);
    let left = left(&server);
    assert!((1..=1_500).contains(&left), "{left}");
}

#[test]
fn after_a_longer_command_the_lock_is_free() {
    let server = Server::start();
    assert_eq!(run(&server.url(), &["--at-least", "200ms", "n", "sleep", "0.3"]).code, 0);
    assert!(!server.view().exists("n"));
}

#[test]
fn the_lock_is_renewed_while_a_command_runs_that_is_longer_than_the_lease() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--at-least", "1s", "--lease", "2s", "n", "sleep", "5"]);
    assert_eq!(running.code(), 0, "{}", running.told());
    assert!(!server.view().exists("n"));
}

#[test]
fn the_lock_of_a_command_that_failed_is_kept_as_well_and_that_of_a_killed_redlatch_ends_with_its_lease() {
    let server = Server::start();
    assert_eq!(run(&server.url(), &["--at-least", "50s", "n", "false"]).code, 1);
    assert!(left(&server) > 40_000);
    delete(&server);

    let mut running = Running::start(&server.url(), &["--at-least", "1h", "n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    running.kill();
    ends(command);
    let left = left(&server);
    assert!((1..=30_000).contains(&left), "{left}");
}

#[test]
fn a_loss_is_told_with_a_kept_lock_too() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--at-least", "1h", "n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    delete(&server);
    assert_eq!(running.code(), 76, "{}", running.told());
    ends(command);
    assert!(!server.view().exists("n"));
}

#[test]
fn a_permit_and_a_reader_are_kept_as_well() {
    let server = Server::start();
    assert_eq!(run(&server.url(), &["--at-least", "50s", "--permits", "1", "p", "true"]).code, 0);
    assert_eq!(run(&server.url(), &["-n", "--permits", "1", "p", "true"]).code, 75);
    assert_eq!(run(&server.url(), &["--at-least", "50s", "--shared", "rw", "true"]).code, 0);
    assert_eq!(run(&server.url(), &["-n", "--exclusive", "rw", "true"]).code, 75);
    assert_eq!(run(&server.url(), &["-n", "--shared", "rw", "true"]).code, 0);
}

#[test]
fn a_system_that_ends_a_lock_with_its_session_refuses_that() {
    let folder = Folder::new();
    let script = format!("touch {}", folder.path("ran").display());
    let ended = run(&Zookeeper::shared().url(), &["--at-least", "50s", "kept", "sh", "-c", &script]);
    assert_eq!(ended.code, 64);
    assert!(ended.told.contains("--at-least keeps `kept` beyond the end of redlatch"), "{}", ended.told);
    assert!(!folder.path("ran").exists());
}
