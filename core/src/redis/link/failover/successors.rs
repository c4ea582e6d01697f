//! Who has taken over from another server grants nothing new for one lease, unless that one shows that nothing was lost: it follows now,
//! and had nothing that its heir has not; or the slots have moved and it knows of that. A server that has died can show nothing: what it
//! had not passed on, nobody knows.

use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{InfoDict, Value};
use tokio::time::{sleep, timeout};

use super::quarantine::Identity;
use crate::base::tasks;
use crate::config::address_map::Nat;
use crate::redis::link::node::Node;
use crate::redis::link::topology::Topology;
use crate::redis::link::topology::discovery::ranges;
use crate::redis::link::topology::map::Map;
use crate::request::error::Result;

/// How long one server may take to say something about itself.
const LIMIT: Duration = Duration::from_millis(200);
const AGAIN: Duration = Duration::from_millis(100);

/// A server that answers for what was another one's.
struct Heir {
    heir: Arc<Node>,
    /// Who answered before, and who that was; `None`: nobody did.
    former: Option<(Arc<Node>, Identity)>,
    /// One that it took over.
    slot: u16,
}

impl Topology {
    /// Called before anything is sent to those who are to answer now; a call that grants something follows no redirection without it.
    pub async fn question(self: &Arc<Self>, before: &Map, after: &Map) {
        let heirs = if self.config.quarantine { heirs(before, after) } else { Vec::new() };
        for heir in heirs {
            let Some(quarantine) = heir.heir.quarantine() else { continue };
            if !self.shows(&heir).await {
                let number = quarantine.doubt("has taken over from another one: it may not have all locks of that");
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

/// All that the former one had is in its heir: this one went on where that one had ended, and it could follow without a copy of everything.
fn follows(is: &Identity, was: &Identity, heir: &Identity) -> bool {
    is.history == heir.history && is.former == was.history && heir.former == was.history && is.parted == heir.parted
}

/// A server says itself that the heir has the slot now.
async fn gives(former: &Node, heir: &Heir, nat: &Nat) -> Result<bool> {
    let said: Value = former.ask(&["CLUSTER", "SLOTS"], LIMIT).await?;
    let ranges = ranges(&said, &former.address, nat).unwrap_or_default();
    let owner = ranges.into_iter().find(|(last, _)| heir.slot <= *last);
    Ok(owner.is_some_and(|(_, address)| address == heir.heir.address))
}

async fn identity(node: &Node) -> Result<Identity> {
    let server: InfoDict = node.ask(&["INFO", "server"], LIMIT).await?;
    let replication: InfoDict = node.ask(&["INFO", "replication"], LIMIT).await?;
    Identity::read((Ok(server), Ok(replication))).ok_or_else(|| node.mux.nonsense(&["INFO"]))
}

/// Until nobody believes any more what the former one granted, or that one shows that nothing was lost.
async fn watch(topology: Weak<Topology>, heir: Heir, number: u64) {
    while heir.heir.held_back().is_some() {
        sleep(AGAIN).await;
        let Some(topology) = topology.upgrade() else { return };
        if let Some(quarantine) = heir.heir.quarantine()
            && topology.shows(&heir).await
        {
            quarantine.clear(number);
            // Whoever waits for the end of it is to try now.
            return topology.wakes.disconnected();
        }
    }
}

/// Each pair of servers of which one answers now for what was the other's, once.
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
