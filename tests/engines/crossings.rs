//! Calls of one client that cross each other: on one session, or on the way to one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::{Mariadb, PATIENCE, Proxy, ms, secs};

use crate::{acquire, client, eventually, wait};

/// Two names on one session: the statements of one may come between those of the other.
#[test]
fn tokens_that_are_drawn_beside_each_other_are_those_of_their_names() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let names = ["a", "b"];
    // The tokens of `a` are far ahead.
    server.sql().ask("INSERT INTO redlatch_fence (name, token) VALUES ('a', 1000000)");
    let mut last = BTreeMap::from([("a", 1_000_000), ("b", 0)]);
    for round in 0..200 {
        let waiting = names.map(|name| (name, wait(&ours, acquire("fenced", name, 1, Some(secs(5))))));
        for (name, waiting) in waiting {
            let token = waiting.within(PATIENCE).expect("answered").items[0];
            let before = last.insert(name, token).expect("it has one");
            assert_eq!(token, before + 1, "round {round}, `{name}`");
        }
        for name in names {
            ours.run_blocking(Request::new(Op::Release, "fenced", name, 1)).expect("held");
        }
    }
}

#[test]
fn a_forced_release_beside_an_acquire_of_the_same_client_leaves_its_other_locks_alone() {
    let server = Mariadb::start();
    for kind in ["plain", "fenced"] {
        let ours = client(&server, "");
        let other = ours.run_blocking(acquire("plain", "other", 9, None)).expect("free").number as u64;
        for round in 0..200 {
            let taking = wait(&ours, acquire(kind, "n", 1, Some(secs(5))));
            let forced = wait(&ours, Request::new(Op::ForceRelease, kind, "n", 2));
            let _ = taking.within(PATIENCE);
            forced.within(PATIENCE).unwrap_or_else(|e| panic!("{kind}, round {round}: {e}"));
            let look = ours.look(other);
            assert!(matches!(look, Look::Held { .. }), "{kind}, round {round}: {look:?}");
            let _ = ours.run_blocking(Request::new(Op::Release, kind, "n", 1));
        }
    }
}

#[test]
fn a_wait_that_ends_while_its_connection_opens_leaves_the_servers_queue() {
    let server = Mariadb::start();
    let holder = client(&server, "");
    let _guard = holder.lock("n").blocking().acquire().expect("free");
    let proxy = Proxy::to(server.port());
    // As a server that is not next door.
    proxy.delay(ms(5));
    let mut view = server.sql();
    for time in [30, 50] {
        let waits = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
        waits.lock("m").blocking().acquire().expect("free").release().expect("held");
        assert!(!waits.run_blocking(acquire("plain", "n", 1, Some(ms(time)))).expect("answered").done);
        // The connection may be open only now. A wait of the server's would last for ten seconds.
        for _ in 0..100 {
            assert_eq!(view.waiting(), 0, "the client waits for no caller");
            std::thread::sleep(ms(2));
        }
        assert!(!waits.run_blocking(acquire("plain", "n", 2, Some(ms(0)))).expect("answered").done);
    }
}

/// A program that tries again and again, each time for a short while; and a wait that begins when another one is cancelled.
#[test]
fn the_end_of_a_wait_ends_no_later_wait() {
    let server = Mariadb::start();
    let holder = client(&server, "");
    let _guard = holder.lock("n").blocking().acquire().expect("free");
    let waits = client(&server, "");
    let mut view = server.sql();
    let mut kills = move || {
        let of = |name| {
            format!("SELECT variable_value FROM information_schema.global_status WHERE variable_name = '{name}'")
        };
        let mut count = |name| view.ask(&of(name)).and_then(|count| count.parse::<u64>().ok()).unwrap_or_default();
        count("COM_KILL_QUERY") + count("COM_KILL")
    };
    let before = kills();
    let tries = 40;
    for _ in 0..tries {
        assert!(!waits.run_blocking(acquire("plain", "n", 1, Some(ms(50)))).expect("answered").done);
    }
    let retried = kills() - before;
    assert!(retried <= tries * 2, "{retried} kills for {tries} waits");
    for round in 0..10 {
        let first = wait(&waits, acquire("plain", "n", 1, None));
        std::thread::sleep(ms(50));
        let before = kills();
        first.cancel();
        let second = wait(&waits, acquire("plain", "n", 2, None));
        std::thread::sleep(ms(300));
        let count = kills() - before;
        assert!(count <= 2, "round {round}: {count} kills for one wait");
        second.cancel();
        let _ = (first.within(PATIENCE), second.within(PATIENCE));
    }
}

/// The server takes a zero for the end of a name.
#[test]
fn names_with_a_zero_are_locks_of_their_own() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let theirs = client(&server, "");
    for (client, name) in [(&ours, "a\0b"), (&ours, "a\0c"), (&theirs, "a\0d"), (&theirs, "a")] {
        assert!(client.run_blocking(acquire("plain", name, 1, Some(ms(0)))).expect("answered").done, "{name:?}");
    }
    for (client, name) in [(&theirs, "a\0b"), (&theirs, "a\0c"), (&ours, "a\0d"), (&ours, "a")] {
        assert!(!client.run_blocking(acquire("plain", name, 2, Some(ms(0)))).expect("answered").done, "{name:?}");
    }
}

