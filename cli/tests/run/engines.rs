//! Locks of MariaDB and ZooKeeper.

use redlatch_tests::{Mariadb, Zookeeper};

use crate::process::{STAYS, lives};
use crate::{Running, run};

const SHOW: &str = "echo $REDLATCH_NAME ${REDLATCH_TOKEN:-none}";

fn excludes(url: &str, name: &str) {
    let mut running = Running::start(url, &[name, "sh", "-c", STAYS]);
    running.number("pid");
    assert_eq!(run(url, &["-n", name, "true"]).code, 75);
    running.signal(rustix::process::Signal::TERM);
    assert_eq!(running.code(), 143, "{}", running.told());
    assert_eq!(run(url, &["-n", name, "true"]).code, 0);
}

#[test]
fn a_lock_of_mariadb_excludes_and_has_a_token() {
    let url = Mariadb::shared().url();
    excludes(&url, "cli");
    let tokens: Vec<i64> = (0..2)
        .map(|_| {
            let ended = run(&url, &["cli-token", "sh", "-c", SHOW]);
            let (name, token) = ended.out.trim().split_once(' ').unwrap_or_else(|| panic!("{ended:?}"));
            assert_eq!(name, "cli-token");
            token.parse().unwrap_or_else(|_| panic!("{ended:?}"))
        })
        .collect();
    assert!(tokens[0] < tokens[1], "{tokens:?}");
}

#[test]
fn a_lock_of_mariadb_without_the_table_of_tokens_has_none() {
    let url = Mariadb::shared().url();
    let none = url.trim_end_matches("/app").to_owned();
    for url in [format!("{none}/bare"), none] {
        let ended = run(&url, &["cli-bare", "sh", "-c", SHOW]);
        assert_eq!((ended.code, ended.out.as_str()), (0, "cli-bare none\n"), "{}", ended.told);
        excludes(&url, "cli-bare");
    }
}

#[test]
fn a_lock_of_zookeeper_excludes_and_has_a_token() {
    let url = Zookeeper::shared().url();
    excludes(&url, "cli");
    let ended = run(&url, &["cli", "sh", "-c", SHOW]);
    assert!(ended.out.trim().strip_prefix("cli ").is_some_and(|token| token.parse::<i64>().is_ok()), "{ended:?}");
}

#[test]
fn a_kind_that_a_system_does_not_have_is_64() {
    let ended = run(&Mariadb::shared().url(), &["--fair", "cli", "true"]);
    assert_eq!(ended.code, 64, "{}", ended.told);
    assert!(ended.told.contains("fair"), "{}", ended.told);
}

/// A session is believed in by signs of life that are proven only later.
#[test]
fn a_command_that_is_longer_than_the_lease_goes_on_beside_a_server_that_is_well() {
    let urls = [Mariadb::shared().url(), Zookeeper::shared().url()];
    let start = |url: &String| Running::start(url, &["--lease", "10s", "cli-long", "sleep", "12"]);
    for mut running in urls.each_ref().map(start) {
        assert_eq!((running.code(), running.told().as_str()), (0, ""));
    }
}

#[test]
fn a_silent_server_of_sessions_has_the_command_dead_before_the_session_ends() {
    let server = Zookeeper::start();
    let mut running = Running::start(&server.url(), &["--lease", "6s", "cli-silent", "sh", "-c", STAYS]);
    let command = running.number("pid");
    server.pause();
    assert_eq!(running.code(), 76, "{}", running.told());
    assert!(!lives(command));
    assert!(running.told().contains("was not confirmed by the server"), "{}", running.told());
    server.resume();
}

#[test]
fn the_end_of_a_session_ends_the_command() {
    let server = Mariadb::start();
    let mut running = Running::start(&server.url(), &["ended", "sh", "-c", STAYS]);
    running.number("pid");
    server.stop();
    assert_eq!(running.code(), 76, "{}", running.told());
    assert!(running.told().contains("`ended` is lost"), "{}", running.told());
}
