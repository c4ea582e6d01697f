//! Single troubles: a process that dies or stands still, a connection that breaks or hangs, a session that ends, a server
//! that ends or is silent.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use redlatch::{BlockingGuard, Client, Error, LostReason};
use redlatch_tests::{Direction, Process, Proxy, Zookeeper, ms, secs};

use crate::eventually;
use crate::zookeeper::{client, expire, holder};

/// Watches a hold: gives the reason and the moment of its loss.
pub fn heard(guard: &BlockingGuard) -> mpsc::Receiver<(LostReason, Instant)> {
    let (told, hears) = mpsc::channel();
    guard.on_lost(move |loss| {
        let _ = told.send((loss.reason, Instant::now()));
    });
    hears
}

fn through(server: &Zookeeper, proxy: &Proxy, options: &str) -> Client {
    Client::connect(&format!("{}?{options}", server.url_at(proxy.port()))).expect("a good URL")
}

fn worker(url: &str) -> Process {
    Process::start(env!("CARGO_BIN_EXE_redlatch-worker"), &[url.to_owned()])
}

#[test]
fn a_lock_of_a_killed_process_is_free_when_its_session_ends() {
    let server = Zookeeper::shared();
    let mut process = worker(&format!("{}?watchdog=2", server.url()));
    assert_eq!(process.ask("acquire kill9"), "ok");
    let next = client(server, "");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let guard = next.lock("kill9").wait(secs(20)).blocking().acquire().expect("free");
            let now = Instant::now();
            guard.release().expect("held");
            now
        });
        eventually(|| server.nodes().children("/kill9").len() == 2);
        let begun = Instant::now();
        drop(process);
        let took = waits.join().expect("no panic") - begun;
        println!("the next owner has it {took:?} after kill -9, of a session of 2 s");
        assert!(took < secs(4), "{took:?}");
    });
}

#[test]
fn a_process_that_stands_still_loses_its_lock_when_its_session_ends_and_is_told_when_it_goes_on() {
    let server = Zookeeper::shared();
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

/// R6: a broken connection is not the end of a session.
#[test]
fn locks_and_waiters_outlast_broken_connections() {
    let server = Zookeeper::shared();
    let proxy = Proxy::to(server.port());
    let [ours, waits] = ["", ""].map(|options| through(server, &proxy, options));
    let guard = ours.lock("cut").blocking().acquire().expect("free");
    let hears = heard(&guard);
    let mut nodes = server.nodes();
    let session = holder(&mut nodes, "/cut");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| waits.lock("cut").wait(secs(60)).blocking().acquire().expect("woken"));
        eventually(|| nodes.children("/cut").len() == 2);
        for _ in 0..20 {
            proxy.cut();
            eventually(|| proxy.connections() == 2);
            let other = ours.lock("cut/other").blocking().acquire().expect("free");
            other.release().expect("held");
        }
        guard.ensure().expect("held");
        assert!(hears.try_recv().is_err(), "nothing is lost");
        assert_eq!(holder(&mut nodes, "/cut"), session, "the same session");
        // The release comes while there is no connection.
        proxy.cut();
        guard.release().expect("held");
        let next = waiting.join().expect("no panic");
        next.ensure().expect("held");
        next.release().expect("held");
    });
    assert!(nodes.children("/cut").iter().all(|name| name == "other"));
}

#[test]
fn a_node_that_goes_while_there_is_no_connection_is_told_of_and_wakes_when_there_is_one() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "");
    let mut nodes = server.nodes();
    let guard = ours.lock("held").blocking().acquire().expect("free");
    let hears = heard(&guard);
    nodes.prepare("/waited");
    let other = nodes.create("/waited/lock-", b"", redlatch_tests::nodes::Mode::Ephemeral).map(drop);
    other.expect("made");
    let first = nodes.create("/waited/lock-", b"", redlatch_tests::nodes::Mode::EphemeralSequential).expect("made");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ours.lock("waited").wait(secs(60)).blocking().acquire().expect("woken"));
        eventually(|| nodes.children("/waited").len() == 3);
        proxy.refuse();
        proxy.cut();
        let node = nodes.children("/held").pop().expect("held");
        assert!(nodes.delete(&format!("/held/{node}")) && nodes.delete(&first));
        proxy.accept();
        assert_eq!(hears.recv_timeout(secs(10)).expect("told").0, LostReason::Deleted);
        waiting.join().expect("no panic").release().expect("held");
    });
}

