//! MySQL and MariaDB: a lock is one of the server's own, `GET_LOCK`, so it excludes every other client that uses these. A
//! bond is a connection, whose `wait_timeout` is the lease.

use std::collections::{BTreeSet, HashMap};
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::base::tasks::{self, Work, boxed};
use crate::config::Config;
use crate::engine::traits::{PLAIN, Queue, Traits};
use crate::request::error::{Error, LostReason, Result};
use crate::request::names::LEADER;
use crate::sessions::driver::{
    Bond, Drawn, Driver, Evicted, Evictees, Gone, Grip, Hear, Key, News, Seen, Took, lock_of, locked_tokens,
};
use crate::sessions::mysql::connection::{Connection, Failure, Role, Row};
use crate::sessions::mysql::leaders::Candidate;
use crate::sessions::mysql::names::{Flavour, is_candidates, literal, of_candidate};

mod connection;
mod leaders;
mod login;
mod names;
mod open;
mod wire;

const KINDS: &[Traits] = &[
    Traits { redisson: false, form: "a lock of the server", ..PLAIN },
    Traits { name: "non_reentrant", reentrant: false, redisson: false, form: "a lock of the server", ..PLAIN },
    Traits { name: "fenced", fenced: true, redisson: false, form: "a lock of the server", ..PLAIN },
    // Each candidate has a session of its own.
    Traits {
        name: LEADER,
        reentrant: false,
        fenced: true,
        redisson: false,
        queue: Queue::Alone,
        form: "a lock of the server",
        ..PLAIN
    },
];

/// The table of fencing tokens, and the statement that makes it.
const FENCES: &str = "redlatch_fence";
const MAKE_FENCES: &str =
    "CREATE TABLE redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB";
/// A connection whose oldest statement is unanswered for this long is passed by, if another may be opened.
const STUCK: Duration = Duration::from_millis(250);
/// The time after which a call tries another connection beside one that does not answer, or a third of the response timeout.
const PATIENCE: Duration = Duration::from_secs(1);
/// The least time that a statement about the table of tokens has. MySQL itself ends it within two seconds if the table is
/// locked, MariaDB at once.
const TOKENS: Duration = Duration::from_secs(3);
/// The most connections for the table of tokens.
const DRAWING: usize = 2;
/// The longest time for which a connection waits in the server's queue at once.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How often a statement is asked again that the end of a wait has hit.
const HITS: u32 = 3;
/// The pause before a call that has failed is repeated.
const AGAIN: Duration = Duration::from_millis(50);
/// The interval of questions until the server has ended a session.
const ENDING: Duration = Duration::from_millis(2);

// The numbers of the server's errors.
const NO_SUCH_TABLE: u16 = 1146;
const NO_DATABASE: u16 = 1046;
const NO_SUCH_THREAD: u16 = 1094;
/// A number that no session has; threads of the server itself have 0.
const NO_SESSION: u32 = u32::MAX;
const NO_RIGHT_TO_KILL: u16 = 1095;
const INTERRUPTED: u16 = 1317;
const LOCKED: u16 = 1205;
const DEADLOCK: u16 = 1213;
const LOCK_DEADLOCK: u16 = 3058;
/// A limit of the server for the time of statements, of MariaDB and of MySQL.
const TOO_LONG: [u16; 2] = [1969, 3024];

pub struct Mysql(Arc<Shared>);

pub struct Shared {
    config: Config,
    uuid: String,
    /// `None`: the client has met no server yet.
    flavour: OnceLock<Flavour>,
    hear: OnceLock<Hear>,
    pool: Mutex<Pool>,
    /// One connection is opened at a time: the next caller may find that it needs no other. It has the begin and the error of
    /// the last one that did not come about.
    opening: AsyncMutex<Option<(Instant, Error)>>,
}

#[derive(Default)]
struct Pool {
    connections: Vec<Arc<Connection>>,
    /// The connections that are reserved to wait, but for those that are open.
    to_open: usize,
    last: Bond,
    /// The waits in the server's queue, and those that are about to be.
    stands: HashMap<Key, Arc<Stand>>,
    candidates: HashMap<Key, Candidate>,
    /// The locks that mark sessions which have ended for this client, and may still live at the server.
    ghosts: BTreeSet<String>,
    is_closed: bool,
}

impl Pool {
    /// The connections for statements that end at once: about locks, or about the table of tokens.
    fn all_for(&self, role: Role) -> impl Iterator<Item = &Arc<Connection>> + Clone {
        let is_for = move |on: &&Arc<Connection>| match role {
            Role::Draws => on.draws(),
            _ => on.is_for_all() && !on.is_reserved(),
        };
        self.connections.iter().filter(is_for)
    }

    /// The number of connections for locks, with those that are about to be opened to wait.
    fn count(&self) -> usize {
        self.connections.iter().filter(|on| on.is_for_all()).count() + self.to_open
    }

