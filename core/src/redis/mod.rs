//! Everything of a client that belongs to one process: a child after `fork` gets a new one and never touches its parent's.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::exhausted;
use crate::base::presence::Presence;
use crate::base::tasks::{self, Io, boxed};
use crate::client::group::Holding;
use crate::config::Config;
use crate::engine::WINDOW;
use crate::engine::claim::Slot;
use crate::engine::gate::Gates;
use crate::engine::holds::Holds;
use crate::engine::loss_listeners::Watchers;
use crate::redis::inbox::Inbox;
use crate::redis::link::wakes::Wakes;
use crate::redis::link::{First, Firsts, Limits, Link, TOGETHER, UNDER_WAY};
use crate::redis::requests::Requests;
use crate::redis::settle::{Tries, settle};
use crate::redis::target::Target;
use crate::redis::wait::lines::{self, Lines};
use crate::request::error::{Error, LostReason, Result};
use crate::request::{Done, Look};

pub mod dispatch;
pub mod inbox;
pub mod kinds;
pub mod link;
pub mod ops;
pub mod requests;
pub mod settle;
pub mod target;
pub mod wait;

/// What the end of a client has for the calls in flight, at least, however long its releases have taken.
const LAST: Duration = Duration::from_millis(100);

pub struct Live {
    pub config: Config,
    pub uuid: String,
    pub link: Link,
    pub wakes: Arc<Wakes>,
    pub gates: Arc<Gates>,
    pub watchers: Watchers,
    pub presence: Arc<Presence>,
    holds: Mutex<Holds>,
    lines: Mutex<Lines>,
    groups: Mutex<Holding>,
    io: OnceLock<Io>,
    /// Held by the caller that starts the I/O thread, so that only one does.
    starting: Mutex<()>,
    inbox: Arc<Inbox>,
    /// Ends the I/O thread.
    pub stop: Arc<Notify>,
    /// Tells the watchdog that something is due earlier than it sleeps.
    pub earlier: Arc<Notify>,
    /// The watchdog looks now and then whether the machine was suspended.
    pub looks: AtomicBool,
    requests: Requests,
    /// The semaphores without permits of which a warning was given.
    pub unset: Mutex<HashSet<Arc<str>>>,
    /// One for each pipeline of first tries that may be under way.
    pipelines: Semaphore,
}

impl Live {
    /// Starts nothing.
    pub fn new(config: &Config) -> Result<Self> {
        let (wakes, uuid) = (Arc::new(Wakes::default()), uuid()?);
        // See `engine/holds/belief.rs`.
        let database = config.database;
        tracing::trace!(target: "redlatch::belief", change = "begun", client = &*uuid, servers = %config.servers, database);
        Ok(Live {
            link: Link::new(config, wakes.clone())?,
            wakes,
            gates: Arc::default(),
            watchers: Watchers::default(),
            presence: Arc::default(),
            holds: Mutex::new(Holds::new(uuid.clone(), config.watchdog).without(&config.prefix)),
            uuid,
            lines: Mutex::default(),
            groups: Mutex::default(),
            io: OnceLock::new(),
            starting: Mutex::default(),
            inbox: Arc::default(),
            stop: Arc::default(),
            earlier: Arc::default(),
            looks: AtomicBool::new(false),
            requests: Requests::default(),
            unset: Mutex::default(),
            pipelines: Semaphore::new(UNDER_WAY / TOGETHER),
            config: config.clone(),
        })
    }

    /// Works on what is held, then tells of the holds that ended by that, and wakes the watchdog if something is due before it wakes by
    /// itself. Never to be called inside itself; inside `lines` it may be.
    pub fn holds<T>(self: &Arc<Self>, work: impl FnOnce(&mut Holds) -> T) -> T {
        let mut holds = self.holds.lock().expect("nothing panics while it is held");
        let result = work(&mut holds);
        let (ended, calls) = (holds.take_ended(), holds.take_call());
        drop(holds);
        if calls {
            self.earlier.notify_one();
        }
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
        if let Err(done) = self.watchers.add(hold, ticket, done) {
            return done(Err(self.closed_error()));
        }
        match self.holds(|holds| holds.look(hold, Instant::now())) {
            Look::Held { .. } => {}
            Look::Lost(loss) => self.watchers.tell(hold, Some(loss)),
            Look::Gone => self.watchers.tell(hold, None),
        }
    }

