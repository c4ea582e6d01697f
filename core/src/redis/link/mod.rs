//! The way to the server: one call in, one [`Outcome`] out, and channels to listen to. The rooms above know no
//! connections.

use std::sync::Arc;
use std::time::Duration;

use redis::FromRedisValue;

use crate::base::clock::Instant;
use crate::config::Config;
use crate::config::servers::{Address, Servers};
use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::Call;
use crate::redis::link::wakes::Wakes;
use crate::request::error::Error;

pub mod connection;
pub mod failover;
pub mod key_events;
pub mod node;
mod replicas;
pub mod topology;
pub mod wakes;

use connection::encoding::{is_half_done, no_script};
pub use connection::first::{BATCH, First, Firsts, MOST_IN_FLIGHT};
use connection::server::MOVING;
use connection::wire::How;
use failover::incarnation::Incarnations;
use failover::quarantine::Longest;
use node::Node;
use replicas::Replicas;
use topology::Topology;
pub use topology::hash_slots::slot;
use topology::sharding::Sharding;

/// The outcome of one sending of a call.
#[derive(Debug)]
pub enum Outcome {
    Reply(Reply),
    /// The server did not see the call, or could not run scripts at that moment: send it again.
    Unsent(Error),
    /// The call may have run.
    Unknown {
        error: Error,
        copy: Sent,
    },
    /// The call was not sent: an earlier copy might still run before it or after it.
    Crossing,
    /// The call was not sent: the server grants nothing new for this time, see [`failover::quarantine`].
    HeldBack(Duration),
    /// The call came too late, and the server ignored it.
    TooLate,
    /// The call ran, but the replicas did not confirm it.
    Unconfirmed {
        error: Error,
        copy: Sent,
    },
    /// The server refused the call, and would refuse it again.
    Refused(Error),
}

impl Outcome {
    /// Tells whether the server could not carry out the call because the keys of a slot are at two servers meanwhile.
    pub fn is_split(&self) -> bool {
        match self {
            Outcome::Unsent(Error::Refused { code, .. }) => code == "TRYAGAIN",
            Outcome::Unknown { error: Error::Unavailable { cause, .. }, .. } => cause == MOVING,
            _ => false,
        }
    }
}

/// Whether a server reports changes of the keys of a call from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    Yes,
    /// It cannot.
    No,
    /// The server is only about to get the slot: the one extra command of the call was needed for that.
    NotYet,
}

/// A sent call with an unknown outcome.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The connection that carried it; `None`: the server does not tell.
    pub connection: Option<ConnectionId>,
    /// The time from which the server ignores it.
    pub over: Instant,
}

/// A connection as its server knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    /// The incarnation of the server.
    pub incarnation: u64,
    /// The server's number for the connection.
    pub number: i64,
}

/// The time limits of one sending.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The time until the reply must be here.
    pub response: Duration,
    /// The time until the server ignores the call.
    pub window: Duration,
}

/// The server to which another server sends a call; `ask`: for this one call.
#[derive(Debug)]
pub struct Elsewhere {
    to: Address,
    ask: bool,
}

pub struct Link {
    way: Way,
    incarnations: Arc<Incarnations>,
    replicas: Replicas,
}

enum Way {
    One(Node),
    Many(Arc<Topology>),
}

impl Link {
    /// Opens no connection yet.
    pub fn new(config: &Config, wakes: Arc<Wakes>) -> Result<Self, Error> {
        let longest = config.quarantine.then(|| Longest::new(config.watchdog));
        let incarnations = Arc::new(Incarnations::new(longest));
        let sharding = Arc::<Sharding>::default();
        let way = match &config.servers {
            Servers::One(address) => Way::One(Node::new(config, address, &incarnations, &wakes, &sharding)?),
            _ => Way::Many(Arc::new(Topology::new(config, incarnations.clone(), wakes, sharding))),
        };
        Ok(Link { way, incarnations, replicas: Replicas::new(config) })
    }

