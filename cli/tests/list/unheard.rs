//! Answers that standard output does not take: a full disk must not pass for a command that has answered.

use std::fs::File;

use super::*;

/// The exit code of a command whose system does not do its part.
const SYSTEM: i32 = 71;

/// The exit code of the command, and its lines about its trouble, on a full disk.
fn unheard(url: &str, words: &[&str]) -> (Option<i32>, String) {
    let out = File::options().write(true).open("/dev/full").expect("it is there");
    let ended = command(url, words).stdout(out).output().expect("it starts");
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure_that_names_the_output() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let _held = client.lock("held").blocking().acquire().expect("free");
    for words in [
        ["ls"].as_slice(),
        &["ls", "--json"],
        &["ls", "none*"],
        &["who", "held"],
        &["who", "free"],
        &["who", "--json", "held"],
        &["release", "--yes", "free"],
        &["doctor"],
        &["doctor", "--json"],
        &["server"],
        &["server", "--json"],
        &["bench", "--time", "100ms"],
    ] {
        let (code, told) = unheard(&server.url(), words);
        assert_eq!(code, Some(SYSTEM), "{words:?}: {told}");
        assert!(told.contains("cannot be written to standard output"), "{words:?}: {told}");
        assert_eq!(told.lines().count(), 1, "{words:?}: {told}");
    }
}

#[test]
fn a_release_whose_answer_cannot_be_written_says_that_the_lock_was_taken_away() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("held").blocking().acquire().expect("free");
    let (code, told) = unheard(&server.url(), &["release", "--yes", "held"]);
    assert_eq!(code, Some(SYSTEM), "{told}");
    assert!(told.contains("`held` was taken from") && told.contains("cannot be written"), "{told}");
    eventually("the loss", || held.ensure().is_err().then_some(()));
}

#[test]
fn a_quiet_command_has_no_answer_to_write() {
    let server = Server::start();
    for (words, wanted) in [(["who", "--quiet", "free"], 1), (["doctor", "--quiet", "--name=n"], 0)] {
        let (code, told) = unheard(&server.url(), &words);
        assert_eq!((code, told.as_str()), (Some(wanted), ""), "{words:?}");
    }
}
