//! A child process that never outlives this one, not even when this one is killed. A shell stands between the two: when
//! our end of its standard input closes, it kills the child and removes the child's folder.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const GUARD: &str =
    r#"dir=$1; shift; "$@" </dev/null >"$dir/log" 2>&1 & echo $!; read _; kill -9 $!; wait $!; rm -rf "$dir""#;

/// A guarded process. Dropping it kills the process and waits for its end.
pub struct Guarded {
    guard: Child,
    pub pid: u32,
}

impl Guarded {
    /// Starts `command` (program first) with its output in `dir/log`.
    pub fn start(dir: &Path, command: &[String]) -> Self {
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(dir)
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let mut pid = String::new();
        BufReader::new(guard.stdout.take().expect("it is piped")).read_line(&mut pid).expect("the shell tells the pid");
        Guarded { guard, pid: pid.trim().parse().expect("the pid is a number") }
    }

    /// Whether the process has ended by itself.
    pub fn ended(&self) -> bool {
        matches!(self.state(), None | Some('Z'))
    }

    /// Sends a signal by name (`STOP`, `CONT`, `TERM`), and returns once a stop or a continuation shows.
    pub fn signal(&self, name: &str) {
        // The `kill` of the shell: a small Debian has no program of that name.
        let sent =
            Command::new("sh").args(["-c", &format!("kill -{name} {}", self.pid)]).status().expect("a shell runs");
        assert!(sent.success(), "no process {} to send {name}", self.pid);
        crate::eventually(&format!("process {} after {name}", self.pid), || match name {
            "STOP" => (self.state() == Some('T')).then_some(()),
            "CONT" => (self.state() != Some('T')).then_some(()),
            _ => Some(()),
        });
    }

    /// How long the first thread of the process had a processor; a Redis carries out its commands there.
    pub fn processor_time(&self) -> Duration {
        let times = std::fs::read_to_string(format!("/proc/{}/schedstat", self.pid)).expect("it runs");
        Duration::from_nanos(times.split(' ').next().and_then(|time| time.parse().ok()).expect("a number of ns"))
    }

    fn state(&self) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        stat[stat.rfind(')')? + 1..].trim_start().chars().next()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
