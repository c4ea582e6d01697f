//! A replica of each server, for long work that may see data a little late.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{InfoDict, Value};
use tokio::time::{sleep, sleep_until};

use super::failover::incarnation::Incarnations;
use super::node::Node;
use super::topology::discovery::{LIMIT, text};
use super::topology::sharding::Sharding;
use super::wakes::Wakes;
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::config::Config;
use crate::config::servers::{Address, Servers};

/// The connections to a replica end after so long without work for it.
const IDLE: Duration = Duration::from_secs(10);
/// A server without a replica that can be used is asked again after this time.
const PAUSE: Duration = Duration::from_secs(60);
/// The longest time in which a replica has to carry out the writes that its server has.
const LAG: Duration = Duration::from_millis(200);
/// The pause between two questions how far it is.
const LOOK: Duration = Duration::from_millis(2);
/// A replica whose clock differs more takes locks for ended that last, or for lasting that have ended.
const SKEW: Duration = Duration::from_secs(1);

pub struct Replicas {
    config: Config,
    /// Apart from those of the servers that grant locks: the restart of a replica says nothing of a lock.
    incarnations: Arc<Incarnations>,
    wakes: Arc<Wakes>,
    sharding: Arc<Sharding>,
    /// One caller at a time chooses.
    choosing: tokio::sync::Mutex<()>,
    chosen: Arc<Mutex<Chosen>>,
}

#[derive(Default)]
struct Chosen {
    /// By the address of the server that the replica follows.
    by_server: HashMap<Address, Choice>,
    is_closed: bool,
}

struct Choice {
    /// `None`: the server has no replica that can be used.
    replica: Option<Arc<Node>>,
    until: Instant,
}

/// The writes that a server has.
struct Written {
    /// The id of their history.
    history: String,
    /// The number of their bytes.
    offset: u64,
    /// The server's time.
    time: Duration,
}

impl Replicas {
    /// Opens no connection yet.
    pub fn new(config: &Config) -> Self {
        Replicas {
            config: config.clone(),
            incarnations: Arc::new(Incarnations::new(None)),
            wakes: Arc::default(),
            sharding: Arc::default(),
            choosing: Default::default(),
            chosen: Arc::default(),
        }
    }

    /// A replica with all that is written to this server by now; `None`: there is none that this client reaches where the program
    /// says that it is, or the servers that the program has the client ask.
    pub async fn of(&self, server: &Node) -> Option<Arc<Node>> {
        let _only_me = self.choosing.lock().await;
        let known = self.chosen().by_server.get(&server.address).map(|choice| choice.replica.clone());
        if let Some(None) = known {
            return None;
        }
        let written = written(server).await?;
        if let Some(Some(replica)) = known {
            if self.has(&replica, &written).await {
                self.chosen().by_server.get_mut(&server.address)?.until = Instant::now() + IDLE;
                return Some(replica);
            }
            forget(&mut self.chosen(), &server.address);
        }
        let replica = self.choose(server, &written).await;
        if let Some(replica) = &replica {
            tracing::debug!(target: "redlatch::link", "asks {} in place of {}", replica.address, server.address);
        }
        self.keep(&server.address, replica.clone());
        replica
    }

    async fn choose(&self, server: &Node, written: &Written) -> Option<Arc<Node>> {
        let addresses = match &self.config.servers {
            Servers::Replicated(named) => named.iter().filter(|named| **named != server.address).cloned().collect(),
            Servers::Sentinel { .. } | Servers::Cluster(_) => {
                replicas(&server.ask(&["ROLE"], LIMIT).await.ok()?, &server.address, &self.config)
            }
            // The program has named one server, and trusts no other with its password.
            _ => Vec::new(),
        };
        for address in addresses {
            let node = Node::new(&self.config, &address, &self.incarnations, &self.wakes, &self.sharding);
            let Ok(node) = node.map(Arc::new) else { continue };
            if self.has(&node, written).await {
                return Some(node);
            }
            node.retire();
        }
        None
    }

