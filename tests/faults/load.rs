//! Trouble without end: connections that are killed all the time, processors that have no time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use super::*;

#[test]
fn connections_killed_all_the_time_lose_no_update_and_leak_nothing() {
    const LANES: u64 = 6;
    let server = Server::start();
    let clients = [connect(&server.url()), connect(&server.url())];
    let (inside, counter, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let lane = |client: &Client| {
        let mut sections = 0;
        while !done.load(SeqCst) {
            let guard = client.lock("n").wait(PATIENCE).blocking().acquire().expect("it is free before long");
            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
            let seen = counter.load(SeqCst);
            thread::yield_now();
            counter.store(seen + 1, SeqCst);
            assert_eq!(inside.fetch_sub(1, SeqCst), 1, "two are inside");
            guard.release().expect("held");
            sections += 1;
        }
        sections
    };
    let mut view = server.view();
    let sections: u64 = thread::scope(|scope| {
        let lanes: Vec<_> = clients.iter().cycle().take(LANES as usize).map(|client| scope.spawn(move || lane(client))).collect();
        for round in 0..80 {
            thread::sleep(ms(50));
            let kind = if round % 2 == 0 { "normal" } else { "pubsub" };
            view.command::<i64>(&["CLIENT", "KILL", "TYPE", kind]);
        }
        done.store(true, SeqCst);
        lanes.into_iter().map(|lane| lane.join().expect("no error")).sum()
    });
    assert_eq!(counter.into_inner(), sections);
    assert!(sections > LANES, "nothing went on");
    nothing_is_left(&mut view, "n");
    // Up to four connections for callers and one for all that waits, each; and this view.
    let clients_there = view.clients();
    assert!(clients_there <= 2 * 5 + 1, "{clients_there} connections");
}

#[test]
fn a_client_comes_and_goes_without_a_trace() {
    let server = Server::start();
    let come_and_go = || {
        let client = connect(&server.url());
        client.lock("n").blocking().acquire().expect("free").release().expect("held");
        client.close(true);
    };
    come_and_go();
    let mut view = server.view();
    eventually("the end of its connections", || (view.clients() == 1).then_some(()));
    for _ in 0..50 {
        come_and_go();
    }
    eventually("the end of their connections", || (view.clients() == 1).then_some(()));
}

#[test]
fn renewals_keep_up_while_the_processors_have_no_time() {
    let server = Server::start();
    let mut holder = worker(format!("{}?watchdog=3", server.url()));
    assert_eq!(holder.ask("acquire n"), "ok");
    let (done, began) = (AtomicBool::new(false), Instant::now());
    let busy = 4 * thread::available_parallelism().map_or(2, |cores| cores.get());
    thread::scope(|scope| {
        for _ in 0..busy {
            scope.spawn(|| {
                while !done.load(SeqCst) {
                    std::hint::spin_loop();
                }
            });
        }
        while began.elapsed() < secs(7) {
            thread::sleep(ms(100));
            assert_eq!(holder.ask("ensure"), "ok", "after {:?}", began.elapsed());
        }
        done.store(true, SeqCst);
    });
    assert_eq!(holder.ask("release"), "ok");
}
