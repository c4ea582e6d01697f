//! Silences: a server that stands still, one connection alone, and the table of tokens that another program has
//! locked.

use std::time::{Duration, Instant};

use redlatch::ffi::{Op, Request};
use redlatch::{BlockingGuard, Client, Error};
use redlatch_tests::{Direction, Mariadb, Proxy, ms, secs};

use crate::relay::Relay;
use crate::{acquire, client, eventually, wait};

/// Makes a call that must fail as one to a server that does not answer. Gives the error's words and the time that it took.
#[track_caller]
fn fails<T>(call: impl FnOnce() -> Result<T, Error>) -> (String, Duration) {
    let begun = Instant::now();
    match call() {
        Err(error @ Error::Unavailable { .. }) => (error.to_string(), begun.elapsed()),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it succeeded"),
    }
}

fn through(server: &Mariadb, proxy: &Proxy, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url_at(proxy.port()))).expect("a good URL")
}

#[test]
fn another_programs_lock_of_the_table_of_tokens_costs_no_hold_and_ends_no_endless_wait() {
    let server = Mariadb::start();
    let blockers = [
        ("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"),
        ("LOCK TABLES redlatch_fence READ", "UNLOCK TABLES"),
        ("LOCK TABLES redlatch_fence WRITE", "UNLOCK TABLES"),
        ("UPDATE redlatch_fence SET token = token", "ROLLBACK"),
    ];
    for (blocks, ends) in blockers {
        let ours = client(&server, "watchdog=2");
        let other = client(&server, "");
        let held = ours.lock("held").blocking().acquire().expect("free");
        let before = ours.fenced_lock("f").blocking().acquire().expect("free");
        let last = before.token().expect("it is fenced");
        before.release().expect("held");
        let mut program = server.sql();
        program.ask("SET autocommit = 0");
        program.ask(blocks);
        std::thread::scope(|scope| {
            let endless = scope.spawn(|| {
                let guard = ours.fenced_lock("f").blocking().acquire().expect("it waits for the table");
                let token = guard.token().expect("it is fenced");
                guard.release().expect("held");
                token
            });
            let limited = || fails(|| ours.fenced_lock("g").wait(ms(2500)).blocking().acquire());
            let limited = scope.spawn(limited);
            let (words, took) = fails(|| ours.fenced_lock("h").blocking().try_acquire());
            assert!(words.contains("another program keeps them locked"), "{blocks}: {words}");
            assert!(took < secs(5), "{blocks}: {took:?}");
            let (words, took) = limited.join().expect("no panic");
            assert!(words.contains("another program keeps them locked"), "{blocks}: {words}");
            assert!(took < ms(3500), "{blocks}: {took:?}");
            // Other calls go on meanwhile, and the session lives.
            let begun = Instant::now();
            let free = ours.lock("free").blocking().try_acquire().expect("answered").expect("free");
            free.release().expect("held");
            assert!(begun.elapsed() < secs(1), "{blocks}: {:?}", begun.elapsed());
            held.ensure().unwrap_or_else(|loss| panic!("{blocks}: {loss}"));
            assert!(other.lock("held").blocking().try_acquire().expect("answered").is_none());
            assert!(!endless.is_finished(), "{blocks}: it waits");
            program.ask(ends);
            let token = endless.join().unwrap_or_else(|_| panic!("{blocks}: the endless wait has failed"));
            assert!(token > last, "{blocks}: {token} after {last}");
        });
        held.release().expect("held");
        // A lock that was given up is free for others.
        for name in ["f", "g", "h"] {
            let next = other.fenced_lock(name).wait(secs(5)).blocking().acquire().expect("free");
            next.release().expect("held");
        }
    }
}

#[test]
fn a_release_does_not_wait_for_the_token_of_the_next_owner() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let held = ours.fenced_lock("f").blocking().acquire().expect("free");
    let mut program = server.sql();
    program.ask("LOCK TABLES redlatch_fence WRITE");
    std::thread::scope(|scope| {
        let next = scope.spawn(|| ours.fenced_lock("f").wait(secs(30)).blocking().acquire());
        eventually(|| ours.stats().waiting == 1);
        held.release().expect("the server has answered it");
        assert!(!next.is_finished(), "no token can be drawn");
        program.ask("UNLOCK TABLES");
        next.join().expect("no panic").expect("its token comes").release().expect("held");
    });
}

