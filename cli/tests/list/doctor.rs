//! `redlatch doctor`: its findings, and what it leaves behind.

use redlatch_tests::{Cluster, Ensemble, Mariadb, Options, Server, Zookeeper, eventually};
use serde_json::Value;

use super::redlatch;

pub fn findings(url: &str, words: &[&str]) -> (i32, Vec<Value>) {
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
        ("slow log", "good"),
        ("clock", "good"),
        ("kinds", "good"),
        ("locks", "good"),
        ("hand-over", "good"),
        ("loss", "good"),
    ] {
        // A busy machine may be slow to answer.
        let (found, text) = about(&all, subject);
        assert!(found == level || ["answers", "slow log"].contains(&subject), "{subject}: {text}");
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

    // The line that is told heals all of them.
    let remedy = |all: &[Value], about: &str| {
        let finding = all.iter().find(|finding| finding["about"] == about).expect("it is told");
        let text = finding["remedy"].as_str().expect("a remedy").to_owned();
        let (_, line) = text.split_once("as an administrator: ").expect("a line");
        line.split(';').next().unwrap_or_default().to_owned()
    };
    let mut heal = |line: String| view.command::<()>(&line.split(' ').collect::<Vec<_>>());
    heal(remedy(&all, "plain"));
    heal("ACL SETUSER few ~*{few:*".into());
    let (code, all) = findings(&url, &["--name", "few:doctor"]);
    assert_eq!((code, about(&all, "server").0), (0, "good"), "{all:?}");
    assert_eq!(about(&all, "kinds").1, "plain, fair, fenced, read-write, token, semaphore, latch, leader work");

    heal("ACL SETUSER few -scan".into());
    let (_, all) = findings(&url, &["--name", "few:doctor"]);
    assert_eq!(about(&all, "lists").0, "doubtful", "{all:?}");
    heal(remedy(&all, "lists"));
    let (_, all) = findings(&url, &["--name", "few:doctor"]);
    assert!(all.iter().all(|finding| finding["about"] != "lists"), "{all:?}");
}

#[test]
fn calls_that_kept_locks_waiting_are_told() {
    let args = ["--slowlog-log-slower-than", "1000"].map(str::to_owned);
    let server = Server::with(Options { args: args.to_vec(), ..Options::default() });
    let mut view = server.view();
    view.command::<()>(&["SLOWLOG", "RESET"]);
    let endless = "local began = redis.call('TIME') for i = 1, 1000000 do i = i * 2 end";
    view.command::<()>(&["EVAL", endless, "0"]);
    let (_, all) = findings(&server.url(), &[]);
    let (level, text) = about(&all, "slow log");
    assert!(level == "doubtful" && text.contains("has noted ") && text.contains("more than 1.0 ms"), "{text}");
}

