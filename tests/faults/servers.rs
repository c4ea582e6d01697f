//! Servers that forget scripts or run out of memory.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use redlatch::ffi::{Border, Op, Request};

use super::*;

#[test]
fn callers_never_notice_that_a_server_forgets_its_scripts() {
    let server = Server::start();
    let clients = [connect(&server.url()), connect(&server.url())];
    let watched = connect(&format!("{}?watchdog=0.6", server.url()));
    let held = watched.lock("watched").blocking().acquire().expect("free");
    let done = AtomicBool::new(false);
    let mut view = server.view();
    thread::scope(|scope| {
        let flush = scope.spawn(|| {
            let mut flushed = 0;
            while !done.load(SeqCst) {
                view.command::<()>(&["SCRIPT", "FLUSH", "SYNC"]);
                flushed += 1;
            }
            flushed
        });
        let lane = |client: &Client| {
            for _ in 0..200 {
                client
                    .lock("n")
                    .wait(PATIENCE)
                    .blocking()
                    .acquire()
                    .expect("forgetting is no error")
                    .release()
                    .expect("nor here");
            }
        };
        let lanes: Vec<_> = clients.iter().cycle().take(4).map(|client| scope.spawn(move || lane(client))).collect();
        lanes.into_iter().for_each(|lane| lane.join().expect("no error"));
        let renewed = |view: &mut View| view.calls().get("pexpire").copied().unwrap_or_default();
        let mut view = server.view();
        let before = renewed(&mut server.view());
        eventually("more renewals", || (renewed(&mut view) > before + 3).then_some(()));
        done.store(true, SeqCst);
        assert!(flush.join().expect("no panic") > 10);
    });
    held.release().expect("it was renewed all the time");
}

#[test]
fn a_full_server_refuses_an_acquire_and_still_renews_and_releases() {
    let server = Server::start();
    let client = connect(&format!("{}?watchdog=0.6", server.url()));
    let lock = || client.lock("n").owner(7).blocking();
    let outer = lock().acquire().expect("free");
    let inner = lock().acquire().expect("own");
    let waiter = connect(&server.url());
    let waiting = thread::spawn(move || waiter.lock("n").wait(LONG).blocking().acquire().map(drop));
    let mut view = server.view();
    eventually("a listener", || (view.listeners(&channel("n")) == 1).then_some(()));
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    view.forget_calls();
    let Err(redlatch::Error::Refused { code, what, .. }) = client.lock("other").blocking().acquire().map(drop) else {
        panic!("a full server takes no new lock")
    };
    assert_eq!(code, "OOM");
    assert!(what.contains("`other`"), "it says of what: {what}");
    eventually("renewals", || (view.calls().get("pexpire").copied().unwrap_or_default() >= 4).then_some(()));
    inner.release().expect("an inner release goes through");
    assert_eq!(counts(&mut view, "n"), ["1"]);
    outer.ensure().expect("it was renewed");
    outer.release().expect("a release goes through");
    let told = waiting.join().expect("no panic").expect_err("the waiter is woken, and refused");
    assert_eq!(told.code(), "refused");
    nothing_is_left(&mut view, "n");
    view.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    lock().acquire().expect("there is room again").release().expect("held");
}

#[test]
fn a_waiter_is_told_at_the_end_of_its_wait_that_the_server_is_busy() {
    let server =
        Server::with(Options { args: ["--lua-time-limit", "5"].map(str::to_owned).to_vec(), ..Options::default() });
    let client = connect(&format!("{}?watchdog=1000&response_timeout=1000&retry_for=1000", server.url()));
    client.lock("n").blocking().acquire().expect("free").release().expect("held");
    let mut view = server.view();
    // The server's answer must arrive before the wait ends.
    let mut slow = server.view();
    let lock = client.lock("n").wait(secs(5));
    let script = thread::spawn(move || slow.try_command::<()>(&["EVAL", "while true do end", "0"]));
    eventually("a server that runs a script", || view.try_command::<()>(&["PING"]).is_err().then_some(()));
    // The refusal comes long before the response timeout.
    let refused = soon(lock.acquire());
    assert!(matches!(refused.map(drop), Err(redlatch::Error::Refused { code, .. }) if code == "BUSY"));
    view.command::<()>(&["SCRIPT", "KILL"]);
    script.join().expect("no panic").expect_err("killed");
}

#[test]
fn a_waiter_with_time_left_is_not_refused_with_the_head_of_the_line() {
    let server = Server::start();
    let holder = connect(&server.url());
    let client = connect(&format!("{}?retry_for=1000", server.url()));
    let held = holder.lock("n").lease(LONG).blocking().acquire().expect("free");
    let join = |owner, wait| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let request = Request { wait: Some(wait), ..Request::new(Op::Acquire, "plain", "n", owner) };
        client.submit(client.ticket(), request, move |taken| drop(sender.send(taken)));
        receiver
    };
    let mut view = server.view();
    let short = join(1, secs(2));
    eventually("a listener", || (view.listeners(&channel("n")) == 1).then_some(()));
    // Its try behind that finds the lock taken. Its answer must not come after the message.
    eventually("a try", || {
        let calls = view.calls();
        let scripts: u64 = ["evalsha", "eval"].iter().filter_map(|name| calls.get(*name)).sum();
        (scripts >= 3).then_some(())
    });
    let long = join(2, secs(1000));
    view.command::<()>(&["DEL", "n"]);
    view.command::<()>(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    view.command::<()>(&["PUBLISH", &channel("n"), "0"]);
    // Nothing says any more that another owner has the lock.
    let refused = short.recv().expect("an answer").map(|answer| answer.done);
    assert!(matches!(&refused, Err(redlatch::Error::Refused { code, .. }) if code == "NOREPLICAS"), "{refused:?}");
    view.command::<()>(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    assert!(long.recv().expect("an answer").expect("it waits on").done);
    held.release().expect_err("deleted");
}

#[test]
fn a_client_refused_by_a_server_that_has_just_come_back_tries_again_soon() {
    let not_ready = ["--min-replicas-to-write", "1"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args: not_ready, ..Options::default() });
    let client = connect(&format!("{}?retry_for=1000", server.url()));
    let waiting = thread::spawn(move || client.lock("n").wait(LONG).blocking().acquire()?.release());
    let tries = |more_than: u64| {
        eventually("tries", || {
            (server.view().calls().get("evalsha").copied().unwrap_or_default() > more_than).then_some(())
        });
    };
    // By now half a second passes between two tries.
    tries(7);
    server.restart();
    tries(0);
    let refused = Instant::now();
    tries(5);
    assert!(refused.elapsed() < ms(1500), "five pauses took as long as three of the longest: {:?}", refused.elapsed());
    server.view().command::<()>(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    waiting.join().expect("no panic").expect("it is ready now");
}
