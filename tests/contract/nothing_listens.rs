//! No server listens at the address. Each call says so at once, with the address and the remedy; only a wait goes on.

use std::time::{Duration, Instant};

use redlatch::ffi::kinds::{ALL, KindRow, multi};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Result};
use redlatch_tests::*;

use super::secs;

/// Much longer than a test runs: a call that retried for that long would not have ended at once.
const PATIENT: &str = "?response_timeout=100&retry_for=100";

/// An address at which no server listens, and its name in an error.
struct Absent {
    url: String,
    told: String,
}

impl Absent {
    fn port() -> Self {
        let place = format!("127.0.0.1:{}", ports::free());
        Absent {
            url: format!("redis://{place}{PATIENT}"),
            told: format!("redis://{place} cannot be reached: nothing listens on {place}; "),
        }
    }

    fn file() -> Self {
        let path = "/no/such/socket";
        Absent {
            url: format!("unix://{path}{PATIENT}"),
            told: format!("unix://{path} cannot be reached: there is no socket file {path}; "),
        }
    }

    /// The socket file that a killed server leaves behind.
    fn socket() -> Self {
        let path = std::env::temp_dir().join(format!("redlatch-{}-deserted", std::process::id())).display().to_string();
        let _ = std::fs::remove_file(&path);
        drop(std::os::unix::net::UnixListener::bind(&path).expect("the folder is there"));
        Absent {
            url: format!("unix://{path}{PATIENT}"),
            told: format!("unix://{path} cannot be reached: nothing listens on the socket {path}; "),
        }
    }
}

/// Calls that wait for no lock, and one wait without a limit.
fn calls() -> Vec<(String, Request)> {
    let mut calls = vec![
        ("ping".to_owned(), Request::new(Op::Ping, "plain", "n", 1)),
        (
            "a lock without a limit to its wait".to_owned(),
            Request { wait: None, ..Request::new(Op::Acquire, "plain", "n", 1) },
        ),
    ];
    for KindRow { traits: kind, .. } in ALL {
        let request = |op| Request {
            wait: Some(Duration::ZERO),
            numbers: vec![1],
            ..Request::new(op, kind.name, name_for(kind.name), 1)
        };
        calls.push((format!("a try of {}", kind.name), request(Op::Acquire)));
        calls.push((format!("a look at {}", kind.name), Request { numbers: Vec::new(), ..request(Op::Inspect) }));
    }
    calls
}

fn name_for(kind: &str) -> String {
    if kind == "multi" { multi::name("n", &["one"]).expect("a good name") } else { "n".to_owned() }
}

fn run(client: &Client, blocking: bool, request: Request) -> Result<Answer> {
    match blocking {
        true => client.run_blocking(request),
        false => {
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(client.run(request))
        }
    }
}

#[test]
fn each_first_call_says_at_once_that_no_server_listens_and_what_to_do() {
    for absent in [Absent::port(), Absent::file(), Absent::socket()] {
        for (call, request) in calls() {
            for blocking in [true, false] {
                let client = Client::connect(&absent.url).expect("a good URL");
                let asked = Instant::now();
                let error = run(&client, blocking, request.clone()).map(drop).expect_err("nothing is there");
                let said = error.to_string();
                let took = asked.elapsed();
                assert!(matches!(error, Error::Unavailable { timeout: false, .. }), "{call}: {error:?}");
                assert_eq!(said, format!("{}check that it runs and that the address is right", absent.told), "{call}");
                assert!(took < PATIENCE, "{call}: {took:?}");
            }
        }
    }
}

#[test]
fn a_wait_goes_on_and_ends_with_the_same_words_or_with_the_lock() {
    let absent = Absent::port();
    let client = Client::connect(&absent.url).expect("a good URL");
    let lock = || client.lock("n").wait(ms(300)).blocking();
    let said = lock().acquire().map(drop).expect_err("nothing is there").to_string();
    assert!(said.starts_with(&absent.told) && said.contains("the wait of 300ms"), "{said}");
    assert!(said.ends_with("; check that it runs and that the address is right"), "{said}");

    let server = Server::start();
    let client = Client::connect(&format!("{}{PATIENT}", server.url())).expect("a good URL");
    server.stop();
    let waiting = std::thread::spawn(move || client.lock("n").wait(secs(60)).blocking().acquire()?.release());
    std::thread::sleep(ms(300));
    assert!(!waiting.is_finished(), "{:?}", waiting.join());
    server.restart();
    waiting.join().expect("no panic").expect("the server is there now");
}

/// The server may be starting anew.
#[test]
fn a_server_that_this_client_has_reached_before_is_tried_again() {
    let server = Server::start();
    let client = Client::connect(&format!("{}{PATIENT}", server.url())).expect("a good URL");
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
    server.stop();
    let trying = std::thread::spawn(move || client.lock("n").blocking().try_acquire()?.expect("free").release());
    std::thread::sleep(ms(300));
    assert!(!trying.is_finished(), "{:?}", trying.join());
    server.restart();
    trying.join().expect("no panic").expect("the server is there again");
}
