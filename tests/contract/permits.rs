//! Semaphores: any client takes and returns permits, and there are never more out than the semaphore has.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use redlatch::ffi::{Border, LEASE_MAX, Op, Request};
use redlatch::{Client, Error, Holds, Semaphore};
use redlatch_tests::{Direction, PATIENCE, Proxy, Server, View, ms};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{eventually, pair, secs};

const CHANNEL: &str = "redisson_sc:{n}";

fn set(client: &Client, permits: u64) -> Semaphore {
    let semaphore = client.semaphore("n");
    assert!(semaphore.try_set_permits(permits).blocking().expect("answered"));
    semaphore
}

/// Whether only the count is left. Requests that were answered are forgotten.
fn only_the_count(view: &mut View) -> bool {
    view.keys("*") == ["n"] && view.channels("*").is_empty()
}

#[test]
fn permits_are_taken_all_at_once_or_not_at_all() {
    let (server, a, b) = pair();
    let one = set(&a, 5);
    let two = b.semaphore("n");
    assert!(!two.try_set_permits(9).blocking().expect("answered"));
    one.try_acquire(3).blocking().expect("answered").expect("available").keep();
    assert!(two.try_acquire(3).blocking().expect("answered").is_none());
    assert_eq!(two.available().blocking().expect("answered"), 2);
    two.try_acquire(2).blocking().expect("answered").expect("available").keep();
    two.release(5).blocking().expect("answered");
    assert_eq!(one.drain().blocking().expect("answered"), 5);
    assert_eq!(one.add_permits(2).blocking().expect("answered"), 2);
    eventually(|| only_the_count(&mut server.view()));
    assert!(one.delete().blocking().expect("answered") && !one.delete().blocking().expect("answered"));
    assert!(!two.release_if_exists(1).blocking().expect("answered"));
    two.release(1).blocking().expect("answered");
    assert!(two.release_if_exists(1).blocking().expect("answered"));
    assert_eq!(one.available().blocking().expect("answered"), 2);
}

/// The wire does not tell the two semaphores apart. The permits come back from their caller, or from a client that was
/// never told of its grant.
#[test]
fn permits_of_a_semaphore_that_was_deleted_go_to_the_one_that_is_made_under_its_name() {
    let (server, holder, _) = pair();
    let proxy = Proxy::start(&server);
    let unsure = Client::connect(&format!("{}?response_timeout=1&retry_for=0", server.url_at(proxy.port())))
        .expect("a good URL");
    let semaphore = set(&holder, 9);
    semaphore.acquire(2).blocking().expect("available").keep();
    unsure.semaphore("n").try_acquire(1).blocking().expect("answered").expect("available").keep();
    proxy.stall(Direction::ToClient);
    std::thread::scope(|scope| {
        let unknown = scope.spawn(|| unsure.semaphore("n").try_acquire(3).blocking());
        eventually(|| server.view().command::<i64>(&["GET", "n"]) == 3);
        proxy.stall(Direction::ToServer);
        let unknown = unknown.join().expect("no panic");
        assert!(matches!(unknown, Err(Error::Unavailable { .. })), "{unknown:?}");
    });
    assert!(semaphore.delete().blocking().expect("answered"));
    set(&holder, 10);
    proxy.flow();
    eventually(|| semaphore.available().blocking().expect("answered") == 13);
    semaphore.release(2).blocking().expect("answered");
    assert_eq!(semaphore.available().blocking().expect("answered"), 15);
}

#[test]
fn a_release_wakes_waiters_in_the_order_in_which_they_came() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let mut view = server.view();
    one.acquire(1).blocking().expect("available").keep();
    let mut request = Request::new(Op::Acquire, "semaphore", "n", 0);
    request.wait = None;
    request.numbers = vec![1];
    let (sender, order) = std::sync::mpsc::channel();
    for owner in 1..=20 {
        let sender = sender.clone();
        b.submit(b.ticket(), Request { owner, ..request.clone() }, move |taken| {
            sender.send((owner, taken)).expect("the test counts")
        });
        eventually(|| view.listeners(CHANNEL) == 1);
    }
    for expected in 1..=20 {
        one.release(1).blocking().expect("answered");
        let (owner, taken) = order.recv_timeout(secs(10)).expect("woken");
        assert_eq!((owner, taken.expect("taken").done), (expected, true));
    }
    eventually(|| only_the_count(&mut view));
}

