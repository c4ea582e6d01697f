//! The builder of a lock in Rust, asynchronous or blocking.

use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use tracing::Instrument;

use crate::api::debug;
use crate::api::guard::{BlockingGuard, Guard};
use crate::api::spans;
use crate::base::blocking;
use crate::client::Client;
use crate::client::group::{Member, Rule};
use crate::request::error::{Error, IN_QUARANTINE, Result};
use crate::request::{Answer, OWN_OWNERS, Op, Request};

static OWNERS: AtomicI64 = AtomicI64::new(OWN_OWNERS);

/// An owner number that no other caller has.
pub(crate) fn fresh_owner() -> i64 {
    OWNERS.fetch_add(1, Relaxed)
}

/// A lock, and how to acquire it.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let lock = client.lock("orders:42").wait(Duration::from_secs(5)).lease(Duration::from_secs(60));
/// match lock.clone().try_acquire().await? {
///     Some(guard) => guard.release().await?,
///     None => println!("taken for {:?} more", lock.remaining().await?),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a lock is not acquired before `acquire`"]
pub struct LockBuilder {
    client: Client,
    request: Request,
    owner: Option<i64>,
    /// The error that every operation gives: there is no such lock.
    broken: Option<Error>,
}

impl LockBuilder {
    pub(crate) fn new(client: &Client, kind: &'static str, name: &str) -> Self {
        let request = Request::new(Op::Acquire, kind, name, 0);
        LockBuilder { client: client.clone(), request: Request { wait: None, ..request }, owner: None, broken: None }
    }

    /// The lock that several locks make, of `client` and of others.
    pub(crate) fn group(client: &Client, rule: Rule, locks: impl IntoIterator<Item = LockBuilder>) -> Self {
        let member = |lock: LockBuilder| match lock.broken {
            Some(error) => Err(error),
            None => {
                lock.check_member()?;
                Ok(Member { client: lock.client, kind: lock.request.kind, name: lock.request.name })
            }
        };
        let group =
            locks.into_iter().map(member).collect::<Result<_>>().and_then(|members| Client::group(rule, members));
        match group {
            Ok(group) => LockBuilder::new(&group, "plain", &group.group_name()),
            Err(error) => LockBuilder::broken(client, error),
        }
    }

