//! A hold in Rust: a guard that releases.

use std::fmt::{Debug, Formatter};
use std::time::{Duration, Instant};

use crate::api::debug;
use crate::api::on_lost::OnLost;
use crate::api::spans;
use crate::base::blocking;
use crate::client::Client;
use crate::client::hold::Hold;
use crate::request::error::{Error, Loss, Result};
use crate::request::owner::OwnerField;
use crate::request::permit_id::PermitId;
use crate::request::{Answer, Look, Op, Request};

/// A hold of a lock. Dropping the guard releases it too: later, on the I/O thread, and without reporting an error.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let guard = client.lock("orders:42").acquire().await?;
/// let total = guard.run(async { 1 + 1 }).await?; // `Lost` as soon as the lock is lost
/// guard.ensure()?; // before the step that must not happen twice
/// println!("{total}");
/// guard.release().await
/// # }
/// ```
///
/// A guard lasts as long as its name does; without a name its lock is released at once. The compiler warns of one form,
/// an `acquire` as a statement:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// client.lock("orders:42").acquire().await?;
/// # Ok(())
/// # }
/// ```
///
/// It says nothing about the others. None of these has the lock in the line that follows:
///
/// ```no_run
/// # #![deny(unused_must_use)]
/// # async fn example(lock: redlatch::LockBuilder) -> redlatch::Result<()> {
/// let _ = lock.clone().acquire().await?; // `_` is no name; `_guard` is one
/// lock.clone().try_acquire().await?; // nor is an `Option` that nothing uses
/// if lock.try_acquire().await?.is_some() {
///     // The condition has dropped the guard. Write `if let Some(guard) = …`.
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "the lock is released as soon as its guard is dropped; give the guard a name"]
pub struct Guard {
    // A callback must be gone when the release begins: fields are dropped in this order.
    on_lost: OnLost,
    hold: Hold,
    token: Option<i64>,
}

impl Guard {
    pub(crate) fn new(client: Client, request: Request, taken: &Answer) -> Self {
        let token = taken.items.first().copied();
        let mut hold = Hold::new(client, Op::Release, request, taken);
        spans::hold(&mut hold, token);
        Guard { on_lost: OnLost::default(), hold, token }
    }

    /// Runs `work` for as long as the lock is held, and drops it at a loss. `Ok` means that the client held the lock
    /// until the work was done.
    ///
    /// ```no_run
    /// # async fn copy() {}
    /// # async fn example(guard: redlatch::Guard) -> redlatch::Result<()> {
    /// match guard.run(copy()).await {
    ///     Err(redlatch::Error::Lost(loss)) => println!("stopped half-way: {loss}"),
    ///     done => done?,
    /// }
    /// guard.release().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Lost` if the lock is lost before the work begins, during the work, or just when it ends. Work that is not lazy
    /// goes on after the loss: a thread, a spawned task.
    ///
    /// # Cancellation
    /// Dropping the future drops the work. The hold stays.
    pub fn run<F: Future>(&self, work: F) -> impl Future<Output = Result<F::Output>> {
        // A future has all that it is given for as long as it lives, so this one would have room for the work twice.
        let work = Box::pin(work);
        async move {
            self.ensure()?;
            tokio::select! {
                biased;
                end = self.hold.watched() => Err(end.err().unwrap_or_else(|| self.not_held())),
                output = work => self.ensure().map(|()| output),
            }
        }
    }

    /// Checks that the hold has not been lost, without asking the server.
    ///
    /// # Errors
    /// `Lost`, with reason and time line, if the client does not hold the lock any more.
    pub fn ensure(&self) -> Result<()> {
        self.hold.check()?;
        self.hold.look().ensure(|| self.not_held())
    }

