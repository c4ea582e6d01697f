//! A holder is told that it lost its lock, and why.

use std::time::{Duration, Instant};

use redlatch::ffi::kinds::ALL;
use redlatch::ffi::{Answer, Border, Member, Op, Request, Rule};
use redlatch::{BlockingGuard, Client, Error, Holds, LostReason};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server, all_at_once, kinds, ms, soon};

use super::{eventually, pair, secs};

/// The reason that the guard reports. The test ends if none comes.
fn reason(guard: &BlockingGuard) -> Option<LostReason> {
    let loss = soon(guard.lost());
    assert_eq!(loss.is_some(), matches!(guard.ensure(), Err(Error::Lost(_))));
    loss.map(|loss| loss.reason)
}

/// A hold that the server already tracks: the connection has read the key since.
fn lasting(client: &Client, server: &Server) -> BlockingGuard {
    let guard = client.lock("n").blocking().acquire().expect("free");
    let mut view = server.view();
    eventually(|| view.tells());
    guard
}

#[test]
fn the_deletion_of_a_key_is_told_long_before_the_lease_ends() {
    let (server, a, _) = pair();
    let guard = lasting(&a, &server);
    server.view().command::<()>(&["DEL", "n"]);
    assert_eq!(reason(&guard), Some(LostReason::Deleted));
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
}

#[test]
fn a_server_that_is_emptied_is_told_of_all_holds() {
    let (server, a, _) = pair();
    let first = lasting(&a, &server);
    let second = a.lock("m").lease(secs(60)).blocking().acquire().expect("free");
    server.view().command::<()>(&["FLUSHALL"]);
    assert_eq!(reason(&first), Some(LostReason::Deleted));
    assert_eq!(reason(&second), Some(LostReason::Deleted));
}

#[test]
fn an_evicted_holder_is_told_that_another_owner_has_the_lock() {
    let (server, a, b) = pair();
    let guard = lasting(&a, &server);
    server.view().command::<()>(&["EVAL", "redis.call('DEL', 'n') redis.call('HSET', 'n', 'u:1', 1)", "0"]);
    assert_eq!(reason(&guard), Some(LostReason::TakenOver));
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
}

#[test]
fn a_server_that_comes_back_empty_is_told() {
    let (server, a, _) = pair();
    let guard = lasting(&a, &server);
    server.stop();
    server.restart();
    assert_eq!(reason(&guard), Some(LostReason::ServerLostData));
}

/// The client does not check a hold that has only begun, so the release is the first call to find it gone.
#[test]
fn a_release_that_finds_the_server_come_back_empty_says_so() {
    let server = Server::start();
    for round in 0..5 {
        // This client has only the connection that its acquires have opened.
        let client = Client::connect(&server.url()).expect("a good URL");
        let acquire = || client.lock("n").owner(1).blocking().acquire().expect("free");
        let _outer = acquire();
        let inner = acquire();
        server.restart();
        let Err(Error::Lost(loss)) = inner.release() else { panic!("round {round}: the server came back without it") };
        assert_eq!(loss.reason, LostReason::ServerLostData, "round {round}: {loss}");
    }
}

#[test]
fn a_holder_that_waits_for_its_loss_is_told_that_the_server_came_back_empty() {
    let server = Server::start();
    for round in 0..5 {
        let client = Client::connect(&server.url()).expect("a good URL");
        let guard = client.lock("n").blocking().acquire().expect("free");
        server.restart();
        assert_eq!(reason(&guard), Some(LostReason::ServerLostData), "round {round}");
    }
}

#[test]
fn a_holder_cut_off_is_told_before_the_server_frees_the_lock() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&format!("{}?watchdog=1", server.url_at(proxy.port()))).expect("a good URL");
    let guard = lasting(&client, &server);
    proxy.stall(Direction::ToServer);
    // A renewal may have been under way. It has arrived once the remaining time only falls.
    let mut view = server.view();
    let mut left = view.pttl("n");
    eventually(|| {
        std::thread::sleep(Duration::from_millis(20));
        view.pttl("n") < std::mem::replace(&mut left, view.pttl("n"))
    });
    let freed = Instant::now() + Duration::from_millis(view.pttl("n") as u64);
    assert!(guard.deadline().is_some_and(|end| end < freed), "the server frees it first");
    assert_eq!(reason(&guard), Some(LostReason::Partitioned));
}

