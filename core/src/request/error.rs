//! The one error type, with a stable number and name for each case. Not getting a lock in time is an [`crate::Answer`], not an error.

use std::time::Duration;

use crate::request::names::{shown, without};

pub type Result<T> = std::result::Result<T, Error>;

/// Why a hold ended without being released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LostReason {
    /// The lease ran out on this side's clock before it was renewed or released.
    Expired = 1,
    /// The key is there, but not with this owner.
    TakenOver = 2,
    /// The key is gone before its time.
    Deleted = 3,
    /// The client was closed while it was held.
    Closed = 4,
    /// The key is gone because the server came back without it.
    ServerLostData = 5,
    /// No renewal was answered in time.
    Partitioned = 6,
    /// No renewal was sent in time: this process, or the whole machine, stood still.
    Paused = 7,
}

impl LostReason {
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

/// How a hold was lost. The times are ages at the moment of asking.
#[derive(Clone, Debug)]
pub struct Loss {
    pub lock: String,
    pub owner: String,
    pub reason: LostReason,
    pub acquired: Duration,
    pub renewed: Option<Duration>,
    pub noticed: Duration,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is lost to {}: {} (acquired {:.3?} ago, ", shown(&self.lock), self.owner, self.reason.name(), self.acquired)?;
        match self.renewed {
            Some(renewed) => write!(f, "last renewed {renewed:.3?} ago, ")?,
            None => write!(f, "never renewed, ")?,
        }
        write!(f, "noticed {:.3?} ago)", self.noticed)
    }
}

/// Everything that can go wrong. A message names the lock in backticks, what is so now, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Release without holding.
    #[error("`{}` is not held by {owner}, which released it already or never acquired it; release each acquire once", shown(lock))]
    NotHeld { lock: String, owner: String },
    /// The same hold is released once more.
    #[error(
        "`{}` was released already by this hold, or that release went unanswered and it ends with its lease; release each hold once",
        shown(lock)
    )]
    Released { lock: String },
    /// A forked child's copy of a hold is asked for something.
    #[error("`{}` is held by the process that forked this one; acquire it here as well", shown(lock))]
    Inherited { lock: String },
    /// The hold ended before it was released.
    #[error("{0}; what it guarded may have been done twice")]
    Lost(Box<Loss>),
    /// The owner asks for more than a lock of this kind gives to one who has it: once more, or to write while it reads.
    #[error("`{}` is already held by {owner}, and cannot be taken once more that way; release it first", shown(lock))]
    AlreadyHeld { lock: String, owner: String },
    /// The wait ran out. Only from calls that promise a hold.
    #[error("`{}` was not acquired within {waited:?}; {because}", shown(lock))]
    NotAcquired { lock: String, waited: Duration, because: &'static str },
    /// Release of a permit by an id that is not out.
    #[error("`{lock}` has no permit {permits} out: it was given back, has ended, or never was; take a new one")]
    NoPermit { lock: String, permits: String },
    /// The server cannot be reached, or does not answer, in time.
    #[error("{server} {cause}{}", check(cause))]
    Unavailable { server: String, cause: String, timeout: bool },
    /// What was taken was not confirmed in time, see [`crate::SyncPolicy`], and is given back.
    #[error("`{}` was confirmed by {confirmed} of {expected} {because}", shown(lock))]
    NotSynced { lock: String, confirmed: u32, expected: u32, because: String },
    /// The server said no.
    #[error("the server refused {what}: {code} {}", remedied(code, message))]
    Refused { what: String, code: String, message: String },
    /// A bad URL, option, name or number.
    #[error("{0}")]
    Config(String),
    /// This kind, server or build cannot do that.
    #[error("{0}")]
    Unsupported(String),
    /// The client was closed.
    #[error("the client of {server} is closed; connect a new one")]
    Closed { server: String },
    /// The caller gave up; nothing is held.
    #[error("cancelled")]
    Cancelled,
}

/// What is to be done where the cause itself does not say it.
fn check(cause: &str) -> &'static str {
    let why = cause.split(NO_ANSWER).next().unwrap_or_default();
    if why.contains("; ") { "" } else { "; check that it runs and that the address is right" }
}

/// The words of the server, and the remedy where the server names none.
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

/// Codes by which a server says that it runs nothing just then.
const TRANSIENT: [&str; 7] = ["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "NOREPLICAS"];

/// Behind the cause of an [`Error::Unavailable`] that a wait has ended with.
const NO_ANSWER: &str = "; no answer came during the wait of ";

impl Error {
    pub fn config(message: impl Into<String>) -> Self {
        Error::Config(message.into())
    }

    /// Whether the same call may be answered a little later. What is refused so has not been carried out, not even half of it.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Error::Unavailable { .. } => true,
            Error::Refused { code, .. } => TRANSIENT.contains(&code.as_str()),
            _ => false,
        }
    }

    /// The same, as the end of a wait in which no server answered.
    pub(crate) fn during(self, wait: Option<Duration>) -> Self {
        match (self, wait) {
            (Error::Unavailable { server, cause, timeout }, Some(wait)) => {
                // Of a wait that was a part of another one, the whole counts.
                let cause = cause.split(NO_ANSWER).next().unwrap_or_default();
                Error::Unavailable { server, cause: format!("{cause}{NO_ANSWER}{wait:?}"), timeout }
            }
            (error, _) => error,
        }
    }

    /// The same, in which a lock has the name that the program gave it: without the client's prefix.
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
            Error::NotSynced { lock, confirmed, expected, because } => Error::NotSynced { lock: plain(lock), confirmed, expected, because },
            Error::Refused { what, code, message } => Error::Refused { what: what.replacen(&format!("`{prefix}"), "`", 1), code, message },
            error => error,
        }
    }

    /// The stable name, for logs and bindings.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NotHeld { .. } | Error::Released { .. } | Error::Inherited { .. } | Error::NoPermit { .. } => "not_held",
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

    /// The stable number that crosses a language border. 0 is done, 1 not now, 2 pending.
    pub fn number(&self) -> i32 {
        match self {
            Error::NotHeld { .. } | Error::Released { .. } | Error::Inherited { .. } | Error::NoPermit { .. } => 10,
            Error::Lost(_) => 11,
            Error::NotAcquired { .. } => 12,
            Error::Unavailable { timeout: false, .. } => 13,
            Error::Unavailable { timeout: true, .. } => 20,
            Error::NotSynced { .. } => 14,
            Error::Refused { .. } => 15,
            Error::Config(_) => 16,
            Error::Unsupported(_) => 17,
            Error::Closed { .. } => 18,
            Error::Cancelled => 19,
            Error::AlreadyHeld { .. } => 21,
        }
    }
}
