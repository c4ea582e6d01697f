//! What a kind of lock is: which script carries out each operation, and how a waiter hears of a release.
//! A kind is a table: it holds no connection, no clock and no state.

use crate::command::Op;
use crate::owner::OwnerField;
use crate::script::Call;

mod fair;
mod fenced;
mod non_reentrant;
mod plain;
mod read_write;
mod spin;
mod token;

#[doc(hidden)]
pub trait Kind: Send + Sync {
    /// The call that carries out `op`; `None`: this kind has no such operation.
    fn call(&self, op: Op, cx: &Cx) -> Option<Call>;
    /// The call by which a waiter gives up its place in the server's queue; `None`: this kind has none.
    fn leave(&self, _: &Cx) -> Option<Call> {
        None
    }
    /// One call that renews many holds, or looks at them (a lease of 0); `None`: this kind is not renewed.
    fn renew(&self, holds: &[Renewal]) -> Option<Call>;
    /// How a waiter hears of a release. `owner` as in [`Cx::owner`].
    fn wake(&self, name: &str, owner: &str) -> Wake;
}

/// What every kind can be asked about, for the documentation and the contract tests.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    pub name: &'static str,
    /// The owner may take it again while holding it.
    pub reentrant: bool,
    /// Holds without a lease of their own are renewed.
    pub renewed: bool,
    /// Whoever has waited longest gets it next, in whichever process.
    pub fair: bool,
    /// Each hold has a number greater than all before it.
    pub fenced: bool,
    /// One owner at a time.
    pub exclusive: bool,
    /// Redisson has it too.
    pub redisson: bool,
    /// How the waiters of one client wait.
    pub queue: Queue,
}

/// How the waiters of one client for one lock wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// In one line: its head alone asks the server, and a release passes the hold on to it.
    Passing,
    /// Each owner for itself: the server decides who is next, or several may be.
    Alone,
}

/// Every kind there is.
pub static ALL: &[(Traits, &dyn Kind)] = &[
    (PLAIN, &plain::Plain),
    (Traits { name: "spin", ..PLAIN }, &spin::Spin),
    (Traits { name: "non_reentrant", reentrant: false, ..PLAIN }, &non_reentrant::NonReentrant),
    (Traits { name: "fenced", fenced: true, ..PLAIN }, &fenced::Fenced),
    (FAIR, &fair::Fair { reentrant: true }),
    (Traits { name: "non_reentrant_fair", reentrant: false, ..FAIR }, &fair::Fair { reentrant: false }),
    (Traits { name: "read", exclusive: false, queue: Queue::Alone, ..PLAIN }, &read_write::Read),
    (Traits { name: "write", ..PLAIN }, &read_write::Write),
    (Traits { name: "token", reentrant: false, redisson: false, ..PLAIN }, &token::Token),
];

const PLAIN: Traits = Traits {
    name: "plain",
    reentrant: true,
    renewed: true,
    fair: false,
    fenced: false,
    exclusive: true,
    redisson: true,
    queue: Queue::Passing,
};
const FAIR: Traits = Traits { name: "fair", fair: true, queue: Queue::Alone, ..PLAIN };

/// A row of the table.
pub(crate) type Row = &'static (Traits, &'static dyn Kind);

/// A kind's name as the table has it, for `Request::kind`.
///
/// # Errors
/// `Error::Unsupported` for a kind that this build does not have.
pub fn name_of(name: &str) -> crate::Result<&'static str> {
    let unknown =
        || crate::Error::Unsupported(format!("the kind `{name}` is unknown to this native library; use the one of the same release"));
    ALL.iter().map(|(traits, _)| traits.name).find(|known| *known == name).ok_or_else(unknown)
}

pub(crate) fn find(name: &str) -> Option<Row> {
    ALL.iter().find(|(traits, _)| traits.name == name)
}

/// What a call may need to know.
#[doc(hidden)]
pub struct Cx<'a> {
    /// The raw name: prefix and all.
    pub name: &'a str,
    /// The owner's field, `<client uuid>:<number>`.
    pub owner: &'a str,
    pub lease_ms: u64,
    /// Whether whoever acquires waits if it must.
    pub waits: bool,
    /// Whether it waits until it gets it.
    pub forever: bool,
    /// The count that an acquire gives the owner.
    pub want: u32,
    /// The count that a release leaves the owner.
    pub leave: u32,
    /// Whom a release passes the lock on to, for how many ms; an empty owner: nobody.
    pub next: (&'a str, u64),
    /// Whom a forced release evicts.
    pub holder: &'a str,
    /// `PUBLISH` or `SPUBLISH`.
    pub publish: &'static str,
}

/// One hold to renew.
#[doc(hidden)]
pub struct Renewal<'a> {
    pub name: &'a str,
    pub owner: OwnerField<'a>,
    pub lease_ms: u64,
}

/// How a waiter hears that it is worth trying again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct Wake {
    /// A message on this channel; `None`: there is none.
    pub channel: Option<String>,
    /// It also tries by itself, after delays of so many ms, the last of them again and again; none: it does not. A request may bring others.
    pub delays: &'static [u64],
}

impl Wake {
    pub(crate) fn message(channel: String) -> Self {
        Wake { channel: Some(channel), delays: &[] }
    }
}

/// `p:{name}`, or `p:name` when the name brings braces of its own: in a cluster both stay in the slot of `name`.
pub(crate) fn prefixed(prefix: &str, name: &str) -> String {
    if name.contains('{') { format!("{prefix}:{name}") } else { format!("{prefix}:{{{name}}}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CX: Cx = Cx {
        name: "n",
        owner: "u:1",
        lease_ms: 1,
        waits: true,
        forever: true,
        want: 1,
        leave: 0,
        next: ("", 0),
        holder: "u:2",
        publish: "PUBLISH",
    };

    #[test]
    fn every_call_names_its_inputs_as_its_script_does() {
        for (traits, kind) in ALL {
            for op in [Op::Acquire, Op::Release, Op::ForceRelease, Op::Inspect] {
                kind.call(op, &CX).unwrap_or_else(|| panic!("{} cannot {op:?}", traits.name)).assert_names_agree();
            }
            let holds = [("a", 1), ("b", 2)].map(|(name, owner)| Renewal { name, owner: OwnerField("u", owner), lease_ms: 1 });
            if let Some(call) = kind.leave(&CX) {
                call.assert_names_agree();
            }
            assert_eq!(kind.renew(&holds).is_some(), traits.renewed);
            if let Some(call) = kind.renew(&holds) {
                call.assert_names_agree();
            }
        }
    }

    #[test]
    fn companions_stay_in_the_slot_of_the_name() {
        assert_eq!(prefixed("p", "n"), "p:{n}");
        assert_eq!(prefixed("p", "a{b}c"), "p:a{b}c");
    }
}
