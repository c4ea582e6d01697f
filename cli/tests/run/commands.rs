//! Commands that cannot run, and commands that are hard to look after.

use redlatch_tests::{Server, eventually};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Folder, STAYS, children, delete, ends, lives, state, warden};
use crate::{Running, run};

#[test]
fn a_command_that_does_not_exist_is_127_and_leaves_no_lock_behind() {
    let server = Server::start();
    for words in [vec!["n", "/no/such/command"], vec!["--at-least", "60s", "n", "no-such-command"]] {
        let ended = run(&server.url(), &words);
        assert_eq!(ended.code, 127, "{}", ended.told);
        let command = words.last().expect("it has one");
        assert!(ended.told.contains(&format!("the command `{command}` cannot be run")), "{}", ended.told);
        assert!(ended.told.contains("`n` is released"), "{}", ended.told);
        assert!(!server.view().exists("n"), "{words:?}");
    }
}

#[test]
fn a_command_that_is_no_program_is_126_and_leaves_no_lock_behind() {
    let server = Server::start();
    let folder = Folder::new();
    let file = folder.path("text");
    std::fs::write(&file, "no program").expect("the folder is there");
    let ended = run(&server.url(), &["--at-least", "60s", "n", file.to_str().expect("it is UTF-8")]);
    assert_eq!(ended.code, 126, "{}", ended.told);
    assert!(ended.told.contains("cannot be run: Permission denied"), "{}", ended.told);
    assert!(!server.view().exists("n"));
}

#[test]
fn the_code_127_of_a_command_that_ran_is_its_own() {
    let server = Server::start();
    let ended = run(&server.url(), &["--at-least", "60s", "n", "sh", "-c", "exit 127"]);
    assert_eq!((ended.code, ended.told.as_str()), (127, ""));
    assert!(server.view().exists("n"), "the command ran, so that its lock is kept");
}

#[test]
fn processes_that_a_command_leaves_behind_live_on_and_do_not_have_the_lock() {
    let server = Server::start();
    let folder = Folder::new();
    let script = format!("sleep 60 </dev/null >/dev/null 2>&1 & echo $! > {}", folder.path("left").display());
    let ended = run(&server.url(), &["n", "sh", "-c", &script]);
    assert_eq!(ended.code, 0, "{}", ended.told);
    let left: i32 = folder.line("left").parse().expect("a number");
    assert!(lives(left));
    assert!(!server.view().exists("n"));
    kill_process(Pid::from_raw(left).expect("a number"), Signal::KILL).expect("it lives");
}

#[test]
fn a_command_that_leaves_its_process_group_is_ended_as_well() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--on-lost", "kill", "n", "setsid", "sh", "-c", STAYS]);
    let command = running.number("pid");
    delete(&server);
    assert_eq!(running.code(), 76);
    ends(command);
}

#[test]
fn the_warden_ends_a_command_that_has_left_its_process_group() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["--lease", "3s", "n", "setsid", "sh", "-c", STAYS]);
    let command = running.number("pid");
    running.signal(Signal::STOP);
    ends(command);
    assert!(server.view().exists("n"), "another client can have the lock");
    running.signal(Signal::CONT);
    assert_eq!(running.code(), 76, "{}", running.told());
}

#[test]
fn the_warden_ends_with_the_command() {
    let server = Server::start();
    let mut running = Running::start(&server.url(), &["n", "sh", "-c", STAYS]);
    let command = Pid::from_raw(running.number("pid")).expect("a number");
    let warden = warden(&running);
    kill_process(command, Signal::TERM).expect("it lives");
    assert_eq!(running.code(), 143, "{}", running.told());
    ends(warden);
    assert!(!server.view().exists("n"));
}

