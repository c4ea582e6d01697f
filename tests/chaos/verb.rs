//! The faults that can strike processes, their ways to the servers, and the servers.

use std::time::Duration;

use redlatch_tests::{Direction, ms};

use crate::quorum::Ill;

/// One fault of a process, its way to the server, or the server.
#[derive(Clone, Copy, Debug)]
pub enum Verb {
    Kill {
        slot: usize,
    },
    Stop {
        slot: usize,
        time: Duration,
    },
    Cut {
        slot: usize,
    },
    Stall {
        slot: usize,
        way: Option<Direction>,
        time: Duration,
    },
    Freeze {
        slot: usize,
        way: Option<Direction>,
        time: Duration,
    },
    Delay {
        slot: usize,
        each: Duration,
        time: Duration,
    },
    Refuse {
        slot: usize,
        time: Duration,
    },
    HalfClose {
        slot: usize,
        way: Direction,
    },
    LoseReplies {
        every: usize,
        time: Duration,
    },
    /// Delays replies; `beyond`: for longer than the client waits for one.
    RetardReplies {
        every: usize,
        beyond: Duration,
        time: Duration,
    },
    CutPacket {
        slot: usize,
        way: Direction,
        nth: usize,
    },
    KillClients {
        subscribers: bool,
    },
    ForgetScripts,
    Pause {
        time: Duration,
    },
    Sleep {
        time: Duration,
    },
    Delete {
        key: u32,
    },
    Flush,
    Restart,
    Fill {
        time: Duration,
    },
    Minority {
        at: usize,
        ill: Ill,
        time: Duration,
    },
}

impl Verb {
    /// The verb's name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Kill { .. } => "processes killed",
            Verb::Stop { .. } => "processes stopped",
            Verb::Cut { .. } => "all connections of a process cut",
            Verb::Stall { .. } => "networks stalled",
            Verb::Freeze { .. } => "links half open",
            Verb::Delay { .. } => "networks delayed",
            Verb::Refuse { .. } => "connections refused",
            Verb::HalfClose { .. } => "connections half closed",
            Verb::LoseReplies { .. } => "times of lost replies",
            Verb::RetardReplies { .. } => "times of late replies",
            Verb::CutPacket { .. } => "other packets cut off",
            Verb::KillClients { subscribers: true } => "CLIENT KILL TYPE pubsub",
            Verb::KillClients { subscribers: false } => "CLIENT KILL TYPE normal",
            Verb::ForgetScripts => "SCRIPT FLUSH",
            Verb::Pause { .. } => "CLIENT PAUSE",
            Verb::Sleep { .. } => "DEBUG SLEEP",
            Verb::Delete { .. } => "DEL of a key",
            Verb::Flush => "FLUSHALL",
            Verb::Restart => "server restarts",
            Verb::Fill { .. } => "server full",
            Verb::Minority { ill: Ill::Killed, .. } => "servers of red locks killed",
            Verb::Minority { .. } => "servers of red locks cut off, stopped",
        }
    }

    /// The verb's duration, as far as the schedule fixes it.
    pub fn time(self) -> Duration {
        match self {
            Verb::Stop { time, .. }
            | Verb::Stall { time, .. }
            | Verb::Freeze { time, .. }
            | Verb::Delay { time, .. }
            | Verb::LoseReplies { time, .. }
            | Verb::RetardReplies { time, .. }
            | Verb::Refuse { time, .. }
            | Verb::Minority { time, .. }
            | Verb::Pause { time }
            | Verb::Sleep { time }
            | Verb::Fill { time } => time,
            Verb::Restart => ms(800),
            _ => Duration::ZERO,
        }
    }
}
