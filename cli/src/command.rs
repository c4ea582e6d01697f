//! The command: its process, its process group, and its end.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgid, getpid, kill_process, kill_process_group, waitid};

use crate::arguments::Task;
use crate::ending::code_of;
use crate::start::{Mailbox, Obstacle};
use crate::terminal::Terminal;
use crate::warden::{Warden, itself};

/// A command that was started and not waited for yet.
pub struct Command {
    process: Child,
    pub warden: Warden,
    pub terminal: Option<Terminal>,
    mailbox: Mailbox,
}

/// The present state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Runs,
    /// This signal has stopped it since the last look.
    Stopped(i32),
    Ended,
}

/// The end of a command.
pub struct End {
    pub status: ExitStatus,
    pub obstacle: Option<Obstacle>,
    /// The warden ended it.
    pub is_wardens_doing: bool,
    /// Ctrl-C ended it, or an INT that looks the same: it had the terminal.
    pub is_interrupted: bool,
}

impl Command {
    /// Starts the command in the group of its warden. Only the main thread may call this: the command dies with the thread that started it.
    /// `until`: the time of [`crate::clock`] after which it must not begin; `acts`: whether the warden ends it then.
    pub fn start(
        task: &Task,
        variables: &[(&str, Option<String>)],
        id: &str,
        until: Duration,
        acts: bool,
    ) -> io::Result<Self> {
        let mailbox = Mailbox::open(id)?;
        let mut warden = Warden::start()?;
        if acts {
            warden.until(until);
        }
        let mut terminal = Terminal::open();
        if let Some(terminal) = terminal.as_mut().filter(|terminal| terminal.is_for_command()) {
            terminal.lend(warden.group());
        }
        let mut process = itself();
        process.args(mailbox.words(until)).arg(&task.program).args(&task.arguments);
        // The URL may have a password.
        process.env_remove("REDLATCH_URL").process_group(warden.group().as_raw_pid());
        for (name, value) in variables {
            match value {
                Some(value) => process.env(name, value),
                // That of a `redlatch run` around this one.
                None => process.env_remove(name),
            };
        }
        match process.spawn() {
            Ok(process) => {
                warden.command(Pid::from_child(&process));
                Ok(Command { process, warden, terminal, mailbox })
            }
            Err(error) => {
                terminal.as_mut().and_then(Terminal::take_back);
                warden.end();
                Err(error)
            }
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Sends a signal to the group, and to the command if it has left the group.
    pub fn signal(&self, signal: Signal) {
        let group = self.warden.group();
        let _ = kill_process_group(group, signal);
        if getpgid(Some(self.pid())) != Ok(group) {
            let _ = kill_process(self.pid(), signal);
        }
    }

    pub fn state(&self) -> State {
        if getpid().is_init() {
            self.wait_for_orphans();
        }
        let pid = || WaitId::Pid(self.pid());
        // The process stays until its warden has ended: until then no other process gets its number.
        let ended = waitid(pid(), WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
        if !matches!(ended, Ok(None)) {
            return State::Ended;
        }
        let stopped = waitid(pid(), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
        stopped.ok().flatten().and_then(|status| status.stopping_signal()).map_or(State::Runs, State::Stopped)
    }

    /// The first process of a container becomes the parent of all that have lost theirs, and has to wait for them.
    fn wait_for_orphans(&self) {
        let children = std::fs::read_to_string("/proc/self/task/1/children").unwrap_or_default();
        for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter_map(Pid::from_raw) {
            if child != self.pid() && child != self.warden.group() {
                let _ = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    }

    /// Ends the warden and waits for the command; `State` has said that it has ended.
    pub fn finish(mut self) -> io::Result<End> {
        let had_terminal = self.terminal.as_ref().is_some_and(Terminal::is_lent);
        self.terminal.as_mut().and_then(Terminal::take_back);
        let is_wardens_doing = self.warden.end();
        let status = self.process.wait()?;
        let is_interrupted = had_terminal && status.signal() == Some(Signal::INT.as_raw());
        Ok(End { status, obstacle: self.mailbox.obstacle(code_of(status)), is_wardens_doing, is_interrupted })
    }
}

/// The command as messages show it.
pub fn shown(program: &OsString) -> String {
    format!("`{}`", program.to_string_lossy())
}
