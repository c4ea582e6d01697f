//! ZooKeeper: its kinds, its troubles, and servers, alone or as three that are one, whose nodes tell who has which lock.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use redlatch::Client;
use redlatch::ffi::{Border, Op, Request, Rule};
use redlatch_tests::nodes::{Mode, Refusal};
use redlatch_tests::{Direction, Ensemble, Nodes, Zookeeper, eventually, ms};

use crate::book::LEASE;
use crate::system::{Kind, Server, Sight, System, Target};
use crate::troubles::{Strike, Trouble, trouble};
use crate::witness::Witness;
use queues::{Queues, tag, tag_in};

mod queues;

pub static SYSTEM: System =
    System { name: "zookeeper", options: &FORMATS, kinds: &KINDS, troubles: &TROUBLES, lasts: true, spread: 9, start };

/// Clients with either contend for the same locks.
const FORMATS: [&str; 2] = ["node_format=curator", "node_format=kazoo"];

const KINDS: [Kind; 12] = [
    Kind::lock("plain"),
    Kind::lock("non_reentrant"),
    Kind::lock("fenced"),
    Kind::lock("fair"),
    Kind::lock("non_reentrant_fair"),
    Kind { beside: "write", ..Kind::lock("read") },
    Kind { beside: "read", ..Kind::lock("write") },
    Kind { name: "one permit", ..Kind::lock("permit") },
    Kind { name: "two permits", room: 2, ..Kind::lock("permit") },
    Kind::lock("leader"),
    Kind::group("multi", Rule::All, 2),
    Kind::group("red", Rule::Majority, 3),
];

const TROUBLES: [Trouble; 21] = [
    trouble("none", Strike::Nothing, true),
    trouble("session killed at once", Strike::Kill(0), false),
    trouble("session killed soon", Strike::Kill(10), false),
    trouble("nodes deleted at once", Strike::Delete(0), false),
    trouble("nodes deleted soon", Strike::Delete(10), false),
    trouble("server killed", Strike::Restart, false),
    trouble("server stands still", Strike::StandStill(ms(2500)), false),
    trouble("server stands still for a while", Strike::StandStill(ms(1600)), false),
    trouble("server stands still shortly", Strike::StandStill(ms(300)), true),
    trouble("member killed", Strike::KillMember, false),
    trouble("member cut off", Strike::CutOffMember, false),
    trouble("leader killed", Strike::KillLeader, false),
    trouble("connection cut", Strike::Cut, true),
    trouble("request cut", Strike::CutRequest, true),
    trouble("reply lost", Strike::LostReply, true),
    trouble("half open to the server", Strike::HalfOpen(Direction::ToServer), false),
    trouble("half open to the client", Strike::HalfOpen(Direction::ToClient), false),
    trouble("cancelled at once", Strike::Cancelled(0), true),
    trouble("cancelled soon", Strike::Cancelled(3), true),
    trouble("dropped soon", Strike::Dropped(2), true),
    trouble("stranger", Strike::Stranger, true),
];

/// The text of a node before its number, as other clients have it.
const OTHERS: [&str; 5] = [
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-lock-",
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-__READ__",
    "0f9a0c1e00004000800000000000000a__lock__",
    "_c_0f9a0c1e-0000-4000-8000-00000000000a-__WRIT__",
    "lock-",
];
const PERMIT: &str = "_c_0f9a0c1e-0000-4000-8000-00000000000a-lease-";
/// How many looks at the queues there are for one at the connections.
const SELDOM: usize = 4;
/// The time for which another program stands in a queue.
const A_WHILE: Duration = ms(40);

fn start(strike: Strike) -> Box<dyn Server> {
    // A tick of half a session: a member tells the leader of its sessions' signs of life as late as it may.
    let slow = ["tickTime=1000", "initLimit=20", "syncLimit=20"];
    let (all, victim, watched) = match strike {
        Strike::KillMember | Strike::KillLeader | Strike::CutOffMember => {
            let settings = if strike == Strike::CutOffMember { &slow[..] } else { &[] };
            let ensemble = Ensemble::with(3, settings);
            let leader = ensemble.leader();
            let follower = (leader + 1) % 3;
            let (victim, watched) = if strike == Strike::KillLeader { (leader, follower) } else { (follower, leader) };
            (All::Three(ensemble), victim, watched)
        }
        _ => (All::One(Zookeeper::start()), 0, 0),
    };
    let is_cut_off = strike == Strike::CutOffMember;
    Box::new(Sessions { all, victim, watched, is_cut_off, looks: AtomicUsize::new(0), owners: Mutex::default() })
}

