//! The one error type, with a stable number and name for each case. A lock that is not free in time is an answer of the
//! server, and an error only for a caller that asked for a guard.

use std::time::Duration;

use crate::request::names::{shown, without};

/// The result of a call: its value, or an [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a hold ended without a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostReason {
    /// The lease ran out on this client's clock before a renewal or a release.
    Expired = 1,
    /// The key exists, but this owner does not hold it.
    TakenOver = 2,
    /// The key vanished before its time.
    Deleted = 3,
    /// The program closed the client during the hold.
    Closed = 4,
    /// The server came back without its data, and so without the key.
    ServerLostData = 5,
    /// The server answered no renewal in time.
    Partitioned = 6,
    /// The client sent no renewal in time: this process, or the whole machine, stood still.
    Paused = 7,
}

impl LostReason {
    /// The reason in words, for logs: `taken over`, `server lost its data`, ….
    pub fn name(self) -> &'static str {
        match self {
            LostReason::Expired => "expired",
            LostReason::TakenOver => "taken over",
            LostReason::Deleted => "deleted",
            LostReason::Closed => "closed",
            LostReason::ServerLostData => "server lost its data",
            LostReason::Partitioned => "partitioned",
            LostReason::Paused => "process was paused",
        }
    }
}

/// The story of a lost hold. The times are ages at the moment when the caller asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loss {
    /// The lock's name, without the client's prefix.
    pub lock: String,
    /// The name in Redis of the owner that lost it, `<client uuid>:<number>`.
    pub owner: String,
    /// The reason.
    pub reason: LostReason,
    /// The time since the acquire.
    pub acquired: Duration,
    /// The time since the last renewal that the server confirmed; `None`: there was none.
    pub renewed: Option<Duration>,
    /// The time since this client noticed the loss.
    pub noticed: Duration,
}

impl Loss {
    /// The same story, told that much later.
    pub(crate) fn aged(&self, by: Duration) -> Loss {
        Loss {
            acquired: self.acquired + by,
            renewed: self.renewed.map(|renewed| renewed + by),
            noticed: self.noticed + by,
            ..self.clone()
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let acquired = rounded(self.acquired);
        write!(
            f,
            "`{}` is lost to {}: {} (acquired {acquired} ago, ",
            shown(&self.lock),
            self.owner,
            self.reason.name()
        )?;
        match self.renewed {
            Some(renewed) => write!(f, "last renewed {} ago, ", rounded(renewed))?,
            None => write!(f, "never renewed, ")?,
        }
        write!(f, "noticed {} ago)", rounded(self.noticed))
    }
}

/// An age as a reader needs it: to the millisecond below a second, to the tenth of a second below a minute, then to the
/// second.
fn rounded(age: Duration) -> String {
    let ms = (age.as_micros() + 500) / 1000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..59_950 => format!("{:.1} s", age.as_secs_f64()),
        _ => format!("{} s", (ms + 500) / 1000),
    }
}

