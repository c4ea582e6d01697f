//! ZooKeeper: a lock is a queue of ephemeral nodes, as Curator, kazoo and other clients have it, so it excludes them all. A
//! bond is a session, and the one of a client lasts over its connections.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tokio::time::{sleep, timeout};

use crate::base::tasks::{self, Work, boxed};
use crate::config::Config;
use crate::engine::traits::{PLAIN, Queue, Traits};
use crate::request::Op;
use crate::request::error::{Error, LostReason, Result};
use crate::request::names::LEADER;
use crate::sessions::driver::{
    A_HOLDER, Bond, Drawn, Driver, Evicted, Evictees, Gone, Grip, Hear, Key, Kin, News, Repeatable, Seen, Took,
};
use crate::sessions::zookeeper::names::{Mode, Spot};
use crate::sessions::zookeeper::permits::SetPermits;
use crate::sessions::zookeeper::places::ALWAYS;
use crate::sessions::zookeeper::session::Session;
use crate::sessions::zookeeper::wire::code;

mod dial;
pub mod names;
mod permits;
mod places;
mod proof;
mod session;
mod wire;

/// The beginning of the data of a lock's node; the client's UUID stands behind it.
const LABEL: &str = "redlatch ";

const LOCK: Traits = Traits { redisson: false, form: "a queue of nodes", ..PLAIN };
const PERMIT: Traits = Traits {
    name: "permit",
    reentrant: false,
    exclusive: false,
    queue: Queue::Alone,
    form: "a folder of permits",
    ..LOCK
};
const READ_WRITE: &str = "a queue of readers and writers";
const FAIR: Traits = Traits { name: "fair", fair: true, queue: Queue::Alone, ..LOCK };

const KINDS: &[Traits] = &[
    LOCK,
    Traits { name: "non_reentrant", reentrant: false, ..LOCK },
    Traits { name: "fenced", fenced: true, ..LOCK },
    FAIR,
    Traits { name: "non_reentrant_fair", reentrant: false, ..FAIR },
    Traits { name: "read", exclusive: false, queue: Queue::Alone, form: READ_WRITE, ..LOCK },
    // Its node must not go to another owner: a read of the same owner may stand at the same place.
    Traits { name: "write", queue: Queue::Alone, form: READ_WRITE, ..LOCK },
    PERMIT,
    // Only their number: a permit without an owner would have no session.
    Traits { name: "permit_semaphore", held: false, renewed: false, ..PERMIT },
    // Each candidate stands with a node of its own, which has its value from the first moment.
    Traits { name: LEADER, fenced: true, reentrant: false, queue: Queue::Alone, ..LOCK },
];

pub struct Zookeeper(Arc<Shared>);

pub struct Shared {
    config: Config,
    uuid: String,
    hear: OnceLock<Hear>,
    sessions: Mutex<Sessions>,
    /// One session is begun at a time.
    opening: Arc<AsyncMutex<()>>,
    is_closed: watch::Sender<bool>,
    nodes: Mutex<Nodes>,
    /// The number of nodes that the client has made.
    made: AtomicU64,
    /// The modes in which owners of this client have asked for locks, a bit for each.
    modes: AtomicU8,
}

#[derive(Default)]
struct Sessions {
    current: Option<Arc<Session>>,
    /// The sessions in which the client believes no more, on their way to their ends.
    given_up: Vec<Arc<Session>>,
    last: Bond,
}

/// The nodes of the client.
#[derive(Default)]
struct Nodes {
    /// The nodes by which the client has a lock.
    held: HashMap<Key, Node, RandomState>,
    /// The keys of those, by their paths.
    keys: HashMap<String, Key, RandomState>,
    /// The places in queues that no call uses for the moment.
    places: HashMap<Key, Node, RandomState>,
    /// The values with which candidates are to stand.
    values: HashMap<Key, Vec<u8>, RandomState>,
    /// The keys for which calls stand in queues, and the way to end that.
    standing: HashMap<Key, Arc<Notify>, RandomState>,
}

/// A node of the client.
#[derive(Clone, Debug)]
pub struct Node {
    bond: Bond,
    path: String,
    /// The version of its data that the client knows.
    version: i32,
}

impl Node {
    fn new(bond: Bond, path: String) -> Self {
        Node { bond, path, version: 0 }
    }

