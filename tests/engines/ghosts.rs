//! Sessions that a client has lost, and that the server may still have.

use std::time::Instant;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Direction, Mariadb, Proxy, Sql, ms, secs};

use crate::relay::Relay;
use crate::{acquire, client, eventually, wait};

/// An address behind which another server stands since a failover: each of the two knows but its own locks.
#[test]
fn a_token_of_a_server_that_does_not_have_the_lock_goes_to_no_holder() {
    let [old, new] = [(); 2].map(|()| Mariadb::start());
    let _many: Vec<_> = (0..30).map(|_| old.sql()).collect();
    let relay = Relay::start(old.port());
    let ours =
        Client::connect(&format!("{}?retry_for=1&response_timeout=1", old.url_at(relay.port))).expect("a good URL");
    let held = ours.lock("held").blocking().acquire().expect("free");
    let session = old.sql().holder("held").expect("it is held");
    relay.move_to(new.port());
    // The holder there has the same number as the client's session has on the former server.
    let mut holder = new.sql();
    while holder.id() < session {
        holder = new.sql();
    }
    assert_eq!(holder.id(), session);
    assert!(holder.lock("n", 0));
    let token = "SELECT token FROM app.redlatch_fence WHERE name = 'n'";
    holder.ask("INSERT INTO app.redlatch_fence (name, token) VALUES ('n', 7)");
    let tried = ours.fenced_lock("n").blocking().try_acquire();
    let error = match tried {
        Err(error @ Error::Unavailable { .. }) => error.to_string(),
        Err(error) => panic!("{error:?}"),
        Ok(guard) => panic!("{:?}, above that of the holder", guard.map(|guard| guard.token())),
    };
    println!("{error}; the last token is {:?}", holder.ask(token));
    held.ensure().expect("its session goes on");
}

/// The server's answer and the end of the connection come at once, while the client opens it.
#[test]
fn connections_that_end_while_they_are_opened_are_used_no_more() {
    let server = Mariadb::start();
    let relay = Relay::start(server.port());
    let url = server.url_at(relay.port);
    let ours = Client::connect(&format!("{url}?retry_for=6&response_timeout=1")).expect("a good URL");
    let guard = ours.lock("n").blocking().acquire().expect("free");
    relay.end_behind_answers(true);
    let mut sql = server.sql();
    let session = sql.holder("n").expect("it is held");
    sql.ask(&format!("KILL {session}"));
    eventually(|| guard.ensure().is_err());
    let tried = ours.lock("n").blocking().try_acquire();
    assert!(matches!(tried, Err(Error::Unavailable { .. })), "{tried:?}");
    relay.end_behind_answers(false);
    let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("a new connection is well");
    guard.release().expect("held");
}

/// A disk that stands still: the server ends no session that waits for it. Reading the other end of a pipe is such a wait.
#[test]
fn a_draw_that_the_server_cannot_end_keeps_no_other_lock_from_its_client() {
    let server = Mariadb::start();
    let mut sql = server.sql();
    let pipe = std::env::temp_dir().join(format!("redlatch-{}-pipe", std::process::id()));
    let made = std::process::Command::new("mkfifo").args(["-m", "666"]).arg(&pipe).status().expect("it is Linux");
    assert!(made.success());
    sql.ask("USE app");
    sql.ask(&format!(
        "CREATE TRIGGER stalls BEFORE INSERT ON redlatch_fence FOR EACH ROW SET @read = LOAD_FILE('{}')",
        pipe.display()
    ));
    let ours = client(&server, "response_timeout=2&retry_for=1");
    let tried = ours.fenced_lock("f").blocking().try_acquire();
    assert!(matches!(tried, Err(Error::Unavailable { .. })), "{tried:?}");
    let endless = wait(&ours, acquire("fenced", "endless", 1, None));
    // The client has given up the connection of the draw.
    let end = Instant::now() + secs(8);
    while Instant::now() < end {
        let begun = Instant::now();
        let guard = ours.lock("m").blocking().try_acquire().unwrap_or_else(|error| panic!("{error}")).expect("free");
        guard.release().expect("held");
        // Behind the draw it would have to wait for two seconds.
        assert!(begun.elapsed() < ms(1800), "{:?}", begun.elapsed());
        std::thread::sleep(ms(50));
    }
    assert!(endless.is_waiting(), "{:?}", endless.within(ms(1)));
    let hung =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%LOAD_FILE%' AND id <> CONNECTION_ID()";
    assert_ne!(sql.ask(hung).as_deref(), Some("0"), "they hang");
    // A program that opens the pipe for writing ends the waits of all that read it.
    let end = Instant::now() + secs(20);
    let came = loop {
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&pipe));
        match endless.answer.recv_timeout(ms(20)) {
            Ok(came) => break came,
            Err(_) => assert!(Instant::now() < end, "it has no token"),
        }
    };
    assert!(came.expect("it has waited for the table").done);
    eventually(|| {
        drop(std::fs::OpenOptions::new().read(true).write(true).open(&pipe));
        sql.ask(hung).as_deref() == Some("0")
    });
    let _ = std::fs::remove_file(&pipe);
}

