//! Programs that end while they hold locks: the drop of the last handle of a client waits, for a bounded time, until the
//! releases of dropped guards have their answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use redlatch::ffi::{Border, Op, Request};

use super::*;

const ENDING: &str = env!("CARGO_BIN_EXE_redlatch-ending");
const FLAVOURS: [&str; 3] = ["threads", "current_thread", "multi_thread"];
const HOLDS: [&str; 9] = ["lock", "many", "fair", "multi", "red", "permit", "renewed", "counted", "cancelled"];

/// A program that holds its locks until the test lets it end.
struct Program {
    child: Child,
    what: String,
}

impl Program {
    fn start(url: &str, flavour: &str, ending: &str, holds: &str) -> Program {
        let mut command = Command::new(ENDING);
        command.args([url, flavour, ending, holds]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program is built");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it says so");
        let what = format!("{flavour}, {ending}, {holds}");
        assert_eq!(line, "held\n", "{what}");
        Program { child, what }
    }

    /// Lets it end; gives the time that its end took.
    fn end(mut self) -> Duration {
        let since = Instant::now();
        self.child.stdin.take().expect("it is piped").write_all(b"\n").expect("it reads");
        self.child.wait().expect("it ends");
        since.elapsed()
    }
}

/// The keys in the databases that the program uses, but for the number of available permits.
fn left(server: &Server) -> Vec<String> {
    let mut left = Vec::new();
    for database in 0..3 {
        let mut view = server.view();
        view.command::<()>(&["SELECT", &database.to_string()]);
        let keys = view.keys("*");
        left.extend(
            keys.into_iter().filter(|key| {
                view.kind(key) != "string" || view.command::<String>(&["GET", key]) != PERMITS.to_string()
            }),
        );
    }
    left
}

const PERMITS: i64 = 3;

