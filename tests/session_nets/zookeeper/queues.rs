//! The queues of nodes, as a server of ZooKeeper tells of them: an order of its own, without any code under test.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use redlatch_tests::clock;

use crate::book::Owner;
use crate::system::{Kept, Sight};

/// The nodes of all sessions at one moment, and the sessions.
#[derive(Default)]
pub struct Queues {
    pub nodes: Vec<Node>,
    pub sessions: HashSet<i64>,
    /// When the server may end a session that gives no more sign of life.
    ends: HashMap<i64, Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Node {
    pub path: String,
    pub session: i64,
}

/// The number of digits of a client's id that the names of its nodes have.
const TAG: usize = 20;

/// The part of a client's id that the names of its nodes have.
pub fn tag(client: &str) -> String {
    client.chars().filter(char::is_ascii_hexdigit).take(TAG).collect()
}

/// The same, read from the name of a node, if it is one of ours or of a client that names its nodes alike. In Curator's format an
/// id has hyphens, in kazoo's none.
pub fn tag_in(name: &str) -> Option<String> {
    let id = name.strip_prefix("_c_").unwrap_or(name);
    let id = id.split_once("__").map_or(id, |(id, _)| id);
    let digits: String = id.chars().filter(|char| *char != '-').take(TAG).collect();
    (digits.len() == TAG && digits.chars().all(|char| char.is_ascii_hexdigit())).then_some(digits)
}

impl Node {
    fn parts(&self) -> (&str, &str) {
        self.path.rsplit_once('/').unwrap_or_default()
    }

    /// The text by which its client is known, if it is one of ours.
    pub fn client(&self) -> Option<String> {
        tag_in(self.parts().1)
    }

    fn number(&self) -> &str {
        &self.path[self.path.len().saturating_sub(10)..]
    }

    fn is_shared(&self) -> bool {
        let name = self.parts().1;
        ["__READ__", "__rlock__"].iter().any(|pattern| name.contains(pattern))
    }
}

fn session(text: &str) -> Option<i64> {
    let digits: String = text.trim_start().strip_prefix("0x")?.chars().take_while(char::is_ascii_hexdigit).collect();
    u64::from_str_radix(&digits, 16).ok().map(u64::cast_signed)
}

impl Queues {
    /// Reads the answer to `dump`. `None`: the server serves no clients.
    pub fn read(told: &str) -> Option<Self> {
        let (sessions, nodes) = told.split_once("ephemeral nodes dump")?;
        let mut queues = Queues { sessions: sessions.lines().filter_map(session).collect(), ..Queues::default() };
        let mut owner = None;
        for line in nodes.lines() {
            match (line.strip_prefix('\t'), owner) {
                (Some(path), Some(session)) if path.starts_with('/') => {
                    queues.nodes.push(Node { path: path.to_owned(), session });
                }
                _ => owner = session(line),
            }
        }
        Some(queues)
    }

    /// Reads the answer to `cons`: when each session has last had an answer, on the clock of this machine. The server counts its
    /// time from an earlier moment, or from the receipt of a later request.
    pub fn note_ends(&mut self, told: &str) {
        for line in told.lines() {
            let field = |name: &str| {
                let at = line.find(&format!("{name}="))? + name.len() + 1;
                line[at..].split([',', ')']).next()
            };
            let time = |name: &str| field(name)?.parse::<u64>().ok().filter(|time| *time > 0);
            if let (Some(session), Some(timeout), Some(last)) =
                (field("sid").and_then(session), time("to"), time("lresp"))
            {
                // The server leaves out the parts of a ms.
                let last = clock::instant((last + 1) * 1_000_000);
                self.ends.insert(session, last + Duration::from_millis(timeout));
            }
        }
    }

    /// The nodes below a path, in the order of their numbers. A writer's own read has the number of its write.
    fn below(&self, parent: &str) -> Vec<&Node> {
        let mut nodes: Vec<_> = self.nodes.iter().filter(|node| node.parts().0 == parent).collect();
        nodes.sort_by_key(|node| (node.number(), node.is_shared()));
        nodes
    }

