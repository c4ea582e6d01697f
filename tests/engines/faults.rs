//! Single troubles: a process that dies or stands still, a connection that breaks or hangs, a server that ends.

use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use redlatch::{BlockingGuard, Client, Error, LostReason};
use redlatch_tests::{Direction, Mariadb, Process, Proxy, ms, secs};

use crate::relay::Relay;
use crate::{client, eventually};

/// Watches a hold: gives the reason and the moment of its loss.
fn heard(guard: &BlockingGuard) -> mpsc::Receiver<(LostReason, Instant)> {
    let (told, hears) = mpsc::channel();
    guard.on_lost(move |loss| {
        let _ = told.send((loss.reason, Instant::now()));
    });
    hears
}

fn through(server: &Mariadb, proxy: &Proxy, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url_at(proxy.port()))).expect("a good URL")
}

fn worker(url: &str) -> Process {
    Process::start(env!("CARGO_BIN_EXE_redlatch-worker"), &[url.to_owned()])
}

#[test]
fn a_lock_of_a_killed_process_is_free_at_once() {
    let server = Mariadb::shared();
    let mut process = worker(&server.url());
    assert_eq!(process.ask("acquire kill9"), "ok");
    let next = client(server, "");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let guard = next.lock("kill9").wait(secs(20)).blocking().acquire().expect("free");
            let now = Instant::now();
            guard.release().expect("held");
            now
        });
        std::thread::sleep(ms(100));
        let begun = Instant::now();
        drop(process);
        let took = waits.join().expect("no panic") - begun;
        println!("the next owner has it {took:?} after kill -9");
        assert!(took < secs(5), "{took:?}");
    });
}

/// The server's own time counts: it ends the session of a process that sleeps past it.
#[test]
fn a_process_that_stands_still_loses_its_lock_when_its_session_ends_and_is_told_when_it_goes_on() {
    let server = Mariadb::shared();
    let mut process = worker(&format!("{}?watchdog=2", server.url()));
    assert_eq!(process.ask("acquire stopped"), "ok");
    let begun = Instant::now();
    process.signal("STOP");
    let next = client(server, "");
    let guard = next.lock("stopped").wait(secs(20)).blocking().acquire().expect("the session has ended");
    let took = begun.elapsed();
    println!("the next owner has it {took:?} after the stop, of a session of 2 s");
    assert!(took > ms(1200) && took < secs(5), "{took:?}");
    process.signal("CONT");
    let said = process.ask("ensure");
    assert!(said.starts_with("lost ") && (said.contains("paused") || said.contains("session ended")), "{said}");
    guard.ensure().expect("the late process took nothing away");
    guard.release().expect("held");
}

