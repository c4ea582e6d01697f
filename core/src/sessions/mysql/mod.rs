//! MySQL and MariaDB: a lock is one of the server's own, `GET_LOCK`, so it excludes every other client that uses these. A
//! bond is a connection, whose `wait_timeout` is the lease.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::base::tasks::{self, Work, boxed};
use crate::config::Config;
use crate::engine::traits::{PLAIN, Traits};
use crate::request::error::{Error, LostReason, Result};
use crate::sessions::driver::{Bond, Driver, Evicted, Evictees, Gone, Grip, Hear, Key, News, Range, Seen, Took};
use crate::sessions::mysql::connection::{Connection, Failure, Row};
use crate::sessions::mysql::names::{Flavour, literal};

mod connection;
mod login;
mod names;
mod open;
mod wire;

const KINDS: &[Traits] = &[
    Traits { redisson: false, form: "a lock of the server", ..PLAIN },
    Traits { name: "non_reentrant", reentrant: false, redisson: false, form: "a lock of the server", ..PLAIN },
    Traits { name: "fenced", fenced: true, redisson: false, form: "a lock of the server", ..PLAIN },
];

/// The table of fencing tokens, and the statement that makes it.
const FENCES: &str = "redlatch_fence";
const MAKE_FENCES: &str =
    "CREATE TABLE redlatch_fence (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL) ENGINE=InnoDB";
/// A connection whose oldest statement is unanswered for this long is passed by, if another may be opened.
const STUCK: Duration = Duration::from_millis(250);
/// The longest time for which a connection waits in the server's queue at once.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How often a statement is asked again that the end of a wait has hit.
const HITS: u32 = 3;
/// The interval of questions until the server has ended a session.
const ENDING: Duration = Duration::from_millis(2);

