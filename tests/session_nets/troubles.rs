//! The third dimension of the table: the troubles.

use redlatch_tests::Direction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Nothing,
    /// An administrator ends the client's sessions, so many ms after the operation began.
    Kill(u64),
    /// The server is killed, and started again.
    Restart,
    /// The server stands still for longer than a lease.
    StandStill,
    /// The network cuts the connections.
    Cut,
    /// The network cuts a connection in the middle of the next statement about a lock.
    CutRequest,
    /// The answer to the next statement about a lock is lost with its connection.
    LostReply,
    /// The network delivers nothing more this way, and no side hears of it.
    HalfOpen(Direction),
    /// The caller cancels its next call after so many ms.
    Cancelled(u64),
    /// The caller drops the future of its next call after so many ms.
    Dropped(u64),
    /// Another program takes the lock, and releases what it does not have.
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
        matches!(self, Strike::Restart | Strike::StandStill | Strike::NoTokens | Strike::Full)
    }
}

pub struct Trouble {
    pub name: &'static str,
    pub strike: Strike,
    /// Whether the trouble is no reason to lose a hold.
    pub spares: bool,
}

const fn trouble(name: &'static str, strike: Strike, spares: bool) -> Trouble {
    Trouble { name, strike, spares }
}

pub const ALL: [Trouble; 16] = [
    trouble("none", Strike::Nothing, true),
    trouble("session killed at once", Strike::Kill(0), false),
    trouble("session killed soon", Strike::Kill(10), false),
    trouble("server killed", Strike::Restart, false),
    trouble("server stands still", Strike::StandStill, false),
    trouble("connection cut", Strike::Cut, false),
    trouble("request cut", Strike::CutRequest, false),
    trouble("reply lost", Strike::LostReply, false),
    trouble("half open to the server", Strike::HalfOpen(Direction::ToServer), false),
    trouble("half open to the client", Strike::HalfOpen(Direction::ToClient), false),
    trouble("cancelled at once", Strike::Cancelled(0), true),
    trouble("cancelled soon", Strike::Cancelled(3), true),
    trouble("dropped soon", Strike::Dropped(2), true),
    trouble("stranger", Strike::Stranger, true),
    trouble("no table of tokens", Strike::NoTokens, true),
    trouble("no room", Strike::Full, true),
];
