//! Locks over TLS, and the errors where TLS fails.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use redlatch::{Client, Config, Error};
use redlatch_tests::*;
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom, ring};

use super::{eventually, secs};

fn server(authority: &Authority, hosts: &str, clients: Option<String>) -> Server {
    Server::with(Options { tls: Some(Tls { shown: authority.issue(hosts), clients }), ..Options::default() })
}

fn config(host: &str, server: &Server, options: &[(&str, &str)]) -> Config {
    let url = format!("rediss://{host}:{}?response_timeout=2&retry_for=2", server.tls_port());
    let mut config = Config::from_url(&url).expect("a good URL");
    for (option, value) in options {
        config.set(option, value).expect("a good option");
    }
    config
}

fn client(host: &str, server: &Server, options: &[(&str, &str)]) -> Client {
    Client::with_config(config(host, server, options)).expect("they fit together")
}

/// The errors of a blocking call and of an asynchronous one.
fn refusals(client: &Client) -> [String; 2] {
    let direct = client.lock("n").blocking().try_acquire().map(drop).expect_err("it must not work");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    let mux = runtime.block_on(client.lock("n").try_acquire()).map(drop).expect_err("it must not work");
    [direct, mux].map(|error| {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        error.to_string()
    })
}

fn assert_says(client: &Client, words: &[&str]) {
    for said in refusals(client) {
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} in: {said}");
    }
}

#[test]
fn a_lock_is_taken_waited_for_and_released_over_tls() {
    let authority = Authority::new();
    let server = server(&authority, "DNS:localhost", None);
    let trusting = || client("localhost", &server, &[("tls_ca", &authority.cert())]);
    let a = trusting();
    let b = trusting();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let waiter =
        std::thread::spawn(move || b.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
    let mut view = server.view();
    eventually(|| view.listeners("redisson_lock__channel:{n}") == 1);
    guard.release().expect("held");
    waiter.join().expect("no panic").expect("woken").expect("held");
}

/// The randomness of an application's own cryptography, and how often it was asked for.
#[derive(Debug)]
struct Chosen(AtomicUsize);

static CHOSEN: Chosen = Chosen(AtomicUsize::new(0));

impl SecureRandom for Chosen {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        self.0.fetch_add(1, SeqCst);
        ring::default_provider().secure_random.fill(bytes)
    }
}

#[test]
fn a_client_leaves_the_cryptography_of_the_process_to_the_application_and_takes_its_choice() {
    let authority = Authority::new();
    let server = server(&authority, "DNS:localhost", None);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("threads");
    let lock = || {
        for options in [&[("tls_ca", &*authority.cert())][..], &[("tls_verify", "none")]] {
            let client = client("localhost", &server, options);
            client.lock("n").blocking().acquire().expect("free").release().expect("held");
            let lock = async { client.lock("n").acquire().await?.release().await };
            runtime.block_on(lock).expect("free");
        }
    };
    lock();
    let provider = CryptoProvider { secure_random: &CHOSEN, ..ring::default_provider() };
    provider.install_default().expect("no connection has chosen for the application");
    assert_eq!(CHOSEN.0.load(SeqCst), 0);
    lock();
    assert!(CHOSEN.0.load(SeqCst) > 0, "the application's choice counts");
}

/// PEM without a certificate in it: the text decodes.
const NO_CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";

#[test]
fn an_authority_that_is_no_certificate_is_refused_with_its_configuration() {
    let config = Config::from_url("rediss://localhost").expect("a good URL");
    let refused = Client::with_config(config.tls_ca(NO_CERTIFICATE)).map(|client| client.id());
    let Err(Error::Config(said)) = refused else { panic!("it must be refused: {refused:?}") };
    assert!(said.contains("tls_ca") && said.contains("certificate"), "{said}");
    let named = Config::from_url("rediss://localhost").expect("a good URL").set("tls_ca", NO_CERTIFICATE).map(drop);
    assert!(matches!(named, Err(Error::Config(_))), "{named:?}");
}

#[test]
fn a_server_may_ask_for_the_certificate_of_a_client() {
    let authority = Authority::new();
    let server = server(&authority, "DNS:localhost", Some(authority.cert()));
    let ca = authority.cert();
    let mine = authority.issue("DNS:a-client");
    let shown = client("localhost", &server, &[("tls_ca", &ca), ("tls_cert", &mine.cert), ("tls_key", &mine.key)]);
    shown.lock("n").blocking().acquire().expect("free").release().expect("held");
    let text = |file: &str| std::fs::read_to_string(file).expect("it is there");
    let options = [("tls_ca", &*text(&ca)), ("tls_cert", &*text(&mine.cert)), ("tls_key", &*text(&mine.key))];
    let from_memory = client("localhost", &server, &options);
    from_memory.lock("n").blocking().acquire().expect("free").release().expect("held");
    assert_says(&client("localhost", &server, &[("tls_ca", &ca)]), &["tls_cert", "tls_key"]);
}

