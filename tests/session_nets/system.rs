//! The differences between the systems: the kinds and the troubles of each, and the servers that a round starts.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use redlatch::Client;
use redlatch::ffi::Rule;

use crate::book::Owner;
use crate::troubles::{Strike, Trouble};
use crate::witness::Witness;
use crate::{mariadb, zookeeper};

pub const ALL: [&System; 2] = [&mariadb::SYSTEM, &zookeeper::SYSTEM];

pub struct System {
    pub name: &'static str,
    /// The options that one client may have and another not.
    pub options: &'static [&'static str],
    pub kinds: &'static [Kind],
    pub troubles: &'static [Trouble],
    /// A session outlasts its connections, and only another party ends it before its time.
    pub lasts: bool,
    /// `cargo test` plays one in so many cells.
    pub spread: usize,
    /// Starts what the trouble is to strike.
    pub start: fn(Strike) -> Box<dyn Server>,
}

/// A kind of lock, as the requests of the client in trouble name it, and as how many members. A group's members are plain
/// locks.
pub struct Kind {
    pub name: &'static str,
    pub request: &'static str,
    /// The kind by which the other client asks for the same lock.
    pub beside: &'static str,
    pub rule: Option<Rule>,
    pub members: usize,
    /// The number of owners that may have it at once. Readers have no such number.
    pub room: usize,
}

impl Kind {
    pub const fn lock(name: &'static str) -> Self {
        Kind { name, request: name, beside: name, rule: None, members: 1, room: 1 }
    }

    pub const fn group(name: &'static str, rule: Rule, members: usize) -> Self {
        Kind { name, request: "plain", beside: "plain", rule: Some(rule), members, room: 1 }
    }

    pub fn is_group(&self) -> bool {
        self.rule.is_some()
    }
}

/// A server, or several that are one.
pub trait Server: Send + Sync {
    /// The port to which a proxy passes its connections.
    fn port(&self) -> u16;

    /// The URLs of the client in trouble, which may go through a proxy, and of the other one.
    fn urls(&self, proxy: Option<u16>) -> [String; 2];

    /// The text of each request by which a client gets, keeps or gives back the lock.
    fn mark(&self, name: &str) -> String;

    /// Notes which session a new client has. It may take a lock of this name for that.
    fn meet(&self, _client: &Client, _name: &str) {}

    /// Makes a lock ready for use.
    fn prepare(&self, _client: &Client, _kind: &Kind, _name: &str) {}

    /// Looks which session has which lock. `None`: the server does not say.
    fn look(&self) -> Option<Box<dyn Sight>>;

    /// The rest that the server still has of these locks and of the sessions of these clients.
    fn left(&self, names: &[String], clients: &[String]) -> Vec<String>;

    /// The trouble that another program makes for one cell, until it is over.
    fn meddle(&self, strike: Strike, with: &Target, is_over: &AtomicBool);

    /// The trouble of all cells. Returns when it is over.
    fn strike(&self, strike: Strike, witness: &Witness);
}

/// The lock and the client of a cell in trouble.
pub struct Target<'a> {
    pub kind: &'static Kind,
    pub name: &'a str,
    pub client: &'a str,
    pub witness: &'a Witness,
    /// The operation takes the lock away, from the other program as well.
    pub is_forced: bool,
}

/// The outcome of one look at a server.
pub trait Sight {
    /// By what the server has an owner as a holder of a lock that has room for so many.
    fn kept(&self, name: &str, owner: &Owner, room: usize) -> Kept;
}

pub enum Kept {
    By {
        session: String,
        /// The server keeps the session no longer than that without one more sign of life, if it says so.
        ends: Option<Instant>,
    },
    /// Others have the lock, in words.
    Not(String),
}
