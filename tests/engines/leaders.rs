//! Leaders at MariaDB: a session of its own for each candidate, and a row that tells who leads.

use std::time::Instant;

use redlatch::{Client, Error, LostReason};
use redlatch_tests::{Mariadb, Sql, ms, secs, soon};

use crate::{client, ends_its_observers, eventually, leader};

/// The number of sessions that wait for a lock of the server.
fn waiting(sql: &mut Sql) -> usize {
    let waits = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'";
    sql.ask(waits).and_then(|count| count.parse().ok()).expect("a number")
}

fn sessions(sql: &mut Sql) -> usize {
    let ours = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'app' AND id <> CONNECTION_ID()";
    sql.ask(ours).and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn the_leader_has_the_servers_lock_of_that_name_and_all_see_its_value_and_its_token() {
    let server = Mariadb::start();
    let [one, two] = ["", ""].map(|options| client(&server, options));
    let mut sql = server.sql();
    assert_eq!(leader(&two, "n"), None);
    let first = one.leader("n").value("api-1:80").lead().blocking().expect("no other candidate");
    assert_eq!(leader(&two, "n"), Some(("api-1:80".to_owned(), first.token())));
    assert!(sql.holder("n").is_some() && !sql.lock("n", 0));
    for other in [&one, &two] {
        assert!(other.leader("n").value("x").try_lead().blocking().expect("answered").is_none());
        assert!(other.lock("n").blocking().try_acquire().expect("answered").is_none());
    }
    let second = std::thread::scope(|scope| {
        let waits = scope.spawn(|| two.leader("n").value("api-2:80").lead().wait(secs(20)).blocking());
        eventually(|| waiting(&mut sql) == 1);
        assert_eq!(leader(&two, "n"), Some(("api-1:80".to_owned(), first.token())), "a candidate does not lead");
        let begun = Instant::now();
        first.release_blocking().expect("it leads");
        let second = waits.join().expect("no panic").expect("the leader has resigned");
        assert!(begun.elapsed() < secs(2), "{:?}", begun.elapsed());
        second
    });
    assert_eq!(leader(&one, "n"), Some(("api-2:80".to_owned(), second.token())));
    second.release_blocking().expect("it leads");
    assert_eq!(leader(&one, "n"), None);
    assert_eq!(sql.holder("n"), None);
    drop((one, two));
    eventually(|| sessions(&mut sql) == 0);
}

#[test]
fn a_term_ends_with_its_session_and_leaves_no_other() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let mut sql = server.sql();
    ours.leader("n").lead().blocking().expect("no other candidate").release_blocking().expect("it leads");
    let mut before = sessions(&mut sql);
    eventually(|| std::mem::replace(&mut before, sessions(&mut sql)) == 2);
    for _ in 0..5 {
        let term = ours.leader("n").lead().blocking().expect("no other candidate");
        assert_eq!(sessions(&mut sql), 3, "that of the term beside those for calls and for the tables");
        assert!(ours.leader("n").try_lead().blocking().expect("answered").is_none());
        term.release_blocking().expect("it leads");
        eventually(|| sessions(&mut sql) == 2);
    }
}

#[test]
fn tokens_grow_from_term_to_term_in_all_clients_and_over_fenced_locks() {
    let server = Mariadb::shared();
    let clients = ["", ""].map(|options| client(server, options));
    let mut tokens = Vec::new();
    for at in 0..8 {
        let ours = &clients[at / 2 % 2];
        let term = ours.leader("grow").value(&format!("{at}")).lead().wait(secs(20)).blocking().expect("no other");
        assert_eq!(leader(&clients[0], "grow"), Some((format!("{at}"), term.token())));
        tokens.push(term.token());
        term.release_blocking().expect("it leads");
        let fenced = ours.fenced_lock("grow").wait(secs(20)).blocking().acquire().expect("free");
        tokens.push(fenced.token());
        assert_eq!(leader(&clients[0], "grow"), Some((String::new(), None)), "the lock is no leader's");
        fenced.release().expect("held");
    }
    assert!(tokens.windows(2).all(|two| two[0] < two[1]), "{tokens:?}");
}

