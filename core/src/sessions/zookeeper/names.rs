//! The names of nodes: the path of a lock's name, and the nodes below it by which clients contend, ours and those of
//! other programs.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use highway::{HighwayHash, HighwayHasher, Key as HashKey};

use crate::config::node_format::NodeFormat;
use crate::request::names::LEADER;
use crate::sessions::driver::Key;

/// The longest name that is a path as it is.
const LONGEST: usize = 1024;

/// The way in which an owner has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One place for all owners of the client, which hand the lock on inside.
    Lock,
    /// A place for each owner, so that the server's queue decides who is next.
    Fair,
    Read,
    Write,
    /// One of several permits, each of which has an owner.
    Permit,
    /// A candidate: a place for each, with its own value.
    Leader,
    /// The queue in front of permits, as Curator has it.
    Mutex,
}

impl Mode {
    pub const ALL: [Mode; 6] = [Mode::Lock, Mode::Fair, Mode::Read, Mode::Write, Mode::Permit, Mode::Leader];

    pub fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The mode of a kind of lock.
    pub fn of(kind: &str) -> Mode {
        match kind {
            "fair" | "non_reentrant_fair" => Mode::Fair,
            "read" => Mode::Read,
            "write" => Mode::Write,
            "permit" | "permit_semaphore" => Mode::Permit,
            LEADER => Mode::Leader,
            _ => Mode::Lock,
        }
    }

    fn letter(self) -> char {
        match self {
            Mode::Lock => 'l',
            Mode::Fair => 'f',
            Mode::Read => 'r',
            Mode::Write => 'w',
            Mode::Permit => 'p',
            Mode::Leader => 'e',
            Mode::Mutex => 'm',
        }
    }
}

/// A path, and who wants it how: the parts of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub path: String,
    pub mode: Mode,
    /// 0: all owners of the client.
    pub owner: i64,
}

impl Spot {
    /// The spot of an owner below the chroot.
    pub fn new(chroot: &str, mode: Mode, name: &str, owner: i64) -> Self {
        let owner = if mode == Mode::Lock { 0 } else { owner };
        Spot { path: path(chroot, name), mode, owner }
    }

    /// No path has a zero.
    pub fn key(&self) -> Key {
        Arc::from(format!("{}\0{}\0{}", self.path, self.mode.letter(), self.owner))
    }

    pub fn of(key: &Key) -> Self {
        let mut parts = key.split('\0');
        let path = parts.next().unwrap_or_default().to_owned();
        let mode = match parts.next() {
            Some("f") => Mode::Fair,
            Some("r") => Mode::Read,
            Some("w") => Mode::Write,
            Some("p") => Mode::Permit,
            Some("e") => Mode::Leader,
            _ => Mode::Lock,
        };
        Spot { path, mode, owner: parts.next().and_then(|owner| owner.parse().ok()).unwrap_or_default() }
    }

    /// The same lock, in another mode.
    pub fn other(&self, mode: Mode, owner: i64) -> Self {
        Spot { path: self.path.clone(), mode, owner: if mode == Mode::Lock { 0 } else { owner } }
    }
}

/// The path of a lock's name: the name itself, as clients of other kinds have it. A name that is no path is found by a hash
/// of it.
fn path(chroot: &str, name: &str) -> String {
    let plain = name.strip_prefix('/').unwrap_or(name);
    if is_plain(plain) && !(chroot.is_empty() && is_the_servers(plain)) {
        return format!("{chroot}/{plain}");
    }
    let [high, low] = HighwayHasher::new(HashKey([0; 4])).hash128(name.as_bytes());
    format!("{chroot}/redlatch-{}", HEXLOWER.encode(&[high.to_be_bytes(), low.to_be_bytes()].concat()))
}

/// Tells whether the server keeps something of its own there, at its root.
fn is_the_servers(plain: &str) -> bool {
    plain == "zookeeper" || plain.starts_with("zookeeper/")
}

/// Tells whether the server takes it as a path.
fn is_plain(plain: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word != "." && word != "..";
    // The server looks at halves of characters beyond the first 65,536 one by one, and takes none of them.
    let fits = |letter: char| !matches!(letter, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..);
    plain.len() <= LONGEST && plain.chars().all(fits) && plain.split('/').all(is_word)
}