    /// The number of open connections that are reserved to wait.
    fn waiting(&self) -> usize {
        self.connections.iter().filter(|on| on.is_reserved() && on.is_for_all()).count()
    }
}

/// One wait in the server's queue.
#[derive(Default)]
struct Stand {
    /// No waiter of the client wants it any more.
    is_left: AtomicBool,
    /// The connection that waits, as long as it does.
    waiting: Mutex<Option<Arc<Connection>>>,
}

impl Stand {
    fn is_left(&self) -> bool {
        self.is_left.load(SeqCst)
    }

    fn set_waiting(&self, on: Option<Arc<Connection>>) {
        *self.waiting.lock().expect("nothing panics while it is held") = on;
    }

    fn waiting(&self) -> Option<Arc<Connection>> {
        self.waiting.lock().expect("nothing panics while it is held").clone()
    }
}

impl Mysql {
    pub fn new(config: &Config, uuid: String) -> Self {
        Mysql(Arc::new(Shared {
            config: config.clone(),
            uuid,
            flavour: OnceLock::new(),
            hear: OnceLock::new(),
            pool: Mutex::default(),
            opening: AsyncMutex::default(),
        }))
    }
}

impl Shared {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().expect("nothing panics while it is held")
    }

    fn tell(&self, news: News) {
        if let Some(hear) = self.hear.get() {
            hear(news);
        }
    }

    fn server(&self) -> String {
        self.config.server()
    }

    /// The lease of a session at the server, in whole seconds.
    fn lease(&self) -> Duration {
        Duration::from_secs(self.config.watchdog.as_secs() + u64::from(self.config.watchdog.subsec_nanos() > 0))
    }

    /// A connection for statements that end at once.
    async fn carrier(self: &Arc<Self>) -> Result<Arc<Connection>> {
        self.one_for(Role::Carries).await
    }

    async fn one_for(self: &Arc<Self>, role: Role) -> Result<Arc<Connection>> {
        if let Some(carrier) = self.ready(role) {
            return Ok(carrier);
        }
        let opened = self.open_one(role).await;
        // Beside a connection that hangs a new one may not come about either; the old one may answer yet.
        opened.or_else(|error| self.any(role).ok_or(error))
    }

    /// Opens a connection. The attempt may last longer than the call that wants it: a connection that comes late serves the next
    /// one.
    async fn open_one(self: &Arc<Self>, role: Role) -> Result<Arc<Connection>> {
        let (tell, told) = oneshot::channel();
        let shared = self.clone();
        drop(tasks::spawn(async move {
            let opened = shared.open_in_turn(role, || !tell.is_closed()).await;
            if let Err(Ok(late)) = tell.send(opened) {
                match role {
                    Role::Waits => late.reserve(false),
                    Role::Leads => late.quit(),
                    Role::Carries | Role::Draws => {}
                }
            }
        }));
        let limit = self.config.response_timeout;
        let late = || Error::unavailable(self.server(), format!("did not let the client in within {limit:?}"), true);
        match timeout(limit, told).await {
            Ok(opened) => opened.unwrap_or_else(|_| Err(Error::Closed { server: self.server() })),
            Err(_) => Err(late()),
        }
    }

    /// Opens a connection behind the callers that came before, if its own caller still waits then. One that is not to wait in
    /// the server's queue may be one that answers by then.
    async fn open_in_turn(self: &Arc<Self>, role: Role, is_wanted: impl Fn() -> bool) -> Result<Arc<Connection>> {
        let came = Instant::now();
        let mut failed = self.opening.lock().await;
        if !is_wanted() {
            return Err(Error::Cancelled);
        }
        if matches!(role, Role::Carries | Role::Draws)
            && let Some(carrier) = self.ready(role)
        {
            return Ok(carrier);
        }
        // Its own attempt would end like one that began after it came, and the callers behind it would hear of theirs even later.
        if let Some((begun, error)) = &*failed
            && *begun >= came
        {
            return Err(error.clone());
        }
        let begun = Instant::now();
        let opened = self.open(role).await;
        *failed = opened.as_ref().err().map(|error| (begun, error.clone()));
        opened
    }

    /// The first connection that answers.
    fn ready(&self, role: Role) -> Option<Arc<Connection>> {
        let pool = self.pool();
        let mut carriers = pool.all_for(role);
        let is_full = match role {
            Role::Draws => carriers.clone().count() >= DRAWING,
            _ => pool.count() > self.config.waiters,
        };
        carriers
            .clone()
            .find(|carrier| !carrier.is_stuck(STUCK))
            .or_else(|| carriers.next().filter(|_| is_full))
            .cloned()
    }

    fn any(&self, role: Role) -> Option<Arc<Connection>> {
        self.pool().all_for(role).next().cloned()
    }

    async fn open(self: &Arc<Self>, role: Role) -> Result<Arc<Connection>> {
        let bond = {
            let mut pool = self.pool();
            if pool.is_closed {
                return Err(Error::Closed { server: self.server() });
            }
            pool.last += 1;
            pool.last
        };
        let tag = format!("redlatch:{}:{bond}", self.uuid);
        let opened = open::open(self, bond, &tag, role).await?;
        if let Err(failure) = self.end_ghosts(&opened).await {
            opened.stop();
            return Err(self.error("the login", failure));
        }
        let is_closed = {
            let mut pool = self.pool();
            if !pool.is_closed {
                pool.connections.push(opened.clone());
            }
            pool.is_closed
        };
        if is_closed {
            opened.stop();
            return Err(Error::Closed { server: self.server() });
        }
        // It may have ended before it was there to be removed.
        if opened.is_over() {
            self.pool().connections.retain(|connection| connection.bond != bond);
            return Err(Error::unavailable(self.server(), "has ended the session", false));
        }
        Ok(opened)
    }

    /// Notes that a connection has ended; `haunts`: the server may still have the session, with locks that others want.
    fn ended(&self, bond: Bond, tag: &str, reason: LostReason, haunts: bool) {
        {
            let mut pool = self.pool();
            pool.connections.retain(|connection| connection.bond != bond);
            if haunts {
                pool.ghosts.insert(tag.to_owned());
            }
        }
        self.tell(News::Ended { bond, reason });
    }

    fn find(&self, bond: Bond) -> Option<Arc<Connection>> {
        self.pool().connections.iter().find(|connection| connection.bond == bond).cloned()
    }

    /// Ends the sessions of this client that may still live at the server: no lock of one outlasts the client's belief by long,
    /// and no other session has such a mark. No right is needed for one's own sessions.
    async fn end_ghosts(&self, on: &Connection) -> std::result::Result<(), Failure> {
        let ghosts = self.pool().ghosts.clone();
        for ghost in ghosts {
            let holder = format!("IS_USED_LOCK({})", literal(&ghost));
            let end = Instant::now() + self.config.response_timeout;
            while let Some(id) = self.ask(on, &holder, self.limit(on)).await?.0.number(1) {
                if Instant::now() > end {
                    let cause = format!(
                        "has not ended the session {id} that this client has lost; look what it waits for, and end that \
                         (SHOW PROCESSLIST)"
                    );
                    return Err(Failure::Ended(Error::unavailable(self.server(), cause, true)));
                }
                match on.ask(format!("KILL {id}"), self.limit(on)).await {
                    Ok(_) => {}
                    // The end of a wait has hit this statement.
                    Err(Failure::Refused(refusal)) if [NO_SUCH_THREAD, INTERRUPTED].contains(&refusal.code) => {}
                    // The client has another user now. The server ends that session by itself, and keeps its locks from others
                    // until then.
                    Err(Failure::Refused(refusal)) if refusal.code == NO_RIGHT_TO_KILL => break,
                    Err(failure) => return Err(failure),
                }
                sleep(ENDING).await;
            }
            self.pool().ghosts.remove(&ghost);
        }
        Ok(())
    }

    /// The time after which an answer is late.
    fn patience(&self) -> Duration {
        PATIENCE.min(self.config.response_timeout / 3)
    }

    /// Makes a call on a connection. If its answer is late, and another connection can be had, the call is made on that one. A
    /// call that no connection answers in time is forsaken: `forsake` gets it.
    async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        role: Role,
        call: impl Fn(Arc<Connection>) -> Work<T>,
        forsake: impl Fn(Work<T>),
    ) -> Result<T> {
        let limit = match role {
            Role::Draws => self.config.response_timeout.max(TOKENS),
            _ => self.config.response_timeout,
        };
        let on = self.one_for(role).await?;
        let mut asked = call(on.clone());
        tokio::select! {
            biased;
            came = &mut asked => return Ok(came),
            () = on.is_late() => {}
        }
        let other = async {
            match self.open_one(role).await {
                Ok(other) if other.bond != on.bond => other,
                _ => pending().await,
            }
        };
        let mut asked = Some(asked);
        let answered = async {
            let came = asked.as_mut().expect("it has no answer yet").await;
            // Another call has given that connection up, and its session with all that this one has done.
            if on.is_over() {
                asked = None;
                return pending().await;
            }
            came
        };
        let other = tokio::select! {
            biased;
            came = answered => return Ok(came),
            other = other => Some(other),
            () = sleep(limit.saturating_sub(self.patience())) => None,
        };
        if other.is_some() && !on.draws() && !on.has_locks() {
            on.stop();
            on.over().await;
        }
        asked.into_iter().for_each(&forsake);
        let silent = || Error::unavailable(self.server(), "is silent", true);
        let mut asked = call(other.ok_or_else(silent)?);
        match timeout(limit, &mut asked).await {
            Ok(came) => Ok(came),
            Err(_) => {
                forsake(asked);
                Err(silent())
            }
        }
    }

    /// Asks one question on a connection. The end of a wait that the connection has behind it may hit the question: then it is
    /// asked again.
    async fn ask(&self, on: &Connection, what: &str, limit: Duration) -> std::result::Result<(Row, Instant), Failure> {
        let mut came = self.ask_once(on, what, limit).await;
        for _ in 0..HITS {
            if !is_interrupted(&came) {
                break;
            }
            came = self.ask_once(on, what, limit).await;
        }
        came
    }

    /// Asks one question on a connection; the answer must come from the session that it was meant for.
    async fn ask_once(
        &self,
        on: &Connection,
        what: &str,
        limit: Duration,
    ) -> std::result::Result<(Row, Instant), Failure> {
        let (row, sent) = on.ask(format!("SELECT CONNECTION_ID(),{what}"), limit).await?;
        if row.number(0) != Some(on.id as i64) {
            on.stop();
            return Err(Failure::Ended(self.pooled()));
        }
        self.tell(News::Answered { bond: on.bond, sent, from: sent });
        Ok((row, sent))
    }

    /// The error behind a proxy that shares the sessions of the server.
    fn pooled(&self) -> Error {
        Error::Unsupported(format!(
            "{} is behind a proxy that shares its sessions, and a lock belongs to a session; name the server itself, or have the \
             proxy give each client a session of its own",
            self.server()
        ))
    }

    /// The error of a statement about `what`.
    fn error(&self, what: &str, failure: Failure) -> Error {
        match failure {
            Failure::Ended(error) => error,
            Failure::Refused(refusal) => refusal.error(what),
        }
    }

    /// The time for which a statement may stay unanswered; more if its connection gets a lock meanwhile.
    fn limit(&self, on: &Connection) -> Duration {
        if on.has_locks() { self.longest() } else { self.config.response_timeout }
    }

    /// The same for a connection with locks: it is given up only when the client believes in them no longer.
    fn longest(&self) -> Duration {
        self.config.watchdog.max(self.config.response_timeout)
    }

    /// Asks for a sign of life.
    async fn sign(&self, on: &Connection) -> std::result::Result<Instant, Failure> {
        self.ask(on, "1", self.limit(on)).await.map(|(_, sent)| sent)
    }

    async fn take(self: Arc<Self>, key: Key) -> Took {
        let take = |on| boxed(self.clone().take_on(on, key.clone()));
        // A lock that it still takes goes back.
        let forsake = |taking: Work<Took>| {
            let (shared, key) = (self.clone(), key.clone());
            drop(tasks::spawn(async move {
                if let Took::Yes { bond } = taking.await {
                    shared.let_go(Grip { key, bond }, false).await;
                }
            }));
        };
        self.call(Role::Carries, take, forsake).await.unwrap_or_else(Took::Failed)
    }

    async fn take_on(self: Arc<Self>, on: Arc<Connection>, key: Key) -> Took {
        let begun = Instant::now();
        let _locking = on.locking();
        if let Err(failure) = self.end_ghosts(&on).await {
            return Took::Failed(self.error(&format!("to lock `{}`", lock_of(&key)), failure));
        }
        let what = format!("GET_LOCK({},0)", literal(lock_of(&key)));
        let took = self.got(&on, &key, begun, self.ask(&on, &what, self.limit(&on)).await);
        if let Took::Yes { .. } = took {
            on.add(&key);
        }
        took
    }

    /// The outcome of a `GET_LOCK` that began at `begun`.
    fn got(
        &self,
        on: &Connection,
        key: &Key,
        begun: Instant,
        came: std::result::Result<(Row, Instant), Failure>,
    ) -> Took {
        match came {
            Ok((row, _)) if row.number(1) == Some(1) => Took::Yes { bond: on.bond },
            Ok((_, sent)) => Took::Busy { sent },
            // Without an answer the session is over, and what it may have taken.
            Err(failure) => {
                if let Failure::Refused(refusal) = &failure
                    && ([INTERRUPTED, DEADLOCK, LOCK_DEADLOCK].contains(&refusal.code)
                        || TOO_LONG.contains(&refusal.code))
                {
                    return Took::Busy { sent: begun };
                }
                Took::Failed(self.error(&format!("to lock `{}`", lock_of(key)), failure))
            }
        }
    }

    async fn stand(self: Arc<Self>, key: Key, free: Option<Arc<Connection>>, stand: Arc<Stand>) -> Took {
        let took = match is_candidates(&key) {
            true => self.wait_to_lead(&key, &stand).await,
            false => self.wait_in_queue(&key, free, &stand).await,
        };
        self.pool().stands.remove(&key);
        took
    }

    async fn wait_in_queue(self: &Arc<Self>, key: &Key, free: Option<Arc<Connection>>, stand: &Stand) -> Took {
        let on = match free {
            Some(on) => on,
            None => {
                let opened = self.open_one(Role::Waits).await;
                self.pool().to_open -= 1;
                match opened {
                    Ok(on) => on,
                    // The carrier serves: the waiters of this name try again and again by it.
                    Err(error) if error.is_for_now() && self.ready(Role::Carries).is_some() => return Took::NoRoom,
                    Err(error) => return Took::Failed(error),
                }
            }
        };
        if stand.is_left() {
            on.reserve(false);
            return Took::NoRoom;
        }
        let took = self.wait_on(&on, key, stand).await;
        on.reserve(false);
        took
    }

    /// Waits in the server's queue by a connection.
    async fn wait_on(&self, on: &Arc<Connection>, key: &Key, stand: &Stand) -> Took {
        stand.set_waiting(Some(on.clone()));
        let longest = (self.config.watchdog / 3).clamp(Duration::from_secs(1), LONGEST_WAIT).as_secs();
        let limit = Duration::from_secs(longest) + self.config.response_timeout;
        let what = format!("GET_LOCK({},{longest})", literal(lock_of(key)));
        let begun = Instant::now();
        let waited = match self.end_ghosts(on).await {
            Ok(()) => self.ask_once(on, &what, limit).await,
            Err(failure) => Err(failure),
        };
        stand.set_waiting(None);
        let mut took = self.got(on, key, begun, waited);
        // The answer to a wait does not say when it was given: only a later sign of life counts. No hold depends on the
        // session yet, so that has no more time than any answer.
        if let Took::Yes { .. } = took {
            match self.sign(on).await {
                Ok(_) => on.add(key),
                Err(failure) => {
                    on.stop();
                    took = Took::Failed(self.error(&format!("to lock `{}`", lock_of(key)), failure));
                }
            }
        }
        match took {
            // The server may be there all the same: the next try finds out.
            Took::Failed(error) if error.is_for_now() => Took::NoRoom,
            took => took,
        }
    }

    async fn let_go(self: Arc<Self>, grip: Grip, mut again: bool) -> Gone {
        let Some(on) = self.find(grip.bond) else { return Gone::Ended };
        let key = literal(lock_of(&grip.key));
        // A term ends with its session.
        again &= !on.leads();
        let again_too = if again { format!(",GET_LOCK({key},0)") } else { String::new() };
        let _locking = on.locking();
        on.remove(&grip.key);
        let mut came = self.ask_once(&on, &format!("RELEASE_LOCK({key}){again_too}"), self.limit(&on)).await;
        // The end of a wait that this connection has behind it may hit the release.
        if is_interrupted(&came) {
            again = false;
            came = self.ask(&on, &format!("RELEASE_LOCK({key})"), self.limit(&on)).await;
        }
        match came {
            Ok((row, _)) if again && row.number(2) == Some(1) => {
                on.add(&grip.key);
                Gone::Again
            }
            Ok((_, sent)) if again => Gone::Taken { sent },
            Ok(_) => {
                if on.leads() {
                    on.quit();
                }
                Gone::Freed
            }
            Err(_) => {
                // The session may still have it.
                on.stop();
                on.over().await;
                self.end_ghost(&on.tag, &grip.key).await
            }
        }
    }

    /// Ends a session that has not answered a release, unless the server has ended it.
    async fn end_ghost(self: &Arc<Self>, tag: &str, key: &Key) -> Gone {
        let end = Instant::now() + self.config.retry_for;
        let ends = |on: Arc<Connection>| {
            let shared = self.clone();
            boxed(async move { drop(shared.end_ghosts(&on).await) })
        };
        while self.pool().ghosts.contains(tag) {
            let tried = self.call(Role::Carries, ends, drop).await;
            if !self.pool().ghosts.contains(tag) {
                break;
            }
            if tried.is_err_and(|error| !error.is_for_now()) || end <= Instant::now() {
                let cause = format!("has not answered a release of `{}`; the lock ends with its session", lock_of(key));
                return Gone::Refused(Error::unavailable(self.server(), cause, true));
            }
            sleep(AGAIN).await;
        }
        Gone::Ended
    }

    /// Draws tokens while the session of the grip has the lock. Other programs may lock the table, so no statement about it goes
    /// over a connection with locks.
    async fn fence(self: Arc<Self>, grip: Grip, count: i64) -> Result<Drawn> {
        let lost = || Error::unavailable(self.server(), "has ended the session", false);
        let holder = self.find(grip.bond).ok_or_else(lost)?;
        let draw = |on| boxed(self.clone().draw(on, grip.key.clone(), holder.tag.clone(), count));
        // Tokens that were drawn for no hold are skipped.
        let drawn =
            match self.call(Role::Draws, draw, drop).await.unwrap_or_else(|error| Err(undrawn(&grip.key, error))) {
                // The session has had the lock all the time: the next owner draws later.
                Ok((row, true)) => i64::try_from(row.made).map_err(|_| lost()),
                Ok((_, false)) if self.is_alive(&holder).await => return Err(self.moved(&grip.key)),
                Ok((_, false)) => return Err(lost()),
                Err(error) => Err(error),
            };
        let announced = match drawn {
            Ok(last) if holder.leads() => self.announce(&grip.key, &holder.tag, last).await.map(|()| last),
            drawn => drawn,
        };
        match announced {
            Ok(last) => Ok(Drawn::Tokens(last - count + 1..last + 1)),
            // The server may answer all but statements about its tables.
            Err(error) if error.is_for_now() && self.is_alive(&holder).await => Ok(Drawn::NotYet(error)),
            Err(error) => Err(error),
        }
    }

    /// Tells whether a session gives a sign of life.
    async fn is_alive(&self, on: &Connection) -> bool {
        matches!(timeout(self.config.response_timeout, self.sign(on)).await, Ok(Ok(_)))
    }

    /// The error of a lock whose tokens would come from another server.
    fn moved(&self, key: &Key) -> Error {
        let cause = format!(
            "gives no fencing token of `{}`, for another server has that lock: the address leads to this one only since then; \
             connect a new client",
            lock_of(key)
        );
        Error::unavailable(self.server(), cause, false)
    }

    /// Draws tokens, and asks behind that whether the session with that `tag` has the lock. Numbers of sessions tell nothing: the
    /// connection may lead to another server than that session's.
    async fn draw(self: Arc<Self>, on: Arc<Connection>, key: Key, tag: String, count: i64) -> Result<(Row, bool)> {
        let draw = format!(
            "INSERT INTO {FENCES} (name, token) VALUES ({}, LAST_INSERT_ID({count})) \
             ON DUPLICATE KEY UPDATE token = LAST_INSERT_ID(token + {count})",
            literal(lock_of(&key))
        );
        let limit = self.limit(&on).max(TOKENS);
        let used = format!("IS_USED_LOCK({})=IS_USED_LOCK({})", literal(lock_of(&key)), literal(&tag));
        // The answer itself has the number: another statement of this connection may come before the next one.
        let (drawn, used) = tokio::join!(on.ask(draw, limit), self.ask(&on, &used, limit));
        let lock = lock_of(&key);
        let failed = |failure| undrawn(&key, self.error(&format!("the fencing token of `{lock}`"), failure));
        let (used, _) = used.map_err(failed)?;
        match drawn {
            Ok((row, _)) => Ok((row, used.number(1) == Some(1))),
            Err(failure) if is_locked(&failure) => Err(locked_tokens(self.server(), &key)),
            Err(failure) if is_without_table(&failure) => Err(self.no_fences(lock, &failure)),
            Err(failure) => Err(failed(failure)),
        }
    }

    fn no_fences(&self, lock: &str, failure: &Failure) -> Error {
        Error::Unsupported(format!(
            "`{lock}` gets no fencing token on {}, which come from the table {FENCES}: {}{MAKE_FENCES}",
            self.server(),
            missing(failure)
        ))
    }

    async fn look(self: Arc<Self>, key: Key, fenced: bool) -> Result<Seen> {
        let used = format!("IS_USED_LOCK({})", literal(&key));
        let asked = match fenced {
            // In one question: the address may lead connections to several servers.
            true => {
                let tokens = format!("(SELECT token FROM {FENCES} WHERE name = {})", literal(&key));
                self.row(Role::Draws, format!("{used},{tokens}")).await?
            }
            false => self.row(Role::Carries, used).await?,
        };
        match asked {
            Ok(row) => {
                let is_taken = row.number(1).is_some();
                let token = if fenced { row.number(2).unwrap_or_default() } else { 0 };
                Ok(Seen { is_taken, is_busy: is_taken, token, ..Seen::default() })
            }
            Err(failure) if fenced && is_locked(&failure) => Err(locked_tokens(self.server(), &key)),
            Err(failure) if fenced && is_without_table(&failure) => Err(self.no_fences(&key, &failure)),
            Err(failure) => Err(self.error(&format!("`{key}`"), failure)),
        }
    }

    /// Asks a question that changes nothing.
    async fn row(self: &Arc<Self>, role: Role, what: String) -> Result<std::result::Result<Row, Failure>> {
        let ask = |on: Arc<Connection>| {
            let (shared, what) = (self.clone(), what.clone());
            boxed(async move { shared.ask(&on, &what, shared.limit(&on)).await.map(|(row, _)| row) })
        };
        self.call(role, ask, drop).await
    }

    async fn evict(self: Arc<Self>, key: Key, evictees: Evictees) -> Result<Evicted> {
        let evict = |on| boxed(self.clone().evict_on(on, key.clone(), evictees.clone()));
        self.call(Role::Carries, evict, drop).await?
    }

    async fn evict_on(self: Arc<Self>, on: Arc<Connection>, key: Key, evictees: Evictees) -> Result<Evicted> {
        let what = format!("to take `{}` from its holder", lock_of(&key));
        let limit = self.limit(&on);
        let used = format!("IS_USED_LOCK({})", literal(lock_of(&key)));
        let holder = |came: std::result::Result<(Row, Instant), Failure>| match came {
            Ok((row, _)) => Ok(row.number(1)),
            Err(failure) => Err(self.error(&what, failure)),
        };
        let found = holder(self.ask(&on, &used, limit).await)?;
        let before = evictees.get().and_then(|evictees| evictees.first());
        if before.is_some() && before != found.map(|id| id.to_string()).as_ref() {
            return Ok(Evicted::Yes);
        }
        let Some(holder_id) = found else { return Ok(Evicted::Free) };
        // A leader's session has no other lock, and ends like that of another client.
        if self.pool().connections.iter().any(|own| own.id as i64 == holder_id && !own.leads()) {
            return Ok(Evicted::Own);
        }
        evictees.get_or_init(|| vec![holder_id.to_string()]);
        // By now that session may have given the lock back, and it may have others: the server looks once more.
        let kill = format!("KILL IF({used}<=>{holder_id},{holder_id},{NO_SESSION})");
        match on.ask(kill, limit).await {
            Ok(_) => {}
            Err(Failure::Refused(refusal)) if refusal.code == NO_SUCH_THREAD => {
                return Ok(if before.is_some() { Evicted::Yes } else { Evicted::Missed });
            }
            Err(Failure::Refused(refusal)) if refusal.code == NO_RIGHT_TO_KILL => {
                return Err(Error::refused(
                    what.as_str(),
                    "KILL",
                    format!(
                        "its holder is the thread {holder_id} of another user; log in as that user, or with the right to end other \
                         sessions (CONNECTION ADMIN, CONNECTION_ADMIN)"
                    ),
                ));
            }
            Err(failure) => return Err(self.error(&what, failure)),
        }
        let end = Instant::now() + self.config.response_timeout;
        while holder(self.ask(&on, &used, limit).await)? == Some(holder_id) {
            if Instant::now() > end {
                let cause = format!("has not ended the session {holder_id} that holds `{}`; try again", lock_of(&key));
                return Err(Error::unavailable(self.server(), cause, true));
            }
            sleep(ENDING).await;
        }
        Ok(Evicted::Yes)
    }

    /// Ends a wait in the server's queue.
    async fn leave(self: Arc<Self>, stand: Arc<Stand>) {
        while stand.waiting().is_some() {
            let carrier = self.carrier().await;
            let Some(waiting) = stand.waiting() else { return };
            let Ok(on) = carrier else { return waiting.stop() };
            // A statement that has just ended is not hit; the next one is, and then its caller asks again.
            let killed = on.ask(format!("KILL QUERY {}", waiting.id), self.limit(&on)).await;
            if killed.is_err() && stand.waiting().is_some() {
                return waiting.stop();
            }
            for _ in 0..10 {
                if stand.waiting().is_none() {
                    return;
                }
                sleep(ENDING).await;
            }
        }
    }
}

