//! A command that uses the terminal, below an interactive shell: it reads, Ctrl-C and Ctrl-Z are its own, and the shell has the terminal
//! again afterwards.

use std::process::Command;
use std::time::Instant;

use redlatch_tests::{Server, Terminal, eventually, ms};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Folder, delete, ends, state};

/// Waits for a line, and says so before. The sum keeps the words that were typed apart from those that were said.
const READS: &str = "'echo ready-$((40+2)); read line; echo heard-$line'";

/// An interactive shell on a terminal.
struct Shell {
    terminal: Terminal,
    folder: Folder,
}

impl Shell {
    fn start(server: &Server) -> Self {
        let folder = Folder::new();
        let mut shell = Command::new("bash");
        shell
            .args(["--norc", "--noprofile", "-i"])
            .env("REDLATCH_URL", server.url())
            .env("R", format!("{} run", env!("CARGO_BIN_EXE_redlatch")))
            .env("DIR", &folder.0)
            .env("PS1", "$ ")
            .env("TERM", "dumb");
        Shell { terminal: Terminal::start(&shell), folder }
    }

    fn type_in(&mut self, keys: &str) {
        self.terminal.type_in(keys);
    }

    fn line(&mut self, line: &str) {
        self.terminal.type_line(line);
    }

    fn sees(&self, text: &str) {
        self.terminal.sees(text);
    }

    /// The shell itself reads the terminal, and tells the code of the last command.
    fn has_code(&mut self, code: i32) {
        self.line("echo code-$?-$((1+1))");
        self.sees(&format!("code-{code}-2"));
    }
}

#[test]
fn a_command_reads_from_the_terminal() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line(&format!("$R n sh -c {READS}"));
    shell.sees("ready-42");
    shell.line("hello");
    shell.sees("heard-hello");
    shell.has_code(0);
}

#[test]
fn an_interactive_shell_works_below_redlatch() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line("$R n bash --norc --noprofile -i");
    shell.line("echo token-$((REDLATCH_TOKEN+0))-");
    shell.sees("token-1-");
    shell.line("sleep 60 & jobs; kill %1; exit 7");
    shell.sees("Running");
    shell.has_code(7);
}

#[test]
fn ctrl_c_is_the_commands() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line(
        "$R n sh -c 'trap \"echo caught-\\$((40+2)); exit 5\" INT; echo ready-$((40+2)); while :; do sleep 0.1; done'",
    );
    shell.sees("ready-42");
    shell.type_in("\u{3}");
    shell.sees("caught-42");
    shell.has_code(5);
    shell.line("$R n sh -c 'echo ready-$((40+2)); exec sleep 60'");
    shell.sees("ready-42");
    shell.type_in("\u{3}");
    shell.has_code(130);
    assert!(!server.view().exists("n"));
}

/// The shell that waits for a program ends its loop if Ctrl-C has ended that one; a script has to hear of it itself.
#[test]
fn ctrl_c_ends_the_script_and_the_loop_around_redlatch() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    let body = "for i in 1 2 3; do $R n sh -c \"echo ready-\\$((40+2)); exec sleep 60\"; done; echo over-$((1+1))";
    for line in [format!("sh -c '{body}'"), format!("bash -c '{body}'"), body.to_owned()] {
        shell.line(&line);
        shell.sees("ready-42");
        shell.type_in("\u{3}");
        shell.has_code(130);
        assert!(!shell.terminal.shows("over-2") && !server.view().exists("n"), "{line}");
    }
}

#[test]
fn ctrl_c_ends_a_wait() {
    let server = Server::start();
    let client = redlatch::Client::connect(&server.url()).expect("a client");
    let _guard = client.lock("n").blocking().acquire().expect("it is free");
    let mut shell = Shell::start(&server);
    shell.line("$R n true");
    eventually("a waiter", || (server.view().listeners("redisson_lock__channel:{n}") > 0).then_some(()));
    shell.type_in("\u{3}");
    shell.has_code(130);
}

#[test]
fn ctrl_z_stops_the_job_and_fg_continues_it() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line(&format!("$R n sh -c {READS}"));
    shell.sees("ready-42");
    shell.type_in("\u{1a}");
    shell.sees("Stopped");
    shell.has_code(148);
    shell.line("fg");
    shell.line("hello");
    shell.sees("heard-hello");
    shell.has_code(0);
}