    /// Runs a call on the caller's thread; `None`: no connection is free, use [`Link::run`].
    pub fn run_direct(&self, call: &Call, limits: Limits) -> Option<Outcome> {
        match &self.way {
            Way::One(node) => node.run_direct(call, limits).map(stays),
            Way::Many(topology) => topology.run_direct(call, limits),
        }
    }

    /// Tells whether [`Link::run_direct`] is likely to have an answer within `inside`, on an open connection.
    pub fn is_likely_within(&self, call: &Call, inside: Duration) -> bool {
        match &self.way {
            Way::One(node) => node.is_likely_within(inside),
            Way::Many(topology) => topology.is_likely_within(call, inside),
        }
    }

    /// Runs a call on the I/O thread. `earlier`: copies of it that may be on their way; none of them runs after this
    /// one.
    pub async fn run(&self, call: &Call, limits: Limits, earlier: &[Sent]) -> Outcome {
        match &self.way {
            Way::One(node) => stays(node.run(call, limits, earlier, How::Plain).await),
            // The box keeps the future of a call to one server small.
            Way::Many(topology) => Box::pin(topology.run(call, limits, earlier, false)).await.0,
        }
    }

    /// Sends a first try on the caller's thread, which goes on; many others may be on their way. `later`: as in
    /// [`Link::flush`]. Gives the try back if [`Link::run_all`] has to send it.
    pub fn send(&self, first: Box<dyn First>, limits: Limits, later: bool) -> Result<(), Box<dyn First>> {
        match &self.way {
            Way::One(node) => node.pipelined.send(first, limits, later),
            Way::Many(_) => Err(first),
        }
    }

    /// Sends the calls that were left for later. Tells whether a caller has sent something since the last time.
    pub fn flush(&self) -> bool {
        match &self.way {
            Way::One(node) => node.pipelined.flush(),
            Way::Many(_) => false,
        }
    }

    /// Sends many first tries at once, on the I/O thread.
    pub async fn run_all(&self, firsts: Firsts) {
        match &self.way {
            Way::One(node) => {
                node.pipelined.missed(firsts.all.len());
                node.multiplexed.run_all(firsts).await;
            }
            // Each of them may belong to another server.
            Way::Many(_) => firsts.not_sent(),
        }
    }

    /// As [`Link::run`]; from then on the server reports changes of the keys that the call reads last, if it can.
    pub async fn run_told(&self, call: &Call, limits: Limits) -> (Outcome, Reports) {
        match &self.way {
            Way::One(node) => {
                let outcome = stays(node.multiplexed.run(call, limits, &[], How::Told).await);
                (outcome, if node.multiplexed.tells() { Reports::Yes } else { Reports::No })
            }
            Way::Many(topology) => Box::pin(topology.run(call, limits, &[], true)).await,
        }
    }

    /// Tells whether no server listens at the only address, and none ever did as far as this client knows. With several
    /// servers another one may be about to take over.
    pub fn is_absent(&self) -> bool {
        match &self.way {
            Way::One(node) => node.is_absent(),
            Way::Many(_) => false,
        }
    }

    /// Tells whether replicas must confirm a lock of this name, as far as the client knows now.
    pub fn confirms(&self, key: &str) -> bool {
        match &self.way {
            Way::One(node) => node.confirms(),
            Way::Many(topology) => topology.map().owner(topology.slot_of_key(key)).is_none_or(|node| node.confirms()),
        }
    }

    /// Notes that a caller asks for a lease of this length.
    pub fn leased(&self, lease: Duration) {
        self.incarnations.longest.iter().for_each(|longest| longest.note(lease));
    }

    /// The time for which the server of this name still grants nothing new, as far as the client knows now.
    pub fn held_back(&self, key: &str) -> Option<Duration> {
        match &self.way {
            Way::One(node) => node.held_back(),
            Way::Many(topology) => topology.map().owner(topology.slot_of_key(key)).and_then(|node| node.held_back()),
        }
    }