    pub fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().expect("nothing panics while it is held")
    }

    /// What is held of several locks as one, of which the first is this client's.
    pub fn groups(&self) -> MutexGuard<'_, Holding> {
        self.groups.lock().expect("nothing panics while it is held")
    }

    /// Starts the I/O thread, with the first call of the client.
    ///
    /// # Errors
    /// `Unavailable` if the system gives no thread or no descriptors for it; a later call tries again.
    pub fn start(self: &Arc<Self>) -> Result<()> {
        if self.io.get().is_none() {
            let _only_me = self.starting.lock().expect("nothing panics while it is held");
            if self.io.get().is_none() {
                let io = self.run().map_err(|error| not_started(self.config.server(), &error))?;
                let _ = self.io.set(io);
            }
        }
        Ok(())
    }

    /// Runs the I/O thread until the client is closed, or dropped: what goes on there by itself does not keep the client alive, calls do.
    fn run(self: &Arc<Self>) -> std::io::Result<Io> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let io = Io(runtime.handle().clone());
        let live = Arc::downgrade(self);
        let dealing = (self.inbox.clone(), live.clone());
        let (give, given) = sync_channel::<Runtime>(1);
        let (wakes, earlier, freed, stop) = (self.wakes.clone(), self.earlier.clone(), self.gates.freed.clone(), self.stop.clone());
        let watchdog = crate::redis::ops::watchdog::run(live.clone(), wakes, earlier, freed, stop);
        let run = move || {
            let Ok(runtime) = given.recv() else { return };
            let (inbox, live_of_firsts) = dealing;
            let send = move |firsts| live_of_firsts.upgrade().is_some_and(|live: Arc<Live>| live.send(firsts));
            runtime.spawn(boxed(async move { inbox.deal_out(send).await }));
            // As a task: each waking of what is blocked on costs a system call more. A panic has been told of by then.
            let _ = runtime.block_on(runtime.spawn(boxed(watchdog)));
            drop(runtime);
            live.upgrade().inspect(|live| live.end());
        };
        // A runtime may not be dropped where the caller may not block, as by a thread that does not come about inside a runtime of the caller.
        if let Err(error) = std::thread::Builder::new().name("redlatch-io".into()).spawn(run) {
            runtime.shutdown_background();
            return Err(error);
        }
        // The thread waits for it.
        let _ = give.send(runtime);
        Ok(io)
    }

    /// The I/O thread's runtime.
    pub fn io(&self) -> &Io {
        self.io.get().expect("every call of a client begins with its start")
    }

    /// Has something done on the I/O thread, for a caller; the end of the client waits for it.
    pub fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let present = self.presence.accompany();
        self.spawn_apart(async move {
            work.await;
            drop(present);
        });
    }

    /// As [`Live::spawn`], and the end of the client ends it.
    pub fn spawn_apart(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        self.inbox.put(work);
    }

    /// Has something done on the I/O thread that no caller waits for; the end of the client does.
    pub fn aside<T: Send + 'static>(self: &Arc<Self>, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        let present = self.presence.accompany();
        self.io().spawn(async move {
            let result = work.await;
            drop(present);
            result
        })
    }

    /// The I/O thread is no more, at the end of the client or by a panic: what is left is answered, and nothing begins any more.
    fn end(self: &Arc<Self>) {
        self.refuse();
        self.tell_closed();
        self.dismiss();
    }

    /// From now on no request begins. Requests without a call under way are answered.
    fn refuse(&self) {
        self.presence.shut();
        self.inbox.close();
        let waiting = {
            let mut lines = self.lines();
            (lines.close(Instant::now()), lines.take_all())
        };
        drop(waiting);
    }

    /// Tells all that still listen for something that the client is closed.
    fn dismiss(&self) {
        self.watchers.end(|| self.closed_error());
        self.wakes.events.close(|| self.closed_error());
    }

    /// Has a first try made on the I/O thread, together with others, where it may take its usual time.
    pub fn first(&self, first: Box<dyn First>, response: Duration) {
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

    pub fn is_closed(&self) -> bool {
        self.presence.is_closing()
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
            self.aside(async move {
                let give_up = Instant::now() + live.config.retry_for;
                // Each may belong to another server, and is not to wait for one that says nothing. The end of the client waits for them all.
                let forgetting: Vec<_> = live
                    .requests
                    .forgetting(|request| live.link.place(request))
                    .into_iter()
                    .map(|call| {
                        let live = live.clone();
                        tasks::spawn(async move {
                            // Without an answer they end by themselves.
                            let tries = Tries { response: live.config.response_timeout, give_up, end: None };
                            let _ = settle(&live, &call, tries, None).await;
                        })
                    })
                    .collect();
                for forgotten in forgetting {
                    let _ = forgotten.await;
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

    /// Frees `held`, and lets everything end that is under way: what it takes is given back by it, since its caller is told of the end. All of
    /// that takes no longer than one call may.
    pub async fn wind_up(self: Arc<Self>, held: Vec<Slot>, done: SyncSender<()>) {
        let (began, response, retry_for) = (Instant::now(), self.config.response_timeout, self.config.retry_for);
        let longest = retry_for.max(response) + response + self.config.sync.within();
        let places = self.leave_places();
        // Each has the time of one call from its beginning on: of very many some begin late.
        self.free(held).await;
        for left in places {
            let _ = left.await;
        }
        let rest = || longest.saturating_sub(began.elapsed()).max(LAST);
        let _ = timeout(rest(), self.emptied()).await;
        // An acquire that was on its way may have taken a place meanwhile.
        let left = async {
            for left in self.leave_places() {
                let _ = left.await;
            }
        };
        let _ = timeout(rest(), left).await;
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
        let _ = done.send(());
    }

    /// Gives up the places in queues of the server.
    fn leave_places(&self) -> Vec<JoinHandle<()>> {
        let places = self.lines().take_places();
        places.into_iter().map(|target| tasks::spawn(async move { target.leave().await })).collect()
    }

    /// Returns once no caller is inside, and none can come in any more.
    async fn emptied(&self) {
        loop {
            self.gates.idle().await;
            self.presence.empty().await;
            if self.presence.shut_if_empty() && self.gates.is_idle() {
                return;
            }
        }
    }

    async fn free(self: &Arc<Self>, slots: Vec<Slot>) {
        let target = |slot: Slot| Target::of(self, kinds::find(slot.kind).expect("it was acquired"), slot, Duration::ZERO);
        let freed: Vec<_> = slots.into_iter().map(target).map(|target| tasks::spawn(async move { target.free().await })).collect();
        for freed in freed {
            let _ = freed.await;
        }
    }

    pub fn closed_error(&self) -> Error {
        Error::Closed { server: self.config.server() }
    }

    /// What a caller is told that was asked to end, or whose client was.
    pub fn cancelled_error(&self) -> Error {
        if self.is_closed() { self.closed_error() } else { Error::Cancelled }
    }
}

/// The last client, guard and call of it are gone.
impl Drop for Live {
    fn drop(&mut self) {
        self.stop.notify_one();
        self.refuse();
        self.dismiss();
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
    }
}

/// What is not done in a process that has no descriptor, or no thread, left.
fn not_started(server: String, error: &std::io::Error) -> Error {
    let cause = exhausted::cause(error).unwrap_or_else(|| format!("cannot be asked: the system gives no thread for it ({error})"));
    Error::Unavailable { server, cause, timeout: false }
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
