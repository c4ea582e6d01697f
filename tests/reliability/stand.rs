//! The servers of a round: a master with a replica that sentinels watch over, or a cluster of three masters with a
//! replica each.

use std::path::Path;

use redlatch_tests::cluster::is_synced;
use redlatch_tests::{Cluster, Sentinels, Server, View, eventually};

/// The folder for the logs of servers that granted one lock twice.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/failovers");

/// The state of the link between a replica and its master at the time of the holder's acquire.
#[derive(Clone, Copy, PartialEq)]
pub enum Link {
    Healthy,
    /// The replica has just synchronized: the master sends it nothing until its own first message, up to a second
    /// later.
    Fresh,
    Cut,
    /// The link is cut, and the master dies only after it has answered the holder.
    Alone,
}

impl Link {
    pub fn named(word: &str) -> Link {
        match word {
            "healthy" => Link::Healthy,
            "fresh" => Link::Fresh,
            "cut" => Link::Cut,
            "alone" => Link::Alone,
            _ => panic!("there is no link that is `{word}`; write healthy, fresh, cut or alone"),
        }
    }
}

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

    /// The place of the server that answers for a lock.
    pub fn master(&self, name: &str) -> usize {
        match self {
            Stand::Sentinel(sentinels) => sentinels.master(),
            Stand::Cluster(cluster) => cluster.owner(name),
        }
    }

    /// Brings the healthy link from a lock's master to its replica into this state.
    pub fn prepare(&self, name: &str, link: Link) {
        match (link, self) {
            (Link::Healthy, _) => {}
            (Link::Cut | Link::Alone, _) => self.cut(name),
            (Link::Fresh, Stand::Sentinel(sentinels)) => {
                let master = sentinels.master();
                let replica = &sentinels.servers[1 - master];
                let port = sentinels.servers[master].port().to_string();
                // By now it has a history of its own, and gets everything anew.
                replica.view().command::<()>(&["REPLICAOF", "NO", "ONE"]);
                replica.view().command::<()>(&["REPLICAOF", "127.0.0.1", &port]);
                eventually("a replica with all of its master", || is_synced(replica).then_some(()));
            }
            (Link::Fresh, Stand::Cluster(_)) => panic!("fresh is for sentinels"),
        }
    }

    /// Returns once the writes of a lock's master reach its replica. After a synchronization the master waits for a
    /// first message of the replica, and only waiters that begin later ask the replica.
    pub fn until_replicated(&self, name: &str) {
        let mut written = None;
        eventually("a replica that hears of everything", || {
            // Sentinels may exchange the two roles once more, which ends the connections of both servers.
            let mut master = match written.take() {
                Some(master) => master,
                None => {
                    // Not every server of a cluster knows the new master yet.
                    let mut master = View::quick(&self.servers()[self.master(name)].direct_url()).ok()?;
                    master.try_command::<()>(&["SET", &format!("{{{name}}}:replicated"), "1", "EX", "10"]).ok()?;
                    master
                }
            };
            let confirmed = master.try_command::<i64>(&["WAIT", "1", "20"]).ok()?;
            written = Some(master);
            (confirmed == 1).then_some(())
        });
    }

    /// Returns once a waiter listens at the master of a lock.
    pub fn until_listened_to(&self, name: &str) {
        let channel = format!("redisson_lock__channel:{{{name}}}");
        let command = if matches!(self, Stand::Cluster(_)) { "SHARDNUMSUB" } else { "NUMSUB" };
        eventually("a waiter that listens", || {
            let mut master = View::quick(&self.servers()[self.master(name)].direct_url()).ok()?;
            let (_, listeners): (String, i64) = master.try_command(&["PUBSUB", command, &channel]).ok()?;
            (listeners > 0).then_some(())
        });
    }

    /// Cuts the replication of a lock's master.
    fn cut(&self, name: &str) {
        let mut master = self.servers()[self.master(name)].view();
        master.command::<()>(&["ACL", "SETUSER", "default", "-psync", "-sync", "-replconf"]);
        master.command::<i64>(&["CLIENT", "KILL", "TYPE", "replica"]);
        eventually("a master without replicas", || {
            master.command::<String>(&["INFO", "replication"]).contains("connected_slaves:0").then_some(())
        });
    }

    /// Kills the master of a lock, and returns its place.
    pub fn kill(&self, name: &str) -> usize {
        let dead = self.master(name);
        self.servers()[dead].stop();
        dead
    }

    /// Returns once another server says that it is the master.
    pub fn until_replaced(&self, name: &str, dead: usize) {
        match self {
            Stand::Sentinel(sentinels) => sentinels.until_master(1 - dead),
            Stand::Cluster(cluster) => drop(cluster.until_replaced(name, dead)),
        }
    }

    /// The servers' output so far.
    pub fn logs(&self) -> String {
        self.servers().iter().map(|server| format!("-- {}\n{}\n", server.address(), server.log())).collect()
    }

    /// Keeps the story of an overlap, with the logs of the servers before and after.
    pub fn keep(name: &str, story: &str) {
        let folder = Path::new(KEPT);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(folder.join(name), story))
            .expect("the disk has room");
    }

    /// Starts the dead server again as a replica of its successor, and returns once the former order is back.
    pub fn revive(&self, name: &str, dead: usize) {
        // Sentinels may have changed the master between the cut and the kill: then the server behind the cut lives.
        for server in self.servers().iter().enumerate().filter(|(place, _)| *place != dead).map(|(_, server)| server) {
            server.view().command::<()>(&["ACL", "SETUSER", "default", "+psync", "+sync", "+replconf"]);
        }
        match self {
            Stand::Sentinel(sentinels) => sentinels.revive(dead),
            Stand::Cluster(cluster) => cluster.revive(dead, self.master(name)),
        }
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        if std::thread::panicking() {
            Stand::keep(&format!("panic-{}", std::process::id()), &self.logs());
        }
    }
}
