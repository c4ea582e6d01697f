//! One connection for all who wait: waiters, renewals, async calls and messages share it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{RedisError, RedisResult, Value};

use super::clock::Clock;
use super::encoding::{self, Stamp};
use super::server::Server;
use super::wire::{How, NoAnswer, Wire, left};
use crate::base::clock::Instant;
use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::Call;
use crate::redis::link::failover::incarnation::Incarnation;
use crate::redis::link::wakes::Wakes;
use crate::redis::link::{Elsewhere, Limits, Outcome, Sent, is_half_done, no_script};
use crate::request::error::Error;

mod apart;
mod batch;
mod listening;
mod notifications;
mod opening;

pub use apart::Apart;

pub struct Multiplexed {
    server: Arc<Server>,
    clock: Arc<Clock>,
    wakes: Arc<Wakes>,
    now: Mutex<Option<Wire>>,
    incarnation: Arc<Incarnation>,
    /// Locked during the opening of the connection, so that only one task opens it.
    opening: tokio::sync::Mutex<()>,
    /// Whether [`crate::redis::link::connection::liveness::watch`] runs.
    watched: AtomicBool,
    /// The channels of this connection, unless no listener wants them any more, and whether the server has confirmed
    /// each.
    channels: Mutex<HashMap<String, bool>>,
    /// Its channels belong to slots of a cluster, as keys do. Such a connection serves nothing else.
    sharded: bool,
}

impl Multiplexed {
    pub fn new(
        server: Arc<Server>,
        clock: Arc<Clock>,
        incarnation: Arc<Incarnation>,
        wakes: Arc<Wakes>,
        sharded: bool,
    ) -> Self {
        Multiplexed {
            server,
            clock,
            wakes,
            now: Default::default(),
            incarnation,
            opening: Default::default(),
            watched: AtomicBool::new(false),
            channels: Default::default(),
            sharded,
        }
    }

    /// Runs a call. `earlier`: copies that must not run after this one.
    pub async fn run(
        self: &Arc<Self>,
        call: &Call,
        limits: Limits,
        earlier: &[Sent],
        how: How,
    ) -> Result<Outcome, Elsewhere> {
        let end = Instant::now() + limits.response;
        match self.wire(limits.response).await {
            Ok(wire) => self.run_over(&wire, call, limits, end, earlier, how).await,
            Err(outcome) => Ok(outcome),
        }
    }

    /// As [`Multiplexed::run`], over a connection of [`Multiplexed::dial`] and until `end`.
    pub async fn run_over(
        &self,
        wire: &Wire,
        call: &Call,
        limits: Limits,
        end: Instant,
        earlier: &[Sent],
        how: How,
    ) -> Result<Outcome, Elsewhere> {
        // This is rare and big: inside the future of every call it would be moved and freed with it.
        if !earlier.is_empty() && !Box::pin(self.overtakes(wire, earlier, end)).await {
            return Ok(Outcome::Crossing);
        }
        if let Some(objection) = self.incarnation.objection(call) {
            return Ok(objection);
        }
        let mut whole = false;
        loop {
            if wire.is_over() {
                return Ok(Outcome::Unsent(self.server.unavailable("closed the connection", false)));
            }
            let sent = Instant::now();
            let not_after = self.clock.server_ms(limits.window);
            let copy = Sent { connection: wire.id, over: sent + limits.window + self.clock.error() };
            let stamp = Stamp { not_after, resent: !earlier.is_empty(), whole, sharding: &self.server.sharding };
            let cmd = encoding::command(call, stamp);
            match wire.ask(wire.send(cmd, how), left(end)).await {
                Ok(Err(error)) if no_script(&error) && !whole => whole = true,
                Ok(answer) => return self.meaning(wire, call, answer, copy, sent),
                Err(silence) => return Ok(Outcome::Unknown { error: self.silent(silence), copy }),
            }
        }
    }

