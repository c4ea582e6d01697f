//! A kind of lock: the script for each operation, and the way in which a waiter hears of a release. A kind is a table:
//! it holds no connection, no clock and no state.

use std::fmt::{Debug, Display, Formatter};

use crate::redis::kinds::script::{Call, Script};
use crate::request::error::{Error, Result};
use crate::request::names::{LEADER, LEADER_WATCH, shown};
use crate::request::{Op, Request};

mod fair;
mod fenced;
mod latch;
mod leader;
pub mod multi;
mod non_reentrant;
mod permit_semaphore;
mod plain;
mod read_write;
pub(crate) mod reply;
pub(crate) mod script;
mod semaphore;
mod spin;
mod texts;
mod token;

use crate::engine::traits::PLAIN;
pub use crate::engine::traits::{Queue, Traits};

/// The calls of a kind, for its row in [`ALL`].
pub trait Kind: Send + Sync {
    /// Refuses numbers that no server should see.
    fn check(&self, _: &Request) -> Result<()> {
        Ok(())
    }
    /// The call for `op`; `None`: this kind does not have the operation.
    fn call(&self, op: Op, inputs: &Inputs) -> Option<Call>;
    /// The call that puts the field of `next_owner` in the place of the owner's; `None`: this kind has no such field.
    fn take_grip(&self, inputs: &Inputs) -> Option<Call> {
        self.call(Op::Release, inputs)
    }
    /// The call that gives up a waiter's place in the server's queue; `None`: this kind has no queue there.
    fn leave(&self, _: &Inputs) -> Option<Call> {
        None
    }
    /// The call that takes back the permits of an acquire without a known outcome; `None`: there is nothing to take
    /// back.
    fn undo(&self, _: &Inputs) -> Option<Call> {
        None
    }
    /// The number of permits that a waiter wants at once. `numbers` as in [`Inputs::numbers`].
    fn wants(&self, _numbers: &[i64]) -> u64 {
        1
    }
    /// The name of what an acquire has taken, if it has one: the first permit's id in two halves. `owner` as in
    /// [`Inputs::owner`].
    fn named(&self, _owner: &str) -> Vec<i64> {
        Vec::new()
    }
    /// A call that gives this lease to the holds which [`Kind::renew_also`] adds to it, or with a lease of 0 looks at
    /// them; `None`: the watchdog does not renew this kind. Without `exact` the call shortens nothing, so that a late
    /// copy does no harm.
    fn renew(&self, _client: &str, _lease_ms: u64, _exact: bool) -> Option<Call> {
        None
    }
    /// Adds a hold to a call of [`Kind::renew`].
    fn renew_also(&self, call: &mut Call, _client: &str, name: &str, owner: i64) {
        call.also("locks…", name, "owners…", itoa::Buffer::new().format(owner).as_bytes());
    }
    /// All keys of a name; the key with that name comes first.
    fn keys(&self, name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }
    /// The key that decides whether a hold lasts, if that is not its name; holds of other names may share it.
    fn shared_key(&self, _name: &str) -> Option<String> {
        None
    }
    /// The way in which a waiter hears of a release. `owner` as in [`Inputs::owner`].
    fn wake(&self, name: &str, owner: &str) -> Wake;
}

/// A row of the table of kinds: its features, and its scripts.
pub struct KindRow {
    /// Its features.
    pub traits: Traits,
    /// Its calls.
    pub kind: &'static dyn Kind,
}

impl KindRow {
    /// The other kinds of locks with owners whose keys have the same form: a name may be of several of them.
    pub(crate) fn sharers(&self) -> impl Iterator<Item = &'static KindRow> {
        let Traits { name, form, held, .. } = self.traits;
        rows().filter(move |row| held && row.traits.held && row.traits.form == form && row.traits.name != name)
    }
}

impl Debug for KindRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KindRow").field("traits", &self.traits).finish_non_exhaustive()
    }
}

