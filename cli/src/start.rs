//! The step between `redlatch` and the command: a process of this program that asks for its death with `redlatch`, and then becomes the
//! command. Only the process itself can ask for that, and only between its birth and the command.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::clock;
use crate::ending::{CANNOT_RUN, LOST, NOT_FOUND};

pub const MARK: &str = "--redlatch-start";
/// The word of a process that begins too late.
const LATE: &str = "late";

/// The reason why the command did not begin.
#[derive(Debug)]
pub enum Obstacle {
    /// The client did not believe in the lock any more.
    Late,
    /// The system cannot run the command.
    System(io::Error),
}

/// Where such a process tells its obstacle. An exit code alone would be the command's as well. The socket has an abstract name, so that it
/// leaves no file behind, and the command inherits nothing of it.
pub struct Mailbox {
    socket: UnixDatagram,
    name: String,
}

impl Mailbox {
    /// `id`: a text that no other process has.
    pub fn open(id: &str) -> io::Result<Self> {
        let name = format!("redlatch-{}-{id}", std::process::id());
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        Ok(Mailbox { socket, name })
    }

    /// The words of this program that become the command if the clock does not show `until` by then.
    pub fn words(&self, until: Duration) -> [OsString; 4] {
        let parent = std::process::id().to_string();
        [MARK.into(), parent.into(), until.as_nanos().to_string().into(), self.name.clone().into()]
    }

    /// The obstacle, once the process has ended with this code; `None`: the command began.
    pub fn obstacle(&self, code: u8) -> Option<Obstacle> {
        if ![LOST, CANNOT_RUN, NOT_FOUND].contains(&code) {
            return None;
        }
        let mut word = [0; 16];
        let length = self.socket.recv(&mut word).ok()?;
        match std::str::from_utf8(&word[..length]).ok()? {
            LATE => Some(Obstacle::Late),
            number => number.parse().ok().map(|number| Obstacle::System(io::Error::from_raw_os_error(number))),
        }
    }
}

/// The process itself.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let mut words = words;
    let mut number = || words.next()?.to_str()?.parse::<u64>().ok();
    let (Some(parent), Some(until)) = (number(), number()) else { return ExitCode::from(CANNOT_RUN) };
    let (Some(mailbox), Some(program)) = (words.next(), words.next()) else { return ExitCode::from(CANNOT_RUN) };
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    // The parent may have died before that.
    let lives = getppid().map(Pid::as_raw_pid).is_some_and(|id| u64::from(id.unsigned_abs()) == parent);
    if asked.is_err() || !lives {
        return ExitCode::from(CANNOT_RUN);
    }
    if clock::now() >= Duration::from_nanos(until) {
        tell(&mailbox, LATE);
        return ExitCode::from(LOST);
    }
    let error = Command::new(program).args(words).exec();
    tell(&mailbox, &error.raw_os_error().unwrap_or_default().to_string());
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN })
}

fn tell(mailbox: &OsString, word: &str) {
    let address = SocketAddr::from_abstract_name(mailbox.as_encoded_bytes());
    // Without it the exit code still tells enough.
    let _ = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(word.as_bytes(), &address));
}
