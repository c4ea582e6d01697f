//! `redlatch ls`, `who`, `release`, `doctor` and `bench` on real servers, as an operator uses them.

mod bench;
mod doctor;
mod orphans;
mod release;
mod tail;
mod top;
mod unheard;

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use redlatch::Client;
use redlatch_tests::{Mariadb, Options, Server, Terminal, eventually, secs};

fn command(url: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redlatch"));
    command.args(words).env("REDLATCH_URL", url).env_remove("REDIS_URL").stdin(Stdio::null());
    command
}

fn redlatch(url: &str, words: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command(url, words).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().expect("it ends by itself"), text(stdout), text(stderr))
}

/// The path of a file that is not there yet.
fn scratch() -> std::path::PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("redlatch-{}-list-{count}", std::process::id()))
}

/// Takes a lock whose name is no UTF-8, as a client of another library may. Listings show it as `bad\u{fffd}`.
fn take_unreadable(server: &Server) {
    let take = "redis.call('HSET', 'bad\\255', ARGV[1], 1); redis.call('PEXPIRE', 'bad\\255', 600000)";
    server.view().command::<()>(&["EVAL", take, "0", "6f1b1c9e-1d1f-4d0e-9f55-0d3a43c5b001:31"]);
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells").trim().to_owned()
}

#[test]
fn ls_shows_each_lock_with_its_holder_and_no_invented_age() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    let read = client.read_write_lock("orders:77").read();
    let readers = [read.clone().blocking().acquire().expect("free"), read.blocking().acquire().expect("readers share")];
    let other = client.lock("other").blocking().acquire().expect("free");
    let (code, out, told) = redlatch(&server.url(), &["ls", "orders:*"]);
    assert_eq!((code, told.as_str()), (0, ""), "{out}");
    let lines: Vec<Vec<&str>> =
        out.lines().map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect()).collect();
    let process = format!("{}:{}", host(), std::process::id());
    assert_eq!(
        lines[0].iter().map(|cell| cell.trim()).collect::<Vec<_>>(),
        ["NAME", "KIND", "HOLDER", "FOR", "ENDS", "WAIT"]
    );
    assert_eq!(
        lines[1].iter().map(|cell| cell.trim()).take(4).collect::<Vec<_>>(),
        ["orders:42", "plain", &process, "?"]
    );
    assert_eq!(
        lines[2].iter().map(|cell| cell.trim()).take(4).collect::<Vec<_>>(),
        ["orders:77", "read", "2 readers", "?"]
    );
    assert!(lines[3][0].starts_with("2 locks in ") && lines.len() == 4, "{out}");

    let (code, out, told) = redlatch(&server.url(), &["ls", "--json", "orders:*"]);
    assert_eq!((code, told.as_str()), (0, ""));
    let mut objects: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}"))).collect();
    objects.sort_by_key(|object| object["name"].to_string());
    assert_eq!(objects.len(), 2, "{out}");
    assert_eq!((&objects[0]["name"], &objects[0]["kind"]), (&"orders:42".into(), &"plain".into()));
    assert!(objects[0]["held_ms"].is_null() && objects[0]["ends_ms"].as_u64().is_some_and(|ms| ms <= 30_000), "{out}");
    let holder = &objects[0]["holders"][0];
    assert_eq!(holder["client"], client.id());
    assert_eq!((&holder["host"], &holder["process"]), (&host().into(), &std::process::id().into()));

    readers.into_iter().for_each(|guard| guard.release().expect("held"));
    held.release().expect("held");
    other.release().expect("held");
    let (code, out, _) = redlatch(&server.url(), &["ls", "orders:*"]);
    assert!(code == 0 && out.starts_with("no lock is held whose name matches `orders:*`"), "{out}");
}

#[test]
fn wide_letters_move_no_column() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let names = ["orders:42", "在庫:東京", "🔒🔒"];
    let held = names.map(|name| client.lock(name).blocking().acquire().expect("free"));
    let (code, out, told) = redlatch(&server.url(), &["ls"]);
    assert_eq!((code, told.as_str()), (0, ""), "{out}");
    for name in names {
        let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {out}"));
        let before = line.split("plain").next().expect("a split has a first part");
        let columns: usize = before.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
        assert_eq!(columns, "orders:42  ".len(), "{name} in {out}");
    }
    held.into_iter().for_each(|guard| guard.release().expect("held"));
}

#[test]
fn an_object_has_no_letter_that_changes_a_terminal() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let name = "n\u{9b}2J\u{202e}x";
    let held = client.lock(name).blocking().acquire().expect("free");
    for words in [["ls", "--json", "*"], ["who", "--json", name]] {
        let (code, out, told) = redlatch(&server.url(), &words);
        assert_eq!((code, told.as_str()), (0, ""), "{out}");
        assert!(out.contains(r"n\u009b2J\u202ex"), "{out:?}");
        let object: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{out}: {why}"));
        assert_eq!(object["name"], name);
    }
    held.release().expect("held");
}

#[test]
fn a_name_that_is_no_utf_8_cannot_be_asked_for() {
    let server = Server::start();
    take_unreadable(&server);
    let (code, out, _) = redlatch(&server.url(), &["ls"]);
    assert!(code == 0 && out.contains("bad\u{fffd}  plain"), "{out}");
    for words in [&["who", "bad\u{fffd}"][..], &["release", "-y", "bad\u{fffd}"]] {
        let (code, out, told) = redlatch(&server.url(), words);
        assert_eq!((code, out.as_str()), (64, ""), "{told}");
        assert!(told.contains("no UTF-8") && told.contains("redis-cli"), "{told}");
    }
}

