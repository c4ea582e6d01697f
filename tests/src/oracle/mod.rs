//! Four statements that hold at every moment, for every kind. Each [`crate::Server`] checks them by itself in every
//! test:
//!
//! - **(a)** no holder believes in its hold for longer than its key lives on the server. After a change by another
//!   actor (a `DEL`, a forced release, an emptied server) the statement holds from the signal of the loss on. Until
//!   then the belief may run out, but nothing may prolong it.
//! - **(b)** no key of redlatch is without an end, apart from the list in [`endless`].
//! - **(c)** the fencing tokens of a name only grow, and none is given out twice, while the server keeps its data.
//! - **(d)** after the last client is gone, and a lease has passed, the server has no key of redlatch outside that
//!   list, and nothing was renewed.
//!
//! The clients of this process report their beliefs ([`news`], [`book`]), and so do the Rust processes that it starts
//! ([`abroad`]). A thread beside each server ([`sampler`]) reads the server's state ([`probe`]) over a connection of
//! its own, and compares. Of clients in other languages it sees only the keys, so that (b), (d) and the counters of (c)
//! hold for them too. With each grant their agents say until when their language calls the hold certain, and the suite
//! compares that with the server once ([`answers`]). A violation ends the test: the server's end panics with the
//! statement and the hold.
//!
//! A test that breaks a statement on purpose says so, with the reason: [`crate::Server::exempt`].

mod abroad;
mod answers;
mod book;
pub mod endless;
mod last_look;
pub mod news;
pub(crate) mod places;
mod probe;
mod sampler;
mod tokens;
pub mod watch;

use std::time::Duration;

pub use abroad::tell_the_rig;
pub(crate) use abroad::{are_all_noted, words};
pub use answers::kept_until;
pub use book::{Change, Key, What, believed_until};
pub use news::{Heard, hear, hear_beliefs, without_spans};
pub use watch::Watch;

/// The time between two looks at the beliefs.
const BEAT: Duration = Duration::from_millis(10);
/// The time between two looks at all keys.
const SWEEP: Duration = Duration::from_millis(100);
/// For how long a key may be without an end. A script that was refused a right halfway leaves a key that its client
/// removes at once.
const GIVEN_BACK: Duration = Duration::from_secs(2);
/// How much too long a belief may be in one look. The server counts whole ms, and its clock stands still while it
/// carries out a script.
pub(crate) const ROUNDING: Duration = Duration::from_millis(3);
/// How long a belief must stay too long before it is a violation, unless the key ends first. A thread may be between
/// two reports of one change.
pub(crate) const SETTLED: Duration = Duration::from_millis(60);
/// How long the end of a server waits for the keys of clients that are gone. A key with a longer lease only needs an
/// end; tests/nets waits for that end.
const LAST_LEASE: Duration = Duration::from_secs(2);

/// One of the statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    Belief,
    Ends,
    Tokens,
    Nothing,
}

impl Statement {
    fn letter(self) -> char {
        match self {
            Statement::Belief => 'a',
            Statement::Ends => 'b',
            Statement::Tokens => 'c',
            Statement::Nothing => 'd',
        }
    }
}

/// A statement that did not hold, and the name of its lock or key.
#[derive(Clone, Debug)]
pub struct Violation {
    pub statement: Statement,
    /// The name of the lock, or the key.
    pub name: String,
    pub text: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}) {}", self.statement.letter(), self.text)
    }
}
