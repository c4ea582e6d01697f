//! The third dimension of the table: the troubles.

use std::time::Duration;

use redlatch_tests::Direction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Nothing,
    /// An administrator ends the client's sessions, so many ms after the operation began.
    Kill(u64),
    /// Another program deletes what the client has in the lock's queue, so many ms after the operation began.
    Delete(u64),
    /// The server is killed, and started again.
    Restart,
    /// The server stands still.
    StandStill(Duration),
    /// A server beside the leader is killed.
    KillMember,
    /// A server beside the leader is cut off from the others, and the client in trouble with it.
    CutOffMember,
    /// The leader is killed.
    KillLeader,
    /// The network cuts the connections.
    Cut,
    /// The network cuts a connection in the middle of the next request about the lock.
    CutRequest,
    /// The answer to the next request about the lock is lost with its connection.
    LostReply,
    /// The network delivers nothing more this way, and no side hears of it.
    HalfOpen(Direction),
    /// The caller cancels its next call after so many ms.
    Cancelled(u64),
    /// The caller drops the future of its next call after so many ms.
    Dropped(u64),
    /// Another program takes the lock again and again.
    Stranger,
    /// The table of tokens is dropped, and made again.
    NoTokens,
    /// The server has no room for one more session.
    Full,
}

impl Strike {
    /// Whether the client in trouble connects through a proxy.
    pub fn needs_proxy(self) -> bool {
        matches!(self, Strike::Cut | Strike::CutRequest | Strike::LostReply | Strike::HalfOpen(_))
    }

    /// Whether it strikes all cells on its server at once.
    pub fn is_common(self) -> bool {
        let is_of_members = matches!(self, Strike::KillMember | Strike::CutOffMember | Strike::KillLeader);
        is_of_members || matches!(self, Strike::Restart | Strike::StandStill(_) | Strike::NoTokens | Strike::Full)
    }

    /// Whether another party takes away what the client has.
    pub fn takes_away(self) -> bool {
        matches!(self, Strike::Kill(_) | Strike::Delete(_))
    }
}

pub struct Trouble {
    pub name: &'static str,
    pub strike: Strike,
    /// Whether the trouble is no reason to lose a hold.
    pub spares: bool,
}

pub const fn trouble(name: &'static str, strike: Strike, spares: bool) -> Trouble {
    Trouble { name, strike, spares }
}
