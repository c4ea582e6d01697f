//! The command when its lock is lost, or when the server is silent.

use std::time::Instant;

use redlatch_tests::{Direction, Proxy, Server, eventually, ms, secs};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{STAYS, delete, ends, lives, state, warden};
use crate::{Running, run};

/// Tells of each TERM and goes on.
const IGNORES_TERM: &str =
    "trap 'echo TERM >> $DIR/term' TERM; echo $$ > $DIR/pid; until [ -e $DIR/end ]; do sleep 0.02; done; exit 3";

#[test]
fn a_deletion_by_hand_ends_the_command() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    delete(&server);
    assert_eq!(running.code(), 76);
    assert!(!lives(command));
    let told = running.told();
    assert!(told.contains("`n` is lost") && told.contains("deleted") && told.contains("(TERM)"), "{told}");
}

#[test]
fn a_lock_that_another_client_took_ends_the_command() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    running.number("pid");
    let mut view = server.view();
    view.command::<()>(&[
        "EVAL",
        "redis.call('DEL', 'n') redis.call('HSET', 'n', 'other:1', 1) redis.call('PEXPIRE', 'n', 60000)",
        "0",
    ]);
    assert_eq!(running.code(), 76);
    assert!(running.told().contains("taken over"), "{}", running.told());
    assert!(server.view().hgetall("n").contains_key("other:1"), "the other client has it still");
}

#[test]
fn a_command_that_ignores_term_is_killed_after_the_grace() {
    let server = Server::start();
    let words = ["--grace", "500ms", "n", "sh", "-c", IGNORES_TERM];
    let mut running = Running::start(&server.url(), &words);
    let command = running.number("pid");
    delete(&server);
    running.line("term");
    let asked = Instant::now();
    assert_eq!(running.code(), 76);
    assert!(asked.elapsed() > ms(300), "after {:?}", asked.elapsed());
    assert!(!lives(command));
    assert!(running.told().contains("did not end within 500 ms; it was killed"), "{}", running.told());
}

/// The command ends when it is asked, and a process that it has started does not.
#[test]
fn no_process_of_the_command_goes_on_after_a_loss() {
    let server = Server::start();
    let script = "(trap '' TERM; echo ready > $DIR/ready; exec sleep 60) & echo $! > $DIR/child; wait";
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", script]);
    let child = running.number("child");
    running.line("ready");
    delete(&server);
    assert_eq!(running.code(), 76, "{}", running.told());
    ends(child);
}

/// A stopped process takes no TERM.
#[test]
fn a_stopped_command_is_continued_so_that_it_can_end_when_it_is_asked() {
    let server = Server::start();
    let script = "trap 'echo TERM > $DIR/term; exit' TERM; echo $$ > $DIR/pid; while :; do sleep 0.02; done";
    let mut running = Running::start(&server.url(), &["--grace", "60s", "n", "sh", "-c", script]);
    let command = running.number("pid");
    let pid = Pid::from_raw(command).expect("a number");
    kill_process(pid, Signal::STOP).expect("it lives");
    eventually("a stopped command", || (state(command) == Some('T')).then_some(()));
    delete(&server);
    assert_eq!(running.code(), 76, "{}", running.told());
    assert_eq!(running.read("term"), "TERM\n");
}

#[test]
fn on_lost_kill_asks_nothing() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--on-lost", "kill", "n", "sh", "-c", IGNORES_TERM]);
    let command = running.number("pid");
    delete(&server);
    assert_eq!(running.code(), 76);
    assert!(!lives(command));
    assert_eq!(running.read("term"), "");
    assert!(running.told().contains("the command was killed"), "{}", running.told());
}

#[test]
fn on_lost_keep_leaves_the_command_alone_and_its_code_is_76() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--on-lost", "keep", "n", "sh", "-c", IGNORES_TERM]);
    let command = running.number("pid");
    delete(&server);
    eventually("a report", || running.told().contains("goes on without the lock").then_some(()));
    assert!(lives(command) && !running.has_ended());
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!(running.code(), 76);
    assert_eq!(running.read("term"), "");
}

