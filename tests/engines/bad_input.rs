//! Bad input and bad servers: typed errors, and nothing held.

use redlatch::ffi::{Border, Op, Request, kinds};
use redlatch::{Client, Config, Error};
use redlatch_tests::{Mariadb, Server, secs};

use crate::client;

fn try_once(url: &str) -> Error {
    let client = match Client::connect(url) {
        Ok(client) => client,
        Err(error) => return error,
    };
    client.lock("n").blocking().try_acquire().map(drop).expect_err("it cannot succeed")
}

#[test]
fn a_login_that_the_server_refuses_is_told_without_the_password() {
    let server = Mariadb::shared();
    let port = server.port();
    for (url, says) in [
        (format!("mysql://app:wrong-secret@127.0.0.1:{port}/app"), "check the user"),
        (format!("mysql://nobody:wrong-secret@127.0.0.1:{port}/app"), "check the user"),
        (format!("mysql://app:secret@127.0.0.1:{port}/missing"), "make that schema"),
    ] {
        let error = try_once(&url);
        let said = error.to_string();
        assert!(matches!(error, Error::Refused { .. }), "{said}");
        assert!(said.contains(says) && !said.contains("secret"), "{said}");
    }
}

#[test]
fn a_new_password_without_its_user_is_refused_and_the_old_login_stays() {
    let ours = client(Mariadb::shared(), "");
    for user in [None, Some("")] {
        let error = ours.set_credentials(user, "other-secret").expect_err("the server has no default user");
        let said = error.to_string();
        assert!(matches!(error, Error::Config(_)) && said.contains("has no default user"), "{said}");
        assert!(said.contains("give the user") && !said.contains("other-secret"), "{said}");
    }
    ours.lock("login").blocking().acquire().expect("by the user of the URL").release().expect("held");
    ours.set_credentials(Some("other"), "secret").expect("a user and its password");
}

#[test]
fn options_and_addresses_that_do_not_fit_are_refused_before_anything_is_sent() {
    for (url, says) in [
        ("mysql://127.0.0.1:1/app", "has no user"),
        ("mysql://app:x@127.0.0.1:1/app?sync=wait(replicas=1)", "the option sync"),
        ("mysql://app:x@127.0.0.1:1/app?quarantine=true", "the option quarantine"),
        ("mysql://app:x@127.0.0.1:1/app?database=3", "the option database"),
        ("mysql://app:x@127.0.0.1:1/app?waiters=0", "the waiters `0`"),
        ("mysql://app:x@127.0.0.1:1/app?waiters=many", "the waiters `many`"),
        ("mysql://app:x@one,two/app", "names several servers"),
        ("mysql://app:x@one/app/more", "more behind its host"),
        ("mysql+cluster://app:x@one/app", "has the scheme"),
        ("mysql://app:x@one/app?tls_verify=none", "write mysqls://"),
        ("mariadb://app:x@one/app?tls_verify=none", "write mariadbs://"),
        ("redis://127.0.0.1:1?waiters=nine", "the waiters `nine`"),
    ] {
        let error = Client::connect(url).map(drop).expect_err(url);
        assert!(matches!(error, Error::Config(_)) && error.to_string().contains(says), "{url}: {error}");
        assert!(!error.to_string().contains(":x@"), "{error}");
    }
    let shown = format!("{:?}", Config::from_url("mysql://app:hidden@127.0.0.1:1/app").expect("a good URL"));
    assert!(!shown.contains("hidden") && shown.contains("mysql://127.0.0.1:1"), "{shown}");
}

#[test]
fn a_server_of_another_kind_behind_the_port_is_told() {
    let redis = Server::start();
    let error = try_once(&format!("mysql://app:x@{}/app?connect_timeout=1&retry_for=0", redis.address()));
    assert!(matches!(error, Error::Unavailable { .. }), "{error}");
    let nothing = try_once("mysql://app:x@127.0.0.1:1/app");
    assert!(
        matches!(nothing, Error::Unavailable { .. }) && nothing.to_string().contains("cannot be reached"),
        "{nothing}"
    );
}

#[test]
fn a_server_that_is_read_only_is_refused_with_a_sentence() {
    let server = Mariadb::with(&["--read-only=1"]);
    let error = try_once(&server.url());
    assert!(error.to_string().contains("read-only") && error.to_string().contains("primary"), "{error}");
    server.sql().ask("SET GLOBAL read_only = 0");
    client(&server, "").lock("n").blocking().acquire().expect("it is a primary now").release().expect("held");
}

