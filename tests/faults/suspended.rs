//! A machine that sleeps: its monotonic clock stands still meanwhile, the server's does not. And a server whose clock
//! is set.

use redlatch_tests::{Clocks, told};

use super::*;

/// A worker whose clocks the test moves.
fn worker_with(clocks: &Clocks, url: String) -> Process {
    let [env, words @ ..] = clocks.words();
    Process::start(&env, &[&words[..], &[WORKER.into(), url]].concat())
}

#[test]
fn a_holder_whose_machine_was_suspended_beyond_its_lease_knows_it_at_its_first_look() {
    let server = Server::start();
    let clocks = Clocks::new();
    let mut holder = worker_with(&clocks, format!("{}?watchdog=1", server.url()));
    let client = connect(&server.url());
    for round in 0..3 {
        let name = format!("n{round}");
        assert_eq!(holder.ask(&format!("acquire {name}")), "ok");
        holder.signal("STOP");
        let since = Instant::now();
        let next = client.lock(&name).wait(PATIENCE).blocking().acquire().expect("the lease ends");
        clocks.suspended_for(since.elapsed());
        holder.signal("CONT");
        let first = holder.ask("ensure");
        assert!(first.starts_with("lost ") && first.contains("process was paused"), "it says {first}");
        assert!(holder.ask("lost").starts_with("lost "));
        assert!(holder.ask("release").starts_with("lost "));
        next.ensure().expect("the suspended holder took nothing away");
        next.release().expect("held");
    }
}

#[test]
fn a_holder_is_told_of_the_end_of_its_lease_while_the_monotonic_clock_stands_still() {
    let server = Server::start();
    let clocks = Clocks::new();
    let mut holder = worker_with(&clocks, server.url());
    assert_eq!(holder.ask("acquire n 1000"), "ok");
    clocks.freeze();
    let lost = holder.ask("lost");
    assert!(lost.starts_with("lost ") && lost.contains("expired"), "it says {lost}");
}

#[test]
fn a_hold_is_renewed_while_the_monotonic_clock_stands_still() {
    let server = Server::start();
    let clocks = Clocks::new();
    let mut holder = worker_with(&clocks, format!("{}?watchdog=3", server.url()));
    assert_eq!(holder.ask("acquire n"), "ok");
    clocks.freeze();
    let mut monitor = server.monitor();
    for _ in 0..3 {
        while !monitor.see().iter().any(|word| word == "PEXPIRE") {}
    }
    assert_eq!(holder.ask("ensure"), "ok");
    assert_eq!(holder.ask("release"), "ok");
}

#[test]
fn a_waiter_is_told_of_the_end_of_its_wait_while_the_monotonic_clock_stands_still() {
    let server = Server::start();
    let clocks = Clocks::new();
    let mut waiter = worker_with(&clocks, server.url());
    assert_eq!(waiter.ask("acquire warm"), "ok");
    let _held = connect(&server.url()).lock("n").lease(LONG).blocking().acquire().expect("free");
    clocks.freeze();
    let end = waiter.ask("wait n 1000");
    assert!(end.starts_with("not_acquired"), "it says {end}");
}

#[test]
fn a_waiter_takes_a_lock_whose_lease_has_ended_while_the_monotonic_clock_stands_still() {
    let server = Server::start();
    let clocks = Clocks::new();
    let mut waiter = worker_with(&clocks, server.url());
    assert_eq!(waiter.ask("acquire warm"), "ok");
    let _held = connect(&server.url()).lock("n").lease(secs(3)).blocking().acquire().expect("free");
    clocks.freeze();
    // No message announces the end of a lease.
    assert_eq!(waiter.ask("wait n 600000"), "ok");
}

#[test]
fn an_inspection_that_the_servers_clock_refused_as_late_is_repeated_at_once() {
    let clocks = Clocks::new();
    let server = Server::with(Options { program: Some(clocks.program("redis-server")), ..Options::default() });
    // A tenth of this lease is longer than the rig's patience.
    let client = connect(&format!("{}?watchdog=600&response_timeout=1", server.url()));
    let guard = client.lock("n").blocking().acquire().expect("free");
    let mut view = server.view();
    eventually("the server's promise to tell", || view.tells().then_some(()));
    clocks.ahead(secs(30));
    view.command::<()>(&["DEL", "n"]);
    assert_eq!(told(&guard).reason, redlatch::LostReason::Deleted);
}

/// The connection over which the server reports changes ends unnoticed while the machine sleeps.
#[test]
fn a_client_checks_all_its_holds_after_its_machine_was_suspended() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let clocks = Clocks::new();
    let mut holder = worker_with(&clocks, server.url_at(proxy.port()));
    assert_eq!(holder.ask(&format!("acquire n {}", LONG.as_millis())), "ok");
    let mut view = server.view();
    eventually("the server's promise to tell", || view.tells().then_some(()));
    proxy.freeze(Direction::ToClient);
    view.command::<()>(&["DEL", "n"]);
    holder.signal("STOP");
    let since = Instant::now();
    std::thread::sleep(secs(2));
    clocks.suspended_for(since.elapsed());
    holder.signal("CONT");
    let lost = holder.ask("lost");
    assert!(lost.starts_with("lost ") && lost.contains("deleted"), "it says {lost}");
}
