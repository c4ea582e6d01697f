//! Which run of which server this is: after another one began, its data may be gone, and its numbers mean others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use redis::InfoDict;
use tokio::sync::Notify;

use super::quarantine::{Longest, Quarantine};
use crate::redis::kinds::script::Call;
use crate::redis::link::Outcome;

/// Of all servers of a link.
#[derive(Default)]
pub struct Incarnations {
    numbers: AtomicU64,
    count: AtomicU64,
    /// Told of each of them.
    pub restart: Notify,
    /// `None`: no server is ever kept from granting.
    pub longest: Option<Arc<Longest>>,
}

/// Of one server.
pub struct Incarnation {
    incarnations: Arc<Incarnations>,
    pub quarantine: Option<Quarantine>,
    now: Mutex<Run>,
}

/// A run of a server, from its start to its end.
struct Run {
    /// As the server says it; empty: it has not said it.
    id: String,
    number: u64,
}

impl Incarnations {
    pub fn new(longest: Option<Longest>) -> Self {
        Incarnations { longest: longest.map(Arc::new), ..Incarnations::default() }
    }

    /// Counts what may have lost data.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// A server came back, or another one has taken its place.
    pub fn restarted(&self) {
        self.count.fetch_add(1, Relaxed);
        self.restart.notify_waiters();
    }
}

impl Incarnation {
    pub fn new(incarnations: &Arc<Incarnations>, server: &str) -> Self {
        let number = incarnations.numbers.fetch_add(1, Relaxed);
        let quarantine = incarnations.longest.clone().map(|longest| Quarantine::new(server, longest));
        Incarnation { incarnations: incarnations.clone(), quarantine, now: Mutex::new(Run { id: String::new(), number }) }
    }

    /// The number of this run; no other of any server has it.
    pub fn number(&self) -> u64 {
        self.now().number
    }

    /// Takes over the `run_id` out of what the server has answered to `INFO server`, on whichever connection; `None`: it does not tell.
    pub fn note(&self, info: Option<InfoDict>) {
        let Some(id) = info.and_then(|info| info.get::<String>("run_id")) else { return };
        let mut now = self.now();
        if !now.id.is_empty() && now.id != id {
            now.number = self.incarnations.numbers.fetch_add(1, Relaxed);
            self.incarnations.restarted();
        }
        now.id = id;
    }

    /// What becomes of a call that is not to be sent now; `None`: it is.
    pub fn objection(&self, call: &Call) -> Option<Outcome> {
        self.quarantine.as_ref()?.objection(call)
    }

    fn now(&self) -> MutexGuard<'_, Run> {
        self.now.lock().expect("nothing panics while it is held")
    }
}