    /// Waits until the hold ends. Gives the loss, or `None` after a release. The future does not need the guard, so a
    /// task can wait beside its release:
    ///
    /// ```no_run
    /// # async fn example(guard: redlatch::Guard) -> redlatch::Result<()> {
    /// let lost = guard.lost();
    /// tokio::spawn(async move {
    ///     if let Some(loss) = lost.await {
    ///         eprintln!("{loss}");
    ///     }
    /// });
    /// guard.release().await
    /// # }
    /// ```
    ///
    /// # Cancellation
    /// Dropping the future ends the watch. The hold stays.
    pub fn lost(&self) -> impl Future<Output = Option<Loss>> + Send + 'static + use<> {
        let end = self.hold.watched();
        async move {
            match end.await {
                Err(Error::Lost(loss)) => Some(*loss),
                _ => None,
            }
        }
    }

    /// Calls `callback` once if the lock is lost before its release begins; at once if it is lost already. The callback
    /// runs on a thread of its own, where it may block; if 64 callbacks run already, it waits for one of them. A panic
    /// in it is reported like that of any thread, and ends nothing else. A callback that owns a clone of the client keeps
    /// the client alive for as long as the hold lasts, see [`Guard::keep`].
    ///
    /// ```no_run
    /// # fn example(client: redlatch::Client) -> redlatch::Result<()> {
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    ///
    /// let stop = Arc::new(AtomicBool::new(false));
    /// let guard = client.lock("orders:42").blocking().acquire()?;
    /// guard.on_lost({
    ///     let stop = stop.clone();
    ///     move |loss| {
    ///         eprintln!("{loss}");
    ///         stop.store(true, Relaxed);
    ///     }
    /// });
    /// while !stop.load(Relaxed) {
    ///     // a piece of the work
    /// }
    /// guard.release()
    /// # }
    /// ```
    pub fn on_lost(&self, callback: impl FnOnce(Loss) + Send + 'static) {
        self.on_lost.add(&self.hold, Box::new(callback));
    }

    /// The time until which the client may believe in the hold, as known now; `None`: the hold is lost. The standard
    /// library's clock stands still while the machine is suspended, so ask again after that.
    pub fn deadline(&self) -> Option<Instant> {
        match self.hold.look() {
            Look::Held { remaining } => Some(Instant::now() + remaining),
            _ => None,
        }
    }

    /// Whether another client has asked for the release of this hold; then it is kind to come to an end soon. It is a
    /// request and no more: the hold stays. On ZooKeeper Curator's `Revoker` asks so; clients of other systems cannot.
    /// Sends nothing.
    pub fn is_wanted(&self) -> bool {
        self.hold.is_wanted()
    }

    /// The fencing token: greater than the token of every earlier hold. `None`: this kind of lock has no tokens. It is
    /// signed, as the server's integers and those of databases are, and never negative.
    pub fn token(&self) -> Option<i64> {
        self.token
    }

    /// The number of the owner that holds the lock: that of [`crate::LockBuilder::owner`], else one of the client's own,
    /// from 2⁴⁰ on, which `owner` does not take.
    pub fn owner(&self) -> u64 {
        self.hold.release.owner.unsigned_abs()
    }

    /// The name of the lock, without the client's prefix. That of several locks has the names of the first ones.
    pub fn name(&self) -> &str {
        &self.hold.release.name
    }

    /// Lets the hold last for `lease` from now on: longer, or shorter. A hold that the watchdog renews, or whose owner
    /// has other holds of the lock, lasts at least as long as before.
    ///
    /// # Errors
    /// `Lost` if the hold was lost; `Unavailable` if the server cannot be reached: then the hold ends with the earlier of
    /// both leases. `Config` for a lease below 1 ms or above 100 years. `Closed` if the program has closed the client,
    /// where [`Guard::ensure`] is `Lost`.
    ///
    /// # Cancellation
    /// The call goes on to its end without its future.
    pub async fn extend(&self, lease: Duration) -> Result<()> {
        let extend = self.extending(lease)?;
        self.hold.scope().around(self.hold.client.run(extend)).await.map(drop)
    }

    /// Lets the guard go without a release: the hold stays. With a lease it ends with it. Without one, the watchdog
    /// renews it until the client ends. (That of several locks keeps their clients alive until a program closes them.)
    /// Closing the client and [`crate::LockBuilder::force_release`] end it before. Callbacks of [`Guard::on_lost`] stay
    /// in effect, and hear of the end; an end with its lease is no warning in the log. A callback that owns a clone of the
    /// client keeps the client alive, and so a hold that the watchdog renews: only closing the client ends them then.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
    /// // At most once an hour, on one machine.
    /// if let Some(guard) = client.lock("hourly").lease(Duration::from_secs(3600)).try_acquire().await? {
    ///     guard.keep();
    ///     println!("it is this machine's turn");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep(self) {
        self.on_lost.keep();
        self.hold.keep();
    }

    /// Releases the hold.
    ///
    /// # Errors
    /// `Lost` if the hold was lost before; `Unavailable` if the server cannot be reached: then the client releases the
    /// lock as soon as it can. `Closed` if the program has closed the client, which has ended the hold.
    ///
    /// # Cancellation
    /// The release goes on to its end without its future.
    pub async fn release(self) -> Result<()> {
        self.into_hold().release().await
    }

    /// Its hold alone: the callbacks are gone.
    pub(crate) fn into_hold(self) -> Hold {
        let Guard { on_lost, hold, .. } = self;
        drop(on_lost);
        hold
    }

    pub(crate) fn hold(&self) -> &Hold {
        &self.hold
    }

    #[track_caller]
    fn check(&self) {
        blocking::check(|| format!("`{}`", self.name()));
    }

    fn extending(&self, lease: Duration) -> Result<Request> {
        self.hold.check()?;
        Ok(Request { op: Op::Extend, lease: Some(lease), ..self.hold.release.clone() })
    }

    fn not_held(&self) -> Error {
        Error::NotHeld { lock: self.name().to_owned(), owner: self.owner_field() }
    }

    fn owner_field(&self) -> String {
        OwnerField(&self.hold.client.id(), self.hold.release.owner).to_string()
    }

    /// Adds the facts of the hold, as the client knows them.
    pub(crate) fn show(&self, f: &mut Formatter<'_>, of: &str, id: Option<PermitId>) -> std::fmt::Result {
        let Hold { client, release, .. } = &self.hold;
        let mut shown = debug::object(f, of, client, release);
        shown.field("owner", &self.owner_field());
        if let Some(id) = id {
            shown.field("id", &format_args!("{id}"));
        }
        if let Some(token) = self.token {
            shown.field("token", &token);
        }
        match self.hold.look() {
            Look::Held { remaining } => shown.field("held_for", &remaining),
            Look::Lost(loss) => shown.field("lost", &loss.reason),
            Look::Gone => shown.field("gone", &true),
        };
        shown.finish()
    }
}

