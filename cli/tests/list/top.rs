//! `redlatch top` on a terminal of 80 columns and 24 lines.

use std::process::Command;

use redlatch::Client;
use redlatch_tests::{Server, Terminal, eventually, soon};
use rustix::process::{Pid, Signal, kill_process};

use super::{redlatch, scratch};

/// The end of the alternate screen.
const LEFT: &str = "\u{1b}[?1049l";

/// Starts it below a shell that tells its code, and whether the modes of the terminal are as before. The name of its process is
/// in the file.
fn start(server: &Server, words: &str) -> (Terminal, std::path::PathBuf) {
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
    for signal in [Some(Signal::TERM), Some(Signal::INT), None] {
        let (mut terminal, file) = start(&server, "");
        terminal.sees("NAME");
        match signal {
            Some(signal) => {
                let pid = std::fs::read_to_string(&file).expect("the shell has written it");
                let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("not 0");
                kill_process(pid, signal).expect("it runs");
            }
            None => terminal.type_in("\u{3}"),
        }
        terminal.sees(LEFT);
        terminal.sees("same-0-2");
    }
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
