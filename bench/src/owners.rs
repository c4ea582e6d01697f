//! How often a lock changes its owner. One worker that takes the lock again and again is fast, and changes nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The measured lock protects these cells: each is read and then written, in two steps.
#[derive(Default)]
pub struct Owners {
    /// The number of the last owner, from 1 on.
    last: AtomicU64,
    changes: AtomicU64,
}

impl Owners {
    /// The holder of the lock calls it, with its number from 0 on.
    pub fn took(&self, worker: u64) {
        let before = self.last.load(Relaxed);
        self.last.store(worker + 1, Relaxed);
        if ![0, worker + 1].contains(&before) {
            self.changes.store(self.changes.load(Relaxed) + 1, Relaxed);
        }
    }

    /// The answer to the order, behind the shares.
    pub fn changes(&self) -> String {
        format!("changes={}", self.changes.load(Relaxed))
    }
}
