//! `redlatch doctor`: its findings, and what it leaves behind.

use redlatch_tests::{Mariadb, Options, Server, Zookeeper};
use serde_json::Value;

use super::redlatch;

fn findings(url: &str, words: &[&str]) -> (i32, Vec<Value>) {
    let (code, out, told) = redlatch(url, &[&["doctor", "--json"], words].concat());
    assert_eq!(told, "", "{out}");
    (code, out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}"))).collect())
}

/// The level of the finding about that, and its text.
fn about<'a>(findings: &'a [Value], about: &str) -> (&'a str, &'a str) {
    let finding = findings.iter().find(|finding| finding["about"] == about);
    let finding = finding.unwrap_or_else(|| panic!("nothing about {about}: {findings:?}"));
    assert_eq!(finding["remedy"].is_null(), finding["level"] == "good", "{finding}");
    (finding["level"].as_str().expect("a word"), finding["text"].as_str().expect("a sentence"))
}

#[test]
fn a_redis_is_told_from_its_version_to_the_news_of_a_loss() {
    let server = Server::start();
    let (code, all) = findings(&server.url(), &[]);
    assert_eq!(code, 0, "{all:?}");
    for (subject, level) in [
        ("server", "good"),
        ("memory", "good"),
        ("restart", "doubtful"),
        ("replicas", "good"),
        ("answers", "good"),
        ("clock", "good"),
        ("kinds", "good"),
        ("locks", "good"),
        ("hand-over", "good"),
        ("loss", "good"),
    ] {
        // A busy machine may be slow to answer.
        let (found, text) = about(&all, subject);
        assert!(found == level || subject == "answers", "{subject}: {text}");
    }
    assert!(about(&all, "server").1.contains(&format!("127.0.0.1:{}", server.port())), "{all:?}");
    assert_eq!(about(&all, "kinds").1, "plain, fair, fenced, read-write, token, semaphore, latch, leader work");
    let mut left = server.view().keys("*");
    left.sort();
    let tokens = ["fenced", "leader"].map(|kind| format!("redisson_lock_token:{{redlatch-doctor:{kind}}}"));
    assert_eq!(left, tokens, "it leaves tokens and nothing else");

    let (code, out, told) = redlatch(&server.url(), &["doctor"]);
    assert_eq!((code, told.as_str()), (0, ""));
    assert!(out.starts_with("✓ server ") && out.contains("\n! restart ") && out.contains(" → "), "{out}");
    assert_eq!(redlatch(&server.url(), &["doctor", "--quiet"]), (0, String::new(), String::new()));
}

#[test]
fn a_server_that_evicts_locks_ends_it_with_one() {
    let args = ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru", "--timeout", "5"].map(str::to_owned);
    let server = Server::with(Options { args: args.to_vec(), ..Options::default() });
    let (code, all) = findings(&server.url(), &[]);
    assert_eq!((code, about(&all, "memory").0, about(&all, "idle").0), (1, "bad", "doubtful"), "{all:?}");
}

#[test]
fn a_user_without_rights_is_told_which_kinds_fail() {
    let server = Server::start();
    let mut view = server.view();
    let rights = "ACL SETUSER few on >secret ~few:* &* +@all -setnx -publish -zadd -info";
    view.command::<()>(&rights.split(' ').collect::<Vec<_>>());
    let url = format!("redis://few:secret@127.0.0.1:{}", server.port());
    let (code, all) = findings(&url, &["--name", "few:doctor"]);
    assert_eq!((code, about(&all, "plain").0, about(&all, "server").0), (1, "bad", "doubtful"), "{all:?}");
    assert!(about(&all, "plain").1.contains("publish"), "{all:?}");
}

#[test]
fn other_systems_are_tried_by_real_locks() {
    for (url, kinds) in [
        (Mariadb::shared().url(), "plain, fenced, leader work"),
        (Zookeeper::shared().url(), "plain, fair, fenced, read-write, leader work"),
    ] {
        let (code, all) = findings(&url, &[]);
        assert_eq!((code, about(&all, "kinds").1), (0, kinds), "{all:?}");
        for subject in ["locks", "hand-over", "loss"] {
            assert_eq!(about(&all, subject).0, "good", "{all:?}");
        }
    }
}
