//! All knowledge of Redis. [`Redis`] is the engine: it carries out the requests of a client in one process.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use smallvec::SmallVec;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::io_thread::IoThread;
use crate::base::tasks::{self, Work, boxed};
use crate::config::Config;
use crate::engine::WINDOW;
use crate::engine::claim::Claim;
use crate::engine::departures::{Departure, Departures};
use crate::engine::gate::Gates;
use crate::engine::holds::{Ended, Holds};
use crate::engine::loss_listeners::LossListeners;
use crate::engine::stats::Counters;
use crate::redis::client_name::ClientName;
use crate::redis::inbox::Inbox;
use crate::redis::kinds::KindRow;
use crate::redis::link::wakes::Wakes;
use crate::redis::link::{BATCH, First, Firsts, Limits, Link, MOST_IN_FLIGHT};
use crate::redis::ops::inventory::Processes;
use crate::redis::requests::Requests;
use crate::redis::settle::{RetryLimits, settle};
use crate::redis::wait::insisting::Insisting;
use crate::redis::wait::lines::{self, Lines};
use crate::request::error::{Error, Result};
use crate::request::owner::owner_field;
use crate::request::{Done, Look};

pub mod client_name;
pub mod dispatch;
pub mod inbox;
pub mod kinds;
pub mod link;
pub mod ops;
pub mod requests;
pub mod settle;
pub mod target;
pub mod wait;
pub mod wind_up;

/// The engine for Redis: the part of a client that belongs to one process.
pub struct Redis {
    pub config: Config,
    /// The client's identity in Redis.
    pub uuid: String,
    pub link: Link,
    pub wakes: Arc<Wakes>,
    pub gates: Arc<Gates>,
    pub insisting: Insisting,
    pub departures: Arc<Departures>,
    pub loss_listeners: LossListeners,
    pub io: Arc<IoThread>,
    holds: Mutex<Holds>,
    lines: Mutex<Lines>,
    inbox: Arc<Inbox>,
    /// Wakes the watchdog for a check that is due earlier than it sleeps.
    pub earlier: Arc<Notify>,
    /// Whether the watchdog checks now and then that the machine was not suspended.
    pub looks: AtomicBool,
    requests: Requests,
    pub counters: Arc<Counters>,
    /// The processes of other clients, as a listing names them.
    pub processes: Processes,
    /// The semaphores without permits about which the client has warned.
    pub unset: Mutex<HashSet<Arc<str>>>,
    /// One for each pipeline of first tries that may be in flight.
    pipelines: Semaphore,
}

impl Redis {
    /// Makes the state; starts no thread.
    pub fn new(config: &Config, uuid: String, io: Arc<IoThread>) -> Result<Self> {
        let wakes = Arc::new(Wakes::default());
        let departures = Arc::<Departures>::default();
        // See `engine/holds/belief.rs`.
        let database = config.database;
        tracing::trace!(target: "redlatch::belief", change = "begun", client = &*uuid, servers = %config.servers, database);
        let name = config.client_name.clone().unwrap_or_else(|| ClientName::of(&uuid).text());
        let of_link = Config { client_name: Some(name), ..config.clone() };
        Ok(Redis {
            link: Link::new(&of_link, wakes.clone())?,
            wakes,
            gates: Arc::default(),
            insisting: Insisting::default(),
            lines: Mutex::new(Lines::new(departures.clone())),
            departures,
            loss_listeners: LossListeners::default(),
            io,
            holds: Mutex::new(Holds::new(uuid.clone(), config.watchdog).without(&config.prefix)),
            uuid,
            inbox: Arc::default(),
            earlier: Arc::default(),
            looks: AtomicBool::new(false),
            requests: Requests::default(),
            counters: Arc::default(),
            processes: Processes::default(),
            unset: Mutex::default(),
            pipelines: Semaphore::new(MOST_IN_FLIGHT / BATCH),
            config: config.clone(),
        })
    }