#[test]
fn another_programs_lock_of_that_name_is_a_leader_without_a_value_and_keeps_ours_out() {
    let server = Mariadb::shared();
    let ours = client(server, "");
    let term = ours.leader("foreign").value("before").lead().blocking().expect("no other candidate");
    term.release_blocking().expect("it leads");
    let mut sql = server.sql();
    eventually(|| sql.lock("foreign", 0));
    assert_eq!(leader(&ours, "foreign"), Some((String::new(), None)));
    assert!(ours.leader("foreign").try_lead().blocking().expect("answered").is_none());
    assert!(sql.unlock("foreign"));
    let term = ours.leader("foreign").value("after").lead().wait(secs(20)).blocking().expect("free");
    assert_eq!(leader(&ours, "foreign"), Some(("after".to_owned(), term.token())));
}

#[test]
fn the_row_of_a_later_term_stays_and_no_row_outlives_its_term() {
    let server = Mariadb::shared();
    let ours = client(server, "");
    let mut sql = server.sql();
    let write = |token: i64| {
        format!(
            "INSERT INTO redlatch_leader (name, token, holder, value) VALUES ('late', {token}, 'redlatch:other:1', 'other') \
             ON DUPLICATE KEY UPDATE token = {token}, holder = 'redlatch:other:1', value = 'other'"
        )
    };
    sql.ask(&write(1_000_000));
    let term = ours.leader("late").value("ours").lead().blocking().expect("no other candidate");
    assert_eq!(sql.ask("SELECT value FROM redlatch_leader WHERE name = 'late'").as_deref(), Some("other"));
    assert_eq!(leader(&ours, "late"), Some((String::new(), None)), "the row is of another session");
    term.release_blocking().expect("it leads");
    sql.ask(&write(0));
    let term = ours.leader("late").value("ours").lead().wait(secs(20)).blocking().expect("no other candidate");
    assert_eq!(leader(&ours, "late"), Some(("ours".to_owned(), term.token())));
    term.release_blocking().expect("it leads");
    assert_eq!(leader(&ours, "late"), None);
}

#[test]
fn an_observer_hears_of_each_change_and_of_each_leader_once() {
    let server = Mariadb::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    soon(async {
        let mut observer = two.leader("observed").observe();
        assert!(observer.next().await.expect("answered").is_none());
        for value in ["a", "b", ""] {
            assert!(tokio::time::timeout(ms(50), observer.next()).await.is_err(), "nothing has changed");
            let (leader, term) =
                tokio::join!(observer.next(), async { one.leader("observed").value(value).lead().await });
            let leader = leader.expect("answered").expect("one leads");
            let term = term.expect("no other candidate");
            assert_eq!((leader.value.as_str(), leader.token), (value, term.token()));
            term.release().await.expect("it leads");
            assert!(observer.next().await.expect("answered").is_none());
        }
    });
    ends_its_observers(&one);
}

#[test]
fn a_leader_whose_session_is_ended_is_told_and_keeps_its_clients_other_locks() {
    let server = Mariadb::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let mut sql = server.sql();
    let held = one.lock("beside").blocking().acquire().expect("free");
    let term = one.leader("lost").value("a").lead().blocking().expect("no other candidate");
    let session = sql.holder("lost").expect("it leads");
    sql.ask(&format!("KILL {session}"));
    assert_eq!(soon(term.lost()).expect("it is lost").reason, LostReason::SessionEnded);
    let next = two.leader("lost").value("b").lead().wait(secs(20)).blocking().expect("free");
    assert!(next.token() > term.token());
    assert_eq!(leader(&one, "lost"), Some(("b".to_owned(), next.token())));
    // By its own client, and by another one.
    for forcing in [&two, &one] {
        let now = two.leader("forced").lead().wait(secs(20)).blocking().expect("free");
        assert!(forcing.fenced_lock("forced").blocking().force_release().expect("answered"));
        assert!(soon(now.lost()).is_some());
        assert_eq!(leader(&one, "forced"), None);
    }
    held.ensure().expect("it has another session");
    next.ensure().expect("it has another name");
}