fn through(server: &Mariadb, proxy: &Proxy, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url_at(proxy.port()))).expect("a good URL")
}

/// Tells how long another session still has the lock.
fn freed_after(sql: &mut Sql, name: &str) -> std::time::Duration {
    let begun = Instant::now();
    eventually(|| sql.holder(name).is_none());
    begun.elapsed()
}

#[test]
fn a_release_whose_connection_is_silent_frees_its_lock_before_it_is_answered() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "response_timeout=1&retry_for=3");
    let mut sql = server.sql();
    for round in 0..2 {
        let guard = ours.lock("n").wait(secs(5)).blocking().acquire().expect("free");
        proxy.freeze(Direction::ToServer);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            // Another call finds the silence out before, and gives the connection up.
            let looks = (round == 1).then(|| scope.spawn(|| ours.lock("m").blocking().is_locked()));
            let released = guard.release();
            let took = begun.elapsed();
            released.unwrap_or_else(|error| panic!("round {round} after {took:?}: {error}"));
            assert_eq!(sql.holder("n"), None, "round {round}: it is answered after {took:?}");
            looks.map(|looks| looks.join().expect("no panic").expect("answered"));
        });
        println!("round {round}: {:?}", begun.elapsed());
        proxy.flow();
    }
    // No new connection comes about either.
    let guard = ours.lock("n").wait(secs(5)).blocking().acquire().expect("free");
    proxy.freeze(Direction::ToServer);
    proxy.refuse();
    let error = guard.release().expect_err("the lock is still at the server");
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("the lock ends with its session"), "{error}");
    assert!(sql.holder("n").is_some());
    proxy.accept();
    ours.lock("m").wait(secs(10)).blocking().acquire().expect("free").release().expect("held");
    println!("the next call has freed it within {:?}", freed_after(&mut sql, "n"));
}

/// The client gives up the connection, and its session is still there.
#[test]
fn a_try_behind_a_loss_is_not_told_that_the_lost_session_has_the_lock() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    for round in 0..8 {
        let ours = through(&server, &proxy, "watchdog=1&response_timeout=1&retry_for=3");
        let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("free");
        proxy.freeze(Direction::ToServer);
        // Another connection is there for all calls.
        ours.lock("m").blocking().try_acquire().expect("answered").expect("free").release().expect("held");
        let free = loop {
            let is_lost = guard.ensure().is_err();
            let tried = ours.lock("n").owner(7).blocking().try_acquire().expect("answered");
            if is_lost || tried.is_some() {
                break tried;
            }
        };
        free.unwrap_or_else(|| panic!("taken, in round {round}")).release().expect("held");
        proxy.flow();
        proxy.cut();
    }
}

/// The former server has a lock of that name, and the next one has its tokens.
#[test]
fn a_question_for_the_latest_token_is_answered_by_one_server() {
    let [old, new] = [(); 2].map(|()| Mariadb::start());
    let relay = Relay::start(old.port());
    let ours = Client::connect(&old.url_at(relay.port)).expect("a good URL");
    let _held = ours.lock("held").blocking().acquire().expect("free");
    relay.move_to(new.port());
    let mut holder = old.sql();
    assert!(holder.lock("n", 0));
    new.sql().ask("INSERT INTO app.redlatch_fence (name, token) VALUES ('n', 7)");
    let told = ours.run_blocking(Request::new(Op::Inspect, "fenced", "n", 1)).expect("answered");
    // A lock of the one server, with a token of the other one.
    assert!((told.number, told.items[1]) != (-1, 7), "{told:?}");
}
