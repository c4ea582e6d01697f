//! The one error type, with a stable number and name for each case. A lock that is not free in time is an answer of the
//! server, and an error only for a caller that asked for a guard.

use std::sync::Arc;
use std::time::Duration;

use crate::request::names::{shown, without};

/// The result of a call: its value, or an [`Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a hold ended without a release.
///
/// ```
/// assert_eq!(redlatch::LostReason::ServerLostData.to_string(), "server lost its data");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The session by which the client held the lock is over: its connection broke, an administrator ended it, or the
    /// server restarted. Only systems with sessions have this.
    SessionEnded = 8,
}

impl LostReason {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [LostReason; 8] = [
        LostReason::Expired,
        LostReason::TakenOver,
        LostReason::Deleted,
        LostReason::Closed,
        LostReason::ServerLostData,
        LostReason::Partitioned,
        LostReason::Paused,
        LostReason::SessionEnded,
    ];

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
            LostReason::SessionEnded => "session ended",
        }
    }
}

/// As [`LostReason::name`].
impl std::fmt::Display for LostReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The story of a lost hold. The times are ages at the moment when the caller asks. Its text tells all of it.
///
/// ```no_run
/// # async fn example(guard: redlatch::Guard) {
/// if let Some(loss) = guard.lost().await {
///     eprintln!("{loss}"); // for an alert: which lock, why, and the times
///     assert!(loss.noticed <= loss.acquired);
/// }
/// # }
/// ```
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
        write!(f, "`{}` is lost to {}: {} (acquired {acquired} ago, ", shown(&self.lock), self.owner, self.reason)?;
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

/// All errors. A text is whole: it names the lock in backticks, the present state and the remedy, and has the cause in
/// words.
///
/// An `Unavailable` and a `Refused` have a [`source`](std::error::Error::source) wherever there is one: the system's
/// [`std::io::Error`], or the server's [`ServerError`]. A report that prints the chain of sources says little twice: a
/// `ServerError` shows its code alone, and the text of an `io::Error` stands in ours only in brackets, where our own
/// words say less. No text and no source has a password.
///
/// ```no_run
/// # use redlatch::{Client, Error};
/// # async fn example(client: Client) -> redlatch::Result<()> {
/// match client.lock("orders:42").wait(std::time::Duration::from_secs(5)).acquire().await {
///     Ok(guard) => guard.release().await,
///     Err(Error::NotAcquired { .. }) => Ok(println!("another owner has it; try later")),
///     Err(error) if error.is_transient() => Ok(println!("no answer now: {error}")),
///     Err(error) => Err(error),
/// }
/// # }
/// ```
///
/// A later release may add errors, and fields to these.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The owner releases or extends a lock that it does not hold. Nothing has changed. Release each acquire once.
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
    /// The caller releases the same hold a second time. The lock is free, or ends with its lease if the first release
    /// went unanswered. Release each hold once.
    #[error(
        "`{}` was released already by this hold, or that release went unanswered and it ends with its lease; release each hold once",
        shown(lock)
    )]
    #[non_exhaustive]
    Released {
        /// The lock's name, without the client's prefix.
        lock: String,
    },
    /// A forked child uses its copy of its parent's hold. The parent still holds the lock. Acquire it in the child.
    #[error("`{}` is held by the process that forked this one; acquire it here as well", shown(lock))]
    #[non_exhaustive]
    Inherited {
        /// The lock's name, without the client's prefix.
        lock: String,
    },
    /// The hold ended before its release. The owner holds the lock no longer, and another owner may have held it
    /// meanwhile: see to the work that it guarded. The [`LostReason`] tells why.
    #[error("{0}; the work that it guarded may have been done twice")]
    Lost(Box<Loss>),
    /// The owner has the lock and asks for more than its kind allows: for a second hold, or to write while it reads. It
    /// keeps the hold that it has. Release that first.
    #[error("`{}` is already held by {owner}, and cannot be taken once more that way; release it first", shown(lock))]
    #[non_exhaustive]
    AlreadyHeld {
        /// The lock's name, without the client's prefix.
        lock: String,
        /// The owner's name in Redis, `<client uuid>:<number>`.
        owner: String,
    },
    /// The wait ran out while another owner had the lock, or while its server was in
    /// [quarantine](crate::Config::quarantine): then the error is [transient](Error::is_transient). The caller holds
    /// nothing. Wait longer, or do without. Only calls that promise a hold give this error.
    #[error("`{}` was not acquired within {waited:?}; {because}", shown(lock))]
    #[non_exhaustive]
    NotAcquired {
        /// The lock's name, without the client's prefix.
        lock: String,
        /// The wait that the caller asked for.
        waited: Duration,
        /// The obstacle and the remedy, in words.
        because: &'static str,
    },
    /// The caller releases a permit by an id that is not out. Nothing has changed. Take a new one.
    #[error("`{lock}` has no permit {permits} out: it was given back, has ended, or never was; take a new one")]
    #[non_exhaustive]
    NoPermit {
        /// The semaphore's name.
        lock: String,
        /// The id; of several at once all of them, because the server does not say which.
        permits: String,
    },
    /// No server can be reached in time, or none answers in time. An acquire holds nothing: the client gives back a
    /// lock that it may have taken. After a release the lock is free, or ends with its lease. A call to a semaphore or a
    /// latch that has no owner may have had its effect. Repeat the call, after a look at the server or its address.
    #[error("{server} {cause}{}", check(cause))]
    #[non_exhaustive]
    Unavailable {
        /// The server's address, without user and password.
        server: String,
        /// The trouble in words, mostly with the remedy.
        cause: String,
        /// Whether the time was over: the server may be slow. Else the connection failed, or the server cannot serve.
        timeout: bool,
        /// The system's error, if there is one.
        source: Option<Source>,
    },
    /// The replicas did not confirm the lock in time, see [`crate::SyncPolicy`]. The caller holds nothing: the client
    /// gives the lock back. Look at the replicas, or give them longer.
    #[error("`{}` was confirmed by {confirmed} of {expected} {because}", shown(lock))]
    #[non_exhaustive]
    NotSynced {
        /// The lock's name, without the client's prefix.
        lock: String,
        /// The replicas that confirmed the lock.
        confirmed: u32,
        /// The replicas that the policy demands.
        expected: u32,
        /// The rest of the message: how long they had, and the remedy.
        because: String,
    },
    /// The server refused a command. A refused acquire holds nothing. After a refused release nothing renews the lock,
    /// and it ends with its lease. The code tells the case, and the message has the remedy where there is one.
    #[error("the server refused {what}: {code} {}", remedied(code, message))]
    #[non_exhaustive]
    Refused {
        /// The call that the server refused, with the lock's name in backticks.
        what: String,
        /// The server's code: `NOAUTH`, `NOPERM`, `OOM`, `READONLY`, `WRONGTYPE`, ….
        code: String,
        /// The server's words, with the remedy where the words have none.
        message: String,
        /// The server's reply. `None`: a script of ours found the mistake.
        source: Option<Source>,
    },
    /// A URL, option, name or number is not valid. Nothing was sent. The text names the value and the remedy.
    #[error("{0}")]
    Config(String),
    /// This kind, server or build does not have the operation. Nothing has changed. The text says what does have it.
    #[error("{0}")]
    Unsupported(String),
    /// The program has closed the client. The caller holds nothing new; holds have ended as
    /// [`Client::close`](crate::Client::close) says. Connect a new client.
    #[error("the client of {server} is closed; connect a new one")]
    #[non_exhaustive]
    Closed {
        /// The server's address, without user and password.
        server: String,
    },
    /// The caller cancelled the request. It holds nothing.
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

