//! Holds that no thread, task or object can release any more: their renewal ends, and a ResourceWarning tells of them.
//!
//! A hold that a thread or task owns can be released by that owner as long as it lives, also when the `Hold` object was dropped. A hold by
//! an owner of its own can be released through its `Hold` object only. A number that a caller gave can be given again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use pyo3::prelude::*;
use redlatch::{Look, OWN_OWNERS};

use crate::named::Named;

/// As many are kept of one owner without a look at which of them have been released.
const FEW: usize = 16;

/// The threads and tasks that live, by their owners' numbers, each with what it holds without a `Hold` object. It is locked under the GIL
/// only, and no Python code runs meanwhile: so a forked child never finds it locked.
static LIVING: LazyLock<Mutex<HashMap<i64, Vec<Dropped>>>> = LazyLock::new(Mutex::default);

/// A hold whose object was dropped.
pub struct Dropped {
    pub named: Arc<Named>,
    pub owner: i64,
    pub number: u64,
    pub process: u32,
}

/// A thread or a task begins to ask for locks, as this owner.
#[pyfunction]
pub fn owner_begins(owner: i64) {
    living().insert(owner, Vec::new());
}

/// That thread or task is gone.
#[pyfunction]
pub fn owner_ends(py: Python<'_>, owner: i64) {
    let left = living().remove(&owner);
    left.into_iter().flatten().for_each(|dropped| dropped.abandon(py));
}

/// Whether the thread or task of that owner lives.
#[pyfunction]
#[pyo3(name = "owner_lives")]
pub fn lives(owner: i64) -> bool {
    living().contains_key(&owner)
}

impl Dropped {
    /// Keeps it for its owner, or has its renewal end if there is no owner any more.
    pub fn settle(self, py: Python<'_>) {
        if self.owner < OWN_OWNERS || self.process != std::process::id() {
            return;
        }
        let mut living = living();
        let Some(kept) = living.get_mut(&self.owner) else {
            drop(living);
            return self.abandon(py);
        };
        if kept.len() >= FEW && kept.len().is_power_of_two() {
            kept.retain(Dropped::is_held);
        }
        kept.push(self);
    }

    fn is_held(&self) -> bool {
        matches!(self.named.client.look(self.number), Look::Held { .. })
    }

    fn abandon(self, py: Python<'_>) {
        if self.process != std::process::id() || !self.named.client.abandon(self.number) {
            return;
        }
        // An object is dropped at any place, also while an exception is on its way.
        let raised = PyErr::take(py);
        let owner = format!("{}:{}", self.named.client.id(), self.owner);
        let warned = py.import("redlatch.owners").and_then(|owners| owners.call_method1("warn_of_gone", (self.named.shown(), owner)));
        if let Err(error) = warned {
            error.write_unraisable(py, None);
        }
        raised.inspect(|error| error.clone_ref(py).restore(py));
    }
}

fn living() -> MutexGuard<'static, HashMap<i64, Vec<Dropped>>> {
    LIVING.lock().expect("nothing panics while it is held")
}