#[test]
fn a_holder_whose_connection_is_cut_is_told_at_once_and_locks_again() {
    let server = Mariadb::shared();
    let proxy = Proxy::to(server.port());
    let ours = through(server, &proxy, "");
    for round in 0..10 {
        let guard = ours.lock("cut").wait(secs(5)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        let begun = Instant::now();
        proxy.cut();
        let (reason, told) = hears.recv_timeout(secs(5)).expect("it is told");
        assert_eq!(reason, LostReason::SessionEnded, "round {round}");
        assert!(told - begun < secs(2), "told after {:?}", told - begun);
        assert!(matches!(guard.release(), Err(Error::Lost(_))));
    }
}

/// R7: the server does not know that the connection is gone, and would keep the session for half a minute.
#[test]
fn a_client_that_has_lost_a_session_ends_it_at_the_server_before_it_locks_again() {
    let server = Mariadb::shared();
    let relay = Relay::start(server.port());
    let ours = Client::connect(&server.url_at(relay.port)).expect("a good URL");
    let guard = ours.lock("ghost").blocking().acquire().expect("free");
    let hears = heard(&guard);
    relay.cut_clients();
    assert_eq!(hears.recv_timeout(secs(5)).expect("it is told").0, LostReason::SessionEnded);
    let mut view = server.sql();
    assert!(view.holder("ghost").is_some(), "its session lives on at the server");
    let begun = Instant::now();
    let again = ours.lock("ghost").blocking().try_acquire().expect("answered");
    assert!(again.is_some(), "the client's own ghost keeps it out");
    assert!(begun.elapsed() < secs(2), "{:?}", begun.elapsed());
}

/// R4: half open, so that no side hears of an end.
#[test]
fn a_holder_that_is_cut_off_in_silence_believes_no_longer_than_the_server_keeps_its_session() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    // The server counts whole seconds: it keeps the session for two.
    let ours = through(&server, &proxy, "watchdog=1.5&response_timeout=1");
    for direction in [Direction::ToServer, Direction::ToClient] {
        let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        let begun = Instant::now();
        proxy.freeze(direction);
        let mut view = server.sql();
        let (reason, told) = hears.recv_timeout(secs(10)).expect("it is told");
        let is_held_at_the_server = view.holder("n").is_some();
        assert_eq!(reason, LostReason::Partitioned);
        assert!(told - begun < ms(1900), "told after {:?}", told - begun);
        if direction == Direction::ToServer {
            assert!(is_held_at_the_server, "another client could have had it before the loss was told");
        }
        assert!(matches!(guard.ensure(), Err(Error::Lost(_))));
        proxy.flow();
        proxy.cut();
    }
}

#[test]
fn locks_end_with_their_server_and_the_client_locks_again_once_it_is_back() {
    let server = Mariadb::start();
    let ours = client(&server, "retry_for=20");
    for is_killed in [false, true] {
        let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        let begun = Instant::now();
        match is_killed {
            true => server.stop(),
            false => server.shut_down(),
        }
        let (reason, told) = hears.recv_timeout(secs(10)).expect("it is told");
        assert_eq!(reason, LostReason::SessionEnded);
        println!("told {:?} after the end began", told - begun);
        std::thread::scope(|scope| {
            // A caller that comes meanwhile waits for the server.
            let comes = scope.spawn(|| ours.lock("m").wait(secs(20)).blocking().acquire().map(BlockingGuard::release));
            std::thread::sleep(ms(200));
            server.start_again();
            comes.join().expect("no panic").expect("the server is back").expect("held");
        });
    }
    // Waiters survive a restart, too.
    let stranger = client(&server, "");
    let _held = stranger.lock("w").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ours.lock("w").wait(secs(30)).blocking().acquire().map(BlockingGuard::release));
        let mut view = server.sql();
        eventually(|| view.waiting() == 1);
        drop(view);
        server.stop();
        server.start_again();
        waits.join().expect("no panic").expect("nobody holds it any more").expect("held");
    });
}

#[test]
fn no_call_takes_longer_than_its_time_beside_a_server_that_is_silent() {
    let server = Mariadb::start();
    let ours = client(&server, "response_timeout=0.5&retry_for=0.5");
    let guard = ours.lock("held").blocking().acquire().expect("free");
    let outer = ours.fenced_lock("nested").owner(7).blocking().acquire().expect("free");
    server.pause();
    let limit = |what: &str, call: &dyn Fn() -> bool| {
        let begun = Instant::now();
        assert!(call(), "{what}");
        assert!(begun.elapsed() < secs(4), "{what} took {:?}", begun.elapsed());
    };
    limit("a try", &|| matches!(ours.lock("n").blocking().try_acquire(), Err(Error::Unavailable { .. })));
    let inner = || ours.fenced_lock("nested").owner(7).blocking();
    limit("a try for one hold more", &|| matches!(inner().try_acquire(), Err(Error::Unavailable { .. })));
    limit("a wait", &|| matches!(ours.lock("n").wait(secs(1)).blocking().acquire(), Err(Error::Unavailable { .. })));
    let guard = std::cell::Cell::new(Some(guard));
    limit("a release", &|| matches!(guard.take().expect("once").release(), Err(Error::Unavailable { .. })));
    limit("a look", &|| ours.lock("n").blocking().is_locked().is_err());
    server.resume();
    drop(outer);
    eventually(|| ours.lock("n").wait(secs(5)).blocking().acquire().is_ok());
    // The release of which no answer came has had its effect.
    let next = client(&server, "");
    next.lock("held").wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
}

