//! The faults of a run: in a process, on its way to the server, or in the server.

use crate::traffic::{self, covers};

/// The fault, from just before it took effect to just after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub from: u64,
    pub until: u64,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The process with this number in [`super::assemble`] was killed.
    Kill { process: usize },
    /// The process was stopped, and went on.
    Stop { process: usize },
    /// The server closed the connections of subscribers.
    KillSubscribers,
    /// Bytes were lost, held back or delayed, or connections of other sorts were closed.
    Network,
    /// For a while the server answered no client, or refused some calls.
    Server,
    /// An operator took the key away without its holder's knowledge.
    Delete { key: u32 },
    /// An operator took all keys away.
    Flush,
    /// A minority of the servers of red locks could not be reached, stood still, or came back empty.
    Minority,
}

impl Fault {
    /// Whether the fault ended the holds of `key` without their holder's knowledge.
    pub fn takes_away(&self, key: u32) -> bool {
        match self.kind {
            Kind::Delete { key: gone } => covers(key).contains(&gone),
            Kind::Flush => self.concerns(key),
            _ => false,
        }
    }

    /// Whether the fault reaches the servers of this lock. Red locks have servers of their own.
    pub fn concerns(&self, key: u32) -> bool {
        match self.kind {
            Kind::Kill { .. } | Kind::Stop { .. } => true,
            Kind::Minority => traffic::Kind::of(key) == traffic::Kind::Red,
            _ => traffic::Kind::of(key) != traffic::Kind::Red,
        }
    }

    /// Whether the fault may end calls with an error. The loss of one connection that comes back does not, nor does a
    /// minority.
    pub fn may_fail_calls(&self) -> bool {
        matches!(self.kind, Kind::Network | Kind::Server | Kind::Stop { .. })
    }

    pub fn overlaps(&self, from: u64, until: u64) -> bool {
        self.from <= until && from <= self.until
    }
}

/// For how long of this span the process was stopped.
pub fn stopped(faults: &[Fault], process: usize, from: u64, until: u64) -> u64 {
    let stops = faults.iter().filter(|fault| fault.kind == Kind::Stop { process });
    stops.map(|stop| stop.until.min(until).saturating_sub(stop.from.max(from))).sum()
}