/// The watchdog leaves an owner alone while another call of it is under way.
#[test]
fn an_owner_whose_call_is_unanswered_while_its_lease_ends_is_cut_off_and_not_paused() {
    let told_during = |op: Op| {
        let server = Server::start();
        let proxy = Proxy::start(&server);
        let client = Client::connect(&format!("{}?watchdog=3", server.url_at(proxy.port()))).expect("a good URL");
        let guard = client.lock("n").owner(7).blocking().acquire().expect("free");
        proxy.stall(Direction::ToServer);
        std::thread::scope(|scope| {
            let call = scope.spawn(|| client.run_blocking(Request::new(op, "plain", "n", 7)));
            let reason = reason(&guard);
            call.join().expect("no panic").expect_err("the server is silent");
            reason
        })
    };
    let jobs = [Op::Acquire, Op::Release, Op::Extend]
        .into_iter()
        .map(|op| (format!("{op:?}"), move || assert_eq!(told_during(op), Some(LostReason::Partitioned), "{op:?}")));
    all_at_once(jobs);
}

#[test]
fn a_lease_that_ends_is_told() {
    let (_server, a, _) = pair();
    let guard = a.lock("n").lease(Duration::from_millis(200)).blocking().acquire().expect("free");
    assert_eq!(reason(&guard), Some(LostReason::Expired));
}

#[test]
fn a_closed_client_tells_its_holders() {
    let (_server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    a.close_blocking(Holds::Release);
    assert!(matches!(guard.ensure(), Err(Error::Lost(loss)) if loss.reason == LostReason::Closed));
}

#[test]
fn a_released_hold_is_not_lost() {
    let (server, a, _) = pair();
    let inner = a.lock("n").owner(1).blocking().acquire().expect("free");
    let outer = lasting_again(&a, &server);
    let told = std::thread::scope(|scope| {
        let told = scope.spawn(|| reason(&outer));
        inner.release().expect("held");
        server.view().command::<()>(&["DEL", "n"]);
        told.join().expect("no panic")
    });
    assert_eq!(told, Some(LostReason::Deleted));
}

fn lasting_again(client: &Client, server: &Server) -> BlockingGuard {
    let guard = client.lock("n").owner(1).blocking().acquire().expect("own");
    let mut view = server.view();
    eventually(|| view.tells());
    guard
}

#[test]
fn a_loss_is_told_with_its_time_line() {
    let (server, a, _) = pair();
    let guard = lasting(&a, &server);
    server.view().command::<()>(&["DEL", "n"]);
    reason(&guard);
    let Err(Error::Lost(loss)) = guard.ensure() else { panic!("it is lost") };
    assert!(loss.acquired >= loss.noticed && loss.lock == "n" && loss.owner.starts_with(&a.id()), "{loss}");
}

/// The answer to that call says nothing of the deletion: the server gave it before.
#[test]
fn a_key_that_is_deleted_while_a_call_of_its_owner_is_under_way_is_told_once_that_call_ends() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    // A tenth of this watchdog is longer than the test waits. Only acquires name the whole watchdog.
    let client = Client::connect(&format!("{}?watchdog=299.123&response_timeout=20", server.url_at(proxy.port())))
        .expect("a good URL");
    let lock = || client.lock("n").owner(7).blocking();
    let outer = lock().acquire().expect("free");
    let other = client.lock("m").blocking().acquire().expect("free");
    let mut view = server.view();
    eventually(|| view.command::<String>(&["INFO", "stats"]).contains("tracking_total_keys:2\r\n"));
    std::thread::scope(|scope| {
        proxy.retard_replies_to("\r\n299123\r\n", 1, secs(3));
        let inner = scope.spawn(|| lock().acquire().expect("the owner's own"));
        eventually(|| view.hgetall("n").into_values().eq(["2"]));
        view.command::<()>(&["DEL", "n", "m"]);
        assert_eq!(reason(&other), Some(LostReason::Deleted), "the server tells of both at once");
        proxy.disarm();
        let _inner = inner.join().expect("no panic");
        assert_eq!(reason(&outer), Some(LostReason::Deleted));
    });
}