    /// Runs `work` on the holds. Then it tells of the holds that ended in it, and wakes the watchdog if a check is due
    /// before it wakes by itself. The reports for the log come last: the program's subscriber may be slow, or panic. Never
    /// call it inside itself; inside `lines` only for work that ends no hold.
    pub fn holds<T>(self: &Arc<Self>, work: impl FnOnce(&mut Holds) -> T) -> T {
        let mut holds = self.holds.lock().expect("nothing panics while it is held");
        let result = work(&mut holds);
        let ended = holds.take_ended();
        let calls = holds.take_call();
        drop(holds);
        if calls {
            self.earlier.notify_one();
        }
        // At the end of a client, very many are lost at once.
        let has_lines = ended.iter().any(|ended| ended.loss.is_some()) && !self.lines().are_none();
        for ended in &ended {
            if ended.loss.is_some() && has_lines {
                // A waiter behind a lost hold must not wait for a pass, nor one by another kind for a message.
                let redis = self.clone();
                let claim = ended.claim.clone();
                self.io.spawn(async move { redis.wake_behind(&claim) });
            }
            self.loss_listeners.tell(ended.number, ended.loss.clone());
        }
        ended.iter().for_each(Ended::say);
        result
    }

    /// Wakes the waiters behind a hold that was lost: those of its own line, and those that wait for a message to all. Another
    /// owner that waits in a queue of the server hears messages of its own alone, and asks again by itself before long.
    fn wake_behind(&self, claim: &Claim) {
        let row = kinds::find(claim.kind).expect("it was acquired");
        let key = lines::key(claim, &row.traits);
        self.lines().change(&key, Instant::now(), |line| line.pace.hurry(Instant::now()));
        self.message(std::iter::once(row).chain(row.sharers()), claim, None);
    }

    /// Wakes the waiters by other kinds that share the keys of this one, as a message of their own kind to all would.
    pub fn wake_sharers(&self, row: &KindRow, claim: &Claim) {
        let lines = self.lines().sharers(row, claim);
        if !lines.is_empty() {
            let own = row.kind.wake(&claim.name, &owner_field(&self.uuid, claim.owner)).channel;
            self.message(lines.iter().filter_map(|line| kinds::find(line.kind)), claim, own);
        }
    }

