//! The third dimension of the table: the troubles.

use crate::rights;

/// The place where a cell is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// One of a few servers that many cells share.
    Shared,
    /// A server of the cell's own.
    Own,
    /// A server of the cell's own, whose clock the test sets.
    Clocked,
    /// A cluster that many cells share.
    Cluster,
    /// A cluster with one node that is always silent. The lock is on another node.
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strike {
    Nothing,
    /// The reply to the next script is lost.
    LostReply,
    /// The next script is held up until the operation is over, or until it is late. No client may end another's
    /// connection.
    HeldUp {
        is_late: bool,
    },
    Full,
    /// The user may not run this command any more.
    Lacks(String),
    /// The user may touch no key but the lock's own.
    OwnKey,
    /// The slot begins to move, with the lock's own key or with all other keys.
    Moves {
        lock: bool,
    },
    ClockBack,
    /// The client is closed so many ms later.
    Closed(u64),
    /// The client is dropped with all its holds.
    Abandoned,
    /// The caller cancels its next call after so many ms.
    Cancelled(u64),
    /// The caller drops the future of its next call after so many ms.
    Dropped(u64),
    /// The server answers the next script with these bytes.
    Nonsense(&'static [u8]),
    /// The machine of the client, which has a process of its own, sleeps so many ms later, for longer than a lease.
    Suspended(u64),
    /// The network delivers nothing to the server or back.
    Silent,
    /// No client can connect to the server.
    Down,
    /// The client's process forks, and the child uses the client that it has inherited.
    Forks,
}

impl Strike {
    /// Whether the client in trouble can give back holds of callers without an answer.
    pub fn lets_give_back(&self) -> bool {
        !matches!(
            self,
            Strike::Abandoned | Strike::Lacks(_) | Strike::OwnKey | Strike::ClockBack | Strike::Suspended(_)
        )
    }

    /// Whether the client in trouble hears nothing of its server meanwhile.
    pub fn is_silence(&self) -> bool {
        matches!(self, Strike::Silent | Strike::Down)
    }

    /// Whether the client in trouble has a process of its own.
    pub fn needs_process(&self) -> bool {
        matches!(self, Strike::Suspended(_) | Strike::Forks)
    }
}

pub struct Trouble {
    pub name: String,
    pub ground: Ground,
    pub strike: Strike,
    /// Whether the trouble is no reason to lose a hold.
    pub spares: bool,
    /// More options in the client's URL.
    pub options: &'static str,
}

/// These troubles are no reason to lose a hold: the server is there, has the hold, and can renew it. In a cluster on a
/// busy machine nodes may take each other for dead, which is a reason.
const SPARING: [&str; 8] = [
    "none",
    "reply lost",
    "full server",
    "retry_for of nothing",
    "response_timeout of a year",
    "fair_wait of nothing",
    "turn of nothing",
    "fork",
];

/// Commands that the core sends besides scripts.
const BESIDE_SCRIPTS: [&str; 4] = ["evalsha", "eval", "subscribe", "client"];

/// All troubles that a kind can meet.
pub fn of(kind: &str) -> Vec<Trouble> {
    let trouble = |name: &str, ground, strike, options| Trouble {
        name: name.to_owned(),
        ground,
        strike,
        spares: SPARING.contains(&name),
        options,
    };
    let mut all = vec![
        trouble("none", Ground::Shared, Strike::Nothing, ""),
        trouble("reply lost", Ground::Shared, Strike::LostReply, ""),
        trouble("reply lost and no repeat", Ground::Shared, Strike::LostReply, "&retry_for=0"),
        trouble("copy held up", Ground::Shared, Strike::HeldUp { is_late: false }, ""),
        trouble("late copy", Ground::Shared, Strike::HeldUp { is_late: true }, ""),
        trouble("full server", Ground::Own, Strike::Full, ""),
        trouble("no key but the lock's", Ground::Shared, Strike::OwnKey, ""),
        trouble("slot moves with the lock's key", Ground::Cluster, Strike::Moves { lock: true }, ""),
        trouble("slot moves without the lock's key", Ground::Cluster, Strike::Moves { lock: false }, ""),
        trouble("server's clock set back", Ground::Clocked, Strike::ClockBack, ""),
        trouble("closed at once", Ground::Shared, Strike::Closed(0), ""),
        trouble("closed soon", Ground::Shared, Strike::Closed(3), ""),
        trouble("client dropped", Ground::Shared, Strike::Abandoned, ""),
        trouble("cancelled at once", Ground::Shared, Strike::Cancelled(0), ""),
        trouble("cancelled soon", Ground::Shared, Strike::Cancelled(3), ""),
        trouble("dropped at once", Ground::Shared, Strike::Dropped(0), ""),
        trouble("dropped soon", Ground::Shared, Strike::Dropped(3), ""),
        trouble("silent server", Ground::Shared, Strike::Silent, ""),
        trouble("server down", Ground::Shared, Strike::Down, ""),
        trouble("silent node", Ground::Silent, Strike::Nothing, ""),
        trouble("response_timeout of 1 ms", Ground::Shared, Strike::Nothing, "&response_timeout=0.001"),
        trouble("response_timeout of a year", Ground::Shared, Strike::Nothing, "&response_timeout=31536000"),
        trouble("retry_for of nothing", Ground::Shared, Strike::Nothing, "&retry_for=0"),
        trouble("watchdog of 100 ms", Ground::Shared, Strike::Nothing, "&watchdog=0.1"),
        trouble("fair_wait of nothing", Ground::Shared, Strike::Nothing, "&fair_wait=0"),
        trouble("turn of nothing", Ground::Shared, Strike::Nothing, "&turn=0"),
        trouble("answers an empty line", Ground::Shared, Strike::Nonsense(b"\r\n"), ""),
        trouble("answers an array of less than nothing", Ground::Shared, Strike::Nonsense(b"*-7\r\n"), ""),
        trouble("answers OK", Ground::Shared, Strike::Nonsense(b"+OK\r\n"), ""),
        trouble("answers a code that there is not", Ground::Shared, Strike::Nonsense(b"*2\r\n:77\r\n:-5\r\n"), ""),
        trouble("fork", Ground::Shared, Strike::Forks, ""),
        trouble("suspended at once", Ground::Shared, Strike::Suspended(0), ""),
        trouble("suspended soon", Ground::Shared, Strike::Suspended(3), ""),
    ];
    let lacks = |command: String| Trouble {
        name: format!("without +{command}"),
        ground: Ground::Shared,
        strike: Strike::Lacks(command),
        spares: false,
        options: "",
    };
    all.extend(rights::commands(kind).into_iter().chain(BESIDE_SCRIPTS.map(str::to_owned)).map(lacks));
    all
}