/// The warden has no time to act at, either.
#[test]
fn on_lost_keep_leaves_the_command_alone_when_the_server_is_silent() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let words = ["--lease", "1s", "--on-lost", "keep", "n", "sh", "-c", IGNORES_TERM];
    let mut running = Running::start(&server.url_at(proxy.port()), &words);
    let command = running.number("pid");
    proxy.stall(Direction::ToServer);
    eventually("a report", || running.told().contains("goes on without the lock").then_some(()));
    assert!(lives(command));
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!(running.code(), 76, "{}", running.told());
}

#[test]
fn a_silent_server_has_the_command_asked_first_and_dead_before_the_lock_is_free() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "3s", "n", "sh", "-c", IGNORES_TERM]);
    let command = running.number("pid");
    proxy.stall(Direction::ToServer);
    running.line("term");
    assert!(lives(command));
    assert!(server.view().pttl("n") > 500, "{}", server.view().pttl("n"));
    ends(command);
    assert!(server.view().pttl("n") > 0, "another client can have the lock");
    assert_eq!(running.code(), 76);
    let told = running.told();
    assert!(told.contains("(TERM)") && told.contains("killed before another client can have the lock"), "{told}");
}

#[test]
fn a_command_that_ends_when_it_is_asked_gives_76_too() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "6s", "n", "sh", "-c", STAYS]);
    running.number("pid");
    proxy.stall(Direction::ToServer);
    assert_eq!(running.code(), 76);
    assert!(server.view().pttl("n") > 0);
}

#[test]
fn a_command_that_was_asked_goes_on_if_the_server_answers_again() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "5s", "n", "sh", "-c", IGNORES_TERM]);
    let command = running.number("pid");
    proxy.stall(Direction::ToServer);
    running.line("term");
    proxy.flow();
    eventually("a renewal", || (server.view().pttl("n") > 4_000).then_some(()));
    assert!(lives(command));
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!(running.code(), 76, "{}", running.told());
    assert_eq!(running.read("term"), "TERM\n");
}

#[test]
fn a_short_silence_disturbs_nothing() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut running = Running::start(&server.url_at(proxy.port()), &["n", "sh", "-c", IGNORES_TERM]);
    running.number("pid");
    for _ in 0..3 {
        proxy.cut();
        eventually("new connections", || (proxy.connections() > 0).then_some(()));
    }
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!((running.code(), running.told().as_str()), (3, ""));
}

#[test]
fn the_end_of_a_server_ends_the_command_and_its_restart_tells_why() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    let command = running.number("pid");
    server.restart();
    assert_eq!(running.code(), 76);
    assert!(!lives(command));
    assert!(running.told().contains("server lost its data"), "{}", running.told());
}

#[test]
fn reports_for_programs_are_one_object_a_line() {
    let server = Server::start();
    let log = |words: &[&str]| -> Vec<serde_json::Value> {
        let ended = run(&server.url(), words);
        ended.told.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    };
    let names = |events: &[serde_json::Value]| -> Vec<String> {
        events.iter().map(|event| event["event"].as_str().expect("it has a name").to_owned()).collect()
    };
    let events = log(&["--json", "n", "sh", "-c", "exit 4"]);
    assert_eq!(names(&events), ["acquired", "released", "ended"]);
    assert!(events.iter().all(|event| event["name"] == "n"));
    assert!(events[0]["token"].as_i64().is_some_and(|token| token > 0), "{}", events[0]);
    assert_eq!((&events[2]["exit"], &events[2]["lost"]), (&4.into(), &false.into()));

    let events = log(&["--json", "n", "/no/such"]);
    assert_eq!(names(&events), ["acquired", "not_run"]);

    let events = log(&["--json", "n"]);
    assert_eq!((names(&events), &events[0]["name"]), (vec!["usage".to_owned()], &"n".into()));

    let mut running = Running::start(&server.url(), &["--json", "n", "sh", "-c", STAYS]);
    running.number("pid");
    assert_eq!(names(&log(&["--json", "-n", "n", "true"])), ["not_acquired"]);
    delete(&server);
    assert_eq!(running.code(), 76);
    let events: Vec<_> = running.told().lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(names(&events), ["acquired", "lost", "ended"]);
    assert_eq!(events[1]["reason"], "deleted");
}

