//! What was done to a process, its way to the server, or the server.

use crate::traffic::{self, covers};

/// From just before to just after it was in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub from: u64,
    pub until: u64,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The process (by its number in [`super::assemble`]) was killed.
    Kill { process: usize },
    /// The process was stopped and went on.
    Stop { process: usize },
    /// Connections that listen were closed by the server.
    KillSubscribers,
    /// Bytes were lost, held back or delayed, or other connections closed.
    Network,
    /// The server answered nobody, or refused some calls, for a while.
    Server,
    /// The key was taken away behind its holder's back.
    Delete { key: u32 },
    /// All keys were taken away.
    Flush,
    /// Of the servers of red locks, a minority could not be reached, stood still, or came back empty.
    Minority,
}

impl Fault {
    /// Whether what was held of `key` ended with it, unknown to its holder.
    pub fn takes_away(&self, key: u32) -> bool {
        match self.kind {
            Kind::Delete { key: gone } => covers(key).contains(&gone),
            Kind::Flush => self.concerns(key),
            _ => false,
        }
    }

    /// Whether it happened to what takes part in this lock: red locks have servers of their own.
    pub fn concerns(&self, key: u32) -> bool {
        match self.kind {
            Kind::Kill { .. } | Kind::Stop { .. } => true,
            Kind::Minority => traffic::Kind::of(key) == traffic::Kind::Red,
            _ => traffic::Kind::of(key) != traffic::Kind::Red,
        }
    }

    /// Whether calls may end with an error because of it. One connection that is lost and found again is no reason, nor is a minority.
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