/// R4, R5: a token that was drawn behind the end of its session would be greater than that of the next owner.
#[test]
fn tokens_that_are_drawn_behind_a_lock_on_their_table_grow_from_owner_to_owner() {
    let server = Mariadb::start();
    let clients = [client(&server, ""), client(&server, ""), client(&server, "")];
    clients[0].fenced_lock("n").blocking().acquire().expect("free").release().expect("held");
    let last = std::sync::Mutex::new(0);
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for client in &clients {
            let (last, over) = (&last, &over);
            scope.spawn(move || {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let Ok(guard) = client.fenced_lock("n").wait(secs(20)).blocking().acquire() else { continue };
                    let token = guard.token().expect("it is fenced");
                    {
                        let mut last = last.lock().expect("no thread panics while it has it");
                        if guard.ensure().is_ok() {
                            assert!(token > *last, "{token} after {last}");
                            *last = token;
                        }
                    }
                    let _ = guard.release();
                }
            });
        }
        let mut program = server.sql();
        for _ in 0..3 {
            program.ask("BEGIN");
            program.ask("UPDATE redlatch_fence SET token = token");
            std::thread::sleep(ms(1300));
            // The session of the one that waits for its token ends.
            if let Some(holder) = program.holder("n") {
                program.ask(&format!("KILL {holder}"));
            }
            std::thread::sleep(ms(300));
            program.ask("ROLLBACK");
            std::thread::sleep(ms(200));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(*last.lock().expect("no panic") > 1, "locks were taken");
}

#[test]
fn a_silent_server_takes_the_time_of_a_try_however_long_the_watchdog_is() {
    let server = Mariadb::start();
    let ours = client(&server, "watchdog=20&response_timeout=1&retry_for=1");
    let held = ours.lock("held").blocking().acquire().expect("free");
    server.pause();
    let (words, took) = fails(|| ours.lock("n").blocking().acquire());
    println!("an endless wait failed after {took:?}: {words}");
    assert!(took < secs(5), "{took:?}");
    let (_, took) = fails(|| ours.lock("m").wait(secs(60)).blocking().acquire());
    assert!(took < secs(5), "{took:?}");
    server.resume();
    // The locks that the server has given meanwhile go back, and no others.
    let other = client(&server, "");
    for name in ["n", "m"] {
        other.lock(name).wait(secs(10)).blocking().acquire().expect("it is given back").release().expect("held");
    }
    held.ensure().expect("the server is back in time");
    assert!(other.lock("held").blocking().try_acquire().expect("answered").is_none());
    held.release().expect("held");
}

#[test]
fn a_connection_that_goes_silent_alone_fails_no_call_of_a_client_without_holds() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    for direction in [Direction::ToServer, Direction::ToClient] {
        let ours = through(&server, &proxy, "watchdog=20");
        type Call = fn(&Client) -> Result<(), Error>;
        let calls: [(&str, Call); 5] = [
            ("try", |ours| ours.lock("n").blocking().try_acquire()?.expect("free").release()),
            ("lock", |ours| ours.lock("n").blocking().acquire()?.release()),
            ("fenced", |ours| ours.fenced_lock("n").blocking().try_acquire()?.expect("free").release()),
            ("look", |ours| ours.lock("n").blocking().is_locked().map(|is_locked| assert!(!is_locked))),
            ("ping", |ours| wait(ours, Request::new(Op::Ping, "plain", "n", 0)).within(secs(10)).map(drop)),
        ];
        for (what, call) in calls {
            ours.fenced_lock("n").wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
            proxy.freeze(direction);
            let begun = Instant::now();
            call(&ours).unwrap_or_else(|error| panic!("{what} after {:?}: {error}", begun.elapsed()));
            println!("{direction:?}: {what} took {:?}", begun.elapsed());
            assert!(begun.elapsed() < secs(4), "{what} took {:?}", begun.elapsed());
            proxy.flow();
        }
    }
}

