//! A cluster of the test's own: masters that share the slots, each with as many replicas as the test wants.

use crate::eventually;
use crate::oracle::places;
use crate::server::{Options, Server};
use crate::view::View;

/// How long the servers wait for each other before they take one for dead.
const PATIENCE_MS: &str = "1000";
pub(crate) const SLOTS: usize = 16384;

pub struct Cluster {
    /// The masters first, then the replicas of the first master, of the second one, and so on.
    pub servers: Vec<Server>,
    masters: usize,
}

impl Cluster {
    /// Starts a cluster, and returns once every server knows every other one and answers.
    pub fn start(masters: usize, replicas: usize) -> Self {
        Cluster::start_at("127.0.0.1", masters, replicas)
    }

    /// As [`Cluster::start`], with servers that announce this address of the machine.
    pub fn start_at(host: &str, masters: usize, replicas: usize) -> Self {
        let words = [
            "--cluster-node-timeout",
            PATIENCE_MS,
            "--cluster-replica-validity-factor",
            "0",
            "--repl-diskless-sync-delay",
            "0",
        ];
        let place = ["--bind", "127.0.0.1", "::1", "--cluster-announce-ip", host];
        let words = if host == "127.0.0.1" { words.to_vec() } else { [&words[..], &place].concat() };
        let options = || Options {
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            clustered: true,
            ..Options::default()
        };
        let servers: Vec<_> = (0..masters * (replicas + 1)).map(|_| Server::with(options())).collect();
        places::share(servers.iter().map(Server::port));
        let cluster = Cluster { servers, masters };
        for (place, server) in cluster.servers.iter().enumerate() {
            let mut view = server.view();
            if place < masters {
                view.take_slots(SLOTS * place / masters..SLOTS * (place + 1) / masters);
            }
            let port = cluster.servers[0].port().to_string();
            let bus = cluster.servers[0].bus_port().to_string();
            view.command::<()>(&["CLUSTER", "MEET", host, &port, &bus]);
        }
        cluster.until_whole();
        for place in masters..cluster.servers.len() {
            let master = cluster.id((place - masters) / replicas);
            cluster.servers[place].view().command::<()>(&["CLUSTER", "REPLICATE", &master]);
        }
        for place in masters..cluster.servers.len() {
            eventually("a replica with all of its master", || is_synced(&cluster.servers[place]).then_some(()));
        }
        cluster
    }

    /// The URL with all servers that were masters at first.
    pub fn url(&self) -> String {
        let hosts: Vec<String> = self.servers[..self.masters].iter().map(Server::address).collect();
        format!("redis+cluster://{}", hosts.join(","))
    }

    /// The name of a server in the cluster.
    pub fn id(&self, place: usize) -> String {
        self.servers[place].view().command(&["CLUSTER", "MYID"])
    }

    /// The place of the server that has the slot of a key, by the word of the first server that knows.
    pub fn owner(&self, key: &str) -> usize {
        // A server that has just started knows no slot's owner yet.
        let said = |server: &Server| port_of_owner(&mut View::quick(&server.direct_url()).ok()?, key);
        self.place(self.servers.iter().find_map(said).expect("every slot has an owner"))
    }

    fn place(&self, port: i64) -> usize {
        self.servers.iter().position(|server| i64::from(server.port()) == port).expect("it is one of ours")
    }

    /// Moves the slot of a key with all its keys to another server. Clients go on meanwhile.
    pub fn migrate(&self, key: &str, to: usize) {
        let from = self.owner(key);
        if from == to {
            return;
        }
        let mut source = self.servers[from].view();
        let mut target = self.servers[to].view();
        let from_id = self.id(from);
        let to_id = self.id(to);
        let port = self.servers[to].port().to_string();
        let slot = source.command::<i64>(&["CLUSTER", "KEYSLOT", key]).to_string();
        target.command::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        source.command::<()>(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
        loop {
            let keys: Vec<String> = source.command(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
            if keys.is_empty() {
                break;
            }
            let words = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"]
                .into_iter()
                .chain(keys.iter().map(String::as_str));
            // A key may end meanwhile.
            source.command::<String>(&words.collect::<Vec<_>>());
        }
        // The new owner learns first: otherwise both servers would send clients to each other in a circle.
        for view in [&mut target, &mut source] {
            view.command::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]);
        }
        self.until_agreed(key, to);
    }

