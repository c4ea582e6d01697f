//! One server of those that a client uses: the ways to it, its clock, and which run of it this is.

use std::sync::Arc;
use std::time::Duration;

use redis::{FromRedisValue, Value};

use super::clock::Clock;
use super::direct::Direct;
use super::life::{Life, Lives};
use super::mux::Mux;
use super::single::{Server, Sharding};
use crate::config::Config;
use crate::error::Error;
use crate::servers::Address;
use crate::wakes::Wakes;

pub struct Node {
    pub address: Address,
    pub direct: Direct,
    pub mux: Arc<Mux>,
    /// For the channels that belong to slots, as keys do.
    pub ear: Arc<Mux>,
}

impl Node {
    /// Opens nothing yet.
    pub fn new(
        config: &Config,
        address: &Address,
        lives: &Arc<Lives>,
        wakes: &Arc<Wakes>,
        sharding: &Arc<Sharding>,
    ) -> Result<Self, Error> {
        let server = Arc::new(Server::new(config, address, sharding.clone())?);
        let (clock, life) = (Arc::new(Clock::new()), Arc::new(Life::new(lives)));
        let mux = |sharded| Arc::new(Mux::new(server.clone(), clock.clone(), life.clone(), wakes.clone(), sharded));
        let (mux, ear) = (mux(false), mux(true));
        Ok(Node { address: address.clone(), direct: Direct::new(server, clock, life), mux, ear })
    }

    /// Where one listens to a channel.
    pub fn ear(&self, sharded: bool) -> &Arc<Mux> {
        if sharded { &self.ear } else { &self.mux }
    }

    /// Asks it something about itself.
    pub async fn ask<T: FromRedisValue>(&self, words: &[&str], limit: Duration) -> Result<T, Error> {
        let value: Value = self.mux.ask(words, limit).await?;
        T::from_redis_value(value).map_err(|_| self.mux.nonsense(words))
    }

    /// Whoever waits for an answer of it is told that there will be none.
    pub fn retire(&self) {
        self.direct.close();
        self.mux.retire();
        self.ear.retire();
    }

    pub fn close(&self) {
        self.direct.close();
        self.mux.close();
        self.ear.close();
    }
}
