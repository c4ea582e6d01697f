//! Guards in Rust: work that ends with its lock, news of a loss, and holds that outlast their guards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::ThreadId;
use std::time::Instant;

use redlatch::{Blocking, BlockingGuard, Client, Error, Guard, Holds, LockBuilder, LostReason, ReadWriteLock, RedLock};
use redlatch::{Latch, Loss, Operation, Permit, PermitSemaphore, RenewedPermit, Semaphore, SemaphorePermit};
use redlatch_tests::{PATIENCE, Server, View, ms, secs, soon};

use super::{eventually, pair};

/// Takes a lock away by hand, once the server tells its holder of that.
fn lose(view: &mut View, name: &str) {
    eventually(|| view.tells());
    view.command::<()>(&["DEL", name]);
}

/// Work that never ends. It tells when it is dropped.
struct Endless(Arc<AtomicBool>);

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

async fn endless(work: Endless) {
    std::future::pending::<()>().await;
    drop(work);
}

#[test]
fn callbacks_of_a_kept_guard_hear_that_its_client_has_ended() {
    let (_server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let (told, hears) = channel();
    guard.on_lost(move |loss| told.send(loss.reason).expect("the test hears it"));
    guard.keep();
    drop(a);
    assert_eq!(hears.recv_timeout(PATIENCE).expect("it is told"), LostReason::Closed);
}

/// The task that watches is of no runtime that ends with the program.
#[test]
fn a_watch_for_a_loss_keeps_no_guard_from_being_released_at_the_end() {
    let (server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let lost = guard.lost();
    drop((guard, a));
    assert!(!server.view().exists("n"), "the last handle waits for the release");
    assert!(soon(lost).is_none());
}

#[test]
fn work_ends_at_the_loss_of_its_lock() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let is_dropped = Arc::new(AtomicBool::new(false));
    let work = endless(Endless(is_dropped.clone()));
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| soon(guard.run(work)));
        lose(&mut view, "n");
        running.join().expect("it ends in time")
    });
    assert!(matches!(ended, Err(Error::Lost(loss)) if loss.reason == LostReason::Deleted));
    assert!(is_dropped.load(SeqCst));
    let late = guard.run(async { panic!("it begins without its lock") });
    assert!(matches!(soon(late), Err(Error::Lost(_))));
}

#[test]
fn work_under_several_locks_ends_at_the_loss_of_one() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let guard = a.multi_lock([a.lock("one"), a.lock("two")]).blocking().acquire().expect("free");
    let (told, _) = listen(&guard);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| soon(guard.run(std::future::pending::<()>())));
        lose(&mut view, "two");
        assert!(matches!(running.join().expect("it ends in time"), Err(Error::Lost(_))));
    });
    assert_eq!(told.recv_timeout(PATIENCE).expect("told").lock, "two");
}

#[test]
fn work_that_is_done_under_its_lock_has_its_result() {
    let (server, a, _) = pair();
    let guard = a.lock("n").blocking().acquire().expect("free");
    assert_eq!(soon(guard.run(async { 7 })).expect("held"), 7);
    let slow = guard.run(async {
        tokio::time::sleep(ms(20)).await;
        8
    });
    assert_eq!(soon(slow).expect("held"), 8);
    let is_dropped = Arc::new(AtomicBool::new(false));
    let work = guard.run(endless(Endless(is_dropped.clone())));
    soon(async { tokio::time::timeout(ms(20), work).await }).expect_err("it never ends");
    assert!(is_dropped.load(SeqCst));
    guard.ensure().expect("work that is dropped leaves the hold");
    let lost_at_the_end = guard.run(async {
        lose(&mut server.view(), "n");
        eventually(|| guard.ensure().is_err());
    });
    assert!(matches!(soon(lost_at_the_end), Err(Error::Lost(_))), "another owner may have had the lock meanwhile");
}

#[test]
fn work_under_a_guard_makes_no_future_that_is_bigger_than_its_own() {
    let (_server, a, _) = pair();
    let semaphore = a.permit_semaphore("p");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    let guard = a.lock("n").blocking().acquire().expect("free");
    let permit = semaphore.acquire_renewed().blocking().expect("available");
    async fn big() -> u8 {
        let all = [7; 10_000];
        tokio::task::yield_now().await;
        all[0]
    }
    let own = size_of_val(&big());
    let run = guard.run(big());
    assert!(size_of_val(&run) <= own, "{} bytes for {own}", size_of_val(&run));
    let nested = guard.run(permit.run(guard.run(big())));
    assert!(size_of_val(&nested) <= own, "{} bytes for {own}", size_of_val(&nested));
    assert_eq!(soon(nested).expect("held").expect("held").expect("held"), 7);
    assert_eq!(soon(run).expect("held"), 7);
}