#[test]
fn a_client_whose_connection_with_locks_goes_silent_locks_by_another_one() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "watchdog=20");
    let held = ours.lock("held").blocking().acquire().expect("free");
    proxy.freeze(Direction::ToServer);
    let guard = ours.lock("m").wait(ms(2500)).blocking().acquire().expect("by another connection");
    guard.release().expect("held");
    proxy.flow();
    proxy.freeze(Direction::ToClient);
    let guard = ours.lock("n").wait(secs(3)).blocking().acquire();
    // The silent session may have it until its answer can come.
    proxy.flow();
    let guard = guard.or_else(|_| ours.lock("n").wait(secs(10)).blocking().acquire()).expect("free");
    guard.release().expect("held");
    held.ensure().expect("the silence was short");
    let other = client(&server, "");
    for name in ["m", "n"] {
        let next = other.lock(name).wait(secs(5)).blocking().acquire().expect("each grant went back");
        next.release().expect("held");
    }
    held.release().expect("held");
}

#[test]
fn a_waiter_whose_connection_goes_silent_gets_the_lock_by_another_one() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let other = client(&server, "");
    // A wait in the server's queue lasts for a third of the watchdog's time at most.
    let ours = through(&server, &proxy, "watchdog=3&response_timeout=2&retry_for=2");
    let held = other.lock("n").blocking().acquire().expect("free");
    let mut view = server.sql();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.lock("n").blocking().acquire().map(BlockingGuard::release));
        eventually(|| view.waiting() == 1);
        proxy.freeze(Direction::ToClient);
        held.release().expect("held");
        let begun = Instant::now();
        waits.join().expect("no panic").expect("it goes on by another connection").expect("held");
        println!("it has the lock after {:?}", begun.elapsed());
        assert!(begun.elapsed() < secs(10), "{:?}", begun.elapsed());
    });
}

#[test]
fn a_short_wait_ends_half_a_second_late_at_most_beside_a_silent_server() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    server.pause();
    let (_, took) = fails(|| ours.lock("n").wait(ms(200)).blocking().acquire());
    // A busy machine takes some more. Without the end of the wait it would take the three seconds of an answer.
    assert!(took >= ms(200) && took < secs(2), "{took:?}");
    server.resume();
}

#[test]
fn a_server_that_is_silent_from_the_start_takes_the_time_of_a_try() {
    let server = Mariadb::start();
    server.pause();
    let ours = client(&server, "response_timeout=1&retry_for=1");
    for wait in [None, Some(secs(60))] {
        let (words, took) = fails(|| match wait {
            Some(wait) => ours.lock("n").wait(wait).blocking().acquire(),
            None => ours.lock("n").blocking().acquire(),
        });
        println!("{wait:?}: {took:?}, {words}");
        assert!(took < secs(4), "{wait:?}: {took:?}");
    }
    server.resume();
    ours.lock("n").wait(secs(10)).blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn calls_about_many_names_on_one_silent_connection_all_go_on_by_another_one() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    for direction in [Direction::ToServer, Direction::ToClient] {
        let ours = through(&server, &proxy, "retry_for=0");
        ours.lock("n").blocking().acquire().expect("free").release().expect("held");
        proxy.freeze(direction);
        let names = ["a", "b", "c", "d"];
        let tries = names.map(|name| wait(&ours, acquire("plain", name, 1, Some(Duration::ZERO))));
        for (name, tried) in names.iter().zip(tries) {
            let answer = tried.within(secs(10)).unwrap_or_else(|error| panic!("{direction:?}: {name}: {error}"));
            assert!(answer.done, "{name}");
        }
        ours.close_blocking(redlatch::Holds::Release);
        proxy.flow();
        proxy.cut();
    }
}

/// The client believes in the locks of a session for longer than in an answer to a question.
#[test]
fn a_late_answer_costs_no_lock_that_came_over_the_same_connection_meanwhile() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "response_timeout=1&retry_for=1");
    let mut sql = server.sql();
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    // Both statements are on their way before the first one is answered.
    proxy.delay(ms(50));
    // The name of the second lock, as the client writes it.
    proxy.hold_at(Direction::ToServer, "0x6b32", 1);
    let first = wait(&ours, acquire("plain", "k1", 1, Some(Duration::ZERO)));
    std::thread::sleep(ms(10));
    let second = wait(&ours, acquire("plain", "k2", 1, Some(Duration::ZERO)));
    let first = first.within(secs(5)).expect("answered");
    assert!(first.done);
    let _ = second.within(secs(10));
    let session = sql.holder("k1").expect("it is held");
    std::thread::sleep(secs(2));
    proxy.delay(Duration::ZERO);
    proxy.flow();
    assert_eq!(sql.holder("k1"), Some(session), "its session goes on");
    let release = Request::new(Op::Release, "plain", "k1", 1);
    wait(&ours, release).within(secs(5)).expect("it was held all the time");
}

