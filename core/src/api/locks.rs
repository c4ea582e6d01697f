//! All kinds of locks that a client gives.

use crate::api::lock::LockBuilder;
use crate::client::Client;
use crate::client::group::Rule;
use crate::redis::kinds::multi;

/// In Rust each acquire is an owner of its own unless [`LockBuilder::owner`] names one: no lock is reentrant by
/// accident.
impl Client {
    /// The reentrant lock of this name, Redisson's `getLock`.
    pub fn lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "plain", name)
    }

    /// The reentrant lock whose waiters poll ([`LockBuilder::backoff`]): a release publishes no message. Redisson's
    /// `getSpinLock`.
    pub fn spin_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "spin", name)
    }

    /// The lock that its owner must not take twice (`Error::AlreadyHeld`), Redisson's `getNonReentrantLock`.
    pub fn non_reentrant_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "non_reentrant", name)
    }

    /// The reentrant lock that goes to the waiter that has waited longest, in any process, Redisson's `getFairLock`.
    /// The lock passes over a dead waiter after 5 s.
    pub fn fair_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "fair", name)
    }

    /// The locks of this name for many readers or one writer, Redisson's `getReadWriteLock`.
    pub fn read_write_lock(&self, name: &str) -> ReadWriteLock {
        ReadWriteLock { read: LockBuilder::new(self, "read", name), write: LockBuilder::new(self, "write", name) }
    }

    /// The fair lock that its owner must not take twice (`Error::AlreadyHeld`), Redisson's `getNonReentrantFairLock`.
    pub fn non_reentrant_fair_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "non_reentrant_fair", name)
    }

    /// The lock that most libraries write: `SET key token NX PX lease`, here with a token for each owner. It is not
    /// reentrant (`Error::AlreadyHeld`). It excludes other programs that take the key in this way; a waiter notices
    /// their release within 250 ms.
    pub fn token_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "token", name)
    }

    /// The reentrant lock that gives each hold a [`crate::Guard::token`] greater than all before it: the guarded
    /// resource can compare tokens. Redisson's `getFencedLock`.
    pub fn fenced_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "fenced", name)
    }

    /// One lock made of all these locks, which may belong to other clients too. An acquire takes them one after the
    /// other, in an order that is the same everywhere; if it cannot have one of them, it keeps none. The hold is lost
    /// when one of them is lost. `acquire` fails with `Config` if the list is empty, has a lock twice, or has a lock with
    /// a wait, a lease, an owner or a backoff of its own: the lock that they make has these. Redisson's `getMultiLock`.
    pub fn multi_lock(&self, locks: impl IntoIterator<Item = LockBuilder>) -> LockBuilder {
        LockBuilder::group(self, Rule::All, locks)
    }

    /// One lock made of these values of a group. An acquire takes all of them in one call, or none, and excludes every
    /// other owner that wants one of them. `acquire` fails with `Config` if the list is empty, and with `AlreadyHeld`
    /// if the owner holds some of the values together with others. Redisson's `getMultiLock(group, values)` with its
    /// `StringCodec`.
    pub fn multi_lock_group(&self, group: &str, values: &[impl AsRef<str>]) -> LockBuilder {
        match multi::name(group, values) {
            Ok(name) => LockBuilder::new(self, "multi", &name),
            Err(error) => LockBuilder::broken(self, error),
        }
    }
}

/// Two locks of one name: many owners read, or one owner writes. A writer may read as well ([`LockBuilder::owner`]),
/// and goes on reading after it releases the write lock. A reader must not ask to write: it would wait for itself.
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let prices = client.read_write_lock("prices");
/// let reading = prices.read().acquire().await?;
/// reading.release().await?;
/// prices.write().acquire().await?.release().await
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a lock is not acquired before `acquire`"]
pub struct ReadWriteLock {
    read: LockBuilder,
    write: LockBuilder,
}

impl ReadWriteLock {
    /// The lock for reading.
    pub fn read(&self) -> LockBuilder {
        self.read.clone()
    }

    /// The lock for writing.
    pub fn write(&self) -> LockBuilder {
        self.write.clone()
    }
}