enum All {
    One(Zookeeper),
    Three(Ensemble),
}

struct Sessions {
    all: All,
    /// The places of the server that is in trouble and of the one that the witness asks.
    victim: usize,
    watched: usize,
    /// The victim will be cut off from the others, and the client in trouble knows no other server.
    is_cut_off: bool,
    looks: AtomicUsize,
    /// The client of each session that had a node, by the text that its nodes have.
    owners: Mutex<HashMap<i64, String>>,
}

impl Sessions {
    fn server(&self, place: usize) -> &Zookeeper {
        match &self.all {
            All::One(server) => server,
            All::Three(ensemble) => &ensemble.members()[place],
        }
    }

    fn watched(&self) -> &Zookeeper {
        self.server(self.watched)
    }

    /// Looks at all nodes of sessions.
    fn queues(&self) -> Option<Queues> {
        let queues = Queues::read(&self.watched().word("dump")?)?;
        let owners = queues.nodes.iter().filter_map(|node| Some((node.session, node.client()?)));
        self.owners.lock().expect("nothing panics while it is held").extend(owners);
        Some(queues)
    }

    /// The sessions that a client has had.
    fn sessions(&self, client: &str) -> Vec<i64> {
        let owners = self.owners.lock().expect("nothing panics while it is held");
        owners.iter().filter(|(_, owner)| **owner == tag(client)).map(|(session, _)| *session).collect()
    }

    /// Ends a session, as an administrator does. Its client may enter it again meanwhile.
    fn end(&self, session: i64) {
        let server = self.watched();
        for _ in 0..20 {
            // Its drop ends the session.
            drop(Nodes::enter(server.port(), session));
            if !server.sessions().contains(&session) {
                return;
            }
        }
    }

    /// Another program queues, and leaves after a while.
    fn queue_as_a_stranger(&self, nodes: &mut Nodes, with: &Target, round: usize) {
        let Target { kind, name, witness, is_forced, .. } = with;
        let (parent, stem) = match kind.request {
            "permit" => (format!("/{name}/leases"), PERMIT),
            _ => (format!("/{name}"), OTHERS[round % OTHERS.len()]),
        };
        nodes.prepare(&parent);
        let node = match nodes.create(&format!("{parent}/{stem}"), b"", Mode::EphemeralSequential) {
            Ok(node) => node,
            // The container was empty.
            Err(Refusal::NoNode) => return,
            Err(refusal) => panic!("{parent}: {refusal}"),
        };
        let own = node.rsplit('/').next().expect("a path has a name");
        let number = |name: &str| name[name.len().saturating_sub(10)..].to_owned();
        let end = Instant::now() + A_WHILE;
        let mut is_in = false;
        while Instant::now() < end && !is_in {
            let before = nodes.children(&parent).iter().filter(|other| number(other) < number(own)).count();
            is_in = before < kind.room;
            // A reader of another program has others beside it.
            if is_in && !is_forced && !stem.contains("READ") && witness.believing(name) >= kind.room {
                witness.violates(name, "a holder believes while a stranger has the lock".into());
            }
            sleep(ms(3));
        }
        if !nodes.delete(&node) && !is_forced {
            witness.violates(name, "a stranger has lost its node".into());
        }
    }

    /// Another program deletes all nodes of a client in the queues of a lock.
    fn delete(&self, Target { name, client, .. }: &Target) {
        let mut nodes = self.watched().nodes();
        for parent in ["", "/locks", "/leases"].map(|part| format!("/{name}{part}")) {
            for child in nodes.children(&parent) {
                if tag_in(&child).is_some_and(|tagged| tagged == tag(client)) {
                    nodes.delete(&format!("{parent}/{child}"));
                }
            }
        }
    }
}

