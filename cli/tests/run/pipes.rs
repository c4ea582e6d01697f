//! Standard input, output and error are the command's.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

use redlatch_tests::Server;

use crate::process::Ended;
use crate::redlatch;

#[test]
fn standard_input_goes_to_the_command_and_its_output_comes_out() {
    let server = Server::start();
    let mut child = redlatch(&server.url())
        .args(["n", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let sent = std::thread::spawn(move || {
        let line = [b'x'; 1024];
        (0..16 * 1024).for_each(|_| input.write_all(&line).expect("the command reads"));
    });
    let mut read = Vec::new();
    child.stdout.take().expect("it is piped").read_to_end(&mut read).expect("a pipe");
    sent.join().expect("all was sent");
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    assert_eq!((ended.code, read.len()), (0, 16 * 1024 * 1024), "{}", ended.told);
}

/// A reader that leaves ends the command by SIGPIPE, as in any pipeline.
#[test]
fn a_reader_that_leaves_ends_the_command() {
    let server = Server::start();
    let mut child = redlatch(&server.url())
        .args(["n", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = child.stdout.take().expect("it is piped");
    out.read_exact(&mut [0; 4096]).expect("it writes");
    drop(out);
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, 128 + 13, "{}", ended.told);
    assert!(!server.view().exists("n"));
}

#[test]
fn a_command_may_close_its_input_and_output() {
    let server = Server::start();
    let ended = crate::run(&server.url(), &["n", "sh", "-c", "exec <&- >&- 2>&-; sleep 0.1; exit 5"]);
    assert_eq!(ended.code, 5);
    assert!(!server.view().exists("n"));
}

/// A report for which nothing listens is no reason to leave the lock behind.
#[test]
fn a_closed_standard_error_changes_no_code() {
    let server = Server::start();
    let script = format!("exec 2>&-; exec {} run n /no/such/command", env!("CARGO_BIN_EXE_redlatch"));
    let ended = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("REDLATCH_URL", server.url())
        .output()
        .expect("a shell starts");
    assert_eq!(ended.status.code(), Some(127));
    assert!(!server.view().exists("n"));
}

/// The command and others write there as well. On a socket of datagrams each write is one.
#[test]
fn a_report_is_one_write() {
    let server = Server::start();
    for words in [vec!["n", "/no/such/command"], vec!["--json", "n", "true"]] {
        let (ours, theirs) = UnixDatagram::pair().expect("a pair of sockets");
        let status = redlatch(&server.url()).args(&words).stderr(OwnedFd::from(theirs)).status().expect("it starts");
        assert!(status.code().is_some(), "{status}");
        let mut bytes = [0; 4096];
        let length = ours.recv(&mut bytes).expect("a report");
        let told = String::from_utf8_lossy(&bytes[..length]);
        assert!(told.len() > 1 && told.ends_with('\n'), "{told:?}");
    }
}
