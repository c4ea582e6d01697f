//! Semaphores whose permits have ids. Permits end by themselves or are renewed, and there are never more out than the
//! semaphore has.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Permit, PermitId, PermitSemaphore};
use redlatch_tests::{View, secs};

use super::{eventually, pair};

mod renewed;
mod trouble;

const CHANNEL: &str = "redisson_sc:{n}";
const LEASES: &str = "{n}:timeout";
const NEVER: &str = "922337203685477";

fn set(client: &Client, permits: u64) -> PermitSemaphore {
    let semaphore = client.permit_semaphore("n");
    assert!(semaphore.try_set_permits(permits).blocking().expect("answered"));
    semaphore
}

fn take(semaphore: &PermitSemaphore) -> PermitId {
    semaphore.try_acquire().blocking().expect("answered").expect("available").keep()
}

/// The permits that are available, out, and altogether.
fn counts(semaphore: &PermitSemaphore) -> [u64; 3] {
    [semaphore.available(), semaphore.acquired(), semaphore.permits()].map(|count| count.blocking().expect("answered"))
}

/// The server's record of the permits that are out.
fn out(view: &mut View) -> Vec<(String, String)> {
    let pairs: Vec<(Vec<u8>, String)> = view.command(&["ZRANGE", LEASES, "0", "-1", "WITHSCORES"]);
    pairs.into_iter().map(|(id, score)| (id.iter().map(|byte| format!("{byte:02x}")).collect(), score)).collect()
}

/// Whether only the count is left.
fn only_the_count(view: &mut View) -> bool {
    view.keys("*") == ["n"] && view.channels("*").is_empty()
}

#[test]
fn permits_go_back_by_their_ids_each_once_from_any_client() {
    let (server, a, b) = pair();
    let one = set(&a, 4);
    let two = b.permit_semaphore("n");
    let mut view = server.view();
    assert!(!two.try_set_permits(9).blocking().expect("answered"));
    let first = take(&one);
    let more = one.acquire_many(3).blocking().expect("available");
    assert_eq!(counts(&two), [0, 4, 4]);
    assert!(two.try_acquire().blocking().expect("answered").is_none());
    let wanted = [first].into_iter().chain(more.iter().map(Permit::id)).map(|id| (id.to_string(), NEVER.to_owned()));
    let mut wanted: Vec<_> = wanted.collect();
    let mut there = out(&mut view);
    wanted.sort();
    there.sort();
    assert_eq!(there, wanted);
    two.release(first).blocking().expect("it is out");
    assert!(matches!(two.release(first).blocking(), Err(Error::NoPermit { .. })));
    assert!(!one.try_release(first).blocking().expect("answered"));
    for permit in more {
        permit.release_blocking().expect("it is out");
    }
    assert_eq!(counts(&one), [4, 0, 4]);
    drop(one.acquire().blocking().expect("available"));
    eventually(|| only_the_count(&mut view) && counts(&one) == [4, 0, 4]);
    assert!(one.delete().blocking().expect("answered") && !one.delete().blocking().expect("answered"));
}

#[test]
fn several_go_back_all_or_none() {
    let (_server, a, b) = pair();
    let one = set(&a, 3);
    let ids: Vec<_> = one.acquire_many(3).blocking().expect("available").into_iter().map(Permit::keep).collect();
    one.release(ids[0]).blocking().expect("it is out");
    let foreign = b.permit_semaphore("other");
    foreign.try_set_permits(1).blocking().expect("answered");
    for wrong in [ids[0], take(&foreign)] {
        let refused = b.permit_semaphore("n").release_many(&[ids[1], wrong, ids[2]]).blocking();
        let Err(Error::NoPermit { permits, .. }) = refused else { panic!("{refused:?}") };
        assert!(permits.contains(&wrong.to_string()), "{permits}");
        assert_eq!(counts(&one), [1, 2, 3]);
    }
    assert!(b.permit_semaphore("n").try_release_many(&ids[1..]).blocking().expect("answered"));
    assert_eq!(counts(&one), [3, 0, 3]);
    assert!(matches!(one.release_many(&[]).blocking(), Err(Error::Config(_))));
}

#[test]
fn a_permit_ends_with_its_lease_and_a_waiter_is_there_by_then() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let lease = Duration::from_millis(700);
    let begun = Instant::now();
    let id = one.acquire().lease(lease).blocking().expect("available").keep();
    let next = b.permit_semaphore("n").acquire().wait(secs(20)).blocking().expect("it has ended");
    assert!(begun.elapsed() >= lease && begun.elapsed() < secs(10), "{:?}", begun.elapsed());
    assert!(matches!(one.release(id).blocking(), Err(Error::NoPermit { .. })));
    assert_eq!(counts(&one), [0, 1, 1], "the late release took nothing away");
    next.release_blocking().expect("it is out");
    eventually(|| only_the_count(&mut server.view()));
}

