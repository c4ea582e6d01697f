//! Connections that are cut at every step of an acquire and of a release.

use redlatch::BlockingGuard;
use redlatch::ffi::{Border, Op, Request};

use super::every_packet::{Run, at_every_packet};
use super::*;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("the system gives threads")
}

fn is_held_once(run: &Run, guard: &redlatch::Guard) {
    guard.ensure().expect("it was just taken");
    assert_eq!(counts(&mut run.server.view(), &run.name), ["1"]);
}

#[test]
fn an_acquire_cut_anywhere_is_held_once_and_freed_by_one_release() {
    at_every_packet("acquire", |run| {
        let client = connect(&run.url());
        run.cut();
        let guard = client
            .lock(&run.name)
            .lease(LONG)
            .wait(PATIENCE)
            .blocking()
            .acquire()
            .expect("it is free and the server is there");
        is_held_once(run, &guard);
        guard.release().expect("held");
        assert!(!run.server.view().exists(&run.name));
    });
}

#[test]
fn an_async_acquire_cut_anywhere_is_held_once_and_freed_by_one_release() {
    at_every_packet("async", |run| {
        let client = connect(&run.url());
        run.cut();
        runtime().block_on(async {
            let lock = client.lock(&run.name).lease(LONG).wait(PATIENCE);
            let guard = lock.acquire().await.expect("it is free and the server is there");
            is_held_once(run, &guard);
            guard.release().await.expect("held");
        });
        assert!(!run.server.view().exists(&run.name));
    });
}

#[test]
fn a_try_cut_anywhere_leaves_no_hold_without_an_owner() {
    at_every_packet("try", |run| {
        let client = connect(&format!("{}?retry_for=0", run.url()));
        run.cut();
        if let Ok(Some(guard)) = client.lock(&run.name).lease(LONG).blocking().try_acquire() {
            is_held_once(run, &guard);
            guard.release().or_else(known_later).expect("held");
        }
        nothing_is_left(&mut run.server.view(), &run.name);
    });
}

/// Accepts a release that could not be settled in time: it goes on in the background.
fn known_later(error: redlatch::Error) -> redlatch::Result<()> {
    if matches!(error, redlatch::Error::Unavailable { .. }) { Ok(()) } else { Err(error) }
}

#[test]
fn an_inner_acquire_cut_anywhere_counts_once() {
    at_every_packet("inner", |run| {
        let client = connect(&run.url());
        let lock = || client.lock(&run.name).owner(7).lease(LONG).wait(PATIENCE).blocking();
        let outer = lock().acquire().expect("free");
        run.cut();
        let inner = lock().acquire().expect("own");
        assert_eq!(counts(&mut run.server.view(), &run.name), ["2"]);
        inner.release().expect("held");
        assert_eq!(counts(&mut run.server.view(), &run.name), ["1"]);
        outer.release().expect("held");
        assert!(!run.server.view().exists(&run.name));
    });
}

#[test]
fn a_release_cut_anywhere_frees_the_lock_once_and_leaves_the_next_holder_alone() {
    at_every_packet("release", |run| {
        let client = connect(&run.url());
        let other = connect(&run.server.url());
        let guard = client.lock(&run.name).lease(LONG).blocking().acquire().expect("free");
        run.cut();
        let next = || other.lock(&run.name).lease(LONG).wait(PATIENCE).blocking().acquire();
        let (next, released) = std::thread::scope(|scope| {
            let next = scope.spawn(next);
            eventually("a listener", || (run.server.view().listeners(&channel(&run.name)) > 0).then_some(()));
            let released = guard.release();
            (next.join().expect("no panic"), released)
        });
        let next: BlockingGuard = next.expect("it is released");
        released.expect("it was held, and is not any more");
        next.ensure().expect("no repeat took it away");
        assert_eq!(counts(&mut run.server.view(), &run.name), ["1"]);
        next.release().expect("held");
        nothing_is_left(&mut run.server.view(), &run.name);
    });
}

#[test]
fn permits_taken_and_given_back_with_a_cut_anywhere_count_once_and_leave_nothing_else() {
    at_every_packet("permits", |run| {
        let client = connect(&run.url());
        let other = connect(&run.server.url());
        let semaphore = client.semaphore(&run.name);
        let seen = other.semaphore(&run.name);
        assert!(seen.try_set_permits(5).blocking().expect("answered"));
        run.cut();
        semaphore.acquire(2).wait(PATIENCE).blocking().expect("available").keep();
        assert_eq!(seen.available().blocking().expect("answered"), 3);
        semaphore.release(2).blocking().expect("answered");
        assert_eq!(seen.available().blocking().expect("answered"), 5);
        let remembered = format!("redlatch_request:{{{}}}:*", run.name);
        eventually("what is answered to be forgotten", || run.server.view().keys(&remembered).is_empty().then_some(()));
        assert!(seen.delete().blocking().expect("answered"));
    });
}

