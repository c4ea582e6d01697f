//! Servers of ZooKeeper that are one. Each reaches the others through proxies, so that a test can cut one off.

use super::Zookeeper;
use crate::{Direction, PATIENCE, Proxy, deadline, eventually, ports};

/// The members, in the order of their numbers.
pub struct Ensemble {
    members: Vec<Zookeeper>,
    ways: Vec<Way>,
}

/// How a member reaches another one: as its leader, and for votes.
struct Way {
    from: usize,
    to: usize,
    leads: Proxy,
    votes: Proxy,
}

impl Ensemble {
    /// Starts so many members, and returns once all of them serve clients.
    pub fn start(members: usize) -> Self {
        Ensemble::with(members, &[])
    }

    /// The same, with more lines for the configuration of each member.
    pub fn with(members: usize, settings: &[&str]) -> Self {
        deadline::set();
        for _ in 0..5 {
            let ensemble = Ensemble::prepared(members, settings);
            ensemble.members.iter().for_each(Zookeeper::launch);
            if ensemble.members.iter().all(Zookeeper::serves) {
                return ensemble;
            }
        }
        panic!("no ensemble started");
    }

    fn prepared(count: usize, settings: &[&str]) -> Self {
        // A member that leads listens to the others on the one port, and each listens for votes on the other.
        let own: Vec<[u16; 2]> = (0..count).map(|_| [ports::free(), ports::free()]).collect();
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to))).filter(|(from, to)| from != to);
        let ways: Vec<Way> = pairs
            .map(|(from, to)| {
                // A member that has just been elected does not listen yet, and its followers must not take it for dead.
                let [leads, votes] = own[to].map(|port| Proxy::before(port, PATIENCE));
                Way { from, to, leads, votes }
            })
            .collect();
        let way = |from: usize, to: usize| ways.iter().find(|way| (way.from, way.to) == (from, to));
        for Way { from, to, votes, .. } in &ways {
            // A member that is asked for votes by one with a smaller number ends that connection, and makes one of its
            // own to the address that it was told.
            let back = way(*to, *from).expect("there is a way back");
            votes.rewrite(&address(own[*from][1]), &address(back.votes.port()));
        }
        let member = |place: usize| {
            let servers = (0..count).map(|other| {
                let [leads, votes] = way(place, other).map_or(own[other], |way| [way.leads.port(), way.votes.port()]);
                format!("server.{}={}:{votes}", other + 1, address(leads))
            });
            let given = settings.iter().map(|line| (*line).to_owned());
            let mut member = Zookeeper::new(servers.chain(given).collect());
            member.port = ports::free();
            std::fs::write(member.data().join("myid"), (place + 1).to_string()).expect("the file can be written");
            member
        };
        Ensemble { members: (0..count).map(member).collect(), ways }
    }

    /// The members, in the order of their numbers.
    pub fn members(&self) -> &[Zookeeper] {
        &self.members
    }

    /// The URL for clients, with all members in it.
    pub fn url(&self) -> String {
        self.url_at(&self.members.iter().map(Zookeeper::port).collect::<Vec<_>>())
    }

    /// The same for other ports, such as those of proxies, or of some members.
    pub fn url_at(&self, ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| address(*port)).collect();
        format!("zookeeper://{}", hosts.join(","))
    }

    /// The place of the member that leads now; waits for one that serves clients.
    pub fn leader(&self) -> usize {
        eventually("a leader", || self.members.iter().position(|member| state(member).as_deref() == Some("leader")))
    }

    /// The places of the members that follow now.
    pub fn followers(&self) -> Vec<usize> {
        let follows = |place: &usize| state(&self.members[*place]).as_deref() == Some("follower");
        (0..self.members.len()).filter(follows).collect()
    }

    /// Cuts a member off from the others: their connections stay open, and no byte goes either way. Its clients still
    /// reach it.
    pub fn cut_off(&self, member: usize) {
        for way in self.ways_of(member) {
            way.stall(Direction::ToServer);
            way.stall(Direction::ToClient);
        }
    }

    /// Ends what [`Ensemble::cut_off`] began. The members connect anew.
    pub fn join(&self, member: usize) {
        for way in self.ways_of(member) {
            way.cut();
            way.flow();
        }
    }

    /// Waits until all members that run serve clients.
    pub fn settle(&self) {
        for member in self.members.iter().filter(|member| member.process().is_some()) {
            eventually("a member that serves", || state(member));
        }
    }

    fn ways_of(&self, member: usize) -> impl Iterator<Item = &Proxy> {
        let its = self.ways.iter().filter(move |way| way.from == member || way.to == member);
        its.flat_map(|way| [&way.leads, &way.votes])
    }
}

fn address(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// The role of a member at the moment: `leader` or `follower`; `None`: it serves no clients.
fn state(member: &Zookeeper) -> Option<String> {
    let told = member.word("srvr")?;
    told.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
}