// The numbers of the server's errors.
const NO_SUCH_TABLE: u16 = 1146;
const NO_DATABASE: u16 = 1046;
const NO_SUCH_THREAD: u16 = 1094;
const NO_RIGHT_TO_KILL: u16 = 1095;
const INTERRUPTED: u16 = 1317;
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
    /// The locks that mark sessions which have ended for this client, and may still live at the server.
    ghosts: BTreeSet<String>,
    is_closed: bool,
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
        if let Some(carrier) = self.ready() {
            return Ok(carrier);
        }
        let opened = self.open_one(false).await;
        // Beside a connection that hangs a new one may not come about either; the old one may answer yet.
        opened.or_else(|error| self.any().ok_or(error))
    }

    /// Opens a connection behind the callers that came before. Without `reserved` it may be one that answers by then.
    async fn open_one(self: &Arc<Self>, reserved: bool) -> Result<Arc<Connection>> {
        let came = Instant::now();
        let mut failed = self.opening.lock().await;
        if !reserved && let Some(carrier) = self.ready() {
            return Ok(carrier);
        }
        // Its own attempt would end like one that began after it came, and the callers behind it would hear of theirs even later.
        if let Some((begun, error)) = &*failed
            && *begun >= came
        {
            return Err(error.clone());
        }
        let begun = Instant::now();
        let opened = self.open(reserved).await;
        *failed = opened.as_ref().err().map(|error| (begun, error.clone()));
        opened
    }

    /// The first connection that answers.
    fn ready(&self) -> Option<Arc<Connection>> {
        let pool = self.pool();
        let mut carriers = pool.connections.iter().filter(|connection| !connection.is_reserved());
        let is_full = pool.connections.len() + pool.to_open > self.config.waiters;
        carriers
            .clone()
            .find(|carrier| !carrier.is_stuck(STUCK))
            .or_else(|| carriers.next().filter(|_| is_full))
            .cloned()
    }

    fn any(&self) -> Option<Arc<Connection>> {
        self.pool().connections.iter().find(|connection| !connection.is_reserved()).cloned()
    }

    /// Opens a connection. `reserved`: to wait in the server's queue.
    async fn open(self: &Arc<Self>, reserved: bool) -> Result<Arc<Connection>> {
        let (bond, ghosts) = {
            let mut pool = self.pool();
            if pool.is_closed {
                return Err(Error::Closed { server: self.server() });
            }
            pool.last += 1;
            (pool.last, pool.ghosts.clone())
        };
        let tag = format!("redlatch:{}:{bond}", self.uuid);
        let opened = open::open(self, bond, &tag, &ghosts, reserved).await?;
        let is_closed = {
            let mut pool = self.pool();
            pool.ghosts.retain(|ghost| !ghosts.contains(ghost));
            if !pool.is_closed {
                pool.connections.push(opened.clone());
            }
            pool.is_closed
        };
        if is_closed {
            opened.stop();
            return Err(Error::Closed { server: self.server() });
        }
        Ok(opened)
    }

    /// Notes that a connection has ended; `is_clean`: the server has ended the session too.
    fn ended(&self, bond: Bond, tag: &str, reason: LostReason, is_clean: bool) {
        {
            let mut pool = self.pool();
            pool.connections.retain(|connection| connection.bond != bond);
            if !is_clean {
                pool.ghosts.insert(tag.to_owned());
            }
        }
        self.tell(News::Ended { bond, reason });
    }

    fn find(&self, bond: Bond) -> Option<Arc<Connection>> {
        self.pool().connections.iter().find(|connection| connection.bond == bond).cloned()
    }

    /// Asks one question on a connection; the answer must come from the session that it was meant for.
    async fn ask(&self, on: &Connection, what: &str, limit: Duration) -> std::result::Result<(Row, Instant), Failure> {
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

    /// The time for which a statement may stay unanswered. A connection with locks is given up only when the client believes
    /// in them no longer.
    fn limit(&self, on: &Connection) -> Duration {
        if on.has_locks() {
            self.config.watchdog.max(self.config.response_timeout)
        } else {
            self.config.response_timeout
        }
    }

    /// Asks for a sign of life. The end of a wait may hit it: then it is asked for again.
    async fn sign(&self, on: &Connection) -> std::result::Result<Instant, Failure> {
        let mut came = self.ask(on, "1", self.limit(on)).await;
        for _ in 0..HITS {
            if !is_interrupted(&came) {
                break;
            }
            came = self.ask(on, "1", self.limit(on)).await;
        }
        came.map(|(_, sent)| sent)
    }

    async fn take(self: Arc<Self>, key: Key) -> Took {
        let on = match self.carrier().await {
            Ok(on) => on,
            Err(error) => return Took::Failed(error),
        };
        let what = format!("GET_LOCK({},0)", literal(&key));
        let begun = Instant::now();
        self.got(&on, &key, begun, self.ask(&on, &what, self.limit(&on)).await)
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
            Ok((row, _)) if row.number(1) == Some(1) => {
                on.add(key);
                Took::Yes { bond: on.bond }
            }
            Ok((_, sent)) => Took::Busy { sent },
            // Without an answer the session is over, and what it may have taken.
            Err(failure) => {
                if let Failure::Refused(refusal) = &failure
                    && ([INTERRUPTED, DEADLOCK, LOCK_DEADLOCK].contains(&refusal.code)
                        || TOO_LONG.contains(&refusal.code))
                {
                    return Took::Busy { sent: begun };
                }
                Took::Failed(self.error(&format!("to lock `{key}`"), failure))
            }
        }
    }

    async fn stand(self: Arc<Self>, key: Key, free: Option<Arc<Connection>>, stand: Arc<Stand>) -> Took {
        let took = self.clone().wait_in_queue(&key, free, &stand).await;
        self.pool().stands.remove(&key);
        took
    }

    async fn wait_in_queue(self: Arc<Self>, key: &Key, free: Option<Arc<Connection>>, stand: &Stand) -> Took {
        let on = match free {
            Some(on) => on,
            None => {
                let opened = self.open_one(true).await;
                self.pool().to_open -= 1;
                match opened {
                    Ok(on) => on,
                    // The carrier serves: the waiters of this name try again and again by it.
                    Err(error) if error.is_for_now() && self.ready().is_some() => return Took::NoRoom,
                    Err(error) => return Took::Failed(error),
                }
            }
        };
        if stand.is_left.load(SeqCst) {
            on.reserve(false);
            return Took::NoRoom;
        }
        stand.set_waiting(Some(on.clone()));
        let longest = (self.config.watchdog / 3).clamp(Duration::from_secs(1), LONGEST_WAIT).as_secs();
        let limit = Duration::from_secs(longest) + self.config.response_timeout;
        let what = format!("GET_LOCK({},{longest})", literal(key));
        let begun = Instant::now();
        let waited = self.ask(&on, &what, limit).await;
        stand.set_waiting(None);
        let mut took = self.got(&on, key, begun, waited);
        // The answer to a wait does not say when it was given: only a later sign of life counts.
        if let Took::Yes { .. } = took
            && let Err(failure) = self.sign(&on).await
        {
            on.stop();
            took = Took::Failed(self.error(&format!("to lock `{key}`"), failure));
        }
        on.reserve(false);
        took
    }

    async fn let_go(self: Arc<Self>, grip: Grip, mut again: bool) -> Gone {
        let Some(on) = self.find(grip.bond) else { return Gone::Ended };
        let key = literal(&grip.key);
        let again_too = if again { format!(",GET_LOCK({key},0)") } else { String::new() };
        on.remove(&grip.key);
        let mut came = self.ask(&on, &format!("RELEASE_LOCK({key}){again_too}"), self.limit(&on)).await;
        // The end of a wait that this connection has behind it may hit the release.
        for _ in 0..HITS {
            if !is_interrupted(&came) {
                break;
            }
            again = false;
            came = self.ask(&on, &format!("RELEASE_LOCK({key})"), self.limit(&on)).await;
        }
        match came {
            Ok((row, _)) if again && row.number(2) == Some(1) => {
                on.add(&grip.key);
                Gone::Again
            }
            Ok((_, sent)) if again => Gone::Taken { sent },
            Ok(_) => Gone::Freed,
            Err(_) => {
                // The session may still have it.
                on.stop();
                Gone::Ended
            }
        }
    }

    async fn fence(self: Arc<Self>, grip: Grip, count: i64) -> Result<Range> {
        let key = &grip.key;
        let what = || format!("the fencing token of `{key}`");
        let lost = || Error::unavailable(self.server(), "has ended the session", false);
        let on = self.find(grip.bond).ok_or_else(lost)?;
        let draw = format!(
            "INSERT INTO {FENCES} (name, token) VALUES ({}, LAST_INSERT_ID({count})) \
             ON DUPLICATE KEY UPDATE token = LAST_INSERT_ID(token + {count})",
            literal(key)
        );
        let limit = self.limit(&on);
        // The answer itself has the number: another statement of this connection may come before the next one.
        match on.ask(draw, limit).await {
            Ok((row, _)) => i64::try_from(row.made).map(|last| last - count + 1..last + 1).map_err(|_| lost()),
            Err(Failure::Refused(refusal)) if refusal.code == NO_SUCH_TABLE || refusal.code == NO_DATABASE => {
                Err(self.no_fences(key, refusal.code))
            }
            Err(failure) => Err(self.error(&what(), failure)),
        }
    }

    fn no_fences(&self, key: &str, code: u16) -> Error {
        let missing = match code {
            NO_DATABASE => "the URL names no schema; write mysql://user@host/schema, and there: ",
            _ => "there is no such table; make it once: ",
        };
        Error::Unsupported(format!(
            "`{key}` gets no fencing token on {}, which come from the table {FENCES}: {missing}{MAKE_FENCES}",
            self.server()
        ))
    }

    async fn look(self: Arc<Self>, key: Key, fenced: bool) -> Result<Seen> {
        let on = self.carrier().await?;
        let limit = self.limit(&on);
        let what = format!("`{key}`");
        let used = format!("IS_USED_LOCK({})", literal(&key));
        let (row, _) = self.ask(&on, &used, limit).await.map_err(|failure| self.error(&what, failure))?;
        let is_taken = row.number(1).is_some();
        let mut seen = Seen { is_taken, is_busy: is_taken, token: 0 };
        if fenced {
            let tokens = format!("(SELECT token FROM {FENCES} WHERE name = {})", literal(&key));
            match self.ask(&on, &tokens, limit).await {
                Ok((row, _)) => seen.token = row.number(1).unwrap_or_default(),
                Err(Failure::Refused(refusal)) if refusal.code == NO_SUCH_TABLE || refusal.code == NO_DATABASE => {
                    return Err(self.no_fences(&key, refusal.code));
                }
                Err(failure) => return Err(self.error(&what, failure)),
            }
        }
        Ok(seen)
    }

    async fn evict(self: Arc<Self>, key: Key, evictees: Evictees) -> Result<Evicted> {
        let on = self.carrier().await?;
        let what = format!("to take `{key}` from its holder");
        let limit = self.limit(&on);
        let used = format!("IS_USED_LOCK({})", literal(&key));
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
        if self.pool().connections.iter().any(|own| own.id as i64 == holder_id) {
            return Ok(Evicted::Own);
        }
        evictees.get_or_init(|| vec![holder_id.to_string()]);
        match on.ask(format!("KILL {holder_id}"), limit).await {
            Ok(_) => {}
            Err(Failure::Refused(refusal)) if refusal.code == NO_SUCH_THREAD => return Ok(Evicted::Free),
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
                let cause = format!("has not ended the session {holder_id} that holds `{key}`; try again");
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

/// Tells whether the end of a wait has hit a statement behind it.
fn is_interrupted<T>(came: &std::result::Result<T, Failure>) -> bool {
    matches!(came, Err(Failure::Refused(refusal)) if refusal.code == INTERRUPTED)
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

    fn key(&self, _: &Traits, name: &str, _: i64) -> Option<Key> {
        Some(self.0.flavour.get()?.key(name))
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

    fn take(&self, key: &Key) -> Work<Took> {
        boxed(self.0.clone().take(key.clone()))
    }

    fn stand(&self, key: &Key) -> Option<Work<Took>> {
        let (free, stand) = {
            let mut pool = self.0.pool();
            let reserved = pool.connections.iter().filter(|connection| connection.is_reserved()).count() + pool.to_open;
            if reserved >= self.0.config.waiters {
                return None;
            }
            // The first one that does not wait stays for statements that end at once.
            let mut carriers = pool.connections.iter().filter(|connection| !connection.is_reserved());
            let free = carriers.by_ref().skip(1).find(|connection| connection.is_idle()).cloned();
            match &free {
                Some(free) => free.reserve(true),
                None if pool.connections.len() + pool.to_open > self.0.config.waiters => return None,
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

    fn let_go(&self, grip: &Grip, again: bool) -> Work<Gone> {
        boxed(self.0.clone().let_go(grip.clone(), again))
    }

    fn fence(&self, grip: &Grip, count: i64) -> Work<Result<Range>> {
        boxed(self.0.clone().fence(grip.clone(), count))
    }

    fn renew(&self, bond: Bond) {
        let shared = self.0.clone();
        drop(tasks::spawn(async move {
            if let Some(on) = shared.find(bond)
                && !on.is_reserved()
            {
                let _ = shared.sign(&on).await;
            }
        }));
    }

    fn look(&self, key: &Key, fenced: bool) -> Work<Result<Seen>> {
        boxed(self.0.clone().look(key.clone(), fenced))
    }

    fn evict(&self, key: &Key, evictees: Evictees) -> Work<Result<Evicted>> {
        boxed(self.0.clone().evict(key.clone(), evictees))
    }

    fn ping(&self) -> Work<Result<()>> {
        let shared = self.0.clone();
        boxed(async move {
            let on = shared.carrier().await?;
            // A connection with locks outlasts the caller's patience.
            let silent = || Error::unavailable(shared.server(), "is silent", true);
            let came = timeout(shared.config.response_timeout, shared.sign(&on)).await.map_err(|_| silent())?;
            came.map(drop).map_err(|failure| shared.error("a sign of life", failure))
        })
    }

    fn drop_bond(&self, bond: Bond) {
        if let Some(connection) = self.0.find(bond) {
            connection.stop();
        }
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
