//! Four statements that hold at every moment, for every kind. Each [`crate::Server`] watches over them by itself, whatever the test is about:
//!
//! - **(a)** no hold is believed in for longer than its key lives on the server. After a change by another actor (a `DEL`, a forced release, an
//!   emptied server) that is so from the signal of the loss on; until then the belief may run out, but nothing may prolong it.
//! - **(b)** no key of ours is without an end, but for those of the list in [`endless`].
//! - **(c)** the fencing tokens of a name only grow, and none is given out twice, while the server keeps its data.
//! - **(d)** after the last client is gone, and a lease has passed, nothing of ours but that list is on the server, and nothing was renewed.
//!
//! The clients of this process say what they believe ([`news`], [`book`]), and so do those of processes in Rust that it starts ([`abroad`]); a
//! thread beside each server ([`sampler`]) reads what the server has of it ([`probe`]) over a connection of its own, and compares. Of clients
//! in other languages it sees the keys, so that (b), (d) and the counters of (c) hold for them too. A violation ends the test: the server's end is a panic that says which statement, of which hold.
//!
//! A test that breaks a statement on purpose says so, with the reason: [`crate::Server::exempt`].

mod abroad;
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
pub(crate) use abroad::words;
pub use book::{Key, believed_until};
pub use news::hear;
pub use watch::Watch;

/// Between two looks at what is believed.
const BEAT: Duration = Duration::from_millis(10);
/// Between two looks at all keys.
const SWEEP: Duration = Duration::from_millis(100);
/// A key may be without an end for so long: a script that was refused a right in its middle leaves what its client gives back at once.
const GIVEN_BACK: Duration = Duration::from_secs(2);
/// A belief may be this much too long in one look: the server counts whole ms, and its clock stands still while it carries out a script.
pub(crate) const ROUNDING: Duration = Duration::from_millis(3);
/// A belief that is too long must be so for this long, or until the key has ended: a thread may be between two news of one change.
pub(crate) const SETTLED: Duration = Duration::from_millis(60);
/// For how long the end of a server waits for the keys of clients that are gone. What has a longer lease has only to have an end; tests/nets
/// waits for it.
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

/// A statement that did not hold, and of which name.
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