#[test]
fn a_forked_child_is_a_client_of_its_own_and_leaves_its_parents_locks_alone() {
    let server = Mariadb::shared();
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_redlatch-forking"))
        .arg(format!("{}?prefix=fork:", server.url()))
        .output()
        .expect("the program runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

#[test]
fn a_thousand_cuts_leave_no_two_holders() {
    let server = Mariadb::shared();
    let proxy = Proxy::to(server.port());
    let clients = [through(server, &proxy, ""), client(server, "")];
    let inside = Mutex::new(());
    let over = std::sync::atomic::AtomicBool::new(false);
    let mut overlaps = 0;
    std::thread::scope(|scope| {
        let workers: Vec<_> = clients
            .iter()
            .map(|client| {
                let (inside, over) = (&inside, &over);
                scope.spawn(move || {
                    let mut overlaps = 0;
                    while !over.load(std::sync::atomic::Ordering::Relaxed) {
                        let Ok(guard) = client.lock("cuts").wait(secs(10)).blocking().acquire() else { continue };
                        let alone = inside.try_lock();
                        overlaps += u32::from(alone.is_err() && guard.ensure().is_ok());
                        std::thread::sleep(Duration::from_micros(300));
                        drop(alone);
                        let _ = guard.release();
                    }
                    overlaps
                })
            })
            .collect();
        for _ in 0..1000 {
            proxy.cut();
            std::thread::sleep(ms(2));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        overlaps += workers.into_iter().map(|worker| worker.join().expect("no panic")).sum::<u32>();
    });
    // A holder that is cut goes on until it hears of it: it may still be inside when the next one comes.
    println!("{overlaps} overlaps of holders that did not know yet");
    assert!(overlaps <= 10, "{overlaps} overlaps");
    for client in &clients {
        let guard =
            client.lock("cuts").wait(secs(10)).blocking().acquire().expect("the client has found a new connection");
        guard.release().expect("held");
    }
}

/// R4: a grant after a wait says nothing of when it was given, so a sign of life comes after it.
#[test]
fn a_grant_after_a_long_wait_is_believed_for_as_long_as_any_other() {
    let server = Mariadb::start();
    let (holder, waits) = (client(&server, ""), client(&server, "watchdog=1"));
    let guard = holder.lock("n").blocking().acquire().expect("free");
    let mut view = server.sql();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let guard = waits.lock("n").wait(secs(20)).blocking().acquire().expect("woken");
            let left = guard.deadline().expect("it is held").saturating_duration_since(Instant::now());
            guard.release().expect("held");
            left
        });
        eventually(|| view.waiting() == 1);
        std::thread::sleep(ms(800));
        guard.release().expect("held");
        let left = waiting.join().expect("no panic");
        assert!(left > ms(600), "{left:?} of a second");
    });
}

/// R9: without an answer the session is over, and what it may have taken.
#[test]
fn a_statement_whose_answer_is_lost_leaves_nothing_held() {
    let server = Mariadb::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "");
    let other = client(&server, "");
    for round in 0..5 {
        for text in ["GET_LOCK", "RELEASE_LOCK"] {
            ours.lock("n").wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
            proxy.lose_reply_to(text);
            let guard = ours.lock("n").wait(secs(5)).blocking().acquire().expect("it is tried again");
            guard.ensure().expect("held");
            assert!(other.lock("n").blocking().try_acquire().expect("answered").is_none(), "{text} in round {round}");
            // A release that broke its session has freed the lock as well.
            guard.release().expect("held until then");
            let next = other.lock("n").wait(secs(5)).blocking().acquire().expect("free");
            next.release().expect("held");
            proxy.disarm();
        }
    }
}
