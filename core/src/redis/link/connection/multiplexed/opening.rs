//! Opens the multiplexed connection, and replaces it.

use std::pin::Pin;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{AsyncConnectionConfig, ErrorKind, InfoDict, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::time::{timeout, timeout_at};

use super::{Apart, Multiplexed};
use crate::base::clock::Instant;
use crate::redis::link::ConnectionId;
use crate::redis::link::Outcome;
use crate::redis::link::connection::liveness;
use crate::redis::link::connection::server::{Opened, time_ms};
use crate::redis::link::connection::wire::{State, Wire};
use crate::redis::link::failover::quarantine::Identity;
use crate::redis::link::wakes::Wakes;

/// The answers to [`crate::redis::link::connection::server::Server::greeting`], then whether the server reports changed
/// keys, and its policy for full memory.
type PushGreeted =
    (RedisResult<i64>, RedisResult<(i64, i64)>, RedisResult<InfoDict>, RedisResult<Value>, RedisResult<InfoDict>);

/// The time that the first attempt to open a connection may take; each further one has twice as long. The first may
/// hang, and a far server needs many round trips.
const FIRST: Duration = Duration::from_secs(1);

impl Multiplexed {
    pub(super) async fn wire(self: &Arc<Self>, limit: Duration) -> Result<Wire, Outcome> {
        let wire = match self.now() {
            Some(wire) => wire,
            None => {
                let late = |_| Outcome::Unsent(self.server.late_to_open());
                let caller = Arc::new(());
                // The opening runs in a task of its own: if it takes longer than this caller can wait, the next caller
                // finds it open.
                let open = tokio::spawn(self.clone().open(Arc::downgrade(&caller)));
                match timeout(limit, open).await.map_err(late)? {
                    Ok(opened) => opened?,
                    Err(_) => return Err(Outcome::Unsent(self.server.unavailable("closed the connection", false))),
                }
            }
        };
        if !self.watched.swap(true, SeqCst) {
            tokio::spawn(liveness::watch(self.clone()));
        }
        Ok(wire)
    }

    async fn open(self: Arc<Self>, caller: Weak<()>) -> Result<Wire, Outcome> {
        let late = || Outcome::Unsent(self.server.late_to_open());
        let _only_me = self.opening.lock().await;
        match self.now() {
            Some(wire) => Ok(wire),
            None if caller.strong_count() == 0 => Err(late()),
            None => {
                let end = Instant::now() + self.server.connect_timeout;
                let mut limit = FIRST;
                loop {
                    let open = async { self.take(self.dial().await?).await };
                    match timeout_at(end.min(Instant::now() + limit).into(), open).await {
                        Ok(opened) => return opened.map_err(|error| self.server.not_opened(&error)),
                        Err(_) if Instant::now() >= end => return Err(late()),
                        Err(_) => limit *= 2,
                    }
                }
            }
        }
    }

    /// Opens a connection that no call uses yet.
    pub async fn dial(&self) -> Result<Wire, RedisError> {
        let state = State::new();
        let (mut con, driver) = match self.server.is_old() {
            true => self.connect_old().await?,
            false => match self.connect(&state).await {
                Err(error) if knows_no_hello(&error) => {
                    tracing::debug!(target: "redlatch::link", "{} knows only RESP2: {error}", self.server.name);
                    self.server.note_old();
                    self.connect_old().await?
                }
                connected => connected?,
            },
        };
        self.server.note_reached();
        let is_old = self.server.is_old();
        let asked = Instant::now();
        // The connection also works without the answers to the last two.
        let mut greeting = self.server.greeting();
        // Over RESP2 the reports would go to another connection.
        greeting
            .cmd("CLIENT")
            .arg(if is_old { &["ID"][..] } else { &["TRACKING", "ON", "OPTIN", "NOLOOP"] })
            .cmd("INFO")
            .arg("memory");
        let (id, time, run, tells, memory): PushGreeted = greeting.query_async(&mut con).await?;
        self.server.eviction.look(&self.server.name, memory);
        match time {
            Err(error) if is_unknown(&error) => {} // a sentinel
            time => self.clock.learn(time_ms(time?), asked),
        }
        self.incarnation.note(run.ok());
        if let Some(quarantine) = &self.incarnation.quarantine {
            quarantine.met(Identity::read(Identity::questions().query_async(&mut con).await?));
        }
        tracing::debug!(target: "redlatch::link", "connected to {}", self.server.name);
        let id = id.ok().map(|number| ConnectionId { incarnation: self.incarnation.number(), number });
        Ok(Wire::new(con, driver, id, tells.is_ok() && !is_old, is_old.then(Apart::default), state))
    }

    async fn connect(&self, state: &Arc<State>) -> RedisResult<Opened> {
        let wakes = self.wakes.clone();
        let end = state.clone();
        let config = patient().set_push_sender(move |push| {
            pushed(push, &wakes, &end);
            Ok::<(), std::convert::Infallible>(())
        });
        self.server.pushing(config).await
    }

    async fn connect_old(&self) -> RedisResult<Opened> {
        self.server.pulling(patient()).await
    }

    /// Gives `old` up for `fresh`. The outcome of calls on `old` is unknown from now on.
    pub async fn replace(self: &Arc<Self>, old: &Wire, fresh: Wire) {
        let _only_me = self.opening.lock().await;
        if old.is_over() || self.now().is_none() {
            return;
        }
        old.end();
        if !matches!(timeout(self.server.connect_timeout, self.take(fresh)).await, Ok(Ok(_))) {
            self.wakes.disconnected();
        }
    }

    /// Listens again to every wanted channel, and wakes all its listeners: they may have missed messages.
    async fn take(self: &Arc<Self>, wire: Wire) -> Result<Wire, RedisError> {
        let channels = self.channels_wanted();
        let channels = self.subscribe_to_allowed(&wire, channels).await?;
        *self.slot() = Some(wire.clone());
        for channel in &channels {
            self.confirm(channel);
            self.wakes.message(channel);
        }
        // A listener that left meanwhile had no connection on which to unsubscribe.
        for channel in channels.into_iter().filter(|channel| !self.wakes.is_wanted(channel)) {
            tokio::spawn(self.clone().leave(channel));
        }
        // The server reported no changes meanwhile.
        self.wakes.suspect(None);
        Ok(wire)
    }

    /// [`Multiplexed::unlisten`], which may open a connection itself.
    fn leave(self: Arc<Self>, channel: String) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.unlisten(&channel).await })
    }
}

