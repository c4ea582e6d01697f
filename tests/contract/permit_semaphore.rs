//! Semaphores whose permits have ids, end by themselves or are renewed, and are never more than there are.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use redlatch::{Client, Error, LostReason, Op, Permit, PermitId, PermitSemaphore, Request};
use redlatch_tests::{Proxy, Server, View, secs};

use super::{eventually, pair};

const CHANNEL: &str = "redisson_sc:{n}";
const LEASES: &str = "{n}:timeout";
const NEVER: &str = "922337203685477";

fn set(client: &Client, permits: i64) -> PermitSemaphore {
    let semaphore = client.permit_semaphore("n");
    assert!(semaphore.try_set_permits(permits).blocking().expect("answered"));
    semaphore
}

fn take(semaphore: &PermitSemaphore) -> PermitId {
    semaphore.try_acquire().blocking().expect("answered").expect("available").keep()
}

/// Available, out, all together.
fn counts(semaphore: &PermitSemaphore) -> [i64; 3] {
    [semaphore.available(), semaphore.acquired(), semaphore.permits()].map(|count| count.blocking().expect("answered"))
}

/// What the server has of the permits that are out.
fn out(view: &mut View) -> Vec<(String, String)> {
    let pairs: Vec<(Vec<u8>, String)> = view.command(&["ZRANGE", LEASES, "0", "-1", "WITHSCORES"]);
    pairs.into_iter().map(|(id, score)| (id.iter().map(|byte| format!("{byte:02x}")).collect(), score)).collect()
}

/// Nothing but the count is left.
fn only_the_count(view: &mut View) -> bool {
    view.keys("*") == ["n"] && view.channels("*").is_empty()
}

/// The next call loses its reply. Requests that were answered are forgotten first: that is a call too.
fn lose(proxy: &Proxy, view: &mut View) {
    eventually(|| view.keys("redlatch_request*").is_empty());
    proxy.lose_reply_to("EVALSHA");
}

/// As if every permit had ended long ago.
fn end_all(view: &mut View) {
    let text = "for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, id) end";
    view.command::<()>(&["EVAL", text, "1", LEASES]);
}

#[test]
fn permits_go_back_by_their_ids_each_once_by_anybody() {
    let (server, a, b) = pair();
    let (one, two, mut view) = (set(&a, 4), b.permit_semaphore("n"), server.view());
    assert!(!two.try_set_permits(9).blocking().expect("answered"));
    let first = take(&one);
    let more = one.acquire_many(3).blocking().expect("available");
    assert_eq!(counts(&two), [0, 4, 4]);
    assert!(two.try_acquire().blocking().expect("answered").is_none());
    let wanted = [first].into_iter().chain(more.iter().map(Permit::id)).map(|id| (id.to_string(), NEVER.to_owned()));
    let (mut wanted, mut there): (Vec<_>, _) = (wanted.collect(), out(&mut view));
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
    let (one, lease) = (set(&a, 1), Duration::from_millis(700));
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
    let (one, two) = (set(&a, 1), b.permit_semaphore("n"));
    let id = take(&one);
    let left = || two.lease_left(id).blocking().expect("answered");
    assert_eq!(left(), Some(-1));
    assert!(two.update_lease(id).lease(secs(60)).blocking().expect("answered"));
    assert!(left().is_some_and(|ms| (50_000..=60_000).contains(&ms)));
    assert!(two.update_lease(id).blocking().expect("answered"));
    assert_eq!(left(), Some(-1));
    let waiting = std::thread::spawn(move || b.permit_semaphore("n").acquire().wait(secs(30)).blocking().map(Permit::keep));
    eventually(|| server.view().listeners(CHANNEL) == 1);
    assert!(one.update_lease(id).lease(Duration::from_millis(300)).blocking().expect("answered"));
    let begun = Instant::now();
    waiting.join().expect("no panic").expect("it has ended");
    assert!(begun.elapsed() < secs(10), "who waits is told of an earlier end");
    assert!(!one.update_lease(id).lease(secs(60)).blocking().expect("answered"));
    assert_eq!(one.lease_left(id).blocking().expect("answered"), None);
}

#[test]
fn the_count_can_be_set_anew_while_permits_are_out() {
    let (_server, a, _) = pair();
    let one = set(&a, 3);
    let (first, second) = (take(&one), take(&one));
    one.set_permits(5).blocking().expect("answered");
    assert_eq!(counts(&one), [3, 2, 5]);
    one.set_permits(1).blocking().expect("answered");
    assert_eq!(counts(&one), [-1, 2, 1]);
    assert!(one.try_acquire().blocking().expect("answered").is_none());
    one.release(first).blocking().expect("it is out");
    assert_eq!(counts(&one), [0, 1, 1]);
    one.release(second).blocking().expect("it is out");
    assert_eq!(one.add_permits(2).blocking().expect("answered"), 3);
    assert_eq!(counts(&one), [3, 0, 3]);
}