#[test]
fn work_under_a_renewed_permit_ends_at_its_loss() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let semaphore = a.permit_semaphore("n");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    let permit = semaphore.acquire_renewed().blocking().expect("available");
    assert_eq!(soon(permit.run(async { 7 })).expect("held"), 7);
    let (tell, told) = channel();
    permit.on_lost(move |loss| tell.send(loss).expect("the test listens"));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| soon(permit.run(std::future::pending::<()>())));
        eventually(|| view.tells());
        b.permit_semaphore("n").release(permit.id()).blocking().expect("it is out");
        assert!(matches!(running.join().expect("it ends in time"), Err(Error::Lost(_))));
    });
    assert_eq!(told.recv_timeout(PATIENCE).expect("told").reason, LostReason::Deleted);
}

#[test]
fn a_watch_outlasts_the_release_of_its_guard() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    runtime.block_on(async {
        let guard = a.lock("n").acquire().await.expect("free");
        let watches = [tokio::spawn(guard.lost()), tokio::spawn(guard.lost())];
        let later = guard.lost();
        guard.release().await.expect("held");
        for watch in watches {
            assert!(watch.await.expect("no panic").is_none(), "a release is no loss");
        }
        assert!(later.await.is_none());
    });
    let guard = a.lock("n").blocking().acquire().expect("free");
    let watch = runtime.spawn(guard.lost());
    lose(&mut view, "n");
    let loss = runtime.block_on(watch).expect("no panic").expect("it is lost");
    assert_eq!((loss.lock.as_str(), loss.reason), ("n", LostReason::Deleted));
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
}

/// A callback's own value. It tells which thread drops it.
struct Owned(Sender<ThreadId>);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().id());
    }
}

/// Has the guard tell of its loss, and gives the losses that it tells of, and the thread that drops the callback.
fn listen(guard: &Guard) -> (Receiver<Loss>, Receiver<ThreadId>) {
    let ((tell, told), (end, ended)) = (channel(), channel());
    let owned = Owned(end);
    guard.on_lost(move |loss| {
        let _owned = owned;
        tell.send(loss).expect("the test listens");
    });
    (told, ended)
}

#[test]
fn a_callback_hears_of_a_loss_once_and_of_no_release() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let here = std::thread::current().id();
    let guard = a.lock("n").blocking().acquire().expect("free");
    let (told, ended) = listen(&guard);
    lose(&mut view, "n");
    let loss = told.recv_timeout(PATIENCE).expect("it is told");
    assert_eq!((loss.lock.as_str(), loss.reason), ("n", LostReason::Deleted));
    assert_ne!(ended.recv_timeout(PATIENCE), Ok(here), "it has a thread of its own");
    let (late, _) = listen(&guard);
    late.recv_timeout(PATIENCE).expect("it is lost already");
    assert!(matches!(guard.release(), Err(Error::Lost(_))));
    told.recv_timeout(PATIENCE).expect_err("it is told once, and the callback is gone");

    let guard = a.lock("n").blocking().acquire().expect("free");
    let (told, ended) = listen(&guard);
    guard.release().expect("held");
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(here), "no thread of the client runs code of a user");
    told.recv_timeout(PATIENCE).expect_err("a release is no loss");
    let guard = a.lock("n").blocking().acquire().expect("free");
    let (told, ended) = listen(&guard);
    drop(guard);
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(here));
    told.recv_timeout(PATIENCE).expect_err("nor is a drop");

    let guard = a.lock("m").blocking().acquire().expect("free");
    let (told, _) = listen(&guard);
    a.close_blocking(Holds::Release);
    assert_eq!(told.recv_timeout(PATIENCE).expect("it is told").reason, LostReason::Closed);
}

#[test]
fn a_callback_may_block_or_panic_or_call_the_client() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let guards: Vec<_> =
        ["a", "b", "c", "d"].iter().map(|name| a.lock(name).blocking().acquire().expect("free")).collect();
    let ((go, gone), (tell, told)) = (channel::<()>(), channel());
    guards[0].on_lost({
        let tell = tell.clone();
        move |_| {
            gone.recv_timeout(PATIENCE).expect("the others are not behind this one");
            tell.send("a").expect("the test listens");
        }
    });
    guards[1].on_lost(|_| std::panic::resume_unwind(Box::new("a callback may")));
    guards[2].on_lost({
        let client = a.clone();
        move |loss| {
            // Blocking calls of the same client, which would wait for ever on its I/O thread.
            let again = client.lock(&loss.lock).blocking().acquire().expect("it is free");
            again.release().expect("held");
            tell.send("c").expect("the test listens");
        }
    });
    eventually(|| view.tells());
    for name in ["a", "b", "c"] {
        view.command::<()>(&["DEL", name]);
    }
    assert_eq!(told.recv_timeout(PATIENCE), Ok("c"));
    guards[3].ensure().expect("held");
    let next = b.lock("a").blocking().acquire().expect("free");
    next.release().expect("held");
    go.send(()).expect("it waits");
    assert_eq!(told.recv_timeout(PATIENCE), Ok("a"));
    guards.into_iter().for_each(|guard| drop(guard.release()));
}