/// Sets no time-outs: each caller has its own.
fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None)
}

/// Tells whether the server refused `HELLO`, which asks for RESP3: a proxy may not know it, and an ACL may not allow
/// it.
fn knows_no_hello(error: &RedisError) -> bool {
    let said = error.detail().unwrap_or_default().to_ascii_lowercase();
    let refuses = said.starts_with("unknown command") || error.code() == Some("NOPERM");
    error.kind() == ErrorKind::RESP3NotSupported
        || error.code() == Some("NOPROTO")
        || (refuses && said.contains("hello"))
}

fn is_unknown(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.starts_with("unknown command"))
}

fn pushed(push: PushInfo, wakes: &Wakes, state: &State) {
    match push.kind {
        PushKind::Disconnection => {
            state.end();
            wakes.disconnected();
        }
        PushKind::Message | PushKind::SMessage => {
            if let Some(Value::BulkString(channel)) = push.data.first() {
                let channel = String::from_utf8_lossy(channel);
                wakes.message(&channel);
                if let Some(Value::BulkString(text)) = push.data.get(1) {
                    wakes.events.message(&channel, text);
                }
            }
        }
        // The server sends this unasked: the slot has gone to another server. A question on its way would take this for
        // its answer.
        PushKind::SUnsubscribe => {
            if let Some(Value::BulkString(channel)) = push.data.first()
                && wakes.is_wanted(&String::from_utf8_lossy(channel))
            {
                state.end();
                wakes.disconnected();
            }
        }
        PushKind::Invalidate => match push.data.into_iter().next() {
            Some(Value::Array(keys)) => keys.into_iter().for_each(|key| match key {
                Value::BulkString(key) => wakes.suspect(Some(String::from_utf8_lossy(&key).into_owned())),
                _ => wakes.suspect(None),
            }),
            _ => wakes.suspect(None),
        },
        _ => {}
    }
}
