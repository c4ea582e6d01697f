//! Several servers: the one that a call goes to, and the next one when another server takes over.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Duration;

use tokio::time::timeout_at;

use super::connection::wire::How;
use super::failover::incarnation::Incarnations;
use super::node::Node;
use super::topology::discovery::Ranges;
use super::topology::hash_slots::slot;
use super::topology::map::Map;
use super::topology::refresh::Keeper;
use super::topology::sentinels::Sentinels;
use super::topology::sharding::Sharding;
use super::{Elsewhere, Limits, Outcome, Reports, Sent};
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::config::Config;
use crate::config::servers::{Address, Servers};
use crate::redis::kinds::script::Call;
use crate::redis::link::wakes::Wakes;
use crate::request::error::{Error, Result};

pub mod discovery;
pub mod hash_slots;
pub mod map;
pub mod refresh;
pub mod sentinels;
pub mod sharding;
pub mod subscriptions;

/// The longest age of the knowledge of the master that a call may rely on. In a cluster each server itself says that it
/// is not the right one.
const NEWS: Duration = Duration::from_millis(500);
/// The most redirections of one call.
const HOPS: usize = 8;

pub struct Topology {
    pub(super) config: Config,
    incarnations: Arc<Incarnations>,
    pub(super) wakes: Arc<Wakes>,
    pub(super) sharding: Arc<Sharding>,
    map: RwLock<Arc<Map>>,
    /// The servers that calls go to.
    nodes: Mutex<Nodes>,
    /// The servers that the client asks for the master.
    pub(super) askers: Mutex<Nodes>,
    /// Locked by the one task that asks. Holds the time and the error of the last question that found nothing.
    finding: tokio::sync::Mutex<Option<(Instant, Error)>>,
    pub(super) sentinels: Sentinels,
    pub(super) keeper: Keeper,
}

pub(super) type Nodes = HashMap<Address, Arc<Node>>;

impl Topology {
    /// Opens no connection yet.
    pub fn new(config: &Config, incarnations: Arc<Incarnations>, wakes: Arc<Wakes>, sharding: Arc<Sharding>) -> Self {
        Topology {
            config: config.clone(),
            incarnations,
            wakes,
            sharding,
            map: Default::default(),
            nodes: Default::default(),
            askers: Default::default(),
            finding: Default::default(),
            sentinels: Default::default(),
            keeper: Default::default(),
        }
    }

    pub fn is_cluster(&self) -> bool {
        matches!(self.config.servers, Servers::Cluster(_))
    }

    /// The slot of a key, or 0 outside a cluster: keys of one slot may be in one call.
    pub fn slot_of_key(&self, name: &str) -> u16 {
        if self.is_cluster() { slot(name.as_bytes()) } else { 0 }
    }

    /// Runs a call on the caller's thread; `None`: [`Topology::run`] has more to do.
    pub fn run_direct(&self, call: &Call, limits: Limits) -> Option<Outcome> {
        if !self.knows_what_belongs_together() {
            return None;
        }
        let slot = match self.slot_of(call) {
            Ok(slot) => slot,
            Err(error) => return Some(Outcome::Refused(error)),
        };
        let node = self.trusted(slot)?;
        match node.run_direct(call, limits)? {
            Ok(outcome) => {
                let outcome = node.counted(outcome);
                self.judge(&node, &outcome);
                Some(outcome)
            }
            Err(elsewhere) => {
                self.told(&node, slot, &elsewhere);
                None
            }
        }
    }

    /// Tells whether [`Topology::run_direct`] is likely to have an answer within `inside`.
    pub fn is_likely_within(&self, call: &Call, inside: Duration) -> bool {
        let node = || self.slot_of(call).ok().and_then(|slot| self.trusted(slot));
        self.knows_what_belongs_together() && node().is_some_and(|node| node.is_likely_within(inside))
    }

    /// `told`: the server is to report changes from then on. The answer says whether it does.
    pub async fn run(
        self: &Arc<Self>,
        call: &Call,
        limits: Limits,
        earlier: &[Sent],
        told: bool,
    ) -> (Outcome, Reports) {
        let mut reports = Reports::No;
        let outcome = self.send(call, limits, earlier, told.then_some(&mut reports)).await;
        if matches!(outcome, Outcome::Unsent(_) | Outcome::Unknown { .. }) {
            self.keep_a_while();
        }
        (outcome, reports)
    }

