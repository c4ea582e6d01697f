//! A `redlatch run` as a test has it, and a folder for what its command writes.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use redlatch_tests::{Server, eventually};
use rustix::process::{Pid, Signal, kill_process};

/// The script of a command that writes its number and goes on until it is ended.
pub const STAYS: &str = "echo $$ > $DIR/pid; exec sleep 60";

/// `redlatch run`, with this server and nothing else of the test's environment that matters.
pub fn redlatch(url: &str) -> Command {
    subcommand("run", url)
}

/// The same for another subcommand.
pub fn subcommand(word: &str, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redlatch"));
    command.arg(word).env("REDLATCH_URL", url).env_remove("REDIS_URL").stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(url: &str, words: &[&str]) -> Ended {
    Ended::of(redlatch(url).args(words).output().expect("it starts"))
}

/// Deletes the lock `n`, as an administrator does.
pub fn delete(server: &Server) {
    server.view().command::<()>(&["DEL", "n"]);
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub told: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended { code: code_of(output.status), out: text(output.stdout), told: text(output.stderr) }
    }
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| panic!("redlatch itself was ended: {status}"))
}

/// A run that goes on. Dropping it kills it.
pub struct Running {
    child: Child,
    folder: Folder,
}

impl Running {
    /// Starts it. `$DIR` of its command is a folder of its own.
    pub fn start(url: &str, words: &[&str]) -> Self {
        Running::with(redlatch(url).args(words))
    }

    pub fn with(command: &mut Command) -> Self {
        let folder = Folder::new();
        let log = std::fs::File::create(folder.path("log")).expect("the folder is there");
        let child = command.env("DIR", &folder.0).stdout(Stdio::null()).stderr(log).spawn().expect("it starts");
        Running { child, folder }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it was not waited for");
    }

    /// Waits for a line in a file of its folder.
    pub fn line(&self, file: &str) -> String {
        self.folder.line(file)
    }

    pub fn read(&self, file: &str) -> String {
        self.folder.read(file)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path(file)
    }

    /// The number in a file of its folder.
    pub fn number(&self, file: &str) -> i32 {
        self.line(file).parse().unwrap_or_else(|_| panic!("no number in {file}"))
    }

    /// Its words so far.
    pub fn told(&self) -> String {
        self.read("log")
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is a child").is_some()
    }

    /// Waits for its end and gives its exit code.
    pub fn code(&mut self) -> i32 {
        code_of(self.end())
    }

    /// Waits for its end, by whatever.
    pub fn end(&mut self) -> ExitStatus {
        eventually("the end of redlatch", || self.child.try_wait().expect("it is a child"))
    }

    /// Kills it as `kill -9` does.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A folder of a test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("redlatch-{}-run-{count}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder can be made");
        Folder(path)
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_default()
    }

    /// Adds a line to a file, as `>>` does.
    pub fn append(&self, file: &str, line: &str) {
        let opened = std::fs::File::options().append(true).create(true).open(self.path(file));
        opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).expect("the folder is there");
    }

    /// Waits for a whole line in a file, the first one.
    pub fn line(&self, file: &str) -> String {
        eventually(&format!("a line in {file}"), || {
            let text = self.read(file);
            text.split_once('\n').map(|(line, _)| line.to_owned())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The state of a process in `/proc`: `R`, `S`, `T`, …; `None`: it has ended, also if its parent has not waited for it.
pub fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let state = stat[stat.rfind(')')? + 1..].trim_start().chars().next()?;
    (!['Z', 'X'].contains(&state)).then_some(state)
}

pub fn lives(pid: i32) -> bool {
    state(pid).is_some()
}

/// Waits for the end of a process.
pub fn ends(pid: i32) {
    eventually(&format!("the end of the process {pid}"), || (!lives(pid)).then_some(()));
}

/// The processes whose parent this is.
pub fn children(pid: Pid) -> Vec<i32> {
    let pid = pid.as_raw_pid();
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The warden among the children of a `redlatch run`.
pub fn warden(of: &Running) -> i32 {
    eventually("a warden", || {
        children(of.pid()).into_iter().find(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "redlatch-warden")
        })
    })
}