/// The error below an [`Error`]. A clone is cheap.
///
/// ```
/// # fn example(error: &redlatch::Error) {
/// let source = std::error::Error::source(error);
/// let kind = source.and_then(|source| source.downcast_ref::<std::io::Error>()).map(|error| error.kind());
/// let reply = source.and_then(|source| source.downcast_ref::<redlatch::ServerError>()).map(|error| error.reply());
/// # }
/// ```
#[derive(Clone)]
pub struct Source(Arc<dyn std::error::Error + Send + Sync>);

impl Source {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Source(Arc::new(error))
    }

    pub(crate) fn shared(error: &Arc<dyn std::error::Error + Send + Sync>) -> Self {
        Source(error.clone())
    }
}

impl std::ops::Deref for Source {
    type Target = dyn std::error::Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A server's reply that is an error: the source of an [`Error::Refused`]. Its text is the code alone, since the text of
/// the [`Error`] has the words. [`Source`] shows how to get it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error reply {code}")]
pub struct ServerError {
    code: String,
    reply: String,
}

impl ServerError {
    /// `reply`: without the arguments of a command, see `refusal::without_arguments`.
    pub(crate) fn new(code: &str, reply: &str) -> Self {
        ServerError { code: code.to_owned(), reply: reply.to_owned() }
    }

    /// The first word of the reply: `NOAUTH`, `OOM`, `ERR`, ….
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The words behind the code, as the server sent them. Only arguments of commands are left out, which may be a
    /// password.
    pub fn reply(&self) -> &str {
        &self.reply
    }
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
        "NOREPLICAS" => "connect more replicas to it, or lower its `min-replicas-to-write`",
        "MISCONF" => "find out why it cannot write to its disk",
        _ if is_full(code, message) => "raise its `maxclients`, or have fewer clients",
        _ => return message.to_owned(),
    };
    format!("{}; {remedy}", message.trim_end_matches('.'))
}

