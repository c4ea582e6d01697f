//! Trouble without end: connections that are killed all the time, and processors that are always busy.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use super::*;

#[test]
fn connections_killed_all_the_time_lose_no_update_and_leak_nothing() {
    const LANES: u64 = 6;
    let server = Server::start();
    let clients = [connect(&server.url()), connect(&server.url())];
    let inside = AtomicU64::new(0);
    let counter = AtomicU64::new(0);
    let done = AtomicBool::new(false);
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
        let lanes: Vec<_> =
            clients.iter().cycle().take(LANES as usize).map(|client| scope.spawn(move || lane(client))).collect();
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
    // Each client has up to four connections for callers and one for all waiters. This view has one more.
    let clients_there = view.clients();
    assert!(clients_there <= 2 * 5 + 1, "{clients_there} connections");
}

#[test]
fn a_short_wait_ends_by_a_closed_connection_only_where_no_new_one_answers_in_time() {
    const AN_ANSWER: Duration = ms(250);
    let server = Server::start();
    let client = connect(&server.url());
    let mut view = server.view();
    for round in 0..300 {
        client.lock("n").wait(PATIENCE).blocking().acquire().expect("it is free").release().expect("held");
        for kind in ["normal", "pubsub"] {
            view.command::<i64>(&["CLIENT", "KILL", "TYPE", kind]);
        }
        let begun = Instant::now();
        match client.lock("n").wait(ms(1)).blocking().acquire() {
            Ok(guard) => guard.release().expect("held"),
            Err(error) => assert!(begun.elapsed() >= AN_ANSWER, "round {round}, after {:?}: {error}", begun.elapsed()),
        }
    }
}

#[test]
fn a_client_comes_and_goes_without_a_trace() {
    let server = Server::start();
    let come_and_go = || {
        let client = connect(&server.url());
        client.lock("n").blocking().acquire().expect("free").release().expect("held");
        client.close_blocking(Holds::Release);
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
fn ten_thousand_holds_are_renewed_in_batches_over_few_connections() {
    const HOLDS: u64 = 10_000;
    let server = Server::start();
    // On a busy machine an acquire queues behind thousands: here that is neither an error nor a loss.
    let client = connect(&format!("{}?watchdog=24&response_timeout=60&retry_for=60", server.url()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("the system gives threads");
    let take = |n| runtime.spawn(client.lock(&format!("n{n}")).acquire());
    let taking: Vec<_> = (0..HOLDS).map(take).collect();
    let guards: Vec<_> =
        taking.into_iter().map(|one| runtime.block_on(one).expect("no panic").expect("free")).collect();
    let mut view = server.view();
    view.forget_calls();
    let count = |view: &mut View, name: &str| view.calls().get(name).copied().unwrap_or_default();
    eventually("a renewal of each", || (count(&mut view, "pexpire") >= HOLDS).then_some(()));
    eventually("two renewals of each", || (count(&mut view, "pexpire") >= 2 * HOLDS).then_some(()));
    let renewals = count(&mut view, "pexpire");
    let calls = count(&mut view, "evalsha");
    assert!(calls <= renewals / 20, "{calls} calls for {renewals} renewals");
    // On Redis up to 7.0 the cost of a call grows with the square of its number of names.
    assert!(calls >= renewals / 32, "{calls} calls for {renewals} renewals");
    let connections = view.clients() - 1;
    assert!(connections <= 5, "{connections} connections");
    assert!(guards.iter().all(|guard| guard.ensure().is_ok()));
    client.close_blocking(Holds::Release);
    assert_eq!(view.keys("*").len(), 0);
}

/// A process that never rests, on the first processor that the test may use.
fn burner(number: usize) -> guarded::Guarded {
    let dir = std::env::temp_dir().join(format!("redlatch-{}-burner-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    guarded::Guarded::start(
        &dir,
        &["taskset", "-c", &processor(), "sh", "-c", "while :; do :; done"].map(str::to_owned),
    )
}

/// The number of the first processor that the test may use.
fn processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is a /proc");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("it says which");
    list.trim().split([',', '-']).next().expect("there is one").to_owned()
}

#[test]
fn renewals_keep_up_while_the_processor_has_no_time() {
    let server = Server::start();
    let args = ["-c", &processor(), env!("CARGO_BIN_EXE_redlatch-worker"), &format!("{}?watchdog=3", server.url())];
    let mut holder = Process::start("taskset", &args.map(str::to_owned));
    assert_eq!(holder.ask("acquire n"), "ok");
    let burners: Vec<_> = (0..8).map(burner).collect();
    let began = Instant::now();
    while began.elapsed() < secs(7) {
        thread::sleep(ms(100));
        assert_eq!(holder.ask("ensure"), "ok", "after {:?}", began.elapsed());
    }
    drop(burners);
    assert_eq!(holder.ask("release"), "ok");
}
