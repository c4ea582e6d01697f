//! The engine of a client, by the scheme of its URL.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::base::io_thread::IoThread;
use crate::config::Config;
use crate::engine::{Engine, Serving};
use crate::redis::Redis;
use crate::request::error::Result;
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Request};
use crate::sessions::Sessions;

/// An enum and no `dyn`: nothing may come between a caller and the first try of an uncontended lock.
#[derive(Clone)]
pub enum Served {
    Redis(Arc<Redis>),
    Sessions(Arc<Sessions>),
}

/// The same, which does not keep the engine alive.
pub enum WeakServed {
    Redis(Weak<Redis>),
    Sessions(Weak<Sessions>),
}

impl Served {
    /// Makes the engine for the servers of a configuration; starts no thread.
    pub fn new(config: &Config, uuid: String, io: Arc<IoThread>) -> Result<Self> {
        #[cfg(feature = "mysql")]
        if config.servers.is_sql() {
            let driver = Arc::new(crate::sessions::mysql::Mysql::new(config, uuid.clone()));
            return Ok(Served::Sessions(Sessions::new(config, uuid, io, driver)));
        }
        #[cfg(feature = "zookeeper")]
        if config.servers.is_zookeeper() {
            let driver = Arc::new(crate::sessions::zookeeper::Zookeeper::new(config, uuid.clone()));
            return Ok(Served::Sessions(Sessions::new(config, uuid, io, driver)));
        }
        Ok(Served::Redis(Arc::new(Redis::new(config, uuid, io)?)))
    }

    /// The engine, for calls that are not in a caller's way.
    pub fn engine(&self) -> &dyn Serving {
        match self {
            Served::Redis(redis) => redis,
            Served::Sessions(sessions) => sessions,
        }
    }

    /// As [`crate::engine::Engine::start`].
    pub fn start(&self, inside: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        match self {
            Served::Redis(redis) => redis.start(inside, seat, request),
            Served::Sessions(sessions) => sessions.start(inside, seat, request),
        }
    }

    /// As [`crate::engine::Engine::submit`].
    pub fn submit(&self, ticket: u64, request: Request, done: Done) {
        match self {
            Served::Redis(redis) => redis.submit(ticket, request, done),
            Served::Sessions(sessions) => sessions.submit(ticket, request, done),
        }
    }

    pub fn downgrade(&self) -> WeakServed {
        match self {
            Served::Redis(redis) => WeakServed::Redis(Arc::downgrade(redis)),
            Served::Sessions(sessions) => WeakServed::Sessions(Arc::downgrade(sessions)),
        }
    }
}

impl WeakServed {
    pub fn upgrade(&self) -> Option<Served> {
        match self {
            WeakServed::Redis(redis) => redis.upgrade().map(Served::Redis),
            WeakServed::Sessions(sessions) => sessions.upgrade().map(Served::Sessions),
        }
    }
}
