//! `redlatch server`: a private server, alone and around a command.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};

use redlatch_tests::eventually;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Ended, subcommand};

fn server() -> Command {
    subcommand("server", "redis://127.0.0.1:1")
}

/// A server that serves, and its first line.
fn serving(words: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
    let mut process = server().args(words).stdout(Stdio::piped()).spawn().expect("it starts");
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
