//! Everything of a client that belongs to one process: a child after `fork` gets a new one and never touches its parent's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::gate::Gates;
use crate::holds::{Holds, Slot};
use crate::link::Link;
use crate::queue::Queue;
use crate::wakes::Wakes;

pub struct Live {
    pub config: Config,
    pub uuid: String,
    pub link: Link,
    pub wakes: Arc<Wakes>,
    pub gates: Arc<Gates>,
    pub closed: AtomicBool,
    pub cancels: Mutex<HashMap<u64, watch::Sender<bool>>>,
    holds: Mutex<Holds>,
    queue: Mutex<Queue<Line>>,
    heads: Mutex<HashMap<u64, Arc<Notify>>>,
    numbers: AtomicU64,
    io: OnceLock<Handle>,
    pub stop: Notify,
    /// Tells the watchdog that something is due earlier than it sleeps.
    pub earlier: Notify,
    asleep_until: Mutex<Option<Instant>>,
}

type Line = (&'static str, Arc<str>);

impl Live {
    /// Starts nothing.
    pub fn new(config: &Config) -> Result<Self> {
        let wakes = Arc::new(Wakes::default());
        Ok(Live {
            uuid: uuid()?,
            link: Link::new(config, wakes.clone())?,
            wakes,
            gates: Arc::default(),
            closed: AtomicBool::new(false),
            cancels: Mutex::default(),
            holds: Mutex::new(Holds::new(config.watchdog)),
            queue: Mutex::new(Queue::new()),
            heads: Mutex::default(),
            numbers: AtomicU64::new(1),
            io: OnceLock::new(),
            stop: Notify::new(),
            earlier: Notify::new(),
            asleep_until: Mutex::new(None),
            config: config.clone(),
        })
    }

    pub fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().expect("nothing panics while it is held")
    }

    /// A number never used before in this process.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, SeqCst)
    }

    /// The I/O thread's runtime; the first call starts it.
    pub fn io(self: &Arc<Self>) -> &Handle {
        self.io.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the system gives an event queue");
            let handle = runtime.handle().clone();
            let live = self.clone();
            let run = move || runtime.block_on(crate::watchdog::run(live));
            std::thread::Builder::new().name("redlatch-io".into()).spawn(run).expect("the system gives a thread");
            handle
        })
    }

    /// Called whenever something may be due earlier than before.
    pub fn rearm(self: &Arc<Self>) {
        self.io();
        let due = self.holds().next_due();
        let asleep = *self.asleep_until.lock().expect("nothing panics while it is held");
        if due.is_some_and(|due| asleep.is_none_or(|until| due < until)) {
            self.earlier.notify_one();
        }
    }

    pub fn asleep_until(&self, until: Option<Instant>) {
        *self.asleep_until.lock().expect("nothing panics while it is held") = until;
    }

    pub fn is_waited_for(&self, slot: &Slot) -> bool {
        self.queue().is_waited_for(&(slot.kind, slot.name.clone()))
    }

    pub fn stand_in_line(self: &Arc<Self>, slot: &Slot) -> Place {
        let (line, number, head) = ((slot.kind, slot.name.clone()), self.number(), Arc::new(Notify::new()));
        self.heads().insert(number, head.clone());
        if self.queue().join(&line, number) {
            head.notify_one();
        }
        Place { live: self.clone(), line, number, head }
    }

    pub fn closed_error(&self) -> Error {
        Error::Closed { server: self.config.server() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<Line>> {
        self.queue.lock().expect("nothing panics while it is held")
    }

    fn heads(&self) -> MutexGuard<'_, HashMap<u64, Arc<Notify>>> {
        self.heads.lock().expect("nothing panics while it is held")
    }
}

/// A waiter's place in its line; dropping it leaves.
pub struct Place {
    live: Arc<Live>,
    line: Line,
    number: u64,
    head: Arc<Notify>,
}

impl Place {
    /// Returns once this waiter is the head.
    pub async fn head(&mut self) {
        self.head.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = self.live.queue().leave(&self.line, self.number);
        let mut heads = self.live.heads();
        heads.remove(&self.number);
        if let Some(next) = next.and_then(|next| heads.get(&next)) {
            next.notify_one();
        }
    }
}

/// A random UUID, version 4.
fn uuid() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unsupported(format!("the system gives no random numbers: {error}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}