impl Server for Sessions {
    fn port(&self) -> u16 {
        self.server(self.victim).port()
    }

    fn urls(&self, proxy: Option<u16>) -> [String; 2] {
        match &self.all {
            All::One(server) => [server.url_at(proxy.unwrap_or(server.port())), server.url()],
            All::Three(ensemble) if self.is_cut_off => {
                let (victim, others): (Vec<usize>, _) = (0..3).partition(|place| *place == self.victim);
                [victim, others]
                    .map(|all| ensemble.url_at(&all.into_iter().map(|at| self.server(at).port()).collect::<Vec<_>>()))
            }
            All::Three(ensemble) => [ensemble.url(), ensemble.url()],
        }
    }

    fn mark(&self, name: &str) -> String {
        format!("/{name}/")
    }

    fn meet(&self, client: &Client, name: &str) {
        let met = || {
            // On a busy machine a server that has just begun may be silent for a while.
            let hold = client.lock(name).blocking().try_acquire().ok().flatten()?;
            self.queues()?;
            hold.release().ok()
        };
        eventually("a server that answers", met);
    }

    fn prepare(&self, client: &Client, kind: &Kind, name: &str) {
        if kind.request == "permit" {
            let permits = Request { numbers: vec![kind.room as i64], ..Request::new(Op::TrySet, "permit", name, 0) };
            eventually("a server that answers", || client.run_blocking(permits.clone()).ok());
        }
    }

    fn look(&self) -> Option<Box<dyn Sight>> {
        let mut queues = self.queues()?;
        if self.looks.fetch_add(1, SeqCst).is_multiple_of(SELDOM) {
            queues.note_ends(&self.watched().word("cons")?);
        }
        Some(Box::new(queues))
    }

    fn left(&self, names: &[String], clients: &[String]) -> Vec<String> {
        let Some(queues) = self.queues() else { return vec!["the server does not say".into()] };
        let below: Vec<_> = names.iter().map(|name| format!("/{name}/")).collect();
        let is_left = |path: &str| below.iter().any(|below| path.starts_with(below));
        let nodes = queues.nodes.iter().filter(|node| is_left(&node.path));
        let nodes = nodes.map(|node| format!("{} of session {:#x}", node.path, node.session));
        let sessions = clients.iter().flat_map(|client| self.sessions(client));
        let sessions = sessions.filter(|session| queues.sessions.contains(session));
        nodes.chain(sessions.map(|session| format!("session {session:#x}"))).collect()
    }

    fn meddle(&self, strike: Strike, with: &Target, is_over: &AtomicBool) {
        match strike {
            Strike::Kill(after) => {
                sleep(ms(after));
                self.sessions(with.client).into_iter().for_each(|session| self.end(session));
            }
            Strike::Delete(after) => {
                sleep(ms(after));
                self.delete(with);
            }
            Strike::Stranger => {
                let mut nodes = self.watched().nodes();
                for round in 0..20 {
                    self.queue_as_a_stranger(&mut nodes, with, round);
                    if is_over.load(SeqCst) {
                        return;
                    }
                }
            }
            _ => {}
        }
    }

    fn strike(&self, strike: Strike, witness: &Witness) {
        let victim = self.server(self.victim);
        match (strike, &self.all) {
            (Strike::Restart, _) => {
                victim.kill();
                sleep(ms(400));
                victim.restart();
            }
            (Strike::StandStill(time), _) => {
                witness.stands_still(true);
                victim.pause();
                sleep(time);
                victim.resume();
                witness.stands_still(false);
            }
            (Strike::KillMember | Strike::KillLeader, All::Three(ensemble)) => {
                victim.kill();
                ensemble.settle();
            }
            (Strike::CutOffMember, All::Three(ensemble)) => {
                ensemble.cut_off(self.victim);
                // A session ends at a tick.
                sleep(LEASE + ms(1500));
                ensemble.join(self.victim);
                ensemble.settle();
            }
            _ => unreachable!("ZooKeeper has no such trouble"),
        }
    }
}
