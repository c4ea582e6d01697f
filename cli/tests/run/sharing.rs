//! Readers, writers and permits.

use redlatch_tests::Server;

use crate::process::STAYS;
use crate::{Running, run};

fn stays(server: &Server, words: &[&str]) -> Running {
    let running = Running::start(&server.url(), &[words, &["sh", "-c", STAYS]].concat());
    running.number("pid");
    running
}

#[test]
fn shared_commands_run_side_by_side_and_exclusive_ones_alone() {
    let server = Server::start();
    let code = |words: &[&str]| run(&server.url(), &[&["-n"], words, &["n", "true"]].concat()).code;
    {
        let _one = stays(&server, &["--shared", "n"]);
        let _other = stays(&server, &["--shared", "n"]);
        assert_eq!(code(&["--shared"]), 0);
        assert_eq!(code(&["--exclusive"]), 75);
    }
    server.view().command::<()>(&["FLUSHALL"]);
    let _writer = stays(&server, &["--exclusive", "n"]);
    assert_eq!(code(&["--shared"]), 75);
    assert_eq!(code(&["--exclusive"]), 75);
}

#[test]
fn as_many_commands_run_as_there_are_permits() {
    let server = Server::start();
    let words = ["--permits", "2", "n"];
    let one = stays(&server, &words);
    let _other = stays(&server, &words);
    let third = run(&server.url(), &["-n", "--permits", "2", "n", "true"]);
    assert_eq!(third.code, 75);
    assert!(third.told.contains("`n` was not acquired now: its 2 permits are out"), "{}", third.told);
    one.signal(rustix::process::Signal::TERM);
    let mut one = one;
    assert_eq!(one.code(), 143);
    assert_eq!(run(&server.url(), &["-n", "--permits", "2", "n", "true"]).code, 0);
}

#[test]
fn another_number_of_permits_than_is_set_is_refused() {
    let server = Server::start();
    assert_eq!(run(&server.url(), &["--permits", "2", "n", "true"]).code, 0);
    let other = run(&server.url(), &["--permits", "3", "n", "true"]);
    assert_eq!(other.code, 64, "{}", other.told);
    assert!(other.told.contains("`n` has 2 permits, and --permits asks for 3"), "{}", other.told);
}