    async fn send(
        self: &Arc<Self>,
        call: &Call,
        limits: Limits,
        earlier: &[Sent],
        told: Option<&mut Reports>,
    ) -> Outcome {
        let end = Instant::now() + limits.response;
        if !self.knows_what_belongs_together()
            && let Err(error) = self.owner(0, end).await
        {
            return Outcome::Unsent(error);
        }
        let slot = match self.slot_of(call) {
            Ok(slot) => slot,
            Err(error) => return Outcome::Refused(error),
        };
        let mut to = self.owner(slot, end).await;
        let usual = if told.is_some() { How::Told } else { How::Plain };
        let mut how = usual;
        for _ in 0..HOPS {
            let node = match to {
                Ok(node) => node,
                Err(error) => return Outcome::Unsent(error),
            };
            let response = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            match node.run(call, Limits { response, ..limits }, earlier, how).await {
                Ok(outcome) => {
                    let outcome = node.counted(outcome);
                    self.judge(&node, &outcome);
                    if let Some(reports) = told {
                        *reports = match how {
                            How::Asking => Reports::NotYet,
                            _ if node.multiplexed.tells() => Reports::Yes,
                            _ => Reports::No,
                        };
                    }
                    return outcome;
                }
                Err(elsewhere) => {
                    self.told(&node, slot, &elsewhere);
                    how = if elsewhere.ask { How::Asking } else { usual };
                    to = if call.grants && !elsewhere.ask {
                        self.owner(slot, end).await
                    } else {
                        self.node(&elsewhere.to)
                    };
                }
            }
        }
        Outcome::Unsent(self.unavailable("send a call to each other in a circle"))
    }

    /// Tells whether the client knows which keys may be in one call, and with which channel: that depends on the
    /// abilities of the cluster's servers.
    fn knows_what_belongs_together(&self) -> bool {
        !self.is_cluster() || self.sharding.is_known()
    }

    /// A server to which no call has failed, if there is one.
    pub async fn any(self: &Arc<Self>, limit: Duration) -> Result<Arc<Node>> {
        let map = self.map();
        let slot = map.ranges.iter().find(|(_, node)| !map.doubts(&node.address)).map_or(0, |(last, _)| *last);
        self.owner(slot, Instant::now() + limit).await
    }

    /// Asks the servers for their slots, unless that was done after `since`, with or without success.
    pub(super) async fn refresh(self: &Arc<Self>, since: Instant) -> Result<()> {
        let mut failed = self.finding.lock().await;
        if self.said().is_some_and(|said| said >= since) {
            return Ok(());
        }
        // Otherwise all tasks that wait here would ask one after the other, each in vain.
        if let Some((_, error)) = failed.as_ref().filter(|(asked, _)| *asked >= since) {
            return Err(error.clone());
        }
        let asked = Instant::now();
        let found = match self.found().await {
            Ok(ranges) => self.adopt(ranges, asked).await,
            Err(error) => Err(error),
        };
        *failed = found.as_ref().err().map(|error| (asked, error.clone()));
        found
    }

    async fn adopt(self: &Arc<Self>, ranges: Ranges, said: Instant) -> Result<()> {
        let ranges =
            ranges.into_iter().map(|(last, address)| Ok((last, self.node(&address)?))).collect::<Result<_>>()?;
        let map = Map { ranges, said: Some(said), doubted: Vec::new() };
        let was = self.map();
        self.question(&was, &map).await;
        let gone: Vec<Arc<Node>> = {
            let mut nodes = self.nodes();
            // Calls go to a server that is only about to get its first slots, though no server names it yet.
            let stays = |node: &Arc<Node>| map.has(node) || !was.has(node);
            let gone = nodes.values().filter(|node| !stays(node)).cloned().collect();
            nodes.retain(|_, node| stays(node));
            gone
        };
        gone.iter().for_each(|node| node.retire());
        *self.map.write().expect("nothing panics while it is held") = Arc::new(map);
        if gone.iter().any(|node| was.has(node)) {
            tracing::debug!(target: "redlatch::link", "other servers of {} answer now", self.config.servers);
            self.incarnations.restarted();
            self.wakes.disconnected();
        }
        Ok(())
    }