/// The error of a draw whose own connection is in trouble.
fn undrawn(key: &Key, error: Error) -> Error {
    match error {
        Error::Unavailable { server, cause, timeout, source } => {
            let cause = format!(
                "gives no fencing token of `{}`: on the connection for the table of tokens it {cause}",
                lock_of(key)
            );
            Error::Unavailable { server, cause, timeout, source }
        }
        error => error,
    }
}

/// Tells whether the end of a wait has hit a statement behind it.
fn is_interrupted<T>(came: &std::result::Result<T, Failure>) -> bool {
    matches!(came, Err(Failure::Refused(refusal)) if refusal.code == INTERRUPTED)
}

/// Tells whether another program keeps the table of tokens locked, or the server let no more time for that.
fn is_locked(failure: &Failure) -> bool {
    let codes = [LOCKED, INTERRUPTED, DEADLOCK, TOO_LONG[0], TOO_LONG[1]];
    matches!(failure, Failure::Refused(refusal) if codes.contains(&refusal.code))
}

/// Tells whether the schema lacks a table, or the URL the schema.
fn is_without_table(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal) if [NO_SUCH_TABLE, NO_DATABASE].contains(&refusal.code))
}

/// The beginning of the remedy for that.
fn missing(failure: &Failure) -> &'static str {
    match failure {
        Failure::Refused(refusal) if refusal.code == NO_DATABASE => {
            "the URL names no schema; write mysql://user@host/schema, and there: "
        }
        _ => "there is no such table; make it once: ",
    }
}

