//! `redlatch server`: a private server, alone and around a command.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use redlatch_tests::{Terminal, eventually};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Ended, Folder, subcommand};

fn server() -> Command {
    subcommand("server", "redis://127.0.0.1:1")
}

/// A server that serves, and its first line.
fn serving(words: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
    serving_by(server().args(words))
}

fn serving_by(command: &mut Command) -> (Child, BufReader<ChildStdout>, String) {
    let mut process = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut out = BufReader::new(process.stdout.take().expect("it is a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it is text");
    (process, out, line.trim().to_owned())
}

fn is_reached(url: &str) -> bool {
    TcpStream::connect(url.trim_start_matches("redis://")).is_ok()
}

#[test]
fn a_private_server_serves_until_a_signal_and_is_gone_then() {
    for signal in [Signal::INT, Signal::TERM] {
        let (mut process, _out, url) = serving(&[]);
        let ran = crate::run(&url, &["n", "true"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        kill_process(Pid::from_child(&process), signal).expect("it runs");
        assert_eq!(process.wait().expect("it is a child").code(), Some(0));
        assert!(!is_reached(&url));
    }
}

#[test]
fn a_private_server_dies_with_its_redlatch() {
    let (mut process, _out, url) = serving(&[]);
    assert!(is_reached(&url));
    process.kill().expect("it runs");
    process.wait().expect("it is a child");
    eventually("the end of the server", || (!is_reached(&url)).then_some(()));
}

#[test]
fn a_command_has_the_server_and_its_code_is_that_of_redlatch() {
    let script = "echo $REDLATCH_URL; $0 run n sh -c 'exit 7'";
    let ended = Ended::of(
        server().args(["--", "sh", "-c", script, env!("CARGO_BIN_EXE_redlatch")]).output().expect("it starts"),
    );
    assert_eq!(ended.code, 7, "{ended:?}");
    let url = ended.out.trim();
    assert!(url.starts_with("redis://127.0.0.1:") && !url.ends_with(":1"), "{ended:?}");
    assert!(!is_reached(url));
}

#[test]
fn a_signal_goes_on_to_the_command() {
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let (mut process, _out, line) = serving(&["--", "sh", "-c", script]);
    assert_eq!(line, "ready");
    kill_process(Pid::from_child(&process), Signal::TERM).expect("it runs");
    assert_eq!(process.wait().expect("it is a child").code(), Some(9));
}

#[test]
fn a_signal_goes_on_to_the_command_at_a_terminal_too() {
    let folder = Folder::new();
    let script = "trap 'echo got-$((40+2)); exit 9' INT; echo $PPID > $DIR/pid; while :; do sleep 0.05; done";
    let terminal = Terminal::start(server().env("DIR", &folder.0).args(["--", "sh", "-c", script]));
    let pid = Pid::from_raw(folder.line("pid").parse().expect("a number")).expect("not 0");
    kill_process(pid, Signal::INT).expect("it runs");
    terminal.sees("got-42");
}

#[test]
fn ctrl_c_comes_to_a_command_in_a_session_of_its_own() {
    let script = "trap 'echo got-$((40+2)); exit 9' INT; echo ready-$((1+1)); while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(server().args(["--", "setsid", "sh", "-c", script]));
    terminal.sees("ready-2");
    terminal.type_in("\u{3}");
    terminal.sees("got-42");
}

/// A folder with a script that has the name of a server, and runs the server as a process of its own.
fn folder_with_script() -> Folder {
    let folder = Folder::new();
    let found = Command::new("sh").args(["-c", "command -v redis-server valkey-server | head -n 1"]).output();
    let found = String::from_utf8(found.expect("it starts").stdout).expect("it is text");
    let script = folder.path("redis-server");
    std::fs::write(&script, format!("#!/bin/sh\n{} \"$@\"\nexit $?\n", found.trim())).expect("the folder is there");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("it was made");
    folder
}

#[test]
fn a_server_that_a_script_has_started_ends_as_well() {
    let folder = folder_with_script();
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").expect("it is text"));
    let words = ["--", "sh", "-c", "echo $REDLATCH_URL"];
    let (mut process, _out, url) = serving_by(server().env("PATH", &path).args(words));
    assert_eq!(process.wait().expect("it is a child").code(), Some(0));
    eventually("the end of the server", || (!is_reached(&url)).then_some(()));
    let (mut process, _out, url) = serving_by(server().env("PATH", &path));
    assert!(is_reached(&url));
    process.kill().expect("it runs");
    process.wait().expect("it is a child");
    eventually("the end of the server", || (!is_reached(&url)).then_some(()));
}

#[test]
fn a_command_that_has_lost_its_server_is_asked_to_end_and_killed_later() {
    for (trap, said) in [("trap 'echo asked; exit 0' TERM", "asked\n"), ("trap '' TERM INT", "")] {
        let script = format!("{trap}; echo $REDLATCH_URL; while :; do sleep 0.05; done");
        let (mut process, mut out, url) = serving(&["--", "sh", "-c", &script]);
        let mut connection = TcpStream::connect(url.trim_start_matches("redis://")).expect("it serves");
        connection.write_all(b"SHUTDOWN NOSAVE\r\n").expect("it reads");
        let status = eventually("the end of redlatch", || {
            if said.is_empty() {
                // A signal cuts the grace short.
                let _ = kill_process(Pid::from_child(&process), Signal::INT);
            }
            process.try_wait().expect("it is a child")
        });
        assert_eq!(status.code(), Some(69));
        let mut rest = String::new();
        out.read_line(&mut rest).expect("it is text");
        assert_eq!(rest, said);
    }
}

#[test]
fn a_private_server_takes_no_data_of_another_one() {
    let folder = std::env::temp_dir().join(format!("redlatch \"quoted\" {}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("it may be made");
    // Any server that reads it ends with an error.
    std::fs::write(folder.join("dump.rdb"), "no data of a server").expect("it may be written");
    let ended = Ended::of(
        server().env("TMPDIR", &folder).current_dir(&folder).args(["--", "true"]).output().expect("it starts"),
    );
    std::fs::remove_dir_all(&folder).expect("it was made");
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[test]
fn a_server_that_cannot_be_is_told_with_a_remedy() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let ended = Ended::of(server().args(["--port", &port]).output().expect("it starts"));
    assert_eq!(ended.code, 69, "{ended:?}");
    assert!(ended.told.contains(&port) && ended.told.contains("--port"), "{ended:?}");
    let ended = Ended::of(server().env("PATH", "/nowhere").output().expect("it starts"));
    assert_eq!(ended.code, 69, "{ended:?}");
    assert!(ended.told.contains("redis-server") && ended.told.contains("install"), "{ended:?}");
    let ended = Ended::of(server().args(["--", "/nowhere/at-all"]).output().expect("it starts"));
    assert_eq!(ended.code, 127, "{ended:?}");
    let ended = Ended::of(server().args(["--port", "0"]).output().expect("it starts"));
    assert_eq!(ended.code, 64, "{ended:?}");
}

#[test]
fn a_server_that_ends_by_itself_is_told() {
    let (mut process, mut out, line) = serving(&["--json"]);
    let told: serde_json::Value = serde_json::from_str(&line).expect("an object");
    assert_eq!(told["event"], "serves");
    let pid = told["pid"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).expect("a number");
    kill_process(pid, Signal::KILL).expect("it runs");
    assert_eq!(process.wait().expect("it is a child").code(), Some(69));
    let mut rest = String::new();
    out.read_line(&mut rest).expect("it is text");
    assert_eq!(rest, "", "all else is on standard error");
}
