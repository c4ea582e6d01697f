//! The features of the kinds of lock, the same words for every engine.

use crate::request::names::LEADER;

/// The features of a kind, for the documentation and the contract tests.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// The name of the kind in requests, the same in every language.
    pub name: &'static str,
    /// Owners hold the lock. If false, permits that are out have no owner.
    pub held: bool,
    /// The owner may take the lock again during its hold.
    pub reentrant: bool,
    /// The watchdog renews holds without a lease of their own.
    pub renewed: bool,
    /// The waiter that has waited longest gets the lock next, in any process.
    pub fair: bool,
    /// Each hold has a number greater than all before it.
    pub fenced: bool,
    /// Only one owner at a time holds the lock.
    pub exclusive: bool,
    /// Redisson has this kind too.
    pub redisson: bool,
    /// The way in which the waiters of one client wait.
    pub queue: Queue,
    /// The form of the value at its key, for messages.
    pub(crate) form: &'static str,
}

/// The way in which the waiters of one client wait for one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// In one line: its head alone asks the server, and a release passes the hold on to the head. In its turn the client
    /// hands it on inside.
    Inside,
    /// In one line: its head alone asks the server, and a release passes the hold on to the head.
    Passing,
    /// In one line: its head alone asks the server.
    Line,
    /// Each owner by itself: the server decides which is next, or several may have the lock.
    Alone,
}

impl Queue {
    /// Tells whether a release passes the hold on to the next waiter of the same client.
    pub fn passes(self) -> bool {
        matches!(self, Queue::Inside | Queue::Passing)
    }
}

/// The kinds whose holds the server counts together: all that an owner has of a name, by any of them, is one count.
pub(crate) const COUNTED_TOGETHER: [&str; 7] =
    ["plain", "spin", "non_reentrant", "fenced", "fair", "non_reentrant_fair", LEADER];

/// The name under which the server counts the holds of this kind: the same for kinds that are counted together.
pub(crate) fn counted_as(kind: &'static str) -> &'static str {
    if COUNTED_TOGETHER.contains(&kind) { PLAIN.name } else { kind }
}

/// The features of a plain lock.
pub(crate) const PLAIN: Traits = Traits {
    name: "plain",
    held: true,
    reentrant: true,
    renewed: true,
    fair: false,
    fenced: false,
    exclusive: true,
    redisson: true,
    queue: Queue::Inside,
    form: "a lock",
};
