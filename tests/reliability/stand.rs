//! The servers of a round: a master with a replica that sentinels watch over, or a cluster of three with a replica each.

use redlatch_tests::{Cluster, Sentinels, Server, eventually};

pub enum Stand {
    Sentinel(Box<Sentinels>),
    Cluster(Cluster),
}

impl Stand {
    pub fn start(kind: &str) -> Stand {
        match kind {
            "sentinel" => Stand::Sentinel(Box::new(Sentinels::start())),
            "cluster" => Stand::Cluster(Cluster::start(3, 1)),
            _ => panic!("there is no `{kind}`; write sentinel or cluster"),
        }
    }

    pub fn url(&self) -> String {
        match self {
            Stand::Sentinel(sentinels) => sentinels.url(),
            Stand::Cluster(cluster) => cluster.url(),
        }
    }

    fn servers(&self) -> &[Server] {
        match self {
            Stand::Sentinel(sentinels) => &sentinels.servers,
            Stand::Cluster(cluster) => &cluster.servers,
        }
    }

    /// Which server answers for a lock.
    pub fn master(&self, name: &str) -> usize {
        match self {
            Stand::Sentinel(sentinels) => sentinels.master(),
            Stand::Cluster(cluster) => cluster.owner(name),
        }
    }

    /// Returns once what the master of a lock is told comes to its replica: after a synchronization it waits for a first word of that.
    pub fn until_replicated(&self, name: &str) {
        let mut master = self.servers()[self.master(name)].view();
        eventually("a replica that hears of everything", || {
            master.command::<()>(&["SET", &format!("{{{name}}}:replicated"), "1", "EX", "1"]);
            (master.command::<i64>(&["WAIT", "1", "2000"]) == 1).then_some(())
        });
    }

    /// From now on the master of a lock replicates nothing.
    pub fn cut(&self, name: &str) {
        let mut master = self.servers()[self.master(name)].view();
        master.command::<()>(&["ACL", "SETUSER", "default", "-psync", "-sync", "-replconf"]);
        master.command::<i64>(&["CLIENT", "KILL", "TYPE", "replica"]);
        eventually("a master without replicas", || {
            master.command::<String>(&["INFO", "replication"]).contains("connected_slaves:0").then_some(())
        });
    }

    /// Kills the master of a lock, and says which that was.
    pub fn kill(&self, name: &str) -> usize {
        let dead = self.master(name);
        self.servers()[dead].stop();
        dead
    }

    /// Returns once another one says that it is the master.
    pub fn until_replaced(&self, name: &str, dead: usize) {
        match self {
            Stand::Sentinel(sentinels) => sentinels.until_master(1 - dead),
            Stand::Cluster(cluster) => drop(eventually("another owner", || Some(cluster.owner(name)).filter(|owner| *owner != dead))),
        }
    }

    /// Starts the dead one again as a replica of the one that has its place, and returns once all is as before.
    pub fn revive(&self, name: &str, dead: usize) {
        match self {
            Stand::Sentinel(sentinels) => sentinels.revive(dead),
            Stand::Cluster(cluster) => cluster.revive(dead, self.master(name)),
        }
    }
}