    /// The slot of a key in a cluster, and 0 for the only server: keys of one slot may be in one call.
    pub fn slot_of_key(&self, key: &str) -> u16 {
        match &self.way {
            Way::One(_) => 0,
            Way::Many(topology) => topology.slot_of_key(key),
        }
    }

    /// One slot of each server with keys, in order.
    pub async fn parts(&self, limit: Duration) -> Result<Vec<u16>, Error> {
        match &self.way {
            Way::Many(topology) if topology.is_cluster() => {
                topology.any(limit).await?;
                Ok(topology.map().parts())
            }
            _ => Ok(vec![0]),
        }
    }

    /// The slot that stands in [`Link::parts`] for the server of this one.
    pub fn part_of(&self, slot: u16) -> u16 {
        match &self.way {
            Way::Many(topology) if topology.is_cluster() => topology.map().part_of(slot),
            _ => 0,
        }
    }

    /// The connections of the server of that slot, as `CLIENT LIST` shows them.
    pub async fn connections(&self, slot: u16, limit: Duration) -> Result<String, Error> {
        self.ask(slot, &["CLIENT", "LIST"], limit).await?.1
    }

    /// The address of the server of that slot, and its answer to a question about itself.
    pub async fn ask<T: FromRedisValue>(
        &self,
        slot: u16,
        words: &[&str],
        limit: Duration,
    ) -> Result<(String, Result<T, Error>), Error> {
        let owner;
        let node = match &self.way {
            Way::One(node) => node,
            Way::Many(topology) => {
                owner = topology.owner(slot, Instant::now() + limit).await?;
                &*owner
            }
        };
        Ok((node.address.to_string(), node.ask(words, limit).await))
    }

    /// A replica of the server of that slot, for calls that change nothing and may see data a little late.
    pub async fn replica(&self, slot: u16, limit: Duration) -> Option<Arc<Node>> {
        match &self.way {
            Way::One(node) => self.replicas.of(node).await,
            Way::Many(topology) => self.replicas.of(&*topology.owner(slot, Instant::now() + limit).await.ok()?).await,
        }
    }

    /// The number of incarnations of the servers. If it changes, one may have come back without its data.
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

    /// Subscribes to a channel that [`Wakes`] already counts. Returns once the server has confirmed it.
    pub async fn listen(&self, channel: &str, limit: Duration) -> Result<(), Error> {
        match &self.way {
            Way::One(node) => node.multiplexed.listen(channel, limit).await,
            Way::Many(topology) => topology.listen(channel, limit).await,
        }
    }

    /// The server's `notify-keyspace-events`; `None`: it does not tell.
    pub async fn notifications(&self, limit: Duration) -> Result<Option<String>, Error> {
        match &self.way {
            Way::One(node) => node.multiplexed.notifications(limit).await,
            Way::Many(topology) => topology.any(limit).await?.multiplexed.notifications(limit).await,
        }
    }

    /// Ends the subscription, unless another listener has asked for it meanwhile.
    pub async fn unlisten(&self, channel: &str) {
        match &self.way {
            Way::One(node) => node.multiplexed.unlisten(channel).await,
            Way::Many(topology) => topology.unlisten(channel).await,
        }
    }

    pub fn close(&self) {
        self.replicas.close();
        match &self.way {
            Way::One(node) => node.close(),
            Way::Many(topology) => topology.close(),
        }
    }
}

/// The outcome for a program that names one server alone, if that server belongs to a cluster.
fn stays(outcome: Result<Outcome, Elsewhere>) -> Outcome {
    outcome.unwrap_or_else(|Elsewhere { to, .. }| {
        Outcome::Refused(Error::Unsupported(format!(
            "the server is one of a cluster, and sends a call to {to}; write redis+cluster://"
        )))
    })
}
