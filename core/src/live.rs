//! Everything of a client that belongs to one process: a child after `fork` gets a new one and never touches its parent's.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::config::Config;
use crate::error::{Error, LostReason, Result};
use crate::gate::Gates;
use crate::group::Holding;
use crate::holds::Holds;
use crate::inbox::Inbox;
use crate::kinds;
use crate::lines::{self, Done, Lines};
use crate::link::{First, Firsts, Limits, Link, TOGETHER, UNDER_WAY};
use crate::requests::Requests;
use crate::settle::{Tries, WINDOW, settle};
use crate::slot::Slot;
use crate::target::Target;
use crate::tasks::{self, Io, boxed};
use crate::wakes::Wakes;
use crate::watchers::Watchers;

pub struct Live {
    pub config: Config,
    pub uuid: String,
    pub link: Link,
    pub wakes: Arc<Wakes>,
    pub gates: Arc<Gates>,
    pub watchers: Watchers,
    closed: AtomicBool,
    holds: Mutex<Holds>,
    lines: Mutex<Lines>,
    groups: Mutex<Holding>,
    io: OnceLock<Io>,
    inbox: Arc<Inbox>,
    pub stop: Notify,
    /// Tells the watchdog that something is due earlier than it sleeps.
    pub earlier: Notify,
    asleep_until: Mutex<Option<Instant>>,
    requests: Requests,
    /// One for each pipeline of first tries that may be under way.
    pipelines: Semaphore,
}

impl Live {
    /// Starts nothing.
    pub fn new(config: &Config) -> Result<Self> {
        let (wakes, uuid) = (Arc::new(Wakes::default()), uuid()?);
        Ok(Live {
            link: Link::new(config, wakes.clone())?,
            wakes,
            gates: Arc::default(),
            watchers: Watchers::default(),
            closed: AtomicBool::new(false),
            holds: Mutex::new(Holds::new(uuid.clone(), config.watchdog)),
            uuid,
            lines: Mutex::default(),
            groups: Mutex::default(),
            io: OnceLock::new(),
            inbox: Arc::default(),
            stop: Notify::new(),
            earlier: Notify::new(),
            asleep_until: Mutex::new(None),
            requests: Requests::default(),
            pipelines: Semaphore::new(UNDER_WAY / TOGETHER),
            config: config.clone(),
        })
    }

    /// Works on what is held, then tells of the holds that ended by that. Never to be called inside itself; inside `lines` it may be.
    pub fn holds<T>(self: &Arc<Self>, work: impl FnOnce(&mut Holds) -> T) -> T {
        let mut holds = self.holds.lock().expect("nothing panics while it is held");
        let result = work(&mut holds);
        let ended = holds.take_ended();
        drop(holds);
        for ended in ended {
            if ended.loss.is_some() {
                // Whoever waits behind a lost hold is not to wait for it to be passed on.
                let (live, key) = (self.clone(), lines::key(&ended.slot));
                self.io().spawn(async move { live.lines().change(&key, Instant::now(), |line| line.waiter.hurry(Instant::now())) });
            }
            self.watchers.tell(ended.number, ended.loss);
        }
        result
    }

    /// Completes `done` when a hold has ended.
    pub fn watch(self: &Arc<Self>, hold: u64, ticket: u64, done: Done) {
        self.watchers.add(hold, ticket, done);
        match self.holds(|holds| holds.look(hold, Instant::now())) {
            crate::Look::Held { .. } => {}
            crate::Look::Lost(loss) => self.watchers.tell(hold, Some(loss)),
            crate::Look::Gone => self.watchers.tell(hold, None),
        }
        self.rearm();
    }

