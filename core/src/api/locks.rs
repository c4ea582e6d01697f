//! Every kind of lock that a client gives.

use crate::api::lock::LockBuilder;
use crate::client::Client;
use crate::client::group::Rule;
use crate::redis::kinds::multi;

/// In Rust each acquire is an owner of its own unless [`LockBuilder::owner`] is given: nothing is reentrant by accident.
impl Client {
    /// The reentrant lock of this name, Redisson's `getLock`.
    pub fn lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "plain", name)
    }

    /// The reentrant lock whose waiters ask now and then ([`LockBuilder::backoff`]) instead of being told: it publishes nothing. Redisson's
    /// `getSpinLock`.
    pub fn spin_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "spin", name)
    }

    /// The lock that its owner may not take twice (`Error::AlreadyHeld`), Redisson's `getNonReentrantLock`.
    pub fn non_reentrant_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "non_reentrant", name)
    }

    /// The reentrant lock that whoever has waited longest gets next, in whichever process, Redisson's `getFairLock`. A waiter that died is
    /// passed over after 5 s.
    pub fn fair_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "fair", name)
    }

    /// The locks of this name for many readers or one writer, Redisson's `getReadWriteLock`.
    pub fn read_write_lock(&self, name: &str) -> ReadWriteLock {
        ReadWriteLock { read: LockBuilder::new(self, "read", name), write: LockBuilder::new(self, "write", name) }
    }

    /// The fair lock that its owner may not take twice (`Error::AlreadyHeld`), Redisson's `getNonReentrantFairLock`.
    pub fn non_reentrant_fair_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "non_reentrant_fair", name)
    }

    /// The lock that most libraries write: `SET key token NX PX lease`, here with a token of each owner's own. It is not reentrant
    /// (`Error::AlreadyHeld`); whoever else takes and frees the key that way is excluded by it, and noticed within 250 ms.
    pub fn token_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "token", name)
    }

    /// The reentrant lock whose every hold has a [`crate::Guard::token`] greater than all before it, for what it guards to compare.
    /// Redisson's `getFencedLock`.
    pub fn fenced_lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, "fenced", name)
    }

    /// One lock of all of these, which may belong to other clients too: taken one after the other in an order that is the same everywhere,
    /// or not at all; lost when one of them is. `acquire` fails with `Config` if there are none, or one of them twice. Redisson's
    /// `getMultiLock`.
    pub fn multi_lock(&self, locks: impl IntoIterator<Item = LockBuilder>) -> LockBuilder {
        LockBuilder::group(self, Rule::All, locks)
    }

    /// One lock of all of these values of a group: taken in one call, all or none, and excluding whoever wants one of them. `acquire` fails
    /// with `Config` if there are none, and with `AlreadyHeld` if its owner holds some of them together with others. Redisson's
    /// `getMultiLock(group, values)` with its `StringCodec`.
    pub fn multi_lock_group(&self, group: &str, values: &[impl AsRef<str>]) -> LockBuilder {
        match multi::name(group, values) {
            Ok(name) => LockBuilder::new(self, "multi", &name),
            Err(error) => LockBuilder::broken(self, error),
        }
    }
}

/// Two locks of one name: many may read, or one may write. Who writes may read as well ([`LockBuilder::owner`]), and goes on reading after
/// its release of the other; who reads must not ask to write.
#[derive(Clone)]
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