#[test]
fn a_kept_hold_is_renewed_while_its_client_lives() {
    let (server, _, b) = pair();
    let mut view = server.view();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let guard = client.lock("n").blocking().acquire().expect("free");
    let (told, _) = listen(&guard);
    guard.keep();
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    let renewals = |view: &mut View| view.calls().get("pexpire").copied().unwrap_or_default();
    eventually(|| renewals(&mut view) >= 6);
    assert!(b.lock("n").blocking().try_acquire().expect("answered").is_none());
    view.command::<()>(&["DEL", "n"]);
    assert_eq!(told.recv_timeout(PATIENCE).expect("its callbacks stay").reason, LostReason::Deleted);
    client.lock("n").blocking().acquire().expect("free").keep();
    drop(client);
    eventually(|| !view.exists("n"));
}

#[test]
fn a_kept_hold_of_several_locks_stays_until_their_client_is_closed() {
    let (server, a, b) = pair();
    let mut view = server.view();
    a.multi_lock([a.lock("one"), a.lock("two")]).blocking().acquire().expect("free").keep();
    assert!(b.lock("two").blocking().try_acquire().expect("answered").is_none());
    a.close_blocking(Holds::Release);
    eventually(|| view.keys("*").is_empty());
}

#[test]
fn a_kept_hold_ends_with_its_lease() {
    let (_server, a, b) = pair();
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async { a.lock("n").lease(ms(700)).acquire().await.expect("free").keep() });
    let next = b.lock("n").wait(secs(20)).blocking().acquire().expect("its lease ends");
    assert!(begun.elapsed() >= ms(700), "{:?}", begun.elapsed());
    next.release().expect("held");
}

#[test]
fn a_kept_permit_is_renewed_and_goes_back_by_its_id() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let semaphore = b.permit_semaphore("n");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    let id = client.permit_semaphore("n").acquire_renewed().blocking().expect("available").keep();
    let end = |view: &mut View| {
        let ends: Vec<(Vec<u8>, f64)> = view.command(&["ZRANGE", "{n}:timeout", "0", "-1", "WITHSCORES"]);
        ends.first().map_or(0.0, |(_, end)| *end)
    };
    let first = end(&mut view);
    eventually(|| end(&mut view) > first + 1500.0);
    assert_eq!(semaphore.acquired().blocking().expect("answered"), 1);
    a.permit_semaphore("n").release(id).blocking().expect("it is out");
    assert_eq!(semaphore.available().blocking().expect("answered"), 1);
}

#[test]
fn a_hold_lasts_for_the_lease_that_its_guard_gives_it() {
    let (server, a, _) = pair();
    let mut view = server.view();
    let mut left = |name: &str| ms(view.command::<u64>(&["PTTL", name]));
    let guard = a.lock("n").lease(secs(60)).blocking().acquire().expect("free");
    guard.extend(secs(600)).expect("held");
    assert!(left("n") > secs(500) && guard.deadline().expect("held") > Instant::now() + secs(500));
    soon(Guard::extend(&guard, secs(20))).expect("held");
    assert!(left("n") <= secs(20) && guard.deadline().expect("held") < Instant::now() + secs(20));
    assert!(matches!(guard.extend(ms(0)), Err(Error::Config(_))));
    let renewed = a.lock("m").blocking().acquire().expect("free");
    renewed.extend(secs(2)).expect("held");
    assert!(left("m") > secs(20), "the watchdog renews it");

    let semaphore = a.permit_semaphore("p");
    assert!(semaphore.try_set_permits(1).blocking().expect("answered"));
    let permit = semaphore.acquire_renewed().lease(secs(60)).blocking().expect("available");
    soon(permit.extend(secs(600))).expect("held");
    assert!(semaphore.lease_left(permit.id()).blocking().expect("answered").expect("it is out") > secs(500));

    assert!(a.lock("n").blocking().force_release().expect("answered"));
    assert!(matches!(guard.extend(secs(60)), Err(Error::Lost(_))));
}

