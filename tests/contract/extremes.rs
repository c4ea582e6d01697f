//! Every time and number that a caller can set, at its least, at its most and beyond. It works, or it is refused at
//! once by name. Neither the caller's thread nor the client's own ever panics or hangs.

use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, MutexGuard, Once, mpsc};
use std::time::Duration;

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Answer, Border, LEASE_MAX, Op, Request};
use redlatch::{Client, Config, Error, Holds, Result};
use redlatch_tests::oracle::Statement;
use redlatch_tests::{PATIENCE, Server, all_at_once, begun, kinds};

use super::eventually;

/// The panics in the core since [`watch_panics`]. The client's own thread passes none of them on. Another test may make
/// blocking calls where a thread must not block: the core finds that out by a panic of tokio, which it catches.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let is_tried = |file: &str| file.ends_with("src/base/blocking.rs");
            let of_core = info
                .location()
                .map(|location| location.file())
                .is_some_and(|file| !file.starts_with("tests/") && !is_tried(file));
            if of_core {
                panics().push(info.to_string());
            }
            before(info);
        }));
    });
}

fn panics() -> MutexGuard<'static, Vec<String>> {
    PANICS.lock().expect("nothing panics while it is held")
}

fn no_panic(what: &str) {
    let panics = panics().clone();
    assert!(panics.is_empty(), "{what}: {panics:?}");
}

/// The answer to a request. The test fails if none comes.
fn asked(client: &Client, request: Request, what: &str) -> Result<Answer> {
    let answer = begun(client, Duration::MAX, client.ticket(), request).recv_timeout(PATIENCE);
    no_panic(what);
    answer.unwrap_or_else(|_| panic!("{what}: no answer within {PATIENCE:?}"))
}

/// Whether the result is an answer, or an error that names a bad value or a server that was too slow for it.
fn is_typed<T>(result: &Result<T>) -> bool {
    match result {
        Ok(_) => true,
        Err(Error::Config(_) | Error::Unavailable { .. } | Error::NotSynced { .. }) => true,
        // A refused acquire has no hold, and a hold may have ended before this call.
        Err(Error::Lost(_) | Error::NotHeld { .. } | Error::Unsupported(_)) => true,
        // A server has a limited number of databases.
        Err(Error::Refused { message, .. }) => message.contains("DB index is out of range"),
        Err(_) => false,
    }
}

fn checked(result: Result<Answer>, what: &str) -> Option<Answer> {
    no_panic(what);
    assert!(is_typed(&result), "{what}: {result:?}");
    result.ok()
}

/// Values of each option of a client, and whether a client accepts them.
const OPTIONS: &[(&str, &[(&str, bool)])] = &[
    ("response_timeout", &[("0.001", true), ("0.009", true), ("31536000", true)]),
    ("retry_for", &[("0", true), ("0.000000001", true), ("31536000", true)]),
    ("connect_timeout", &[("0.001", true), ("31536000", true)]),
    ("flush", &[("0", true), ("31536000", true)]),
    ("fair_wait", &[("0", true), ("31536000", true)]),
    ("turn", &[("0", true), ("0.000000001", true), ("31536000", true)]),
    ("watchdog", &[("0.1", true), ("31536000", true)]),
    ("sync", &[("wait(within=0.001)", true), ("connected(within=0.001)", true), ("connected(within=31536000)", true)]),
    (
        "sync",
        &[
            ("wait(within=30)", false),
            ("wait(within=31536000)", false),
            ("wait(within=0)", false),
            ("wait(within=-1)", false),
        ],
    ),
    ("database", &[("0", true), ("1000000", true), ("-1", false), ("18446744073709551616", false)]),
];

/// Values that are no time.
const NO_TIMES: [&str; 9] = ["-1", "-0.001", "31536001", "1e308", "1e309", "inf", "NaN", "", "1s"];

fn configured(server: &Server, option: &str, value: &str) -> Result<Client> {
    let mut config = Config::from_url(&server.url())?;
    config.set(option, value)?;
    Client::with_config(config)
}

