//! A process of the project that a test commands line by line, and that the test stops, continues and kills as the
//! system would.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::guarded::Guarded;
use crate::{PATIENCE, oracle, ports};

/// A running program that was given `--control <port>`. Dropping it kills it as `kill -9` does.
pub struct Process {
    guarded: Guarded,
    dir: PathBuf,
    lines: BufReader<TcpStream>,
}

impl Process {
    /// Starts `program` and returns once it has called back.
    ///
    /// # Panics
    /// When it does not call back, with its output.
    pub fn start(program: &str, args: &[String]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-{}-process-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let listener = ports::listen();
        listener.set_nonblocking(true).expect("it is a socket");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let command =
            [&oracle::words()[..], &[program.to_owned()], args, &["--control".to_owned(), port.to_string()]].concat();
        let guarded = Guarded::start(&dir, &command);
        let stream = crate::eventually(&format!("a call from {program}"), || {
            assert!(!guarded.ended(), "{program} ended: {}", log_in(&dir));
            listener.accept().ok()
        });
        stream
            .0
            .set_nonblocking(false)
            .and_then(|()| stream.0.set_read_timeout(Some(PATIENCE)))
            .expect("it is a socket");
        let _ = stream.0.set_nodelay(true);
        Process { guarded, dir, lines: BufReader::new(stream.0) }
    }

    /// Sends a line and returns the process's next line.
    pub fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.hear()
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.lines.get_mut(), "{line}").unwrap_or_else(|e| panic!("{line}: {e}; it said {}", self.log()));
    }

    /// The process's next line.
    ///
    /// # Panics
    /// When none comes within [`PATIENCE`].
    pub fn hear(&mut self) -> String {
        self.try_hear().unwrap_or_else(|e| panic!("no answer: {e}; it said {}", self.log()))
    }

    /// The process's next line, or why there is none.
    pub fn try_hear(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Sends a signal by name; `STOP` and `CONT` show when this returns.
    pub fn signal(&self, name: &str) {
        self.guarded.signal(name);
    }

    pub fn ended(&self) -> bool {
        self.guarded.ended()
    }

    /// The process's output so far.
    pub fn log(&self) -> String {
        log_in(&self.dir)
    }

    pub fn pid(&self) -> u32 {
        self.guarded.pid
    }

    /// How many threads and how many descriptors the process has.
    pub fn possessions(&self) -> (usize, usize) {
        let count = |of| std::fs::read_dir(format!("/proc/{}/{of}", self.pid())).expect("it runs").count();
        (count("task"), count("fd"))
    }

    /// Leaves the process room for so many more descriptors; `None`: the limit that it started with.
    pub fn limit_descriptors(&self, more: Option<u64>) {
        let is_open = |number: &u64| std::fs::symlink_metadata(format!("/proc/{}/fd/{number}", self.pid())).is_ok();
        let free =
            |count: u64| (0..).filter(|number| !is_open(number)).nth(count as usize).expect("numbers have no end");
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).expect("it has a number");
        let maximum = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        let current = more.map(free).or(maximum);
        let limit = rustix::process::Rlimit { current, maximum };
        rustix::process::prlimit(Some(pid), rustix::process::Resource::Nofile, limit)
            .expect("it is a child of this process");
    }

    /// Leaves the process so many more bytes of addresses: a small number is too few for the stack of a thread; `None`:
    /// no limit. Unlike a limit of threads, this limit holds for root as well.
    pub fn limit_addresses(&self, more: Option<u64>) {
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).expect("it has a number");
        let current = more.map(|more| self.status("VmSize:") + more);
        let limit = rustix::process::Rlimit { current, maximum: None };
        rustix::process::prlimit(Some(pid), rustix::process::Resource::As, limit)
            .expect("it is a child of this process");
    }

    /// How many bytes of memory the process has.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most bytes of memory that the process ever had.
    pub fn most_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// A number of bytes in the system's status of the process.
    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("it says so");
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number of kB")
    }
}

fn log_in(dir: &std::path::Path) -> String {
    std::fs::read_to_string(dir.join("log")).unwrap_or_default()
}

/// The test's commands, as the commanded process sees them.
pub struct Control {
    lines: BufReader<TcpStream>,
}

impl Control {
    /// Connects to the test that started this process.
    pub fn connect(port: u16) -> std::io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        let _ = stream.set_nodelay(true);
        Ok(Control { lines: BufReader::new(stream) })
    }

    /// The next command; `None`: there will be no more.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(1..) => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    pub fn answer(&mut self, line: &str) {
        // The test is gone: no next command will come either.
        let _ = writeln!(self.lines.get_mut(), "{line}");
    }
}