#[test]
fn a_guard_names_its_lock_and_shows_its_hold() {
    let server = Server::start();
    let client = Client::connect(&format!("{}?prefix=secret:", server.url())).expect("a good URL");
    let guard = client.fenced_lock("n").owner(7).blocking().acquire().expect("free");
    assert_eq!((guard.name(), guard.owner(), guard.token()), ("n", 7, Some(1)));
    let shown = format!("{guard:?}");
    let owner = format!("owner: \"{}:7\"", client.id());
    for part in ["BlockingGuard { name: \"n\", kind: \"fenced\"", owner.as_str(), "token: 1, held_for: 29."] {
        assert!(shown.contains(part), "{shown} has no {part}");
    }
    assert!(client.lock("n").blocking().force_release().expect("answered"));
    eventually(|| format!("{guard:?}").contains("lost: Deleted"));
    let both = client.multi_lock([client.lock("a"), client.lock("b")]).blocking().acquire().expect("free");
    assert_eq!(both.name(), "a, b");
    assert!(format!("{both:?}").contains("name: \"a, b\", kind: \"group\""), "{both:?}");
    let permits = client.permit_semaphore("p");
    assert!(permits.try_set_permits(2).blocking().expect("answered"));
    let permit = permits.acquire().lease(secs(60)).blocking().expect("available");
    let id = permit.id();
    assert_eq!(
        format!("{permit:?}"),
        format!("Permit {{ name: \"p\", kind: \"permit_semaphore\", id: {id}, lease: 60s }}")
    );
    let renewed = permits.acquire_renewed().blocking().expect("available");
    let shown = format!("{renewed:?}");
    assert!(shown.contains(&renewed.id().to_string()) && shown.contains("held_for"), "{shown}");
    assert_eq!((permit.name(), renewed.name()), ("p", "p"));
}

#[test]
fn no_value_shows_a_password() {
    let client = Client::connect("redis://user:secret@localhost:1").expect("a good URL");
    let read_write = client.read_write_lock("n");
    let red = RedLock::connect(["redis://user:secret@localhost:1"]).expect("a good URL");
    let semaphore = client.semaphore("n");
    let permits = client.permit_semaphore("n");
    let all: [&dyn std::fmt::Debug; 11] = [
        &client,
        &client.lock("n").wait(secs(5)).lease(secs(60)).owner(7),
        &client.lock("n").blocking(),
        &read_write,
        &red,
        &semaphore,
        &permits,
        &client.latch("n"),
        &semaphore.available(),
        &semaphore.acquire(1),
        &permits.acquire().lease(secs(60)),
    ];
    for value in all {
        let shown = format!("{value:?}");
        assert!(!shown.contains("secret") && shown.len() > 10, "{shown}");
    }
    assert_eq!(
        format!("{:?}", client.lock("n").wait(secs(5)).lease(secs(60)).owner(7)),
        "LockBuilder { name: \"n\", kind: \"plain\", wait: 5s, lease: 60s, owner: 7 }"
    );
    assert_eq!(
        format!("{:?}", permits.acquire()),
        "Acquiring { name: \"n\", kind: \"permit_semaphore\", op: Acquire, wait: without end, begun: false }"
    );
}

/// The compiler is the judge.
#[test]
fn the_values_and_futures_of_the_api_go_to_other_threads() {
    fn goes<T: Send + 'static>(_: &T) {}
    fn anywhere<T: Send + Sync + Unpin + 'static>() {}
    fn future<T: Send + Unpin + 'static>() {}
    anywhere::<Guard>();
    anywhere::<BlockingGuard>();
    anywhere::<LockBuilder>();
    anywhere::<Blocking>();
    anywhere::<ReadWriteLock>();
    anywhere::<RedLock>();
    anywhere::<Semaphore>();
    anywhere::<SemaphorePermit>();
    anywhere::<PermitSemaphore>();
    anywhere::<Permit>();
    anywhere::<RenewedPermit>();
    anywhere::<Latch>();
    future::<Operation<()>>();
    future::<redlatch::Waiting<SemaphorePermit>>();
    future::<redlatch::Acquiring<Permit>>();
    let lock = Client::connect("redis://localhost:1").expect("a good URL").lock("n");
    goes(&lock.clone().acquire());
    goes(&lock.clone().try_acquire());
    goes(&lock.clone().force_release());
    fn of_a_guard(guard: Guard) {
        goes(&guard.lost());
        goes(&guard.release());
    }
    let _ = of_a_guard;
}