    /// Its name below its parent.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl Zookeeper {
    pub fn new(config: &Config, uuid: String) -> Self {
        Zookeeper(Arc::new(Shared {
            config: config.clone(),
            uuid,
            hear: OnceLock::new(),
            sessions: Mutex::default(),
            opening: Arc::default(),
            is_closed: watch::Sender::default(),
            nodes: Mutex::default(),
            made: AtomicU64::default(),
            modes: AtomicU8::default(),
        }))
    }

    fn spot(&self, kind: &Traits, name: &str, owner: i64) -> Spot {
        Spot::new(self.0.config.servers.chroot(), Mode::of(kind.name), name, owner)
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().expect("nothing panics while it is held")
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().expect("nothing panics while it is held")
    }

    fn tell(&self, news: News) {
        if let Some(hear) = self.hear.get() {
            hear(news);
        }
    }

    fn server(&self) -> String {
        self.config.server()
    }

    /// The data of the client's nodes: an administrator sees whose they are. That of a candidate is its value.
    fn data(&self, spot: &Spot) -> Vec<u8> {
        match spot.mode {
            Mode::Leader => self.nodes().values.get(&spot.key()).cloned().unwrap_or_default(),
            _ => self.label().into_bytes(),
        }
    }

    fn label(&self) -> String {
        format!("{LABEL}{}", self.uuid)
    }

    /// A text of the form of a UUID that no other node has.
    fn id(&self) -> String {
        let count = self.made.fetch_add(1, Relaxed) & 0xffff_ffff_ffff;
        format!("{}-{count:012x}", names::own_part(&self.uuid))
    }

    /// The session, which begins with its first use.
    async fn session(self: &Arc<Self>) -> Result<Arc<Session>> {
        if let Some(session) = self.ready() {
            return Ok(session);
        }
        let limit = self.limit();
        timeout(limit, self.begun()).await.unwrap_or_else(|_| {
            Err(Error::unavailable(self.server(), dial::not_in(limit, self.config.servers.is_tls()), true))
        })
    }

    /// Begins the session, unless another call has. It goes on without this one, and serves the next.
    async fn begun(self: &Arc<Self>) -> Result<Arc<Session>> {
        let one_by_one = self.opening.clone().lock_owned().await;
        if let Some(session) = self.ready() {
            return Ok(session);
        }
        let shared = self.clone();
        // A caller that stops waiting would leave a session behind of which the client knows nothing.
        let opening = tasks::spawn(async move {
            let _one_by_one = one_by_one;
            shared.open().await
        });
        opening.await.unwrap_or_else(|_| Err(Error::Closed { server: self.server() }))
    }

    async fn open(self: &Arc<Self>) -> Result<Arc<Session>> {
        let closed = || Error::Closed { server: self.server() };
        if *self.is_closed.borrow() {
            return Err(closed());
        }
        let dialed = dial::begin(self).await?;
        let bond = {
            let mut sessions = self.sessions();
            sessions.last += 1;
            sessions.last
        };
        let session = Session::start(self, bond, dialed);
        self.sessions().current = Some(session.clone());
        // The end of the client waits for this one, and ends it.
        if *self.is_closed.borrow() { Err(closed()) } else { Ok(session) }
    }

    /// Returns when the client is closed.
    async fn closed(&self) {
        let mut is_closed = self.is_closed.subscribe();
        let _ = is_closed.wait_for(|is_closed| *is_closed).await;
    }

    /// Returns when the client has been closed for that long.
    async fn closed_for(&self, time: Duration) {
        self.closed().await;
        sleep(time).await;
    }

    fn ready(&self) -> Option<Arc<Session>> {
        self.sessions().current.as_ref().filter(|session| !session.is_over()).cloned()
    }

    fn session_of(&self, bond: Bond) -> Option<Arc<Session>> {
        let sessions = self.sessions();
        sessions.current.iter().chain(&sessions.given_up).find(|session| session.bond == bond).cloned()
    }

    /// Notes that a session has ended.
    fn ended(&self, bond: Bond, reason: LostReason) {
        {
            let mut sessions = self.sessions();
            sessions.current.take_if(|session| session.bond == bond);
            sessions.given_up.retain(|session| session.bond != bond);
        }
        {
            let mut nodes = self.nodes();
            nodes.held.retain(|_, node| node.bond != bond);
            nodes.places.retain(|_, node| node.bond != bond);
            let Nodes { held, keys, .. } = &mut *nodes;
            keys.retain(|_, key| held.contains_key(key));
        }
        self.tell(News::Ended { bond, reason });
    }

