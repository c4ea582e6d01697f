//! Programs that use the server's own locks, by `GET_LOCK`: they exclude, wait for and wake each other.

use std::time::Instant;

use redlatch::{Error, LostReason};
use redlatch_tests::{Mariadb, ms, secs};

use crate::{client, eventually};

#[test]
fn a_lock_of_ours_excludes_a_program_that_knows_nothing_of_us_and_the_other_way_round() {
    let server = Mariadb::shared();
    let ours = client(server, "");
    let mut theirs = server.sql();
    for name in ["interop", "orders:42", "käse:€", "a b'c\\\"d"] {
        let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
        let guard = ours.lock(name).blocking().acquire().expect("free");
        assert!(!theirs.lock(&quoted, 0), "{name}");
        guard.release().expect("held");
        assert!(theirs.lock(&quoted, 0), "{name}");
        assert!(ours.lock(name).blocking().try_acquire().expect("answered").is_none(), "{name}");
        assert!(ours.lock(name).blocking().is_locked().expect("answered"), "{name}");
        assert!(theirs.unlock(&quoted));
    }
}

/// How Rails' gem `with_advisory_lock` names a lock at MySQL and MariaDB (`lib/with_advisory_lock/mysql_advisory.rb`,
/// `lock_keys_for`): the text of the environment variable `WITH_ADVISORY_LOCK_PREFIX` and the name, as they are. Each has the
/// text, the name, and the name at the server.
const WITH_ADVISORY_LOCK: [(&str, &str, &str); 4] = [
    ("", "invoices", "invoices"),
    ("staging:", "invoices", "staging:invoices"),
    ("app_", "Order/7", "app_Order/7"),
    ("", "käse €", "käse €"),
];
/// How Rails itself locks the migrations of the schema `app` (`ActiveRecord::Migrator`): the product of a number of its own and
/// the schema's CRC-32, in digits.
const MIGRATIONS: &str = "6939591962871035475";

#[test]
fn a_lock_of_rails_excludes_ours_by_its_name_and_prefix() {
    let server = Mariadb::shared();
    let mut rails = server.sql();
    let product = rails.ask("SELECT 2053462845 * CRC32('app')");
    assert_eq!(product.as_deref(), Some(MIGRATIONS), "the vector");
    for (prefix, name, locked) in WITH_ADVISORY_LOCK.into_iter().chain([("", MIGRATIONS, MIGRATIONS)]) {
        let ours = client(server, &format!("prefix={prefix}"));
        assert!(rails.lock(locked, 0), "{locked}");
        assert!(ours.lock(name).blocking().try_acquire().expect("answered").is_none(), "{locked}");
        assert!(rails.unlock(locked), "{locked}");
        let guard = ours.lock(name).blocking().acquire().expect("free");
        assert!(!rails.lock(locked, 0), "{locked}");
        guard.release().expect("held");
    }
}

#[test]
fn each_wakes_the_other_when_it_lets_go() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let mut theirs = server.sql();
    let mut view = server.sql();
    assert!(theirs.lock("n", 0));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let guard = ours.lock("n").wait(secs(20)).blocking().acquire().expect("woken");
            (guard, Instant::now())
        });
        eventually(|| view.waiting() == 1);
        let begun = Instant::now();
        assert!(theirs.unlock("n"));
        let (guard, woken) = waits.join().expect("no panic");
        assert!(woken - begun < secs(2), "woken after {:?}", woken - begun);
        let waits = scope.spawn(|| (theirs.lock("n", 20), Instant::now()));
        eventually(|| view.waiting() == 1);
        let begun = Instant::now();
        guard.release().expect("held");
        let (has_it, woken) = waits.join().expect("no panic");
        assert!(has_it && woken - begun < secs(2), "woken after {:?}", woken - begun);
    });
}

#[test]
fn a_waiter_of_another_program_gets_its_turn_however_many_owners_of_ours_wait() {
    let server = Mariadb::start();
    let ours = client(&server, "");
    let mut theirs = server.sql();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for owner in 1..=8 {
            let (ours, over) = (&ours, &over);
            scope.spawn(move || {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let guard = ours.lock("n").owner(owner).wait(secs(20)).blocking().acquire().expect("its turn");
                    guard.release().expect("held");
                }
            });
        }
        let mut longest = ms(0);
        for _ in 0..20 {
            let begun = Instant::now();
            assert!(theirs.lock("n", 20), "it is shut out");
            longest = longest.max(begun.elapsed());
            assert!(theirs.unlock("n"));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        println!("the longest wait of the other program was {longest:?}");
        assert!(longest < secs(5), "{longest:?}");
    });
}

#[test]
fn names_that_the_server_cannot_take_are_locks_too_and_case_counts_as_the_server_says() {
    let server = Mariadb::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let long = "n".repeat(60_000);
    let other = format!("{}m", "n".repeat(59_999));
    for name in [long.as_str(), "🔒", "Name"] {
        let guard = one.lock(name).blocking().acquire().expect("free");
        assert!(two.lock(name).blocking().try_acquire().expect("answered").is_none());
        for free in [other.as_str(), "nAME"] {
            assert!(two.lock(free).blocking().try_acquire().expect("answered").is_some(), "another name");
        }
        guard.release().expect("held");
    }
}

/// R6 and R7 of the design.
#[test]
fn a_holder_whose_session_an_administrator_ends_is_told_at_once_and_locks_again() {
    let server = Mariadb::shared();
    let ours = client(server, "");
    let mut admin = server.sql();
    let guard = ours.lock("killed").blocking().acquire().expect("free");
    let (told, hears) = std::sync::mpsc::channel();
    guard.on_lost(move |loss| {
        let _ = told.send((loss.reason, Instant::now()));
    });
    let id = admin.holder("killed").expect("it is held");
    let begun = Instant::now();
    admin.ask(&format!("KILL {id}"));
    let (reason, heard) = hears.recv_timeout(secs(5)).expect("it is told");
    assert_eq!(reason, LostReason::SessionEnded);
    println!("told {:?} after KILL was sent", heard - begun);
    assert!(heard - begun < secs(2), "told after {:?}", heard - begun);
    let said = guard.ensure().expect_err("it is lost").to_string();
    assert!(said.contains("session ended"), "{said}");
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    ours.lock("killed").wait(secs(5)).blocking().acquire().expect("a new session").release().expect("held");
}