#[test]
fn ls_fits_the_terminal() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let name = "orders:".repeat(20);
    let held = client.lock(&name).blocking().acquire().expect("free");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "stty cols 80; exec \"$0\" ls", env!("CARGO_BIN_EXE_redlatch")])
        .env("REDLATCH_URL", server.url());
    let terminal = Terminal::start(&shell);
    terminal.sees("orders:orders:");
    terminal.sees("…");
    terminal.sees("1 lock in ");
    let (_, out, _) = redlatch(&server.url(), &["ls"]);
    assert!(out.contains(&name), "a pipe has the whole name: {out}");
    held.release().expect("held");
}

#[test]
fn ls_shows_a_name_of_the_greatest_length_and_the_others_in_short_lines() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let name = "n".repeat(65_536);
    let held = [name.as_str(), "short"].map(|name| client.lock(name).blocking().acquire().expect("free"));
    let (code, out, told) = redlatch(&server.url(), &["ls"]);
    assert_eq!((code, told.as_str()), (0, ""));
    assert!(out.contains(&name) && out.lines().any(|line| line.starts_with("short ") && line.len() < 300));
    held.into_iter().for_each(|guard| guard.release().expect("held"));
}

#[test]
fn who_names_the_holder_and_the_waiters_and_its_code_tells_whether_the_lock_is_free() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let waiter = Client::connect(&server.url()).expect("a good URL");
    let (code, out, _) = redlatch(&server.url(), &["who", "a*"]);
    assert_eq!((code, out.as_str()), (1, "`a*` is free\n"));
    let held = client.fair_lock("a*").owner(7).blocking().acquire().expect("free");
    let other = client.lock("ab").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let lock = waiter.fair_lock("a*").wait(secs(30)).blocking();
        scope.spawn(move || lock.acquire().expect("released").release().expect("held"));
        eventually("a waiter", || server.view().exists("redisson_lock_queue:{a*}").then_some(()));
        let (code, out, told) = redlatch(&server.url(), &["who", "a*"]);
        assert_eq!((code, told.as_str()), (0, ""));
        let process = format!("{}:{}", host(), std::process::id());
        assert!(out.contains("`a*` is held, kind fair"), "{out}");
        assert!(out.contains(&format!("held by  {process} (client {}, owner 7), once", client.id())), "{out}");
        assert!(out.contains("for      an unknown time"), "{out}");
        assert!(out.contains("waits    1 owner, in this order"), "{out}");
        assert!(out.contains(&format!("1  {process} (client {}", waiter.id())), "{out}");
        held.release().expect("held");
    });
    let (code, out, _) = redlatch(&server.url(), &["who", "ab"]);
    assert!(
        code == 0 && out.starts_with("`ab` is held, kind plain, spin, non-reentrant, or fair without waiters\n"),
        "{out}"
    );
    other.release().expect("held");
    assert_eq!(redlatch(&server.url(), &["who", "--quiet", "a*"]), (1, String::new(), String::new()));
}

#[test]
fn a_server_that_cannot_tell_ends_with_a_sentence_and_a_code_and_no_password() {
    const SECRET: &str = "hunter2-is-the-word";
    let server = Server::with(Options { password: Some("another".into()), ..Options::default() });
    for (url, code) in [
        (format!("redis://:{SECRET}@127.0.0.1:{}", server.port()), 77),
        (format!("redis://:{SECRET}@127.0.0.1:1"), 69),
        (format!("nonsense://:{SECRET}@127.0.0.1:1"), 64),
        (Mariadb::shared().url(), 64),
    ] {
        let commands: [&[&str]; 6] =
            [&["ls"], &["who", "n"], &["release", "-y", "n"], &["ls", "--json"], &["who", "--json", "n"], &["doctor"]];
        // A doctor looks at every system.
        let commands = if url.starts_with("mariadb") { &commands[..5] } else { &commands };
        for words in commands {
            let (ended, out, told) = redlatch(&url, words);
            assert_eq!((ended, out.as_str()), (code, ""), "{words:?}: {told}");
            assert!(!told.is_empty() && !told.contains(SECRET), "{told}");
        }
    }
}

#[test]
fn a_user_without_the_keys_beside_a_lock_is_told_which_they_are() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.fenced_lock("orders:42").blocking().acquire().expect("free");
    let mut view = server.view();
    let url = format!("redis://few:secret@127.0.0.1:{}", server.port());
    for words in [["ls", "orders:*"], ["who", "orders:42"]] {
        let rights = "ACL SETUSER few reset on >secret ~orders:* &* +@all";
        view.command::<()>(&rights.split(' ').collect::<Vec<_>>());
        let (code, _, told) = redlatch(&url, &words);
        let keys = told.trim_end().split_once("by ACL SETUSER: ").expect("it tells the remedy").1.to_owned();
        assert!(code == 77 && keys.contains(" ~*{"), "{code} {told}");
        view.command::<()>(&[vec!["ACL", "SETUSER", "few"], keys.split(' ').collect()].concat());
        let (code, out, told) = redlatch(&url, &words);
        assert!(code == 0 && out.contains("orders:42") && out.contains("fenced"), "{out} {told}");
    }
    held.release().expect("held");
}

#[test]
fn a_single_server_that_is_named_as_a_cluster_is_refused_with_the_remedy() {
    let server = Server::start();
    let (code, _, told) = redlatch(&format!("redis+cluster://127.0.0.1:{}", server.port()), &["ls"]);
    assert!(code == 69 && told.contains("it is no cluster") && told.contains("redis://"), "{code} {told}");
}