/// The shell that has started it is gone, so that nothing could continue a job that stops: the system lets it go on.
#[test]
fn a_job_that_can_never_have_the_terminal_asks_for_it_without_haste() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line("( $R n sh -c 'echo $$ > $DIR/pid; read line < /dev/tty' & )");
    let command: i32 = shell.folder.line("pid").parse().expect("a number");
    let switches = || {
        let status = std::fs::read_to_string(format!("/proc/{command}/status")).unwrap_or_default();
        let counts = status.lines().filter(|line| line.contains("ctxt_switches")).map(str::to_owned);
        counts.collect::<Vec<_>>()
    };
    let next_try = || {
        eventually("a stopped command", || (state(command) == Some('T')).then_some(()));
        let before = switches();
        let begun = Instant::now();
        eventually("another try", || (switches() != before).then_some(()));
        begun.elapsed()
    };
    next_try();
    let second = next_try();
    let third = next_try();
    assert!(second.max(third) > ms(500), "{second:?}, {third:?}");
    kill_process(Pid::from_raw(command).expect("a number"), Signal::KILL).expect("it lives");
    ends(command);
}

/// `timeout` is of the job, and has to go on when the command is stopped for the terminal.
#[test]
fn timeout_ends_a_command_that_waits_for_a_terminal_in_the_background() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line("sh -c 'timeout 2 $R n sh -c \"read line < /dev/tty\"; echo after-$?-$((1+1))'");
    shell.sees("after-124-2");
    eventually("a free lock", || (!server.view().exists("n")).then_some(()));
}

#[test]
fn a_job_that_is_stopped_for_too_long_is_ended() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line("$R --lease 3s n sh -c 'echo $$ > $DIR/pid; echo ready-$((40+2)); exec sleep 60'");
    shell.sees("ready-42");
    let command = shell.folder.line("pid").parse().expect("a number");
    shell.type_in("\u{1a}");
    shell.sees("Stopped");
    ends(command);
    shell.line("fg");
    shell.sees("redlatch: ");
    shell.has_code(76);
}

/// A shell that runs a script has no job control: it does not take the terminal back by itself.
#[test]
fn the_program_behind_redlatch_in_a_script_has_the_terminal_again() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    for ending in ["exit 3", "kill -9 \\$\\$"] {
        shell.line(&format!("sh -c \"$R n sh -c 'echo ready-\\$((40+2)); {ending}'; read line; echo after-\\$line\""));
        shell.sees("ready-42");
        shell.line("hello");
        shell.sees("after-hello");
    }
    // A command that is killed because of its lock had no chance to give anything back.
    shell.line(
        "sh -c \"$R --on-lost kill n sh -c 'echo ready-\\$((40+2)); exec sleep 60'; read line; echo after-\\$line\"",
    );
    shell.sees("ready-42");
    delete(&server);
    shell.sees("is lost");
    shell.line("hello");
    shell.sees("after-hello");
}

/// Such as `less`.
#[test]
fn another_program_of_a_pipeline_keeps_the_terminal() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line("$R n sh -c 'echo ready-$((40+2)); exec sleep 1' | sh -c 'cat; read line < /dev/tty; echo piped-$line'");
    shell.sees("ready-42");
    shell.line("hello");
    shell.sees("piped-hello");
}

/// A command in a pipeline that wants the terminal all the same gets it when it asks.
#[test]
fn a_command_of_a_pipeline_gets_the_terminal_when_it_reads() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line(&format!("$R n sh -c {READS} | cat"));
    shell.sees("ready-42");
    shell.line("hello");
    shell.sees("heard-hello");
    shell.has_code(0);
}

#[test]
fn a_job_in_the_background_stops_when_it_reads_and_goes_on_in_the_foreground() {
    let server = Server::start();
    let mut shell = Shell::start(&server);
    shell.line(&format!("$R n sh -c {READS} &"));
    shell.sees("ready-42");
    shell.line("jobs; jobs");
    eventually("a stopped job", || {
        shell.line("jobs");
        shell.terminal.shows("Stopped").then_some(())
    });
    shell.line("fg");
    shell.line("hello");
    shell.sees("heard-hello");
}
