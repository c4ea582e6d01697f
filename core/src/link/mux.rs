//! One connection that everybody who waits for something else shares: waiters, renewals, async calls, messages.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use redis::RedisError;
use tokio::time::sleep;

use super::clock::Clock;
use super::life::Life;
use super::single::Server;
use super::wire::{Silence, Wire};
use super::{Limits, Outcome, Sent, no_script, packed};
use crate::error::Error;
use crate::script::Call;
use crate::wakes::Wakes;

mod notifications;
mod opening;

/// Between two attempts to listen while the server cannot be reached.
const RETRY: Duration = Duration::from_millis(50);

pub struct Mux {
    server: Arc<Server>,
    clock: Arc<Clock>,
    wakes: Arc<Wakes>,
    now: Mutex<Option<Wire>>,
    life: Arc<Life>,
    /// Held by whoever opens the connection, so that only one does.
    opening: tokio::sync::Mutex<()>,
    /// Whether [`pulse::watch`] runs.
    watched: AtomicBool,
}

impl Mux {
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, life: Arc<Life>, wakes: Arc<Wakes>) -> Self {
        let (now, opening) = Default::default();
        Mux { server, clock, wakes, now, life, opening, watched: AtomicBool::new(false) }
    }

    /// `earlier`: copies that must not run after this one. `told`: the server is to tell when a key that the call reads last is changed.
    pub async fn run(self: &Arc<Self>, call: &Call, limits: Limits, earlier: &[Sent], told: bool) -> Outcome {
        let wire = match self.wire(limits.response).await {
            Ok(wire) => wire,
            Err(outcome) => return outcome,
        };
        // Rare, and big: in the future of every call it would be moved and freed with it.
        if !earlier.is_empty() && !Box::pin(self.overtakes(&wire, earlier, limits)).await {
            return Outcome::Crossing;
        }
        let mut whole = false;
        loop {
            if wire.is_over() {
                return Outcome::Unsent(self.server.unavailable("closed the connection", false));
            }
            let (sent, not_after) = (Instant::now(), self.clock.server_ms(limits.window));
            let copy = Sent { connection: wire.connection, over: sent + limits.window + self.clock.error() };
            let unknown = |error| Outcome::Unknown { error, copy };
            let cmd = packed(call, not_after, whole, !earlier.is_empty());
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

    /// Makes sure that no earlier copy runs after what is sent now over `wire`: it went the same way, or its connection is ended.
    async fn overtakes(&self, wire: &Wire, earlier: &[Sent], limits: Limits) -> bool {
        for copy in earlier.iter().filter(|copy| copy.over > Instant::now()) {
            let (Some((life, id)), Some(ours)) = (copy.connection, wire.connection) else { return false };
            if life != ours.0 {
                return false;
            }
            if id != ours.1 {
                let mut con = wire.con.clone();
                let mut kill = redis::cmd("CLIENT");
                kill.arg("KILL").arg("ID").arg(id);
                if !matches!(wire.ask(kill.query_async::<i64>(&mut con), limits.response).await, Ok(Ok(_))) {
                    return false;
                }
            }
        }
        true
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
                            tracing::debug!(target: "redlatch::pubsub", "listens to {channel}");
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
        while let Some(wire) = self.now().filter(|_| !self.wakes.is_wanted(channel)) {
            let mut con = wire.con.clone();
            let _ = wire.ask(con.unsubscribe(channel), self.server.connect_timeout).await;
            tracing::debug!(target: "redlatch::pubsub", "listens no more to {channel}");
            if !self.wakes.is_wanted(channel) {
                return;
            }
            // Somebody subscribed while the end was on its way, and may have been overtaken by it; and may be gone again after that.
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

    /// Called when a connection has failed with an error that is not the server's own: it is of no use any more.
    pub fn lost(&self, wire: &Wire) {
        if !wire.is_over() {
            tracing::debug!(target: "redlatch::link", "gave a connection to {} up", self.server.name);
            wire.end();
            self.wakes.disconnected();
        }
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
}