impl Driver for Mysql {
    fn kinds(&self) -> &'static [Traits] {
        KINDS
    }

    fn system(&self) -> &'static str {
        "MySQL or MariaDB"
    }

    fn listen(&self, hear: Hear) {
        let _ = self.0.hear.set(hear);
    }

    fn key(&self, kind: &Traits, name: &str, owner: i64) -> Option<Key> {
        let lock = self.0.flavour.get()?.key(name);
        Some(if kind.name == LEADER { of_candidate(&lock, owner) } else { lock })
    }

    fn meet(&self) -> Work<Result<()>> {
        let shared = self.0.clone();
        boxed(async move {
            match shared.flavour.get() {
                Some(_) => Ok(()),
                None => shared.carrier().await.map(drop),
            }
        })
    }

    fn bring(&self, key: &Key, value: &[u8]) {
        self.0.pool().candidates.entry(key.clone()).or_default().value = value.to_vec();
    }

    fn take(&self, key: &Key) -> Work<Took> {
        match is_candidates(key) {
            true => boxed(self.0.clone().try_to_lead(key.clone())),
            false => boxed(self.0.clone().take(key.clone())),
        }
    }

    fn stand(&self, key: &Key) -> Option<Work<Took>> {
        let (free, stand) = {
            let mut pool = self.0.pool();
            if is_candidates(key) {
                let stand = Arc::<Stand>::default();
                pool.stands.insert(key.clone(), stand.clone());
                return Some(boxed(self.0.clone().stand(key.clone(), None, stand)));
            }
            let reserved = pool.waiting() + pool.to_open;
            if reserved >= self.0.config.waiters {
                return None;
            }
            // The first one that does not wait stays for statements that end at once.
            let free = pool.all_for(Role::Carries).skip(1).find(|connection| connection.is_idle()).cloned();
            match &free {
                Some(free) => free.reserve(true),
                None if pool.count() > self.0.config.waiters => return None,
                None => pool.to_open += 1,
            }
            let stand = Arc::<Stand>::default();
            pool.stands.insert(key.clone(), stand.clone());
            (free, stand)
        };
        Some(boxed(self.0.clone().stand(key.clone(), free, stand)))
    }

    fn leave(&self, key: &Key) -> Work {
        let stand = self.0.pool().stands.get(key).cloned();
        let Some(stand) = stand else { return boxed(std::future::ready(())) };
        stand.is_left.store(true, SeqCst);
        boxed(self.0.clone().leave(stand))
    }

    fn end(&self, key: &Key) {
        let candidate = self.0.pool().candidates.remove(key);
        if let Some(on) = candidate.and_then(|candidate| candidate.on) {
            on.quit();
        }
    }

    fn let_go(&self, grip: &Grip, again: bool) -> Work<Gone> {
        boxed(self.0.clone().let_go(grip.clone(), again))
    }

    fn fence(&self, grip: &Grip, count: i64) -> Work<Result<Drawn>> {
        boxed(self.0.clone().fence(grip.clone(), count))
    }

    fn renew(&self, bond: Bond) {
        let shared = self.0.clone();
        drop(tasks::spawn(async move {
            let Some(on) = shared.find(bond).filter(|on| !on.is_reserved()) else { return };
            while let Err(Failure::Refused(refusal)) = shared.sign(&on).await {
                let reason = refusal.message;
                tracing::warn!(target: "redlatch::server", %reason, "the server refuses a sign of life; it gets another one");
                sleep(AGAIN).await;
            }
        }));
    }

    fn look(&self, key: &Key, fenced: bool) -> Work<Result<Seen>> {
        match is_candidates(key) {
            true => boxed(self.0.clone().look_at_leader(key.clone())),
            false => boxed(self.0.clone().look(key.clone(), fenced)),
        }
    }

    fn evict(&self, key: &Key, evictees: Evictees) -> Work<Result<Evicted>> {
        boxed(self.0.clone().evict(key.clone(), evictees))
    }

    fn ping(&self) -> Work<Result<()>> {
        let shared = self.0.clone();
        boxed(async move {
            let sign = |on: Arc<Connection>| {
                let shared = shared.clone();
                boxed(async move { shared.sign(&on).await })
            };
            let came = shared.call(Role::Carries, sign, drop).await?;
            came.map(drop).map_err(|failure| shared.error("a sign of life", failure))
        })
    }

    fn drop_bond(&self, bond: Bond) {
        let given_up = {
            let mut pool = self.0.pool();
            let at = pool.connections.iter().position(|connection| connection.bond == bond);
            let given_up = at.map(|at| pool.connections.remove(at));
            // The next call for a lock comes before its task has ended.
            pool.ghosts.extend(given_up.iter().map(|connection| connection.tag.clone()));
            given_up
        };
        given_up.inspect(|connection| connection.stop());
    }

    fn close(&self) -> Work {
        let shared = self.0.clone();
        let connections = {
            let mut pool = shared.pool();
            pool.is_closed = true;
            pool.connections.clone()
        };
        boxed(async move {
            for connection in &connections {
                connection.quit();
            }
            for connection in &connections {
                connection.over().await;
            }
        })
    }

    fn cut(&self) {
        let connections = {
            let mut pool = self.0.pool();
            pool.is_closed = true;
            std::mem::take(&mut pool.connections)
        };
        connections.iter().for_each(|connection| connection.stop());
    }
}