    /// Refuses a lock with settings of its own as one of several: nothing would heed them.
    fn check_member(&self) -> Result<()> {
        let Request { name, wait, lease, numbers, .. } = &self.request;
        let settings = [("wait", wait.is_some()), ("lease", lease.is_some()), ("owner", self.owner.is_some())];
        let refused = |setting, remedy| {
            Error::config(format!("`{name}` is one of several locks and has {setting} of its own; {remedy}"))
        };
        match settings.into_iter().find(|(_, is_set)| *is_set) {
            Some((setting, _)) => Err(refused(
                format!("a {setting}"),
                format!("set it on the lock that they make: multi_lock([…]).{setting}(…)"),
            )),
            None if !numbers.is_empty() => {
                Err(refused("a backoff".into(), "leave it out, the lock that they make does not use it".into()))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn broken(client: &Client, error: Error) -> Self {
        LockBuilder { broken: Some(error), ..LockBuilder::new(client, "plain", "") }
    }

    /// Waits at most this long. Default: waits without end, as long as the server answers. Once the server has failed for
    /// [`crate::Config::retry_for`], an acquire without a limit ends with `Unavailable`.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.request.wait = Some(wait);
        self
    }

    /// Limits the hold to this time, from 1 ms to 100 years; the watchdog does not renew it. Default: the watchdog renews
    /// the hold until its release.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.request.lease = Some(lease);
        self
    }

    /// Acquires for this owner, which may hold a reentrant lock several times. The number is below 2⁴⁰. Default: each
    /// acquire is an owner of its own.
    pub fn owner(mut self, owner: u64) -> Self {
        self.owner = Some(i64::try_from(owner).unwrap_or(i64::MAX));
        self
    }

    /// Sets the pauses between tries, in whole milliseconds; less than one counts as one. A waiter uses them in order and
    /// repeats the last one; each is up to a quarter shorter, at random. Only waiters that poll use them, as those of
    /// [`Client::spin_lock`]; other kinds hear of a release and ignore them.
    pub fn backoff(mut self, delays: &[Duration]) -> Self {
        self.request.numbers =
            delays.iter().map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX).max(1)).collect();
        self
    }

    /// Acquires the lock; waits for it as long as [`LockBuilder::wait`] says.
    ///
    /// # Errors
    /// - `NotAcquired`: the wait has ended and the lock is taken. Its server said so, or this client itself has a hold
    ///   of it.
    /// - `Unavailable`: the server said nothing of that kind during the wait. Or it named a lease that was over at the
    ///   end of the wait, and has not answered since. Without a wait, or within a long one: the server has failed for
    ///   [`crate::Config::retry_for`].
    /// - `AlreadyHeld`: the owner has the lock, and the lock is not reentrant.
    /// - `NotSynced`: the replicas did not confirm the lock as the client's [`crate::SyncPolicy`] demands.
    /// - `Refused`, `Config`, `Closed`: see `Error`.
    ///
    /// # Cancellation
    /// Dropping the future leaves no lock held, and gives up its place in the line. Each new acquire begins at the end.
    pub async fn acquire(self) -> Result<Guard> {
        let asked = self.clone();
        self.try_acquire_for_wait().await?.ok_or_else(|| asked.not_acquired())
    }

    /// Acquires the lock within [`LockBuilder::wait`], or in a single try without it. Gives `None` where
    /// [`LockBuilder::acquire`] fails with `NotAcquired`; other errors are the same. Give the guard a name, as in
    /// `if let Some(guard) = …`: the compiler does not warn of a result that nothing uses, and `.is_some()` releases the
    /// lock at once, see [`Guard`].
    ///
    /// # Cancellation
    /// As [`LockBuilder::acquire`].
    pub async fn try_acquire(mut self) -> Result<Option<Guard>> {
        self.request.wait.get_or_insert(Duration::ZERO);
        self.try_acquire_for_wait().await
    }

    /// Takes the lock away from its holder; true: there was one.
    ///
    /// # Cancellation
    /// The call goes on to its end without its future.
    pub async fn force_release(self) -> Result<bool> {
        self.told(Op::ForceRelease, was_held).await
    }

    /// Tells whether an owner holds the lock.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    pub async fn is_locked(self) -> Result<bool> {
        self.told(Op::Inspect, is_held).await
    }

    /// The time after which the lock is free, if its holder neither renews nor releases it; `None`: the lock is free,
    /// or has no end.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    pub async fn remaining(self) -> Result<Option<Duration>> {
        self.told(Op::Inspect, time_left).await
    }

    /// The number of holds that [`LockBuilder::owner`] has. Without an owner it is always 0: the call is then an owner of
    /// its own.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    pub async fn hold_count(self) -> Result<u32> {
        self.told(Op::Inspect, holds).await
    }

    /// The same operations for code without a runtime.
    pub fn blocking(self) -> Blocking {
        Blocking(self)
    }

    async fn try_acquire_for_wait(self) -> Result<Option<Guard>> {
        let request = self.ask(Op::Acquire)?;
        let span = spans::acquire(&self.client, &request);
        let answer = self.client.run(request.clone()).instrument(span).await?;
        Ok(answer.done.then(|| Guard::new(self.client, request, &answer)))
    }

    async fn told<T>(self, op: Op, read: fn(&Answer) -> T) -> Result<T> {
        Ok(read(&self.client.run(self.ask(op)?).await?))
    }

    fn ask(&self, op: Op) -> Result<Request> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let owner = match (self.owner, op) {
            (Some(owner), _) if owner >= OWN_OWNERS => {
                return Err(Error::config(format!(
                    "the owner {owner} of `{}` is too large; use a number below 2^40",
                    self.request.name
                )));
            }
            (Some(owner), _) => owner,
            (None, _) => fresh_owner(),
        };
        Ok(Request { op, owner, ..self.request.clone() })
    }

    fn show(&self, f: &mut Formatter<'_>, of: &str) -> std::fmt::Result {
        let mut shown = debug::object(f, of, &self.client, &self.request);
        debug::times(&mut shown, &self.request);
        if let Some(owner) = self.owner {
            shown.field("owner", &owner);
        }
        if let Some(error) = &self.broken {
            shown.field("error", error);
        }
        shown.finish()
    }

    fn not_acquired(&self) -> Error {
        not_acquired(&self.client, &self.request, "another owner holds it; wait longer or try later")
    }
}

