//! A job of this process, which is one node of several. Its work notes each period that it begins and ends.

use std::fs::File;
use std::future::pending;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use redlatch::{Client, Job, JobRun, JobStats, Result};
use redlatch_tests::clock;
use redlatch_tests::process::Control;

pub struct Node {
    job: Job,
    /// A file to which all nodes append.
    notes: File,
}

/// The times at which a node runs its job by itself: those of its own clock.
pub struct Timer {
    /// The time of period 0, as [`clock::now`] says it.
    pub origin: u64,
    pub period: Duration,
    /// How far the node's clock is behind.
    pub behind: Duration,
    pub first: u64,
    pub end: u64,
    /// The period in whose middle the node is to be killed.
    pub deadly: u64,
}

impl Node {
    pub fn new(client: &Client, name: &str, at_most: Duration, at_least: Duration, notes: &str) -> Self {
        let notes = File::options().append(true).open(notes).expect("the test has made it");
        Node { job: client.job(name, at_most).at_least(at_least), notes }
    }

    /// Runs a period.
    pub fn run(&self, period: &str) -> String {
        said(self.job.run_blocking(|_| {
            self.note("begun", period);
            self.note("ended", period);
        }))
    }

    /// Runs a period whose work lasts until the next command.
    pub fn begin(&self, period: &str, control: &mut Control) -> String {
        said(self.job.run_blocking(|_| {
            self.note("begun", period);
            control.answer("begun");
            control.hear();
            self.note("ended", period);
        }))
    }

    /// Runs a period in a task whose work ends only with a loss.
    pub fn wait(&self, period: &str, control: &mut Control) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        said(runtime.block_on(self.job.run(async {
            self.note("begun", period);
            control.answer("begun");
            pending::<()>().await;
        })))
    }

    /// Runs periods by the node's own clock, and answers a line for each: the times of its call, of the beginning of its work
    /// (0: it was not begun) and of its end, and the outcome.
    pub fn tick(&self, timer: &Timer, control: &mut Control) {
        for period in timer.first..timer.end {
            let due = timer.origin + clock::ns(timer.behind) + period * clock::ns(timer.period);
            sleep(Duration::from_nanos(due.saturating_sub(clock::now())));
            let called = clock::now();
            let mut begun = 0;
            let outcome = said(self.job.run_blocking(|_| {
                begun = clock::now();
                self.note("begun", &period.to_string());
                if period == timer.deadly {
                    control.answer(&format!("{called} {begun} 0 dying"));
                    control.hear();
                }
                self.note("ended", &period.to_string());
            }));
            control.answer(&format!("{called} {begun} {} {outcome}", clock::now()));
        }
    }

    /// The counts of the answers `ran`, `skipped` and `lost`.
    pub fn stats(&self) -> String {
        let JobStats { ran, skipped, lost, .. } = self.job.stats();
        format!("{ran} {skipped} {lost}")
    }

    fn note(&self, what: &str, period: &str) {
        // One write: so the lines of several nodes do not mix.
        (&self.notes).write_all(format!("{what} {period}\n").as_bytes()).expect("the disk has room");
    }
}

fn said(ran: Result<JobRun<()>>) -> String {
    match ran {
        Ok(JobRun::Ran(())) => "ran".to_owned(),
        Ok(JobRun::Skipped) => "skipped".to_owned(),
        Ok(JobRun::Lost(loss)) => format!("lost {}", loss.reason.name()),
        Err(error) => format!("{} {error}", error.code()),
    }
}