    /// Does what a message on the channel of each of these kinds would do, but for one channel.
    fn message<'a>(&self, rows: impl Iterator<Item = &'a KindRow>, claim: &Claim, but: Option<String>) {
        let owner = owner_field(&self.uuid, claim.owner);
        let mut told: SmallVec<[String; 4]> = but.into_iter().collect();
        for channel in rows.filter_map(|row| row.kind.wake(&claim.name, &owner).channel) {
            if !told.contains(&channel) {
                self.wakes.message(&channel);
                told.push(channel);
            }
        }
    }

    /// Completes `done` when a hold has ended.
    pub fn watch(self: &Arc<Self>, hold: u64, ticket: u64, done: Done) {
        if let Err(done) = self.loss_listeners.add(hold, ticket, done) {
            let loss = self.holds(|holds| holds.loss_of(hold, Instant::now()));
            return done(Err(loss.map_or_else(|| self.closed_error(), |loss| Error::Lost(Box::new(loss)))));
        }
        match self.holds(|holds| holds.look(hold, Instant::now())) {
            Look::Held { .. } => {}
            Look::Lost(loss) => self.loss_listeners.tell(hold, Some(loss)),
            // Its release may have told of a loss already.
            Look::Gone => self.loss_listeners.tell(hold, self.holds(|holds| holds.loss_of(hold, Instant::now()))),
        }
    }

    pub fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().expect("nothing panics while it is held")
    }

    /// The engine's own work on the I/O thread. It does not keep the engine alive; clients, guards and calls in flight
    /// do.
    pub fn run(self: &Arc<Self>) -> Work {
        let redis = Arc::downgrade(self);
        let inbox = self.inbox.clone();
        let for_firsts = redis.clone();
        let send = move |firsts| for_firsts.upgrade().is_some_and(|redis: Arc<Redis>| redis.send(firsts));
        let watchdog = ops::watchdog::run(redis, self.wakes.clone(), self.earlier.clone(), self.gates.freed.clone());
        boxed(async move {
            tasks::spawn(async move { inbox.deal_out(send).await });
            watchdog.await;
        })
    }

    /// Notes that a hold of this name is on its way back although its caller is gone, until the drop of the result.
    pub fn depart(&self, name: &Arc<str>) -> Departure {
        let name = self.config.full_name(name.clone());
        self.departures.begin(kinds::multi::group(&name).into())
    }

    /// Runs work on the I/O thread for a caller; the end of the client waits for it.
    pub fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let present = self.io.presence.accompany();
        self.inbox.put(async move {
            work.await;
            drop(present);
        });
    }

    /// Answers all that is left and refuses all that comes, because the I/O thread has ended, by the end of the client
    /// or by a panic.
    pub fn end(self: &Arc<Self>) {
        self.refuse();
        self.tell_closed();
        self.dismiss();
    }

    /// Refuses new requests, and answers those without a call in flight.
    fn refuse(&self) {
        self.io.presence.shut();
        self.inbox.close();
        let waiting = {
            let mut lines = self.lines();
            (lines.close(Instant::now()), lines.take_all())
        };
        drop(waiting);
    }

    /// Tells all listeners that the client is closed.
    fn dismiss(&self) {
        self.loss_listeners.end(|| self.closed_error());
        self.wakes.events.close(|| self.closed_error());
    }

    /// Sends a first try on the I/O thread, together with others, if it has the usual time limit.
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

    /// Sends first tries. Tells whether there is much to do.
    fn send(self: &Arc<Self>, firsts: Vec<Box<dyn First>>) -> bool {
        let limits = self.limits();
        let busy = self.link.flush() || !firsts.is_empty();
        let mut firsts = firsts.into_iter().peekable();
        while firsts.peek().is_some() {
            let redis = self.clone();
            let firsts = Firsts { all: firsts.by_ref().take(BATCH).collect(), limits };
            tasks::spawn(async move {
                match timeout(limits.response, redis.pipelines.acquire()).await {
                    Ok(_entry) => redis.link.run_all(firsts).await,
                    Err(_) => firsts.not_sent(),
                }
            });
        }
        busy
    }

    pub fn is_closed(&self) -> bool {
        self.io.presence.is_closing()
    }

    /// A fresh key to remember a call about `name` that leaves no other trace.
    pub fn request(&self, name: &str) -> String {
        self.requests.next(name, &self.uuid)
    }

    /// Reserves this many numbers for permits without a holder; gives the first.
    pub fn numbers(&self, count: i64) -> i64 {
        self.requests.numbers(count)
    }

    /// Deletes such a key soon, because its call has its answer.
    pub fn forget(self: &Arc<Self>, request: String) {
        if self.requests.forget(request) {
            let redis = self.clone();
            self.io.spawn_present(async move {
                let give_up = Instant::now() + redis.config.retry_for;
                // Each key may belong to another server, and must not wait for a silent one. The end of the client
                // waits for all of them.
                let forgetting: Vec<_> = redis
                    .requests
                    .forgetting(|request| redis.link.slot_of_key(request))
                    .into_iter()
                    .map(|call| {
                        let redis = redis.clone();
                        tasks::spawn(async move {
                            // Without an answer the keys end by themselves.
                            let retry = RetryLimits { response: redis.config.response_timeout, give_up, end: None };
                            let _ = settle(&redis, &call, retry, None).await;
                        })
                    })
                    .collect();
                for forgotten in forgetting {
                    let _ = forgotten.await;
                }
            });
        }
    }

    pub fn closed_error(&self) -> Error {
        Error::Closed { server: self.config.server() }
    }

    /// The error for a caller that was asked to end, or whose client was.
    pub fn cancelled_error(&self) -> Error {
        if self.is_closed() { self.closed_error() } else { Error::Cancelled }
    }
}

/// Runs when the last client, guard and call are gone.
impl Drop for Redis {
    fn drop(&mut self) {
        self.io.stop();
        self.refuse();
        // The holds that the program has kept, and still watches, are renewed no longer.
        let ended = {
            let mut holds = self.holds.lock().expect("nothing panics while it is held");
            holds.close(Instant::now());
            holds.take_ended()
        };
        for ended in &ended {
            self.loss_listeners.tell(ended.number, ended.loss.clone());
        }
        self.dismiss();
        ended.iter().for_each(Ended::say);
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
    }
}
