//! The confirmation of a write by replicas or files: the copies that it needs, the command that asks for them, and the
//! error if they are missing.

use std::time::Duration;

use redis::{RedisError, Value};

use crate::config::sync_policy::SyncPolicy;
use crate::redis::kinds::script::Call;
use crate::request::error::Error;

pub struct Confirmation {
    /// Only files on disk count, not copies in memory; true: the server's own file must have the write too.
    pub file: Option<bool>,
    /// The number of replicas to wait for.
    pub replicas: u32,
    /// The number of replicas that must confirm.
    pub least: u32,
}

impl Confirmation {
    /// The confirmation that a policy demands. `None`: none, or it depends on the connected replicas.
    pub fn of(policy: SyncPolicy) -> Option<Self> {
        match policy {
            SyncPolicy::Wait { replicas, .. } => Some(Confirmation { file: None, replicas, least: replicas }),
            SyncPolicy::WaitAof { local, replicas, .. } => {
                Some(Confirmation { file: Some(local), replicas, least: replicas })
            }
            SyncPolicy::None | SyncPolicy::Connected { .. } => None,
        }
    }

    pub fn command(&self, within: Duration) -> redis::Cmd {
        let mut cmd = redis::cmd(if self.file.is_some() { "WAITAOF" } else { "WAIT" });
        if let Some(own) = self.file {
            cmd.arg(u8::from(own));
        }
        // A time of zero would mean without end.
        cmd.arg(self.replicas).arg(within.as_millis().max(1) as u64);
        cmd
    }

    pub fn is_by(&self, file: u32, replicas: u32) -> bool {
        replicas >= self.least && file >= u32::from(self.file == Some(true))
    }

    pub fn missing(&self, call: &Call, server: &str, within: Duration, file: u32, replicas: u32) -> Error {
        let lock = call.keys.iter().next().map_or_else(String::new, |key| String::from_utf8_lossy(key).into_owned());
        let because = match self.file {
            None => format!(
                "replicas of {server} within {within:?}, and is given back; look at INFO replication for replicas that are gone or lag, \
                 give them longer, or ask for fewer"
            ),
            Some(own) => format!(
                "replicas of {server}{} in their files within {within:?}, and is given back; look at INFO replication for replicas that \
                 are gone or lag, and at appendfsync, which with `no` leaves it to the system, or give them longer",
                match own {
                    true if file == 0 => ", not by itself,",
                    true => ", and by itself,",
                    false => "",
                }
            ),
        };
        Error::NotSynced { lock, confirmed: replicas, expected: self.least, because }
    }
}

/// A question that a server with this ability answers at once. A server without it refuses before the call takes
/// anything.
pub fn probe(policy: SyncPolicy) -> redis::Cmd {
    let file = Confirmation::of(policy).and_then(|wanted| wanted.file);
    Confirmation { file, replicas: 0, least: 0 }.command(Duration::ZERO)
}

/// The number of replicas that could confirm, as `INFO replication` shows. A replica that still has to fetch or load
/// older data does not count.
pub fn replicas_in_step(info: &str) -> u32 {
    let nothing_yet = info.lines().any(|line| line.trim_end() == "master_repl_offset:0");
    let is_in_step = |line: &&str| line.contains("state=online") && (nothing_yet || !line.contains("offset=0,"));
    info.lines().filter(|line| line.starts_with("slave")).filter(is_in_step).count() as u32
}

/// Reads the server's answer: the number of its own files that have the write, and the number of replicas.
pub fn counts(value: &Value) -> Option<(u32, u32)> {
    match value {
        Value::Int(replicas) => Some((0, u32::try_from(*replicas).ok()?)),
        Value::Array(both) => match both[..] {
            [Value::Int(file), Value::Int(replicas)] => {
                Some((u32::try_from(file).ok()?, u32::try_from(replicas).ok()?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The error for a server that refuses to wait for a confirmation.
pub fn objection(server: &str, said: &RedisError) -> Error {
    let words = format!("{} {}", said.code().unwrap_or_default(), said.detail().unwrap_or_default());
    let remedy = if words.contains("appendonly") {
        "it keeps no file: set appendonly to yes, or leave its own file out (local=0)"
    } else if words.contains("unknown command") {
        "it is too old for that (WAITAOF came with Redis 7.2), or a service that hides it: use no sync policy here, or WAIT"
    } else if said.code() == Some("NOPERM") {
        "its user may not: allow WAIT and WAITAOF, or use no sync policy"
    } else {
        "use no sync policy here"
    };
    Error::Unsupported(format!("{server} confirms nothing by replicas or files ({}); {remedy}", words.trim()))
}
