//! How reading and writing affect each other, on Redisson's wire.

use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Holds};
use redlatch_tests::Server;

use super::{eventually, pair, secs};

const CHANNEL: &str = "redisson_rwlock:{n}";

fn ask(client: &Client, op: Op, kind: &'static str, owner: i64) -> Result<Answer, Error> {
    client.run_blocking(Request::new(op, kind, "n", owner))
}

fn taken(client: &Client, kind: &'static str, owner: i64) -> bool {
    ask(client, Op::Acquire, kind, owner).expect("answered").done
}

fn give(client: &Client, kind: &'static str, owner: i64) {
    ask(client, Op::Release, kind, owner).expect("held");
}

#[test]
fn readers_keep_writers_out_and_a_writer_keeps_all_others_out() {
    let (server, a, b) = pair();
    assert!(taken(&a, "read", 1) && taken(&b, "read", 1) && taken(&a, "read", 2));
    assert!(!taken(&b, "write", 3));
    for (client, owner) in [(&a, 1), (&b, 1), (&a, 2)] {
        give(client, "read", owner);
    }
    assert!(taken(&b, "write", 3));
    assert!(!taken(&a, "read", 1) && !taken(&b, "read", 1) && !taken(&a, "write", 1));
    give(&b, "write", 3);
    assert!(server.view().keys("*").is_empty());
}

#[test]
fn the_last_reader_wakes_a_writer_and_the_writer_wakes_every_reader() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let lock = a.read_write_lock("n");
    let readers = [1, 2].map(|owner| lock.read().owner(owner).blocking().acquire().expect("free"));
    let writer = b.read_write_lock("n").write();
    let mut heard = server.listen(CHANNEL);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| writer.blocking().acquire().expect("woken"));
        eventually(|| view.listeners(CHANNEL) == 2);
        let [first, second] = readers;
        first.release().expect("held");
        assert_eq!(heard.heard(), [""; 0], "a reader is left");
        second.release().expect("held");
        assert_eq!(heard.hear(), "0");
        let written = writing.join().expect("no panic");
        let reading: Vec<_> = (3..13)
            .map(|owner| {
                scope.spawn({
                    let lock = lock.clone();
                    move || lock.read().owner(owner).blocking().acquire().expect("woken")
                })
            })
            .collect();
        eventually(|| view.listeners(CHANNEL) == 2);
        written.release().expect("held");
        assert_eq!(heard.hear(), "1");
        for guard in reading {
            guard.join().expect("no panic").release().expect("held");
        }
    });
    eventually(|| view.keys("*").is_empty());
}

#[test]
fn a_writer_may_read_and_go_on_reading_and_other_readers_are_told() {
    let (server, a, b) = pair();
    assert!(taken(&a, "write", 1) && taken(&a, "read", 1));
    let mut view = server.view();
    let mut heard = server.listen(CHANNEL);
    std::thread::scope(|scope| {
        let other =
            scope.spawn(|| b.read_write_lock("n").read().owner(2).wait(secs(20)).blocking().acquire().expect("woken"));
        eventually(|| view.listeners(CHANNEL) == 2);
        give(&a, "write", 1);
        assert_eq!(heard.hear(), "1");
        let other = other.join().expect("no panic");
        assert!(!taken(&b, "write", 3) && taken(&a, "read", 9));
        other.release().expect("held");
    });
    give(&a, "read", 9);
    give(&a, "read", 1);
    assert!(view.keys("*").is_empty());
}

#[test]
fn a_reader_that_would_wait_for_ever_to_write_is_told() {
    let (_server, a, _) = pair();
    assert!(taken(&a, "read", 1));
    let again = a.run_blocking(Request { wait: None, ..Request::new(Op::Acquire, "write", "n", 1) });
    assert!(matches!(again, Err(Error::AlreadyHeld { .. })), "{again:?}");
    // With a lease the refusal is an answer, as for any other held lock.
    assert!(!taken(&a, "write", 1));
    let later = a
        .run_blocking(Request { wait: Some(Duration::from_millis(100)), ..Request::new(Op::Acquire, "write", "n", 1) });
    assert!(!later.expect("answered").done);
    give(&a, "read", 1);
    assert!(taken(&a, "write", 1));
}

#[test]
fn a_nested_read_does_not_stop_the_renewal_of_the_writer() {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let writer = client.read_write_lock("n").write().owner(1).blocking().acquire().expect("free");
    client.read_write_lock("n").read().owner(1).blocking().acquire().expect("own").release().expect("held");
    let end = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < end {
        writer.ensure().expect("it is renewed");
        assert!(server.view().exists("n"));
        std::thread::sleep(Duration::from_millis(20));
    }
    writer.release().expect("held");
}

#[test]
fn a_dead_reader_is_not_kept_alive_by_others_and_a_writer_gets_it_when_its_time_is_over() {
    let (server, a, b) = pair();
    let quick = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let living = quick.read_write_lock("n").read().owner(2).blocking().acquire().expect("free");
    // This reader's client does not renew, so that it counts as dead.
    let lease = Duration::from_millis(1200);
    a.run_blocking(Request { lease: Some(lease), ..Request::new(Op::Acquire, "read", "n", 1) }).expect("answered");
    let dead = format!("{{n}}:{}:1:rwlock_timeout:1", a.id());
    let mut view = server.view();
    eventually(|| !view.exists(&dead));
    living.ensure().expect("it is renewed");
    living.release().expect("held");
    let writer =
        b.read_write_lock("n").write().wait(secs(20)).blocking().acquire().expect("the dead one's time is over");
    writer.release().expect("held");
}

