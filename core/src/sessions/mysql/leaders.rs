//! Leaders. Each candidate has a session of its own: it waits there for the lock of the leader's name, and its term ends with
//! that session. A row in the table of leaders names the session, so it tells of the present term or of none.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::base::clock::Instant;
use crate::base::tasks::boxed;
use crate::request::error::{Error, Result};
use crate::sessions::driver::{Key, Seen, Took, lock_of, locked_tokens};
use crate::sessions::mysql::connection::{Connection, Role};
use crate::sessions::mysql::names::{bytes, literal};
use crate::sessions::mysql::{Shared, Stand, TOKENS, is_locked, is_without_table, missing, undrawn};

/// The table of leaders, and the statement that makes it.
const LEADERS: &str = "redlatch_leader";
const MAKE_LEADERS: &str = "CREATE TABLE redlatch_leader (name VARBINARY(255) PRIMARY KEY, token BIGINT NOT NULL, \
                            holder VARBINARY(255) NOT NULL, value MEDIUMBLOB NOT NULL) ENGINE=InnoDB";
/// The time for which a leader may have the lock and no row yet, and the interval of questions meanwhile.
const ELECTED: Duration = Duration::from_millis(100);
const A_ROW: Duration = Duration::from_millis(5);

/// A caller that asks to lead.
#[derive(Default)]
pub struct Candidate {
    pub value: Vec<u8>,
    /// Its session between two calls.
    pub on: Option<Arc<Connection>>,
}

impl Shared {
    pub async fn try_to_lead(self: Arc<Self>, key: Key) -> Took {
        let on = match self.session_of(&key).await {
            Ok(on) => on,
            Err(error) => return Took::Failed(error),
        };
        let took = self.clone().take_on(on.clone(), key.clone()).await;
        self.keep(&key, on, took)
    }

    pub(super) async fn wait_to_lead(self: &Arc<Self>, key: &Key, stand: &Stand) -> Took {
        let on = match self.session_of(key).await {
            Ok(on) => on,
            Err(error) => return Took::Failed(error),
        };
        let took = match stand.is_left() {
            true => Took::NoRoom,
            false => self.wait_on(&on, key, stand).await,
        };
        self.keep(key, on, took)
    }

    /// The session of a candidate.
    async fn session_of(self: &Arc<Self>, key: &Key) -> Result<Arc<Connection>> {
        let on = self.pool().candidates.get_mut(key).and_then(|candidate| candidate.on.take());
        match on.filter(|on| !on.is_over()) {
            Some(on) => Ok(on),
            None => self.open_one(Role::Leads).await,
        }
    }

    /// Keeps the session of a candidate that does not lead yet.
    fn keep(&self, key: &Key, on: Arc<Connection>, took: Took) -> Took {
        match took {
            Took::Yes { .. } => on.reserve(false),
            _ => match self.pool().candidates.get_mut(key) {
                Some(candidate) => candidate.on = Some(on),
                None => on.quit(),
            },
        }
        took
    }

    /// Writes the row of a term. A row with a greater token stays: the term is over then.
    pub(super) async fn announce(self: &Arc<Self>, key: &Key, holder: &str, token: i64) -> Result<()> {
        let value = self.pool().candidates.get(key).map(|candidate| candidate.value.clone()).unwrap_or_default();
        let write = format!(
            "INSERT INTO {LEADERS} (name, token, holder, value) VALUES ({}, {token}, {}, {}) ON DUPLICATE KEY UPDATE \
             holder = IF(token < {token}, VALUES(holder), holder), value = IF(token < {token}, VALUES(value), value), \
             token = GREATEST(token, {token})",
            literal(lock_of(key)),
            literal(holder),
            bytes(&value)
        );
        let ask = |on: Arc<Connection>| {
            let (shared, write) = (self.clone(), write.clone());
            boxed(async move { on.ask(write, shared.limit(&on).max(TOKENS)).await.map(drop) })
        };
        let error = match self.call(Role::Draws, ask, drop).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(failure)) if is_locked(&failure) => return Err(locked_tokens(self.server(), key)),
            Ok(Err(failure)) if is_without_table(&failure) => self.no_leaders(lock_of(key), missing(&failure)),
            Ok(Err(failure)) => self.error(&format!("the row of the leader `{}`", lock_of(key)), failure),
            Err(error) => error,
        };
        Err(undrawn(key, error))
    }

    pub(super) async fn look_at_leader(self: Arc<Self>, key: Key) -> Result<Seen> {
        let lock = lock_of(&key);
        let used = format!("IS_USED_LOCK({})", literal(lock));
        let what = format!(
            "{used}, leader.token, leader.holder, leader.value FROM (SELECT 1) AS one LEFT JOIN {LEADERS} AS leader \
             ON leader.name = {} AND IS_USED_LOCK(CONVERT(leader.holder USING utf8mb4)) = {used}",
            literal(lock)
        );
        let end = Instant::now() + ELECTED;
        loop {
            let row = match self.row(Role::Draws, what.clone()).await? {
                Ok(row) => row,
                Err(failure) if is_locked(&failure) => return Err(locked_tokens(self.server(), &key)),
                Err(failure) if is_without_table(&failure) => return Err(self.no_leaders(lock, missing(&failure))),
                Err(failure) => return Err(self.error(&format!("`{lock}`"), failure)),
            };
            let Some(session) = row.number(1) else { return Ok(Seen::default()) };
            let seen = Seen { is_taken: true, is_busy: true, ..Seen::default() };
            if let (Some(token), Some(holder)) = (row.number(2), row.bytes(3)) {
                let holder = String::from_utf8_lossy(holder).into_owned();
                let value = row.bytes(4).unwrap_or_default().to_vec();
                return Ok(Seen { token, holder, value, ..seen });
            }
            // Another program has the lock, or the row of a leader is on its way.
            if end <= Instant::now() {
                return Ok(Seen { holder: format!("session {session}"), ..seen });
            }
            sleep(A_ROW).await;
        }
    }

    fn no_leaders(&self, lock: &str, missing: &str) -> Error {
        Error::Unsupported(format!(
            "`{lock}` has no leader on {}, where leaders are in the table {LEADERS}: {missing}{MAKE_LEADERS}",
            self.server()
        ))
    }
}