#[test]
fn a_sign_of_life_behind_a_grant_has_no_more_time_than_any_answer() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let other = client(&server, "");
    let ours = through(&server, &proxy, "response_timeout=1&retry_for=20");
    let held = other.lock("n").blocking().acquire().expect("free");
    let waiting = wait(&ours, acquire("plain", "n", 1, None));
    let mut view = server.sql();
    eventually(|| view.waiting() == 1);
    proxy.hold_at(Direction::ToServer, "SELECT CONNECTION_ID(),1", 1);
    let begun = Instant::now();
    held.release().expect("held");
    assert!(waiting.within(secs(20)).expect("by another connection").done);
    println!("it has the lock after {:?}", begun.elapsed());
    assert!(begun.elapsed() < secs(8), "{:?}", begun.elapsed());
}

#[test]
fn a_sign_of_life_that_the_server_refuses_is_repeated() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "watchdog=3");
    let guard = ours.lock("n").blocking().acquire().expect("free");
    proxy.answer_to("SELECT CONNECTION_ID(),1", b"\x10\0\0\x01\xff\x51\x04#HY000not now");
    eventually(|| proxy.struck() == 1);
    std::thread::sleep(secs(4));
    guard.ensure().expect("the server is well");
    guard.release().expect("held");
}

/// A server that lets no more connections in for a while.
#[test]
fn connections_for_waiters_that_have_left_are_not_opened_when_the_server_is_back() {
    let server = Mariadb::start();
    let relay = Relay::start(server.port());
    let silent = redlatch_tests::ports::listen();
    let other = client(&server, "");
    let ours = Client::connect(&format!("{}?response_timeout=0.3&retry_for=30", server.url_at(relay.port)))
        .expect("a good URL");
    let names: Vec<_> = (0..8).map(|at| format!("n{at}")).collect();
    let held: Vec<_> = names.iter().map(|name| other.lock(name).blocking().acquire().expect("free")).collect();
    assert!(ours.lock("n0").blocking().try_acquire().expect("answered").is_none());
    relay.move_to(silent.local_addr().expect("it is bound").port());
    let waiting: Vec<_> = names.iter().map(|name| wait(&ours, acquire("plain", name, 1, None))).collect();
    std::thread::sleep(secs(5));
    relay.move_to(server.port());
    // The client tries for as long as it takes to open a connection.
    let mut view = server.sql();
    eventually(|| view.waiting() == 8);
    let mut most = 0;
    let end = Instant::now() + secs(3);
    while Instant::now() < end {
        most = most.max(view.sessions());
        std::thread::sleep(ms(10));
    }
    println!("{most} sessions");
    assert!(most <= 12, "{most} sessions for eight waiters");
    drop(held);
    for waiting in waiting {
        assert!(waiting.within(secs(10)).expect("answered").done);
    }
}

#[test]
fn a_draw_without_a_connection_names_the_trouble() {
    let server = Mariadb::start();
    let relay = Relay::start(server.port());
    let silent = redlatch_tests::ports::listen();
    let ours =
        Client::connect(&format!("{}?response_timeout=1&retry_for=1", server.url_at(relay.port))).expect("a good URL");
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    relay.move_to(silent.local_addr().expect("it is bound").port());
    let endless = wait(&ours, acquire("fenced", "endless", 1, None));
    let (words, _) = fails(|| ours.fenced_lock("f").wait(secs(4)).blocking().acquire());
    assert!(words.contains("gives no fencing token of `f`") && words.contains("did not let the client in"), "{words}");
    assert!(endless.is_waiting(), "{:?}", endless.within(ms(1)));
    relay.move_to(server.port());
    assert!(endless.within(secs(30)).expect("it has waited").done);
}