#[test]
fn several_permits_given_back_at_once_serve_several_waiters() {
    let (_server, a, b) = pair();
    let one = set(&a, 1);
    one.acquire(1).blocking().expect("available").keep();
    std::thread::scope(|scope| {
        let waiters: Vec<_> =
            (0..10).map(|_| scope.spawn(|| b.semaphore("n").acquire(1).wait(secs(20)).blocking())).collect();
        one.release(10).blocking().expect("answered");
        for waiter in waiters {
            waiter.join().expect("no panic").expect("there are enough").keep();
        }
    });
    assert_eq!(one.available().blocking().expect("answered"), 0);
}

#[test]
fn a_wait_that_runs_out_is_told_and_takes_nothing() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let wait = Duration::from_millis(100);
    assert!(b.semaphore("n").try_acquire(2).wait(wait).blocking().expect("answered").is_none());
    assert!(matches!(b.semaphore("n").acquire(2).wait(wait).blocking(), Err(Error::NotAcquired { .. })));
    assert_eq!(one.available().blocking().expect("answered"), 1);
    eventually(|| only_the_count(&mut server.view()));
}

#[test]
fn an_abandoned_acquire_takes_nothing() {
    let (server, a, b) = pair();
    let one = set(&a, 1);
    let mut view = server.view();
    one.acquire(1).blocking().expect("available").keep();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    let waiting = |client: &Client| runtime.spawn(client.semaphore("n").acquire(1));
    let first = waiting(&b);
    let second = waiting(&b);
    eventually(|| view.listeners(CHANNEL) == 1);
    first.abort();
    second.abort();
    eventually(|| view.channels("*").is_empty());
    one.release(1).blocking().expect("answered");
    for _ in 0..50 {
        let task = waiting(&b);
        task.abort();
        // The abort came too late where the task has taken a permit: then its guard gives it back.
        drop(runtime.block_on(task));
    }
    eventually(|| one.available().blocking().expect("answered") == 1 && only_the_count(&mut view));
    drop(runtime);
}

#[test]
fn permits_go_back_when_their_guard_is_dropped_and_stay_out_if_it_keeps_them() {
    let (_server, a, b) = pair();
    let one = set(&a, 5);
    let available = || b.semaphore("n").available().blocking().expect("answered");
    let permit = one.acquire(2).blocking().expect("available");
    assert_eq!((permit.count(), permit.name(), available()), (2, "n", 3));
    drop(permit);
    eventually(|| available() == 5);
    let work = AssertUnwindSafe(|| {
        let _permit = one.acquire(3).blocking().expect("available");
        resume_unwind(Box::new("on the way"));
    });
    catch_unwind(work).expect_err("it panics");
    eventually(|| available() == 5);
    one.acquire(1).blocking().expect("available").release_blocking().expect("answered");
    assert_eq!(available(), 5);
    one.try_acquire(4).blocking().expect("answered").expect("available").keep();
    assert!(one.try_acquire(2).blocking().expect("answered").is_none());
    assert_eq!(available(), 1);
    b.semaphore("n").release(4).blocking().expect("answered");
    assert_eq!(available(), 5);
}

#[test]
fn operations_are_futures_that_run_together_and_on_other_tasks() {
    let (_server, a, b) = pair();
    let one = set(&a, 10);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    runtime.block_on(async {
        let taking: tokio::task::JoinSet<_> = (0..10).map(|_| one.acquire(1).wait(PATIENCE)).collect();
        let taken =
            taking.join_all().await.into_iter().collect::<redlatch::Result<Vec<_>>>().expect("there are enough");
        assert_eq!((taken.len(), one.available().await.expect("answered")), (10, 0));
        let mut waiting = b.semaphore("n").acquire(1);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("none is available"),
            available = a.semaphore("n").available() => assert_eq!(available.expect("answered"), 0),
        }
        drop(taken);
        waiting.await.expect("they are back").release().await.expect("answered");
        let (available, count) = tokio::join!(one.available(), a.latch("latch").count());
        assert_eq!((available.expect("answered"), count.expect("answered")), (10, 0));
    });
}

