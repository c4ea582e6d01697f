//! A server that takes over from another grants nothing new for one lease, unless the other proves that no lock was
//! lost. It proves that if it follows the new one now and had no writes that the new one lacks, or if it knows that its
//! slots have moved. A dead server proves nothing: no server knows the writes that it had not sent to its replicas.

use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{InfoDict, Value};
use tokio::time::{sleep, timeout};

use super::quarantine::Identity;
use crate::base::tasks;
use crate::config::address_map::AddressMap;
use crate::redis::link::node::Node;
use crate::redis::link::topology::Topology;
use crate::redis::link::topology::discovery::ranges;
use crate::redis::link::topology::map::Map;
use crate::request::error::Result;

/// The time that one server may take to answer about itself.
const LIMIT: Duration = Duration::from_millis(200);
const AGAIN: Duration = Duration::from_millis(100);

/// A server that has taken over slots of another one.
struct Successor {
    node: Arc<Node>,
    /// The server before it and its identity; `None`: there was none.
    former: Option<(Arc<Node>, Identity)>,
    /// One of the slots that it took over.
    slot: u16,
}

impl Topology {
    /// Puts servers that have taken over into quarantine. It runs before anything goes to them; a call that grants a
    /// lock follows no redirection before it.
    pub async fn question(self: &Arc<Self>, before: &Map, after: &Map) {
        let successors = if self.config.quarantine { successors(before, after) } else { Vec::new() };
        for successor in successors {
            let Some(quarantine) = successor.node.quarantine() else { continue };
            if !self.shows(&successor).await {
                let number = quarantine.doubt("has taken over from another server, and may lack some of its locks");
                tasks::spawn(watch(Arc::downgrade(self), successor, number));
            }
        }
    }

    async fn shows(self: &Arc<Self>, successor: &Successor) -> bool {
        let Some((former, was)) = &successor.former else { return false };
        let lost_nothing = async {
            let former = self.asker(&self.config, &former.address)?;
            let is = identity(&former).await?;
            Ok(match is.is_master {
                _ if is.run != was.run => false,
                true => {
                    is.history == was.history
                        && self.is_cluster()
                        && gives(&former, successor, &self.config.nat).await?
                }
                false => follows(&is, was, &identity(&successor.node).await?),
            })
        };
        timeout(LIMIT, lost_nothing).await.is_ok_and(|shown: Result<bool>| shown.unwrap_or_default())
    }
}

/// Tells whether the successor has all writes of the former server: the successor continued where the former one ended,
/// and the former one could follow it without a full copy.
fn follows(is: &Identity, was: &Identity, successor: &Identity) -> bool {
    is.history == successor.history
        && is.former == was.history
        && successor.former == was.history
        && is.parted == successor.parted
}

/// Tells whether a server itself says that the successor has the slot now.
async fn gives(former: &Node, successor: &Successor, nat: &AddressMap) -> Result<bool> {
    let said: Value = former.ask(&["CLUSTER", "SLOTS"], LIMIT).await?;
    let ranges = ranges(&said, &former.address, nat).unwrap_or_default();
    let owner = ranges.into_iter().find(|(last, _)| successor.slot <= *last);
    Ok(owner.is_some_and(|(_, address)| address == successor.node.address))
}

async fn identity(node: &Node) -> Result<Identity> {
    let server: InfoDict = node.ask(&["INFO", "server"], LIMIT).await?;
    let replication: InfoDict = node.ask(&["INFO", "replication"], LIMIT).await?;
    Identity::read((Ok(server), Ok(replication))).ok_or_else(|| node.multiplexed.nonsense(&["INFO"]))
}

/// Runs until no holder believes in a lock of the former server any more, or that server proves that no lock was lost.
async fn watch(topology: Weak<Topology>, successor: Successor, number: u64) {
    while successor.node.held_back().is_some() {
        sleep(AGAIN).await;
        let Some(topology) = topology.upgrade() else { return };
        if let Some(quarantine) = successor.node.quarantine()
            && topology.shows(&successor).await
        {
            quarantine.clear(number);
            // Waiters that slept until the end of the quarantine try now.
            return topology.wakes.disconnected();
        }
    }
}

/// Each pair of servers of which one now answers for slots of the other, once.
fn successors(before: &Map, after: &Map) -> Vec<Successor> {
    let mut successors = Vec::<Successor>::new();
    if before.ranges.is_empty() {
        return successors;
    }
    for (slot, _) in before.ranges.iter().chain(&after.ranges) {
        let (former, Some(successor)) = (before.owner(*slot), after.owner(*slot)) else { continue };
        let address = former.map(|former| &former.address);
        let is_known = |known: &Successor| {
            (&known.node.address, known.former.as_ref().map(|(node, _)| &node.address)) == (&successor.address, address)
        };
        if address == Some(&successor.address) || successors.iter().any(is_known) {
            continue;
        }
        let was = former.and_then(|former| Some((former.clone(), former.quarantine()?.known()?)));
        successors.push(Successor { node: successor.clone(), former: was, slot: *slot });
    }
    successors
}