/// A session with locks is given up only when the client believes in them no longer.
#[test]
fn a_ping_that_a_slow_server_does_not_answer_in_time_costs_no_lock() {
    let server = Mariadb::start();
    let ours = client(&server, "response_timeout=0.5&retry_for=0");
    let hold = ours.run_blocking(acquire("plain", "n", 1, None)).expect("free").number as u64;
    server.pause();
    let silent = ours.run_blocking(Request::new(Op::Ping, "plain", "", 0)).expect_err("it is silent");
    assert!(matches!(silent, Error::Unavailable { .. }), "{silent}");
    std::thread::sleep(ms(700));
    server.resume();
    ours.run_blocking(Request::new(Op::Ping, "plain", "", 0)).expect("it answers again");
    let look = ours.look(hold);
    assert!(matches!(look, Look::Held { .. }), "{look:?}");
}

/// The session lives on: its last statement was answered in time.
#[test]
fn a_hold_lasts_as_long_as_its_session_if_the_server_answers_late() {
    let server = Mariadb::start();
    let ours = client(&server, "watchdog=3");
    let hold = ours.run_blocking(acquire("plain", "n", 1, None)).expect("free").number as u64;
    let begun = Instant::now();
    std::thread::sleep(ms(900));
    server.pause();
    // The sign of life goes out after a second. Its answer comes shortly before the end of what the client believes.
    std::thread::sleep(ms(2850).saturating_sub(begun.elapsed()));
    server.resume();
    std::thread::sleep(ms(3200).saturating_sub(begun.elapsed()));
    let look = ours.look(hold);
    assert!(matches!(look, Look::Held { .. }), "{look:?}");
    assert!(server.sql().holder("n").is_some());
}

/// The end of its session costs a fenced waiter no more than a plain one.
#[test]
fn a_fenced_waiter_waits_on_if_the_session_ends_while_its_token_is_drawn() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    // A server that the client has not met is an error at once.
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    let mut sql = server.sql();
    let all =
        "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE user = 'app' AND id <> CONNECTION_ID()";
    for round in 0..40 {
        let waiting = wait(&ours, acquire("fenced", "n", 1, None));
        std::thread::sleep(Duration::from_micros(100 * round));
        for id in sql.ask(all).unwrap_or_default().split(',').filter(|id| !id.is_empty()) {
            let _ = sql.try_ask(&format!("KILL {id}"));
        }
        let taken = waiting.within(PATIENCE).unwrap_or_else(|e| panic!("round {round}: {e}"));
        assert!(taken.done);
        let _ = ours.run_blocking(Request::new(Op::Release, "fenced", "n", 1));
    }
}

#[test]
fn callers_of_a_server_that_is_silent_at_the_login_hear_of_it_together() {
    let silent = redlatch_tests::ports::listen();
    let port = silent.local_addr().expect("it is bound").port();
    let url = format!("mariadb://app:secret@127.0.0.1:{port}/app?connect_timeout=1&retry_for=1&response_timeout=1");
    let ours = Client::connect(&url).expect("a good URL");
    let begun = Instant::now();
    let waiting: Vec<_> = (0..30).map(|at| wait(&ours, acquire("plain", &format!("n{at}"), 1, None))).collect();
    for waiting in waiting {
        waiting.within(secs(60)).expect_err("there is no server");
    }
    // One after the other they would take half a minute.
    assert!(begun.elapsed() < secs(10), "the last one waited {:?}", begun.elapsed());
}

/// The first connection is gone while another one waits in the server's queue, so the one that serves all short statements is not
/// the first. A statement that was handed over just before an answer came is under way, too.
#[test]
fn no_release_stands_behind_a_wait_in_the_servers_queue() {
    const WAIT: Duration = secs(4);
    let server = Mariadb::start();
    let holder = client(&server, "");
    let mut sql = server.sql();
    for name in ["n", "z0", "z1", "z2", "z3", "z4", "z5"] {
        assert!(holder.run_blocking(acquire("plain", name, 1, None)).expect("answered").done);
    }
    let held_by = sql.holder("n").expect("it is held");
    let ours = client(&server, "");
    let stands = wait(&ours, acquire("plain", "n", 1, None));
    eventually(|| sql.waiting() == 1);
    let others = "SELECT id FROM information_schema.processlist WHERE user = 'app' AND command = 'Sleep' AND id NOT IN";
    let carrier = sql.ask(&format!("{others} (CONNECTION_ID(), {held_by})")).expect("it has one");
    sql.ask(&format!("KILL {carrier}"));
    let end = Instant::now() + 3 * WAIT;
    std::thread::scope(|scope| {
        for at in 0..6 {
            let ours = &ours;
            scope.spawn(move || {
                while Instant::now() < end {
                    let wait = WAIT + ms(50 * at);
                    let _ = ours.run_blocking(acquire("plain", &format!("z{at}"), 1, Some(wait)));
                }
            });
        }
        for at in 0..3 {
            let ours = &ours;
            scope.spawn(move || {
                let name = format!("w{at}");
                let mut round = 0;
                while Instant::now() < end {
                    assert!(ours.run_blocking(acquire("plain", &name, 1, None)).expect("answered").done);
                    let begun = Instant::now();
                    ours.run_blocking(Request::new(Op::Release, "plain", name.as_str(), 1)).expect("held");
                    assert!(begun.elapsed() < WAIT / 2, "the release of a free lock took {:?}", begun.elapsed());
                    round += 1;
                    std::thread::sleep(ms(1) * (round % 4));
                }
            });
        }
    });
    stands.cancel();
    let _ = stands.within(PATIENCE);
}
