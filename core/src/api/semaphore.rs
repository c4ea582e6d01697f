//! Semaphores and latches in Rust.

use std::time::Duration;

use crate::api::operation::{Object, Operation, changed, count, done, nothing, taken};
use crate::client::Client;
use crate::request::Op;

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

/// Permits without an owner. If a process takes permits and dies, they stay taken until a call releases them.
///
/// The client serves its waiters in the order in which they came. A waiter that wants more permits than are available
/// lets waiters pass that want fewer: some pass, then for at most a second none does, and so on. So the waiter is
/// served even if others keep coming, provided that each of them gives its permits back within a second. This holds
/// inside one client. Between clients, the first request that the server sees gets the permits.
///
/// The server may have carried out a call that ends with `Unavailable`.
#[derive(Clone)]
pub struct Semaphore(Object);

impl Semaphore {
    /// Sets the number of permits, unless it is set; true: this call set it.
    pub fn try_set_permits(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::TrySet, &[permits], changed)
    }

    /// As [`Semaphore::try_set_permits`], and the server deletes the semaphore after `ttl`.
    pub fn try_set_permits_for(&self, permits: i64, ttl: Duration) -> Operation<bool> {
        let ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX).max(1);
        Operation::new(&self.0, Op::TrySet, &[permits, ms], changed)
    }

    /// Adds permits, or removes some for good if the number is negative; gives the number that is available then.
    pub fn add_permits(&self, permits: i64) -> Operation<i64> {
        Operation::new(&self.0, Op::Add, &[permits], count)
    }

    /// Takes all available permits; gives their number.
    pub fn drain(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Drain, &[], count)
    }

    /// The number of available permits; 0 if no call has set them.
    pub fn available(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Inspect, &[], count)
    }

    /// Takes permits, all or none. Waits without end, or as long as [`Operation::wait`] says; then it fails with
    /// `NotAcquired`.
    pub fn acquire(&self, permits: i64) -> Operation<()> {
        Operation::new(&self.0, Op::Acquire, &[permits], taken).for_ever()
    }

    /// Takes permits, all or none, if they are available now, or within [`Operation::wait`]; true: it took them.
    pub fn try_acquire(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::Acquire, &[permits], done)
    }

    /// Gives permits back; any caller may have taken them. Without a semaphore of this name it makes one with these
    /// permits.
    pub fn release(&self, permits: i64) -> Operation<()> {
        Operation::new(&self.0, Op::Release, &[permits], nothing)
    }

    /// As [`Semaphore::release`], only if the semaphore exists; true: it does.
    pub fn release_if_exists(&self, permits: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::ReleaseIfExists, &[permits], done)
    }

    /// Deletes the semaphore; true: it existed. Delete it while no permits are out: they would go to a semaphore that
    /// gets this name later, when their callers give them back, or when a client gives back permits that it may have
    /// taken without an answer.
    pub fn delete(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Delete, &[], changed)
    }
}

/// A count; callers wait until it is zero. A call can set it again once it is zero.
///
/// The server may have carried out a call that ends with `Unavailable`.
#[derive(Clone)]
pub struct Latch(Object);

impl Latch {
    /// Sets the count, unless it is above zero; true: this call set it.
    pub fn try_set_count(&self, count: i64) -> Operation<bool> {
        Operation::new(&self.0, Op::TrySet, &[count], changed)
    }

    /// Lowers the count by one; gives the new count. At zero it does nothing.
    pub fn count_down(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::CountDown, &[], count)
    }

    /// The present count.
    pub fn count(&self) -> Operation<i64> {
        Operation::new(&self.0, Op::Inspect, &[], count)
    }

    /// Waits until the count is zero: without end, or as long as [`Operation::wait`] says; true: the count is zero.
    pub fn wait(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Acquire, &[], done).for_ever()
    }

    /// Deletes the latch, which opens it; true: it existed.
    pub fn delete(&self) -> Operation<bool> {
        Operation::new(&self.0, Op::Delete, &[], changed)
    }
}