#[test]
fn permits_with_ids_taken_and_given_back_with_a_cut_anywhere_count_once_and_leave_nothing_else() {
    at_every_packet("permit-ids", |run| {
        let client = connect(&run.url());
        let other = connect(&run.server.url());
        let semaphore = client.permit_semaphore(&run.name);
        let seen = other.permit_semaphore(&run.name);
        let counts = || [seen.available(), seen.acquired()].map(|count| count.blocking().expect("answered"));
        assert!(seen.try_set_permits(5).blocking().expect("answered"));
        run.cut();
        let ids: Vec<_> = semaphore
            .acquire_many(2)
            .wait(PATIENCE)
            .blocking()
            .expect("there")
            .into_iter()
            .map(|it| it.keep())
            .collect();
        let renewed = semaphore.acquire_renewed().wait(PATIENCE).blocking().expect("there");
        assert_eq!(counts(), [2, 3]);
        semaphore.release_many(&ids).blocking().expect("they are out");
        renewed.release_blocking().expect("it is held");
        assert_eq!(counts(), [5, 0]);
        assert!(seen.delete().blocking().expect("answered"));
    });
}

#[test]
fn a_renaming_cut_anywhere_is_answered_as_done() {
    at_every_packet("renaming", |run| {
        let client = connect(&run.url());
        let to = format!("{}:to", run.name);
        run.server.view().command::<()>(&["SET", &run.name, "1"]);
        run.cut();
        let texts = vec![b"RENAME".to_vec(), to.clone().into_bytes()];
        let renamed = client.run_blocking(Request { texts, ..Request::new(Op::Keys, "semaphore", &*run.name, 1) });
        assert_eq!(renamed.expect("it was there").number, 1);
        assert!(run.server.view().exists(&to) && !run.server.view().exists(&run.name));
    });
}

/// A call about an object without owners, which the server remembers until its answer has arrived.
type Unowned = (&'static str, fn(&Client, &str) -> redlatch::Result<()>);

const UNOWNED: [Unowned; 11] = [
    ("set permits once", |client, name| client.semaphore(name).try_set_permits(5).blocking().map(drop)),
    ("add permits", |client, name| client.semaphore(name).add_permits(2).blocking().map(drop)),
    ("take permits", |client, name| client.semaphore(name).try_acquire(1).blocking().map(drop)),
    ("drain", |client, name| client.semaphore(name).drain().blocking().map(drop)),
    ("give permits back", |client, name| client.semaphore(name).release(1).blocking()),
    ("give back if it is there", |client, name| client.semaphore(name).release_if_exists(1).blocking().map(drop)),
    ("delete a semaphore", |client, name| client.semaphore(name).delete().blocking().map(drop)),
    ("set a count", |client, name| client.latch(name).try_set_count(2).blocking().map(drop)),
    ("count down", |client, name| client.latch(name).count_down().blocking().map(drop)),
    ("set permits with ids once", |client, name| client.permit_semaphore(name).try_set_permits(5).blocking().map(drop)),
    ("add permits with ids", |client, name| client.permit_semaphore(name).add_permits(2).blocking().map(drop)),
];

#[test]
fn a_call_that_stays_without_an_answer_is_remembered_no_longer_than_a_copy_of_it_may_come() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let client = connect(&format!("redis://127.0.0.1:{}?response_timeout=0.5&retry_for=0.3", proxy.port()));
    client.run_blocking(Request::new(Op::Ping, "plain", "", 0)).expect("it answers");
    let direct = connect(&server.url());
    let mut carried_out = 0;
    for (what, call) in UNOWNED {
        // The server knows the script, so that it carries out the first copy.
        call(&direct, "another").expect("it answers");
        server.view().command::<i64>(&["DEL", "another"]);
        // Most of them change something only if there are permits, or a count.
        server.view().command::<String>(&["SET", what, "3"]);
        proxy.lose_replies_to("redlatch_request", 1);
        let end = call(&client, what);
        assert!(matches!(end, Err(redlatch::Error::Unavailable { .. })), "{what}: {end:?}");
        proxy.disarm();
        eventually(what, || server.view().keys("redlatch_request*").is_empty().then_some(()));
        let now = server.view().command::<Option<String>>(&["GET", what]);
        carried_out += usize::from(now.as_deref() != Some("3"));
        server.view().command::<i64>(&["DEL", what]);
    }
    assert!(carried_out >= 6, "{carried_out} of these calls changed something");
}
