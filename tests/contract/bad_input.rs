//! Mistakes of callers and of their surroundings, for blocking and for asynchronous calls. Each gets a typed error that
//! names it, and nothing is left behind.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use redlatch::ffi::{Border, LEASE_MAX, NAME_MAX, Op, Request};
use redlatch::{Client, Config, Error};
use redlatch_tests::*;

use super::{eventually, pair, secs};

const QUICK: &str = "?response_timeout=0.4&retry_for=0.4";

fn quick(url: &str) -> Client {
    Client::connect(&format!("{url}{QUICK}")).expect("a good URL")
}

/// The errors of a blocking call and of an asynchronous one.
fn failures(client: &Client) -> [Error; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the system gives an event queue");
    let blocking = client.lock("n").wait(secs(5)).blocking().acquire().map(drop);
    let asynchronous = runtime.block_on(client.lock("n").try_acquire()).map(drop);
    [blocking, asynchronous].map(|end| end.expect_err("it cannot work"))
}

#[test]
fn a_missing_and_a_wrong_password_are_refused_and_the_right_one_works() {
    let server = Server::with(Options { password: Some("right".into()), ..Options::default() });
    let with = |login: &str| quick(&format!("redis://{login}127.0.0.1:{}", server.port()));
    for (login, expected) in [("", "NOAUTH"), (":wrong@", "WRONGPASS"), ("stranger:right@", "WRONGPASS")] {
        for error in failures(&with(login)) {
            let Error::Refused { code, .. } = &error else { panic!("{login}: {error:?}") };
            assert_eq!(code, expected, "{login}: {error}");
            assert!(!error.to_string().contains("right@"));
        }
    }
    with(":right@").lock("n").blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn a_user_that_may_not_run_scripts_is_told_which_right_it_lacks() {
    let (server, ..) = pair();
    server.view().command::<()>(&["ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@all", "-@scripting"]);
    for error in failures(&quick(&format!("redis://reader:secret@127.0.0.1:{}", server.port()))) {
        let Error::Refused { code, message, .. } = &error else { panic!("{error:?}") };
        assert_eq!(code, "NOPERM");
        assert!(message.contains("eval"), "{error}");
    }
}

#[test]
fn a_port_without_a_server_and_a_host_without_an_address_are_named() {
    for address in [format!("redis://127.0.0.1:{}", ports::free()), "redis://no-such-host.invalid:6379".into()] {
        for error in failures(&quick(&address)) {
            assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
            assert!(error.to_string().starts_with(&address), "{error}");
        }
    }
    for error in failures(&quick("unix:///no/such/socket")) {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    }
}

#[test]
fn a_server_that_is_no_redis_is_told_in_bounded_time() {
    for answer in ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "\0\0\0\0", "$-7\r\n", "*1000000000\r\n"] {
        let impostor = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = impostor.local_addr().expect("it is bound").port();
        // This thread ends with the test's process: nothing tells it which caller is the last.
        std::thread::spawn(move || {
            for mut peer in impostor.incoming().flatten() {
                let _ = peer.read(&mut [0; 1024]).and_then(|_| peer.write_all(answer.as_bytes()));
            }
        });
        for error in failures(&quick(&format!("redis://127.0.0.1:{port}"))) {
            assert!(matches!(error, Error::Unavailable { .. } | Error::Unsupported(_)), "{answer:?}: {error:?}");
        }
    }
}

#[test]
fn times_without_end_and_odd_names_work() {
    for name in ["with spaces and\nlines", "{brace}d", "ünïcode ✓", "nul\0", &"x".repeat(NAME_MAX)] {
        is_a_name(name);
    }
}

// In a cluster it is no part of a name: the lock's keys would be in several slots.
#[test]
fn a_lone_brace_is_part_of_a_name() {
    is_a_name("open {");
}

fn is_a_name(name: &str) {
    let (server, a, _) = pair();
    let guard = a.lock(name).wait(Duration::MAX).lease(LEASE_MAX).blocking().acquire().expect("free");
    assert!(server.view().exists(name));
    guard.release().expect("held");
    assert!(!server.view().exists(name));
}

