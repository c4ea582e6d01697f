//! `redlatch doctor --scan`: the orphans among all keys, and only those.

use redlatch::Client;
use redlatch_tests::oracle::Statement;
use redlatch_tests::{Cluster, Mariadb, Server, View};
use serde_json::Value;

use super::doctor::findings;
use super::redlatch;

const CLIENT: &str = "01234567-89ab-4cde-8f01-23456789abcd";
const WHY: &str = "a copy of its keys has lost the ends";

/// The findings about orphans: the level, the text and the remedy of each.
fn orphans(server: &Server, words: &[&str]) -> Vec<(String, String, String)> {
    let (_, all) = findings(&server.url(), &[&["--scan"], words].concat());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let orphans = all.iter().filter(|finding| finding["about"] == "orphans");
    orphans.map(|finding| (text(&finding["level"]), text(&finding["text"]), text(&finding["remedy"]))).collect()
}

/// Lets a key look as if no client had used it for so many seconds.
fn age(view: &mut View, key: &str, seconds: &str) {
    let script =
        "return redis.call('RESTORE', KEYS[1], 0, redis.call('DUMP', KEYS[1]), 'REPLACE', 'IDLETIME', ARGV[1])";
    view.command::<()>(&["EVAL", script, "1", key, seconds]);
}

#[test]
fn a_lock_without_an_end_is_told_with_the_command_that_frees_it() {
    let server = Server::start();
    server.exempt(Statement::Ends, "it's 1", WHY);
    let mut view = server.view();
    view.command::<()>(&["HSET", "it's 1", &format!("{CLIENT}:7"), "1"]);
    let (code, all) = findings(&server.url(), &["--scan"]);
    let finding = all.iter().find(|finding| finding["about"] == "orphans").expect("it is told");
    assert_eq!((code, &finding["level"]), (1, &"bad".into()), "{finding}");
    assert!(
        finding["text"].as_str().is_some_and(|text| text.starts_with("1 lock has no end") && text.contains("`it's 1`"))
    );
    let remedy = finding["remedy"].as_str().expect("a remedy");
    assert!(remedy.contains(r"redlatch release 'it'\''s 1'"), "{remedy}");
    let (code, all) = findings(&server.url(), &[]);
    assert!(code == 0 && all.iter().all(|finding| finding["about"] != "orphans"), "nothing is read unasked: {all:?}");

    // The remedy heals it.
    assert_eq!(redlatch(&server.url(), &["release", "--yes", "it's 1"]).0, 0);
    assert_eq!(orphans(&server, &[])[0].0, "good");
}

#[test]
fn keys_that_may_be_in_use_or_are_of_other_programs_are_no_orphans() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("held").blocking().acquire().expect("free");
    let fenced = client.fenced_lock("fenced").blocking().acquire().expect("free");
    fenced.release().expect("held");
    let permits = client.permit_semaphore("permits");
    assert!(permits.try_set_permits(2).blocking().expect("it answers"));
    let fair = client.fair_lock("fair").blocking().acquire().expect("free");
    let waits = client.fair_lock("fair");
    let waiter = std::thread::spawn(move || waits.blocking().acquire());
    let mut view = server.view();
    let queue = "redisson_lock_queue:{fair}";
    redlatch_tests::eventually("a waiter in line", || view.exists(queue).then_some(()));
    for (key, field, value) in [
        ("user:1", "name", "Ann"),
        ("clicks", "01234567-89ab-4cde-8f01-23456789abcd:clicks", "5"),
        ("mode", "mode", "dark"),
    ] {
        server.exempt(Statement::Ends, key, "it is no lock");
        view.command::<()>(&["HSET", key, field, value]);
    }
    let owner = format!("{CLIENT}:9");
    // Its waiters may ask again yet.
    view.command::<()>(&["RPUSH", "redisson_lock_queue:{fresh}", &owner]);
    view.command::<()>(&["ZADD", "redisson_lock_timeout:{fresh}", "1", &owner]);
    let found = orphans(&server, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == "good" && found[0].1.starts_with("none; all keys were looked at in "), "{found:?}");
    fair.release().expect("held");
    waiter.join().expect("no panic").expect("it is free").release().expect("held");
    held.release().expect("held");
}