#[test]
fn a_program_that_ends_leaves_no_lock_behind() {
    let mut wrong = Vec::new();
    for holds in HOLDS {
        for flavour in FLAVOURS {
            for ending in ["return", "error", "panic", "closing"] {
                // Permits stay out whose client was closed before.
                if ending == "closing" && ["permit", "counted"].contains(&holds) {
                    continue;
                }
                let server = Server::start();
                if ["permit", "renewed", "counted"].contains(&holds) {
                    server.view().command::<()>(&["SET", "n", &PERMITS.to_string()]);
                }
                let program = Program::start(&format!("{}?flush=20", server.url()), flavour, ending, holds);
                let what = program.what.clone();
                let took = program.end();
                let left = left(&server);
                if !left.is_empty() {
                    wrong.push(format!("{what}, after {took:?}: {} keys", left.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} programs: {wrong:#?}", wrong.len());
}

#[test]
fn a_program_ends_in_time_beside_a_server_that_stands_still() {
    let server = Server::start();
    for (flavour, holds) in [("threads", "red"), ("current_thread", "many"), ("multi_thread", "multi")] {
        let program = Program::start(&format!("{}?flush=1.5", server.url()), flavour, "return", holds);
        let what = program.what.clone();
        server.pause();
        let took = program.end();
        server.resume();
        // A call takes 6 s, and three clients one after the other would flush for 4.5 s.
        assert!(secs(1) < took && took < secs(4), "{what}: {took:?}");
        server.view().command::<()>(&["FLUSHALL"]);
    }
}

#[test]
fn a_program_that_switches_the_wait_off_or_keeps_a_handle_ends_at_once() {
    let server = Server::start();
    for (options, ending) in [("flush=0", "return"), ("flush=60", "keep")] {
        let program = Program::start(&format!("{}?{options}", server.url()), "threads", ending, "lock");
        server.pause();
        let took = program.end();
        server.resume();
        assert!(took < secs(10), "{options}, {ending}: {took:?}");
        server.view().command::<()>(&["FLUSHALL"]);
    }
}

/// A client that would wait for a minute, and that has begun to work.
fn patient(server: &Server) -> Client {
    let client = connect(&format!("{}?flush=60", server.url()));
    client.lock("warm").blocking().acquire().expect("free").release().expect("held");
    client
}

/// Runs `work`, which must not wait.
fn at_once<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let since = Instant::now();
    let result = work();
    assert!(since.elapsed() < secs(10), "{what}: {:?}", since.elapsed());
    result
}

#[test]
fn only_the_last_handle_waits_and_only_for_releases_under_way() {
    let server = Server::start();
    let client = patient(&server);
    let idle = patient(&server);
    let closed = patient(&server);
    closed.close_blocking(Holds::Keep);
    let guard = client.lock("n").lease(LONG).blocking().acquire().expect("free");
    server.pause();
    at_once("an idle client", || drop(idle));
    at_once("a closed client", || drop(closed));
    at_once("a client that never made a call", || drop(connect(&format!("{}?flush=60", server.url()))));
    at_once("a guard beside its client", || drop(guard));
    at_once("a clone", || drop(client.clone()));
    let dropping = std::thread::spawn(move || drop(client));
    std::thread::sleep(ms(300));
    assert!(!dropping.is_finished(), "it waits for the release");
    server.resume();
    dropping.join().expect("no panic");
    assert!(!server.view().exists("n"));
}

#[test]
fn the_io_thread_never_waits_for_itself() {
    let server = Server::start();
    let client = patient(&server);
    let last = client.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let inspect = Request::new(Op::Inspect, "plain", "n", 1);
    client.submit(client.ticket(), inspect, move |_| {
        // The program's own handle must be gone.
        std::thread::sleep(ms(100));
        let since = Instant::now();
        drop(last);
        let _ = tell.send(since.elapsed());
    });
    drop(client);
    let took = told.recv_timeout(PATIENCE).expect("the I/O thread goes on");
    assert!(took < secs(10), "{took:?}");
    eventually("the end of its connections", || (server.view().clients() == 1).then_some(()));
}

#[test]
fn of_two_threads_with_the_last_clones_one_waits() {
    let server = Server::start();
    for round in 0..200 {
        let client = patient(&server);
        drop(client.lock("n").lease(LONG).blocking().acquire().expect("free"));
        let other = client.clone();
        let dropping = std::thread::spawn(move || drop(other));
        drop(client);
        dropping.join().expect("no panic");
        assert!(!server.view().exists("n"), "round {round}");
    }
}

#[test]
fn a_thread_that_ends_with_its_own_client_gives_back_its_locks() {
    thread_local! {
        static HELD: std::cell::RefCell<Option<(redlatch::BlockingGuard, Client)>> = const { std::cell::RefCell::new(None) };
    }
    let server = Server::start();
    for _ in 0..20 {
        let url = server.url();
        let thread = std::thread::spawn(move || {
            let client = connect(&format!("{url}?flush=60"));
            HELD.set(Some((client.lock("n").lease(LONG).blocking().acquire().expect("free"), client)));
        });
        thread.join().expect("no panic");
        assert!(!server.view().exists("n"));
    }
}

#[test]
fn a_runtime_that_ends_with_the_last_handle_gives_back_its_locks() {
    let server = Server::start();
    let several = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let one = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    for runtime in [several().expect("threads"), one().expect("a runtime")] {
        let client = patient(&server);
        let (tell, held) = tokio::sync::oneshot::channel();
        runtime.spawn(async move {
            let _guard = client.lock("n").lease(LONG).acquire().await.expect("free");
            tell.send(()).expect("the test listens");
            std::future::pending::<()>().await;
            drop(client);
        });
        runtime.block_on(held).expect("it is held");
        drop(runtime);
        assert!(!server.view().exists("n"));
    }
}

#[test]
fn a_forked_child_has_no_hold_of_its_parent() {
    let server = Server::start();
    let ended = Command::new(env!("CARGO_BIN_EXE_redlatch-forking")).arg(server.url()).output().expect("it is built");
    assert!(
        ended.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr)
    );
}
