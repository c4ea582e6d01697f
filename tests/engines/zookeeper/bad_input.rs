//! Bad input and bad servers: typed errors, and nothing held.

use redlatch::ffi::{Border, Op, Request, kinds};
use redlatch::{Client, Config, Error};
use redlatch_tests::nodes::Mode;
use redlatch_tests::{Mariadb, Server, Zookeeper, ms, secs};

use crate::zookeeper::client;

fn try_once(url: &str) -> Error {
    let client = match Client::connect(url) {
        Ok(client) => client,
        Err(error) => return error,
    };
    client.lock("n").blocking().try_acquire().map(drop).expect_err("it cannot succeed")
}

#[test]
fn options_and_addresses_that_do_not_fit_are_refused_before_anything_is_sent() {
    for (url, says) in [
        ("zookeeper://one?sync=wait(replicas=1)", "the option sync"),
        ("zookeeper://one?quarantine=true", "the option quarantine"),
        ("zookeeper://one?database=3", "the option database"),
        ("zookeeper://one?schema=n", "the option schema"),
        ("zookeeper://one?waiters=3", "the option waiters"),
        ("zookeeper://one?node_format=java", "the node_format `java`"),
        (
            "zookeeper://user@one",
            "has no password, and would not be logged in; give the password too (zookeeper://user:password@host)",
        ),
        ("zookeeper://one?username=user", "has no password"),
        (
            "zookeeper://one?password=hidden",
            "the password has no user, and would not be logged in; give the user too (zookeeper://",
        ),
        (
            "mysql://user:hidden@one/app?node_format=kazoo",
            "the option node_format, which is for ZooKeeper; leave it out",
        ),
        ("zookeeper+cluster://one", "has the scheme"),
        ("zookeeper://one/a//b", "a path behind its hosts"),
        ("zookeeper://one/a/%00", "a path behind its hosts"),
        ("zookeeper://one/zookeeper", "a path behind its hosts"),
        ("zookeeper://one/a/../b", "a path behind its hosts"),
        ("zookeeper://one/a/%2e%2E/b?turn=0", "a path behind its hosts"),
        ("zookeeper://one/.", "a path behind its hosts"),
        ("zookeeper://one,two:0/a", "has port 0"),
        ("zookeeper://one?tls_verify=none", "write zookeepers://"),
    ] {
        let error = Client::connect(url).map(drop).expect_err(url);
        assert!(matches!(error, Error::Config(_)) && error.to_string().contains(says), "{url}: {error}");
    }
    let decoded = Config::from_url("zookeeper://one/%C3%A4/ö x/?turn=0").expect("a good URL");
    assert_eq!(decoded.server(), "zookeeper://one:2181/ä/ö x");
    let config = Config::from_url("zookeeper://app:hidden@one,two:2182,[::1]:2183/a/b").expect("a good URL");
    assert_eq!(config.server(), "zookeeper://one:2181,two:2182,[::1]:2183/a/b");
    assert!(!format!("{config:?}").contains("hidden"));
}

#[test]
fn a_server_of_another_kind_behind_the_port_is_told() {
    let redis = Server::start();
    let quick = "connect_timeout=2&retry_for=0";
    for port in [redis.port(), Mariadb::shared().port()] {
        let error = try_once(&format!("zookeeper://127.0.0.1:{port}?{quick}"));
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        let said = error.to_string();
        let told = ["another protocol", "closes the connection", "did not let the client in"];
        assert!(told.into_iter().any(|words| said.contains(words)), "{said}");
    }
    let error = try_once(&format!("mysql://app:x@127.0.0.1:{}/app?{quick}", Zookeeper::shared().port()));
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
    let nothing = try_once("zookeeper://127.0.0.1:1");
    assert!(
        matches!(nothing, Error::Unavailable { .. }) && nothing.to_string().contains("cannot be reached"),
        "{nothing}"
    );
}

