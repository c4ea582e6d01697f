//! Finds the server that answers for each slot, by asking the servers themselves.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Topology;
use super::hash_slots::SLOTS;
use crate::config::Config;
use crate::config::address_map::AddressMap;
use crate::config::servers::{Address, Servers};
use crate::redis::link::node::Node;
use crate::request::error::{Error, Result};

/// The time that one server may take to answer.
pub const LIMIT: Duration = Duration::from_secs(1);

/// The time that one server of a cluster has to answer before the next one is asked as well.
const STAGGER: Duration = Duration::from_millis(100);

/// The last slot of each range, in order, and the master of the range.
pub type Ranges = Vec<(u16, Address)>;

impl Topology {
    /// Asks the servers that may know. Takes the first good answer, or of sentinels the newest.
    ///
    /// # Errors
    /// The error of the last server, if none knows.
    pub async fn found(self: &Arc<Self>) -> Result<Ranges> {
        match &self.config.servers {
            Servers::Sentinel { master, .. } => self.by_sentinels(master).await,
            Servers::Replicated(named) => self.by_roles(named).await,
            _ => self.by_slots().await,
        }
    }

    /// Asks one address after the other, and the next one as well if an answer takes long. So a silent server delays
    /// calls to the others by no more than that.
    async fn by_slots(self: &Arc<Self>) -> Result<Ranges> {
        let mut addresses = self.worth_asking().into_iter();
        let mut asking = JoinSet::new();
        let mut cut_off = None;
        let mut last = None;
        let mut next = addresses.next();
        loop {
            if let Some(address) = next.take() {
                let topology = self.clone();
                asking.spawn(async move { topology.slots_said_by(&address).await });
            }
            let answer = match addresses.len() {
                0 => asking.join_next().await,
                _ => timeout(STAGGER, asking.join_next()).await.unwrap_or_default(),
            };
            match answer {
                Some(Ok(Ok((ranges, true)))) => return Ok(ranges),
                Some(Ok(Ok((ranges, false)))) => cut_off = cut_off.or(Some(ranges)),
                Some(Ok(Err(error))) => last = Some(error),
                // The I/O thread has ended.
                Some(Err(_)) => {}
                None if addresses.len() == 0 && asking.is_empty() => break,
                None => {}
            }
            next = addresses.next();
        }
        cut_off.ok_or_else(|| last.unwrap_or_else(|| Error::config("no server of the cluster is named")))
    }

    /// Each server that may know the slots of the others. Servers to which calls have failed come last.
    fn worth_asking(&self) -> Vec<Address> {
        let map = self.map();
        let mut addresses = self.known();
        let others =
            self.config.servers.named().iter().filter(|named| !addresses.contains(named)).cloned().collect::<Vec<_>>();
        addresses.extend(others);
        addresses.sort_by_key(|address| map.doubts(address));
        addresses
    }

    /// The slots as one server knows them, and whether it is with the majority: the others may know better than a
    /// server that was cut off.
    async fn slots_said_by(self: &Arc<Self>, address: &Address) -> Result<(Ranges, bool)> {
        let node = self.node(address)?;
        let said: Value = node.ask(&["CLUSTER", "SLOTS"], LIMIT).await?;
        // A restarted server learns its slots a little later.
        let nothing =
            || Error::unavailable(address.to_string(), "has no slots yet; see that it is part of a cluster", false);
        let ranges =
            ranges(&said, address, &self.config.nat).filter(|ranges| !ranges.is_empty()).ok_or_else(nothing)?;
        let state: String = node.ask(&["CLUSTER", "INFO"], LIMIT).await?;
        self.learn_sharding(&node).await?;
        Ok((ranges, state.contains("cluster_state:ok")))
    }

    /// Decides as Redisson does: channels belong to slots wherever the servers support it, unless the program has
    /// chosen.
    async fn learn_sharding(&self, node: &Node) -> Result<()> {
        if self.sharding.is_known() {
            return Ok(());
        }
        let able = match node.ask::<Value>(&["PUBSUB", "SHARDNUMSUB"], LIMIT).await {
            // Messages of such channels come only over RESP3.
            Ok(_) => !node.multiplexed.hears_apart(),
            Err(Error::Refused { .. }) => false,
            Err(error) => return Err(error),
        };
        self.sharding.decide(self.config.sharded, able, &node.address)
    }

    async fn by_roles(self: &Arc<Self>, named: &[Address]) -> Result<Ranges> {
        let mut asking = JoinSet::new();
        for address in named {
            let topology = self.clone();
            let address = address.clone();
            asking.spawn(async move { topology.is_master(&address).await.map(|()| address) });
        }
        let mut last = None;
        while let Some(answer) = asking.join_next().await {
            match answer.expect("nothing panics there") {
                Ok(address) => return Ok(vec![(SLOTS - 1, address)]),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::config("no server is named")))
    }

    pub async fn is_master(self: &Arc<Self>, address: &Address) -> Result<()> {
        let role: Value = self.asker(&self.config, address)?.ask(&["ROLE"], LIMIT).await?;
        match role {
            Value::Array(parts) if parts.first().and_then(text).as_deref() == Some("master") => Ok(()),
            _ => Err(Error::unavailable(address.to_string(), "is no master now", false)),
        }
    }

    pub fn asker(&self, config: &Config, address: &Address) -> Result<Arc<Node>> {
        self.node_among(&self.askers, config, address, &self.keeper.told)
    }
}

/// Reads the answer to `CLUSTER SLOTS` of the server `asked`.
pub fn ranges(value: &Value, asked: &Address, nat: &AddressMap) -> Option<Ranges> {
    let Value::Array(rows) = value else { return None };
    let mut ranges = rows.iter().map(|row| range(row, asked, nat)).collect::<Option<Ranges>>()?;
    ranges.sort_unstable_by_key(|(last, _)| *last);
    Some(ranges)
}

fn range(row: &Value, asked: &Address, nat: &AddressMap) -> Option<(u16, Address)> {
    let Value::Array(parts) = row else { return None };
    let [_, Value::Int(last), Value::Array(master), ..] = &parts[..] else { return None };
    let [host, Value::Int(port), ..] = &master[..] else { return None };
    Some((u16::try_from(*last).ok()?, asked.near(&text(host).unwrap_or_default(), u16::try_from(*port).ok()?, nat)?))
}

pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}
