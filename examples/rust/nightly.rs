//! `nightly <lock> <command> …` runs a command on one node out of many: a node that does not get the lock leaves at once.
//! Needs a server at REDLATCH_URL.
//!
//! Ends with the code of the command; 64: there is no command; 69: no server answers; 70: the lock was lost, and the
//! command stopped; 75: another node has the lock; 127: the command cannot be started.

use std::env::args;
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::Duration;

use redlatch::{Client, Config, Error};

fn run(lock: &str, mut command: Command) -> redlatch::Result<ExitCode> {
    let client = Client::with_config(Config::from_env()?)?;
    // Renewed until its release; if this node dies, it ends 30 s later.
    let Some(guard) = client.lock(lock).blocking().try_acquire()? else {
        eprintln!("another node runs `{lock}`");
        return Ok(ExitCode::from(75));
    };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("{}: {error}", command.get_program().display());
            return Ok(ExitCode::from(127));
        }
    };
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            // The drop of the guard releases the lock, and that of the client waits for it: `main` returns after both.
            // `std::process::exit` would drop neither.
            return Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8)));
        }
        if let Err(lost) = guard.ensure() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(lost);
        }
        sleep(Duration::from_millis(50));
    }
}

fn main() -> ExitCode {
    let mut words = args().skip(1);
    let (Some(lock), Some(program)) = (words.next(), words.next()) else {
        eprintln!("usage: nightly <lock> <command> …");
        return ExitCode::from(64);
    };
    let mut command = Command::new(program);
    command.args(words);
    run(&lock, command).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(if matches!(error, Error::Lost(_)) { 70 } else { 69 })
    })
}