#[test]
fn every_option_of_a_client_works_at_its_extremes_or_is_refused_at_once() {
    watch_panics();
    let job = |(option, values): &'static (&'static str, &'static [(&'static str, bool)])| {
        let job = move || {
            let server = Server::start();
            for (value, fits) in *values {
                let what = format!("{option}={value}");
                let client = configured(&server, option, value);
                match &client {
                    Ok(client) => {
                        assert!(fits, "{what} was taken");
                        ALL.iter().for_each(|KindRow { traits, .. }| use_up(&server, client, traits, &what));
                        client.close_blocking(Holds::Release);
                    }
                    Err(error) => {
                        assert!(
                            !fits && matches!(error, Error::Config(_)) && error.to_string().contains(option),
                            "{what}: {error}"
                        )
                    }
                }
                no_panic(&what);
            }
            let is_time = values.iter().any(|(value, fits)| *fits && *value == "31536000");
            for value in NO_TIMES.iter().filter(|_| is_time) {
                let error =
                    configured(&server, option, value).err().unwrap_or_else(|| panic!("{option}={value} was taken"));
                assert!(
                    matches!(error, Error::Config(_)) && error.to_string().contains(option),
                    "{option}={value}: {error}"
                );
            }
        };
        (format!("{option}, {}", values[0].0), job)
    };
    all_at_once(OPTIONS.iter().map(job));
}

/// Every operation of one kind of lock: acquire, inspect, extend, wait in vain, release.
fn use_up(server: &Server, client: &Client, traits: &Traits, what: &str) {
    let what = format!("{what}, {}", traits.name);
    let request = |op| base(op, traits);
    set_up(server, traits);
    let taken = checked(asked(client, request(Op::Acquire), &what), &what);
    let other = Request { owner: 2, wait: Some(Duration::from_millis(2)), ..request(Op::Acquire) };
    checked(asked(client, other.clone(), &what), &what);
    checked(asked(client, Request { owner: 2, ..request(Op::Release) }, &what), &what);
    checked(asked(client, request(Op::Inspect), &what), &what);
    if let Some(taken) = taken.filter(|taken| taken.done && traits.held) {
        let hold = taken.number as u64;
        let _ = client.look(hold);
        checked(
            asked(client, Request { hold, lease: Some(Duration::from_secs(20)), ..request(Op::Extend) }, &what),
            &what,
        );
        let _ = client.look(hold);
    }
    checked(asked(client, request(Op::Release), &what), &what);
    empty(server);
}

fn base(op: Op, traits: &Traits) -> Request {
    let numbers = if traits.held { Vec::new() } else { vec![1] };
    Request { numbers, ..Request::new(op, traits.name, kinds::name(traits.name, "n"), 1) }
}

/// Creates permits, where the kind has any.
fn set_up(server: &Server, traits: &Traits) {
    if traits.name != "latch" {
        kinds::set_up(&Client::connect(&server.url()).expect("a good URL"), traits.name, "n", 1);
    }
}

fn empty(server: &Server) {
    server.view().command::<()>(&["FLUSHALL"]);
}

/// A time that a caller can set in a request, with the field's name for messages.
type Given = (&'static str, fn(&mut Request, Duration));

const FIELDS: [Given; 4] = [
    ("lease", |request, time| request.lease = Some(time)),
    ("wait", |request, time| request.wait = Some(time)),
    ("response_timeout", |request, time| request.response_timeout = Some(time)),
    ("retry_for", |request, time| request.retry_for = Some(time)),
];

const TIMES: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_millis(1),
    Duration::from_millis(9),
    LEASE_MAX,
    LEASE_MAX.saturating_add(Duration::from_nanos(1)),
    Duration::from_millis(i64::MAX as u64),
    Duration::MAX,
];