    /// Tells whether the client has a lock, or a place in a queue, by a node of that session.
    fn has_nodes(&self, bond: Bond) -> bool {
        let nodes = self.nodes();
        nodes.held.values().chain(nodes.places.values()).any(|node| node.bond == bond)
    }

    /// Tells whether the client has a lock by that node.
    fn is_own(&self, path: &str) -> bool {
        self.nodes().keys.contains_key(path)
    }

    /// Tells whether a node below that path is on its way in or out for this client: it waits, or is being removed.
    fn is_passing(&self, parent: &str, name: &str) -> bool {
        names::is_of(&self.uuid, name) && !self.is_own(&format!("{parent}/{name}"))
    }

    /// Notes that another client has deleted a node of ours.
    fn deleted(&self, bond: Bond, path: &str) {
        let key = {
            let mut nodes = self.nodes();
            let Some(key) = nodes.keys.remove(path) else { return };
            // By now the client may have the lock by another node, in another session.
            if nodes.held.get(&key).is_none_or(|node| node.path != path) {
                return;
            }
            nodes.held.remove(&key);
            key
        };
        self.tell(News::Gone { bond, key, reason: LostReason::Deleted });
    }

    /// Notes that another client asks for a lock of ours.
    fn asked_for(&self, path: &str) {
        let key = self.nodes().keys.get(path).cloned();
        if let Some(key) = key {
            self.tell(News::Wanted { key });
        }
    }

    /// The error of a refusal, about `what`.
    fn refused(&self, what: &str, number: i32) -> Error {
        let remedy = match number {
            -102 => {
                "its rights (ACL) do not let this client do that; log in (zookeeper://user:password@host), or have its owner grant \
                 them"
            }
            -108 => "the path is below a node of a session; choose another name",
            -120 => {
                "the server makes no nodes of local sessions that end with them; switch localSessionsEnabled off, or \
                 localSessionsUpgradingEnabled on"
            }
            -124 => {
                "it wants a login by SASL, which this client does not have; let the server take the scheme digest, or TLS with tls_cert"
            }
            -125 => "the quota of the path is used up; raise it",
            code::UNIMPLEMENTED => "the server is too old; use ZooKeeper 3.5.3 or later",
            -8 => "the server does not take the path; choose another name or another chroot",
            _ => "see the log of the server",
        };
        Error::refused(what, code::name(number), remedy)
    }
}

