//! Engines of systems that keep what a session takes for as long as it lasts. [`Sessions`] is the engine: it carries out the
//! requests of a client in one process, by a [`driver`] that knows one such system.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use foldhash::fast::RandomState;
use smallvec::SmallVec;
use tokio::sync::{Notify, oneshot};

use crate::base::clock::Instant;
use crate::base::io_thread::IoThread;
use crate::config::Config;
use crate::engine::claim::Claim;
use crate::engine::departures::Departures;
use crate::engine::gate::Gates;
use crate::engine::holds::{Ended, Holds};
use crate::engine::loss_listeners::LossListeners;
use crate::engine::stats::Counters;
use crate::engine::traits::Traits;
use crate::request::error::{Error, LostReason, Result};
use crate::request::names::{LEADER, without};
use crate::request::owner::OwnerField;
use crate::request::seat;
use crate::request::{Answer, Done, Look};
use crate::sessions::bonds::Bonds;
use crate::sessions::driver::{Bond, Driver, Key, News};
use crate::sessions::grips::Grips;
use crate::sessions::waiter::{Caller, Waiter};

mod acquire;
mod bonds;
mod dispatch;
pub mod driver;
mod grips;
mod line;
#[cfg(feature = "mysql")]
pub mod mysql;
mod others;
mod release;
#[cfg(any(feature = "mysql", feature = "zookeeper"))]
mod stream;
mod waiter;
mod watchdog;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;

/// The engine for a system with sessions: the part of a client that belongs to one process.
pub struct Sessions {
    pub config: Config,
    pub uuid: String,
    pub io: Arc<IoThread>,
    pub driver: Arc<dyn Driver>,
    pub departures: Arc<Departures>,
    pub gates: Arc<Gates>,
    pub loss_listeners: LossListeners,
    pub counters: Arc<Counters>,
    state: Mutex<State>,
    /// Wakes the watchdog for a check that is due earlier than it sleeps.
    earlier: Arc<Notify>,
}

/// All that the client knows. One lock guards it: a hold, its grip and its bond change in one step.
pub struct State {
    pub holds: Holds,
    pub grips: Grips<Waiter>,
    pub bonds: Bonds,
    /// The key of each hold.
    keys: HashMap<u64, Key, RandomState>,
    /// The callers of releases whose grip is on its way back.
    releases: HashMap<Key, Vec<Caller>, RandomState>,
    /// The waiters whose wait has ended while the client stood in the server's queue for them alone: their answers wait for the
    /// end of that.
    late: HashMap<Key, Vec<Late>, RandomState>,
    /// The keys that have a task, and the way to wake it.
    tasks: HashMap<Key, Arc<Notify>, RandomState>,
    /// The keys in whose lines requests wait.
    waits: HashMap<u64, Key, RandomState>,
    /// The requests that wait until the client has met the server.
    meeting: HashMap<u64, oneshot::Sender<()>, RandomState>,
    /// The time at which the calls about a key began to fail, and the error of the last one.
    failing: HashMap<Key, (Instant, Error), RandomState>,
    /// The server's address, for messages.
    server: String,
    /// The client has reached the server.
    met: bool,
    /// The client is closed: no request waits any more.
    closed: bool,
    /// The watchdog sleeps until then.
    asleep_until: Instant,
    after: Vec<After>,
    /// Holds that have ended, of which the client tells once the state is free again.
    told: Vec<Ended>,
    /// Holds for whose release another client has asked.
    wanted: HashSet<u64, RandomState>,
    /// Such holds, of which the client tells once the state is free again.
    asks: Vec<Claim>,
}

/// A waiter whose wait has ended, its answer, and the latest time for that.
struct Late {
    waiter: Waiter,
    answer: Result<Answer>,
    until: Instant,
}

/// The work for the time after the state is free again.
enum After {
    Begin(Key, Arc<Notify>),
    Wake(Arc<Notify>),
    Tell(Caller, Result<Answer>),
    Grant(Waiter, Result<Answer>),
    /// The same, if the waiter's thread comes for it in time.
    Offer(Waiter, Answer),
    /// Another owner has the lock that was on its way to a waiter.
    Miss(Box<dyn seat::Offer>),
    Drop(Bond),
}

