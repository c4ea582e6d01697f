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
pub struct Lives {
    numbers: AtomicU64,
    restarts: AtomicU64,
    /// Told of each of them.
    pub restart: Notify,
    /// `None`: no server is ever kept from granting.
    pub longest: Option<Arc<Longest>>,
}

/// Of one server.
pub struct Life {
    lives: Arc<Lives>,
    pub quarantine: Option<Quarantine>,
    now: Mutex<(String, u64)>,
}

impl Lives {
    pub fn new(longest: Option<Longest>) -> Self {
        Lives { longest: longest.map(Arc::new), ..Lives::default() }
    }

    /// Counts what may have lost data.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Relaxed)
    }

    /// A server came back, or another one has taken its place.
    pub fn restarted(&self) {
        self.restarts.fetch_add(1, Relaxed);
        self.restart.notify_waiters();
    }
}

impl Life {
    pub fn new(lives: &Arc<Lives>, server: &str) -> Self {
        let number = lives.numbers.fetch_add(1, Relaxed);
        let quarantine = lives.longest.clone().map(|longest| Quarantine::new(server, longest));
        Life { lives: lives.clone(), quarantine, now: Mutex::new((String::new(), number)) }
    }

    /// The number of this run; no other of any server has it.
    pub fn number(&self) -> u64 {
        self.now().1
    }

    /// Takes over the `run_id` out of what the server has answered to `INFO server`, on whichever connection; `None`: it does not tell.
    pub fn note(&self, info: Option<InfoDict>) {
        let Some(run) = info.and_then(|info| info.get::<String>("run_id")) else { return };
        let mut now = self.now();
        if !now.0.is_empty() && now.0 != run {
            now.1 = self.lives.numbers.fetch_add(1, Relaxed);
            self.lives.restarted();
        }
        now.0 = run;
    }

    /// What becomes of a call that is not to be sent now; `None`: it is.
    pub fn objection(&self, call: &Call) -> Option<Outcome> {
        self.quarantine.as_ref()?.objection(call)
    }

    fn now(&self) -> MutexGuard<'_, (String, u64)> {
        self.now.lock().expect("nothing panics while it is held")
    }
}
