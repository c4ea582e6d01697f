//! Several servers that are one: a session goes on at another one, and a server that is cut off from its leader is found
//! out.

use std::time::Instant;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, LostReason};
use redlatch_tests::{Ensemble, ms, secs};

use crate::eventually;
use crate::zookeeper::faults::heard;

fn connect(url: &str, options: &str) -> Client {
    Client::connect(&format!("{url}?{options}")).expect("a good URL")
}

#[test]
fn locks_and_waiters_outlast_the_death_of_any_member() {
    let ensemble = Ensemble::start(3);
    let clients = ["", ""].map(|_| connect(&ensemble.url(), "watchdog=20&retry_for=20"));
    for round in 0..3 {
        let name = format!("n{round}");
        let guard = clients[0].lock(&name).blocking().acquire().expect("free");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| clients[1].lock(&name).wait(secs(60)).blocking().acquire().expect("woken"));
            let leader = ensemble.leader();
            let mut nodes = ensemble.members()[(leader + 1) % 3].nodes();
            eventually(|| nodes.children(&format!("/{name}")).len() == 2);
            drop(nodes);
            // The leader, and then others.
            let victim = (leader + round) % 3;
            ensemble.members()[victim].kill();
            ensemble.settle();
            guard.ensure().expect("held");
            guard.release().expect("held");
            waiting.join().expect("no panic").release().expect("held");
            ensemble.members()[victim].restart();
            ensemble.settle();
        });
    }
}

/// R5, with other servers to go to.
#[test]
fn a_client_of_a_member_that_is_cut_off_from_its_leader_goes_on_at_another() {
    let ensemble = Ensemble::start(3);
    let ours = connect(&ensemble.url(), "watchdog=8");
    let guard = ours.lock("n").blocking().acquire().expect("free");
    let hears = heard(&guard);
    for follower in ensemble.followers() {
        ensemble.cut_off(follower);
        assert!(hears.recv_timeout(secs(12)).is_err(), "the session goes on");
        guard.ensure().expect("held");
        ensemble.join(follower);
        ensemble.settle();
    }
    let other = connect(&ensemble.url(), "");
    assert!(other.lock("n").blocking().try_acquire().expect("answered").is_none());
    guard.release().expect("held");
}

/// R5: the member goes on answering reads and pings, and knows nothing of the sessions that its leader ends. A write that
/// has just been answered proves less than it seems: the leader hears of a session's signs of life later.
#[test]
fn a_holder_at_a_member_that_is_cut_off_from_its_leader_is_told_before_another_client_gets_the_lock() {
    let ensemble = Ensemble::with(3, &["tickTime=1000", "initLimit=20", "syncLimit=20"]);
    let leader = ensemble.leader();
    let follower = ensemble.followers()[0];
    let mut earliest = secs(100);
    for round in 0..12 {
        let port = ensemble.members()[follower].port();
        let ours = connect(&ensemble.url_at(&[port]), "watchdog=2&retry_for=20");
        // It serves clients again some time after it has joined the others.
        eventually(|| ours.lock("before").blocking().try_acquire().is_ok_and(|guard| guard.is_some()));
        // Each round meets another phase of the leader's clock.
        std::thread::sleep(ms(2100 + 170 * round));
        let mut nodes = ensemble.members()[leader].nodes();
        let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        // The leader itself may carry out a write a moment later than a follower does.
        let mut node = None;
        let mut is_lost = false;
        eventually(|| {
            node = nodes.children("/n").pop();
            is_lost = hears.try_recv().is_ok();
            node.is_some() || is_lost
        });
        let Some(node) = node.filter(|_| !is_lost) else {
            // On a busy machine a session of two seconds may have ended before.
            continue;
        };
        let path = format!("/n/{node}");
        ensemble.cut_off(follower);
        let (sender, freed) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                eventually(|| !nodes.exists(&path));
                let _ = sender.send(Instant::now());
            });
            let (reason, told) = hears.recv_timeout(secs(10)).expect("it is told");
            let freed = freed.recv_timeout(secs(10)).expect("the leader ends the session");
            assert!(matches!(reason, LostReason::Partitioned | LostReason::Paused), "{reason}");
            assert!(told <= freed, "round {round}: free {:?} before the holder was told", told - freed);
            earliest = earliest.min(freed - told);
        });
        drop(guard);
        ensemble.join(follower);
        ensemble.settle();
    }
    println!("another client could have had it {earliest:?} after the holder was told, at the least");
}

/// Such a member answers what it is asked by its own state, for as long as it takes itself for a follower.
#[test]
fn a_member_that_is_cut_off_from_its_leader_does_not_tell_of_an_earlier_state() {
    let ensemble = Ensemble::with(3, &["tickTime=2000", "initLimit=20", "syncLimit=20"]);
    let follower = ensemble.followers()[0];
    let asks = connect(&ensemble.url_at(&[ensemble.members()[follower].port()]), "watchdog=60&retry_for=0");
    let leader = connect(&ensemble.url_at(&[ensemble.members()[ensemble.leader()].port()]), "");
    eventually(|| asks.lock("n").blocking().is_locked().is_ok_and(|locked| !locked));
    assert!(!asks.lock("n").blocking().force_release().expect("answered"));
    ensemble.cut_off(follower);
    let guard = leader.fenced_lock("n").blocking().acquire().expect("free");
    let told = asks.lock("n").blocking().is_locked();
    assert!(!matches!(told, Ok(false)), "it is locked");
    let forced = asks.lock("n").blocking().force_release();
    assert!(!matches!(forced, Ok(false)), "an owner has it");
    let token = asks.run_blocking(Request::new(Op::Inspect, "fenced", "n", 9));
    assert!(token.is_err(), "{token:?} behind {:?}", guard.token());
    ensemble.join(follower);
    guard.release().expect("held");
}