impl Driver for Zookeeper {
    fn kinds(&self) -> &'static [Traits] {
        KINDS
    }

    fn system(&self) -> &'static str {
        "ZooKeeper"
    }

    fn listen(&self, hear: Hear) {
        let _ = self.0.hear.set(hear);
    }

    fn stands_at_once(&self) -> bool {
        true
    }

    fn key(&self, kind: &Traits, name: &str, owner: i64) -> Option<Key> {
        let spot = self.spot(kind, name, owner);
        self.0.modes.fetch_or(spot.mode.bit(), Relaxed);
        Some(spot.key())
    }

    fn kin(&self, key: &Key, owner: i64) -> Vec<(Key, Kin)> {
        let used = self.0.modes.load(Relaxed);
        if used.count_ones() < 2 {
            return Vec::new();
        }
        let spot = Spot::of(key);
        let kin = |other: Mode| match (spot.mode, other) {
            (Mode::Lock, Mode::Fair) | (Mode::Fair, Mode::Lock) => Some(Kin::Same),
            (mine, other) if mine == other || mine == Mode::Permit || other == Mode::Permit => None,
            // A writer may read as well.
            (Mode::Read, Mode::Write) => None,
            // Each candidate is an owner of its own.
            (Mode::Leader, _) | (_, Mode::Leader) => None,
            _ => Some(Kin::Barred),
        };
        let others = Mode::ALL.into_iter().filter(|mode| used & mode.bit() != 0);
        others.filter_map(|mode| Some((spot.other(mode, owner).key(), kin(mode)?))).collect()
    }

    fn meet(&self) -> Work<Result<()>> {
        let shared = self.0.clone();
        boxed(async move { shared.session().await.map(drop) })
    }

    fn take(&self, key: &Key) -> Work<Took> {
        boxed(self.0.clone().take(key.clone()))
    }

    fn stand(&self, key: &Key) -> Option<Work<Took>> {
        let left = Arc::<Notify>::default();
        self.0.nodes().standing.insert(key.clone(), left.clone());
        Some(boxed(self.0.clone().stand(key.clone(), left)))
    }

    fn leave(&self, key: &Key) -> Work {
        if let Some(leave) = self.0.nodes().standing.get(key) {
            leave.notify_one();
        }
        boxed(std::future::ready(()))
    }

    fn bring(&self, key: &Key, value: &[u8]) {
        self.0.nodes().values.insert(key.clone(), value.to_vec());
    }

    fn end(&self, key: &Key) {
        let place = {
            let mut nodes = self.0.nodes();
            nodes.values.remove(key);
            nodes.places.remove(key)
        };
        if let Some(place) = place
            && let Some(session) = self.0.session_of(place.bond)
        {
            self.0.remove_soon(&session, place);
        }
    }

    fn let_go(&self, grip: &Grip, again: bool) -> Work<Gone> {
        boxed(self.0.clone().let_go(grip.clone(), again))
    }

    fn fence(&self, grip: &Grip, _: i64) -> Work<Result<Drawn>> {
        boxed(self.0.clone().fence(grip.clone()))
    }

    fn renew(&self, bond: Bond) {
        drop(tasks::spawn(self.0.clone().renew(bond)));
    }

    fn changed(&self, key: &Key) -> Work {
        let Some(session) = self.0.ready() else { return boxed(sleep(A_HOLDER)) };
        // Each change of the queue's head removes its node.
        let (listed, changed) = session.begin_listing(&Spot::of(key).path);
        boxed(async move {
            match session.answer(listed, ALWAYS).await {
                Ok(_) => drop(changed.await),
                // There is no queue yet, or the connection has broken.
                Err(_) => sleep(A_HOLDER).await,
            }
        })
    }

    fn look(&self, key: &Key, fenced: bool) -> Work<Result<Seen>> {
        boxed(self.0.clone().look(key.clone(), fenced))
    }

    fn permits(&self, op: Op, kind: &Traits, name: &str, number: i64) -> Option<Repeatable> {
        let has = [Op::TrySet, Op::Set, Op::Add, Op::Inspect].contains(&op) && Mode::of(kind.name) == Mode::Permit;
        if !has {
            return None;
        }
        let shared = self.0.clone();
        let path = self.spot(kind, name, 0).path;
        if op == Op::Inspect {
            return Some(Box::new(move || boxed(shared.clone().count_permits(path.clone()))));
        }
        let change = Arc::new(SetPermits::new(&shared, op, path, number));
        Some(Box::new(move || boxed(shared.clone().set_permits(change.clone()))))
    }

    fn evict(&self, key: &Key, evictees: Evictees) -> Work<Result<Evicted>> {
        boxed(self.0.clone().evict(key.clone(), evictees))
    }

    fn ping(&self) -> Work<Result<()>> {
        boxed(self.0.clone().ping())
    }

    fn drop_bond(&self, bond: Bond) {
        let session = {
            let mut sessions = self.0.sessions();
            let session = sessions.current.take_if(|session| session.bond == bond);
            sessions.given_up.extend(session.clone());
            session
        };
        if let Some(session) = session {
            session.close();
        }
    }

    fn close(&self) -> Work {
        let shared = self.0.clone();
        shared.is_closed.send_replace(true);
        boxed(async move {
            // A session that is about to begin would outlast the client.
            drop(shared.opening.lock().await);
            let all: Vec<_> = {
                let sessions = shared.sessions();
                sessions.current.iter().chain(&sessions.given_up).cloned().collect()
            };
            all.iter().for_each(|session| session.close());
            for session in all {
                session.over().await;
            }
        })
    }

    fn cut(&self) {
        self.0.is_closed.send_replace(true);
        let all = {
            let mut sessions = self.0.sessions();
            let mut all = std::mem::take(&mut sessions.given_up);
            all.extend(sessions.current.take());
            all
        };
        all.iter().for_each(|session| session.cut());
    }

    /// A session does not end with its connection.
    fn part(&self) -> Option<Work> {
        let parting = self.close();
        let shared = self.0.clone();
        Some(boxed(async move {
            let _ = timeout(shared.limit(), parting).await;
            Zookeeper(shared).cut();
        }))
    }
}