#[test]
fn queues_of_dead_waiters_are_told_once_their_locks_are_free() {
    let server = Server::start();
    let mut view = server.view();
    let owner = format!("{CLIENT}:9");
    for name in ["old", "alone", "held"] {
        view.command::<()>(&["RPUSH", &format!("redisson_lock_queue:{{{name}}}"), &owner]);
        view.command::<()>(&["ZADD", &format!("redisson_lock_timeout:{{{name}}}"), "1", &owner]);
        age(&mut view, &format!("redisson_lock_queue:{{{name}}}"), "90000");
        age(&mut view, &format!("redisson_lock_timeout:{{{name}}}"), "90000");
    }
    view.command::<()>(&["DEL", "redisson_lock_queue:{alone}"]);
    view.command::<()>(&["RPUSH", "redisson_lock_queue:{stuck}", &owner]);
    view.command::<()>(&["HSET", "held", &owner, "1"]);
    view.command::<()>(&["PEXPIRE", "held", "600000"]);
    let found = orphans(&server, &[]);
    let [(stuck, about_stuck, delete), (old, about_old, _)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((stuck.as_str(), old.as_str()), ("bad", "doubtful"));
    assert!(about_stuck.contains("`redisson_lock_queue:{stuck}`"), "{about_stuck}");
    assert!(delete.contains("redis-cli DEL 'redisson_lock_queue:{stuck}'"), "{delete}");
    assert!(about_old.starts_with("2 keys ") && about_old.contains("`redisson_lock_queue:{old}`"), "{about_old}");
    assert!(about_old.contains("`redisson_lock_timeout:{alone}`") && !about_old.contains("{held}"), "{about_old}");
}

#[test]
fn all_servers_of_a_cluster_are_looked_through() {
    let cluster = Cluster::start(3, 0);
    let owner = format!("{CLIENT}:7");
    for server in &cluster.servers {
        server.exempt(Statement::Ends, "orphan", WHY);
        let mut view = server.view();
        for number in 0..12 {
            // The others refuse it: it is not theirs.
            let _ = view.try_command::<i64>(&["HSET", &format!("orphan:{number}"), &owner, "1"]);
            let _ = view.try_command::<i64>(&["RPUSH", &format!("redisson_lock_queue:{{fair:{number}}}"), &owner]);
        }
    }
    let (_, all) = findings(&cluster.url(), &["--scan"]);
    let orphans = all.iter().filter(|finding| finding["about"] == "orphans");
    let texts: Vec<_> = orphans.filter_map(|finding| finding["text"].as_str()).collect();
    let [locks, queues] = texts.as_slice() else { panic!("{texts:?}") };
    assert!(
        locks.starts_with("12 locks have no end") && queues.starts_with("12 queues of free fair locks"),
        "{texts:?}"
    );
}

#[test]
fn of_many_orphans_ten_are_named_and_all_are_counted() {
    let server = Server::start();
    server.exempt(Statement::Ends, "many", WHY);
    let mut view = server.view();
    for number in 0..150 {
        view.command::<()>(&["HSET", &format!("many:{number}"), &format!("{CLIENT}:{number}"), "1"]);
    }
    let found = orphans(&server, &[]);
    let text = &found[0].1;
    assert!(text.starts_with("150 locks have no end") && text.ends_with(" and 140 more"), "{text}");
    assert_eq!(text.matches("`many:").count(), 10, "{text}");
}

#[test]
fn a_user_that_may_not_read_all_keys_is_told_how_many_were_left_out() {
    let server = Server::start();
    let mut view = server.view();
    let rights = "ACL SETUSER few on >secret ~few:* ~*{few:* &* +@all";
    view.command::<()>(&rights.split(' ').collect::<Vec<_>>());
    view.command::<()>(&["HSET", "user:1", "name", "Ann"]);
    let url = format!("redis://few:secret@127.0.0.1:{}", server.port());
    let (code, all) = findings(&url, &["--name", "few:doctor", "--scan"]);
    let finding = all.iter().find(|finding| finding["about"] == "orphans").expect("it is told");
    assert_eq!((code, &finding["level"]), (0, &"doubtful".into()), "{finding}");
    assert!(finding["text"].as_str().is_some_and(|text| text.starts_with("1 key could not be looked at")), "{finding}");
}

#[test]
fn a_system_with_sessions_has_none() {
    let (code, all) = findings(&Mariadb::shared().url(), &["--scan"]);
    let finding = all.iter().find(|finding| finding["about"] == "orphans").expect("it is told");
    assert_eq!((code, &finding["level"]), (0, &"good".into()), "{finding}");
}
