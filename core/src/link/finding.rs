//! Who answers for which slots, as the servers themselves say.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use tokio::task::JoinSet;

use super::node::Node;
use super::slots::SLOTS;
use super::topology::Topology;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::nat::Nat;
use crate::servers::{Address, Servers};

/// How long one server may think about it.
const LIMIT: Duration = Duration::from_secs(1);

/// The last slot of each range, in order, and the master that it belongs to.
pub type Ranges = Vec<(u16, Address)>;

impl Topology {
    /// Asks everybody who may know, and takes the first good answer, or the newest of sentinels.
    ///
    /// # Errors
    /// The last one's error, if nobody knows.
    pub(super) async fn found(self: &Arc<Self>) -> Result<Ranges> {
        match &self.config.servers {
            Servers::Sentinel { master, .. } => self.by_sentinels(master).await,
            Servers::Replicated(named) => self.by_roles(named).await,
            _ => self.by_slots().await,
        }
    }

    async fn by_slots(self: &Arc<Self>) -> Result<Ranges> {
        let mut addresses = self.known();
        let others = self.config.servers.named().iter().filter(|named| !addresses.contains(named)).cloned().collect::<Vec<_>>();
        addresses.extend(others);
        let (mut cut_off, mut last) = (None, None);
        for address in &addresses {
            match self.slots_said_by(address).await {
                Ok((ranges, true)) => return Ok(ranges),
                Ok((ranges, false)) => cut_off = cut_off.or(Some(ranges)),
                Err(error) => last = Some(error),
            }
        }
        cut_off.ok_or_else(|| last.unwrap_or_else(|| Error::config("no server of the cluster is named")))
    }

    /// What one server says; and whether it is with the majority, as the others may know better than one who was cut off.
    async fn slots_said_by(self: &Arc<Self>, address: &Address) -> Result<(Ranges, bool)> {
        let node = self.node(address)?;
        let said: Value = node.ask(&["CLUSTER", "SLOTS"], LIMIT).await?;
        let nothing = || Error::Unsupported(format!("{address} has no slots yet; is it part of a cluster?"));
        let ranges = ranges(&said, address, &self.config.nat).filter(|ranges| !ranges.is_empty()).ok_or_else(nothing)?;
        let state: String = node.ask(&["CLUSTER", "INFO"], LIMIT).await?;
        self.learn_sharding(&node).await?;
        Ok((ranges, state.contains("cluster_state:ok")))
    }

    /// As Redisson decides it: channels belong to slots wherever the servers know of that, unless the program has chosen.
    async fn learn_sharding(&self, node: &Node) -> Result<()> {
        if self.sharding.is_known() {
            return Ok(());
        }
        let able = match node.ask::<Value>(&["PUBSUB", "SHARDNUMSUB"], LIMIT).await {
            // Such channels are told over RESP3 only.
            Ok(_) => !node.mux.hears_apart(),
            Err(Error::Refused { .. }) => false,
            Err(error) => return Err(error),
        };
        self.sharding.decide(self.config.sharded, able, &node.address)
    }

    /// A sentinel that was cut off names a master of long ago: the greatest epoch counts, and what it names must say that it is a master.
    async fn by_sentinels(self: &Arc<Self>, master: &str) -> Result<Ranges> {
        let mut asking = JoinSet::new();
        for node in self.sentinels()? {
            let master = master.to_owned();
            asking.spawn(async move { node.ask::<Value>(&["SENTINEL", "MASTER", &master], LIMIT).await });
        }
        let (mut named, mut last) = (Vec::new(), None);
        while let Some(answer) = asking.join_next().await {
            match answer.expect("nothing panics there") {
                Ok(value) => named.extend(named_master(&value, &self.config.servers.named()[0], &self.config.nat)),
                Err(error) => last = Some(error),
            }
        }
        let nobody = || Error::config(format!("{} know no master `{master}`; check its name", self.config.servers));
        let newest = named.into_iter().rev().max_by_key(|(epoch, _)| *epoch);
        let (_, address) = newest.ok_or_else(|| last.unwrap_or_else(nobody))?;
        self.is_master(&address).await?;
        Ok(vec![(SLOTS - 1, address)])
    }

    async fn by_roles(self: &Arc<Self>, named: &[Address]) -> Result<Ranges> {
        let mut asking = JoinSet::new();
        for address in named {
            let (topology, address) = (self.clone(), address.clone());
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

    async fn is_master(self: &Arc<Self>, address: &Address) -> Result<()> {
        let role: Value = self.asker(&self.config, address)?.ask(&["ROLE"], LIMIT).await?;
        match role {
            Value::Array(parts) if parts.first().and_then(text).as_deref() == Some("master") => Ok(()),
            _ => Err(Error::Unavailable { server: address.to_string(), cause: "is no master now".into(), timeout: false }),
        }
    }

    pub(super) fn asker(&self, config: &Config, address: &Address) -> Result<Arc<Node>> {
        self.node_among(&self.askers, config, address, &self.keeper.told)
    }

    pub(super) fn sentinels(&self) -> Result<Vec<Arc<Node>>> {
        let config = self.sentinel_config();
        self.config.servers.named().iter().map(|address| self.asker(&config, address)).collect()
    }

    /// Sentinels have users of their own, and no databases.
    fn sentinel_config(&self) -> Config {
        let (username, password) = (self.config.sentinel_username.clone(), self.config.sentinel_password.clone());
        Config { username, password, login: Arc::default(), database: 0, ..self.config.clone() }
    }
}

/// What `SENTINEL MASTER` says: a list of names and values.
fn named_master(value: &Value, sentinel: &Address, nat: &Nat) -> Option<(u64, Address)> {
    let pairs: Vec<(String, String)> = match value {
        Value::Map(pairs) => pairs.iter().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect(),
        Value::Array(words) => words.chunks(2).filter_map(|pair| Some((text(pair.first()?)?, text(pair.get(1)?)?))).collect(),
        _ => return None,
    };
    let get = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let address = sentinel.near(get("ip")?, get("port")?.parse().ok()?, nat)?;
    Some((get("config-epoch").and_then(|epoch| epoch.parse().ok()).unwrap_or_default(), address))
}

/// What `CLUSTER SLOTS` says, asked of `asked`.
pub(super) fn ranges(value: &Value, asked: &Address, nat: &Nat) -> Option<Ranges> {
    let Value::Array(rows) = value else { return None };
    let mut ranges = rows.iter().map(|row| range(row, asked, nat)).collect::<Option<Ranges>>()?;
    ranges.sort_unstable_by_key(|(last, _)| *last);
    Some(ranges)
}

fn range(row: &Value, asked: &Address, nat: &Nat) -> Option<(u16, Address)> {
    let Value::Array(parts) = row else { return None };
    let [_, Value::Int(last), Value::Array(master), ..] = &parts[..] else { return None };
    let [host, Value::Int(port), ..] = &master[..] else { return None };
    Some((u16::try_from(*last).ok()?, asked.near(&text(host).unwrap_or_default(), u16::try_from(*port).ok()?, nat)?))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}
