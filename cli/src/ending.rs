//! The exit codes of `redlatch run`, and which error has which.

use std::io;
use std::process::ExitStatus;

use redlatch::Error;
use rustix::process::Signal;

/// The words or options make no sense.
pub const USAGE: u8 = 64;
/// No server can be reached, or it cannot serve now.
pub const UNREACHABLE: u8 = 69;
/// The system refused what `redlatch` itself needs.
pub const SYSTEM: u8 = 71;
/// Another client has the lock; the option -E changes this one.
pub const NOT_ACQUIRED: u8 = 75;
/// The lock was lost, or nearly: the command was ended, or lived on by `--on-lost keep`.
pub const LOST: u8 = 76;
/// The server does not let this user do that.
pub const NOT_ALLOWED: u8 = 77;
/// The command was found and cannot be run.
pub const CANNOT_RUN: u8 = 126;
/// There is no such command.
pub const NOT_FOUND: u8 = 127;

/// The codes of Redis, MySQL and ZooKeeper for a wrong user or password, and for missing rights.
const FORBIDDEN: [&str; 11] =
    ["NOAUTH", "WRONGPASS", "NOPERM", "1044", "1045", "1142", "1143", "1227", "1698", "NoAuth", "AuthFailed"];

/// An end before the command has begun: nothing was run.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: u8,
    /// Its name in reports.
    pub event: &'static str,
    pub text: String,
}

impl Failure {
    pub fn new(code: u8, event: &'static str, text: impl Into<String>) -> Self {
        Failure { code, event, text: text.into() }
    }

    /// The same with the name of the lock, which a text about the server or the system does not have.
    pub fn about(self, name: &str) -> Self {
        let is_missing =
            matches!(self.code, UNREACHABLE | NOT_ALLOWED | SYSTEM) && !self.text.contains(&format!("`{name}`"));
        match is_missing {
            true => Failure { text: format!("`{name}` was not acquired, and nothing was run: {}", self.text), ..self },
            false if self.text.contains("WRONGTYPE") => Failure {
                text: format!(
                    "{}. Of `redlatch run`, --shared and --exclusive are the two locks of a read-write lock, and --permits those of \
                     a semaphore",
                    self.text
                ),
                ..self
            },
            false => self,
        }
    }

    pub fn usage(text: impl Into<String>) -> Self {
        Failure::new(USAGE, "usage", text)
    }

    /// `what` cannot be written.
    pub fn unwritten(what: &str, error: &io::Error) -> Self {
        let text = format!("{what} cannot be written to standard output: {error}; look at where it goes");
        Failure::new(SYSTEM, "failed", text)
    }

    /// The same, of a command that had `done` its work by then.
    pub fn after(self, done: &str) -> Self {
        Failure { text: format!("{done}; {}", self.text), ..self }
    }

    /// Whether the reader of standard output takes what was `written` there. False: it has gone, and wants no more.
    pub fn unless_heard(what: &str, written: io::Result<()>) -> Result<bool, Self> {
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::unwritten(what, &error)),
        }
    }

    /// The system does not give what the program needs to show locks.
    pub fn system(error: io::Error) -> Self {
        Failure::new(SYSTEM, "failed", format!("the system refused what redlatch needs to show locks: {error}"))
    }
}

/// A text of the library names the lock or the server, and has no password.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, event) = match &error {
            Error::Refused { code, .. } if FORBIDDEN.contains(&code.as_str()) => (NOT_ALLOWED, "not_allowed"),
            Error::Refused { code, .. } if code == "WRONGTYPE" => (USAGE, "usage"),
            Error::Config(_) | Error::Unsupported(_) => (USAGE, "usage"),
            _ => (UNREACHABLE, "unreachable"),
        };
        Failure::new(code, event, error.to_string())
    }
}

/// The exit code for an end by a signal, as shells have it.
pub fn code_of_signal(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}

/// The exit code for the end of the command, as shells have it.
pub fn code_of(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn the_code_of_an_end_by_a_signal_is_128_and_its_number() {
        assert_eq!(code_of(ExitStatus::from_raw(9)), 137);
        assert_eq!(code_of(ExitStatus::from_raw(15)), 143);
        assert_eq!(code_of(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code_of(ExitStatus::from_raw(255 << 8)), 255);
    }
}
