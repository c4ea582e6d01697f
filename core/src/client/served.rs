//! The engine of a client, by the scheme of its URL.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::base::io_thread::IoThread;
use crate::config::Config;
use crate::engine::Serving;
use crate::redis::Redis;
use crate::request::error::Result;
use crate::request::{Answer, Done, Request};

/// An enum and no `dyn`: nothing may come between a caller and the first try of an uncontended lock.
#[derive(Clone)]
pub enum Served {
    Redis(Arc<Redis>),
}

/// The same, which does not keep the engine alive.
pub enum WeakServed {
    Redis(Weak<Redis>),
}

impl Served {
    /// Makes the engine for the servers of a configuration; starts no thread.
    pub fn new(config: &Config, uuid: String, io: Arc<IoThread>) -> Result<Self> {
        Ok(Served::Redis(Arc::new(Redis::new(config, uuid, io)?)))
    }

    /// The engine, for calls that are not in a caller's way.
    pub fn engine(&self) -> &dyn Serving {
        match self {
            Served::Redis(redis) => redis,
        }
    }

    /// As [`crate::engine::Engine::start`].
    pub fn start(&self, inside: Duration, ticket: u64, request: Request, done: Done) -> Option<Result<Answer>> {
        use crate::engine::Engine;
        match self {
            Served::Redis(redis) => redis.start(inside, ticket, request, done),
        }
    }

    /// As [`crate::engine::Engine::submit`].
    pub fn submit(&self, ticket: u64, request: Request, done: Done) {
        use crate::engine::Engine;
        match self {
            Served::Redis(redis) => redis.submit(ticket, request, done),
        }
    }

    pub fn downgrade(&self) -> WeakServed {
        match self {
            Served::Redis(redis) => WeakServed::Redis(Arc::downgrade(redis)),
        }
    }
}

impl WeakServed {
    pub fn upgrade(&self) -> Option<Served> {
        match self {
            WeakServed::Redis(redis) => redis.upgrade().map(Served::Redis),
        }
    }
}