#[test]
fn the_end_of_a_session_is_told_at_once_and_the_client_locks_again() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "");
    for round in 0..10 {
        let guard = ours.lock("ended").wait(secs(5)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        let session = holder(&mut server.nodes(), "/ended").expect("held");
        // The client would enter it again before the rig has ended it.
        proxy.refuse();
        proxy.cut();
        expire(&server, session);
        assert!(hears.try_recv().is_err(), "the client cannot know");
        let begun = Instant::now();
        proxy.accept();
        let (reason, told) = hears.recv_timeout(secs(10)).expect("it is told");
        assert_eq!(reason, LostReason::SessionEnded, "round {round}");
        // The client tries each second to reach a server. A session is 30 s.
        assert!(told - begun < secs(10), "told after {:?}", told - begun);
        assert!(matches!(guard.release(), Err(Error::Lost(_))));
    }
}

/// A server that ends a session while it lets the client in drops all that comes for it, and says nothing.
#[test]
fn a_connection_that_is_silent_from_its_beginning_is_left_after_the_time_of_a_call() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "watchdog=120&response_timeout=1&retry_for=20");
    let guard = ours.lock("silent").blocking().acquire().expect("free");
    // The server lets the client in, and that is the last of it.
    proxy.refuse();
    proxy.cut();
    proxy.hold_at(Direction::ToClient, "", 2);
    proxy.accept();
    let begun = Instant::now();
    let other = ours.lock("silent/other").wait(secs(20)).blocking().acquire().expect("by another connection");
    assert!(begun.elapsed() < secs(7), "it took {:?}", begun.elapsed());
    other.release().expect("held");
    guard.release().expect("held");
}

/// R4: no byte goes either way, on any connection, and no side hears of an end.
#[test]
fn a_holder_that_is_cut_off_in_silence_believes_no_longer_than_the_server_keeps_its_session() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "watchdog=1.5&response_timeout=1");
    let mut nodes = server.nodes();
    for direction in [Direction::ToServer, Direction::ToClient] {
        let guard = ours.lock("n").wait(secs(10)).blocking().acquire().expect("free");
        let hears = heard(&guard);
        let begun = Instant::now();
        proxy.stall(direction);
        std::thread::scope(|scope| {
            let freed = scope.spawn(|| {
                eventually(|| holder(&mut nodes, "/n").is_none());
                Instant::now()
            });
            let mut believed = begun;
            while guard.ensure().is_ok() {
                believed = Instant::now();
                std::thread::sleep(ms(1));
            }
            let (reason, _) = hears.recv_timeout(secs(10)).expect("it is told");
            assert_eq!(reason, LostReason::Partitioned);
            assert!(believed - begun < ms(1500), "believed for {:?}", believed - begun);
            let freed = freed.join().expect("no panic");
            assert!(believed < freed, "another client could have had it {:?} before", believed - freed);
        });
        proxy.flow();
        proxy.cut();
    }
}

#[test]
fn a_connection_that_hangs_is_left_for_another_before_the_session_ends() {
    let server = Zookeeper::shared();
    let proxy = Proxy::to(server.port());
    let ours = through(server, &proxy, "watchdog=3");
    let guard = ours.lock("hang").blocking().acquire().expect("free");
    let hears = heard(&guard);
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.freeze(direction);
        if let Ok((reason, _)) = hears.recv_timeout(secs(4)) {
            panic!("{reason}: another connection goes on with the session");
        }
        guard.ensure().expect("held");
    }
    guard.release().expect("held");
}

