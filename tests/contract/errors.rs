//! The source below an error, and whether the same call may succeed a little later.

use std::error::Error as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;

use redlatch::{Client, Error, LostReason, ServerError};
use redlatch_tests::*;

use super::pair;

/// The errors of a blocking call and of an asynchronous one.
fn failures(client: &Client) -> [Error; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the system gives an event queue");
    let blocking = client.lock("n").blocking().try_acquire().map(drop);
    let asynchronous = runtime.block_on(client.lock("n").try_acquire()).map(drop);
    [blocking, asynchronous].map(|end| end.expect_err("it cannot work"))
}

fn quick(url: &str) -> Client {
    Client::connect(&format!("{url}?response_timeout=0.4&retry_for=0.4")).expect("a good URL")
}

/// The text of an error and of its sources, as a report has them.
fn report(error: &Error) -> String {
    let chain = std::iter::successors(error.source(), |error| (**error).source());
    chain.fold(error.to_string(), |text, error| format!("{text}: {error}"))
}

#[test]
fn the_systems_error_is_the_source_of_an_error_about_a_server_that_cannot_be_reached() {
    let port = ports::free();
    for (url, kind) in [
        (format!("redis://127.0.0.1:{port}"), ErrorKind::ConnectionRefused),
        (format!("rediss://127.0.0.1:{port}"), ErrorKind::ConnectionRefused),
        ("unix:///no/such/socket".to_owned(), ErrorKind::NotFound),
    ] {
        for error in failures(&quick(&url)) {
            let clone = error.clone();
            let source = clone.source().and_then(|source| source.downcast_ref::<std::io::Error>());
            let source = source.unwrap_or_else(|| panic!("{url}: {error:?} has no source of the system"));
            assert_eq!(source.kind(), kind, "{url}");
            assert!(error.is_transient());
            // Neither text has the other.
            assert!(!error.to_string().contains(&source.to_string()), "{}", report(&error));
        }
    }
}

#[test]
fn a_certificate_without_trust_is_the_source_of_its_error() {
    let authority = Authority::new();
    let tls = Some(Tls { shown: authority.issue("DNS:localhost"), clients: None });
    let server = Server::with(Options { tls, ..Options::default() });
    for error in failures(&quick(&format!("rediss://localhost:{}", server.tls_port()))) {
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(std::io::Error::kind), Some(ErrorKind::InvalidData), "{error:?}");
        assert!(source.is_some_and(|source| source.to_string().contains("UnknownIssuer")), "{}", report(&error));
    }
}

#[test]
fn the_servers_reply_is_the_source_of_its_refusal_and_a_report_has_its_words_once() {
    let (server, ..) = pair();
    let rights = ["on", ">secret", "~*", "&*", "+@all", "-@scripting"];
    server.view().command::<()>(&[&["ACL", "SETUSER", "reader"], &rights[..]].concat());
    let locked = Server::with(Options { password: Some("right".into()), ..Options::default() });
    for (url, code) in [
        (format!("redis://reader:secret@127.0.0.1:{}", server.port()), "NOPERM"),
        (format!("redis://127.0.0.1:{}", locked.port()), "NOAUTH"),
    ] {
        for error in failures(&quick(&url)) {
            let reply = error.source().and_then(|source| source.downcast_ref::<ServerError>());
            let reply = reply.unwrap_or_else(|| panic!("{error:?} has no reply of the server"));
            assert_eq!(reply.code(), code);
            let report = report(&error);
            let words = reply.reply().trim_end_matches('.');
            assert!(words.len() > 10 && report.matches(words).count() == 1, "{words} in: {report}");
            assert!(report.ends_with(&format!(": error reply {code}")), "{report}");
            assert!(!error.is_transient());
        }
    }
}

#[test]
fn a_server_that_loads_its_data_is_a_trouble_that_passes() {
    let loading = answering("-LOADING Redis is loading the dataset in memory\r\n");
    for error in failures(&quick(&loading)) {
        let reply = error.source().and_then(|source| source.downcast_ref::<ServerError>());
        assert_eq!(reply.map(ServerError::code), Some("LOADING"), "{error:?}");
        assert!(error.is_transient(), "{error:?}");
    }
}

#[test]
fn a_login_that_a_server_says_back_is_in_no_error_and_in_no_source() {
    let said = "-ERR unknown command 'AUTH', with args beginning with: 'hunter2' \r\n";
    let echo = answering(said).replace("redis://", "redis://:hunter2@");
    for error in failures(&quick(&echo)) {
        let said = format!("{} {error:?} {:?}", report(&error), error.source());
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// The URL of a port that gives this answer to whatever it hears.
fn answering(answer: &'static str) -> String {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("redis://{}", port.local_addr().expect("it is bound"));
    // These threads end with the test's process: nothing tells them which caller is the last.
    std::thread::spawn(move || {
        for mut peer in port.incoming().flatten() {
            std::thread::spawn(move || {
                let mut heard = [0; 4096];
                while let Ok(1..) = peer.read(&mut heard) {
                    // One answer for each command: a command begins with the number of its words.
                    let commands = heard.iter().filter(|byte| **byte == b'*').count().max(1);
                    heard.fill(0);
                    if peer.write_all(answer.repeat(commands).as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

#[test]
fn a_lock_that_a_quarantine_keeps_back_may_be_had_a_little_later() {
    let (server, a, b) = pair();
    let careful = Client::connect(&format!("{}?quarantine=true&watchdog=600", server.url())).expect("a good URL");
    let late = |client: &Client| {
        let refused = client.lock("n").wait(ms(0)).blocking().acquire().map(drop);
        refused.expect_err("it is not granted")
    };
    let error = late(&careful);
    assert!(matches!(error, Error::NotAcquired { .. }) && error.is_transient(), "{error:?}");
    let _guard = a.lock("n").blocking().acquire().expect("free");
    let error = late(&b);
    assert!(matches!(error, Error::NotAcquired { .. }) && !error.is_transient(), "{error:?}");
}

#[test]
fn the_reason_of_a_loss_is_text_and_counts_losses() {
    let mut losses = std::collections::HashMap::new();
    for reason in [LostReason::Expired, LostReason::TakenOver, LostReason::Expired] {
        *losses.entry(reason).or_insert(0) += 1;
    }
    assert_eq!(losses[&LostReason::Expired], 2);
    assert_eq!(format!("{:>12}", LostReason::TakenOver), "  taken over");
    assert_eq!(LostReason::Paused.to_string(), LostReason::Paused.name());
}
