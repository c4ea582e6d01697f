//! `redlatch elect`: one command runs among all, and the next one when that process leads no more.

use redlatch::{Client, CurrentLeader};
use redlatch_tests::{Mariadb, Server, Zookeeper, eventually, ports};
use rustix::process::Signal;

use crate::Running;
use crate::process::{Ended, Folder, ends, lives, subcommand};

/// Notes each start with its token, and stays.
const STAYS: &str = "echo $REDLATCH_TOKEN >> $DIR/tokens; echo $$ > $DIR/pid; exec sleep 60";

fn elect(url: &str, words: &[&str]) -> Running {
    Running::with(subcommand("elect", url).args(words))
}

fn leader(url: &str, name: &str) -> Option<CurrentLeader> {
    let client = Client::connect(url).expect("a client");
    client.leader(name).current().blocking().expect("it answers")
}

/// The tokens of the terms in which the command has begun so far.
fn tokens(running: &Running) -> Vec<i64> {
    running.read("tokens").lines().map(|token| token.parse().expect("a number")).collect()
}

fn one_command_runs_and_then_that_of_the_next_leader(url: &str, name: &str) {
    let ends_with = "echo $REDLATCH_TOKEN > $DIR/tokens; until [ -e $DIR/end ]; do sleep 0.02; done; exit 7";
    let mut first = elect(url, &["--value", "one", name, "sh", "-c", ends_with]);
    let token = i64::from(first.number("tokens"));
    let now = leader(url, name).expect("one leads");
    assert_eq!((now.value.as_str(), now.token), ("one", Some(token)));
    let mut second = elect(url, &["--value", "two", name, "sh", "-c", STAYS]);
    assert!(!second.has_ended() && second.read("tokens").is_empty());
    std::fs::write(first.path("end"), "").expect("the folder is there");
    assert_eq!(first.code(), 7, "{}", first.told());
    let next = i64::from(second.number("tokens"));
    assert!(next > token, "{next} after {token}");
    assert_eq!(leader(url, name).expect("one leads").value, "two");
    second.signal(Signal::TERM);
    assert_eq!(second.code(), 143, "the command's own end: {}", second.told());
    assert!(leader(url, name).is_none());
}

#[test]
fn one_command_runs_and_then_that_of_the_next_leader_on_redis() {
    let server = Server::start();
    one_command_runs_and_then_that_of_the_next_leader(&server.url(), "n");
    assert!(!server.view().exists("n") && !server.view().exists("redlatch_leader:{n}"));
}

#[test]
fn one_command_runs_and_then_that_of_the_next_leader_on_mariadb() {
    one_command_runs_and_then_that_of_the_next_leader(&Mariadb::shared().url(), "cli-elected");
}

#[test]
fn one_command_runs_and_then_that_of_the_next_leader_on_zookeeper() {
    one_command_runs_and_then_that_of_the_next_leader(&Zookeeper::shared().url(), "cli-elected");
}

#[test]
fn a_command_begins_again_when_its_process_leads_again() {
    let server = Server::start();
    let mut running = elect(&server.url(), &["n", "sh", "-c", STAYS]);
    for round in 1..=3 {
        eventually("a start", || (tokens(&running).len() == round && running.path("pid").exists()).then_some(()));
        let command = running.number("pid");
        std::fs::remove_file(running.path("pid")).expect("it is there");
        server.view().command::<()>(&["DEL", "n"]);
        ends(command);
    }
    eventually("a start", || (tokens(&running).len() == 4).then_some(()));
    assert!(tokens(&running).is_sorted_by(|one, other| one < other), "{:?}", tokens(&running));
    assert!(!running.has_ended());
    let told = running.told();
    assert!(told.contains("`n` is lost") && told.contains("deleted"), "{told}");
}