    pub(super) async fn owner(self: &Arc<Self>, slot: u16, end: Instant) -> Result<Arc<Node>> {
        if let Some(node) = self.trusted(slot) {
            return Ok(node);
        }
        let topology = self.clone();
        let since = Instant::now();
        // The question runs in a task of its own: if it takes longer than this caller can wait, the next caller has the
        // answer.
        let asking = tasks::spawn(async move { topology.refresh(since).await });
        let late = || self.unavailable("do not name the master in time");
        timeout_at(end.into(), asking).await.map_err(|_| late())?.unwrap_or_else(|_| Err(late()))?;
        self.map().owner(slot).cloned().ok_or_else(|| self.unavailable("have no master for a slot"))
    }

    fn trusted(&self, slot: u16) -> Option<Arc<Node>> {
        let map = self.map();
        let most = if self.is_cluster() { Duration::MAX } else { NEWS };
        map.said
            .filter(|said| said.elapsed() <= most)
            .and_then(|_| map.owner(slot))
            .filter(|node| !map.doubts(&node.address))
            .cloned()
    }

    /// Notes what the outcome of a call to `node` says about the map.
    fn judge(&self, node: &Node, outcome: &Outcome) {
        let error = match outcome {
            Outcome::Unsent(error) | Outcome::Unknown { error, .. } => error,
            _ => return,
        };
        tracing::debug!(target: "redlatch::link", "asks again which servers answer: {error}");
        self.doubt(node);
    }

    fn told(&self, node: &Node, slot: u16, elsewhere: &Elsewhere) {
        if !elsewhere.ask {
            tracing::debug!(target: "redlatch::link", "slot {slot} is at {} now", elsewhere.to);
            self.doubt(node);
            self.keeper.hurry();
        }
    }

    /// Notes that calls to this server have failed. In a cluster, calls to the other servers go on: each says itself
    /// which slots it has lost.
    fn doubt(&self, node: &Node) {
        if !self.is_cluster() {
            return self.distrust();
        }
        let mut map = self.map.write().expect("nothing panics while it is held");
        if !map.doubts(&node.address) {
            let doubted = map.doubted.iter().chain([&node.address]).cloned().collect();
            *map = Arc::new(Map { ranges: map.ranges.clone(), said: map.said, doubted });
        }
    }

    /// As [`Topology::doubt`], for the owner of a slot.
    pub(super) fn doubt_owner(&self, slot: u16) {
        let owner = self.map().owner(slot).cloned();
        match owner {
            Some(owner) => self.doubt(&owner),
            None => self.distrust(),
        }
    }

    pub(super) fn distrust(&self) {
        let mut map = self.map.write().expect("nothing panics while it is held");
        *map = Arc::new(Map { ranges: map.ranges.clone(), said: None, doubted: Vec::new() });
    }

    pub(super) fn node(&self, address: &Address) -> Result<Arc<Node>> {
        self.node_among(&self.nodes, &self.config, address, &self.wakes)
    }

    pub(super) fn node_among(
        &self,
        nodes: &Mutex<Nodes>,
        config: &Config,
        address: &Address,
        wakes: &Arc<Wakes>,
    ) -> Result<Arc<Node>> {
        let mut nodes = nodes.lock().expect("nothing panics while it is held");
        if let Some(node) = nodes.get(address) {
            return Ok(node.clone());
        }
        let node = Arc::new(Node::new(config, address, &self.incarnations, wakes, &self.sharding)?);
        nodes.insert(address.clone(), node.clone());
        Ok(node)
    }

    /// The servers to which calls have gone so far, each once.
    pub(super) fn known(&self) -> Vec<Address> {
        let known: HashSet<Address> = self.map().ranges.iter().map(|(_, node)| node.address.clone()).collect();
        known.into_iter().collect()
    }

    /// The time of the client's knowledge of the servers; `None`: calls must not rely on it, or not on all of it.
    pub(super) fn said(&self) -> Option<Instant> {
        let map = self.map();
        map.said.filter(|_| map.doubted.is_empty())
    }

    pub fn close(&self) {
        self.keeper.end();
        self.nodes().values().for_each(|node| node.close());
        self.askers.lock().expect("nothing panics while it is held").values().for_each(|node| node.close());
    }

    fn unavailable(&self, cause: &str) -> Error {
        Error::unavailable(self.config.server(), cause, true)
    }

    pub(super) fn map(&self) -> Arc<Map> {
        self.map.read().expect("nothing panics while it is held").clone()
    }

    pub(super) fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().expect("nothing panics while it is held")
    }
}
