//! Signals, and the end of `redlatch` itself.

use std::time::Instant;

use redlatch::Client;
use redlatch_tests::{Server, eventually, ms, secs};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{STAYS, ends, lives, state, warden};
use crate::{Running, redlatch, run};

/// Writes the signals that it gets, and ends with code 9 at the second one.
const HEEDS: &str = r#"
for signal in INT TERM HUP QUIT; do trap "echo $signal >> $DIR/signals" $signal; done
echo $$ > $DIR/pid
until [ $(cat $DIR/signals 2>/dev/null | wc -l) = 2 ]; do sleep 0.02; done
exit 9"#;

#[test]
fn signals_go_on_to_the_command_and_its_end_decides() {
    let server = Server::start();
    for (signal, name) in [(Signal::INT, "INT"), (Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::QUIT, "QUIT")] {
        let mut running = Running::start(&server.url(), &["n", "sh", "-c", HEEDS]);
        running.number("pid");
        running.signal(signal);
        assert_eq!(running.line("signals"), name);
        assert!(!running.has_ended(), "the command goes on, and so does redlatch");
        running.signal(signal);
        assert_eq!(running.code(), 9, "{}", running.told());
        assert_eq!(running.read("signals"), format!("{name}\n{name}\n"));
    }
}

#[test]
fn a_signal_that_ends_the_command_gives_128_and_its_number() {
    let server = Server::start();
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1), (Signal::QUIT, 3)] {
        let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
        let command = running.number("pid");
        running.signal(signal);
        assert_eq!(running.code(), 128 + number);
        assert!(!lives(command));
        assert!(!server.view().exists("n"), "the lock is released");
    }
}

#[test]
fn a_signal_reaches_all_processes_of_the_command() {
    let server = Server::start();
    let script = "sleep 60 & echo $! > $DIR/child; echo $$ > $DIR/pid; wait";
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", script]);
    let child = running.number("child");
    running.number("pid");
    running.signal(Signal::TERM);
    assert_eq!(running.code(), 143);
    ends(child);
}

/// Under `nohup`, and in the background of a script, signals are ignored from the beginning.
#[test]
fn a_signal_that_was_ignored_before_stays_ignored() {
    let server = Server::start();
    let script = format!(
        "trap '' HUP INT; exec {} run n sh -c 'echo $$ > $DIR/pid; until [ -e $DIR/end ]; do sleep 0.02; done'",
        env!("CARGO_BIN_EXE_redlatch")
    );
    let mut command = std::process::Command::new("sh");
    let mut running = Running::with(command.args(["-c", &script]).env("REDLATCH_URL", server.url()));
    let command = running.number("pid");
    for signal in [Signal::HUP, Signal::INT] {
        running.signal(signal);
        kill_process(Pid::from_raw(command).expect("a number"), signal).expect("it lives");
    }
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!(running.code(), 0, "{}", running.told());
}

#[test]
fn a_signal_ends_a_wait_and_leaves_nothing_behind() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a client");
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1), (Signal::QUIT, 3)] {
        for (words, kind) in [(vec!["n"], "lock"), (vec!["--fair", "n"], "fair"), (vec!["--exclusive", "rw"], "write")]
        {
            let lock = match kind {
                "write" => client.read_write_lock("rw").write(),
                "fair" => client.fair_lock("n"),
                _ => client.fenced_lock("n"),
            };
            let guard = lock.blocking().acquire().expect("it is free");
            let mut waiting = Running::start(&server.url(), &[&words[..], &["echo", "ran"]].concat());
            eventually("a waiter that listens", || {
                let mut view = server.view();
                let channels = view.channels("*");
                channels.iter().any(|channel| view.listeners(channel) > 0).then_some(())
            });
            waiting.signal(signal);
            assert_eq!(waiting.code(), 128 + number, "{}", waiting.told());
            guard.release().expect("it is held");
            let rest = server.view().keys("*");
            let rest: Vec<_> = rest.iter().filter(|key| !key.starts_with("redisson_lock_token")).collect();
            assert!(rest.is_empty(), "{kind}: {rest:?}");
        }
    }
}