#[test]
fn the_caller_chooses_what_a_certificate_must_prove() {
    let authority = Authority::new();
    let other = Authority::new();
    let server = server(&authority, "DNS:localhost", None);
    let ca = authority.cert();
    let wrong = other.cert();
    let free = |host, options: &[_]| {
        client(host, &server, options).lock("n").blocking().acquire().expect("free").release().expect("held")
    };
    free("127.0.0.1", &[("tls_ca", &ca), ("tls_verify", "ca")]);
    free("127.0.0.1", &[("tls_verify", "none")]);
    assert_says(&client("127.0.0.1", &server, &[("tls_ca", &ca)]), &["another host", "localhost", "tls_verify=ca"]);
    assert_says(&client("localhost", &server, &[("tls_ca", &wrong)]), &["no trusted authority", "tls_ca"]);
    assert_says(
        &client("localhost", &server, &[("tls_ca", &wrong), ("tls_verify", "ca")]),
        &["no trusted authority", "tls_ca"],
    );
    assert_says(&client("localhost", &server, &[]), &["no trusted authority", "tls_ca"]);
}

#[test]
fn a_waiter_is_told_of_a_server_that_has_become_another() {
    let authority = Authority::new();
    let other = Authority::new();
    let mine = authority.issue("DNS:localhost");
    let others = other.issue("DNS:localhost");
    let server = Server::with(Options { tls: Some(Tls { shown: mine.clone(), clients: None }), ..Options::default() });
    let client = client("localhost", &server, &[("tls_ca", &authority.cert())]);
    let guard = client.lock("n").blocking().acquire().expect("free");
    let (told, error) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(client.lock("n").owner(2).blocking().acquire().map(drop)));
    eventually(|| server.view().listeners("redisson_lock__channel:{n}") == 1);
    for (from, to) in [(&others.cert, &mine.cert), (&others.key, &mine.key)] {
        std::fs::copy(from, to).expect("a file");
    }
    // The server never stops: a waiter that finds no server for long enough would be told of that.
    let mut view = server.view();
    view.command::<()>(&["CONFIG", "SET", "tls-cert-file", &mine.cert, "tls-key-file", &mine.key]);
    for kind in ["normal", "pubsub"] {
        view.command::<i64>(&["CLIENT", "KILL", "TYPE", kind]);
    }
    let error = error.recv_timeout(PATIENCE).expect("it is told in the end").expect_err("no client trusts that server");
    assert!(error.to_string().contains("no trusted authority"), "{error}");
    drop(guard);
}

#[test]
fn a_port_without_tls_and_one_with_it_are_told_apart() {
    let authority = Authority::new();
    let server = server(&authority, "DNS:localhost", None);
    let at = |url: String| Client::connect(&format!("{url}?response_timeout=1&retry_for=1")).expect("a good URL");
    assert_says(&at(format!("rediss://localhost:{}", server.port())), &["TLS", "redis://"]);
    assert_says(&at(format!("redis://localhost:{}", server.tls_port())), &["TLS", "rediss://"]);
}

#[test]
fn options_that_do_not_go_together_and_files_that_are_no_use_are_refused_at_once() {
    let authority = Authority::new();
    let ca = authority.cert();
    let mine = authority.issue("DNS:a-client");
    let refused = |url: &str, words: &[&str]| match Config::from_url(url) {
        Err(Error::Config(said)) => assert!(words.iter().all(|word| said.contains(word)), "{words:?} in: {said}"),
        _ => panic!("{url} must be refused"),
    };
    refused("rediss://h?tls_ca=/no/such/file", &["/no/such/file", "tls_ca", "No such file"]);
    refused(&format!("rediss://h?tls_ca={}", mine.key), &[&mine.key, "certificate"]);
    refused(&format!("rediss://h?tls_cert={}&tls_key={}", mine.cert, mine.cert), &[&mine.cert, "private key"]);
    refused(&format!("rediss://h?tls_cert={}", mine.cert), &["tls_key"]);
    refused(&format!("rediss://h?tls_key={}", mine.key), &["tls_cert"]);
    refused("rediss://h?tls_verify=maybe", &["maybe", "full", "ca", "none"]);
    refused(&format!("redis://h?tls_ca={ca}"), &["without TLS", "rediss://"]);
    let other = authority.issue("DNS:another");
    refused(&format!("rediss://h?tls_cert={}&tls_key={}", mine.cert, other.key), &["tls_cert", "tls_key", "together"]);
}
