//! A server that takes over from another grants nothing new for one lease, unless the other proves that no lock was lost. It proves that if
//! it follows the new one now and had no writes that the new one lacks, or if it knows that its slots have moved. A dead server proves
//! nothing: no server knows the writes that it had not sent to its replicas.

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
struct Heir {
    heir: Arc<Node>,
    /// The server before it and its identity; `None`: there was none.
    former: Option<(Arc<Node>, Identity)>,
    /// One of the slots that it took over.
    slot: u16,
}

impl Topology {
    /// Puts servers that have taken over into quarantine. It runs before anything goes to them; a call that grants a lock follows no
    /// redirection before it.
    pub async fn question(self: &Arc<Self>, before: &Map, after: &Map) {
        let heirs = if self.config.quarantine { heirs(before, after) } else { Vec::new() };
        for heir in heirs {
            let Some(quarantine) = heir.heir.quarantine() else { continue };
            if !self.shows(&heir).await {
                let number = quarantine.doubt("has taken over from another server, and may lack some of its locks");
                tasks::spawn(watch(Arc::downgrade(self), heir, number));
            }
        }
    }

    async fn shows(self: &Arc<Self>, heir: &Heir) -> bool {
        let Some((former, was)) = &heir.former else { return false };
        let lost_nothing = async {
            let former = self.asker(&self.config, &former.address)?;
            let is = identity(&former).await?;
            Ok(match is.is_master {
                _ if is.run != was.run => false,
                true => is.history == was.history && self.is_cluster() && gives(&former, heir, &self.config.nat).await?,
                false => follows(&is, was, &identity(&heir.heir).await?),
            })
        };
        timeout(LIMIT, lost_nothing).await.is_ok_and(|shown: Result<bool>| shown.unwrap_or_default())
    }
}

/// Tells whether the heir has all writes of the former server: the heir continued where the former one ended, and the former one could
/// follow it without a full copy.
fn follows(is: &Identity, was: &Identity, heir: &Identity) -> bool {
    is.history == heir.history && is.former == was.history && heir.former == was.history && is.parted == heir.parted
}

/// Tells whether a server itself says that the heir has the slot now.
async fn gives(former: &Node, heir: &Heir, nat: &AddressMap) -> Result<bool> {
    let said: Value = former.ask(&["CLUSTER", "SLOTS"], LIMIT).await?;
    let ranges = ranges(&said, &former.address, nat).unwrap_or_default();
    let owner = ranges.into_iter().find(|(last, _)| heir.slot <= *last);
    Ok(owner.is_some_and(|(_, address)| address == heir.heir.address))
}

async fn identity(node: &Node) -> Result<Identity> {
    let server: InfoDict = node.ask(&["INFO", "server"], LIMIT).await?;
    let replication: InfoDict = node.ask(&["INFO", "replication"], LIMIT).await?;
    Identity::read((Ok(server), Ok(replication))).ok_or_else(|| node.multiplexed.nonsense(&["INFO"]))
}

/// Runs until no holder believes in a lock of the former server any more, or that server proves that no lock was lost.
async fn watch(topology: Weak<Topology>, heir: Heir, number: u64) {
    while heir.heir.held_back().is_some() {
        sleep(AGAIN).await;
        let Some(topology) = topology.upgrade() else { return };
        if let Some(quarantine) = heir.heir.quarantine()
            && topology.shows(&heir).await
        {
            quarantine.clear(number);
            // Waiters that slept until the end of the quarantine try now.
            return topology.wakes.disconnected();
        }
    }
}

/// Each pair of servers of which one now answers for slots of the other, once.
fn heirs(before: &Map, after: &Map) -> Vec<Heir> {
    let mut heirs = Vec::<Heir>::new();
    if before.ranges.is_empty() {
        return heirs;
    }
    for (slot, _) in before.ranges.iter().chain(&after.ranges) {
        let (former, Some(heir)) = (before.owner(*slot), after.owner(*slot)) else { continue };
        let address = former.map(|former| &former.address);
        let is_known =
            |known: &Heir| (&known.heir.address, known.former.as_ref().map(|(node, _)| &node.address)) == (&heir.address, address);
        if address == Some(&heir.address) || heirs.iter().any(is_known) {
            continue;
        }
        let was = former.and_then(|former| Some((former.clone(), former.quarantine()?.known()?)));
        heirs.push(Heir { heir: heir.clone(), former: was, slot: *slot });
    }
    heirs
}