impl Debug for Guard {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.show(f, "Guard", None)
    }
}

/// [`Guard`] without a runtime.
///
/// ```no_run
/// # fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let guard = client.lock("orders:42").blocking().acquire()?;
/// guard.ensure()?; // before the step that must not happen twice
/// guard.release() // dropping the guard releases as well, in the background
/// # }
/// ```
#[must_use = "the lock is released as soon as its guard is dropped; give the guard a name"]
pub struct BlockingGuard(pub(crate) Guard);

impl BlockingGuard {
    /// As [`Guard::extend`].
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`].
    #[track_caller]
    pub fn extend(&self, lease: Duration) -> Result<()> {
        self.0.check();
        let extend = self.0.extending(lease)?;
        self.0.hold.scope().enter(|| self.0.hold.client.run_blocking(extend)).map(drop)
    }

    /// As [`Guard::keep`].
    pub fn keep(self) {
        self.0.keep();
    }

    /// As [`Guard::release`].
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, see [`crate::Blocking`]; the drop of the guard releases it.
    #[track_caller]
    pub fn release(self) -> Result<()> {
        self.0.check();
        self.0.into_hold().release_blocking()
    }
}

impl std::ops::Deref for BlockingGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.0
    }
}

impl Debug for BlockingGuard {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.show(f, "BlockingGuard", None)
    }
}