#[test]
fn a_file_of_which_aliases_make_too_much_is_refused() {
    let aliases = "*a, ".repeat(100);
    let yaml = format!(
        "singleServerConfig: {{address: 'redis://h', clientName: &a {}}}\nall: [{aliases}]",
        "x".repeat(60_000)
    );
    let Err(Error::Config(said)) = Config::from_redisson(&yaml).map(drop) else { panic!("it must be refused") };
    assert!(said.contains("values that are too long") && said.contains("line 2"), "{said}");
}

#[test]
fn a_number_out_of_range_is_answered_with_both_ends_of_the_range() {
    for (option, value, least, most) in [
        ("watchdog", "0.05", "0.1", "31536000"),
        ("response_timeout", "0", "0.001", "31536000"),
        ("connect_timeout", "0", "0.001", "31536000"),
        ("retry_for", "-1", "0", "31536000"),
        ("fair_wait", "1e9", "0", "31536000"),
        ("turn", "-0.001", "0", "31536000"),
        ("database", "-1", "0", "1000000"),
        ("database", "1000001", "0", "1000000"),
    ] {
        let refused = Config::from_url("redis://h").expect("a good URL").set(option, value).map(|_| ());
        let Err(Error::Config(said)) = refused else { panic!("{option}={value} must be refused") };
        assert!(said.contains(&format!("`{value}` is not a number")), "{said}");
        assert!(said.contains(&format!("from {least} to {most}")), "{said}");
    }
}

#[test]
fn a_group_with_a_value_that_is_too_long_is_shown_without_control_characters() {
    let client = Client::connect("redis://h").expect("a good URL");
    let group = client.multi_lock_group("tables", &["n".repeat(65_536)]);
    let Err(Error::Config(said)) = group.blocking().try_acquire().map(drop) else { panic!("it must be refused") };
    assert!(said.starts_with("the name `tables: nnn") && said.contains("65536"), "{said:?}");
}