#[test]
fn every_time_of_a_request_works_at_its_extremes_or_is_refused_at_once() {
    watch_panics();
    let job = |KindRow { traits, .. }: &'static KindRow| {
        let job = move || {
            let server = Server::start();
            let client = Client::connect(&server.url()).expect("a good URL");
            for (field, give) in FIELDS {
                for time in TIMES {
                    let what = format!("{}: {field} {time:?}", traits.name);
                    set_up(&server, traits);
                    let with = |op| {
                        let mut request = base(op, traits);
                        give(&mut request, time);
                        request
                    };
                    let taken = checked(asked(&client, with(Op::Acquire), &what), &what);
                    let hold = taken.filter(|taken| taken.done).map_or(0, |taken| taken.number as u64);
                    if field == "wait" && traits.exclusive && hold != 0 {
                        waits(&client, Request { owner: 2, ..with(Op::Acquire) }, &what);
                    }
                    let _ = client.look(hold);
                    if traits.held {
                        checked(asked(&client, Request { hold, ..with(Op::Extend) }, &what), &what);
                        let _ = client.look(hold);
                    }
                    checked(asked(&client, with(Op::Inspect), &what), &what);
                    checked(asked(&client, with(Op::Release), &what), &what);
                    checked(asked(&client, with(Op::ForceRelease), &what).or_else(not_its_own), &what);
                    empty(&server);
                }
            }
            client.close_blocking(Holds::Release);
            no_panic(traits.name);
        };
        (traits.name.to_owned(), job)
    };
    all_at_once(ALL.iter().map(job));
}

/// Kinds without that operation say so.
fn not_its_own(error: Error) -> Result<Answer> {
    if matches!(error, Error::Unsupported(_)) { Ok(Answer::default()) } else { Err(error) }
}

/// A second owner waits in vain, until it gives up or its time is over.
fn waits(client: &Client, request: Request, what: &str) {
    let (sender, answer) = mpsc::channel();
    let ticket = client.ticket();
    client.submit(ticket, request, move |result| drop(sender.send(result)));
    client.cancel(ticket);
    let answer = answer.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}: a waiter without an answer"));
    assert!(is_typed(&answer) || matches!(answer, Err(Error::Cancelled)), "{what}: {answer:?}");
    no_panic(what);
}

#[test]
fn every_delay_between_two_tries_works_at_its_extremes() {
    watch_panics();
    let server = Server::start();
    let holder = Client::connect(&server.url()).expect("a good URL");
    let waiter = Client::connect(&server.url()).expect("a good URL");
    for kind in ["spin", "token", "plain"] {
        for delays in [vec![], vec![0], vec![-1], vec![1], vec![i64::MAX], vec![i64::MIN], vec![1, i64::MAX, i64::MIN]]
        {
            let what = format!("{kind}: {delays:?}");
            let request = |op| Request { numbers: delays.clone(), ..Request::new(op, kind, "n", 1) };
            let held = checked(asked(&holder, request(Op::Acquire), &what), &what).expect("free");
            assert!(held.done, "{what}: it is free");
            let waiting = Request { wait: Some(Duration::from_millis(20)), ..request(Op::Acquire) };
            let waited = checked(asked(&waiter, waiting, &what), &what).expect("a wait that ends is no error");
            assert!(!waited.done, "{what}: two owners have it");
            checked(asked(&holder, request(Op::Release), &what), &what).expect("held");
        }
    }
}

#[test]
fn a_hold_is_renewed_however_short_an_answer_may_take() {
    watch_panics();
    let server = Server::start();
    let client = configured(&server, "response_timeout", "0.001").expect("it is a good option");
    let mut view = server.view();
    // A single answer may take longer than the client's own limit.
    let watched =
        Request { lease: None, response_timeout: Some(PATIENCE), ..Request::new(Op::Acquire, "plain", "n", 1) };
    assert!(client.run_blocking(watched).expect("free").done);
    server.exempt(Statement::Belief, "n", "the key is shortened, so that its renewal can be seen");
    view.command::<()>(&["PEXPIRE", "n", "20000"]);
    eventually(|| {
        no_panic("response_timeout=0.001");
        view.pttl("n") > 20_000
    });
}
