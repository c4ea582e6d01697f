//! The page, and the same for programs.

use std::net::TcpListener;

use redlatch::Client;
use redlatch_tests::{Server, eventually};
use rustix::process::Signal;
use serde_json::Value;

use super::service::Service;
use super::{command, fails};

#[test]
fn the_locks_are_there_as_a_page_as_json_and_as_metrics() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.fenced_lock("orders:42").blocking().acquire().expect("free");
    let other = client.lock("other").blocking().acquire().expect("free");
    let service = Service::start(&server, &["orders:*"]);
    let row = service.row("orders:42");
    assert_eq!((&row["kind"], &row["waiting"], &row["redisson"]), (&"fenced".into(), &0.into(), &false.into()));

    let all = service.object("locks");
    assert_eq!(all["locks"].as_array().map(Vec::len), Some(1), "{all}");
    let lock = &all["locks"][0];
    assert_eq!((&lock["name"], &lock["holders"][0]["client"]), (&"orders:42".into(), &client.id().into()));
    assert!(lock["held_ms"].is_u64() && lock["ends_ms"].as_u64().is_some_and(|ms| ms <= 30_000), "{lock}");
    let alone = service.object("locks?name=orders%3A42");
    assert_eq!(timeless(&alone["locks"][0]), timeless(lock), "{alone}");
    assert_eq!(service.object("locks?name=other")["locks"].as_array().map(Vec::len), Some(0));

    let metrics = service.response("metrics");
    assert!(
        metrics.headers()["content-type"].to_str().is_ok_and(|kind| kind.starts_with("application/openmetrics-text"))
    );
    let (_, text) = service.get("metrics");
    assert!(text.contains("redlatch_locks{kind=\"fenced\"} 1\n"), "{text}");
    assert!(text.contains("redlatch_waiting{group=\"orders:*\"} 0\n") && text.ends_with("# EOF\n"), "{text}");
    assert_eq!(service.object("health")["status"], "ok");
    assert_eq!(service.get("nothing").0, 404);
    held.release().expect("held");
    other.release().expect("held");
}

/// The lock without its times, which go on.
fn timeless(lock: &Value) -> Value {
    let mut lock = lock.clone();
    for time in ["held_ms", "ends_ms"] {
        lock[time].take();
    }
    lock
}

#[test]
fn the_page_runs_its_own_script_alone_and_nothing_is_kept() {
    let server = Server::start();
    let service = Service::start(&server, &[]);
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let mut response = service.response("");
        let policy = response.headers()["content-security-policy"].to_str().expect("it is text").to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'nonce-"), "{policy}");
        let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).expect("it is there");
        let page = response.body_mut().read_to_string().expect("it is text");
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")) && !page.contains("NONCE"), "{page}");
        nonces.push(nonce.to_owned());
        for (header, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(response.headers()[header], value, "{header}");
        }
    }
    assert_ne!(nonces[0], nonces[1]);
}

#[test]
fn a_browser_may_call_it_by_an_address_by_its_own_name_and_by_those_that_are_given() {
    let server = Server::start();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells").trim().to_owned();
    let service = Service::start(&server, &["--host", "locks.example.com"]);
    for known in [
        "127.0.0.1",
        "10.1.2.3:8379",
        "[::1]:8379",
        "[::1]",
        "localhost:80",
        "LOCALHOST",
        &host,
        "Locks.Example.com:443",
    ] {
        assert_eq!(service.get_by(known, "locks").0, 200, "{known}");
    }
    for unknown in ["evil.example.com", "locks.example.com.evil.com:8379", "localhost.evil.com", "127.0.0.1.evil.com"] {
        for path in ["", "locks", "events", "metrics", "health"] {
            let (code, text) = service.get_by(unknown, path);
            assert!(code == 421 && text.contains("--host") && !text.contains(":8379"), "{unknown}: {code} {text}");
        }
    }
}