    pub fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().expect("nothing panics while it is held")
    }

    /// What is held of several locks as one, of which the first is this client's.
    pub fn groups(&self) -> MutexGuard<'_, Holding> {
        self.groups.lock().expect("nothing panics while it is held")
    }

    /// The I/O thread's runtime; the first call starts it.
    pub fn io(self: &Arc<Self>) -> &Io {
        self.io.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the system gives an event queue");
            let io = Io(runtime.handle().clone());
            let live = self.clone();
            let run = move || {
                let dealing = live.clone();
                runtime.spawn(boxed(async move { dealing.inbox.deal_out(|firsts| dealing.send(firsts)).await }));
                // As a task: each waking of what is blocked on costs a system call more. A panic has been told of by then.
                let _ = runtime.block_on(runtime.spawn(boxed(crate::watchdog::run(live.clone()))));
                drop(runtime);
                live.inbox.close();
                let waiting = live.lines().take_all();
                drop(waiting);
                live.watchers.end(|| live.closed_error());
                live.wakes.events.close(|| live.closed_error());
            };
            std::thread::Builder::new().name("redlatch-io".into()).spawn(run).expect("the system gives a thread");
            io
        })
    }

    /// Has something done on the I/O thread.
    pub fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        self.io();
        self.inbox.put(work);
    }

    /// Has a first try made on the I/O thread, together with others, where it may take its usual time.
    pub fn first(self: &Arc<Self>, first: Box<dyn First>, response: Duration) {
        self.io();
        if response != self.config.response_timeout {
            return first.told(None);
        }
        let sent = self.link.send(first, self.limits(), self.inbox.is_looked_at());
        sent.unwrap_or_else(|first| self.inbox.put_first(first));
    }

    fn limits(&self) -> Limits {
        Limits { response: self.config.response_timeout, window: WINDOW }
    }

    /// Tells whether there is much to do.
    fn send(self: &Arc<Self>, firsts: Vec<Box<dyn First>>) -> bool {
        let (limits, busy) = (self.limits(), self.link.flush() || !firsts.is_empty());
        let mut firsts = firsts.into_iter().peekable();
        while firsts.peek().is_some() {
            let (live, firsts) = (self.clone(), Firsts { all: firsts.by_ref().take(TOGETHER).collect(), limits });
            tasks::spawn(async move {
                match timeout(limits.response, live.pipelines.acquire()).await {
                    Ok(_turn) => live.link.run_all(firsts).await,
                    Err(_) => firsts.not_sent(),
                }
            });
        }
        busy
    }

    /// Called whenever something may be due earlier than before.
    pub fn rearm(self: &Arc<Self>) {
        self.io();
        let due = self.holds(|holds| holds.next_due());
        let asleep = *self.asleep_until.lock().expect("nothing panics while it is held");
        if due.is_some_and(|due| asleep.is_none_or(|until| due < until)) {
            self.earlier.notify_one();
        }
    }

    pub fn asleep_until(&self, until: Option<Instant>) {
        *self.asleep_until.lock().expect("nothing panics while it is held") = until;
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// True: it was open until now.
    pub fn close(&self) -> bool {
        !self.closed.swap(true, SeqCst)
    }

    pub fn is_started(&self) -> bool {
        self.io.get().is_some()
    }

    /// A key for a call about `name` that nothing else names.
    pub fn request(&self, name: &str) -> String {
        self.requests.next(name, &self.uuid)
    }

    /// As many numbers for what nobody holds; gives the first.
    pub fn numbers(&self, count: i64) -> i64 {
        self.requests.numbers(count)
    }

    /// Deletes such a key, soon: its call is answered.
    pub fn forget(self: &Arc<Self>, request: String) {
        if self.requests.forget(request) {
            let live = self.clone();
            self.io().spawn(async move {
                let give_up = Instant::now() + live.config.retry_for;
                for call in live.requests.forgetting(|request| live.link.place(request)) {
                    // Without an answer they end by themselves.
                    let _ = settle(&live, &call, Tries { response: live.config.response_timeout, give_up, end: None }, None).await;
                }
            });
        }
    }

    /// Tells everybody who holds something that the client is closed. Gives what was held.
    pub fn tell_closed(self: &Arc<Self>) -> Vec<Slot> {
        let now = Instant::now();
        self.holds(|holds| {
            let held = holds.held();
            held.iter().for_each(|slot| holds.lost(slot, LostReason::Closed, now));
            held
        })
    }

    /// Lets the calls in flight end, and with `release` frees `held` and what those calls still took.
    pub async fn wind_up(self: Arc<Self>, held: Vec<Slot>, release: bool, done: SyncSender<()>) {
        let places = self.lines().take_places();
        let left: Vec<_> = places.into_iter().map(|target| tasks::spawn(async move { target.leave().await })).collect();
        self.clone().free(held).await;
        for left in left {
            let _ = left.await;
        }
        let _ = timeout(self.config.retry_for + self.config.sync.within(), self.gates.idle()).await;
        let late = self.tell_closed();
        if release {
            self.free(late).await;
        }
        let _ = done.send(());
    }

    async fn free(self: Arc<Self>, slots: Vec<Slot>) {
        let target = |slot: Slot| Target::of(&self, kinds::find(slot.kind).expect("it was acquired"), slot, Duration::ZERO);
        let freed: Vec<_> = slots.into_iter().map(target).map(|target| tasks::spawn(async move { target.free().await })).collect();
        for freed in freed {
            let _ = freed.await;
        }
    }

    pub fn closed_error(&self) -> Error {
        Error::Closed { server: self.config.server() }
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