    /// Interprets the answer to a call that was sent at `sent`, as `copy`.
    fn meaning(
        &self,
        wire: &Wire,
        call: &Call,
        answer: RedisResult<Value>,
        copy: Sent,
        sent: Instant,
    ) -> Result<Outcome, Elsewhere> {
        let unknown = |error| Outcome::Unknown { error, copy };
        let error = match answer {
            Ok(value) => {
                return Ok(match Reply::read(value) {
                    Some(reply) => self.server.understood(reply, &self.clock, sent),
                    None => {
                        self.lost(wire);
                        wire.distrust();
                        unknown(self.server.nonsense())
                    }
                });
            }
            Err(error) => error,
        };
        if let Some(elsewhere) = self.server.redirection(&error) {
            return Err(elsewhere);
        }
        if is_half_done(&error) {
            return Ok(unknown(self.server.moving()));
        }
        let said_no = self.server.refused_call(call, &error);
        Ok(said_no.unwrap_or_else(|| unknown(self.broken(wire, &error))))
    }

    /// Makes sure that no earlier copy runs after the one that goes over `wire` now: the copy went the same way, or its
    /// connection is ended.
    async fn overtakes(&self, wire: &Wire, earlier: &[Sent], end: Instant) -> bool {
        for copy in earlier.iter().filter(|copy| copy.over > Instant::now()) {
            let Some(theirs) = copy.connection else { return false };
            let Some(ours) = wire.id else { return false };
            if theirs.incarnation != ours.incarnation {
                return false;
            }
            if theirs.number != ours.number {
                let mut con = wire.con.clone();
                let mut kill = redis::cmd("CLIENT");
                kill.arg("KILL").arg("ID").arg(theirs.number);
                if !matches!(wire.ask(kill.query_async::<i64>(&mut con), left(end)).await, Ok(Ok(_))) {
                    return false;
                }
            }
        }
        true
    }

    /// Asks the server a question that changes nothing.
    pub async fn ask(self: &Arc<Self>, words: &[&str], limit: Duration) -> Result<redis::Value, Error> {
        let end = Instant::now() + limit;
        let wire = self.reached(limit).await?;
        let mut cmd = redis::cmd(words[0]);
        cmd.arg(&words[1..]);
        match wire.ask(wire.send(cmd, How::Plain), left(end)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => match self.server.said_no(words[0], &error) {
                Some(Outcome::Unsent(error) | Outcome::Refused(error)) => Err(error),
                _ => Err(self.broken(&wire, &error)),
            },
            Err(silence) => Err(self.silent(silence)),
        }
    }

    /// The connection, or the error of its opening.
    async fn reached(self: &Arc<Self>, limit: Duration) -> Result<Wire, Error> {
        self.wire(limit).await.map_err(|outcome| match outcome {
            Outcome::Unsent(error) | Outcome::Refused(error) => error,
            _ => self.server.unavailable("cannot be reached", false),
        })
    }

    /// The error for an answer of the server that makes no sense.
    pub fn nonsense(&self, words: &[&str]) -> Error {
        self.server.unavailable(format!("gives an unknown answer to {}", words.join(" ")), false)
    }

    pub fn close(&self) {
        self.slot().take();
    }

    /// Gives the connection up, because another server has taken the place of this one.
    pub fn retire(&self) {
        let wire = self.slot().take();
        wire.inspect(Wire::retire);
    }

    /// The connection, if a call waits for an answer or a listener for a message on it.
    pub fn waited_for(&self) -> Option<Wire> {
        self.now().filter(|wire| wire.is_asked() || !self.channels_wanted().is_empty())
    }

    /// Tells whether the server reports changed keys.
    pub fn tells(&self) -> bool {
        self.now().is_some_and(|wire| wire.tells)
    }

    /// Tells whether messages need a connection of their own to this server, as far as the client knows now.
    pub fn hears_apart(&self) -> bool {
        self.server.is_old()
    }

    /// Notes the end of [`crate::redis::link::connection::liveness::watch`].
    pub fn watched_no_more(&self) {
        self.watched.store(false, SeqCst);
    }

    pub fn connect_timeout(&self) -> Duration {
        self.server.connect_timeout
    }

    /// Ends a connection that failed with an error which is not the server's own: it is of no use any more.
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

    pub fn broken(&self, wire: &Wire, error: &RedisError) -> Error {
        self.lost(wire);
        self.server.broken(error)
    }

    pub fn silent(&self, silence: NoAnswer) -> Error {
        match silence {
            NoAnswer::TimedOut => self.server.unavailable("does not answer in time", true),
            NoAnswer::Over => self.server.unavailable("closed the connection", false),
        }
    }
}
