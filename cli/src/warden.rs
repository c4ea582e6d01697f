//! A small process that ends the command when `redlatch` cannot: because it stands still (`kill -STOP`), or because it has died. It leads
//! the process group of the command, so that the group cannot become another one's, and so that it needs no more than its own group to end.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, PidfdFlags, Signal, kill_current_process_group, pidfd_open, pidfd_send_signal};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

pub const MARK: &str = "--redlatch-warden";
/// The greatest number of a signal.
const SIGNALS: i32 = 64;

/// The warden of one command, as `redlatch` has it.
pub struct Warden {
    process: Child,
    orders: ChildStdin,
    /// It says a word here when it is ready, and another one when it acts.
    words: ChildStdout,
    until: Option<Duration>,
}

impl Warden {
    /// Starts the process and returns when no signal to its group ends it any more.
    pub fn start() -> io::Result<Self> {
        let mut process = itself()
            .arg(MARK)
            .env_remove("REDLATCH_URL")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let orders = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut words = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        words.read_exact(&mut [0])?;
        // A stopped warden reads no orders, and this process must not wait for it.
        ioctl_fionbio(&orders, true)?;
        Ok(Warden { process, orders, words, until: None })
    }

    /// The process group that it leads.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Has it end the command at this time of [`crate::clock`], unless another order comes before.
    pub fn until(&mut self, until: Duration) {
        if self.until != Some(until) {
            self.until = Some(until);
            self.order(&format!("until {}", until.as_nanos()));
        }
    }

    /// Tells it the command's process, which may leave the group.
    pub fn command(&mut self, pid: Pid) {
        self.order(&format!("command {}", pid.as_raw_pid()));
    }

    fn order(&mut self, order: &str) {
        // Without a warden this process does what it can.
        let _ = self.orders.write_all(format!("{order}\n").as_bytes());
    }

    /// Ends it. From now on its group's number may belong to others. True: it has ended the command.
    pub fn end(mut self) -> bool {
        let _ = self.process.kill();
        let _ = self.process.wait();
        matches!(self.words.read(&mut [0]), Ok(1))
    }
}

/// This program, even if its file has been replaced.
pub fn itself() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("redlatch");
    command
}

/// The process itself.
pub fn main() -> ExitCode {
    // `killall redlatch` ends the one that can be asked, and not this one.
    let _ = rustix::thread::set_name(c"redlatch-warden");
    // A signal to the group is for the command. A handler is all that it takes.
    let heard = Arc::<AtomicBool>::default();
    (1..=SIGNALS)
        .filter(|number| !signal_hook::consts::FORBIDDEN.contains(number))
        .for_each(|number| drop(signal_hook::flag::register(number, heard.clone())));
    if say().is_err() {
        return ExitCode::FAILURE;
    }
    let command = watch();
    // The parent may be gone.
    let _ = say();
    // All that is left of the orders is to carry them out.
    if let Some(command) = command {
        let _ = pidfd_send_signal(command, Signal::KILL);
    }
    let _ = kill_current_process_group(Signal::KILL);
    ExitCode::FAILURE
}

/// Says a word to `redlatch`.
fn say() -> io::Result<()> {
    io::stdout().write_all(b"!")?;
    io::stdout().flush()
}

/// Returns when the command must end, with its process if it is known.
fn watch() -> Option<OwnedFd> {
    let mut command = None;
    let Ok(timer) = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC) else { return command };
    let mut heard = Vec::new();
    loop {
        let stdin = io::stdin();
        let mut events = [PollFd::from_borrowed_fd(timer.as_fd(), PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut events, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return command,
        }
        let [rang, spoke] = events.map(|event| !event.revents().is_empty());
        // An order that lets the command live may have come while this process stood still.
        if spoke {
            let mut bytes = [0; 512];
            match rustix::io::read(&stdin, &mut bytes) {
                Ok(count @ 1..) => heard.extend_from_slice(&bytes[..count]),
                Err(Errno::INTR) => continue,
                _ => return command,
            }
            while let Some(end) = heard.iter().position(|byte| *byte == b'\n') {
                let order: Vec<u8> = heard.drain(..=end).collect();
                match order_of(&order) {
                    Some(Order::Until(time)) if set(&timer, time) => {}
                    Some(Order::Command(pid)) => command = pidfd_open(pid, PidfdFlags::empty()).ok(),
                    _ => return command,
                }
            }
        } else if rang {
            return command;
        }
    }
}

enum Order {
    Until(Duration),
    Command(Pid),
}

fn order_of(line: &[u8]) -> Option<Order> {
    match std::str::from_utf8(line).ok()?.trim_end().split_once(' ')? {
        ("until", nanos) => nanos.parse().ok().map(Duration::from_nanos).map(Order::Until),
        ("command", pid) => pid.parse().ok().and_then(Pid::from_raw).map(Order::Command),
        _ => None,
    }
}

/// Has the timer ring at this time; false: the system refused that.
fn set(timer: &OwnedFd, time: Duration) -> bool {
    let never = Timespec { tv_sec: 0, tv_nsec: 0 };
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    let once = Itimerspec { it_interval: never, it_value: time };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once).is_ok()
}