impl Sessions {
    /// Makes the state; starts no thread.
    pub fn new(config: &Config, uuid: String, io: Arc<IoThread>, driver: Arc<dyn Driver>) -> Arc<Self> {
        // See `engine/holds/belief.rs`.
        tracing::trace!(target: "redlatch::belief", change = "begun", client = &*uuid, servers = %config.servers, database = 0i64);
        let sessions = Arc::new(Sessions {
            departures: Arc::default(),
            gates: Arc::default(),
            loss_listeners: LossListeners::default(),
            counters: Arc::default(),
            state: Mutex::new(State {
                holds: Holds::new(uuid.clone(), config.watchdog).without(&config.prefix),
                grips: Grips::new(config.turn).standing_at_once(driver.stands_at_once()),
                bonds: Bonds::default(),
                keys: HashMap::default(),
                releases: HashMap::default(),
                late: HashMap::default(),
                tasks: HashMap::default(),
                waits: HashMap::default(),
                meeting: HashMap::default(),
                failing: HashMap::default(),
                server: config.server(),
                met: false,
                closed: false,
                asleep_until: Instant::NEVER,
                after: Vec::new(),
                told: Vec::new(),
                wanted: HashSet::default(),
                asks: Vec::new(),
            }),
            earlier: Arc::default(),
            config: config.clone(),
            uuid,
            io,
            driver,
        });
        let hears = Arc::downgrade(&sessions);
        sessions.driver.listen(Box::new(move |news| {
            if let Some(sessions) = hears.upgrade() {
                sessions.hear(news);
            }
        }));
        sessions
    }

    /// Runs `work` on the state. Then it tells of the holds that ended in it, answers callers, and wakes tasks. Never call it
    /// inside itself.
    pub fn work<T>(self: &Arc<Self>, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = work(&mut state);
        let mut ended = std::mem::take(&mut state.told);
        ended.extend(state.settle());
        let after = std::mem::take(&mut state.after);
        let asks = std::mem::take(&mut state.asks);
        // A task that sleeps longer than it should has been called by `holds`; a bond may be due earlier, too.
        let next = state.bonds.next().unwrap_or(Instant::NEVER);
        let calls = state.holds.take_call() || next < state.asleep_until;
        if calls {
            state.asleep_until = Instant::FIRST;
        }
        drop(state);
        if calls {
            self.earlier.notify_one();
        }
        for after in after {
            match after {
                After::Begin(key, nudge) => drop(self.io.spawn(line::run(self.clone(), key, nudge))),
                After::Wake(nudge) => nudge.notify_one(),
                After::Tell(caller, answer) => caller.answer(answer),
                After::Grant(waiter, answer) => waiter.answer(answer),
                After::Offer(waiter, answer) => waiter.offer(answer),
                After::Miss(offer) => offer.missed(),
                After::Drop(bond) => self.driver.drop_bond(bond),
            }
        }
        self.report(&ended);
        asks.iter().for_each(|claim| self.say_wanted(claim));
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }

    /// Notes what the driver tells.
    fn hear(self: &Arc<Self>, news: News) {
        self.work(|state| match news {
            News::Opened { bond, sent, lease } => {
                state.met = true;
                state.bonds.opened(bond, sent, lease);
            }
            News::Answered { bond, sent, from } => {
                state.bonds.answered(bond, sent, from);
                state.follow(bond, sent, from, Instant::now());
            }
            News::Agreed { bond, lease, from } => state.bonds.agreed(bond, lease, from),
            News::Alive { bond, from } => state.bonds.lives(bond, from),
            News::Gone { bond, key, reason } => {
                state.bonds.remove(bond, &key);
                state.end_grip(&key, bond, reason, Instant::now());
            }
            News::Taken { key } => {
                state.failing.remove(&key);
                if state.grips.told_taken(&key, Instant::now()) {
                    state.poke(&key);
                }
            }
            News::Wanted { key } => {
                let holds = state.grips.holds(&key);
                let claim = holds.last().and_then(|number| state.claim_of(*number));
                state.wanted.extend(holds);
                state.asks.extend(claim);
            }
            News::Ended { bond, reason } => state.end_bond(bond, reason, Instant::now()),
        });
    }