/// The command takes longer to end than the signal to come.
#[test]
fn a_signal_that_comes_while_a_command_is_ended_ends_the_process_as_well() {
    let server = Server::start();
    let ignores = "trap 'echo TERM >> $DIR/term' TERM; echo $$ > $DIR/pid; while :; do sleep 0.02; done";
    let mut running = elect(&server.url(), &["--grace", "3s", "n", "sh", "-c", ignores]);
    let command = running.number("pid");
    server.view().command::<()>(&["DEL", "n"]);
    running.line("term");
    running.signal(Signal::INT);
    assert_eq!(running.code(), 76, "{}", running.told());
    assert!(!lives(command));
    assert!(!server.view().exists("n"));
}

#[test]
fn a_signal_ends_a_process_that_stands_and_it_leaves_nothing() {
    let redis = Server::start();
    for url in [redis.url(), Mariadb::shared().url(), Zookeeper::shared().url()] {
        let client = Client::connect(&url).expect("a client");
        let term = client.leader("cli-stands").value("other").lead().blocking().expect("no other candidate");
        let mut stands = elect(&url, &["--json", "cli-stands", "sh", "-c", STAYS]);
        eventually("a candidate", || stands.told().contains("stands").then_some(()));
        stands.signal(Signal::TERM);
        assert_eq!(stands.code(), 143, "{}", stands.told());
        term.release_blocking().expect("it leads");
        assert!(leader(&url, "cli-stands").is_none());
    }
}

#[test]
fn a_server_that_is_away_for_a_while_does_not_end_the_process() {
    let server = Server::start();
    let url = format!("{}?retry_for=0.5&connect_timeout=0.5", server.url());
    let mut running = elect(&url, &["--lease", "1.5s", "n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    server.stop();
    ends(command);
    eventually("a report", || running.told().contains("goes on standing for `n`").then_some(()));
    assert!(!running.has_ended());
    server.restart();
    eventually("a new start", || (tokens(&running).len() == 2).then_some(()));
    assert!(!running.has_ended());
}

#[test]
fn a_server_that_never_answered_is_69_and_words_without_sense_are_64() {
    let none = format!("redis://127.0.0.1:{}?retry_for=0.2", ports::free());
    for (url, words, code, told) in [
        (none.as_str(), vec!["n", "true"], 69, "`n` was not acquired"),
        (none.as_str(), vec!["--on-lost", "keep", "n", "true"], 64, "two leaders"),
        (none.as_str(), vec!["n"], 64, "write: redlatch elect NAME"),
    ] {
        let ended = Ended::of(subcommand("elect", url).args(&words).output().expect("it starts"));
        assert_eq!(ended.code, code, "{words:?}: {}", ended.told);
        assert!(ended.told.contains(told), "{words:?}: {}", ended.told);
    }
}

/// A lock of the system, which dies with its process, is the oracle.
#[test]
fn no_two_commands_run_when_leaders_are_killed() {
    let server = Server::start();
    let folder = Folder::new();
    let here = folder.0.display().to_string();
    let script = format!(
        "exec 9> {here}/oracle; flock -n 9 || echo overlap >> {here}/overlaps; echo $PPID > {here}/leader; \
         echo $REDLATCH_TOKEN >> {here}/tokens; exec sleep 60"
    );
    let start = || elect(&server.url(), &["--lease", "1s", "n", "sh", "-c", &script]);
    let mut all: Vec<Running> = (0..3).map(|_| start()).collect();
    for round in 1..=12 {
        eventually("a leader", || (folder.read("tokens").lines().count() >= round).then_some(()));
        let leads: i32 = eventually("its process", || folder.read("leader").trim().parse().ok());
        let at = all.iter().position(|one| one.pid().as_raw_pid() == leads).expect("one of them");
        all[at].kill();
        all[at] = start();
    }
    assert_eq!(folder.read("overlaps"), "");
    let tokens: Vec<i64> = folder.read("tokens").lines().map(|token| token.parse().expect("a number")).collect();
    assert!(tokens.is_sorted_by(|one, other| one < other), "{tokens:?}");
}
