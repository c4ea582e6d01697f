//! A job that runs once a period among all nodes.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::api::guard::Guard;
use crate::api::lock::LockBuilder;
use crate::base::blocking;
use crate::client::Client;
use crate::client::hold::Hold;
use crate::request::Look;
use crate::request::error::{Error, Loss, Result};

/// The shortest `at_most`: a shorter one would be over before the client believed in the lock.
const SHORTEST: Duration = Duration::from_millis(100);
/// The environment of jobs that name none.
const ENV: &str = "default";

impl Client {
    /// The job of this name: of all nodes that run it at about the same time, one does. `at_most` is the time for which the server
    /// keeps the lock of a node that dies in the middle, 100 ms or more; while a node lives, it renews the lock, so the work may take longer.
    pub fn job(&self, name: &str, at_most: Duration) -> Job {
        let counts = Arc::default();
        Job { client: self.clone(), name: name.into(), env: ENV.into(), at_most, at_least: Duration::ZERO, counts }
    }
}

/// Work that a timer starts on every node, and that one of them does.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn send_report() {}
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// use redlatch::JobRun;
///
/// // Every node calls this at the full minute. The nodes' clocks may be 50 s apart.
/// let report = client.job("report", Duration::from_secs(600)).at_least(Duration::from_secs(50));
/// match report.run(send_report()).await? {
///     JobRun::Ran(()) => println!("sent"),
///     JobRun::Skipped => println!("another node has sent it"),
///     JobRun::Lost(loss) => eprintln!("stopped half-way: {loss}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// It needs a Redis. Its lock is the token lock `job-lock:<env>:<name>`, as the Redis providers of ShedLock write it, and the two exclude each
/// other. ShedLock without its `safeUpdate` may delete the key of another node; the run hears of that as a loss.
#[derive(Clone)]
#[must_use = "a job does not run before `run`"]
pub struct Job {
    client: Client,
    name: Arc<str>,
    env: Arc<str>,
    at_most: Duration,
    at_least: Duration,
    /// Clones count together.
    counts: Arc<Counts>,
}

/// The end of one call of [`Job::run`].
#[derive(Clone, Debug)]
pub enum JobRun<T> {
    /// The work ran, and this node had the lock until its end.
    Ran(T),
    /// Another node runs the job, or ran it less than [`Job::at_least`] ago. The work was not begun.
    Skipped,
    /// This node lost the lock in the middle; another one may have begun the job.
    Lost(Box<Loss>),
}

impl<T> JobRun<T> {
    /// The output of the work, if this node had the lock until its end.
    pub fn ran(self) -> Option<T> {
        match self {
            JobRun::Ran(output) => Some(output),
            JobRun::Skipped | JobRun::Lost(_) => None,
        }
    }

    /// Whether another node runs the job, or ran it less than [`Job::at_least`] ago.
    pub fn is_skipped(&self) -> bool {
        matches!(self, JobRun::Skipped)
    }
}

/// The answers of a job and its clones so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobStats {
    /// The runs of the work, also of work that was dropped or has panicked.
    pub ran: u64,
    /// The runs that another node had.
    pub skipped: u64,
    /// The runs that lost the lock.
    pub lost: u64,
}

#[derive(Default)]
struct Counts {
    ran: AtomicU64,
    skipped: AtomicU64,
    lost: AtomicU64,
}

impl Job {
    /// Keeps the lock for this time, counted from the beginning of the run, even if the work ends before: nodes whose clocks are apart
    /// by less do not run the job twice. It is no longer than `at_most`. Default: zero.
    pub fn at_least(self, at_least: Duration) -> Self {
        Job { at_least, ..self }
    }

    /// Sets the environment: jobs of one name in two environments do not exclude each other. Default: `default`, as ShedLock's.
    pub fn env(self, env: &str) -> Self {
        Job { env: env.into(), ..self }
    }

    /// The name of the job.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The answers so far of this job and its clones.
    pub fn stats(&self) -> JobStats {
        let Counts { ran, skipped, lost } = &*self.counts;
        JobStats { ran: ran.load(Relaxed), skipped: skipped.load(Relaxed), lost: lost.load(Relaxed) }
    }

    /// Runs `work` if no other node does, and drops it at a loss. It never waits for another node.
    ///
    /// # Errors
    /// `Config` if `at_least` is longer than `at_most`, `at_most` is below 100 ms, or the name or the environment is empty; `Unsupported` if the server is no Redis;
    /// those of [`LockBuilder::try_acquire`]. A server that cannot be asked at the end of the run is no error: the client logs a
    /// warning, goes on to free the lock, and the key ends after `at_most` at the latest.
    ///
    /// # Cancellation
    /// Dropping the future drops the work. The lock stays for what is missing of `at_least`; closing the client ends it earlier.
    pub async fn run<F: Future>(&self, work: F) -> Result<JobRun<F::Output>> {
        // Both futures would have room for the work otherwise.
        let work = Box::pin(work);
        let Some(guard) = self.lock()?.try_acquire().await? else { return Ok(self.skipped()) };
        if let Err(error) = guard.hold().renew().await {
            return self.not_begun(error);
        }
        let mut run = Run { guard: Some(guard), job: self, is_lost: false, is_counted: false };
        let output = run.guard().run(work).await;
        let ended = run.take().let_go(self.at_least).await;
        run.answer(output, ended)
    }

