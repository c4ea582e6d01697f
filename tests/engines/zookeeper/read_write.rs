//! Read-write locks, as Curator's `InterProcessReadWriteLock` has them.

use redlatch::Error;
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch_tests::{Zookeeper, ms, secs};

use crate::zookeeper::client;
use crate::{acquire, eventually, wait};

type Result<T> = std::result::Result<T, Error>;

#[test]
fn readers_share_and_a_writer_that_waits_keeps_later_readers_out() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    let name = "readers";
    for (client, owner) in [(&one, 1), (&one, 2), (&two, 1)] {
        assert!(client.run_blocking(acquire("read", name, owner, Some(ms(0)))).expect("answered").done);
    }
    let writer = wait(&two, acquire("write", name, 9, None));
    eventually(|| nodes.children("/readers").len() == 4);
    let late = wait(&one, acquire("read", name, 3, None));
    eventually(|| nodes.children("/readers").len() == 5);
    assert!(!one.run_blocking(acquire("read", name, 4, Some(ms(0)))).expect("answered").done, "a writer is before it");
    for (client, owner) in [(&one, 1), (&one, 2), (&two, 1)] {
        assert!(writer.is_waiting() && late.is_waiting());
        client.run_blocking(Request::new(Op::Release, "read", name, owner)).expect("held");
    }
    assert!(writer.within(secs(5)).expect("its turn").done);
    assert!(late.is_waiting());
    two.run_blocking(Request::new(Op::Release, "write", name, 9)).expect("held");
    assert!(late.within(secs(5)).expect("its turn").done);
    one.run_blocking(Request::new(Op::Release, "read", name, 3)).expect("held");
    assert!(nodes.children("/readers").is_empty());
}

#[test]
fn a_writer_may_read_as_well_and_its_read_outlasts_its_write_before_all_who_wait() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let mut nodes = server.nodes();
    let name = "down";
    let ask = |client: &redlatch::Client, op, kind, owner| -> Result<Answer> {
        client.run_blocking(Request { wait: Some(ms(0)), ..Request::new(op, kind, name, owner) })
    };
    for _ in 0..2 {
        assert!(ask(&one, Op::Acquire, "write", 1).expect("free").done);
    }
    let writer = wait(&two, acquire("write", name, 2, None));
    eventually(|| nodes.children("/down").len() == 2);
    let reader = wait(&two, acquire("read", name, 3, None));
    eventually(|| nodes.children("/down").len() == 3);
    assert!(ask(&one, Op::Acquire, "read", 1).expect("its own").done);
    let all: Vec<_> = nodes.in_order("/down").into_iter().map(|(name, _)| name[name.len() - 10..].to_owned()).collect();
    assert_eq!(all[0], all[1], "its two nodes have one place: {all:?}");
    for left in [1, 0] {
        assert_eq!(ask(&one, Op::Release, "write", 1).expect("held").number, left);
        assert!(writer.is_waiting() && reader.is_waiting());
    }
    std::thread::sleep(ms(100));
    assert!(writer.is_waiting() && reader.is_waiting(), "the owner still reads");
    ask(&one, Op::Release, "read", 1).expect("held");
    assert!(writer.within(secs(5)).expect("its turn").done);
    assert!(reader.is_waiting());
    two.run_blocking(Request::new(Op::Release, "write", name, 2)).expect("held");
    assert!(reader.within(secs(5)).expect("its turn").done);
}

#[test]
fn a_reader_that_asks_to_write_is_told_that_it_would_wait_for_itself_if_it_wants_to_wait_for_ever() {
    let server = Zookeeper::shared();
    let ours = client(server, "");
    assert!(ours.run_blocking(acquire("read", "up", 1, None)).expect("free").done);
    for kind in ["write", "plain", "fair"] {
        let endless = ours.run_blocking(acquire(kind, "up", 1, None));
        assert!(matches!(endless, Err(Error::AlreadyHeld { .. })), "{kind}: {endless:?}");
        for wait in [ms(0), secs(5)] {
            let limited = ours.run_blocking(acquire(kind, "up", 1, Some(wait))).expect("it is no error");
            assert!(!limited.done, "{kind}: {limited:?}");
        }
    }
    assert!(ours.run_blocking(acquire("read", "up", 1, Some(ms(0)))).expect("its own").done);
    for left in [1, 0] {
        let released = ours.run_blocking(Request::new(Op::Release, "read", "up", 1)).expect("held");
        assert_eq!(released.number, left);
    }
    assert!(ours.run_blocking(acquire("write", "up", 1, Some(ms(0)))).expect("free").done);
}

#[test]
fn a_forced_release_ends_the_readers_or_the_writer_as_it_says() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let force = |kind: &'static str| {
        two.run_blocking(Request::new(Op::ForceRelease, kind, "force", 9)).expect("answered").number
    };
    for owner in 1..=3 {
        assert!(one.run_blocking(acquire("read", "force", owner, Some(ms(0)))).expect("free").done);
    }
    assert_eq!((force("write"), force("read"), force("read")), (0, 1, 0));
    assert!(one.run_blocking(acquire("write", "force", 1, Some(ms(0)))).expect("free").done);
    assert_eq!((force("read"), force("write"), force("write")), (0, 1, 0));
}