/// The time for which a server may be silent is that of one call here and there, not of hundreds.
#[test]
fn a_server_that_falls_silent_ends_it_with_a_finding() {
    let server = Server::start();
    let mut monitor = server.monitor();
    let url = format!("{}?response_timeout=0.3&retry_for=0.3", server.url());
    std::thread::scope(|scope| {
        let examined = scope.spawn(|| redlatch(&url, &["doctor", "--json"]));
        // In the midst of its pings.
        (0..20).for_each(|_| while monitor.next_seen().name() != "ping" {});
        server.pause();
        let (code, out, told) = examined.join().expect("no panic");
        server.resume();
        assert!([1, 69].contains(&code), "{out}{told}");
        assert!(out.contains("does not answer a ping") && out.contains(r#""about":"server""#), "{out}");
    });
}

#[test]
fn a_replica_is_told_and_so_is_a_server_of_a_cluster_that_is_gone() {
    let server = Server::start();
    let args = ["--replicaof", "127.0.0.1", &server.port().to_string()].map(str::to_owned);
    let replica = Server::with(Options { args: args.to_vec(), ..Options::default() });
    let (code, all) = findings(&replica.url(), &[]);
    assert_eq!((code, about(&all, "role").0), (1, "bad"), "{all:?}");
    assert!(about(&all, "plain").1.contains("READONLY"), "{all:?}");

    let cluster = Cluster::start(3, 0);
    let url = format!("{}?response_timeout=0.3&retry_for=0.3", cluster.url());
    let (code, all) = findings(&url, &[]);
    assert_eq!((code, about(&all, "kinds").0), (0, "good"), "{all:?}");
    cluster.servers[1].stop();
    for _ in 0..3 {
        let (code, all) = findings(&url, &[]);
        let gone = all.iter().find(|finding| finding["about"] == "server" && finding["level"] == "bad");
        assert!(code == 1 && gone.is_some(), "{all:?}");
    }
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

#[test]
fn replicas_are_asked_for_a_lock_and_a_master_that_is_cut_off_is_judged() {
    let server = Server::start();
    let replica = server.replica();
    // A busy machine may take longer than a replica has.
    let all = eventually("a replica that is quick", || {
        let (code, all) = findings(&server.url(), &[]);
        assert_eq!((code, about(&all, "partition").0), (0, "doubtful"), "{all:?}");
        (about(&all, "copies").0 == "good").then_some(all)
    });
    assert!(about(&all, "copies").1.starts_with("the replica had a lock "), "{all:?}");
    let mut view = server.view();
    view.command::<()>(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    assert_eq!(about(&findings(&server.url(), &[]).1, "partition").0, "good");

    // It stays connected, and confirms nothing.
    replica.pause();
    let (_, all) = findings(&server.url(), &[]);
    replica.resume();
    let (level, text) = about(&all, "copies");
    assert!(level == "doubtful" && text.starts_with("0 of 1 replica had a lock within 100 ms"), "{text}");
    assert_eq!(view.keys("*copies*"), [""; 0]);

    view.command::<()>(&["CONFIG", "SET", "min-replicas-to-write", "2"]);
    let (code, all) = findings(&format!("{}?retry_for=0.3", server.url()), &[]);
    assert_eq!((code, about(&all, "partition").0), (1, "bad"), "{all:?}");
    assert!(all.iter().all(|finding| finding["about"] != "copies"), "{all:?}");
}

#[test]
fn a_server_without_replicas_has_no_finding_about_them_but_one() {
    let (_, all) = findings(&Server::start().url(), &[]);
    assert!(
        all.iter().all(|finding| !["partition", "copies"].contains(&finding["about"].as_str().unwrap_or_default()))
    );
}

#[test]
fn a_user_that_may_not_ask_replicas_is_told_the_right() {
    let server = Server::start();
    let _replica = server.replica();
    let rights = "ACL SETUSER few on >secret ~* &* +@all -wait";
    server.view().command::<()>(&rights.split(' ').collect::<Vec<_>>());
    let url = format!("redis://few:secret@127.0.0.1:{}", server.port());
    let (code, all) = findings(&url, &[]);
    let finding = all.iter().find(|finding| finding["about"] == "copies").expect("it is told");
    assert_eq!((code, &finding["level"]), (0, &"doubtful".into()), "{finding}");
    assert!(finding["remedy"].as_str().is_some_and(|remedy| remedy.ends_with("ACL SETUSER few +wait")), "{finding}");
}

#[test]
fn a_mariadb_is_told_with_what_it_lacks_for_a_kind() {
    let server = Mariadb::shared();
    let (code, all) = findings(&server.url(), &[]);
    assert_eq!((code, about(&all, "server").0, about(&all, "session").0), (0, "good", "good"), "{all:?}");
    assert!(about(&all, "session").1.contains("30 s after its machine vanishes"), "{all:?}");
    let short = format!("{}?watchdog=6.5", server.url());
    assert!(about(&findings(&short, &[]).1, "session").1.contains("7 s after"), "rounded up to whole seconds");

    // A schema without the tables.
    let bare = server.url().replace("/app", "/bare").replace("//bare", "//app");
    let (code, all) = findings(&bare, &[]);
    assert_eq!((code, about(&all, "kinds").1), (0, "plain works"), "{all:?}");
    for kind in ["fenced", "leader"] {
        let finding = all.iter().find(|finding| finding["about"] == kind).expect("it is told");
        assert_eq!(finding["level"], "doubtful", "{finding}");
        assert!(
            finding["remedy"].as_str().is_some_and(|remedy| remedy.contains("CREATE TABLE redlatch_")),
            "{finding}"
        );
    }
}

#[test]
fn a_zookeeper_is_told_with_its_version_its_role_and_its_sessions() {
    let (code, all) = findings(&Zookeeper::shared().url(), &[]);
    assert_eq!((code, about(&all, "server").0, about(&all, "session").0), (0, "good", "good"), "{all:?}");
    let text = about(&all, "server").1;
    assert!(text.starts_with("ZooKeeper 3.") && text.contains(", standalone"), "{text}");

    let limits = Zookeeper::with(&["minSessionTimeout=4000", "maxSessionTimeout=8000"]);
    let (code, all) = findings(&limits.url(), &[]);
    let (level, text) = about(&all, "session");
    assert!(code == 0 && level == "doubtful" && text.contains("about 8 s, and not for the 30 s"), "{text}");
    let fitting = format!("{}?watchdog=8", limits.url());
    assert_eq!(about(&findings(&fitting, &[]).1, "session").0, "good");
    let shorter = format!("{}?watchdog=2", limits.url());
    let (_, all) = findings(&shorter, &[]);
    let (level, text) = about(&all, "session");
    assert!(
        level == "doubtful" && text.contains("keeps its locks for 4 s") && text.contains("not for the 2 s"),
        "{text}"
    );
}

#[test]
fn each_server_of_an_ensemble_is_told_and_so_is_one_that_is_gone() {
    let ensemble = Ensemble::start(3);
    let servers = |url: &str| {
        let (code, all) = findings(url, &[]);
        let servers: Vec<_> = all.into_iter().filter(|finding| finding["about"] == "server").collect();
        (code, servers)
    };
    let (code, all) = servers(&ensemble.url());
    assert!(code == 0 && all.len() == 3 && all.iter().all(|finding| finding["level"] == "good"), "{all:?}");
    let leads = |finding: &&Value| finding["text"].as_str().is_some_and(|text| text.ends_with(", leader"));
    assert_eq!(all.iter().filter(leads).count(), 1, "{all:?}");

    let (_, all) = servers(&ensemble.members()[0].url());
    assert!(all.len() == 1 && all[0]["level"] == "doubtful", "one of several is too few for a URL: {all:?}");
    ensemble.members()[ensemble.followers()[0]].kill();
    let (code, all) = servers(&ensemble.url());
    assert_eq!((code, all.iter().filter(|finding| finding["level"] == "doubtful").count()), (0, 1), "{all:?}");
}

#[test]
fn a_mariadb_that_keeps_no_locks_is_told_and_no_lock_is_tried() {
    let server = Mariadb::with(&["--version=10.0.1-MariaDB"]);
    let (code, all) = findings(&server.url(), &[]);
    assert_eq!((code, all.len(), about(&all, "server").0), (1, 1, "bad"), "{all:?}");
    assert!(about(&all, "server").1.contains("keep one lock at a time"), "{all:?}");
}