/// The way in which a node contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    Alone,
    Shared,
}

/// The patterns of all clients: the text before the number.
const PATTERNS: [(&str, Wants); 6] = [
    ("__READ__", Wants::Shared),
    ("__rlock__", Wants::Shared),
    ("__WRIT__", Wants::Alone),
    ("__lock__", Wants::Alone),
    ("lock-", Wants::Alone),
    ("latch-", Wants::Alone),
];

/// A node that contends for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender<'a> {
    pub name: &'a str,
    pub number: i64,
    pub wants: Wants,
}

/// Splits a node's name before the number that the server has added: ten characters, and eleven below −999,999,999.
fn numbered(name: &str) -> Option<(&str, i64)> {
    [11, 10].into_iter().find_map(|length| {
        let (before, text) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let number: i64 = text.parse().ok().filter(|number| format!("{number:010}") == text)?;
        // A pattern of ours ends before a minus.
        let is_whole = length == 10 || before.ends_with(['-', '_']);
        is_whole.then_some((before, number))
    })
}

/// Tells whether a node has a number that others may have as well. The server counts with 32 bits; behind the greatest number
/// come negative ones, or the same one again.
pub fn is_spent(name: &str) -> bool {
    numbered(name).is_none_or(|(_, number)| !(0..i64::from(i32::MAX)).contains(&number))
}

impl<'a> Contender<'a> {
    /// Reads a node's name. `None`: it is no place of a lock.
    pub fn read(name: &'a str) -> Option<Self> {
        let (before, number) = numbered(name)?;
        // A folder of another lock may end in the same letters: `clock-0000000001`.
        let is_whole = |id: &str, pattern: &str| pattern.starts_with('_') || id.is_empty() || id.ends_with('-');
        let fits = |pattern: &str| before.strip_suffix(pattern).is_some_and(|id| is_whole(id, pattern));
        let (_, wants) = PATTERNS.into_iter().find(|(pattern, _)| fits(pattern))?;
        Some(Contender { name, number, wants })
    }

    /// Reads all contenders among the children of a path, the first in the queue first.
    pub fn all(children: &[&'a str]) -> Vec<Self> {
        let mut all: Vec<_> = children.iter().filter_map(|name| Contender::read(name)).collect();
        // A writer's own read has its number.
        all.sort_by_key(|contender| (contender.number, contender.wants == Wants::Shared));
        all
    }
}

/// The nodes that keep a contender out, the last one before it first: it waits for that one. `Err`: it has no place.
pub fn obstacles<'a>(all: &[Contender<'a>], own: &str) -> Result<Vec<Contender<'a>>, ()> {
    let at = all.iter().position(|contender| contender.name == own).ok_or(())?;
    let us = all[at];
    let keeps_out = |other: &&Contender| match us.wants {
        Wants::Alone => other.number < us.number,
        Wants::Shared => other.number < us.number && other.wants == Wants::Alone,
    };
    Ok(all[..at].iter().rev().filter(keeps_out).copied().collect())
}

/// Tells whether the client with that UUID has made a node.
pub fn is_of(uuid: &str, name: &str) -> bool {
    let ids = own_part(uuid);
    name.starts_with(&ids.replace('-', "")) || name.strip_prefix("_c_").unwrap_or(name).starts_with(ids)
}

/// The part of a client's UUID with which the ids of its nodes begin.
pub fn own_part(uuid: &str) -> &str {
    uuid.get(..23).unwrap_or_default()
}

/// The contenders that have the lock: the first one, and with a reader the other readers before the first other one.
pub fn holders<'a, 'b>(all: &'b [Contender<'a>]) -> &'b [Contender<'a>] {
    match all.first() {
        Some(first) if first.wants == Wants::Shared => {
            let readers = all.iter().take_while(|contender| contender.wants == Wants::Shared).count();
            &all[..readers]
        }
        // With its own read a writer is still the one that has it.
        Some(first) => {
            let own = all.iter().take_while(|contender| contender.number == first.number).count();
            &all[..own]
        }
        None => all,
    }
}