#[test]
fn a_signal_ends_a_wait_beside_a_silent_server() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a client");
    let _guard = client.lock("n").blocking().acquire().expect("it is free");
    let mut waiting = Running::start(&server.url(), &["n", "true"]);
    eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
    server.pause();
    let begun = Instant::now();
    waiting.signal(Signal::TERM);
    let code = waiting.code();
    server.resume();
    assert_eq!(code, 143, "{}", waiting.told());
    assert!(begun.elapsed() < secs(5), "after {:?}", begun.elapsed());
}

/// At any moment between the first byte and the command.
#[test]
fn a_signal_at_any_moment_leaves_no_lock_behind() {
    let server = Server::start();
    for step in 0..40 {
        let mut running = Running::start(&server.url(), &["n", "sleep", "60"]);
        // The moment is the point: no event tells of it.
        std::thread::sleep(ms(step));
        running.signal(Signal::TERM);
        running.end();
        assert!(!server.view().exists("n"), "after {step} ms: {}", running.told());
    }
}

#[test]
fn kill_9_of_redlatch_ends_the_command_and_its_children() {
    let server = Server::start();
    let script = "sleep 60 & echo $! > $DIR/child; echo $$ > $DIR/pid; trap '' TERM HUP INT; while :; do sleep 1; done";
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", script]);
    let command = running.number("pid");
    let child = running.number("child");
    let warden = warden(&running);
    running.kill();
    [command, child, warden].into_iter().for_each(ends);
    assert!(server.view().pttl("n") > 0, "the lock ends with its lease");
}

#[test]
fn kill_9_of_redlatch_and_its_warden_ends_the_command() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    let warden = warden(&running);
    kill_process(Pid::from_raw(warden).expect("a number"), Signal::KILL).expect("it lives");
    ends(warden);
    assert!(lives(command), "redlatch looks after it");
    running.kill();
    ends(command);
}

/// A warden that a signal to its group could end would be no help at the next standstill.
#[test]
fn signals_to_the_group_of_the_command_do_not_end_the_warden() {
    let server = Server::start();
    let script = "trap '' USR1 USR2 TERM INT HUP QUIT ALRM PIPE TSTP; echo $$ > $DIR/pid
        for signal in USR1 USR2 TERM INT HUP QUIT ALRM PIPE TSTP; do kill -$signal 0; done
        echo sent > $DIR/sent; exec sleep 60";
    let running = Running::start(&server.url(), &["--lease", "3s", "n", "sh", "-c", script]);
    let command = running.number("pid");
    let warden = warden(&running);
    running.line("sent");
    assert!(lives(warden));
    running.signal(Signal::STOP);
    ends(command);
    running.signal(Signal::CONT);
}

#[test]
fn a_command_that_an_administrator_stops_keeps_its_lock() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--lease", "3s", "n", "sh", "-c", STAYS]);
    let pid = running.number("pid");
    let command = Pid::from_raw(pid).expect("a number");
    kill_process(command, Signal::STOP).expect("it lives");
    eventually("a stopped command", || (state(pid) == Some('T')).then_some(()));
    // Two leases, one renewal after the other.
    let before = server.view().calls();
    eventually("renewals", || {
        let calls = |calls: std::collections::BTreeMap<String, u64>| calls.get("evalsha").copied().unwrap_or_default();
        (calls(server.view().calls()) >= calls(before.clone()) + 6).then_some(())
    });
    assert!(server.view().exists("n"));
    assert_eq!(state(pid), Some('T'));
    kill_process(command, Signal::CONT).expect("it lives");
    running.signal(Signal::TERM);
    assert_eq!(running.code(), 143);
}

#[test]
fn a_run_inside_a_run_ends_with_the_outer_one() {
    let server = Server::start();
    let inner = env!("CARGO_BIN_EXE_redlatch");
    let script = format!(
        "echo $$ > $DIR/outer; REDLATCH_URL={} {inner} run inner sh -c 'echo $$ > $DIR/inner; exec sleep 60'",
        server.url()
    );
    let mut running = Running::start(&server.url(), &["outer", "sh", "-c", &script]);
    let outer = running.number("outer");
    let command = running.number("inner");
    running.kill();
    [outer, command].into_iter().for_each(ends);
    let ended = run(&server.url(), &["-n", "-E", "3", "inner", "true"]);
    assert_eq!(ended.code, 3, "it ends with its lease: {}", ended.told);
    assert!(redlatch(&server.url()).args(["-w", "0", "other", "true"]).status().expect("it starts").success());
}