    /// Logs that another client asks the holder of a lock to let go.
    fn say_wanted(&self, claim: &Claim) {
        let lock = without(&self.config.prefix, &claim.name);
        let owner = OwnerField(&self.uuid, claim.owner).to_string();
        tracing::warn!(target: "redlatch::wanted", lock, owner, "another client asks the owner to release `{lock}`");
    }

    pub fn is_closed(&self) -> bool {
        self.io.presence.is_closing()
    }

    /// The features of a kind.
    pub fn kind(&self, kind: &str) -> Result<&'static Traits> {
        let kinds = self.driver.kinds();
        kinds.iter().find(|traits| traits.name == kind).ok_or_else(|| {
            let system = self.driver.system();
            let locks = kinds.iter().filter(|traits| traits.name != LEADER);
            let names: Vec<_> = locks.map(|traits| traits.name).collect();
            Error::Unsupported(format!(
                "{system} does not have the kind {kind}; it has {}, and multi and red locks of these; Redis has all kinds",
                names.join(", ")
            ))
        })
    }

    /// Completes `done` when a hold has ended.
    pub fn watch(self: &Arc<Self>, hold: u64, ticket: u64, done: Done) {
        if let Err(done) = self.loss_listeners.add(hold, ticket, done) {
            let loss = self.work(|state| state.holds.loss_of(hold, Instant::now()));
            return done(Err(loss.map_or_else(|| self.closed_error(), |loss| Error::Lost(Box::new(loss)))));
        }
        match self.look(hold) {
            Look::Held { .. } => {}
            Look::Lost(loss) => self.loss_listeners.tell(hold, Some(loss)),
            // Its release may have told of a loss already.
            Look::Gone => {
                let loss = self.work(|state| state.holds.loss_of(hold, Instant::now()));
                self.loss_listeners.tell(hold, loss);
            }
        }
    }

    /// Tells what the client knows of a hold: it believes in it no longer than in its bond.
    pub fn look(self: &Arc<Self>, hold: u64) -> Look {
        self.work(|state| {
            let now = Instant::now();
            state.expire_bonds(now);
            match state.holds.look(hold, now) {
                Look::Held { remaining } => Look::Held { remaining: remaining.min(state.left(hold, now)) },
                look => look,
            }
        })
    }

    /// Answers all that is left and refuses all that comes, because the I/O thread has ended.
    fn refuse(self: &Arc<Self>) {
        self.io.presence.shut();
        self.end_waits();
        let left = {
            let mut state = self.lock();
            state.tasks.clear();
            (std::mem::take(&mut state.releases), std::mem::take(&mut state.late))
        };
        drop(left);
        self.driver.cut();
    }

    /// Ends the waiting acquires, and lets no other begin.
    fn end_waits(&self) {
        let waiting = {
            let mut state = self.lock();
            state.closed = true;
            state.waits.clear();
            state.meeting.clear();
            let nudges: Vec<_> = state.tasks.values().cloned().collect();
            nudges.into_iter().for_each(|nudge| nudge.notify_one());
            state.grips.take_waiters()
        };
        // The drop answers them, and the state must be free then.
        drop(waiting);
    }

    pub fn closed_error(&self) -> Error {
        Error::Closed { server: self.config.server() }
    }

    /// The error for a caller that was asked to end, or whose client was.
    pub fn cancelled_error(&self) -> Error {
        if self.is_closed() { self.closed_error() } else { Error::Cancelled }
    }
}

impl State {
    /// Wakes the task of a key, or starts it.
    fn poke(&mut self, key: &Key) {
        match self.tasks.get(key) {
            Some(nudge) => self.after.push(After::Wake(nudge.clone())),
            None => {
                let nudge = Arc::<Notify>::default();
                self.tasks.insert(key.clone(), nudge.clone());
                self.after.push(After::Begin(key.clone(), nudge));
            }
        }
    }

