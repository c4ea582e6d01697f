//! TLS, logins, and nodes that not every client may use: who is let in, and typed errors for the others, which hold nothing.

use redlatch::{Client, Config, Error};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Authority, Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::client;

fn secured(server: &Zookeeper, host: &str, options: &[(&str, &str)]) -> Client {
    let url = format!("zookeepers://{host}:{}?connect_timeout=5&retry_for=0.2", server.secure_port());
    let mut config = Config::from_url(&url).expect("a good URL");
    for (option, value) in options {
        config.set(option, value).expect("a good option");
    }
    Client::with_config(config).expect("they fit together")
}

fn refusal(client: &Client, name: &str) -> Error {
    client.lock(name).blocking().try_acquire().map(drop).expect_err("it must not work")
}

fn assert_unavailable(client: &Client, words: &str) {
    let error = refusal(client, "n");
    let said = error.to_string();
    assert!(matches!(error, Error::Unavailable { .. }) && said.contains(words), "{words} in: {said}");
}

#[test]
fn a_lock_over_tls_is_the_same_lock_and_goes_on_over_broken_connections() {
    let authority = Authority::new();
    let server = Zookeeper::secured(&authority, "DNS:localhost", &[]);
    let ours = secured(&server, "localhost", &[("tls_ca", &authority.cert())]);
    let plain = client(&server, "retry_for=20");
    let guard = ours.fenced_lock("n").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| plain.lock("n").wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
        eventually(|| server.nodes().children("/n").len() == 2);
        server.kill();
        server.restart();
        guard.ensure().expect("held");
        guard.release().expect("held");
        waits.join().expect("no panic").expect("woken").expect("held");
    });
}

#[test]
fn a_server_that_shows_no_certificate_of_a_trusted_authority_for_its_host_is_refused_with_the_remedy() {
    let authority = Authority::new();
    let server = Zookeeper::secured(&authority, "DNS:localhost", &[]);
    let nodes = server.nodes();
    let (right, wrong) = (authority.cert(), Authority::new());
    assert_unavailable(&secured(&server, "localhost", &[]), "name the file of its authority's certificate with tls_ca");
    assert_unavailable(&secured(&server, "localhost", &[("tls_ca", &wrong.cert())]), "with tls_ca");
    assert_unavailable(&secured(&server, "127.0.0.1", &[("tls_ca", &right)]), "tls_verify=ca");
    assert_unavailable(
        &secured(&server, "localhost", &[("tls_ca", &wrong.cert()), ("tls_verify", "ca")]),
        "with tls_ca",
    );
    assert_eq!(server.sessions(), [nodes.id()], "no session has begun");
    for (host, options) in [
        ("127.0.0.1", [("tls_ca", &*right), ("tls_verify", "ca")].as_slice()),
        ("localhost", &[("tls_verify", "none")]),
    ] {
        secured(&server, host, options).lock("n").blocking().acquire().expect("free").release().expect("held");
    }
}

#[test]
fn a_server_that_wants_a_certificate_of_its_clients_lets_in_those_that_have_one() {
    let authority = Authority::new();
    let server = Zookeeper::secured(&authority, "DNS:localhost", &["ssl.clientAuth=need"]);
    let ca = authority.cert();
    let error = refusal(&secured(&server, "localhost", &[("tls_ca", &ca)]), "n");
    let said = error.to_string();
    assert!(matches!(error, Error::Unavailable { .. }) && said.contains("tls_cert"), "{said}");
    let own = authority.issue("DNS:app");
    let ours = secured(&server, "localhost", &[("tls_ca", &ca), ("tls_cert", &own.cert), ("tls_key", &own.key)]);
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    let foreign = Authority::new();
    let other = foreign.issue("DNS:app");
    let ours = secured(&server, "localhost", &[("tls_ca", &ca), ("tls_cert", &other.cert), ("tls_key", &other.key)]);
    assert!(matches!(refusal(&ours, "n"), Error::Unavailable { .. }));
}

#[test]
fn a_port_with_tls_and_one_without_are_told_apart() {
    let authority = Authority::new();
    let server = Zookeeper::secured(&authority, "DNS:localhost", &[]);
    let quick = "connect_timeout=1&retry_for=0";
    let plain =
        Client::connect(&format!("zookeeper://localhost:{}?{quick}", server.secure_port())).expect("a good URL");
    assert_unavailable(&plain, "zookeepers://");
    let secured = Client::connect(&format!("zookeepers://localhost:{}?{quick}", server.port())).expect("a good URL");
    assert_unavailable(&secured, "before TLS begins; if its port is one without TLS, write zookeeper://");
}