#[test]
fn a_cancelled_candidate_leaves_neither_a_lock_nor_a_session() {
    let server = Mariadb::start();
    let [one, two] = ["", ""].map(|options| client(&server, options));
    let mut sql = server.sql();
    two.lock("before").blocking().acquire().expect("free").release().expect("held");
    let term = one.leader("n").lead().blocking().expect("no other candidate");
    let before = sessions(&mut sql);
    soon(async {
        for time in [0, 1, 2, 5, 10, 20, 50, 100] {
            let lead = tokio::time::timeout(ms(time), two.leader("n").value("x").lead()).await;
            assert!(lead.is_err(), "another one leads");
            let tried = two.leader("n").try_lead().wait(ms(time)).await;
            assert!(tried.expect("answered").is_none(), "another one leads");
        }
    });
    eventually(|| sessions(&mut sql) == before);
    term.release_blocking().expect("it leads");
    eventually(|| sql.holder("n").is_none());
    assert_eq!(leader(&two, "n"), None);
}

#[test]
fn without_its_table_an_election_names_the_statement_that_makes_it_and_leaves_no_leader() {
    let server = Mariadb::start();
    let mut sql = server.sql();
    sql.ask("DROP TABLE redlatch_leader");
    let ours = client(&server, "");
    for refused in [
        ours.leader("n").value("x").lead().blocking().map(drop),
        ours.leader("n").current().blocking().map(drop),
        ours.leader("n").observe().next_blocking().map(drop),
    ] {
        let error = refused.expect_err("there is no table");
        assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
        let text = error.to_string();
        let (_, made) = text.split_once("make it once: ").unwrap_or_else(|| panic!("{text}"));
        assert!(text.contains("`n`") && made.starts_with("CREATE TABLE redlatch_leader"), "{text}");
        eventually(|| sql.holder("n").is_none());
    }
    let text = ours.leader("n").current().blocking().expect_err("there is no table").to_string();
    sql.ask(text.split_once("make it once: ").expect("it is there").1);
    let term = ours.leader("n").value("x").lead().wait(secs(20)).blocking().expect("free");
    assert_eq!(leader(&ours, "n"), Some(("x".to_owned(), term.token())));
}

#[test]
fn a_locked_table_of_leaders_makes_a_candidate_wait_and_ends_no_term() {
    let server = Mariadb::start();
    let ours = client(&server, "watchdog=2");
    let held = ours.leader("held").value("before").lead().blocking().expect("no other candidate");
    let mut program = server.sql();
    program.ask("LOCK TABLES redlatch_leader READ");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.leader("n").value("after").lead().blocking().expect("it waits for the table"));
        let error = ours.leader("m").lead().wait(ms(500)).blocking().expect_err("the table is locked").to_string();
        assert!(error.contains("another program keeps them locked"), "{error}");
        std::thread::sleep(secs(2));
        held.ensure().expect("its sign of life goes another way");
        program.ask("UNLOCK TABLES");
        let term = waits.join().expect("no panic");
        assert_eq!(leader(&ours, "n"), Some(("after".to_owned(), term.token())));
    });
    assert_eq!(leader(&ours, "held"), Some(("before".to_owned(), held.token())));
}

#[test]
fn a_value_is_given_back_as_it_is() {
    let server = Mariadb::shared();
    let ours = client(server, "");
    for value in ["käse\n 1 🔒 '; DROP TABLE redlatch_leader; -- \\", &"x".repeat(65_536), ""] {
        let term = ours.leader("values").value(value).lead().wait(secs(20)).blocking().expect("no other candidate");
        assert!(leader(&ours, "values") == Some((value.to_owned(), term.token())), "{}", value.len());
        term.release_blocking().expect("it leads");
    }
}

#[test]
fn candidates_of_many_threads_and_clients_lead_one_at_a_time() {
    let server = Mariadb::start();
    let clients: Vec<Client> = (0..4).map(|_| client(&server, "")).collect();
    let inside = std::sync::Mutex::new(0_i64);
    std::thread::scope(|scope| {
        for ours in &clients {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let term = ours.leader("n").lead().blocking().expect("its turn");
                        let mut last = inside.try_lock().expect("no other one leads");
                        let token = term.token().expect("it has one");
                        assert!(token > *last, "{token} after {last}");
                        *last = token;
                        drop(last);
                        term.release_blocking().expect("it leads");
                    }
                });
            }
        }
    });
    assert_eq!(leader(&clients[0], "n"), None);
}