#[test]
fn a_key_that_is_made_into_something_else_is_lost_and_ends_no_other_renewal() {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=3", server.url())).expect("a good URL");
    let other = client.lock("other").blocking().acquire().expect("free");
    let guard = lasting(&client, &server);
    server.view().command::<()>(&["SET", "n", "v"]);
    assert_eq!(reason(&guard), Some(LostReason::TakenOver));
    // Longer than the lease of the other hold, which lives only by its renewals.
    let end = Instant::now() + secs(6);
    while Instant::now() < end {
        other.ensure().expect("it is renewed");
        std::thread::sleep(Duration::from_millis(20));
    }
    other.release().expect("held");
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
}

/// The ends of `count` watches of a hold, one after the other, of which some begin before the client's end and some
/// after it.
fn watched(lock: &Client, request: &Request, client: &Client, count: usize) -> Vec<redlatch::Result<Answer>> {
    let (told, ends) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                let told = told.clone();
                lock.submit(lock.ticket(), request.clone(), move |end| drop(told.send(end)));
                if number % 10 == 0 {
                    std::thread::sleep(ms(1));
                }
            }
        });
        std::thread::sleep(ms(2));
        client.close_blocking(Holds::Release);
    });
    (0..count).map(|_| ends.recv_timeout(PATIENCE).expect("the watch ends")).collect()
}

/// A hold of each kind, and of a lock of three by each rule, with a client of its own.
fn of_each_kind(server: &Server, mut check: impl FnMut(&str, &Client, &Client, Request)) {
    let held = ALL.iter().filter(|row| row.traits.held).map(|row| (row.traits.name, None));
    for (kind, rule) in held.chain([("plain", Some(Rule::All)), ("plain", Some(Rule::Majority))]) {
        let client = Client::connect(&server.url()).expect("a good URL");
        let key = format!("{kind}.{rule:?}");
        let members =
            ["a", "b", "c"].map(|name| Member { client: client.clone(), kind, name: format!("{key}{name}").into() });
        let lock = rule
            .map_or_else(|| client.clone(), |rule| Client::group(rule, members.into()).expect("three different ones"));
        kinds::set_up(&client, kind, &key, 1);
        let request = Request::new(Op::Acquire, kind, kinds::name(kind, &key), 1);
        let hold = lock.run_blocking(request.clone()).expect("free").number as u64;
        check(&key, &client, &lock, Request { hold, ..request });
    }
}

#[test]
fn a_watch_that_begins_while_its_client_ends_or_later_hears_of_the_loss() {
    let server = Server::start();
    of_each_kind(&server, |lock_of, client, lock, hold| {
        for end in watched(lock, &Request { op: Op::Watch, ..hold }, client, 100) {
            assert!(matches!(&end, Err(Error::Lost(loss)) if loss.reason == LostReason::Closed), "{lock_of}: {end:?}");
        }
    });
}

#[test]
fn a_watch_that_begins_after_the_release_hears_of_the_loss_that_the_release_found_and_of_no_other() {
    let server = Server::start();
    of_each_kind(&server, |lock_of, _, lock, hold| {
        let ended = |op| lock.run_blocking(Request { op, ..hold.clone() });
        server.view().command::<()>(&["FLUSHALL"]);
        let released = ended(Op::Release);
        assert!(matches!(released, Err(Error::Lost(_))), "{lock_of}: {released:?}");
        let watched = ended(Op::Watch);
        assert!(matches!(watched, Err(Error::Lost(_))), "{lock_of}: {watched:?}");
    });
    of_each_kind(&server, |lock_of, _, lock, hold| {
        let ended = |op| lock.run_blocking(Request { op, ..hold.clone() }).expect("held until then");
        assert!(ended(Op::Release).done && !ended(Op::Watch).done, "{lock_of}");
    });
}