#[test]
fn locks_outlast_a_restart_of_their_server() {
    let server = Zookeeper::start();
    let ours = client(&server, "retry_for=20");
    let other = client(&server, "retry_for=20");
    let guard = ours.lock("n").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.lock("n").wait(secs(60)).blocking().acquire().expect("woken"));
        eventually(|| server.nodes().children("/n").len() == 2);
        server.kill();
        server.restart();
        guard.ensure().expect("held");
        assert!(client(&server, "").lock("n").blocking().try_acquire().expect("answered").is_none());
        guard.release().expect("held");
        waiting.join().expect("no panic").release().expect("held");
    });
}

#[test]
fn no_call_takes_longer_than_its_time_beside_a_server_that_is_silent() {
    let server = Zookeeper::start();
    let ours = client(&server, "response_timeout=0.5&retry_for=0.5");
    let guard = ours.lock("held").blocking().acquire().expect("free");
    server.pause();
    let limit = |what: &str, call: &dyn Fn() -> bool| {
        let begun = Instant::now();
        assert!(call(), "{what}");
        assert!(begun.elapsed() < secs(4), "{what} took {:?}", begun.elapsed());
    };
    limit("a try", &|| matches!(ours.lock("n").blocking().try_acquire(), Err(Error::Unavailable { .. })));
    limit("a wait", &|| matches!(ours.lock("n").wait(secs(1)).blocking().acquire(), Err(Error::Unavailable { .. })));
    let guard = std::cell::Cell::new(Some(guard));
    limit("a release", &|| matches!(guard.take().expect("once").release(), Err(Error::Unavailable { .. })));
    limit("a look", &|| ours.lock("n").blocking().is_locked().is_err());
    server.resume();
    eventually(|| ours.lock("n").wait(secs(5)).blocking().acquire().is_ok());
    // The release of which no answer came has had its effect, and no node of a failed try stays.
    let next = client(&server, "");
    next.lock("held").wait(secs(5)).blocking().acquire().expect("free").release().expect("held");
    let mut nodes = server.nodes();
    eventually(|| nodes.children("/n").is_empty() && nodes.children("/held").is_empty());
}

#[test]
fn a_forked_child_is_a_client_of_its_own_and_leaves_its_parents_locks_alone() {
    let server = Zookeeper::shared();
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_redlatch-forking"))
        .arg(format!("{}/fork", server.url()))
        .output()
        .expect("the program runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// R9: what a request without an answer has made is found by its name.
#[test]
fn a_request_whose_answer_is_lost_has_its_effect_once() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let ours = through(&server, &proxy, "");
    let other = client(&server, "");
    let mut nodes = server.nodes();
    for round in 0..10 {
        for lock in [ours.lock("n"), ours.fenced_lock("n"), ours.fair_lock("n"), ours.read_write_lock("n").write()] {
            proxy.lose_reply_to("/n/_c_");
            let guard = lock.wait(secs(5)).blocking().acquire().expect("it is found");
            guard.ensure().expect("held");
            assert_eq!(nodes.children("/n").len(), 1, "round {round}");
            assert!(other.lock("n").blocking().try_acquire().expect("answered").is_none());
            proxy.lose_reply_to("/n/_c_");
            guard.release().expect("held");
            proxy.disarm();
            assert!(nodes.children("/n").is_empty(), "round {round}");
        }
    }
}

/// The client keeps its sessions through all of these: no holder is told of a loss, and no two are inside.
#[test]
fn a_thousand_cuts_leave_no_two_holders_and_lose_nothing() {
    let server = Zookeeper::start();
    let proxy = Proxy::to(server.port());
    let clients = [through(&server, &proxy, "turn=0"), client(&server, "turn=0")];
    let inside = Mutex::new(());
    let over = AtomicBool::new(false);
    let [held, lost] = [AtomicU32::new(0), AtomicU32::new(0)];
    std::thread::scope(|scope| {
        for client in &clients {
            let (inside, over, held, lost) = (&inside, &over, &held, &lost);
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let Ok(guard) = client.lock("cuts").wait(secs(10)).blocking().acquire() else { continue };
                    let alone = inside.try_lock().expect("two are inside");
                    std::thread::sleep(Duration::from_micros(300));
                    drop(alone);
                    held.fetch_add(1, Relaxed);
                    lost.fetch_add(u32::from(guard.release().is_err()), Relaxed);
                }
            });
        }
        for _ in 0..1000 {
            proxy.cut();
            // A client needs some round trips between two cuts, even on a busy machine.
            std::thread::sleep(ms(8));
        }
        over.store(true, Relaxed);
    });
    println!("{} holds over 1000 cuts, {} without an answered release", held.load(Relaxed), lost.load(Relaxed));
    assert!(held.into_inner() > 20);
    assert_eq!(lost.into_inner(), 0);
    eventually(|| server.nodes().children("/cuts").is_empty());
}