#[test]
fn an_acquire_that_is_dropped_at_any_time_leaves_no_permit_taken() {
    let (server, a, b) = pair();
    let one = set(&a, 3);
    let with_ids = a.permit_semaphore("ids");
    assert!(with_ids.try_set_permits(3).blocking().expect("answered"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    runtime.block_on(async {
        for round in 0..200_u64 {
            let within = Duration::from_micros(round * 5 % 400);
            let semaphore = b.semaphore("n");
            let with_ids = b.permit_semaphore("ids");
            // A permit that is taken in time is dropped as well.
            let _ = tokio::time::timeout(within, semaphore.acquire(2)).await;
            let _ = tokio::time::timeout(within, with_ids.acquire_many(2)).await;
            let _ = tokio::time::timeout(within, with_ids.acquire_renewed()).await;
        }
    });
    eventually(|| one.available().blocking().expect("answered") == 3);
    eventually(|| with_ids.available().blocking().expect("answered") == 3);
    assert_eq!(with_ids.acquired().blocking().expect("answered"), 0);
    eventually(|| server.view().keys("redlatch_request*").is_empty());
}

#[test]
fn permits_drained_for_a_future_that_is_dropped_go_back() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let semaphore = set(&client, 3);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    // The server learns the script.
    assert_eq!(runtime.block_on(semaphore.drain()).expect("answered"), 3);
    runtime.block_on(semaphore.release(3)).expect("answered");
    proxy.stall(Direction::ToClient);
    let mut drain = semaphore.drain();
    let polled = std::pin::Pin::new(&mut drain).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(polled.is_pending());
    let available = || server.view().command::<i64>(&["GET", "n"]);
    eventually(|| available() == 0);
    drop(drain);
    proxy.flow();
    eventually(|| available() == 3);

    // So do those of an answer that has come, and of a client whose last handle is gone.
    runtime.block_on(async {
        for round in 0..200_u64 {
            let within = Duration::from_micros(round * 5);
            if let Ok(Ok(drained @ 1..)) = tokio::time::timeout(within, semaphore.drain()).await {
                semaphore.release(drained).await.expect("answered");
            }
        }
    });
    drop((semaphore, client));
    assert_eq!(available(), 3);
}

#[test]
fn a_semaphore_whose_time_no_server_could_take_is_refused() {
    let client = Client::connect("redis://127.0.0.1:1").expect("a good URL");
    let semaphore = client.semaphore("n");
    for ttl in [Duration::ZERO, Duration::from_micros(999), LEASE_MAX + Duration::from_millis(1), Duration::MAX] {
        let refused = semaphore.try_set_permits_for(3, ttl).blocking();
        let Err(Error::Config(said)) = refused else { panic!("{ttl:?}: {refused:?}") };
        assert!(said.contains("`n`") && said.contains("1 ms to 100 years"), "{said}");
    }
    let (server, a, _) = pair();
    assert!(a.semaphore("n").try_set_permits_for(3, LEASE_MAX).blocking().expect("answered"));
    assert!(server.view().pttl("n") > 1_000_000_000);
}

#[test]
#[should_panic(expected = "the operation runs already")]
fn an_operation_that_runs_is_not_begun_again() {
    let (_server, a, _) = pair();
    let mut operation = a.semaphore("n").release(1);
    let polled = std::pin::Pin::new(&mut operation).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(polled.is_pending());
    let _ = operation.blocking();
}

#[test]
fn a_call_whose_reply_is_lost_counts_once() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let semaphore = set(&client, 10);
    assert_eq!(semaphore.available().blocking().expect("answered"), 10);
    let lost = |what: &dyn Fn()| {
        // A script also forgets answered requests, and its reply is not the one to lose.
        eventually(|| only_the_count(&mut server.view()));
        proxy.lose_reply_to("EVALSHA");
        what();
        semaphore.available().blocking().expect("answered")
    };
    semaphore.acquire(1).blocking().expect("available").keep();
    semaphore.release(1).blocking().expect("answered");
    assert_eq!(lost(&|| semaphore.acquire(3).blocking().expect("available").keep()), 7);
    assert_eq!(lost(&|| semaphore.release(2).blocking().expect("answered")), 9);
    semaphore.drain().blocking().expect("answered");
    semaphore.add_permits(4).blocking().expect("answered");
    assert_eq!(lost(&|| assert_eq!(semaphore.drain().blocking().expect("answered"), 4)), 0);
    eventually(|| only_the_count(&mut server.view()));
}