impl Debug for LockBuilder {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.show(f, "LockBuilder")
    }
}

/// [`LockBuilder`] without a runtime.
///
/// ```no_run
/// # fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// if let Some(guard) = client.lock("orders:42").blocking().try_acquire()? {
///     guard.release()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// Every method panics on a thread that drives a tokio runtime, as tokio's own blocking calls do: the runtime would stand
/// still meanwhile. Await the lock there, or call the method inside `tokio::task::spawn_blocking`. A panic hook is called
/// twice, first with tokio's own sentence: tokio answers the question about the thread only in this way.
#[must_use = "a lock is not acquired before `acquire`"]
pub struct Blocking(LockBuilder);

impl Debug for Blocking {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Blocking")
    }
}

impl Blocking {
    /// As [`LockBuilder::acquire`].
    #[track_caller]
    pub fn acquire(self) -> Result<BlockingGuard> {
        let asked = self.0.clone();
        self.within_wait()?.ok_or_else(|| asked.not_acquired())
    }

    /// As [`LockBuilder::try_acquire`].
    #[track_caller]
    pub fn try_acquire(mut self) -> Result<Option<BlockingGuard>> {
        self.0.request.wait.get_or_insert(Duration::ZERO);
        self.within_wait()
    }

    /// As [`LockBuilder::force_release`].
    #[track_caller]
    pub fn force_release(self) -> Result<bool> {
        self.told(Op::ForceRelease, was_held)
    }

    /// As [`LockBuilder::is_locked`].
    #[track_caller]
    pub fn is_locked(self) -> Result<bool> {
        self.told(Op::Inspect, is_held)
    }

    /// As [`LockBuilder::remaining`].
    #[track_caller]
    pub fn remaining(self) -> Result<Option<Duration>> {
        self.told(Op::Inspect, time_left)
    }

    /// As [`LockBuilder::hold_count`].
    #[track_caller]
    pub fn hold_count(self) -> Result<u32> {
        self.told(Op::Inspect, holds)
    }

    #[track_caller]
    fn told<T>(self, op: Op, read: fn(&Answer) -> T) -> Result<T> {
        self.check();
        Ok(read(&self.0.client.run_blocking(self.0.ask(op)?)?))
    }

    #[track_caller]
    fn within_wait(self) -> Result<Option<BlockingGuard>> {
        self.check();
        let request = self.0.ask(Op::Acquire)?;
        let acquire = || self.0.client.run_blocking(request.clone());
        let answer = spans::acquire(&self.0.client, &request).in_scope(acquire)?;
        Ok(answer.done.then(|| BlockingGuard(Guard::new(self.0.client, request, &answer))))
    }

    #[track_caller]
    fn check(&self) {
        blocking::check(|| format!("`{}`", self.0.request.name));
    }
}

/// The error of an acquire whose wait has ended. `because` is the reason, unless the server is in quarantine.
pub(crate) fn not_acquired(client: &Client, request: &Request, because: &'static str) -> Error {
    let because = match client.is_held_back(&request.name) {
        true => IN_QUARANTINE,
        false => because,
    };
    Error::NotAcquired { lock: request.name.to_string(), waited: request.wait.unwrap_or(Duration::MAX), because }
}

/// Reads the answer to [`Op::ForceRelease`].
fn was_held(answer: &Answer) -> bool {
    answer.number == 1
}

// The next three read the answer to [`Op::Inspect`].

fn is_held(answer: &Answer) -> bool {
    answer.number != -2
}

fn time_left(answer: &Answer) -> Option<Duration> {
    u64::try_from(answer.number).ok().map(Duration::from_millis)
}

fn holds(answer: &Answer) -> u32 {
    answer.items.first().copied().unwrap_or_default() as u32
}