/// All errors. A message names the lock in backticks, the present state, and the remedy. A later release may add errors,
/// and fields to these.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The owner releases a lock that it does not hold.
    #[error(
        "`{}` is not held by {owner}, which released it already or never acquired it; release each acquire once",
        shown(lock)
    )]
    #[non_exhaustive]
    NotHeld {
        /// The lock's name, without the client's prefix.
        lock: String,
        /// The owner's name in Redis, `<client uuid>:<number>`.
        owner: String,
    },
    /// The caller releases the same hold a second time.
    #[error(
        "`{}` was released already by this hold, or that release went unanswered and it ends with its lease; release each hold once",
        shown(lock)
    )]
    #[non_exhaustive]
    Released {
        /// The lock's name.
        lock: String,
    },
    /// A forked child uses its copy of its parent's hold.
    #[error("`{}` is held by the process that forked this one; acquire it here as well", shown(lock))]
    #[non_exhaustive]
    Inherited {
        /// The lock's name.
        lock: String,
    },
    /// The hold ended before the release. Another owner may have the lock by now.
    #[error("{0}; the work that it guarded may have been done twice")]
    Lost(Box<Loss>),
    /// The owner has the lock and asks for more than its kind allows: for a second hold, or to write while it reads.
    #[error("`{}` is already held by {owner}, and cannot be taken once more that way; release it first", shown(lock))]
    #[non_exhaustive]
    AlreadyHeld {
        /// The lock's name.
        lock: String,
        /// The owner's name in Redis, `<client uuid>:<number>`.
        owner: String,
    },
    /// The wait ran out, and the lock is taken. Only calls that promise a hold give this error.
    #[error("`{}` was not acquired within {waited:?}; {because}", shown(lock))]
    #[non_exhaustive]
    NotAcquired {
        /// The lock's name.
        lock: String,
        /// The wait that the caller allowed.
        waited: Duration,
        /// The reason with its remedy, for the message.
        because: &'static str,
    },
    /// The caller releases a permit by an id that is not out.
    #[error("`{lock}` has no permit {permits} out: it was given back, has ended, or never was; take a new one")]
    #[non_exhaustive]
    NoPermit {
        /// The semaphore's name.
        lock: String,
        /// The id; of several at once all of them, because the server does not say which.
        permits: String,
    },
    /// The client cannot reach the server in time, or the server does not answer in time. The server may have carried
    /// out the call. A lock that it may have given is given back.
    #[error("{server} {cause}{}", check(cause))]
    #[non_exhaustive]
    Unavailable {
        /// The server's address, without user and password.
        server: String,
        /// The mishap, for the message.
        cause: String,
        /// Whether the time ran out without an answer; false: there was no connection, or it broke.
        timeout: bool,
    },
    /// The replicas did not confirm the lock in time, see [`crate::SyncPolicy`]; the client gives it back.
    #[error("`{}` was confirmed by {confirmed} of {expected} {because}", shown(lock))]
    #[non_exhaustive]
    NotSynced {
        /// The lock's name.
        lock: String,
        /// The replicas that confirmed the lock.
        confirmed: u32,
        /// The replicas that the policy demands.
        expected: u32,
        /// The rest of the message: how long they had, and the remedy.
        because: String,
    },
    /// The server refused a command.
    #[error("the server refused {what}: {code} {}", remedied(code, message))]
    #[non_exhaustive]
    Refused {
        /// The lock in backticks, or the command.
        what: String,
        /// The first word of the server's reply: `NOPERM`, `OOM`, `WRONGTYPE`, ….
        code: String,
        /// The rest of the reply, and for some codes the remedy.
        message: String,
    },
    /// A URL, option, name or number is not valid. The message is the whole error.
    #[error("{0}")]
    Config(String),
    /// This kind, server or build does not have the operation. The message is the whole error.
    #[error("{0}")]
    Unsupported(String),
    /// The program has closed the client.
    #[error("the client of {server} is closed; connect a new one")]
    #[non_exhaustive]
    Closed {
        /// The server's address, without user and password.
        server: String,
    },
    /// The caller cancelled the request; it holds nothing.
    #[error("cancelled")]
    Cancelled,
}

/// The numbers by which errors cross a language border. They stay the same; 0 is done, 1 is not now, 2 is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorNumber {
    /// There is nothing of the caller's to release.
    NotHeld = 10,
    /// [`Error::Lost`].
    Lost = 11,
    /// [`Error::NotAcquired`]; bindings have an answer instead.
    NotAcquired = 12,
    /// [`Error::Unavailable`]: no connection.
    Unreachable = 13,
    /// [`Error::NotSynced`].
    NotSynced = 14,
    /// [`Error::Refused`].
    Refused = 15,
    /// [`Error::Config`].
    Config = 16,
    /// [`Error::Unsupported`].
    Unsupported = 17,
    /// [`Error::Closed`].
    Closed = 18,
    /// [`Error::Cancelled`].
    Cancelled = 19,
    /// [`Error::Unavailable`]: no answer in time.
    TimedOut = 20,
    /// [`Error::AlreadyHeld`].
    AlreadyHeld = 21,
}

/// The remedy, if the cause itself does not name one.
fn check(cause: &str) -> &'static str {
    let why = cause.split(NO_ANSWER).next().unwrap_or_default();
    if why.contains("; ") { "" } else { "; check that it runs and that the address is right" }
}

/// The words of the server, with the remedy if the server names none.
fn remedied(code: &str, message: &str) -> String {
    let remedy = match code {
        "NOAUTH" => "give the password: redis://:password@host, or redis://user:password@host",
        "WRONGPASS" => "check the user and the password",
        "OOM" => "give the server more memory, or delete what is not needed any more",
        "READONLY" => "name the master, or have it found: redis+sentinel://, redis+replicated://, redis+cluster://",
        _ => return message.to_owned(),
    };
    format!("{}; {remedy}", message.trim_end_matches('.'))
}