#[test]
fn never_more_hold_permits_than_there_are() {
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
                let semaphore = client.semaphore("n");
                for _ in 0..30 {
                    let permit = semaphore.acquire(1).wait(secs(30)).blocking().expect("its turn comes");
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, SeqCst);
                    permit.release_blocking().expect("answered");
                }
            });
        }
    });
    assert!(most.into_inner() <= 3);
    assert_eq!(a.semaphore("n").available().blocking().expect("answered"), 3);
}

#[test]
fn impossible_numbers_and_keys_of_other_types_are_errors_that_name_the_semaphore() {
    let (server, a, _) = pair();
    let semaphore = a.semaphore("n");
    let too_many = 1 << 63;
    for refused in [semaphore.acquire(0).blocking().map(drop), semaphore.release(0).blocking()] {
        let Err(Error::Config(said)) = refused else { panic!("it must be refused") };
        assert!(said.contains("`n`") && said.contains("1 or more"), "{said}");
    }
    for refused in [semaphore.acquire(too_many).blocking().map(drop), semaphore.release(too_many).blocking()] {
        let Err(Error::Config(said)) = refused else { panic!("it must be refused") };
        assert!(said.contains("`n`") && said.contains("2^63"), "{said}");
    }
    assert!(matches!(semaphore.try_set_permits(too_many).blocking(), Err(Error::Config(_))));
    assert!(matches!(semaphore.remove_permits(too_many).blocking(), Err(Error::Config(_))));
    assert!(server.view().keys("*").is_empty());
    server.view().command::<()>(&["RPUSH", "n", "x"]);
    for refused in [
        semaphore.acquire(1).blocking().map(drop),
        semaphore.release(1).blocking(),
        semaphore.drain().blocking().map(drop),
    ] {
        assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"), "{refused:?}");
    }
    server.view().command::<()>(&["SET", "n", "a token of some lock"]);
    let latch = a.latch("n");
    let refused = [
        semaphore.acquire(1).blocking().map(drop),
        semaphore.drain().blocking().map(drop),
        latch.wait().blocking().map(drop),
    ];
    for refused in refused.into_iter().chain([latch.count_down().blocking().map(drop)]) {
        assert!(matches!(&refused, Err(Error::Refused { code, .. }) if code == "WRONGTYPE"), "{refused:?}");
    }
}

#[test]
fn a_full_server_takes_a_release() {
    let (server, a, _) = pair();
    let semaphore = set(&a, 1);
    let mut view = server.view();
    semaphore.acquire(1).blocking().expect("available").keep();
    semaphore.release(1).blocking().expect("answered");
    semaphore.acquire(1).blocking().expect("available").keep();
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    semaphore.release(1).blocking().expect("a full server takes it");
    assert!(matches!(semaphore.acquire(1).blocking(), Err(Error::Refused { code, .. }) if code == "OOM"));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(semaphore.available().blocking().expect("answered"), 1);
}

/// It gives back what is out, whatever its guards do then.
#[test]
fn a_client_that_closes_gives_back_the_permits_of_its_guards() {
    for (holds, back) in [(Holds::Release, true), (Holds::Keep, false)] {
        let (_server, a, b) = pair();
        let counted = set(&a, 5);
        let named = a.permit_semaphore("m");
        named.try_set_permits(5).blocking().expect("answered");
        let guards =
            (counted.acquire(2).blocking().expect("available"), counted.acquire(1).blocking().expect("available"));
        let ids = (named.acquire().blocking().expect("available"), named.acquire().blocking().expect("available"));
        named.acquire().blocking().expect("available").keep();
        named.acquire().blocking().expect("available").release_blocking().expect("it is out");
        a.close_blocking(holds);
        let available = || {
            let count = b.semaphore("n").available().blocking().expect("answered");
            (count, b.permit_semaphore("m").available().blocking().expect("answered"))
        };
        assert_eq!(available(), if back { (5, 4) } else { (2, 2) }, "{holds:?}");
        assert!(matches!(guards.0.release_blocking(), Err(Error::Closed { .. })));
        assert!(matches!(ids.0.release_blocking(), Err(Error::Closed { .. })));
        drop((guards.1, ids.1));
        assert_eq!(available(), if back { (5, 4) } else { (2, 2) }, "{holds:?}");
    }
}