#[test]
fn each_kind_that_the_system_does_not_have_is_told_with_those_that_it_has() {
    let ours = client(Mariadb::shared(), "");
    for row in kinds::ALL {
        let kind = row.traits.name;
        let has = ["plain", "non_reentrant", "fenced"].contains(&kind);
        assert_eq!(ours.supports(kind).is_ok(), has, "{kind}");
        let asked = ours.run_blocking(Request { numbers: vec![1], ..Request::new(Op::Acquire, kind, "kinds", 1) });
        match asked {
            Ok(answer) => assert!(has && answer.done, "{kind}"),
            Err(error) => {
                let said = error.to_string();
                assert!(!has && matches!(error, Error::Unsupported(_)), "{said}");
                assert!(
                    said.contains(&format!("the kind {kind};")) && said.contains("plain, non_reentrant, fenced"),
                    "{said}"
                );
                assert!(said.contains("Redis has all kinds"), "{said}");
                continue;
            }
        }
        ours.run_blocking(Request::new(Op::Release, kind, "kinds", 1)).expect("held");
    }
    for op in [Op::Keys, Op::Inventory, Op::Expiry, Op::Deletion, Op::TrySet, Op::Drain, Op::LiveFor] {
        let error = ours.run_blocking(Request::new(op, "plain", "kinds", 1)).expect_err("there is none");
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }
}

#[test]
fn a_fenced_lock_without_its_table_says_how_to_make_it_and_holds_nothing() {
    let server = Mariadb::shared();
    let port = server.port();
    for url in [format!("mysql://app:secret@127.0.0.1:{port}/bare"), format!("mysql://app:secret@127.0.0.1:{port}")] {
        let ours = Client::connect(&url).expect("a good URL");
        let error = ours.fenced_lock("no_table").blocking().acquire().map(drop).expect_err("there is no table");
        let said = error.to_string();
        assert!(matches!(error, Error::Unsupported(_)) && said.contains("CREATE TABLE redlatch_fence"), "{said}");
        let other = client(server, "");
        let free = other.fenced_lock("no_table").wait(secs(5)).blocking().acquire();
        free.expect("nothing is held").release().expect("held");
        ours.lock("no_table").wait(secs(5)).blocking().acquire().expect("it needs no table").release().expect("held");
    }
}

#[test]
fn a_forced_release_without_the_right_to_it_is_refused_with_the_remedy() {
    let server = Mariadb::shared();
    let _held = client(server, "").lock("rights").blocking().acquire().expect("free");
    let weak = Client::connect(&format!("mysql://other:secret@127.0.0.1:{}/app", server.port())).expect("a good URL");
    let error = weak.lock("rights").blocking().force_release().expect_err("it has no right");
    let said = error.to_string();
    assert!(matches!(error, Error::Refused { .. }) && said.contains("CONNECTION ADMIN"), "{said}");
    // It needs no right for its own.
    let own = weak.lock("own").blocking().acquire().expect("free");
    assert!(weak.lock("own").blocking().force_release().expect("answered"));
    assert!(own.ensure().is_err());
}

#[test]
fn a_server_without_room_for_one_more_session_is_told_and_waited_for() {
    let server = Mariadb::with(&["--max-connections=10"]);
    let mut others: Vec<_> = (0..9).map(|_| server.sql()).collect();
    while let Ok(more) = redlatch_tests::Sql::connect(server.port(), "other") {
        others.push(more);
    }
    let user = format!("mysql://other:secret@127.0.0.1:{}/app", server.port());
    let error = try_once(&format!("{user}?retry_for=0"));
    assert!(error.is_transient() && error.to_string().contains("max_connections"), "{error}");
    drop(others);
    let late = Client::connect(&user).expect("a good URL");
    late.lock("n").wait(secs(5)).blocking().acquire().expect("there is room").release().expect("held");
}

#[test]
fn an_error_names_a_lock_as_the_program_does() {
    let server = Mariadb::start();
    let ours = client(&server, "prefix=app:&retry_for=0&response_timeout=1");
    let mut sql = server.sql();
    let tried = || ours.fenced_lock("n").blocking().try_acquire().expect_err("there is no token").to_string();
    sql.ask("LOCK TABLES app.redlatch_fence WRITE");
    let text = tried();
    assert!(text.contains("fencing token of `n`"), "{text}");
    sql.ask("UNLOCK TABLES");
    sql.ask("DROP TABLE app.redlatch_fence");
    let text = tried();
    assert!(text.contains("`n` gets no fencing token"), "{text}");
}