/// Tells whether these holders have the lock in that mode.
pub fn have(holders: &[Contender<'_>], mode: Mode) -> bool {
    match mode {
        Mode::Lock | Mode::Fair | Mode::Permit | Mode::Leader | Mode::Mutex => !holders.is_empty(),
        Mode::Read => holders.iter().any(|holder| holder.wants == Wants::Shared),
        Mode::Write => holders.first().is_some_and(|holder| holder.wants == Wants::Alone),
    }
}

/// The nodes before one of ours among those of a semaphore's permits, in their order. `None`: it is not there.
pub fn before<'a>(children: &[&'a str], own: &str) -> Option<Vec<&'a str>> {
    let (_, us) = numbered(own)?;
    let is_before = |name: &&str| *name != own && numbered(name).is_none_or(|(_, other)| other <= us);
    children.contains(&own).then(|| {
        let mut before: Vec<_> = children.iter().copied().filter(is_before).collect();
        before.sort_by_key(|name| numbered(name).map(|(_, number)| number));
        before
    })
}

/// The name of a new node, before the server's number. `id`: 36 characters that no other node has.
pub fn stem(format: NodeFormat, mode: Mode, id: &str) -> String {
    let plain = || id.replace('-', "");
    match (format, mode) {
        (_, Mode::Permit) => format!("_c_{id}-lease-"),
        (NodeFormat::Curator, Mode::Lock | Mode::Fair) | (_, Mode::Mutex) => format!("_c_{id}-lock-"),
        (NodeFormat::Curator, Mode::Leader) => format!("_c_{id}-latch-"),
        (NodeFormat::Curator, Mode::Read) => format!("_c_{id}-__READ__"),
        (NodeFormat::Curator, Mode::Write) => format!("_c_{id}-__WRIT__"),
        (NodeFormat::Kazoo, Mode::Read) => format!("{}__rlock__", plain()),
        (NodeFormat::Kazoo, _) => format!("{}__lock__", plain()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_path_is_the_path_that_other_clients_use() {
        for name in ["orders/42", "/orders/42"] {
            assert_eq!(Spot::new("/app", Mode::Lock, name, 3).path, "/app/orders/42");
        }
        assert_eq!(Spot::new("", Mode::Lock, "orders:käse", 3).path, "/orders:käse");
        assert_eq!(
            Spot::new("/app", Mode::Lock, "zookeeper/quota", 3).path,
            "/app/zookeeper/quota",
            "the server's own are at the root"
        );
    }

    #[test]
    fn a_name_that_is_no_path_becomes_one_that_no_other_name_has() {
        let long = "n".repeat(60_000);
        let names = [
            ".",
            "..",
            "a/../b",
            "a//b",
            "a/",
            "/",
            "//",
            "a\0b",
            "🔒",
            "a\u{7f}",
            "\u{e000}",
            "zookeeper/quota",
            &long,
        ];
        let paths: std::collections::BTreeSet<_> =
            names.iter().map(|name| Spot::new("", Mode::Lock, name, 1).path).collect();
        assert_eq!(paths.len(), names.len());
        assert!(paths.iter().all(|path| is_plain(&path[1..]) && path.len() == 42), "{paths:?}");
    }

    #[test]
    fn a_key_tells_path_mode_and_owner() {
        for (mode, owner) in [(Mode::Lock, 0), (Mode::Fair, 7), (Mode::Read, -1), (Mode::Write, i64::MAX)] {
            let spot = Spot::new("/c", mode, "a/b", owner);
            assert_eq!(Spot::of(&spot.key()), spot);
        }
        assert_eq!(Spot::new("", Mode::Lock, "n", 1).key(), Spot::new("", Mode::Lock, "n", 2).key(), "one place");
        assert_ne!(Spot::new("", Mode::Fair, "n", 1).key(), Spot::new("", Mode::Fair, "n", 2).key());
    }

    #[test]
    fn the_queue_has_the_nodes_of_all_clients_in_the_order_of_their_numbers() {
        let id = "0f9a0c1e-0000-4000-8000-000000000001";
        let plain = id.replace('-', "");
        let children = [
            format!("{plain}__lock__0000000003"),
            format!("_c_{id}-lock-0000000001"),
            format!("{plain}__rlock__0000000004"),
            format!("_c_{id}-__WRIT__0000000000"),
            format!("_c_{id}-latch-0000000005"),
            "lock-0000000002".to_owned(),
            "leases".to_owned(),
            "locks".to_owned(),
            "käse".to_owned(),
        ];
        let names: Vec<_> = children.iter().map(String::as_str).collect();
        let numbers: Vec<_> = Contender::all(&names).iter().map(|contender| contender.number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    }

    /// The server writes `%010d` of a number of 32 bits, which is negative behind the greatest one.
    #[test]
    fn a_number_is_read_as_the_server_writes_it_and_one_that_is_not_for_one_node_alone_is_spent() {
        let id = "_c_0f9a0c1e-0000-4000-8000-000000000001";
        for number in
            [0, 9, 1_000_000_009, i32::MAX - 1, i32::MAX, i32::MIN, i32::MIN + 1, -1_000_000_000, -999_999_999, -5, -1]
        {
            for before in [&format!("{id}-lock-"), "0f9a0c1e00004000800000000000000a__lock__", "lock-"] {
                let name = format!("{before}{number:010}");
                assert_eq!(Contender::read(&name).map(|contender| contender.number), Some(number.into()), "{name}");
                assert_eq!(is_spent(&name), number < 0 || number == i32::MAX, "{name}");
            }
        }
        for other in [
            "lock-123456789",
            "lock-00000000009",
            "lock--0000000009",
            "lock-+000000009",
            "lock-",
            "käse-lock-é00000000",
            "clock-0000000009",
            "block-0000000009",
            "platch-0000000009",
        ] {
            assert_eq!(Contender::read(other), None, "{other}");
        }
    }

    #[test]
    fn permits_with_numbers_that_are_spent_count_before_ours() {
        let own = "_c_x-lease-2147483646";
        let children = [own, "_c_y-lease--2147483648", "_c_z-lease--000000005", "_c_a-lease-2147483647"];
        assert_eq!(before(&children, own), Some(vec![children[1], children[2]]));
    }

    #[test]
    fn a_reader_waits_for_the_last_writer_before_it_and_a_writer_for_whoever_is_before_it() {
        let names = [
            "a__READ__0000000001",
            "b__WRIT__0000000002",
            "c__READ__0000000003",
            "d__lock__0000000004",
            "e__READ__0000000005",
        ];
        let all = Contender::all(&names);
        let waits_for =
            |own: usize| obstacles(&all, names[own]).expect("it has a place").first().map(|other| other.number);
        assert_eq!((0..5).map(waits_for).collect::<Vec<_>>(), [None, Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(obstacles(&all, "f__READ__0000000006"), Err(()));
        assert_eq!(holders(&all).len(), 1);
    }

    #[test]
    fn a_permit_counts_those_that_were_there_before_it_whoever_has_them() {
        let children = ["_c_x-lease-0000000007", "0f9a", "_c_y-lease-0000000003", "_c_z-lease-0000000012"];
        assert_eq!(before(&children, children[0]), Some(vec![children[1], children[2]]));
        assert_eq!(before(&children, children[2]), Some(vec![children[1]]));
        assert_eq!(before(&children, "_c_x-lease-0000000008"), None);
    }

    #[test]
    fn a_writers_own_read_stands_where_the_writer_stands() {
        let names = ["a__READ__0000000002", "a__WRIT__0000000002", "b__WRIT__0000000003", "c__READ__0000000004"];
        let all = Contender::all(&names);
        let waits_for =
            |own: usize| obstacles(&all, names[own]).expect("it has a place").first().map(|other| other.name);
        assert_eq!(waits_for(0), None);
        assert_eq!(waits_for(1), None);
        assert_eq!(waits_for(2), Some(names[0]), "the read outlasts the write");
        assert_eq!(waits_for(3), Some(names[2]));
        assert_eq!(holders(&all).len(), 2);
        let after = Contender::all(&names[..1]);
        assert_eq!(holders(&after).len(), 1);
    }
}