/// Some supervisors block the signal that tells the end of a child, and their children inherit that.
#[test]
fn the_end_of_a_command_is_seen_without_the_signal_of_children() {
    let server = Server::start();
    let mut command = std::process::Command::new("env");
    command.args(["--block-signal=CHLD", env!("CARGO_BIN_EXE_redlatch"), "run", "--lease", "10m", "n", "sleep", "0.5"]);
    let mut running = Running::with(command.env("REDLATCH_URL", server.url()));
    assert_eq!(running.code(), 0, "{}", running.told());
}

/// It becomes the parent of all processes that have lost theirs.
#[test]
fn the_first_process_of_a_container_leaves_no_zombies() {
    let container = || {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]);
        command
    };
    if !container().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("this system lets its users make no containers");
        return;
    }
    let server = Server::start();
    let script = "for i in 1 2 3; do (sleep 0.1 &); done
        while grep -qs '^Name:.*sleep' /proc/[0-9]*/status; do :; done; exit 7";
    let mut command = container();
    command.args([env!("CARGO_BIN_EXE_redlatch"), "run", "n", "sh", "-c", script]).env("REDLATCH_URL", server.url());
    let mut running = Running::with(&mut command);
    assert_eq!(running.code(), 7, "{}", running.told());
}

/// The lock was renewed meanwhile, but the step before the command does not know.
#[test]
fn a_command_that_would_begin_too_late_does_not_begin_and_that_is_told() {
    let server = Server::start();
    let mut running = (0..1_000).find_map(|_| begins_late(&server)).expect("one is stopped in time");
    assert_eq!(running.code(), 76, "{}", running.told());
    let told = running.told();
    assert!(told.contains("longer to start the command") && told.contains("`n` is released"), "{told}");
    assert!(running.read("ran").is_empty() && !server.view().exists("n"));
}

/// A run of which the step before the command was stopped for longer than a lease; `None`: it had looked at the clock before.
fn begins_late(server: &Server) -> Option<Running> {
    let (mut running, step) = stopped_before_the_command(server)?;
    let first = server.view().pttl("n");
    eventually("a renewal", || (server.view().pttl("n") > first).then_some(()));
    let renewals = || server.view().calls().get("evalsha").copied().unwrap_or_default();
    let before = renewals();
    eventually("the end of the first lease", || (renewals() >= before + 3).then_some(()));
    kill_process(step, Signal::CONT).expect("it lives");
    (running.code() != 0).then_some(running)
}

/// A run of which the step before the command was stopped, if that was in time.
fn stopped_before_the_command(server: &Server) -> Option<(Running, Pid)> {
    let mut running = Running::start(&server.url(), &["--lease", "1s", "n", "sh", "-c", "echo ran > $DIR/ran"]);
    let words = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let is_step = |pid: &i32| words(*pid).contains("--redlatch-start");
    let step = eventually("the step or the end", || match children(running.pid()).into_iter().find(is_step) {
        Some(step) => Some(Some(step)),
        None => running.has_ended().then_some(None),
    })?;
    let pid = Pid::from_raw(step)?;
    kill_process(pid, Signal::STOP).ok()?;
    eventually("its stop or end", || (state(step) != Some('R') && state(step) != Some('S')).then_some(()));
    (state(step) == Some('T') && is_step(&step)).then_some((running, pid))
}

/// The step before the command, by itself: the first words are its own.
#[test]
fn a_command_does_not_begin_without_the_lock_or_without_redlatch() {
    let folder = Folder::new();
    let own = std::process::id().to_string();
    let century = "3000000000000000000";
    for (parent, until, code, runs) in
        [(own.as_str(), century, 0, true), (own.as_str(), "1", 76, false), ("1", century, 126, false)]
    {
        let file = folder.path(until);
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_redlatch"))
            .args(["--redlatch-start", parent, until, "no-mailbox", "touch"])
            .arg(&file)
            .status()
            .expect("it starts");
        assert_eq!((status.code(), file.exists()), (Some(code), runs), "{parent} {until}");
        let _ = std::fs::remove_file(&file);
    }
}
