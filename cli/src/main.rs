//! The command `redlatch`: locks for shells, cron and operators.
#![forbid(unsafe_code)]

mod arguments;
mod attend;
mod belief;
mod bell;
mod bench;
mod clock;
mod command;
mod doctor;
mod elect;
mod ending;
mod keeper;
mod list;
mod lock;
mod manual;
mod release;
mod reports;
mod run;
mod serve;
mod server;
mod signals;
mod start;
mod table;
mod tail;
mod terminal;
mod times;
mod top;
mod warden;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Redlatch, Subcommand};

fn main() -> ExitCode {
    // Processes that `redlatch run` starts from this program for itself.
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == warden::MARK => return warden::main(),
        Some(word) if word == start::MARK => return start::main(words),
        Some(word) if word == terminal::MARK => return terminal::main(words),
        _ => {}
    }
    match Redlatch::try_parse() {
        Ok(Redlatch { subcommand }) => match subcommand {
            Subcommand::Run(arguments) => run::run(&arguments),
            Subcommand::Elect(arguments) => elect::elect(&arguments),
            Subcommand::Ls(arguments) => list::ls(&arguments),
            Subcommand::Who(arguments) => list::who(&arguments),
            Subcommand::Doctor(arguments) => doctor::doctor(&arguments),
            Subcommand::Release(arguments) => release::release(&arguments),
            Subcommand::Tail(arguments) => tail::tail(&arguments),
            Subcommand::Top(arguments) => top::top(&arguments),
            Subcommand::Serve(arguments) => serve::serve(&arguments),
            Subcommand::Server(arguments) => server::server(&arguments),
            Subcommand::Bench(arguments) => bench::bench(&arguments),
            Subcommand::Completions(arguments) => manual::completions(&arguments),
            Subcommand::Manual(arguments) => manual::manual(&arguments),
        },
        Err(error) => {
            let _ = error.print();
            // The text of --help and --version is no error.
            if error.use_stderr() { ExitCode::from(ending::USAGE) } else { ExitCode::SUCCESS }
        }
    }
}