#[test]
fn waiters_of_one_client_have_their_turn_in_the_order_in_which_they_came() {
    let (server, a, b) = pair();
    let (one, mut view) = (set(&a, 1), server.view());
    let mut held = take(&one);
    let (sender, order) = std::sync::mpsc::channel();
    for owner in 1..=10 {
        let (sender, request) = (sender.clone(), Request::new(Op::Acquire, "permit_semaphore", "n", owner));
        let request = Request { wait: None, numbers: vec![1], ..request };
        b.submit(b.ticket(), request, move |taken| sender.send((owner, taken)).expect("somebody counts"));
        eventually(|| view.listeners(CHANNEL) == 1);
    }
    for expected in 1..=10 {
        one.release(held).blocking().expect("it is out");
        let (owner, taken) = order.recv_timeout(secs(10)).expect("woken");
        let taken = taken.expect("answered");
        assert_eq!((owner, taken.done), (expected, true));
        held = PermitId::from_halves(taken.items[0], taken.items[1]);
    }
    one.release(held).blocking().expect("it is out");
    eventually(|| only_the_count(&mut view));
}

#[test]
fn an_acquire_that_nobody_waits_for_any_more_takes_nothing() {
    let (server, a, b) = pair();
    let (one, mut view) = (set(&a, 2), server.view());
    let held = one.acquire_many(2).blocking().expect("available");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let several = |client: &Client| runtime.spawn(client.permit_semaphore("n").acquire_many(2).into_future());
    let waiting = (several(&b), runtime.spawn(b.permit_semaphore("n").acquire_renewed().into_future()));
    eventually(|| view.listeners(CHANNEL) == 1 && view.channels("*").len() == 1);
    waiting.0.abort();
    waiting.1.abort();
    eventually(|| view.channels("*").is_empty());
    drop(held);
    for _ in 0..30 {
        several(&b).abort();
        runtime.spawn(b.permit_semaphore("n").acquire().into_future()).abort();
        runtime.spawn(b.permit_semaphore("n").acquire_renewed().into_future()).abort();
    }
    eventually(|| counts(&one) == [2, 0, 2] && only_the_count(&mut view));
    drop(runtime);
}

#[test]
fn a_wait_that_runs_out_takes_nothing_and_says_what_may_be_missing() {
    let (server, _, b) = pair();
    let (semaphore, wait) = (b.permit_semaphore("n"), Duration::from_millis(50));
    assert!(semaphore.try_acquire().wait(wait).blocking().expect("answered").is_none());
    let error = semaphore.acquire().wait(wait).blocking().map(Permit::keep).expect_err("there are none");
    assert!(matches!(error, Error::NotAcquired { .. }) && error.to_string().contains("try_set_permits"), "{error}");
    assert_eq!(counts(&semaphore), [0, 0, 0]);
    eventually(|| server.view().keys("*").is_empty() && server.view().channels("*").is_empty());
}

#[test]
fn a_call_whose_reply_is_lost_counts_once() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let (semaphore, mut view) = (set(&client, 10), server.view());
    // Every script is known to the server before its reply is lost: what is lost is the reply of a call that was carried out.
    let warm = semaphore.acquire_many(2).blocking().expect("available").into_iter().map(Permit::keep).collect::<Vec<_>>();
    semaphore.update_lease(warm[0]).lease(secs(90)).blocking().expect("answered");
    semaphore.release_many(&warm).blocking().expect("out");
    semaphore.add_permits(1).blocking().expect("answered");
    semaphore.set_permits(10).blocking().expect("answered");
    semaphore.acquire_renewed().blocking().expect("available").release_blocking().expect("held");
    assert_eq!(counts(&semaphore), [10, 0, 10]);
    lose(&proxy, &mut view);
    let ids: Vec<_> = semaphore.acquire_many(3).blocking().expect("available").into_iter().map(Permit::keep).collect();
    assert_eq!(counts(&semaphore), [7, 3, 10]);
    assert!(ids.iter().all(|id| out(&mut view).iter().any(|(there, _)| *there == id.to_string())), "{ids:?}");
    lose(&proxy, &mut view);
    semaphore.release(ids[0]).blocking().expect("it was out");
    assert_eq!(counts(&semaphore), [8, 2, 10]);
    lose(&proxy, &mut view);
    assert!(!semaphore.try_release_many(&ids).blocking().expect("answered"), "one of them is not out, whoever asks twice");
    lose(&proxy, &mut view);
    semaphore.release_many(&ids[1..]).blocking().expect("they were out");
    assert_eq!(counts(&semaphore), [10, 0, 10]);
    lose(&proxy, &mut view);
    semaphore.add_permits(-3).blocking().expect("answered");
    assert_eq!(counts(&semaphore), [7, 0, 7]);
    lose(&proxy, &mut view);
    let renewed = semaphore.acquire_renewed().blocking().expect("available");
    assert_eq!(counts(&semaphore), [6, 1, 7]);
    lose(&proxy, &mut view);
    renewed.release_blocking().expect("held");
    assert_eq!(counts(&semaphore), [7, 0, 7]);
    assert_eq!(proxy.struck(), 7);
    eventually(|| only_the_count(&mut view));
}