/// Tells whether the server has no room for one more connection: it says so without a code of its own.
fn is_full(code: &str, message: &str) -> bool {
    code == "ERR" && message.starts_with("max number of clients")
}

/// The obstacle of an [`Error::NotAcquired`] whose server was in quarantine.
pub(crate) const IN_QUARANTINE: &str = "its server may have lost locks, and grants none until their holders must have noticed (the option quarantine); try later";

/// The first words of servers that do not let a user run a script, or name its keys: of Redis 7 and 8 and Valkey, and of Redis 6.
const NO_CALL: [&str; 3] = ["User ", "No permissions to access a key", "this user has no permissions"];

/// Codes with which a server refuses all work for the moment.
const TRANSIENT: [&str; 7] = ["LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "NOREPLICAS"];

/// The words behind the cause of an [`Error::Unavailable`] that ended a wait.
const NO_ANSWER: &str = "; no answer came during the wait of ";

/// A sentence that names a lock, without the client's prefix before that name.
fn unquoted(sentence: &str, prefix: &str) -> String {
    sentence.replacen(&format!("`{prefix}"), "`", 1)
}

impl Error {
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Error::Config(message.into())
    }

    /// An `Unavailable` without a source.
    pub(crate) fn unavailable(server: impl Into<String>, cause: impl Into<String>, timeout: bool) -> Self {
        Error::Unavailable { server: server.into(), cause: cause.into(), timeout, source: None }
    }

    /// A `Refused` without a source.
    pub(crate) fn refused(what: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Refused { what: what.into(), code: code.into(), message: message.into(), source: None }
    }

    /// The same error with that source, if it is of a case that has one.
    pub(crate) fn because_of(mut self, error: Option<Source>) -> Self {
        if let Error::Unavailable { source, .. } | Error::Refused { source, .. } = &mut self {
            *source = error;
        }
        self
    }

    /// Tells whether the servers are the trouble, and the same call may succeed a little later:
    ///
    /// - `Unavailable`: no server was reached, or none answered in time;
    /// - `NotSynced`: the replicas were late;
    /// - `Refused`, if the server refuses all work for the moment: it loads its data, runs a long script, has just
    ///   become a replica, has no room for one more connection, or its cluster is not complete;
    /// - `NotAcquired`, if the server was in quarantine.
    ///
    /// The client has repeated the call already, for as long as `retry_for` and the wait allow. A wrong address or an
    /// untrusted certificate is an `Unavailable` as well, so give a loop around the call an end. Any other `NotAcquired`
    /// is not transient: the server answers, and another owner has the lock.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::NotSynced { .. } => true,
            Error::NotAcquired { because, .. } => *because == IN_QUARANTINE,
            error => error.is_for_now(),
        }
    }

    /// Tells whether no server does any work for the moment. The server has carried out no part of a call that it
    /// refused in this way.
    pub(crate) fn is_for_now(&self) -> bool {
        match self {
            Error::Unavailable { .. } => true,
            Error::Refused { code, message, .. } => TRANSIENT.contains(&code.as_str()) || is_full(code, message),
            _ => false,
        }
    }

    /// Tells whether the server has refused a call before its script began: the user may not log in, or may not run scripts on these
    /// keys. Inside a script the words about a missing right are others.
    pub(crate) fn is_before_script(&self) -> bool {
        let Error::Refused { code, message, .. } = self else { return false };
        let is_call = NO_CALL.iter().any(|said| message.starts_with(said));
        matches!(code.as_str(), "NOAUTH" | "WRONGPASS") || (code == "NOPERM" && is_call)
    }

    /// The same error, as the end of a wait in which no server answered; `None`: the caller's own wait has not ended.
    pub(crate) fn during(self, wait: Option<Duration>) -> Self {
        match (self, wait) {
            (Error::Unavailable { server, cause, timeout, source }, Some(wait)) => {
                // If the wait was part of another wait, only the outer one counts.
                let cause = cause.split(NO_ANSWER).next().unwrap_or_default();
                Error::Unavailable { server, cause: format!("{cause}{NO_ANSWER}{wait:?}"), timeout, source }
            }
            (Error::Unavailable { server, cause, timeout, source }, None) => {
                let cause = cause.split(NO_ANSWER).next().unwrap_or_default().to_owned();
                Error::Unavailable { server, cause, timeout, source }
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
            Error::Refused { what, code, message, source } => {
                Error::Refused { what: unquoted(&what, prefix), code, message, source }
            }
            Error::Unavailable { server, cause, timeout, source } => {
                Error::Unavailable { server, cause: unquoted(&cause, prefix), timeout, source }
            }
            Error::Unsupported(what) => Error::Unsupported(unquoted(&what, prefix)),
            error => error,
        }
    }

    /// The stable name of the error, for logs and bindings. Cases that a program treats alike share one: `NotHeld`,
    /// `Released`, `Inherited` and `NoPermit` are `not_held`. Each other case has a name of its own.
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
