//! One connection that everybody who waits for something else shares: waiters, renewals, async calls, messages.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use redis::{PushInfo, PushKind, RedisError, Value};
use tokio::time::{sleep, timeout};

use super::clock::Clock;
use super::single::{Server, time_ms};
use super::wire::{Silence, State, Wire};
use super::{Limits, Outcome, no_script, packed, pulse};
use crate::error::Error;
use crate::script::Call;
use crate::wakes::Wakes;

/// Between two attempts to listen while the server cannot be reached.
const RETRY: Duration = Duration::from_millis(50);

pub struct Mux {
    server: Arc<Server>,
    clock: Arc<Clock>,
    wakes: Arc<Wakes>,
    now: Mutex<Option<Wire>>,
    life: Mutex<Life>,
    /// Held by whoever opens the connection, so that only one does.
    opening: tokio::sync::Mutex<()>,
    /// Whether [`pulse::watch`] runs.
    watched: AtomicBool,
}

/// Which run of the server this is, and how many there were before.
#[derive(Default)]
struct Life {
    run: String,
    epoch: u64,
}

impl Mux {
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, wakes: Arc<Wakes>) -> Self {
        let (now, life, opening) = Default::default();
        Mux { server, clock, wakes, now, life, opening, watched: AtomicBool::new(false) }
    }

    pub fn epoch(&self) -> u64 {
        self.life.lock().expect("nothing panics while it is held").epoch
    }

    /// `told`: the server is to tell when a key that the call reads last is changed.
    pub async fn run(self: &Arc<Self>, call: &Call, limits: Limits, told: bool) -> Outcome {
        let wire = match self.wire(limits.response).await {
            Ok(wire) => wire,
            Err(outcome) => return outcome,
        };
        let mut whole = false;
        loop {
            if wire.is_over() {
                return Outcome::Unsent(self.server.unavailable("closed the connection", false));
            }
            let (sent, not_after) = (Instant::now(), self.clock.server_ms(limits.window));
            let unknown = |error| Outcome::Unknown { error, settled: sent + limits.window };
            let cmd = packed(call, not_after, whole);
            match wire.ask(wire.send(cmd, told), limits.response).await {
                Ok(Ok(value)) => return self.server.understood(value, &self.clock, sent),
                Ok(Err(error)) if no_script(&error) && !whole => whole = true,
                Ok(Err(error)) => {
                    let said_no = self.server.said_no(&call.what(), &error);
                    return said_no.unwrap_or_else(|| unknown(self.broken(&wire, &error)));
                }
                Err(silence) => return unknown(self.silent(silence)),
            }
        }
    }

    pub async fn listen(self: &Arc<Self>, channel: &str, limit: Duration) -> Result<(), Error> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let error = match self.wire(left).await {
                Ok(wire) => {
                    let mut con = wire.con.clone();
                    match wire.ask(con.subscribe(channel), left).await {
                        Ok(Ok(())) if wire.is_over() => self.silent(Silence::Over),
                        Ok(Ok(())) => {
                            self.wakes.proven(channel);
                            return Ok(());
                        }
                        Ok(Err(error)) => match self.server.said_no("SUBSCRIBE", &error) {
                            Some(Outcome::Unsent(error) | Outcome::Refused(error)) => return Err(error),
                            _ => self.broken(&wire, &error),
                        },
                        Err(silence) => self.silent(silence),
                    }
                }
                Err(Outcome::Unsent(error)) => error,
                Err(Outcome::Refused(error)) => return Err(error),
                Err(_) => self.server.unavailable("cannot be reached", false),
            };
            if Instant::now() + RETRY >= end {
                return Err(error);
            }
            sleep(RETRY).await;
        }
    }

    pub async fn unlisten(self: &Arc<Self>, channel: &str) {
        let Some(wire) = self.now().filter(|_| !self.wakes.is_wanted(channel)) else { return };
        let mut con = wire.con.clone();
        let _ = wire.ask(con.unsubscribe(channel), self.server.connect_timeout).await;
        if self.wakes.is_wanted(channel) {
            // Somebody subscribed while the end was on its way, and may have been overtaken by it.
            let _ = self.listen(channel, self.server.connect_timeout).await;
            self.wakes.message(channel);
        }
    }

    pub fn close(&self) {
        self.slot().take();
    }

    /// The connection, if somebody waits for an answer or a message on it.
    pub fn waited_for(&self) -> Option<Wire> {
        self.now().filter(|wire| wire.is_asked() || self.wakes.anybody_listens())
    }

    /// The end of [`pulse::watch`].
    pub fn watched_no_more(&self) {
        self.watched.store(false, SeqCst);
    }

    pub fn connect_timeout(&self) -> Duration {
        self.server.connect_timeout
    }

    /// Opens a connection; nobody uses it yet.
    pub async fn dial(&self) -> Result<Wire, RedisError> {
        let state = State::new();
        let (wakes, end) = (self.wakes.clone(), state.clone());
        let config =
            redis::AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None).set_push_sender(move |push| {
                pushed(push, &wakes, &end);
                Ok::<(), std::convert::Infallible>(())
            });
        let mut con = self.server.pushing.get_multiplexed_async_connection_with_config(&config).await?;
        let asked = Instant::now();
        let (time,): ((i64, i64),) = self.server.greeting().query_async(&mut con).await?;
        self.clock.learn(time_ms(time), asked);
        // Without these two it works too, only less is known.
        let tells = redis::cmd("CLIENT").arg(&["TRACKING", "ON", "OPTIN", "NOLOOP"]).query_async::<()>(&mut con).await.is_ok();
        let run = redis::cmd("INFO").arg("server").query_async::<redis::InfoDict>(&mut con).await;
        self.note_life(run.ok().and_then(|info| info.get("run_id")).unwrap_or_default());
        Ok(Wire::new(con, tells, state))
    }

    /// Called when a connection has failed with an error that is not the server's own: it is of no use any more.
    pub fn lost(&self, wire: &Wire) {
        if !wire.is_over() {
            wire.end();
            self.wakes.disconnected();
        }
    }

    /// Gives `old` up for `fresh`. What was asked on `old` is unknown from now on.
    pub async fn replace(&self, old: &Wire, fresh: Wire) {
        let _only_me = self.opening.lock().await;
        if old.is_over() || self.now().is_none() {
            return;
        }
        old.end();
        if !matches!(timeout(self.server.connect_timeout, self.take(fresh)).await, Ok(Ok(_))) {
            self.wakes.disconnected();
        }
    }

    /// Listens again to every channel that anybody wants, and wakes them all: messages may have been missed.
    async fn take(&self, wire: Wire) -> Result<Wire, RedisError> {
        let channels = self.wakes.wanted();
        if !channels.is_empty() {
            wire.con.clone().subscribe(&channels).await?;
        }
        *self.slot() = Some(wire.clone());
        for channel in &channels {
            self.wakes.proven(channel);
            self.wakes.message(channel);
        }
        // Nothing was told meanwhile.
        self.wakes.suspect(None);
        Ok(wire)
    }

    async fn wire(self: &Arc<Self>, limit: Duration) -> Result<Wire, Outcome> {
        let late = || Outcome::Unsent(self.server.late_to_open());
        let open = async {
            let _only_me = self.opening.lock().await;
            match self.now() {
                Some(wire) => Ok(wire),
                None => async { self.take(self.dial().await?).await }.await.map_err(|error| self.server.not_opened(&error)),
            }
        };
        let wire = match self.now() {
            Some(wire) => wire,
            None => timeout(limit.min(self.server.connect_timeout), open).await.unwrap_or_else(|_| Err(late()))?,
        };
        if !self.watched.swap(true, SeqCst) {
            tokio::spawn(pulse::watch(self.clone()));
        }
        Ok(wire)
    }

    fn now(&self) -> Option<Wire> {
        self.slot().clone().filter(|wire| !wire.is_over())
    }

    fn slot(&self) -> MutexGuard<'_, Option<Wire>> {
        self.now.lock().expect("nothing panics while it is held")
    }

    fn broken(&self, wire: &Wire, error: &RedisError) -> Error {
        self.lost(wire);
        self.server.broken(error)
    }

    fn silent(&self, silence: Silence) -> Error {
        match silence {
            Silence::TimedOut => self.server.unavailable("does not answer in time", true),
            Silence::Over => self.server.unavailable("closed the connection", false),
        }
    }

    fn note_life(&self, run: String) {
        let mut life = self.life.lock().expect("nothing panics while it is held");
        if !life.run.is_empty() && life.run != run {
            life.epoch += 1;
        }
        life.run = run;
    }
}

fn pushed(push: PushInfo, wakes: &Wakes, state: &State) {
    match push.kind {
        PushKind::Disconnection => {
            state.end();
            wakes.disconnected();
        }
        PushKind::Message => {
            if let Some(Value::BulkString(channel)) = push.data.first() {
                wakes.message(&String::from_utf8_lossy(channel));
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
