//! The terminal: a command that has its own process group needs it to read, and a stop of the command is a stop of the whole job.

use std::ffi::OsString;
use std::fs::{File, metadata};
use std::io::{IsTerminal, stdin};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};

use rustix::process::{Pid, getpgrp};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::warden::itself;

pub const MARK: &str = "--redlatch-terminal";

/// The terminal that controls this process.
pub struct Terminal {
    file: File,
    is_lent: bool,
}

impl Terminal {
    /// `None`: this process has no terminal, as under cron.
    pub fn open() -> Option<Self> {
        Some(Terminal { file: File::options().read(true).write(true).open("/dev/tty").ok()?, is_lent: false })
    }

    /// Whether the command begins as the one that has the terminal. In a pipeline another program may need it: `… | less`.
    pub fn is_for_command(&self) -> bool {
        let is_pipe =
            |number| metadata(format!("/proc/self/fd/{number}")).is_ok_and(|metadata| metadata.file_type().is_fifo());
        self.is_ours() && stdin().is_terminal() && !is_pipe(1) && !is_pipe(2)
    }

    /// Whether this process's group has the terminal.
    pub fn is_ours(&self) -> bool {
        self.owner() == Some(getpgrp())
    }

    pub fn is_lent(&self) -> bool {
        self.is_lent
    }

    fn owner(&self) -> Option<Pid> {
        tcgetpgrp(&self.file).ok()
    }

    /// Gives the terminal to a group, if it is this group's.
    pub fn lend(&mut self, group: Pid) {
        if self.is_ours() {
            self.is_lent = tcsetpgrp(&self.file, group).is_ok();
        }
    }

    /// Takes the terminal back, and gives the group that had it. The system stops a process that takes the terminal from the background,
    /// so one that joins the group that has it does so. A group exists until its last process has been waited for.
    pub fn take_back(&mut self) -> Option<Pid> {
        if !std::mem::take(&mut self.is_lent) {
            return None;
        }
        let owner = self.owner().filter(|owner| *owner != getpgrp())?;
        let _ = itself()
            .arg(MARK)
            .arg(getpgrp().as_raw_pid().to_string())
            .process_group(owner.as_raw_pid())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        Some(owner)
    }
}

/// That process.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let mut words = words;
    let group = words.next().and_then(|word| word.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let given = Terminal::open().zip(group).is_some_and(|(terminal, group)| tcsetpgrp(&terminal.file, group).is_ok());
    if given { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
