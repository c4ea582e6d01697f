//! The command is dead before another client has the lock: many losses, and two oracles. When the next holder has the lock, the command
//! before it has ended; and in the file that all commands append to, no line of a command stands behind one of its successor.

use std::sync::atomic::{AtomicUsize, Ordering};

use redlatch::Client;
use redlatch_tests::{Direction, Proxy, Server, deadline, eventually_within, secs};
use rustix::process::Signal;

use crate::process::{Folder, lives};
use crate::{Running, redlatch};

/// So many losses go on side by side.
const LANES: usize = 10;
const LEASE: &str = "3s";

#[derive(Clone, Copy, Debug)]
enum Trouble {
    /// The server answers nothing.
    Silence,
    /// The server can't be reached.
    Cut,
    /// `redlatch` stands still, and goes on when another client has the lock.
    Standstill,
    /// `redlatch` is killed.
    Death,
}

const TROUBLES: [Trouble; 4] = [Trouble::Silence, Trouble::Cut, Trouble::Standstill, Trouble::Death];

/// The number of losses: 100, or as many as `REDLATCH_LOSSES` says.
fn losses() -> usize {
    std::env::var("REDLATCH_LOSSES").ok().and_then(|count| count.parse().ok()).unwrap_or(100)
}

/// Takes the lock by a library, and looks at once whether the command lives.
fn by_library(server: &Server, name: &str, folder: &Folder, command: i32) -> Option<String> {
    let client = Client::connect(&server.url()).expect("a client");
    let guard = client.fenced_lock(name).blocking().acquire().expect("it gets the lock");
    let found = lives(command);
    let token = guard.token().expect("it has one");
    folder.append("lines", &token.to_string());
    guard.release().expect("it is held");
    found.then(|| "it lived when the next holder had the lock".into())
}

/// Takes it by a second `redlatch run`, whose command looks.
fn by_command(server: &Server, name: &str, folder: &Folder, command: i32) -> Option<String> {
    let here = folder.0.display();
    let script =
        format!("cut -d' ' -f3 /proc/{command}/stat > {here}/found 2>/dev/null; echo $REDLATCH_TOKEN >> {here}/lines");
    let status = redlatch(&server.url()).args([name, "sh", "-c", &script]).status().expect("it starts");
    assert!(status.success(), "{status}");
    let found = folder.read("found");
    (!["", "Z", "X"].contains(&found.trim())).then(|| format!("it lived in the state {found}"))
}

/// One loss. Gives what was wrong.
fn lose(server: &Server, number: usize) -> Option<String> {
    let trouble = TROUBLES[number % TROUBLES.len()];
    let ignores = if (number / TROUBLES.len()).is_multiple_of(2) { "trap '' TERM;" } else { "" };
    let name = format!("n{number}");
    let folder = Folder::new();
    let here = folder.0.display().to_string();
    let proxy = Proxy::start(server);
    let script =
        format!("{ignores} echo $$ > {here}/pid; while :; do echo $REDLATCH_TOKEN >> {here}/lines; sleep 0.01; done");
    let mut running =
        Running::start(&server.url_through(proxy.port(), ""), &["--lease", LEASE, &name, "sh", "-c", &script]);
    let command: i32 = folder.line("pid").parse().expect("a number");
    folder.line("lines");
    match trouble {
        Trouble::Silence => proxy.stall(Direction::ToServer),
        Trouble::Cut => {
            proxy.refuse();
            proxy.cut();
        }
        Trouble::Standstill => running.signal(Signal::STOP),
        Trouble::Death => running.kill(),
    }
    let take = if number.is_multiple_of(2) { by_library } else { by_command };
    let mut wrong = take(server, &name, &folder, command);
    match trouble {
        Trouble::Standstill => running.signal(Signal::CONT),
        Trouble::Silence | Trouble::Cut | Trouble::Death => {}
    }
    if !matches!(trouble, Trouble::Death) {
        let code = running.code();
        if code != 76 {
            wrong = Some(format!("the code is {code}"));
        }
    }
    let tokens: Vec<i64> = folder.read("lines").lines().filter_map(|line| line.parse().ok()).collect();
    if !tokens.is_sorted() {
        wrong = Some("a line stands behind one of the next holder".into());
    }
    wrong.map(|wrong| format!("loss {number}, {trouble:?}: {wrong}; {}", running.told()))
}

#[test]
fn no_command_lives_when_another_client_has_its_lock() {
    let count = losses();
    deadline::within(secs(120 + 2 * count as u64));
    let server = Server::start();
    let next = AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let found = lose(&server, number);
                    found.into_iter().for_each(|found| wrong.lock().expect("no test panics here").push(found));
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no test panics here");
    println!("{count} losses, {} overlaps", wrong.len());
    assert!(wrong.is_empty(), "{} of {count} losses:\n{}", wrong.len(), wrong.join("\n"));
}

/// The server itself stands still: its clock goes on, and it ends the lock when it wakes up.
#[test]
fn no_command_lives_when_a_server_that_stood_still_gives_its_lock_away() {
    for round in 0..3 {
        let server = Server::start();
        let folder = Folder::new();
        let script = format!("trap '' TERM; echo $$ > {}/pid; while :; do sleep 0.01; done", folder.0.display());
        let mut running = Running::start(&server.url(), &["--lease", LEASE, "n", "sh", "-c", &script]);
        let command: i32 = folder.line("pid").parse().expect("a number");
        let client = Client::connect(&server.url()).expect("a client");
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let guard = client.fenced_lock("n").blocking().acquire();
                let found = lives(command);
                // The server was silent for longer than the client waits for an answer.
                guard.map(|_| found).unwrap_or_default()
            });
            server.pause();
            eventually_within(secs(20), "the end of the command", || (!lives(command)).then_some(()));
            server.resume();
            assert!(!waiter.join().expect("it does not panic"), "round {round}");
        });
        assert_eq!(running.code(), 76, "{}", running.told());
    }
}
