//! Calls that count only once replicas have their writes. A server's count starts at the last write of the connection
//! that asks. So each call waits on the connection that carried it, and no other call uses that connection meanwhile:
//! on another connection the count would be too high.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{FromRedisValue, RedisError, Value};
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};

use super::clock::Clock;
use super::multiplexed::Multiplexed;
use super::server::Server;
use super::wire::{How, Wire, left};
use crate::base::clock::Instant;
use crate::config::sync_policy::SyncPolicy;
use crate::redis::kinds::reply::Code;
use crate::redis::kinds::script::Call;
use crate::redis::link::failover::incarnation::Incarnation;
use crate::redis::link::{Elsewhere, Limits, Outcome, Sent};
use crate::request::error::Error;

mod confirmation;

use confirmation::Confirmation;

/// The most calls at once; later ones wait in line.
const MOST: usize = 8;
/// The time for which the client trusts the number of connected replicas.
const NEWS: Duration = Duration::from_secs(1);
/// After this idle time a connection asks for a sign of life first, and waits at most the second time for it.
const FRESH: Duration = Duration::from_secs(1);
const SIGN: Duration = Duration::from_millis(500);

pub struct Confirming {
    server: Arc<Server>,
    /// Opens the connections, and sends over them; it has no connection of its own.
    multiplexed: Multiplexed,
    policy: SyncPolicy,
    room: Semaphore,
    wires: Mutex<Wires>,
    replicas: Mutex<Replicas>,
}

#[derive(Default)]
struct Wires {
    all: Vec<Wire>,
    idle: Vec<Wire>,
}

/// The client's knowledge of the connected replicas. It asks for them only if the policy does not name a number.
#[derive(Clone, Copy)]
enum Replicas {
    Unknown,
    Connected(u32, Instant),
    /// The server cannot wait for replicas.
    Useless,
}