/// The scheme `digest` only names a user: the server compares it with the rights of each node.
#[test]
fn a_wrong_password_matters_only_where_the_nodes_belong_to_a_user() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    // An empty container would go by itself, and its rights with it.
    nodes.create("/app", b"", Mode::Persistent).expect("made");
    nodes.restrict("/app", "app:secret").expect("its own");
    let [right, wrong, other, none] = ["app:secret@", "app:wrong@", "other:secret@", ""]
        .map(|user| Client::connect(&format!("zookeeper://{user}127.0.0.1:{}", server.port())).expect("a good URL"));
    for ours in [&right, &wrong, &other, &none] {
        ours.lock("open").blocking().acquire().expect("any client may").release().expect("held");
    }
    let held = right.lock("app/n").blocking().acquire().expect("its own");
    for ours in [&wrong, &other, &none] {
        let error = refusal(ours, "app/closed");
        let said = error.to_string();
        assert!(
            matches!(error, Error::Refused { .. }) && said.contains("NoAuth") && said.contains("user:password"),
            "{said}"
        );
        assert!(!said.contains("wrong") && !said.contains("secret"), "{said}");
        // A node below it has rights of its own.
        assert!(ours.lock("app/n").wait(ms(100)).blocking().acquire().is_err());
    }
    eventually(|| server.figure("zk_ephemerals_count") == 1);
    held.release().expect("held");
}

/// Curator's users may give their nodes to themselves.
#[test]
fn a_lock_is_seen_to_be_locked_also_where_its_holders_node_may_not_be_read() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    nodes.prepare("/unread");
    let holder = nodes.create("/unread/_c_0-lock-", b"", Mode::EphemeralSequential).expect("made");
    nodes.limit(&holder, 2).expect("its own");
    let ours = client(server, "");
    assert!(ours.fenced_lock("unread").blocking().is_locked().expect("answered"));
    nodes.delete(&holder);
    assert!(!ours.fenced_lock("unread").blocking().is_locked().expect("answered"));
}

/// The server lets it make a node, but not see those of others.
#[test]
fn a_client_that_may_not_look_at_a_queue_is_refused_and_has_no_place_in_it() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    nodes.create("/blind", b"", Mode::Persistent).expect("made");
    nodes.limit("/blind", 4 | 8).expect("its own");
    let ours = client(&server, "");
    for _ in 0..3 {
        let error = refusal(&ours, "blind");
        assert!(matches!(error, Error::Refused { .. }), "{error}");
    }
    eventually(|| server.figure("zk_ephemerals_count") == 0);
}

#[test]
fn a_release_that_the_server_refuses_says_so_and_the_lock_ends_with_the_client() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    nodes.create("/kept", b"", Mode::Persistent).expect("made");
    nodes.limit("/kept", 1 | 4).expect("its own");
    let ours = client(&server, "");
    let guard = ours.lock("kept").blocking().acquire().expect("free");
    let error = guard.release().expect_err("it may not");
    let said = error.to_string();
    assert!(matches!(error, Error::Refused { .. }) && said.contains("ends with the session"), "{said}");
    assert_eq!(nodes.children("/kept").len(), 1);
    ours.close_blocking(redlatch::Holds::Release);
    assert!(nodes.children("/kept").is_empty());
}

/// A hand-over to a waiter of the same client gives the node back and makes another.
#[test]
fn a_lock_goes_back_even_if_the_server_makes_no_node_for_the_next_owner() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    nodes.create("/full", b"", Mode::Persistent).expect("made");
    let ours = client(&server, "turn=0");
    let guard = ours.lock("full").owner(1).blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.lock("full").owner(2).wait(secs(20)).blocking().acquire().map(drop));
        std::thread::sleep(ms(200));
        nodes.limit("/full", 1 | 8).expect("its own");
        guard.release().expect("held");
        let error = waits.join().expect("no panic").expect_err("no node can be made");
        assert!(matches!(error, Error::Refused { .. }), "{error}");
    });
    assert!(nodes.children("/full").is_empty());
}

#[test]
fn a_server_that_wants_a_login_by_sasl_is_told_with_what_there_is() {
    let server = Zookeeper::with(&[
        "sessionRequireClientSASLAuth=true",
        "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    ]);
    let ours = client(&server, "retry_for=0.2");
    let error = refusal(&ours, "n");
    let said = error.to_string();
    assert!(matches!(error, Error::Refused { .. }) && said.contains("SASL"), "{said}");
}