#[test]
fn quiet_says_nothing_and_the_code_tells() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--quiet", "n", "sh", "-c", STAYS]);
    running.number("pid");
    let taken = run(&server.url(), &["--quiet", "-n", "n", "true"]);
    assert_eq!((taken.code, taken.told.as_str()), (75, ""));
    delete(&server);
    assert_eq!((running.code(), running.told().as_str()), (76, ""));
    assert_eq!(run(&server.url(), &["--quiet", "n", "/no/such"]).told, "");
}

#[test]
fn a_redlatch_that_stood_still_kills_the_command_before_anything_else() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--lease", "1s", "n", "sh", "-c", STAYS]);
    let pid = running.number("pid");
    // Without its warden, redlatch itself is left.
    let warden = warden(&running);
    kill_process(Pid::from_raw(warden).expect("a number"), Signal::KILL).expect("it lives");
    ends(warden);
    running.signal(Signal::STOP);
    eventually("the end of the lease", || (!server.view().exists("n")).then_some(()));
    assert!(lives(pid), "with neither of the two the command goes on");
    running.signal(Signal::CONT);
    assert_eq!(running.code(), 76, "{}", running.told());
    assert!(!lives(pid));
    assert!(running.told().contains("the command was killed"), "{}", running.told());
}

#[test]
fn a_long_lease_is_believed_until_a_second_before_its_end() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "6s", "n", "sh", "-c", IGNORES_TERM]);
    let command = running.number("pid");
    proxy.stall(Direction::ToServer);
    let begun = Instant::now();
    ends(command);
    assert!(begun.elapsed() > secs(3) - ms(100), "after {:?}", begun.elapsed());
    let left = server.view().pttl("n");
    assert!((700..=1_200).contains(&left), "{left}");
    assert_eq!(running.code(), 76);
}

/// Writes that it has begun, and ends.
const BEGINS: &str = "echo begun > $DIR/begun; exit 3";

#[test]
fn a_grant_that_was_long_on_its_way_is_renewed_before_the_command_begins() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    // The server has the scripts by then, so that an acquire is one call. A client asks another connection after a second of silence.
    assert_eq!(run(&server.url(), &["n", "true"]).code, 0);
    proxy.retard_replies_to("redisson_lock_token:{n}", 1, ms(850));
    let mut running =
        Running::start(&server.url_at(proxy.port()), &["--lease", "1500ms", "n", "sh", "-c", IGNORES_TERM]);
    running.number("pid");
    assert!(server.view().pttl("n") > 650, "{}", server.view().pttl("n"));
    std::fs::write(running.path("end"), "").expect("the folder is there");
    assert_eq!((running.code(), running.told().as_str()), (3, ""));
}

#[test]
fn a_late_grant_that_is_not_renewed_goes_back_and_nothing_is_run() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    assert_eq!(run(&server.url(), &["n", "true"]).code, 0);
    proxy.retard_replies_to("\r\nn\r\n", 1, ms(700));
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "1s", "n", "sh", "-c", BEGINS]);
    assert_eq!(running.code(), 76, "{}", running.told());
    let told = running.told();
    assert!(told.contains("granted so late") && told.contains("nothing was run") && told.contains("--lease"), "{told}");
    assert_eq!(running.read("begun"), "");
}

#[test]
fn a_signal_ends_the_renewal_of_a_late_grant() {
    let server = Server::start();
    let proxy = Proxy::start(&server);
    assert_eq!(run(&server.url(), &["n", "true"]).code, 0);
    proxy.retard_replies_to("redisson_lock_token:{n}", 1, ms(850));
    // The only calls about the lock are its acquire and its renewal.
    proxy.hold_at(Direction::ToServer, "\r\nn\r\n", 2);
    let mut running = Running::start(&server.url_at(proxy.port()), &["--lease", "1500ms", "n", "sh", "-c", BEGINS]);
    eventually("a renewal on its way", || (proxy.struck() > 0).then_some(()));
    running.signal(Signal::TERM);
    proxy.flow();
    assert_eq!(running.code(), 143, "{}", running.told());
    assert!(running.told().contains("signal 15 came before the command had begun"), "{}", running.told());
    assert_eq!(running.read("begun"), "");
}