    /// As [`Job::run`], without a runtime. The work gets the hold of the lock, of which [`Guard::ensure`] and [`Guard::on_lost`] tell a
    /// loss: it runs to its end.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`].
    #[track_caller]
    pub fn run_blocking<T>(&self, work: impl FnOnce(&Guard) -> T) -> Result<JobRun<T>> {
        blocking::check(|| format!("`{}`", self.name));
        let Some(guard) = self.lock()?.blocking().try_acquire()? else { return Ok(self.skipped()) };
        if let Err(error) = guard.hold().renew_blocking() {
            return self.not_begun(error);
        }
        let mut run = Run { guard: Some(guard.0), job: self, is_lost: false, is_counted: false };
        let output = work(run.guard());
        let kept = run.guard().ensure();
        let ended = run.take().let_go_blocking(self.at_least);
        run.answer(kept.map(|()| output), ended)
    }

    fn lock(&self) -> Result<LockBuilder> {
        let Job { name, env, at_most, at_least, .. } = self;
        if name.is_empty() || env.is_empty() {
            let what = if name.is_empty() { "name" } else { "environment" };
            return Err(Error::config(format!("the {what} of the job `{name}` is empty; give it a text")));
        }
        if *at_most < SHORTEST {
            return Err(Error::config(format!(
                "the job `{name}` is to keep its lock for at most {at_most:?} after the death of its node; give {SHORTEST:?} or more"
            )));
        }
        if at_least > at_most {
            return Err(Error::config(format!(
                "the job `{name}` is to keep its lock for at least {at_least:?} and at most {at_most:?}; let `at_least` be no longer than `at_most`"
            )));
        }
        Ok(self.client.token_lock(&format!("job-lock:{env}:{name}")).lease(*at_most))
    }

    fn skipped<T>(&self) -> JobRun<T> {
        self.counts.skipped.fetch_add(1, Relaxed);
        JobRun::Skipped
    }

    fn lost<T>(&self, loss: Box<Loss>) -> JobRun<T> {
        self.counts.lost.fetch_add(1, Relaxed);
        JobRun::Lost(loss)
    }

    /// The answer of a run whose lock is not renewed.
    fn not_begun<T>(&self, error: Error) -> Result<JobRun<T>> {
        match error {
            Error::Lost(loss) => Ok(self.lost(loss)),
            error => Err(error),
        }
    }
}

impl Debug for Job {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Job { client, name, env, at_most, at_least, counts: _ } = self;
        f.debug_struct("Job")
            .field("name", name)
            .field("env", env)
            .field("at_most", at_most)
            .field("at_least", at_least)
            .field("client", client)
            .finish()
    }
}

/// A run in progress. Its drop counts it, and lets the lock go: the work was dropped, or has panicked.
struct Run<'a> {
    /// `None`: its end has begun.
    guard: Option<Guard>,
    job: &'a Job,
    /// Whether the lock was lost before the end began.
    is_lost: bool,
    is_counted: bool,
}

impl Run<'_> {
    fn guard(&self) -> &Guard {
        self.guard.as_ref().expect("its end has not begun")
    }

    fn take(&mut self) -> Hold {
        self.is_lost = self.has_lost();
        self.guard.take().expect("a run ends once").into_hold()
    }

    fn has_lost(&self) -> bool {
        self.is_lost || self.guard.as_ref().is_some_and(|guard| matches!(guard.hold().look(), Look::Lost(_)))
    }

    /// The answer from the outcome of the work and that of the end, which is a loss or of no interest: the node had the lock while it
    /// worked.
    fn answer<T>(mut self, output: Result<T>, ended: Result<()>) -> Result<JobRun<T>> {
        self.is_counted = true;
        match (output, ended) {
            (Err(Error::Lost(loss)), _) | (_, Err(Error::Lost(loss))) => Ok(self.job.lost(loss)),
            (output, _) => {
                self.job.counts.ran.fetch_add(1, Relaxed);
                output.map(JobRun::Ran)
            }
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let Job { counts, at_least, .. } = self.job;
        if !self.is_counted {
            if self.has_lost() { &counts.lost } else { &counts.ran }.fetch_add(1, Relaxed);
        }
        if let Some(guard) = self.guard.take() {
            guard.into_hold().let_go_soon(*at_least);
        }
    }
}
