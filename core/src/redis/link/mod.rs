//! The way to the server: one call in, one [`Outcome`] out, and channels to listen to. Nothing above knows connections.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::config::Config;
use crate::config::servers::{Address, Servers};
use crate::redis::kinds::script::Call;
use crate::redis::link::wakes::Wakes;
use crate::request::error::Error;

pub mod connection;
pub mod failover;
pub mod key_events;
pub mod node;
pub mod topology;
pub mod wakes;

use connection::encoding::{is_half_done, is_reply, no_script, packed, reply};
pub use connection::first::{First, Firsts, TOGETHER, UNDER_WAY};
use connection::wire::How;
use failover::incarnation::Incarnations;
use failover::quarantine::Longest;
use node::Node;
use topology::Topology;
pub use topology::hash_slots::slot;
use topology::sharding::Sharding;

/// What a script answered: its code, then integers, and texts where an id or what is in a key must travel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub code: i64,
    pub numbers: Vec<i64>,
    pub texts: Vec<Vec<u8>>,
}

/// What became of one sending of a call.
#[derive(Debug)]
pub enum Outcome {
    Reply(Reply),
    /// The server did not see it, or could not run scripts just then: send it again.
    Unsent(Error),
    /// It may have run.
    Unknown {
        error: Error,
        copy: Sent,
    },
    /// An earlier copy of it might still run before it or after it: it was not sent.
    Crossing,
    /// It was not sent: the server grants nothing new for so long, see [`quarantine`].
    HeldBack(Duration),
    /// It came too late to the server, which therefore ignored it.
    TooLate,
    /// It was carried out, but not confirmed as it had to be.
    Unconfirmed {
        error: Error,
        copy: Sent,
    },
    /// The server said no, and will say so again.
    Refused(Error),
}

/// A sent call whose outcome is not known.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The connection that it went over: which life of the server it led to, and the server's number for it.
    pub connection: Option<(u64, i64)>,
    /// From then on the server ignores it.
    pub over: Instant,
}

/// How long one sending may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Until the reply is there.
    pub response: Duration,
    /// Until the server ignores it.
    pub window: Duration,
}

/// Where a server says that a call belongs; `ask`: this once.
#[derive(Debug)]
pub struct Elsewhere {
    to: Address,
    ask: bool,
}

pub struct Link {
    way: Way,
    incarnations: Arc<Incarnations>,
}

enum Way {
    One(Node),
    Many(Arc<Topology>),
}

impl Link {
    /// Opens nothing yet.
    pub fn new(config: &Config, wakes: Arc<Wakes>) -> Result<Self, Error> {
        config.check()?;
        let longest = config.quarantine.then(|| Longest::new(config.watchdog));
        let (incarnations, sharding) = (Arc::new(Incarnations::new(longest)), Arc::<Sharding>::default());
        let way = match &config.servers {
            Servers::One(address) => Way::One(Node::new(config, address, &incarnations, &wakes, &sharding)?),
            _ => Way::Many(Arc::new(Topology::new(config, incarnations.clone(), wakes, sharding))),
        };
        Ok(Link { way, incarnations })
    }

    /// On the caller's thread; `None`: no connection is free, use [`Link::run`].
    pub fn run_direct(&self, call: &Call, limits: Limits) -> Option<Outcome> {
        match &self.way {
            Way::One(node) => node.run_direct(call, limits).map(stays),
            Way::Many(topology) => topology.run_direct(call, limits),
        }
    }

    /// Whether [`Link::run_direct`] is likely to bring an answer within `inside`, on a connection that is open.
    pub fn is_likely_within(&self, call: &Call, inside: Duration) -> bool {
        match &self.way {
            Way::One(node) => node.is_likely_within(inside),
            Way::Many(topology) => topology.is_likely_within(call, inside),
        }
    }

    /// On the I/O thread. `earlier`: copies of it that may be on their way; none of them runs after this one is sent.
    pub async fn run(&self, call: &Call, limits: Limits, earlier: &[Sent]) -> Outcome {
        match &self.way {
            Way::One(node) => stays(node.run(call, limits, earlier, How::Plain).await),
            // Apart: the future of a call to one server stays small.
            Way::Many(topology) => Box::pin(topology.run(call, limits, earlier, false)).await,
        }
    }

    /// On the caller's thread, which goes on: a first try that many others are made beside. `later`: as in [`Link::flush`]. Gives it back if
    /// it has to be made by [`Link::run_all`].
    pub fn send(&self, first: Box<dyn First>, limits: Limits, later: bool) -> Result<(), Box<dyn First>> {
        match &self.way {
            Way::One(node) => node.swift.send(first, limits, later),
            Way::Many(_) => Err(first),
        }
    }