    /// The same, if the task has anything to do: to wake it costs more than to hand a lock on.
    fn poke_if_due(&mut self, key: &Key, now: Instant) {
        if self.grips.is_due(key, now) {
            self.poke(key);
        }
    }

    /// Has the grips follow the holds that have ended: the grip of a hold that was lost goes back, or to the next owner.
    fn settle(&mut self) -> Vec<Ended> {
        let mut all = Vec::new();
        loop {
            let ended = self.holds.take_ended();
            if ended.is_empty() {
                return all;
            }
            for one in &ended {
                let Some(key) = self.key_of_ended(one.number) else { continue };
                if self.grips.let_go(&key, one.number) {
                    self.poke(&key);
                }
            }
            all.extend(ended);
        }
    }

    /// The time for which the client believes in the bond of a hold.
    fn left(&self, hold: u64, now: Instant) -> Duration {
        let bond = self.keys.get(&hold).and_then(|key| self.grips.bond(key));
        bond.map_or(Duration::ZERO, |bond| self.bonds.left(bond, now))
    }

    /// Ends the bonds in which the client believes no longer.
    fn expire_bonds(&mut self, now: Instant) {
        for (bond, is_unanswered) in self.bonds.over(now) {
            let reason = if is_unanswered { LostReason::Partitioned } else { LostReason::Paused };
            // Before the tasks of its keys go on.
            self.after.push(After::Drop(bond));
            self.end_bond(bond, reason, now);
        }
    }

    /// Has the holds of a bond last as long as it does, if the answer to its sign of life came late: the watchdog's next look may
    /// come after their ends.
    fn follow(&mut self, bond: Bond, sent: Instant, from: Instant, now: Instant) {
        let watchdog = self.holds.watchdog();
        if now.saturating_duration_since(sent) < watchdog / 20 {
            return;
        }
        let numbers = self.bonds.keys(bond).flat_map(|key| self.grips.holds(key));
        let claims: Vec<_> = numbers.filter_map(|number| self.claim_of(number)).collect();
        for claim in claims {
            if self.holds.is_renewed(&claim) {
                self.holds.lengthen(&claim, watchdog, from, now);
            }
        }
    }

    /// A bond has ended: its holds are lost.
    fn end_bond(&mut self, bond: Bond, reason: LostReason, now: Instant) {
        for key in self.bonds.ended(bond) {
            self.end_grip(&key, bond, reason, now);
        }
    }

    /// The grip of a key is gone: the holds through it are lost.
    fn end_grip(&mut self, key: &Key, bond: Bond, reason: LostReason, now: Instant) {
        let lost: SmallVec<[u64; 1]> = self.grips.ended(key, bond, now);
        for number in lost {
            // A belief that was over before ended by itself.
            if let Some(claim) = self.claim_of(number)
                && self.holds.count(&claim, now) > 0
            {
                self.holds.lost(&claim, reason, now);
            }
            self.key_of_ended(number);
        }
        self.poke(key);
    }

    /// Forgets what belongs to a hold that has ended. Gives its key.
    fn key_of_ended(&mut self, number: u64) -> Option<Key> {
        self.wanted.remove(&number);
        self.keys.remove(&number)
    }

    fn claim_of(&self, number: u64) -> Option<Claim> {
        self.holds.claim_of(number)
    }
}

/// Runs when the last client, guard and call are gone.
impl Drop for Sessions {
    fn drop(&mut self) {
        self.io.presence.shut();
        match self.driver.part() {
            Some(parting) => self.io.stop_behind(parting),
            None => {
                self.io.stop();
                self.driver.cut();
            }
        }
        let ended = {
            let mut state = self.lock();
            state.closed = true;
            state.holds.close(Instant::now());
            state.holds.take_ended()
        };
        self.report(&ended);
        self.loss_listeners.end(|| self.closed_error());
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
    }
}
