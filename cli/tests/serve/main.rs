//! `redlatch serve`, as programs and a browser see it.

mod answers;
mod browser;
mod connections;
mod pages;
mod releases;
mod service;

use std::process::{Command, Output, Stdio};

use redlatch_tests::Server;

/// The client of a holder that may be Redisson.
const THEIRS: &str = "6f1b1c9e-0c1d-4e2f-8a3b-4c5d6e7f8091";

fn command(server: &Server, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redlatch"));
    command.arg("serve").args(words).env("REDLATCH_URL", server.url()).env_remove("REDLATCH_SERVE_TOKEN");
    command.stdin(Stdio::null());
    command
}

/// Its code, and what it says on standard error.
fn fails(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    assert!(stdout.is_empty(), "{}", String::from_utf8_lossy(&stdout));
    (status.code().expect("it ends by itself"), String::from_utf8_lossy(&stderr).into_owned())
}
