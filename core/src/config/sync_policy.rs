//! The copies of a lock that must exist, besides the memory of its server, before an acquire returns.

use std::fmt::{Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use crate::config::{LONGEST, seconds};
use crate::request::error::{Error, Result};
use crate::request::shown;

/// The most replicas that a policy can demand.
const MOST: u32 = 1000;
const FORMS: &str = "write none, wait(replicas=1,within=1.0), wait_aof(replicas=1,within=1.0,local=1) or connected(replicas=1,within=1.0)";

/// The copies that must confirm a lock before its acquire counts, and the time that they have for it. If a confirmation
/// is late, the client gives the lock back and the acquire fails with [`Error::NotSynced`]. Releases and renewals wait
/// for no confirmation.
///
/// As text: `none`, `wait(replicas=1,within=1.0)`, `wait_aof(replicas=1,within=1.0,local=1)` or
/// `connected(replicas=1,within=1.0)`; what is left out of the brackets has the value shown here.
///
/// A policy makes it less likely that a lock is lost with its server, but cannot rule it out: a replica that never
/// heard of the lock may still take over.
///
/// ```
/// # use std::time::Duration;
/// # fn example() -> redlatch::Result<()> {
/// use redlatch::{Config, SyncPolicy};
///
/// let policy = SyncPolicy::Wait { replicas: 1, within: Duration::from_secs(1) };
/// assert_eq!(policy, "wait(replicas=1)".parse()?);
/// let config = Config::from_url("redis://localhost:6379")?.sync(policy);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// No confirmation: if the server fails, locks are lost that it has not sent to its replicas.
    #[default]
    None,
    /// This many replicas have the lock (`WAIT`).
    Wait {
        /// The replicas that must confirm, from 1 to 1,000.
        replicas: u32,
        /// The time that they have, from 1 ms, and less than a lease of the watchdog.
        within: Duration,
    },
    /// This many replicas have the lock on disk, and with `local` the server itself too (`WAITAOF`: Redis 7.2 and
    /// Valkey, with `appendonly yes`).
    WaitAof {
        /// Whether the server itself must have the lock on disk.
        local: bool,
        /// The replicas that must confirm, up to 1,000; 0 only with `local`.
        replicas: u32,
        /// The time that they have, from 1 ms, and less than a lease of the watchdog.
        within: Duration,
    },
    /// The client waits for every replica that is connected and in step. At least this many of them must have the lock,
    /// or all if there are fewer. It waits for none if there is none, or if the server does not know `WAIT`. This is
    /// Redisson's behaviour.
    Connected {
        /// The replicas that must confirm if as many are in step, up to 1,000.
        replicas: u32,
        /// The time that they have, from 1 ms to a year.
        within: Duration,
    },
}

impl FromStr for SyncPolicy {
    type Err = Error;

    /// # Errors
    /// `Config` for a text that is no policy, and for a policy that confirms nothing or leaves no time to confirm.
    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::config(format!("the sync `{}` {why}; {FORMS}", shown::value("sync", text)));
        let (name, settings) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(|| bad("has no `)` at its end"))?),
            None => (text, ""),
        };
        let mut replicas = 1;
        let mut within = Duration::from_secs(1);
        let mut local = true;
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            match setting.split_once('=') {
                Some(("replicas", value)) => {
                    replicas = value.parse().map_err(|_| bad("has replicas that are no number"))?
                }
                Some(("within", value)) => {
                    within = seconds("within", value, 0.001).map_err(|error| bad(&format!("says: {error}")))?
                }
                Some(("local", "0" | "1")) if name == "wait_aof" => local = setting.ends_with('1'),
                _ => return Err(bad(&format!("has `{setting}`"))),
            }
        }
        match name {
            "none" if settings.is_empty() => Ok(SyncPolicy::None),
            "wait" => SyncPolicy::Wait { replicas, within }.checked(),
            "wait_aof" => SyncPolicy::WaitAof { local, replicas, within }.checked(),
            "connected" => SyncPolicy::Connected { replicas, within }.checked(),
            _ => Err(bad("is not known")),
        }
    }
}

impl SyncPolicy {
    /// Refuses numbers that confirm nothing, and numbers that no fleet can reach.
    pub(crate) fn checked(self) -> Result<Self> {
        let least = match self {
            SyncPolicy::None => return Ok(self),
            SyncPolicy::Wait { .. } | SyncPolicy::WaitAof { local: false, .. } => 1,
            SyncPolicy::WaitAof { .. } | SyncPolicy::Connected { .. } => 0,
        };
        if !(least..=MOST).contains(&self.replicas()) {
            return Err(Error::config(format!("the sync `{self}` needs from {least} to {MOST} replicas; {FORMS}")));
        }
        if self.within() < Duration::from_millis(1) {
            return Err(Error::config(format!("the sync `{self}` leaves no time, which is at least 1 ms; {FORMS}")));
        }
        if self.within() > LONGEST {
            return Err(Error::config(format!("the sync `{self}` leaves more time than a year; {FORMS}")));
        }
        Ok(self)
    }

    /// The time that a confirmation may take.
    pub(crate) fn within(&self) -> Duration {
        match *self {
            SyncPolicy::None => Duration::ZERO,
            SyncPolicy::Wait { within, .. }
            | SyncPolicy::WaitAof { within, .. }
            | SyncPolicy::Connected { within, .. } => within,
        }
    }

    fn replicas(&self) -> u32 {
        match *self {
            SyncPolicy::None => 0,
            SyncPolicy::Wait { replicas, .. }
            | SyncPolicy::WaitAof { replicas, .. }
            | SyncPolicy::Connected { replicas, .. } => replicas,
        }
    }
}

impl Display for SyncPolicy {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            SyncPolicy::None => return f.write_str("none"),
            SyncPolicy::Wait { .. } => "wait",
            SyncPolicy::WaitAof { .. } => "wait_aof",
            SyncPolicy::Connected { .. } => "connected",
        };
        write!(f, "{name}(replicas={},within={}", self.replicas(), self.within().as_secs_f64())?;
        match self {
            SyncPolicy::WaitAof { local, .. } => write!(f, ",local={})", u8::from(*local)),
            _ => f.write_str(")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_and_written_again() {
        let second = Duration::from_secs(1);
        let local = false;
        for (text, policy) in [
            ("none", SyncPolicy::None),
            ("wait", SyncPolicy::Wait { replicas: 1, within: second }),
            ("wait()", SyncPolicy::Wait { replicas: 1, within: second }),
            ("wait(replicas=2, within=0.25)", SyncPolicy::Wait { replicas: 2, within: second / 4 }),
            ("wait_aof(local=0)", SyncPolicy::WaitAof { local, replicas: 1, within: second }),
            ("wait_aof(replicas=0)", SyncPolicy::WaitAof { local: true, replicas: 0, within: second }),
            ("connected(replicas=0)", SyncPolicy::Connected { replicas: 0, within: second }),
        ] {
            assert_eq!(text.parse::<SyncPolicy>().expect(text), policy);
            assert_eq!(policy.to_string().parse::<SyncPolicy>().expect(text), policy);
        }
    }
}