/// All kinds that a program takes by their names.
pub static ALL: &[KindRow] = &[
    KindRow { traits: PLAIN, kind: &plain::Plain },
    // Its waiters of other clients poll: they would never find it free.
    KindRow { traits: Traits { name: "spin", queue: Queue::Passing, ..PLAIN }, kind: &spin::Spin },
    KindRow { traits: Traits { name: "non_reentrant", reentrant: false, ..PLAIN }, kind: &non_reentrant::NonReentrant },
    KindRow { traits: Traits { name: "fenced", fenced: true, ..PLAIN }, kind: &fenced::Fenced },
    KindRow { traits: FAIR, kind: &fair::Fair { reentrant: true } },
    KindRow {
        traits: Traits { name: "non_reentrant_fair", reentrant: false, ..FAIR },
        kind: &fair::Fair { reentrant: false },
    },
    KindRow {
        traits: Traits { name: "read", exclusive: false, queue: Queue::Alone, form: READ_WRITE, ..PLAIN },
        kind: &read_write::Read,
    },
    KindRow { traits: Traits { name: "write", form: READ_WRITE, ..PLAIN }, kind: &read_write::Write },
    KindRow {
        // Other libraries delete the key by the value that names its owner.
        traits: Traits {
            name: "token",
            reentrant: false,
            redisson: false,
            queue: Queue::Passing,
            form: "a text with an end",
            ..PLAIN
        },
        kind: &token::Token,
    },
    KindRow {
        traits: Traits { name: "multi", queue: Queue::Line, form: "a group of values", ..PLAIN },
        kind: &multi::Multi,
    },
    KindRow { traits: PERMITS, kind: &semaphore::Semaphore },
    KindRow {
        traits: Traits { name: "latch", queue: Queue::Alone, form: "a number, zero or more", ..PERMITS },
        kind: &latch::Latch,
    },
    KindRow { traits: Traits { name: "permit_semaphore", ..PERMITS }, kind: &permit_semaphore::Permits },
    KindRow {
        traits: Traits { name: "permit", held: true, renewed: true, redisson: false, ..PERMITS },
        kind: &permit_semaphore::Permit,
    },
];

/// The kinds behind [`crate::Leader`], which no program takes as locks.
pub static LEADERS: &[KindRow] = &[
    KindRow {
        traits: Traits { name: LEADER, fenced: true, reentrant: false, redisson: false, queue: Queue::Line, ..PLAIN },
        kind: &leader::Leader,
    },
    KindRow {
        traits: Traits { name: LEADER_WATCH, queue: Queue::Alone, form: "a lock", ..PERMITS },
        kind: &leader::Watch,
    },
];

const READ_WRITE: &str = "a read-write lock";
const FAIR: Traits = Traits { name: "fair", fair: true, queue: Queue::Alone, ..PLAIN };

const PERMITS: Traits = Traits {
    name: "semaphore",
    held: false,
    reentrant: false,
    renewed: false,
    exclusive: false,
    queue: Queue::Line,
    form: "a number",
    ..PLAIN
};

/// The most permits with ids that one call takes: the call contains all their ids.
pub(crate) const PERMITS_AT_ONCE: i64 = 10_000;

/// The table's own text of a kind's name, for `Request::kind`.
///
/// # Errors
/// `Error::Unsupported` for a kind that this build does not have.
pub fn name_of(name: &str) -> Result<&'static str> {
    let unknown = || {
        Error::Unsupported(format!(
            "the kind `{name}` is unknown to this native library; use the one of the same release"
        ))
    };
    find(name).map(|row| row.traits.name).ok_or_else(unknown)
}

pub(crate) fn find(name: &str) -> Option<&'static KindRow> {
    rows().find(|row| row.traits.name == name)
}

fn rows() -> impl Iterator<Item = &'static KindRow> {
    ALL.iter().chain(LEADERS)
}