    /// The nodes by which owners have a lock in this way now.
    fn holders(&self, name: &str, kind: &str, room: usize) -> Vec<&Node> {
        let path = if kind == "permit" { format!("/{name}/leases") } else { format!("/{name}") };
        let all = self.below(&path);
        let first = all.first().map_or("", |node| node.number());
        let has = |at: usize, node: &Node| match kind {
            "permit" => at < room,
            "read" => node.is_shared() && (node.number() == first || all[..at].iter().all(|before| before.is_shared())),
            _ => at == 0 && !node.is_shared(),
        };
        all.iter().enumerate().filter(|(at, node)| has(*at, node)).map(|(_, node)| *node).collect()
    }
}

impl Sight for Queues {
    fn kept(&self, name: &str, owner: &Owner, room: usize) -> Kept {
        let holders = self.holders(name, &owner.1, room);
        match holders.iter().find(|node| node.client().is_some_and(|client| client == tag(&owner.0))) {
            Some(node) => {
                Kept::By { session: format!("{:#x}", node.session), ends: self.ends.get(&node.session).copied() }
            }
            None => {
                let nodes: Vec<_> = holders.iter().map(|node| node.path.as_str()).collect();
                Kept::Not(if nodes.is_empty() { "no node".into() } else { nodes.join(", ") })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "SessionTracker dump:\nSession Sets (1)/(2):\n2 expire at Thu Nov 26 05:00:00 UTC 2026:\n\t0x10000\n\t0x10001\n\
                        ephemeral nodes dump:\nSessions with Ephemerals (2):\n0x10000:\n\
                        \t/n/_c_11111111-1111-1111-1111-000000000001-__WRIT__0000000004\n\
                        \t/n/_c_11111111-1111-1111-1111-000000000002-__READ__0000000004\n0x10001:\n\
                        \t/n/_c_22222222-2222-2222-2222-000000000001-__READ__0000000006\n\
                        \t/m/_c_22222222-2222-2222-2222-000000000002-__READ__0000000000\n\
                        \t/m/_c_22222222-2222-2222-2222-000000000003-__READ__0000000001\n\
                        \t/m/_c_22222222-2222-2222-2222-000000000004-lock-0000000002\nConnections dump:\n";

    fn names<'a>(queues: &'a Queues, name: &str, kind: &str) -> Vec<&'a str> {
        queues.holders(name, kind, 1).iter().map(|node| node.number()).collect()
    }

    #[test]
    fn a_dump_tells_the_holders_of_each_queue() {
        let queues = Queues::read(DUMP).expect("it serves");
        assert_eq!(queues.sessions, [0x10000, 0x10001].into());
        assert_eq!(names(&queues, "n", "write"), ["0000000004"]);
        assert_eq!(names(&queues, "n", "read"), ["0000000004"], "the writer's own");
        assert_eq!(names(&queues, "m", "read"), ["0000000000", "0000000001"]);
        assert!(names(&queues, "m", "plain").is_empty());
        assert_eq!(queues.nodes[0].client(), Some(tag("11111111-1111-1111-1111-111111111111")));
        assert_eq!(
            tag_in("11111111111111111111000000000001__rlock__0000000004"),
            Some(tag("11111111-1111-1111-1111-111111111111"))
        );
        assert_eq!(tag_in("lock-0000000004"), None);
        assert!(Queues::read("This ZooKeeper instance is not currently serving requests\n").is_none());
    }

    #[test]
    fn a_session_lasts_for_its_time_after_its_last_answer() {
        let mut queues = Queues::default();
        let last = clock::now() / 1_000_000;
        queues.note_ends(&format!(
            " /127.0.0.1:40000[1](queued=0,recved=9,sent=9,sid=0x10000,lop=PING,est=1,to=2000,lcxid=0x1,lzxid=0x2,lresp={last},llat=0)\n \
             /127.0.0.1:40001[1](queued=0,recved=0,sent=0,sid=0x10001,lop=NA,est=1,to=2000,lresp=0)\n \
             /127.0.0.1:40002[0](queued=0,recved=1,sent=0)\n"
        ));
        let left = queues.ends[&0x10000] - Instant::now();
        assert!(left > Duration::from_millis(1900) && left < Duration::from_millis(2002), "{left:?}");
        assert_eq!(queues.ends.len(), 1);
    }
}