    /// Has what was left for later go out; tells whether anything was sent since the last time.
    pub fn flush(&self) -> bool {
        match &self.way {
            Way::One(node) => node.swift.flush(),
            Way::Many(_) => false,
        }
    }

    /// On the I/O thread: many first tries at once.
    pub async fn run_all(&self, firsts: Firsts) {
        match &self.way {
            Way::One(node) => {
                node.swift.missed(firsts.all.len());
                node.mux.run_all(firsts).await;
            }
            // Each may belong to another server.
            Way::Many(_) => firsts.not_sent(),
        }
    }

    /// As [`Link::run`], and from then on the server tells of changes of the keys that the call reads last, where it can.
    pub async fn run_told(&self, call: &Call, limits: Limits) -> Outcome {
        match &self.way {
            Way::One(node) => stays(node.mux.run(call, limits, &[], How::Told).await),
            Way::Many(topology) => Box::pin(topology.run(call, limits, &[], true)).await,
        }
    }

    /// Whether nothing listens at the one address that there is, and never did as far as this client knows. Of several servers another one
    /// may be about to take over.
    pub fn is_absent(&self) -> bool {
        match &self.way {
            Way::One(node) => node.is_absent(),
            Way::Many(_) => false,
        }
    }

    /// Whether the server of that [`Link::place`] tells of changed keys, over the connection that now is.
    pub fn tells(&self, place: u16) -> bool {
        match &self.way {
            Way::One(node) => node.mux.tells(),
            Way::Many(topology) => topology.map().owner(place).is_some_and(|node| node.mux.tells()),
        }
    }

    /// Whether what is taken of this name has to be confirmed, as far as is known now.
    pub fn confirms(&self, key: &str) -> bool {
        match &self.way {
            Way::One(node) => node.confirms(),
            Way::Many(topology) => topology.map().owner(topology.place(key)).is_none_or(|node| node.confirms()),
        }
    }

    /// Somebody asks for a lease of this length.
    pub fn leased(&self, lease: Duration) {
        self.incarnations.longest.iter().for_each(|longest| longest.note(lease));
    }

    /// For how long the server of this name grants nothing new, as far as is known now.
    pub fn held_back(&self, key: &str) -> Option<Duration> {
        match &self.way {
            Way::One(node) => node.held_back(),
            Way::Many(topology) => topology.map().owner(topology.place(key)).and_then(|node| node.held_back()),
        }
    }

    /// Keys with the same number may be in one call.
    pub fn place(&self, key: &str) -> u16 {
        match &self.way {
            Way::One(_) => 0,
            Way::Many(topology) => topology.place(key),
        }
    }

    /// Slots of which each server that has keys has one, in order.
    pub async fn parts(&self, limit: Duration) -> Result<Vec<u16>, Error> {
        match &self.way {
            Way::Many(topology) if topology.is_cluster() => {
                topology.any(limit).await?;
                Ok(topology.map().parts())
            }
            _ => Ok(vec![0]),
        }
    }

    /// Counts the lives of the servers: another number means that one may have come back without its data.
    pub fn incarnation(&self) -> u64 {
        self.incarnations.count()
    }

    /// Returns once a server has come back, or another one has taken its place, since [`Link::incarnation`] was this.
    pub async fn restarted(&self, incarnation: u64) {
        let told = self.incarnations.restart.notified();
        if self.incarnation() == incarnation {
            told.await;
        }
    }

    /// Subscribes to a channel that [`Wakes`] already counts; returns once the server has confirmed it.
    pub async fn listen(&self, channel: &str, limit: Duration) -> Result<(), Error> {
        match &self.way {
            Way::One(node) => node.mux.listen(channel, limit).await,
            Way::Many(topology) => topology.listen(channel, limit).await,
        }
    }

    /// The server's `notify-keyspace-events`; `None`: it does not say.
    pub async fn notifications(&self, limit: Duration) -> Result<Option<String>, Error> {
        match &self.way {
            Way::One(node) => node.mux.notifications(limit).await,
            Way::Many(topology) => topology.any(limit).await?.mux.notifications(limit).await,
        }
    }

    /// Ends the subscription if nobody has asked for it again meanwhile.
    pub async fn unlisten(&self, channel: &str) {
        match &self.way {
            Way::One(node) => node.mux.unlisten(channel).await,
            Way::Many(topology) => topology.unlisten(channel).await,
        }
    }

    pub fn close(&self) {
        match &self.way {
            Way::One(node) => node.close(),
            Way::Many(topology) => topology.close(),
        }
    }
}

/// What a program that names one server alone is told by it.
fn stays(outcome: Result<Outcome, Elsewhere>) -> Outcome {
    outcome.unwrap_or_else(|Elsewhere { to, .. }| {
        Outcome::Refused(Error::Unsupported(format!("the server is one of a cluster, and sends a call to {to}; write redis+cluster://")))
    })
}
