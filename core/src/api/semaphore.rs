//! Semaphores and latches in Rust.

use std::fmt::{Debug, Formatter};
use std::time::Duration;

use crate::api::operation::{Object, Operation, Read, Waiting, changed, count, done, late, nothing};
use crate::api::semaphore_permit::SemaphorePermit;
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::{Answer, LEASE_MAX, Op, Request};

impl Client {
    /// The semaphore of this name, Redisson's `getSemaphore`: any caller takes permits and gives them back.
    pub fn semaphore(&self, name: &str) -> Semaphore {
        Semaphore(Object { client: self.clone(), kind: "semaphore", name: name.into() })
    }

    /// The latch of this name, Redisson's `getCountDownLatch`: callers wait until its count is zero.
    pub fn latch(&self, name: &str) -> Latch {
        Latch(Object { client: self.clone(), kind: "latch", name: name.into() })
    }
}

/// Permits without an owner. If a process takes permits and dies, they stay taken until a call releases them;
/// [`Client::permit_semaphore`] has permits that end.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let workers = client.semaphore("workers");
/// workers.try_set_permits(3).await?; // without this there are none, and every acquire waits
/// let permit = workers.acquire(1).await?;
/// permit.release().await // dropping it gives it back as well
/// # }
/// ```
///
/// The client serves its waiters in the order in which they came. A waiter that wants more permits than are available
/// lets waiters pass that want fewer: some pass, then for at most a second none does, and so on. So the waiter is
/// served even if others keep coming, provided that each of them gives its permits back within a second. This holds
/// inside one client. Between clients, the first request that the server sees gets the permits.
///
/// The server may have carried out a call that ends with `Unavailable`; permits that such an acquire may have taken go
/// back.
#[derive(Clone)]
pub struct Semaphore(Object);

impl Semaphore {
    /// Sets the number of permits, unless it is set; true: this call set it.
    pub fn try_set_permits(&self, permits: u64) -> Operation<bool> {
        self.counting(Op::TrySet, permits, changed)
    }

    /// As [`Semaphore::try_set_permits`], and the server deletes the semaphore after `ttl`: from 1 ms to 100 years.
    ///
    /// # Errors
    /// `Config` for another time.
    pub fn try_set_permits_for(&self, permits: u64, ttl: Duration) -> Operation<bool> {
        let set = self.counting(Op::TrySet, permits, changed);
        if ttl < Duration::from_millis(1) || ttl > LEASE_MAX {
            return set.refused(Error::config(format!(
                "the time of `{}` is {ttl:?}, it must be from 1 ms to 100 years; try_set_permits has no end",
                self.0.name
            )));
        }
        set.with(|request| request.numbers.push(ttl.as_millis() as i64))
    }

    /// Adds permits; gives the number that is available then.
    pub fn add_permits(&self, permits: u64) -> Operation<u64> {
        self.counting(Op::Add, permits, count)
    }

    /// Removes permits for good; gives the number that is available then. If more are removed than are available, the
    /// next ones that come back are removed too.
    pub fn remove_permits(&self, permits: u64) -> Operation<u64> {
        self.counting(Op::Add, permits, count).negated()
    }

    /// Takes all available permits, and gives their number. No guard gives them back: [`Semaphore::release`] does.
    ///
    /// # Cancellation
    /// If the future is dropped, the client gives the permits back when the answer says how many it has drained. If no
    /// answer comes, as with an error, the number is unknown: permits that the server may have drained stay out.
    pub fn drain(&self) -> Operation<u64> {
        self.ask(Op::Drain, count)
    }

    /// The number of available permits; 0 if no call has set them.
    pub fn available(&self) -> Operation<u64> {
        self.ask(Op::Inspect, count)
    }

    /// Takes permits, all or none. Waits without end, or as long as [`Waiting::wait`] says; then it fails with
    /// `NotAcquired`. Beside a server that fails it waits as [`crate::LockBuilder::wait`] says.
    pub fn acquire(&self, permits: u64) -> Waiting<SemaphorePermit> {
        let read: Read<_> =
            |client, request, answer| taken(client, request, answer)?.ok_or_else(|| late(client, request));
        Waiting(self.counting(Op::Acquire, permits, read).for_ever())
    }

    /// Takes permits, all or none, if they are available now, or within [`Waiting::wait`]; `None`: they were not.
    pub fn try_acquire(&self, permits: u64) -> Waiting<Option<SemaphorePermit>> {
        Waiting(self.counting(Op::Acquire, permits, taken))
    }

    /// Gives permits back that no [`SemaphorePermit`] of this process stands for: those that a call has
    /// [kept](SemaphorePermit::keep) or drained, here or elsewhere. Without a semaphore of this name it makes one with
    /// these permits.
    pub fn release(&self, permits: u64) -> Operation<()> {
        self.counting(Op::Release, permits, nothing)
    }

    /// As [`Semaphore::release`], only if the semaphore exists; true: it does.
    pub fn release_if_exists(&self, permits: u64) -> Operation<bool> {
        self.counting(Op::ReleaseIfExists, permits, done)
    }

    /// Deletes the semaphore; true: it existed. Delete it while no permits are out: they would go to a semaphore that
    /// gets this name later, when their callers give them back, or when a client gives back permits that it may have
    /// taken without an answer.
    pub fn delete(&self) -> Operation<bool> {
        self.ask(Op::Delete, changed)
    }

    fn ask<T>(&self, op: Op, read: Read<T>) -> Operation<T> {
        Operation::new(&self.0, op, &[], read)
    }

    fn counting<T>(&self, op: Op, permits: u64, read: Read<T>) -> Operation<T> {
        Operation::counting(&self.0, op, permits, read)
    }
}

impl Debug for Semaphore {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Semaphore")
    }
}

fn taken(client: &Client, request: &Request, answer: Answer) -> Result<Option<SemaphorePermit>> {
    Ok(answer.done.then(|| SemaphorePermit::new(client, request)))
}

/// A count; callers wait until it is zero. A call can set it again once it is zero. A latch that was never set is open:
/// set it before the callers come.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let ready = client.latch("ready");
/// ready.try_set_count(3).await?;
/// ready.count_down().await?; // in each of three programs
/// ready.wait().await?; // until all of them have
/// # Ok(())
/// # }
/// ```
///
/// The server may have carried out a call that ends with `Unavailable`.
#[derive(Clone)]
pub struct Latch(Object);

impl Latch {
    /// Sets the count, unless it is above zero; true: this call set it.
    pub fn try_set_count(&self, count: u64) -> Operation<bool> {
        Operation::counting(&self.0, Op::TrySet, count, changed)
    }

    /// Lowers the count by one; gives the new count. At zero it does nothing.
    pub fn count_down(&self) -> Operation<u64> {
        Operation::new(&self.0, Op::CountDown, &[], count)
    }

    /// The present count.
    pub fn count(&self) -> Operation<u64> {
        Operation::new(&self.0, Op::Inspect, &[], count)
    }

    /// Waits until the count is zero: without end, or as long as [`Waiting::wait`] says. True: the count is zero, or was
    /// never set. False: it was not zero in time. That is no error, so look at the value.
    pub fn wait(&self) -> Waiting<bool> {
        Waiting(Operation::new(&self.0, Op::Acquire, &[], done).for_ever())
    }

    /// Deletes the latch, which opens it; true: it existed.
    pub fn delete(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Delete, &[], changed)
    }
}

impl Debug for Latch {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Latch")
    }
}
