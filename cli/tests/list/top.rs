//! `redlatch top` on a terminal of 80 columns and 24 lines.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use redlatch::Client;
use redlatch_tests::{Server, Terminal, eventually, soon};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::termios::{Action, tcflow};

use super::{redlatch, scratch, take_unreadable};

/// The begin and the end of the alternate screen.
const TAKEN: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";

/// Starts it below a shell that tells its code, and whether the modes of the terminal are as before. The name of its process is
/// in the file.
fn start(server: &Server, words: &str) -> (Terminal, PathBuf) {
    let file = scratch();
    let script = format!(
        "stty cols 80 rows 24; before=$(stty -g); sh -c 'echo $$ > \"$1\"; exec \"$0\" top {words}' \"$0\" \"$1\"; code=$?; \
         test \"$before\" = \"$(stty -g)\" && echo \"same-$code-$((1+1))\""
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script, env!("CARGO_BIN_EXE_redlatch")])
        .arg(&file)
        .env("REDLATCH_URL", server.url())
        .env("TERM", "xterm-256color");
    (Terminal::start(&shell), file)
}

#[test]
fn a_lock_appears_and_q_leaves_the_terminal_as_it_was() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let (mut terminal, _) = start(&server, "");
    terminal.sees("NAME");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    terminal.sees("orders:42");
    terminal.type_in("q");
    terminal.sees(LEFT);
    terminal.sees("same-0-2");
    held.release().expect("held");
}

#[test]
fn a_signal_and_ctrl_c_leave_the_terminal_as_it_was() {
    let server = Server::start();
    for signal in [Some(Signal::TERM), Some(Signal::INT), Some(Signal::QUIT), None] {
        let (mut terminal, file) = start(&server, "");
        terminal.sees("NAME");
        match signal {
            Some(signal) => kill_process(pid(&file), signal).expect("it runs"),
            None => terminal.type_in("\u{3}"),
        }
        terminal.sees(LEFT);
        terminal.sees("same-0-2");
    }
}

fn pid(file: &Path) -> Pid {
    let pid = std::fs::read_to_string(file).expect("the shell has written it");
    Pid::from_raw(pid.trim().parse().expect("a number")).expect("not 0")
}

#[test]
fn a_key_and_a_signal_end_it_though_the_terminal_stands_still() {
    let server = Server::start();
    for signal in [Some(Signal::TERM), Some(Signal::INT), None] {
        let (mut terminal, file) = start(&server, "");
        terminal.sees("NAME");
        let pid = pid(&file);
        let output = File::open(format!("/proc/{}/fd/1", pid.as_raw_pid())).expect("it is a terminal");
        tcflow(&output, Action::OOff).expect("it is a terminal");
        match signal {
            Some(signal) => kill_process(pid, signal).expect("it runs"),
            None => terminal.type_in("q"),
        }
        eventually("the end of redlatch", || test_kill_process(pid).is_err().then_some(()));
        tcflow(&output, Action::OOn).expect("it is a terminal");
        terminal.sees("same-0-2");
    }
}

/// An interactive shell with jobs, on a terminal of 80 columns and 24 lines. `$TOP` writes the number of its process to the file, and is
/// `redlatch top` then.
fn shell(server: &Server) -> (Terminal, PathBuf) {
    let file = scratch();
    let mut shell = Command::new("bash");
    shell
        .args(["--norc", "--noprofile", "-i"])
        .env("REDLATCH_URL", server.url())
        .env("R", env!("CARGO_BIN_EXE_redlatch"))
        .env("FILE", &file)
        .env("TOP", "echo $$ > $FILE; exec $R top")
        .env("PS1", "$ ")
        .env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&shell);
    terminal.type_line("stty cols 80 rows 24");
    (terminal, file)
}

#[test]
fn a_stop_gives_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let server = Server::start();
    for signal in [None, Some(Signal::TSTP), Some(Signal::STOP)] {
        let (mut terminal, file) = shell(&server);
        terminal.type_line("sh -c \"$TOP\"");
        terminal.sees("NAME");
        match signal {
            Some(signal) => kill_process(pid(&file), signal).expect("it runs"),
            None => terminal.type_in("\u{1a}"),
        }
        if signal != Some(Signal::STOP) {
            terminal.sees(LEFT);
        }
        terminal.sees("Stopped");
        terminal.type_line("echo shell-$((1+1))");
        terminal.sees("shell-2");
        terminal.type_line("fg");
        terminal.sees(TAKEN);
        terminal.sees("NAME");
        terminal.type_in("q");
        terminal.sees(LEFT);
        // The shell reads keys now, and redlatch does not.
        terminal.sees("$ ");
        terminal.type_line("echo code-$?-$((1+1))");
        terminal.sees("code-0-2");
    }
}

#[test]
fn ctrl_z_stops_nothing_that_no_shell_could_continue() {
    let server = Server::start();
    let (mut terminal, _) = start(&server, "");
    terminal.sees("NAME");
    terminal.type_in("\u{1a}");
    terminal.sees("no shell could continue");
    terminal.type_in("q");
    terminal.sees("same-0-2");
}

#[test]
fn a_name_that_is_no_utf_8_is_not_said_to_be_free() {
    let server = Server::start();
    take_unreadable(&server);
    let (mut terminal, _) = start(&server, "");
    terminal.sees("bad\u{fffd}");
    terminal.type_in("jR");
    terminal.sees("U+FFFD may stand");
    terminal.type_in("q");
    terminal.sees("same-0-2");
}

#[test]
fn a_lock_is_released_after_a_question() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    let (mut terminal, _) = start(&server, "--interval 200ms 'orders:*'");
    terminal.sees("orders:42");
    terminal.type_in("jR");
    terminal.sees("[y/N]");
    terminal.type_in("n");
    terminal.sees("released:");
    terminal.type_in("R");
    terminal.sees("[y/N]");
    held.ensure().expect("the answer was no");
    terminal.type_in("y");
    soon(held.lost()).expect("it is a loss, not a release");
    terminal.sees("evicted:");
    terminal.type_in("q");
    terminal.sees("same-0-2");
}

#[test]
fn a_server_that_goes_away_is_told_and_asked_again() {
    let server = Server::start();
    let (mut terminal, _) = start(&server, "--readonly");
    terminal.sees("sorted");
    server.stop();
    terminal.sees("answer");
    server.restart();
    terminal.sees("sorted");
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = eventually("a server that serves", || client.lock("orders:42").blocking().acquire().ok());
    terminal.sees("orders:42");
    terminal.type_in("q");
    terminal.sees("same-0-2");
    held.release().expect("held");
}

#[test]
fn without_a_terminal_it_names_what_works_there() {
    let server = Server::start();
    let (code, out, told) = redlatch(&server.url(), &["top"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(told.contains("needs a terminal") && told.contains("`redlatch tail`"), "{told}");
}