impl Confirming {
    /// Opens no connection yet.
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, incarnation: Arc<Incarnation>, policy: SyncPolicy) -> Self {
        let multiplexed = Multiplexed::new(server.clone(), clock, incarnation, Arc::default(), false);
        let room = Semaphore::new(MOST);
        let replicas = Mutex::new(Replicas::Unknown);
        Confirming { server, multiplexed, policy, room, wires: Mutex::default(), replicas }
    }

    /// False: no replica can confirm anything.
    pub fn is_wanted(&self) -> bool {
        match *self.replicas() {
            Replicas::Unknown => true,
            Replicas::Connected(count, said) => count > 0 || said.elapsed() > NEWS,
            Replicas::Useless => false,
        }
    }

    pub async fn run(&self, call: &Call, limits: Limits, earlier: &[Sent], how: How) -> Result<Outcome, Elsewhere> {
        let end = Instant::now() + limits.response;
        let Ok(Ok(_room)) = timeout_at(end.into(), self.room.acquire()).await else {
            return Ok(Outcome::Unsent(
                self.server.unavailable(format!("lets {MOST} calls wait for its replicas already"), true),
            ));
        };
        let wire = match timeout_at(end.into(), self.wire()).await {
            Ok(Ok(wire)) => wire,
            Ok(Err(outcome)) => return Ok(outcome),
            Err(_) => return Ok(Outcome::Unsent(self.server.late_to_open())),
        };
        let outcome = self.run_over(&wire.wire, call, limits, end, earlier, how).await;
        match outcome {
            Ok(Outcome::Unknown { .. } | Outcome::Unsent(_) | Outcome::Crossing) => drop(wire),
            _ => wire.put_back(),
        }
        outcome
    }

    /// Tells the calls that wait on its connections that those have ended.
    pub fn retire(&self) {
        let wires = std::mem::take(&mut *self.wires());
        wires.all.iter().for_each(Wire::retire);
    }

    async fn run_over(
        &self,
        wire: &Wire,
        call: &Call,
        limits: Limits,
        end: Instant,
        earlier: &[Sent],
        how: How,
    ) -> Result<Outcome, Elsewhere> {
        let confirmation = match self.confirmation(wire, left(end)).await {
            Ok(confirmation) => confirmation,
            Err(error) => return Ok(Outcome::Unsent(error)),
        };
        let outcome = self.multiplexed.run_over(wire, call, limits, end, earlier, how).await?;
        match (confirmation, &outcome) {
            (Some(confirmation), Outcome::Reply(reply)) if reply.code == Code::Done => {
                Ok(match self.wait(wire, call, &confirmation, end).await {
                    Some(unconfirmed) => unconfirmed,
                    None => outcome,
                })
            }
            _ => Ok(outcome),
        }
    }

    /// Waits until the replicas confirm the last call over `wire`; `Some`: they did not.
    async fn wait(&self, wire: &Wire, call: &Call, wanted: &Confirmation, end: Instant) -> Option<Outcome> {
        let within = self.policy.within();
        let answer = self.ask(wire, wanted.command(within), within + left(end)).await;
        // The call was answered, so no copy of it is on its way any more.
        let copy = Sent { connection: wire.id, over: Instant::now() };
        let error = match answer {
            Ok(Ok(value)) => {
                let (file, replicas) = confirmation::counts(&value).unwrap_or_default();
                if replicas != wanted.replicas {
                    self.forget_replicas();
                }
                if wanted.is_by(file, replicas) {
                    return None;
                }
                wanted.missing(call, &self.server.name, within, file, replicas)
            }
            // The server has become a replica meanwhile: the new master may have the write, or may still get it.
            Ok(Err(said)) if said.code() == Some("UNBLOCKED") || is_of_a_replica(&said) => {
                let error = self.server.unavailable("is no master any more", false);
                return Some(Outcome::Unknown { error, copy });
            }
            Ok(Err(said)) => confirmation::objection(&self.server.name, &said),
            Err(error) => return Some(Outcome::Unknown { error, copy }),
        };
        Some(Outcome::Unconfirmed { error, copy })
    }

    /// The confirmation that the policy demands; `None`: none.
    async fn confirmation(&self, wire: &Wire, limit: Duration) -> Result<Option<Confirmation>, Error> {
        let SyncPolicy::Connected { replicas: least, .. } = self.policy else {
            return Ok(Confirmation::of(self.policy));
        };
        let known = *self.replicas();
        let count = match known {
            Replicas::Connected(count, said) if said.elapsed() <= NEWS => count,
            Replicas::Useless => 0,
            _ => {
                let mut info = redis::cmd("INFO");
                info.arg("replication");
                let said =
                    self.ask(wire, info, limit).await?.ok().and_then(|value| String::from_redis_value(value).ok());
                let count = said.map(|said| confirmation::replicas_in_step(&said));
                *self.replicas() = count.map_or(Replicas::Useless, |count| Replicas::Connected(count, Instant::now()));
                count.unwrap_or_default()
            }
        };
        Ok((count > 0).then(|| Confirmation { file: None, replicas: count, least: least.min(count) }))
    }

    /// A connection that no other call uses.
    async fn wire(&self) -> Result<Used<'_>, Outcome> {
        loop {
            let idle = self.wires().idle.pop();
            let Some(wire) = idle else { return self.open().await };
            let used = self.used(wire);
            let is_fresh = used.wire.heard().elapsed() <= FRESH;
            if !used.wire.is_over() && (is_fresh || self.ask(&used.wire, redis::cmd("PING"), SIGN).await.is_ok()) {
                return Ok(used);
            }
        }
    }

    async fn open(&self) -> Result<Used<'_>, Outcome> {
        let late = |_| Outcome::Unsent(self.server.late_to_open());
        let dialled = timeout(self.server.connect_timeout, self.multiplexed.dial()).await.map_err(late)?;
        let wire = dialled.map_err(|error| self.server.not_opened(&error))?;
        self.wires().all.push(wire.clone());
        let used = self.used(wire);
        // A server without this ability says so before the call takes anything.
        let answer = self
            .ask(&used.wire, confirmation::probe(self.policy), self.server.connect_timeout)
            .await
            .map_err(Outcome::Unsent)?;
        match answer {
            Err(said) if !is_of_a_replica(&said) => match self.policy {
                SyncPolicy::Connected { .. } => *self.replicas() = Replicas::Useless,
                _ => return Err(Outcome::Refused(confirmation::objection(&self.server.name, &said))),
            },
            _ => {}
        }
        Ok(used)
    }

    fn used(&self, wire: Wire) -> Used<'_> {
        Used { confirming: self, wire, is_fit: false }
    }

    /// Gives the answer, or the server's refusal.
    async fn ask(
        &self,
        wire: &Wire,
        question: redis::Cmd,
        limit: Duration,
    ) -> Result<Result<Value, RedisError>, Error> {
        match wire.ask(wire.send(question, How::Plain), limit).await {
            Ok(Err(error)) if self.server.said_no("", &error).is_none() => Err(self.multiplexed.broken(wire, &error)),
            Ok(answer) => Ok(answer),
            Err(silence) => Err(self.multiplexed.silent(silence)),
        }
    }

    fn forget_replicas(&self) {
        let mut replicas = self.replicas();
        if matches!(*replicas, Replicas::Connected(..)) {
            *replicas = Replicas::Unknown;
        }
    }

    fn wires(&self) -> MutexGuard<'_, Wires> {
        self.wires.lock().expect("nothing panics while it is held")
    }

    fn replicas(&self) -> MutexGuard<'_, Replicas> {
        self.replicas.lock().expect("nothing panics while it is held")
    }
}

/// A connection that one call uses. Unless the call puts it back, it ends with the call, even if the caller drops the
/// call half way: the next call would take a late answer for its own.
struct Used<'a> {
    confirming: &'a Confirming,
    wire: Wire,
    /// The next call may have it.
    is_fit: bool,
}

impl Used<'_> {
    fn put_back(mut self) {
        self.is_fit = true;
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        let mut wires = self.confirming.wires();
        if self.is_fit && !self.wire.is_over() {
            wires.idle.push(self.wire.clone());
        } else {
            self.wire.end();
            wires.all.retain(|wire| !wire.is_over());
        }
    }
}

/// Tells whether a replica refused the command because only a master answers it. Then the client asks elsewhere, or
/// again.
fn is_of_a_replica(said: &RedisError) -> bool {
    said.detail().is_some_and(|detail| detail.contains("replica instances"))
}
