//! The incarnation of a server: which of its runs this is. After a new run began, its data may be gone, and its numbers
//! have other meanings.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use redis::InfoDict;
use tokio::sync::Notify;

use super::quarantine::{Longest, Quarantine};
use crate::redis::kinds::script::Call;
use crate::redis::link::Outcome;

/// The incarnations of all servers of a link.
#[derive(Default)]
pub struct Incarnations {
    numbers: AtomicU64,
    count: AtomicU64,
    /// Signals each restart.
    pub restart: Notify,
    /// `None`: no server is ever in quarantine.
    pub longest: Option<Arc<Longest>>,
}

/// The incarnation of one server.
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

    /// The number of events after which data may be lost.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Notes that a server came back, or that another one has taken its place.
    pub fn restarted(&self) {
        self.count.fetch_add(1, Relaxed);
        self.restart.notify_waiters();
    }
}

impl Incarnation {
    pub fn new(incarnations: &Arc<Incarnations>, server: &str) -> Self {
        let number = incarnations.numbers.fetch_add(1, Relaxed);
        let quarantine = incarnations.longest.clone().map(|longest| Quarantine::new(server, longest));
        Incarnation {
            incarnations: incarnations.clone(),
            quarantine,
            now: Mutex::new(Run { id: String::new(), number }),
        }
    }

    /// The number of this run; no other run of any server has it.
    pub fn number(&self) -> u64 {
        self.now().number
    }

    /// Notes the `run_id` in the server's answer to `INFO server`, from any connection; `None`: the server does not
    /// tell it.
    pub fn note(&self, info: Option<InfoDict>) {
        let Some(id) = info.and_then(|info| info.get::<String>("run_id")) else { return };
        let mut now = self.now();
        if !now.id.is_empty() && now.id != id {
            now.number = self.incarnations.numbers.fetch_add(1, Relaxed);
            self.incarnations.restarted();
        }
        now.id = id;
    }

    /// The outcome of a call that must not go out now; `None`: it may.
    pub fn objection(&self, call: &Call) -> Option<Outcome> {
        self.quarantine.as_ref()?.objection(call)
    }

    fn now(&self) -> MutexGuard<'_, Run> {
        self.now.lock().expect("nothing panics while it is held")
    }
}