/// R4: a grant after a wait says nothing of when it was given, so a sign of life comes after it.
#[test]
fn a_grant_after_a_long_wait_is_believed_for_as_long_as_any_other() {
    let server = Zookeeper::shared();
    let (holder, waits) = (client(server, ""), client(server, "watchdog=2"));
    let guard = holder.lock("long").blocking().acquire().expect("free");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let guard = waits.lock("long").wait(secs(20)).blocking().acquire().expect("woken");
            let left = guard.deadline().expect("it is held").saturating_duration_since(Instant::now());
            guard.release().expect("held");
            left
        });
        eventually(|| server.nodes().children("/long").len() == 2);
        std::thread::sleep(ms(1700));
        guard.release().expect("held");
        let left = waiting.join().expect("no panic");
        assert!(left > ms(1100), "{left:?} of two seconds");
    });
}

/// R3: the node of a client that has given up is no place any more, and one whose waiters go on is.
#[test]
fn the_last_waiter_that_gives_up_takes_its_node_along() {
    let server = Zookeeper::shared();
    let [one, two] = ["", ""].map(|options| client(server, options));
    let _held = one.lock("given_up").blocking().acquire().expect("free");
    let mut nodes = server.nodes();
    std::thread::scope(|scope| {
        let short = scope.spawn(|| two.lock("given_up").wait(ms(500)).blocking().acquire().is_err());
        eventually(|| nodes.children("/given_up").len() == 2);
        let place = nodes.in_order("/given_up").pop().expect("it stands").0;
        let long = scope.spawn(|| two.lock("given_up").wait(ms(1500)).blocking().acquire().is_err());
        assert!(short.join().expect("no panic"));
        assert_eq!(nodes.in_order("/given_up").pop().expect("it stands").0, place, "the other waiter has it now");
        assert!(long.join().expect("no panic"));
        eventually(|| nodes.children("/given_up").len() == 1);
    });
}

/// One request each third of the lease looks at all that a session holds.
#[test]
fn the_renewal_of_a_thousand_locks_is_one_request() {
    let server = Zookeeper::start();
    let ours = client(&server, "watchdog=3");
    let guards: Vec<_> =
        (0..1000).map(|at| ours.lock(&format!("many/{at}")).blocking().acquire().expect("free")).collect();
    let before = server.figure("zk_packets_received");
    std::thread::sleep(secs(6));
    let asked = server.figure("zk_packets_received") - before;
    println!("{asked} packets of a client with 1,000 locks in 6 s, signs of life among them");
    // 24 pings, 6 checks, and the rig's own questions.
    assert!(asked < 45, "{asked}");
    guards.iter().for_each(|guard| guard.ensure().expect("held"));
    // A lock that vanishes meanwhile is found among them.
    assert!(server.nodes().delete(&format!("/many/500/{}", server.nodes().children("/many/500")[0])));
    eventually(|| guards[500].ensure().is_err());
    assert_eq!(guards.iter().filter(|guard| guard.ensure().is_err()).count(), 1);
}
