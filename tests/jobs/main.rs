//! Jobs of several processes: each period runs once, whatever their clocks say, and a run that has lost its lock says so.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use redlatch::{Client, Job};
use redlatch_tests::{Process, Server, secs, soon};

mod clocks;
mod counts;
mod ends;
mod losses;
mod timers;

const KEY: &str = "job-lock:default:n";
const WORKER: &str = env!("CARGO_BIN_EXE_redlatch-worker");

/// A client whose connections are open, to a server that knows the scripts of jobs.
fn connect(url: &str) -> Client {
    let client = Client::connect(url).expect("the URL is good");
    let warm = client.job("warm", secs(60));
    assert!(warm.run_blocking(|_| ()).expect("it answers").ran().is_some());
    assert!(soon(warm.run(async {})).expect("it answers").ran().is_some());
    client
}

/// A process that has the job `n`.
fn node(server: &Server, at_most: Duration, at_least: Duration, notes: &Notes) -> Process {
    let mut node = Process::start(WORKER, &[server.url()]);
    let words = format!("job n {} {} {}", at_most.as_millis(), at_least.as_millis(), notes.path().display());
    assert_eq!(node.ask(&words), "ok");
    node
}

/// The runs, skipped runs and lost runs of this client.
fn stats(job: &Job) -> [u64; 3] {
    let stats = job.stats();
    [stats.ran, stats.skipped, stats.lost]
}

/// The file in which the nodes note the beginning and the end of their work. Its drop removes it.
struct Notes(PathBuf);

impl Notes {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("redlatch-{}-notes-{count}", std::process::id()));
        std::fs::write(&path, "").unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Notes(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// The periods that were `begun`, or `ended`, in the order of the notes.
    fn periods(&self, what: &str) -> Vec<u64> {
        let notes = std::fs::read_to_string(&self.0).expect("it is ours");
        let of = |line: &str| line.strip_prefix(what)?.trim().parse().ok();
        notes.lines().filter_map(of).collect()
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
