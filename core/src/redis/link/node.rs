//! One server of a client: the connections to it, its clock, and its incarnation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use redis::{FromRedisValue, Value};

use super::connection::blocking::Blocking;
use super::connection::clock::Clock;
use super::connection::confirming::Confirming;
use super::connection::multiplexed::Multiplexed;
use super::connection::pipelined::Pipelined;
use super::connection::server::Server;
use super::connection::wire::How;
use super::failover::incarnation::{Incarnation, Incarnations};
use super::failover::quarantine::Quarantine;
use super::topology::sharding::Sharding;
use super::{Elsewhere, Limits, Outcome, Sent};
use crate::base::clock::Instant;
use crate::config::Config;
use crate::config::servers::Address;
use crate::config::sync_policy::SyncPolicy;
use crate::redis::kinds::script::Call;
use crate::redis::link::wakes::Wakes;
use crate::request::error::Error;

pub struct Node {
    pub address: Address,
    pub blocking: Blocking,
    pub pipelined: Arc<Pipelined>,
    pub multiplexed: Arc<Multiplexed>,
    /// The connection for channels that belong to slots, as keys do.
    pub ear: Arc<Multiplexed>,
    confirming: Option<Box<Confirming>>,
    incarnation: Arc<Incarnation>,
    /// Another server has taken the place of this one.
    retired: AtomicBool,
}

impl Node {
    /// Opens no connection yet.
    pub fn new(
        config: &Config,
        address: &Address,
        incarnations: &Arc<Incarnations>,
        wakes: &Arc<Wakes>,
        sharding: &Arc<Sharding>,
    ) -> Result<Self, Error> {
        let server = Arc::new(Server::new(config, address, sharding.clone())?);
        let clock = Arc::new(Clock::new());
        let incarnation = Arc::new(Incarnation::new(incarnations, &server.name));
        let connection = |sharded| {
            Arc::new(Multiplexed::new(server.clone(), clock.clone(), incarnation.clone(), wakes.clone(), sharded))
        };
        let multiplexed = connection(false);
        let ear = connection(true);
        let confirms = config.sync != SyncPolicy::None;
        let confirming = confirms
            .then(|| Box::new(Confirming::new(server.clone(), clock.clone(), incarnation.clone(), config.sync)));
        let pipelined = Arc::new(Pipelined::new(server.clone(), clock.clone(), incarnation.clone()));
        Ok(Node {
            address: address.clone(),
            blocking: Blocking::new(server, clock, incarnation.clone()),
            pipelined,
            multiplexed,
            ear,
            confirming,
            incarnation,
            retired: AtomicBool::new(false),
        })
    }

    /// Tells whether its replicas must confirm locks, as far as the client knows now.
    pub fn confirms(&self) -> bool {
        self.confirming.as_ref().is_some_and(|confirming| confirming.is_wanted())
    }

    /// Tells whether no server listens there, and none ever did as far as this client knows.
    pub fn is_absent(&self) -> bool {
        self.blocking.is_absent()
    }

    /// The time for which the server still grants nothing new.
    pub fn held_back(&self) -> Option<Duration> {
        self.quarantine()?.rest()
    }

    /// The quarantine of the server; `None`: it is never in quarantine.
    pub fn quarantine(&self) -> Option<&Quarantine> {
        self.incarnation.quarantine.as_ref()
    }

    /// Runs a call on the caller's thread; `None`: no connection is free, or replicas must confirm the call.
    pub fn run_direct(&self, call: &Call, limits: Limits) -> Option<Result<Outcome, Elsewhere>> {
        if call.confirmed && self.confirms() { None } else { self.blocking.run(call, limits) }
    }

    /// Tells whether [`Node::run_direct`] is likely to have an answer within `inside`.
    pub fn is_likely_within(&self, inside: Duration) -> bool {
        self.blocking.is_likely_within(inside)
    }

    /// Runs a call on the I/O thread; `earlier`: copies that must not run after this one.
    pub async fn run(&self, call: &Call, limits: Limits, earlier: &[Sent], how: How) -> Result<Outcome, Elsewhere> {
        match &self.confirming {
            // The box keeps the future of any other call small.
            Some(confirming) if call.confirmed && confirming.is_wanted() => {
                Box::pin(confirming.run(call, limits, earlier, how)).await
            }
            _ => self.multiplexed.run(call, limits, earlier, how).await,
        }
    }

    /// The connection that listens to a channel.
    pub fn ear(&self, sharded: bool) -> &Arc<Multiplexed> {
        if sharded { &self.ear } else { &self.multiplexed }
    }

    /// Asks the server a question about itself.
    pub async fn ask<T: FromRedisValue>(&self, words: &[&str], limit: Duration) -> Result<T, Error> {
        let value: Value = self.multiplexed.ask(words, limit).await?;
        T::from_redis_value(value).map_err(|_| self.multiplexed.nonsense(words))
    }

    /// The outcome of a call to this server, unless another one has taken its place meanwhile: what this one grants does
    /// not count there.
    pub fn counted(&self, outcome: Outcome) -> Outcome {
        if !matches!(outcome, Outcome::Reply(_)) || !self.retired.load(SeqCst) {
            return outcome;
        }
        let error = Error::unavailable(self.address.to_string(), "is no master any more", false);
        // The call was answered, so no copy of it is on its way any more.
        Outcome::Unknown { error, copy: Sent { connection: None, over: Instant::now() } }
    }

    /// Another server has taken the place of this one. Ends the connections: calls that wait for an answer hear that
    /// none will come.
    pub fn retire(&self) {
        self.retired.store(true, SeqCst);
        self.blocking.close();
        self.pipelined.close();
        self.confirming.iter().for_each(|confirming| confirming.retire());
        self.multiplexed.retire();
        self.ear.retire();
    }

    pub fn close(&self) {
        self.blocking.close();
        self.pipelined.close();
        self.confirming.iter().for_each(|confirming| confirming.retire());
        self.multiplexed.close();
        self.ear.close();
    }
}
