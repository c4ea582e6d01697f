//! Holds that no thread, task or object can release any more. Their renewal ends, and a ResourceWarning tells of them.
//!
//! If a thread or task is the owner of a hold, it can release the hold as long as it lives, also after its `Hold`
//! object was dropped. If the acquire itself is the owner, only the `Hold` object can release it. If a program gave the
//! owner's number, it can give that number again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use pyo3::prelude::*;
use redlatch::ffi::{Border, Look, OWN_OWNERS};

use crate::named::Named;

/// From so many dropped holds of one owner on, the list is searched for released ones.
const FEW: usize = 16;

/// The threads and tasks that live, by their numbers as owners, each with its holds that have no `Hold` object any
/// more. Only code under the GIL locks it, and runs no Python code meanwhile: so a forked child never finds it locked.
static LIVING: LazyLock<Mutex<HashMap<i64, Vec<Dropped>>>> = LazyLock::new(Mutex::default);

/// A hold whose object was dropped.
pub struct Dropped {
    pub named: Arc<Named>,
    pub owner: i64,
    pub number: u64,
    pub process: u32,
}

/// Notes a thread or task that begins to call, by its number as an owner.
#[pyfunction]
pub fn owner_begins(owner: i64) {
    living().insert(owner, Vec::new());
}

/// Notes that this thread or task is gone, and ends the renewal of the holds that only it could release.
#[pyfunction]
pub fn owner_ends(py: Python<'_>, owner: i64) {
    let left = living().remove(&owner);
    left.into_iter().flatten().for_each(|dropped| dropped.abandon(py));
}

/// Whether the thread or task with this number lives.
#[pyfunction]
#[pyo3(name = "owner_lives")]
pub fn lives(owner: i64) -> bool {
    living().contains_key(&owner)
}

impl Dropped {
    /// Keeps the hold for its owner. Ends its renewal if that thread or task is gone.
    pub fn settle(self, py: Python<'_>) {
        if self.owner < OWN_OWNERS {
            return;
        }
        let mut living = living();
        let Some(kept) = living.get_mut(&self.owner) else {
            drop(living);
            return self.abandon(py);
        };
        if kept.len() >= FEW && kept.len().is_power_of_two() {
            let process = std::process::id();
            kept.retain(|dropped| dropped.process == process && dropped.is_held());
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
        // Python drops objects at any place, also while it raises an exception, which must survive this.
        let raised = PyErr::take(py);
        let owner = format!("{}:{}", self.named.client.id(), self.owner);
        let warned = py
            .import("redlatch.owners")
            .and_then(|owners| owners.call_method1("warn_of_gone", (self.named.shown(), owner)));
        if let Err(error) = warned {
            error.write_unraisable(py, None);
        }
        raised.inspect(|error| error.clone_ref(py).restore(py));
    }
}

fn living() -> MutexGuard<'static, HashMap<i64, Vec<Dropped>>> {
    LIVING.lock().expect("nothing panics while it is held")
}