    /// Tells whether the server at that address follows, and soon has what was written. The address alone does not tell:
    /// another server may be there.
    async fn has(&self, replica: &Node, written: &Written) -> bool {
        let end = Instant::now() + LAG;
        loop {
            let Ok(info) = replica.ask::<InfoDict>(&["INFO", "replication"], LIMIT).await else { return false };
            let is = |field: &str, value: &str| info.get::<String>(field).as_deref() == Some(value);
            if !is("role", "slave") || !is("master_link_status", "up") || !is("master_replid", &written.history) {
                return false;
            }
            if info.get("slave_repl_offset").is_some_and(|offset: u64| offset >= written.offset) {
                break;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(LOOK).await;
        }
        match time_of(replica).await {
            Some(time) if time.abs_diff(written.time) <= SKEW + LAG => {}
            _ => return false,
        }
        // A replica of a cluster sends readers to its master unless they say that they know.
        let is_cluster = matches!(self.config.servers, Servers::Cluster(_));
        !is_cluster || replica.ask::<Value>(&["READONLY"], LIMIT).await.is_ok()
    }

    /// Remembers the choice until it has not been used for a while.
    fn keep(&self, server: &Address, replica: Option<Arc<Node>>) {
        let until = Instant::now() + if replica.is_some() { IDLE } else { PAUSE };
        {
            let mut chosen = self.chosen();
            if chosen.is_closed {
                return replica.iter().for_each(|replica| replica.close());
            }
            chosen.by_server.insert(server.clone(), Choice { replica, until });
        }
        let chosen = self.chosen.clone();
        let server = server.clone();
        drop(tasks::spawn(async move {
            loop {
                let until = {
                    let mut chosen = lock(&chosen);
                    match chosen.by_server.get(&server).map(|choice| choice.until) {
                        Some(until) if until > Instant::now() => until,
                        _ => return forget(&mut chosen, &server),
                    }
                };
                sleep_until(until.into()).await;
            }
        }));
    }

    fn chosen(&self) -> MutexGuard<'_, Chosen> {
        lock(&self.chosen)
    }

    pub fn close(&self) {
        let mut chosen = self.chosen();
        chosen.is_closed = true;
        chosen.by_server.drain().filter_map(|(_, choice)| choice.replica).for_each(|replica| replica.close());
    }
}

fn lock(chosen: &Mutex<Chosen>) -> MutexGuard<'_, Chosen> {
    chosen.lock().expect("nothing panics while it is held")
}

fn forget(chosen: &mut Chosen, server: &Address) {
    if let Some(replica) = chosen.by_server.remove(server).and_then(|choice| choice.replica) {
        replica.retire();
    }
}

async fn time_of(server: &Node) -> Option<Duration> {
    let (seconds, micros): (u64, u64) = server.ask(&["TIME"], LIMIT).await.ok()?;
    Some(Duration::from_secs(seconds) + Duration::from_micros(micros))
}

async fn written(server: &Node) -> Option<Written> {
    let info: InfoDict = server.ask(&["INFO", "replication"], LIMIT).await.ok()?;
    let time = time_of(server).await?;
    Some(Written { history: info.get("master_replid")?, offset: info.get("master_repl_offset")?, time })
}

/// Reads the addresses of the replicas in the answer of a server to `ROLE`.
fn replicas(role: &Value, server: &Address, config: &Config) -> Vec<Address> {
    let Value::Array(parts) = role else { return Vec::new() };
    let [_, _, Value::Array(replicas)] = &parts[..] else { return Vec::new() };
    let address = |replica: &Value| {
        let Value::Array(parts) = replica else { return None };
        let host = parts.first().and_then(text)?;
        server.near(&host, parts.get(1).and_then(text)?.parse().ok()?, &config.nat)
    };
    replicas.iter().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_names_its_replicas_and_a_replica_names_none() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let row = Value::Array(vec![text("10.0.0.2"), text("7001"), text("3129")]);
        let master = Value::Array(vec![text("master"), Value::Int(3129), Value::Array(vec![row])]);
        let config = Config::from_url("redis://a:7000").expect("a URL");
        let config = config.nat("10.0.0.2=b".parse().expect("a pair"));
        let Servers::One(server) = &config.servers else { panic!("one server") };
        let named: Vec<_> = replicas(&master, server, &config).iter().map(Address::endpoint).collect();
        assert_eq!(named, ["b:7001"]);
        let replica =
            Value::Array(vec![text("slave"), text("10.0.0.1"), Value::Int(7000), text("connected"), Value::Int(3129)]);
        assert!(replicas(&replica, server, &config).is_empty());
    }
}