/// Codes with which a server refuses all work for the moment.
const TRANSIENT: [&str; 7] = ["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "NOREPLICAS"];

/// The words behind the cause of an [`Error::Unavailable`] that ended a wait.
const NO_ANSWER: &str = "; no answer came during the wait of ";

impl Error {
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Error::Config(message.into())
    }

    /// Tells whether the same call may succeed a little later. The server has carried out no part of a call that it
    /// refused in this way.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Error::Unavailable { .. } => true,
            Error::Refused { code, .. } => TRANSIENT.contains(&code.as_str()),
            _ => false,
        }
    }

    /// The same error, as the end of a wait in which no server answered.
    pub(crate) fn during(self, wait: Option<Duration>) -> Self {
        match (self, wait) {
            (Error::Unavailable { server, cause, timeout }, Some(wait)) => {
                // If the wait was part of another wait, only the outer one counts.
                let cause = cause.split(NO_ANSWER).next().unwrap_or_default();
                Error::Unavailable { server, cause: format!("{cause}{NO_ANSWER}{wait:?}"), timeout }
            }
            (error, _) => error,
        }
    }

    /// The same error with the lock's name as the program gave it: without the client's prefix.
    pub(crate) fn without(self, prefix: &str) -> Self {
        if prefix.is_empty() {
            return self;
        }
        let plain = |name: String| without(prefix, &name).to_owned();
        match self {
            Error::NotHeld { lock, owner } => Error::NotHeld { lock: plain(lock), owner },
            Error::Released { lock } => Error::Released { lock: plain(lock) },
            Error::Inherited { lock } => Error::Inherited { lock: plain(lock) },
            Error::AlreadyHeld { lock, owner } => Error::AlreadyHeld { lock: plain(lock), owner },
            Error::NotSynced { lock, confirmed, expected, because } => {
                Error::NotSynced { lock: plain(lock), confirmed, expected, because }
            }
            Error::Refused { what, code, message } => {
                Error::Refused { what: what.replacen(&format!("`{prefix}"), "`", 1), code, message }
            }
            error => error,
        }
    }

    /// The stable name of the case, for logs and bindings.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NotHeld { .. } | Error::Released { .. } | Error::Inherited { .. } | Error::NoPermit { .. } => {
                "not_held"
            }
            Error::Lost(_) => "lost",
            Error::AlreadyHeld { .. } => "already_held",
            Error::NotAcquired { .. } => "not_acquired",
            Error::Unavailable { .. } => "unavailable",
            Error::NotSynced { .. } => "not_synced",
            Error::Refused { .. } => "refused",
            Error::Config(_) => "config",
            Error::Unsupported(_) => "unsupported",
            Error::Closed { .. } => "closed",
            Error::Cancelled => "cancelled",
        }
    }

    /// The number that crosses a language border.
    pub(crate) fn number(&self) -> ErrorNumber {
        match self {
            Error::NotHeld { .. } | Error::Released { .. } | Error::Inherited { .. } | Error::NoPermit { .. } => {
                ErrorNumber::NotHeld
            }
            Error::Lost(_) => ErrorNumber::Lost,
            Error::NotAcquired { .. } => ErrorNumber::NotAcquired,
            Error::Unavailable { timeout: false, .. } => ErrorNumber::Unreachable,
            Error::Unavailable { timeout: true, .. } => ErrorNumber::TimedOut,
            Error::NotSynced { .. } => ErrorNumber::NotSynced,
            Error::Refused { .. } => ErrorNumber::Refused,
            Error::Config(_) => ErrorNumber::Config,
            Error::Unsupported(_) => ErrorNumber::Unsupported,
            Error::Closed { .. } => ErrorNumber::Closed,
            Error::Cancelled => ErrorNumber::Cancelled,
            Error::AlreadyHeld { .. } => ErrorNumber::AlreadyHeld,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_no_more_digits_than_its_reader_needs() {
        let told = [
            (0, "0 ms"),
            (499, "0 ms"),
            (1_500, "2 ms"),
            (999_499, "999 ms"),
            (999_999, "1.0 s"),
            (1_116_660, "1.1 s"),
            (29_672_913, "29.7 s"),
            (59_949_000, "59.9 s"),
            (59_999_999, "60 s"),
            (3_599_600_000, "3600 s"),
        ];
        for (micros, text) in told {
            assert_eq!(rounded(Duration::from_micros(micros)), text, "{micros} µs");
        }
    }

    #[test]
    fn the_text_of_a_loss_says_which_lock_why_and_when() {
        let acquired = Duration::from_nanos(61_234_567_891);
        let renewed = Duration::from_nanos(10_049_876_543);
        let lost = Loss {
            lock: "orders:42".into(),
            owner: "u:1".into(),
            reason: LostReason::Partitioned,
            acquired,
            renewed: Some(renewed),
            noticed: Duration::ZERO,
        };
        let text =
            "`orders:42` is lost to u:1: partitioned (acquired 61 s ago, last renewed 10.0 s ago, noticed 0 ms ago)";
        assert_eq!(lost.to_string(), text);
        let never = Loss { renewed: None, noticed: Duration::from_nanos(325_141), ..lost };
        assert_eq!(never.to_string(), text.replace("last renewed 10.0 s ago", "never renewed"));
    }
}
