//! Semaphores and latches in Rust.

use std::time::Duration;

use crate::api::operation::{Object, Operation, changed, count, done, nothing, taken};
use crate::client::Client;
use crate::request::Op;

impl Client {
    /// The semaphore of this name, Redisson's `getSemaphore`: permits that anybody takes and gives back.
    pub fn semaphore(&self, name: &str) -> Semaphore {
        Semaphore(Object { client: self.clone(), kind: "semaphore", name: name.to_owned() })
    }

    /// The latch of this name, Redisson's `getCountDownLatch`: a count that others wait for to become zero.
    pub fn latch(&self, name: &str) -> Latch {
        Latch(Object { client: self.clone(), kind: "latch", name: name.to_owned() })
    }
}

/// Permits that nobody holds: what a process took that died is gone until somebody releases it.
///
/// The waiters of one client are served in the order in which they came, and one that wants more permits than there are does not stand in
/// the way of one that wants less. It is overtaken by some of those, then for at most a second by none, and so on: so it is served although
/// they keep coming, if each gives back what it took within a second. That holds inside one client; between clients, the first to ask gets
/// what is there.
///
/// A call that ends with `Unavailable` may have been carried out.
#[derive(Clone)]
pub struct Semaphore(Object);

impl Semaphore {
    /// Sets the count of permits, unless there is one; true: it did.
    pub fn try_set_permits(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::TrySet, &[permits], changed)
    }

    /// As [`Semaphore::try_set_permits`], and the semaphore ends after `ttl`.
    pub fn try_set_permits_for(&self, permits: i64, ttl: Duration) -> Operation<bool> {
        let ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX).max(1);
        Operation::new(&self.0, Op::TrySet, &[permits, ms], changed)
    }

    /// Adds permits, or takes some away for good; gives what is available then.
    pub fn add_permits(&self, permits: i64) -> Operation<i64> {
        Operation::new(&self.0, Op::Add, &[permits], count)
    }

    /// Takes all permits that are available; gives how many.
    pub fn drain(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Drain, &[], count)
    }

    /// How many permits are available; 0 if they were never set.
    pub fn available(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Inspect, &[], count)
    }

    /// Takes permits, all at once, and waits for ever unless it is told to [`Operation::wait`] for less: then `NotAcquired` is its error.
    pub fn acquire(&self, permits: i64) -> Operation<()> {
        Operation::new(&self.0, Op::Acquire, &[permits], taken).for_ever()
    }

    /// Takes permits if they are available now, or within [`Operation::wait`].
    pub fn try_acquire(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::Acquire, &[permits], done)
    }

    /// Gives permits back, whoever took them; a semaphore that is not there begins with them.
    pub fn release(&self, permits: i64) -> Operation<()> {
        Operation::new(&self.0, Op::Release, &[permits], nothing)
    }

    /// As [`Semaphore::release`], only if there is such a semaphore; true: there is.
    pub fn release_if_exists(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::ReleaseIfExists, &[permits], done)
    }

    /// Deletes it; true: it was there. A semaphore that is made under its name later gets the permits that are out now, when they are given
    /// back: by their callers, or by a client that was never told whether it took some. Delete it while none are out.
    pub fn delete(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Delete, &[], changed)
    }
}

/// A count that is waited for. It can be set again once it is zero.
///
/// A call that ends with `Unavailable` may have been carried out.
#[derive(Clone)]
pub struct Latch(Object);

impl Latch {
    /// Sets what is to be counted, unless something still is; true: it did.
    pub fn try_set_count(&self, count: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::TrySet, &[count], changed)
    }

    /// Counts one down; gives what is left. Nothing happens at zero.
    pub fn count_down(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::CountDown, &[], count)
    }

    /// What is left to be counted.
    pub fn count(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Inspect, &[], count)
    }

    /// Waits until the count is zero, for ever unless it is told to [`Operation::wait`] for less; true: it is zero.
    pub fn wait(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Acquire, &[], done).for_ever()
    }

    /// Deletes it, which opens it; true: it was there.
    pub fn delete(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Delete, &[], changed)
    }
}
