//! Waiters of many names use few connections.

use redlatch::ffi::{Op, Request};
use redlatch_tests::{Mariadb, ms, secs};

use crate::{acquire, client, eventually, wait};

#[test]
fn waiters_of_more_names_than_connections_may_wait_for_all_get_their_locks() {
    let server = Mariadb::start();
    let (holder, waits) = (client(&server, ""), client(&server, "waiters=3"));
    let names: Vec<String> = (0..20).map(|at| format!("n{at}")).collect();
    let guards: Vec<_> = names.iter().map(|name| holder.lock(name).blocking().acquire().expect("free")).collect();
    let mut view = server.sql();
    let waiting: Vec<_> = names.iter().map(|name| wait(&waits, acquire("plain", name, 1, None))).collect();
    eventually(|| view.waiting() == 3);
    std::thread::sleep(ms(300));
    // Three that wait, one for all else, and that of the holder.
    assert!(view.sessions() <= 5, "{} sessions", view.sessions());
    assert_eq!(view.waiting(), 3);
    for guard in guards {
        guard.release().expect("held");
    }
    for waiting in waiting {
        assert!(waiting.within(secs(10)).expect("answered").done);
    }
    assert!(view.sessions() <= 5, "{} sessions", view.sessions());
    // Sessions that have a lock serve all others as well.
    for name in &names {
        let release = Request::new(Op::Release, "plain", name.as_str(), 1);
        redlatch::ffi::Border::run_blocking(&waits, release).expect("held");
    }
    let mut sql = server.sql();
    assert!(names.iter().all(|name| sql.holder(name).is_none()));
}

#[test]
fn a_wait_that_has_ended_frees_its_connection_for_other_names() {
    let server = Mariadb::start();
    let (holder, waits) = (client(&server, ""), client(&server, "waiters=1"));
    let _guards = ["a", "b"].map(|name| holder.lock(name).blocking().acquire().expect("free"));
    let mut view = server.sql();
    for round in 0..10 {
        let name = ["a", "b"][round % 2];
        let waiting = wait(&waits, acquire("plain", name, 1, None));
        eventually(|| view.waiting() == 1);
        waiting.cancel();
        assert!(waiting.within(secs(5)).is_err());
        eventually(|| view.waiting() == 0);
    }
    assert!(view.sessions() <= 3, "{} sessions", view.sessions());
}

#[test]
fn a_thousand_waiters_of_one_name_use_one_connection_and_all_get_it() {
    let server = Mariadb::start();
    let (holder, waits) = (client(&server, ""), client(&server, ""));
    let guard = holder.lock("n").blocking().acquire().expect("free");
    let (sender, receiver) = std::sync::mpsc::channel();
    for owner in 1..=1000 {
        let (again, sender) = (waits.clone(), sender.clone());
        let back = Request::new(Op::Release, "plain", "n", owner);
        use redlatch::ffi::Border;
        waits.submit(waits.ticket(), acquire("plain", "n", owner, None), move |taken| {
            assert!(taken.expect("taken").done);
            again.submit(again.ticket(), back, move |released| drop(sender.send(released)));
        });
    }
    let mut view = server.sql();
    eventually(|| view.waiting() == 1);
    guard.release().expect("held");
    for _ in 0..1000 {
        receiver.recv_timeout(secs(60)).expect("every waiter gets it").expect("released");
    }
    assert!(view.sessions() <= 3, "{} sessions", view.sessions());
    eventually(|| view.holder("n").is_none());
}

#[test]
fn waiters_get_their_lock_though_the_server_has_no_room_for_a_connection_that_waits() {
    let server = Mariadb::with(&["--max-connections=10"]);
    let holder = client(&server, "");
    let guard = holder.lock("n").blocking().acquire().expect("free");
    // No right to the connection that the server keeps for administrators.
    let url = format!("mysql://other:secret@127.0.0.1:{}/app", server.port());
    let waits = redlatch::Client::connect(&url).expect("a good URL");
    waits.lock("m").blocking().acquire().expect("free").release().expect("held");
    let mut others = Vec::new();
    while let Ok(more) = redlatch_tests::Sql::connect(server.port(), "other") {
        others.push(more);
    }
    let waiting = wait(&waits, acquire("plain", "n", 1, None));
    std::thread::sleep(ms(300));
    assert!(waiting.is_waiting());
    guard.release().expect("held");
    assert!(waiting.within(secs(5)).expect("it tries again and again").done);
}