#[test]
fn unknown_options_are_refused_by_name() {
    for (option, value) in [
        ("response_timeout", "-1"),
        ("response_timeout", "soon"),
        ("connect_timeout", "0"),
        ("retry_for", "inf"),
        ("watchdog", "0"),
        ("watchdog", "NaN"),
        ("watchdog", "1e300"),
        ("database", "-1"),
        ("client_name", "two words"),
        ("wachtdog", "30"),
        ("sharded", "maybe"),
        ("nat", "here"),
        ("sync", "all"),
        ("sync", "none(replicas=1)"),
        ("sync", "wait(replicas=1"),
        ("sync", "wait(replicas=0)"),
        ("sync", "wait(replicas=-1)"),
        ("sync", "wait(replicas=1001)"),
        ("sync", "wait(within=NaN)"),
        ("sync", "wait(within=0)"),
        ("sync", "wait(local=1)"),
        ("sync", "wait(1)"),
        ("sync", "wait_aof(replicas=0,local=0)"),
        ("sync", "wait_aof(local=2)"),
    ] {
        let Err(Error::Config(said)) =
            Config::from_url("redis://h").expect("a good URL").set(option, value).map(|_| ())
        else {
            panic!("{option}={value} must be refused")
        };
        assert!(said.contains(option), "{said}");
    }
    let Err(Error::Config(said)) = Client::connect("redis://h?sync=wait(within=30)&watchdog=30").map(drop) else {
        panic!("no hold would last until it is confirmed")
    };
    assert!(said.contains("wait(replicas=1,within=30)") && said.contains("30s"), "{said}");
    for replicas in [0, u32::MAX] {
        let policy = redlatch::SyncPolicy::Wait { replicas, within: secs(1) };
        let config = Config::from_url("redis://h").expect("a good URL").sync(policy);
        assert!(matches!(Client::with_config(config).map(drop), Err(Error::Config(_))));
    }
    let Err(Error::Config(said)) = Client::connect("http://user:secret@h").map(drop) else {
        panic!("it must be refused")
    };
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn a_release_without_holding_is_told_and_changes_nothing() {
    let (server, a, b) = pair();
    let guard = a.lock("n").owner(1).blocking().acquire().expect("free");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the system gives an event queue");
    for client in [&a, &b] {
        for request in [
            Request::new(Op::Release, "plain", "n", 2),
            Request { hold: 77, ..Request::new(Op::Release, "plain", "n", 2) },
        ] {
            for end in [client.run_blocking(request.clone()), runtime.block_on(client.run(request))] {
                let Err(Error::NotHeld { lock, owner, .. }) = end else { panic!("{end:?}") };
                assert_eq!((lock, owner), ("n".to_owned(), format!("{}:2", client.id())));
            }
        }
    }
    guard.ensure().expect("held");
    assert_eq!(server.view().hgetall("n").len(), 1);
    guard.release().expect("held");
}

#[test]
fn a_server_that_dies_later_is_told_and_works_again_when_it_is_back() {
    let (server, ..) = pair();
    let client = quick(&server.url());
    let guard = client.lock("held").blocking().acquire().expect("free");
    server.stop();
    for error in failures(&client) {
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    }
    guard.ensure().expect("no other owner can hold the lock before its lease has ended");
    assert!(matches!(guard.release(), Err(Error::Unavailable { .. })));
    server.restart();
    client.lock("n").wait(secs(20)).blocking().acquire().expect("it is back").release().expect("held");
    eventually(|| server.view().keys("*").is_empty());
}

#[test]
fn a_user_without_a_password_is_an_error_and_not_a_login_as_the_default_user() {
    let is_told = |error: Error, user: &str| {
        let said = error.to_string();
        assert_eq!(error.code(), "config", "{said}");
        assert!(said.contains(&format!("{user} has no password")) && said.contains("leave the user out"), "{said}");
        // The misplaced text may be the password itself.
        assert!(!said.contains("hunter2"), "{said}");
    };
    for (url, user) in [
        ("redis://hunter2@localhost", "the user"),
        ("redis://localhost?username=hunter2", "the user"),
        ("redis+sentinel://localhost/m?sentinel_username=hunter2", "the user of the sentinels"),
    ] {
        is_told(Client::connect(url).map(drop).expect_err(url), user);
        // The other half of the login may be given separately.
        let mut config = Config::from_url(url).expect("an option may follow");
        is_told(Client::with_config(config.clone()).map(drop).expect_err(url), user);
        config
            .set("password", "some")
            .and_then(|config| config.set("sentinel_password", "other"))
            .expect("a good option");
        Client::with_config(config).expect("both are there");
    }
    let client = Client::connect("redis://localhost").expect("a good URL");
    is_told(client.set_credentials(Some("hunter2"), "").expect_err("no password"), "the user");
    client.set_credentials(None, "").expect("the default user may have none");
}

/// The other connections of a client get in there, by `HELLO`.
#[test]
fn a_password_for_a_server_without_one_is_no_error_on_any_connection() {
    let server = Server::start();
    let client = quick(&format!("redis://:needless@127.0.0.1:{}", server.port()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the system gives an event queue");
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
    runtime.block_on(async { client.lock("n").acquire().await.expect("free").release().await.expect("held") });
}

#[test]
fn a_server_without_room_for_a_connection_is_waited_for() {
    let server = Server::start();
    let mut view = server.view();
    let room = view.command::<Vec<String>>(&["CONFIG", "GET", "maxclients"])[1].clone();
    view.command::<()>(&["CONFIG", "SET", "maxclients", "1"]);
    let full = quick(&server.url()).lock("n").blocking().try_acquire().map(drop).expect_err("no room");
    assert!(full.is_transient() && full.to_string().contains("maxclients"), "{full}");
    let url = server.url();
    let waiting = std::thread::spawn(move || {
        let client = Client::connect(&format!("{url}?retry_for=20")).expect("a good URL");
        client.lock("n").wait(secs(20)).blocking().acquire().map(drop)
    });
    let mut rejected = || {
        let stats: redis::InfoDict = view.command(&["INFO", "stats"]);
        stats.get::<u64>("rejected_connections").expect("the server counts them")
    };
    let before = rejected();
    eventually(|| rejected() > before);
    view.command::<()>(&["CONFIG", "SET", "maxclients", &room]);
    waiting.join().expect("no panic").expect("there is room");
}