#[test]
fn an_acquire_with_an_outcome_that_nobody_waits_for_goes_back() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let url = format!("{}?response_timeout=0.3&retry_for=0.2", server.url_at(proxy.port()));
    let client = Client::connect(&url).expect("a good URL");
    let (one, mut view) = (set(&client, 5), server.view());
    take(&one);
    proxy.lose_replies_to("EVALSHA", 1);
    assert!(matches!(one.acquire_many(3).blocking().map(drop), Err(Error::Unavailable { .. })));
    assert_eq!(view.command::<i64>(&["GET", "n"]), 1, "it was carried out");
    assert_eq!(out(&mut view).len(), 4, "the copies are known for what they are");
    proxy.disarm();
    eventually(|| view.command::<i64>(&["GET", "n"]) == 4 && out(&mut view).len() == 1);
}

#[test]
fn a_renewed_permit_lasts_as_long_as_it_is_held_and_no_longer() {
    let (server, a, _) = pair();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let (one, mut view) = (set(&a, 2), server.view());
    let permit = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    let end = |view: &mut View| out(view).first().map_or(0.0, |(_, score)| score.parse::<f64>().expect("a number"));
    let (first, renewals) = (end(&mut view), AtomicI64::new(0));
    eventually(|| {
        let later = end(&mut view) > first + 1500.0;
        renewals.fetch_add(1, SeqCst);
        later
    });
    permit.ensure().expect("it is held");
    assert_eq!(counts(&one), [1, 1, 2]);
    permit.release_blocking().expect("it is held");
    assert!(only_the_count(&mut view));
    let dies = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    client.close(false);
    assert!(matches!(dies.ensure(), Err(Error::Lost(loss)) if loss.reason == LostReason::Closed));
    eventually(|| counts(&one) == [2, 0, 2]);
}

#[test]
fn a_renewed_permit_that_somebody_else_gives_back_is_lost_and_that_is_told() {
    let (server, a, _) = pair();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let one = set(&a, 2);
    let permit = client.permit_semaphore("n").acquire_renewed().blocking().expect("available");
    one.release(permit.id()).blocking().expect("it is out");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let loss = runtime.block_on(async { tokio::time::timeout(secs(20), permit.lost()).await }).expect("it is told in time");
    assert_eq!(loss.map(|loss| loss.reason), Some(LostReason::Deleted));
    assert!(matches!(permit.release_blocking(), Err(Error::Lost(_))));
    assert_eq!(counts(&one), [2, 0, 2], "its own release took nothing away");
    a.close(true);
}