#[test]
fn a_writer_does_not_wait_for_a_dead_reader_once_the_last_living_one_has_left() {
    let (server, a, b) = pair();
    let lease = |lease| Request { lease: Some(lease), ..Request::new(Op::Acquire, "read", "n", 1) };
    a.run_blocking(lease(Duration::from_millis(100))).expect("answered");
    let dead = format!("{{n}}:{}:1:rwlock_timeout:1", a.id());
    // The living reader keeps the lock for longer than this test lasts.
    b.run_blocking(lease(secs(600))).expect("answered");
    let mut view = server.view();
    eventually(|| !view.exists(&dead));
    std::thread::scope(|scope| {
        let writing = scope
            .spawn(|| b.read_write_lock("n").write().wait(secs(20)).blocking().acquire().expect("no reader is left"));
        eventually(|| view.listeners(CHANNEL) == 1);
        give(&b, "read", 1);
        writing.join().expect("no panic").release().expect("held");
    });
    assert!(view.keys("*").is_empty());
}

/// The renewal finds no key of the hold whose lease has ended. Another reader's lease is none of the dead reader's.
#[test]
fn a_renewed_reader_that_dies_keeps_writers_out_for_its_own_lease_and_not_for_another_readers() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let quick = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let long = Request { lease: Some(secs(600)), ..Request::new(Op::Acquire, "read", "n", 1) };
    a.run_blocking(long).expect("answered");
    assert!(taken(&quick, "read", 1), "readers share it");
    let short = Request { lease: Some(Duration::from_millis(50)), ..Request::new(Op::Acquire, "read", "n", 1) };
    quick.run_blocking(short).expect("answered");
    let inner = format!("{{n}}:{}:1:rwlock_timeout:2", quick.id());
    eventually(|| !view.exists(&inner));
    eventually(|| view.exists(&inner));
    quick.close_blocking(Holds::Keep);
    give(&a, "read", 1);
    let left = view.pttl("n");
    assert!(left <= 600, "the dead reader keeps writers out for {left} ms");
    let writer = b.read_write_lock("n").write().wait(secs(20)).blocking().acquire().expect("no reader lives");
    writer.release().expect("held");
}

#[test]
fn a_writer_that_read_for_too_short_a_time_lets_the_next_writer_in() {
    let (server, a, b) = pair();
    assert!(taken(&a, "write", 1));
    a.run_blocking(Request { lease: Some(Duration::from_millis(50)), ..Request::new(Op::Acquire, "read", "n", 1) })
        .expect("answered");
    let mut view = server.view();
    eventually(|| view.keys("{n}*").is_empty());
    give(&a, "write", 1);
    assert!(taken(&b, "write", 2), "what was read has ended");
    give(&b, "write", 2);
}

#[test]
fn a_reader_whose_hold_keys_were_lost_keeps_the_lock_while_it_is_the_one_that_renews_it() {
    // Some releases of Redisson renew the lock, but not the keys of its holds.
    let (server, a, b) = pair();
    let mut view = server.view();
    view.command::<()>(&["HSET", "n", "mode", "read", "other:1", "1"]);
    view.command::<()>(&["PEXPIRE", "n", "10000"]);
    a.run_blocking(Request { lease: Some(secs(15)), ..Request::new(Op::Acquire, "read", "n", 1) }).expect("answered");
    view.command::<()>(&["PEXPIRE", "n", "30000"]);
    give(&a, "read", 1);
    assert!(!taken(&b, "write", 2), "it reads");
    assert!(view.pttl("n") > 15_000, "it lives for what that one has left");
}

#[test]
fn a_reader_has_the_lock_for_its_whole_lease_despite_renewals_of_redisson() {
    for lease in [Some(secs(60)), None] {
        let (server, a, b) = pair();
        let mut view = server.view();
        let held = a.run_blocking(Request { lease, ..Request::new(Op::Acquire, "read", "n", 1) }).expect("answered");
        assert!(held.done);
        view.command::<()>(&["HSET", "n", "other:1", "1"]);
        view.command::<()>(&["SET", "{n}:other:1:rwlock_timeout:1", "1", "PX", "3000"]);
        eventually(|| view.tells());
        // Each renewal of a watchdog of three seconds gives the lock and the reader's own key just that time.
        for _ in 0..3 {
            view.command::<()>(&["PEXPIRE", "{n}:other:1:rwlock_timeout:1", "3000"]);
            view.command::<()>(&["PEXPIRE", "n", "3000"]);
            eventually(|| view.pttl("n") > 10_000);
        }
        // The reader of the other client dies.
        eventually(|| !view.exists("{n}:other:1:rwlock_timeout:1"));
        assert!(!taken(&b, "write", 2), "{lease:?}: a reader has it");
        give(&a, "read", 1);
        assert!(taken(&b, "write", 2), "{lease:?}: the other reader is dead");
    }
}