    /// Kills a key's master, and returns the place of the replica that has taken over.
    pub fn fail_over(&self, key: &str) -> usize {
        let dead = self.owner(key);
        self.servers[dead].stop();
        self.until_replaced(key, dead)
    }

    /// Waits until a server has taken over from a dead one, and returns its place.
    pub fn until_replaced(&self, key: &str, dead: usize) -> usize {
        let mut view = self
            .servers
            .iter()
            .find(|server| View::quick(&server.direct_url()).is_ok())
            .expect("one of them runs")
            .view();
        let old = i64::from(self.servers[dead].port());
        self.place(eventually("another owner", || port_of_owner(&mut view, key).filter(|port| *port != old)))
    }

    /// Starts a dead server again, as a replica of a master.
    pub fn revive(&self, dead: usize, master: usize) {
        let others = || self.servers.iter().enumerate().filter(|(place, _)| *place != dead).map(|(_, server)| server);
        let nodes: String = self.servers[master].view().command(&["CLUSTER", "NODES"]);
        let port = format!(":{}@", self.servers[dead].port());
        let old = nodes
            .lines()
            .find(|line| line.contains(&port))
            .and_then(|line| line.split(' ').next())
            .expect("it was known");
        self.servers[dead].restart();
        others().for_each(|server| server.view().command::<()>(&["CLUSTER", "FORGET", old]));
        let port = self.servers[master].port().to_string();
        let bus = self.servers[master].bus_port().to_string();
        let mut view = self.servers[dead].view();
        view.command::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        let id = self.id(master);
        eventually("a master that it knows", || view.try_command::<()>(&["CLUSTER", "REPLICATE", &id]).ok());
        eventually("a replica that the others know", || {
            let id: String = view.command(&["CLUSTER", "MYID"]);
            others().all(|server| server.view().command::<String>(&["CLUSTER", "NODES"]).contains(&id)).then_some(())
        });
        eventually("a replica with all of its master", || is_synced(&self.servers[dead]).then_some(()));
    }

    fn until_agreed(&self, key: &str, owner: usize) {
        for server in &self.servers {
            eventually("a server that knows the new owner", || {
                let port = port_of_owner(&mut View::quick(&server.direct_url()).ok()?, key);
                port.filter(|port| *port == i64::from(self.servers[owner].port()))
            });
        }
    }

    fn until_whole(&self) {
        let all = self.servers.len().to_string();
        for server in &self.servers {
            eventually("a cluster that is whole", || {
                let info: String = server.view().command(&["CLUSTER", "INFO"]);
                let says = |name: &str, value: &str| info.lines().any(|line| line.trim() == format!("{name}:{value}"));
                (says("cluster_state", "ok") && says("cluster_known_nodes", &all)).then_some(())
            });
        }
    }
}

/// The port of the owner of a key's slot, by the word of one server.
fn port_of_owner(view: &mut View, key: &str) -> Option<i64> {
    let slot: i64 = view.try_command(&["CLUSTER", "KEYSLOT", key]).ok()?;
    let rows: Vec<redis::Value> = view.try_command(&["CLUSTER", "SLOTS"]).ok()?;
    rows.into_iter().find_map(|row| port_of(row, slot))
}

/// Whether a replica has all data of its master, and follows it.
pub fn is_synced(replica: &Server) -> bool {
    // A server ends its connections while it is promoted.
    let said = replica.view().try_command::<String>(&["INFO", "replication"]);
    said.is_ok_and(|said| said.contains("master_link_status:up"))
}

/// The port of the master in a row of `CLUSTER SLOTS`, if the slot is in it.
fn port_of(row: redis::Value, slot: i64) -> Option<i64> {
    let redis::Value::Array(parts) = row else { return None };
    let [redis::Value::Int(first), redis::Value::Int(last), redis::Value::Array(master), ..] = &parts[..] else {
        return None;
    };
    match master.get(1) {
        Some(redis::Value::Int(port)) if (*first..=*last).contains(&slot) => Some(*port),
        _ => None,
    }
}