/// The inputs that a call may need.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The name on the server, with the prefix.
    pub name: &'a str,
    /// The owner's field, `<client uuid>:<number>`.
    pub owner: &'a str,
    /// The lease of an acquire, and of the holds that a release leaves.
    pub lease_ms: u64,
    /// The time for which a client of Redisson stands in the queue of a fair lock.
    pub share_ms: u64,
    /// Whether the acquire waits if the lock is taken.
    pub waits: bool,
    /// Whether the acquire waits without end.
    pub forever: bool,
    /// The count that an acquire gives the owner.
    pub want: u32,
    /// The number of tokens to draw for waiters of the client, see `fenced`.
    pub spare: u32,
    /// The count that a release leaves the owner.
    pub leave: u32,
    /// The owner that a release passes the lock on to; empty: there is none.
    pub next_owner: &'a str,
    /// The lease of that owner.
    pub next_lease_ms: u64,
    /// The owner that a forced release evicts.
    pub holder: &'a str,
    /// The numbers of the request, see [`Op`].
    pub numbers: &'a [i64],
    /// The texts of the request, see [`Op`].
    pub texts: &'a [Vec<u8>],
    /// The key that remembers a call without another trace.
    pub request: String,
    /// The time in ms that it does.
    pub keep_ms: u64,
}

impl Inputs<'_> {
    /// The number at this place, 0 if the request has none.
    pub(crate) fn number(&self, at: usize) -> i64 {
        self.numbers.get(at).copied().unwrap_or_default()
    }

    /// The text at this place, empty if the request has none.
    pub(crate) fn text(&self, at: usize) -> &[u8] {
        self.texts.get(at).map_or(&[], Vec::as_slice)
    }

    /// A call about the key `what`; the server remembers its outcome until the client knows it.
    pub(crate) fn once(&self, script: &'static Script, what: &str) -> Call {
        Call::new(script).key(what, self.name).key("request", &self.request).remembered(&self.request)
    }

    /// The same call, with a message to the waiters on `channel`; empty: none listens.
    pub(crate) fn to_waiters(&self, call: Call, channel: impl Display) -> Call {
        call.publish().arg("channel", channel)
    }
}

/// The call of a script that renews many holds; `role` is the text behind an owner's number in its field.
pub(crate) fn renewal(script: &'static Script, client: &str, lease_ms: u64, role: &str, exact: bool) -> Call {
    Call::new(script)
        .arg("client", client)
        .arg("role", role)
        .arg("lease", lease_ms)
        .arg("exact", u8::from(exact))
        .not_after()
}

/// Refuses a first number below `least`.
pub(crate) fn at_least(least: i64, what: &str, request: &Request) -> Result<()> {
    match request.numbers.first() {
        Some(number) if *number >= least => Ok(()),
        number => {
            let given = number.copied().unwrap_or_default();
            Err(Error::config(format!("the {what} of `{}` must be {least} or more, not {given}", request.name)))
        }
    }
}

/// The error of a lock whose key has `found`, another form of value than its kind keeps there.
pub(crate) fn wrong_kind(traits: &Traits, lock: &str, found: Option<&str>) -> Error {
    let found = found.unwrap_or("something else");
    let name = traits.name;
    let form = traits.form;
    let message = format!(
        "the key has {found}, the kind {name} keeps {form} there; use another name, or delete the key if it is of no use"
    );
    Error::refused(format!("`{}`", shown(lock)), "WRONGTYPE", message)
}

/// The ways in which a waiter hears that another try is worthwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// A message on this channel; `None`: there is none.
    pub channel: Option<String>,
    /// Delays in ms after which the waiter also tries by itself; it repeats the last one. Empty: it does not. A request
    /// may bring others.
    pub delays: &'static [u64],
}

impl Wake {
    pub(crate) fn message(channel: String) -> Self {
        Wake { channel: Some(channel), delays: &[] }
    }
}

/// `p:{name}`, or `p:name` if the name has braces of its own: in a cluster both stay in the slot of `name`.
pub(crate) fn prefixed(prefix: &str, name: &str) -> String {
    if name.contains('{') { format!("{prefix}:{name}") } else { format!("{prefix}:{{{name}}}") }
}

#[cfg(test)]
mod tests;