#[test]
fn a_page_hears_of_a_lock_that_comes_and_goes() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let service = Service::start(&server, &["--interval", "200ms"]);
    let mut changes = service.changes();
    let (first, all) = changes.next();
    assert_eq!((first.as_str(), &all["server"]), ("all", &server.url().into()));
    assert_eq!((&all["pattern"], &all["can_release"]), (&"*".into(), &false.into()));
    if all["state"]["reading"] == true {
        changes.until(|change| change["state"]["reading"] == false);
    }
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    let came = changes.until(|change| change["locks"][0]["name"] == "orders:42");
    assert_eq!((&came["events"][0]["event"], &came["state"]["held"]), (&"acquired".into(), &1.into()), "{came}");
    held.release().expect("held");
    let went = changes.until(|change| change["gone"][0] == "orders:42");
    assert_eq!((&went["events"][0]["event"], &went["state"]["held"]), (&"gone".into(), &0.into()), "{went}");
    // A page that comes later has all that it missed.
    let all = service.changes().next().1;
    assert_eq!((&all["events"][1], all["locks"].as_array().map(Vec::len)), (&went["events"][0], Some(0)));
}

#[test]
fn a_server_that_goes_away_is_told_and_so_is_its_return() {
    let server = Server::start();
    let service = Service::start(&server, &["--interval", "200ms"]);
    let mut changes = service.changes();
    server.stop();
    let silent = changes.until(|change| !change["state"]["silence"].is_null());
    assert!(silent["state"]["silence"]["why"].as_str().is_some_and(|why| !why.is_empty()), "{silent}");
    let (code, text) = service.get("health");
    assert!(code == 503 && text.contains("\"status\":\"silent\""), "{code} {text}");
    assert!(service.get("metrics").1.contains("\nredlatch_up 0\n"));
    server.restart();
    changes.until(|change| change["state"]["silence"].is_null());
    assert_eq!(service.get("health").0, 200);
}

#[test]
fn many_pages_cost_the_server_of_the_locks_nothing() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("orders:42").lease(redlatch_tests::secs(3000)).blocking().acquire().expect("free");
    // The first listing is over, and the next one is far away.
    let service = Service::start(&server, &["--interval", "1h"]);
    eventually("the first listing", || (service.object("locks")["reading"] == false).then_some(()));
    server.view().forget_calls();
    let mut pages: Vec<_> = (0..100).map(|_| service.changes()).collect();
    for path in ["", "locks", "locks?name=orders:42", "metrics", "health", "locks?name=none"].repeat(5) {
        assert_eq!(service.get(path).0, 200);
    }
    pages.iter_mut().for_each(|page| assert_eq!(page.next().0, "all"));
    let (code, text) = service.get("events");
    assert!(code == 503 && text.contains("100 pages"), "{code} {text}");
    let calls = server.view().calls();
    assert!(calls.keys().all(|call| ["ping", "info", "config|resetstat"].contains(&call.as_str())), "{calls:?}");
    pages.clear();
    eventually("room for a page", || (service.response("events").status() == 200).then_some(()));
    held.release().expect("held");
}

#[test]
fn a_signal_ends_it_while_pages_are_open() {
    let server = Server::start();
    for signal in [Signal::INT, Signal::TERM] {
        let mut service = Service::start(&server, &[]);
        let mut changes = service.changes();
        changes.next();
        service.signal(signal);
        assert_eq!(service.code(), Some(0));
    }
}

#[test]
fn an_address_that_is_taken_and_a_token_that_can_be_guessed_are_refused_with_a_remedy() {
    let server = Server::start();
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = other.local_addr().expect("it is bound").to_string();
    let (code, told) = fails(command(&server, &["--listen", &address]).env_remove("NO_COLOR"));
    assert!(code == 71 && told.contains(&address) && told.contains("--listen"), "{code} {told}");
    for name in ["", "http://locks.example.com/", "locks.example.com:8379", "locks.example.com."] {
        let (code, told) = fails(&mut command(&server, &["--host", name]));
        assert!(code == 64 && told.contains("a name alone"), "{code} {told}");
    }
    let (code, told) = fails(&mut command(&server, &["--listen", "localhost:8379"]));
    assert!(code == 64 && told.contains("localhost:8379") && told.contains("127.0.0.1:8379"), "{code} {told}");
    for token in ["", "short", "with blanks in its middle", "with&signs%20of=addresses"] {
        let (code, told) = fails(command(&server, &["--allow-release"]).env("REDLATCH_SERVE_TOKEN", token));
        assert!(code == 64 && told.contains("REDLATCH_SERVE_TOKEN") && told.contains("16 or more"), "{code} {told}");
    }
}