#[test]
fn each_kind_that_the_system_does_not_have_is_told_with_those_that_it_has() {
    let ours = client(Zookeeper::shared(), "");
    let all = [
        "plain",
        "non_reentrant",
        "fenced",
        "fair",
        "non_reentrant_fair",
        "read",
        "write",
        "permit",
        "permit_semaphore",
    ];
    for row in kinds::ALL {
        let kind = row.traits.name;
        let has = all.contains(&kind);
        assert_eq!(ours.supports(kind).is_ok(), has, "{kind}");
        if kind.starts_with("permit") {
            continue;
        }
        let name = format!("kinds-{kind}");
        let asked =
            ours.run_blocking(Request { numbers: vec![1], ..Request::new(Op::Acquire, kind, name.as_str(), 1) });
        match asked {
            Ok(answer) => assert!(has && answer.done, "{kind}"),
            Err(error) => {
                let said = error.to_string();
                assert!(!has && matches!(error, Error::Unsupported(_)), "{said}");
                assert!(said.contains(&format!("the kind {kind};")) && said.contains(&all.join(", ")), "{said}");
                continue;
            }
        }
        ours.run_blocking(Request::new(Op::Release, kind, name.as_str(), 1)).expect("held");
    }
    for op in [Op::Keys, Op::Inventory, Op::Expiry, Op::Deletion, Op::TrySet, Op::Drain, Op::LiveFor] {
        let error = ours.run_blocking(Request::new(op, "plain", "kinds", 1)).expect_err("there is none");
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }
}

#[test]
fn a_name_that_is_too_long_is_refused_before_anything_is_sent() {
    let ours = client(Zookeeper::shared(), "");
    let error = ours.lock(&"n".repeat(10 << 20)).blocking().try_acquire().map(drop).expect_err("10 MB");
    assert!(matches!(error, Error::Config(_)), "{error}");
}

#[test]
fn a_path_without_the_rights_for_this_client_is_refused_with_the_remedy_and_holds_nothing() {
    let server = Zookeeper::start();
    let mut nodes = server.nodes();
    nodes.prepare("/closed");
    nodes.restrict("/closed", "app:secret").expect("its own");
    let open = client(&server, "");
    let error = open.lock("closed/n").blocking().try_acquire().map(drop).expect_err("it has no right");
    let said = error.to_string();
    assert!(matches!(error, Error::Refused { .. }) && said.contains("NoAuth") && said.contains("log in"), "{said}");
    let wrong = format!("zookeeper://app:wrong@127.0.0.1:{}", server.port());
    let wrong = Client::connect(&wrong).expect("a good URL");
    assert!(matches!(wrong.lock("closed/n").blocking().try_acquire().map(drop), Err(Error::Refused { .. })));
    let right = format!("zookeeper://app:secret@127.0.0.1:{}/closed", server.port());
    let right = Client::connect(&right).expect("a good URL");
    right.lock("n").blocking().acquire().expect("it has the right").release().expect("held");
}

#[test]
fn a_lock_below_a_node_of_a_session_is_refused_with_a_sentence() {
    let server = Zookeeper::shared();
    let mut nodes = server.nodes();
    nodes.create("/session", b"", Mode::Ephemeral).expect("made");
    let ours = client(server, "");
    for name in ["session", "session/below"] {
        let error = ours.lock(name).blocking().try_acquire().map(drop).expect_err("no node can be there");
        let said = error.to_string();
        assert!(matches!(error, Error::Refused { .. }) && said.contains("another name"), "{said}");
    }
}

#[test]
fn a_server_without_room_for_one_more_client_is_told() {
    let server = Zookeeper::with(&["maxClientCnxns=3"]);
    let nodes: Vec<_> = (0..3).map(|_| server.nodes()).collect();
    let ours = client(&server, "retry_for=0.2");
    let error = ours.lock("n").blocking().try_acquire().map(drop).expect_err("there is no room");
    assert!(error.to_string().contains("maxClientCnxns"), "{error}");
    std::thread::scope(|scope| {
        let patient = client(&server, "retry_for=20");
        let waits = scope.spawn(move || patient.lock("n").wait(secs(20)).blocking().acquire().map(drop));
        std::thread::sleep(ms(300));
        drop(nodes);
        let _ = waits.join().expect("no panic");
    });
    crate::eventually(|| ours.lock("n").wait(secs(5)).blocking().acquire().is_ok());
}