#[test]
fn another_lease_counts_from_when_it_is_given() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let two = b.permit_semaphore("n");
    let id = take(&one);
    let left = || two.lease_left(id).blocking().expect("answered");
    assert_eq!(left(), Some(PermitSemaphore::NO_END));
    assert!(two.update_lease(id, secs(60)).blocking().expect("answered"));
    assert!(left().is_some_and(|left| (secs(50)..=secs(60)).contains(&left)));
    assert!(two.update_lease(id, PermitSemaphore::NO_END).blocking().expect("answered"));
    assert_eq!(left(), Some(PermitSemaphore::NO_END));
    let waiting =
        std::thread::spawn(move || b.permit_semaphore("n").acquire().wait(secs(30)).blocking().map(Permit::keep));
    eventually(|| server.view().listeners(CHANNEL) == 1);
    assert!(one.update_lease(id, Duration::from_millis(300)).blocking().expect("answered"));
    let begun = Instant::now();
    waiting.join().expect("no panic").expect("it has ended");
    assert!(begun.elapsed() < secs(10), "a waiter is told of an earlier end");
    assert!(!one.update_lease(id, secs(60)).blocking().expect("answered"));
    assert_eq!(one.lease_left(id).blocking().expect("answered"), None);
}

#[test]
fn the_count_can_be_set_anew_while_permits_are_out() {
    let (_server, a, _) = pair();
    let one = set(&a, 3);
    let first = take(&one);
    let second = take(&one);
    one.set_permits(5).blocking().expect("answered");
    assert_eq!(counts(&one), [3, 2, 5]);
    one.set_permits(1).blocking().expect("answered");
    assert_eq!(counts(&one), [0, 2, 1]);
    assert!(one.try_acquire().blocking().expect("answered").is_none());
    one.release(first).blocking().expect("it is out");
    assert_eq!(counts(&one), [0, 1, 1]);
    one.release(second).blocking().expect("it is out");
    assert_eq!(one.add_permits(2).blocking().expect("answered"), 3);
    assert_eq!(counts(&one), [3, 0, 3]);
    assert_eq!(one.remove_permits(1).blocking().expect("answered"), 2);
    assert_eq!(counts(&one), [2, 0, 2]);
}

#[test]
fn waiters_of_one_client_have_their_turn_in_the_order_in_which_they_came() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let mut view = server.view();
    let mut held = take(&one);
    let (sender, order) = std::sync::mpsc::channel();
    for owner in 1..=10 {
        let sender = sender.clone();
        let request = Request::new(Op::Acquire, "permit_semaphore", "n", owner);
        let request = Request { wait: None, numbers: vec![1], ..request };
        b.submit(b.ticket(), request, move |taken| sender.send((owner, taken)).expect("the test counts"));
        eventually(|| view.listeners(CHANNEL) == 1);
    }
    for expected in 1..=10 {
        one.release(held).blocking().expect("it is out");
        let (owner, taken) = order.recv_timeout(secs(10)).expect("woken");
        let taken = taken.expect("answered");
        assert_eq!((owner, taken.done), (expected, true));
        held = format!("{:016x}{:016x}", taken.items[0], taken.items[1]).parse().expect("an id");
    }
    one.release(held).blocking().expect("it is out");
    eventually(|| only_the_count(&mut view));
}

#[test]
fn a_wait_that_runs_out_takes_nothing_and_says_what_may_be_missing() {
    let (server, _, b) = pair();
    let semaphore = b.permit_semaphore("n");
    let wait = Duration::from_millis(50);
    assert!(semaphore.try_acquire().wait(wait).blocking().expect("answered").is_none());
    let error = semaphore.acquire().wait(wait).blocking().map(Permit::keep).expect_err("there are none");
    assert!(matches!(error, Error::NotAcquired { .. }) && error.to_string().contains("try_set_permits"), "{error}");
    assert_eq!(counts(&semaphore), [0, 0, 0]);
    eventually(|| server.view().keys("*").is_empty() && server.view().channels("*").is_empty());
}

#[test]
fn never_more_permits_are_out_than_there_are() {
    let (_server, a, b) = pair();
    set(&a, 3);
    let inside = AtomicI64::new(0);
    let most = AtomicI64::new(0);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let inside = &inside;
            let most = &most;
            let client = if number % 2 == 0 { &a } else { &b };
            scope.spawn(move || {
                let semaphore = client.permit_semaphore("n");
                let work = || {
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, SeqCst);
                };
                for round in 0..30 {
                    if round % 3 == 0 {
                        let permit = semaphore.acquire_renewed().wait(secs(30)).blocking().expect("its turn comes");
                        work();
                        permit.release_blocking().expect("held");
                    } else {
                        let permit =
                            semaphore.acquire().wait(secs(30)).lease(secs(60)).blocking().expect("its turn comes");
                        work();
                        permit.release_blocking().expect("out");
                    }
                }
            });
        }
    });
    assert!(most.into_inner() <= 3);
    assert_eq!(counts(&a.permit_semaphore("n")), [3, 0, 3]);
}