fn polled<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}

/// The answers have come, and the callers have not seen them yet.
#[test]
fn permits_on_the_way_to_their_callers_go_back_when_the_client_closes() {
    let (server, a, b) = pair();
    let counted = set(&a, 5);
    let named = a.permit_semaphore("m");
    named.try_set_permits(5).blocking().expect("answered");
    let available = || {
        let count = b.semaphore("n").available().blocking().expect("answered");
        (count, b.permit_semaphore("m").available().blocking().expect("answered"))
    };
    let mut two = counted.acquire(2);
    let mut with_ids = named.acquire_many(3);
    let mut rest = counted.drain();
    // A quick answer would be there at the first look.
    server.pause();
    assert!(polled(&mut two).is_pending());
    assert!(polled(&mut with_ids).is_pending());
    server.resume();
    eventually(|| available() == (3, 2));
    server.pause();
    assert!(polled(&mut rest).is_pending());
    server.resume();
    eventually(|| available() == (0, 2));
    let mut open = a.latch("open").wait();
    assert!(polled(&mut open).is_pending());
    let begun = std::time::Instant::now();
    a.close_blocking(Holds::Release);
    assert!(begun.elapsed() < secs(4), "it waits for callers that do not ask");
    assert_eq!(available(), (5, 5));
    assert!(matches!(polled(&mut two), std::task::Poll::Ready(Err(Error::Closed { .. }))));
    assert!(matches!(polled(&mut with_ids), std::task::Poll::Ready(Err(Error::Closed { .. }))));
    assert!(matches!(polled(&mut rest), std::task::Poll::Ready(Err(Error::Closed { .. }))));
    drop((two, with_ids, rest, open));
    assert_eq!(available(), (5, 5));
}

/// A subscriber that is told of the span of a hold, and does not go on before the client has closed.
struct Stopped {
    begin: Sender<()>,
    closed: Mutex<Receiver<()>>,
}

impl Subscriber for Stopped {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "redlatch.hold"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        let _ = self.begin.send(());
        // The close must not end before.
        let _ = self.closed.lock().expect("one thread makes spans").recv_timeout(ms(500));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_client_that_closes_waits_for_a_caller_that_makes_the_guard_of_its_permits() {
    let (_server, a, b) = pair();
    let semaphore = set(&a, 5);
    let (begin, begun) = channel();
    let (close, closed) = channel();
    let stopped = Stopped { begin, closed: Mutex::new(closed) };
    std::thread::scope(|scope| {
        let taking = || semaphore.acquire(2).blocking();
        let taken = scope.spawn(move || tracing::subscriber::with_default(stopped, taking));
        begun.recv_timeout(PATIENCE).expect("the server grants it");
        a.close_blocking(Holds::Release);
        let _ = close.send(());
        drop(taken.join().expect("no panic"));
    });
    assert_eq!(b.semaphore("n").available().blocking().expect("answered"), 5);
}

#[test]
fn the_first_close_decides_about_permits() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = Client::connect(&server.url_at(proxy.port())).expect("a good URL");
    let semaphore = set(&client, 5);
    let permit = semaphore.acquire(2).blocking().expect("available");
    proxy.stall(Direction::ToClient);
    std::thread::scope(|scope| {
        // The client ends no earlier than this call.
        let asked = scope.spawn(|| semaphore.available().blocking());
        let first = scope.spawn(|| client.close_blocking(Holds::Keep));
        eventually(|| client.is_closed());
        let second = scope.spawn(|| client.close_blocking(Holds::Release));
        // It gives back nothing that the server could tell of.
        std::thread::sleep(ms(300));
        proxy.flow();
        assert!(first.join().is_ok() && second.join().is_ok());
        let _ = asked.join().expect("no panic");
    });
    assert_eq!(server.view().command::<i64>(&["GET", "n"]), 3);
    permit.keep();
}