#[test]
fn never_more_have_permits_than_there_are() {
    let (_server, a, b) = pair();
    set(&a, 3);
    let (inside, most) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (inside, most, client) = (&inside, &most, if number % 2 == 0 { &a } else { &b });
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
                        let permit = semaphore.acquire().wait(secs(30)).lease(secs(60)).blocking().expect("its turn comes");
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

#[test]
fn numbers_that_are_none_and_keys_of_other_types_are_errors_that_name_it() {
    let (server, a, _) = pair();
    let semaphore = a.permit_semaphore("n");
    for count in [0, -1, 10_001] {
        let Err(Error::Config(said)) = semaphore.acquire_many(count).blocking().map(drop) else { panic!("it must be refused") };
        assert!(said.contains("`n`") && said.contains(&count.to_string()), "{said}");
    }
    assert!(matches!(semaphore.try_set_permits(-1).blocking(), Err(Error::Config(_))));
    assert!(matches!(semaphore.set_permits(-1).blocking(), Err(Error::Config(_))));
    let Err(Error::Config(said)) = semaphore.acquire().lease(Duration::ZERO).blocking().map(drop) else { panic!("it must be refused") };
    assert!(said.contains("1 ms"), "{said}");
    assert!(server.view().keys("*").is_empty());
    let mut view = server.view();
    for write in [&["HSET", "n", "u:1", "1"][..], &["SET", "n", "some token"], &["SET", LEASES, "x"]] {
        view.command::<()>(&["FLUSHALL"]);
        view.command::<()>(write);
        let refused = [semaphore.acquire().blocking().map(drop), semaphore.acquire_renewed().wait(secs(1)).blocking().map(drop)];
        for refused in refused {
            assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"), "{write:?}: {refused:?}");
        }
    }
}

#[test]
fn a_full_server_refuses_an_acquire_and_takes_a_release() {
    let (server, a, _) = pair();
    let (semaphore, mut view) = (set(&a, 3), server.view());
    let (id, renewed) = (take(&semaphore), semaphore.acquire_renewed().blocking().expect("available"));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(matches!(semaphore.acquire().blocking().map(drop), Err(Error::Refused { code, .. }) if code == "OOM"));
    semaphore.release(id).blocking().expect("a full server takes it");
    renewed.release_blocking().expect("a full server takes it");
    assert!(matches!(semaphore.acquire().blocking().map(drop), Err(Error::Refused { code, .. }) if code == "OOM"));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(counts(&semaphore), [3, 0, 3]);
}

/// Every answer, both keys and what waiters are told, by the plainest book-keeping there is.
fn play(server: &Server, clients: &[Client; 2], history: &[(u8, u8)]) {
    let mut view = server.view();
    view.command::<()>(&["DEL", "n", LEASES]);
    let (mut listener, mut there, mut ids, mut ended) = (server.listen(CHANNEL), None::<i64>, Vec::<PermitId>::new(), Vec::new());
    for (action, pick) in history {
        let (semaphore, n) = (clients[usize::from(*pick) % 2].permit_semaphore("n"), i64::from(pick % 4) + 1);
        let mut told = Vec::new();
        // What has ended goes back with the next call that looks for it.
        let mut reap = |there: &mut Option<i64>, told: &mut Vec<i64>| {
            if !ended.is_empty() {
                *there = Some(there.unwrap_or_default() + ended.len() as i64);
                told.extend(there.filter(|there| *there > 0));
                ended.clear();
            }
        };
        match action % 7 {
            0 | 1 => {
                reap(&mut there, &mut told);
                let taken = semaphore.try_acquire_many(n).blocking().expect("answered");
                assert_eq!(taken.is_some(), there.is_some_and(|there| there >= n));
                if let Some(taken) = taken {
                    there = there.map(|there| there - n);
                    ids.extend(taken.into_iter().map(Permit::keep));
                }
            }
            2 => {
                reap(&mut there, &mut told);
                let back: Vec<_> = ids.iter().copied().take(n as usize).collect();
                if !back.is_empty() {
                    assert!(semaphore.try_release_many(&back).blocking().expect("answered"));
                    ids.drain(..back.len());
                    there = Some(there.unwrap_or_default() + back.len() as i64);
                    told.extend(there.filter(|there| *there > 0));
                } else {
                    assert!(!semaphore.try_release(PermitId::from_halves(1, n)).blocking().expect("answered"));
                }
            }
            3 => {
                end_all(&mut view);
                ended.append(&mut ids);
            }
            4 => {
                semaphore.set_permits(n).blocking().expect("answered");
                let out = (ids.len() + ended.len()) as i64;
                there = Some(there.map_or(n, |_| n - out));
                told.extend(there.filter(|there| *there > 0));
            }
            5 => {
                assert_eq!(semaphore.try_set_permits(n).blocking().expect("answered"), there.is_none());
                told.extend(there.is_none().then_some(n));
                there = there.or(Some(n));
            }
            _ => {
                there = Some(there.unwrap_or_default() + n - 3);
                assert_eq!(semaphore.add_permits(n - 3).blocking().ok(), there);
                told.extend(there.filter(|there| *there >= 0));
            }
        }
        assert_eq!(view.command::<Option<i64>>(&["GET", "n"]), there);
        assert_eq!(out(&mut view).len(), ids.len() + ended.len());
        let available = there.unwrap_or_default() + ended.len() as i64;
        let all = there.map_or(0, |_| available + ids.len() as i64);
        assert_eq!(counts(&semaphore), [available, ids.len() as i64, all]);
        assert_eq!(listener.heard(), told.iter().map(i64::to_string).collect::<Vec<_>>());
    }
}

#[test]
fn every_answer_key_and_message_is_that_of_the_model() {
    let (server, a, b) = pair();
    let clients = [a, b];
    proptest!(ProptestConfig::with_cases(60), |(history in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40))| {
        play(&server, &clients, &history);
    });
}
