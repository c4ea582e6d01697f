//! `redlatch tail`: the events of locks, a line each.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use redlatch::{BlockingGuard, Client};
use redlatch_tests::{Server, eventually, secs};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::command;

struct Tail {
    process: Child,
    /// `None`: the reader has gone.
    out: Option<BufReader<ChildStdout>>,
}

impl Tail {
    fn start(server: &Server, words: &[&str]) -> Self {
        let words = [&["tail"], words].concat();
        let mut process = command(&server.url(), &words).stdout(Stdio::piped()).spawn().expect("it starts");
        let out = process.stdout.take().map(BufReader::new);
        Tail { process, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.as_mut().expect("it is a pipe").read_line(&mut line).expect("it is text");
        line.trim_end().to_owned()
    }

    fn object(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{line}: {why}"))
    }

    fn code(&mut self) -> Option<i32> {
        eventually("the end of redlatch", || self.process.try_wait().expect("it is a child")).code()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Takes the lock until the tail tells so: one that is held before the first listing is over is no event.
fn acquired(tail: &mut Tail, client: &Client, name: &str) -> BlockingGuard {
    let guard = client.lock(name).blocking().acquire().expect("free");
    let line = tail.line();
    assert!(line.contains(&format!("  {name}  acquired by ")), "{line}");
    guard
}

/// Waits until the first listing of the tail has read all keys.
fn begun(server: &Server) {
    has_called(server, "scan", 1);
}

fn has_called(server: &Server, command: &str, times: u64) {
    eventually("a listing", || (server.view().calls().get(command).copied().unwrap_or(0) >= times).then_some(()));
}

#[test]
fn each_event_is_a_line_until_a_signal() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    for signal in [Signal::INT, Signal::TERM] {
        let mut tail = Tail::start(&server, &["a*"]);
        begun(&server);
        let other = client.lock("other").blocking().acquire().expect("free");
        let held = acquired(&mut tail, &client, "a:1");
        held.release().expect("held");
        let line = tail.line();
        assert!(line.contains("  a:1  gone before its end: ") && line.contains("or it was deleted"), "{line}");
        assert!(line.len() > 25 && line.as_bytes()[10] == b'T' && line.as_bytes()[23] == b'Z', "{line}");
        // A busy machine may look too late to tell.
        let told = (2..12).map(|number| format!("a:{number}")).find(|name| {
            let brief = client.lock(name).lease(secs(4)).blocking().acquire().expect("free");
            brief.keep();
            assert!(tail.line().contains(&format!("  {name}  acquired by ")));
            let line = tail.line();
            assert!(line.contains(&format!("  {name}  ")) && line.contains("release"), "{line}");
            line.contains("  expired: ") && line.contains("did not release it")
        });
        assert!(told.is_some(), "no end was seen");
        other.release().expect("held");
        kill_process(Pid::from_child(&tail.process), signal).expect("it runs");
        assert_eq!(tail.code(), Some(0));
        server.view().forget_calls();
    }
}

#[test]
fn an_object_names_the_holders_before_and_after() {
    let server = Server::start();
    let clients = [0, 1].map(|_| Client::connect(&server.url()).expect("a good URL"));
    // A name without a wild card, and with letters that move the cursor.
    let name = "n\u{1b}M";
    let mut tail = Tail::start(&server, &["--json", name]);
    // A look at a name that is free asks for its type and for that of its permits. The first look is there to see whether the server tells.
    has_called(&server, "type", 4);
    let held = clients[0].fair_lock(name).blocking().acquire().expect("free");
    let acquired = tail.object();
    assert_eq!((&acquired["event"], &acquired["name"]), (&"acquired".into(), &name.into()), "{acquired}");
    assert_eq!((&acquired["from"], &acquired["to"][0]["client"]), (&Value::Array(Vec::new()), &clients[0].id().into()));
    let waiter = clients[1].fair_lock(name).owner(7).wait(secs(30)).blocking();
    std::thread::scope(|scope| {
        let next = scope.spawn(move || waiter.acquire().expect("released"));
        eventually("a waiter", || server.view().exists(&format!("redisson_lock_queue:{{{name}}}")).then_some(()));
        held.release().expect("held");
        let passed = tail.object();
        assert_eq!(
            (&passed["event"], &passed["from"][0]["client"]),
            (&"passed_on".into(), &clients[0].id().into()),
            "{passed}"
        );
        assert_eq!((&passed["to"][0]["client"], &passed["to"][0]["owner"]), (&clients[1].id().into(), &"7".into()));
        next.join().expect("it does not panic").release().expect("held");
    });
    let gone = tail.object();
    assert_eq!((&gone["event"], &gone["before_end"]), (&"gone".into(), &true.into()), "{gone}");
}

#[test]
fn a_signal_ends_it_though_its_reader_stands_still() {
    // A pipe has room for 64 KiB, so for three lines.
    const LONG: usize = 20_000;
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    for signal in [Signal::INT, Signal::TERM] {
        let mut tail = Tail::start(&server, &[]);
        begun(&server);
        let names = (0..8).map(|number| format!("{signal:?}:{number}:{}", "n".repeat(LONG)));
        let held: Vec<_> = names.map(|name| client.lock(&name).blocking().acquire().expect("free")).collect();
        let out = tail.out.as_ref().expect("it is a pipe").get_ref();
        eventually("a full pipe", || ioctl_fionread(out).is_ok_and(|bytes| bytes > 3 * LONG as u64).then_some(()));
        kill_process(Pid::from_child(&tail.process), signal).expect("it runs");
        assert_eq!(tail.code(), Some(0));
        held.into_iter().for_each(|guard| guard.release().expect("held"));
        server.view().forget_calls();
    }
}

#[test]
fn a_reader_that_goes_ends_it() {
    let server = Server::start();
    let mut tail = Tail::start(&server, &[]);
    begun(&server);
    tail.out = None;
    assert_eq!(tail.code(), Some(0));
}

#[test]
fn a_server_that_goes_away_is_an_event_and_so_is_its_return() {
    let server = Server::start();
    let mut tail = Tail::start(&server, &["--json"]);
    begun(&server);
    server.stop();
    let gone = tail.object();
    assert_eq!(gone["event"], "unreachable", "{gone}");
    assert!(gone["message"].as_str().is_some_and(|text| !text.is_empty()), "{gone}");
    server.restart();
    assert_eq!(tail.object()["event"], "reachable");
}

#[test]
fn a_server_that_lost_its_memory_is_told_apart_from_a_release() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let mut tail = Tail::start(&server, &["--json"]);
    begun(&server);
    let held = client.lock("a:1").blocking().acquire().expect("free");
    assert_eq!(tail.object()["event"], "acquired");
    server.restart();
    let ended = std::iter::repeat_with(|| tail.object()).find(|object| object["name"] == "a:1").expect("it is endless");
    assert_eq!(ended["event"], "forgotten", "{ended}");
    assert_eq!((&ended["from"][0]["client"], &ended["to"]), (&client.id().into(), &serde_json::json!([])));
    drop(held);
}
