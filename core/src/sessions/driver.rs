//! A system that keeps for a client what one of its sessions takes, for as long as that session lasts. The rest of this room
//! knows no more of any such system.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::time::sleep;

use crate::base::clock::Instant;
use crate::base::tasks::{Work, boxed};
use crate::engine::traits::Traits;
use crate::request::error::{Error, LostReason, Result};
use crate::request::{Answer, Op};

/// The interval between two looks at the holder of a key where the server tells of no change.
pub const A_HOLDER: Duration = Duration::from_millis(200);

/// The text by which the server tells locks apart: two names with one key are one lock, in this process too.
pub type Key = Arc<str>;

/// The lock of a key, without the owner whom it may name behind a zero.
pub fn lock_of(key: &Key) -> &str {
    key.split('\0').next().unwrap_or_default()
}

/// The number of what dies as one: a connection of SQL, a session or a lease of other systems. A client never uses a
/// number again.
pub type Bond = u64;

/// The server has given a client one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grip {
    pub key: Key,
    pub bond: Bond,
}

/// Numbers that grow from grip to grip.
pub type Range = std::ops::Range<i64>;

/// The outcome of a call that draws such numbers.
#[derive(Debug)]
pub enum Drawn {
    Tokens(Range),
    /// The bond goes on, and the server gives no numbers for now.
    NotYet(Error),
}

/// The error of a call whose fencing tokens another program keeps locked.
pub fn locked_tokens(server: impl Into<String>, key: &Key) -> Error {
    let cause = format!(
        "gives no fencing token of `{}`, since another program keeps them locked; end its transaction, its LOCK TABLES or its \
         backup",
        lock_of(key)
    );
    Error::unavailable(server, cause, false)
}

/// The other keys of a lock, for an owner that has it by one of them already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kin {
    /// It holds the lock by that key: it takes it once more by that.
    Same,
    /// It would wait for itself.
    Barred,
}

/// The outcome of a call that asks for a grip.
#[derive(Debug)]
pub enum Took {
    /// The client has it. The server has answered a sign of life of the bond since, which the driver has told.
    Yes { bond: Bond },
    /// Another client has it, by the server's answer to a call sent then.
    Busy { sent: Instant },
    /// The server has no room for one more connection that waits.
    NoRoom,
    /// No server answered, or the session has ended, and with it what it may have taken.
    Failed(Error),
}

/// The outcome of a call that gives a grip back.
#[derive(Debug)]
pub enum Gone {
    /// The key is free for any client.
    Freed,
    /// Another client has the key, by the answer to a call sent then.
    Taken { sent: Instant },
    /// The server has given the key to the same bond again.
    Again,
    /// The bond has ended, and the grip with it.
    Ended,
    /// The server does not take the key back before the bond ends.
    Refused(Error),
}

/// The outcome of an attempt to take a key away from another client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evicted {
    /// No client had it.
    Free,
    Yes,
    /// This client has it, or a call of this client is about to give it back.
    Own,
    /// Its holder has given it back meanwhile: another client may have it.
    Missed,
}

/// The holders from which a forced release takes a key, by the server's names for them: those that its first attempt found. An
/// attempt that is repeated since its outcome is unknown spares the owners that have come since.
pub type Evictees = Arc<OnceLock<Vec<String>>>;

/// The server's own words about a key.
#[derive(Debug, Default)]
pub struct Seen {
    /// A client holds it in the way that the question is about.
    pub is_taken: bool,
    /// An owner that asks for it now has to wait, and not only for a node or a connection of its own client.
    pub is_busy: bool,
    /// The latest fencing token; 0: there was none. Of a leader's lock that of the present term.
    pub token: i64,
    /// Of a leader's lock: the server's name for its holder, and the value.
    pub holder: String,
    pub value: Vec<u8>,
}

/// The events that a driver tells unasked.
#[derive(Debug)]
pub enum News {
    Opened {
        bond: Bond,
        sent: Instant,
        /// The time for which the client may believe in it.
        lease: Duration,
    },
    /// The server has answered a sign of life of the bond that was sent then.
    Answered {
        bond: Bond,
        sent: Instant,
        /// The server counts the lease from then on, or from later.
        from: Instant,
    },
    /// From now on the client may believe in the bond for another time, which counts from then on, or from later.
    Agreed {
        bond: Bond,
        lease: Duration,
        from: Instant,
    },
    /// The server counts the lease of the bond from then on, or from later.
    Alive {
        bond: Bond,
        from: Instant,
    },
    /// The grip of one key is gone. The bond goes on.
    Gone {
        bond: Bond,
        key: Key,
        reason: LostReason,
    },
    /// Another owner has the key, so that a call waits in the server's queue.
    Taken {
        key: Key,
    },
    /// Another client asks for the lock.
    Wanted {
        key: Key,
    },
    Ended {
        bond: Bond,
        reason: LostReason,
    },
}

/// A call of which all repeats together have one effect.
pub type Repeatable = Box<dyn Fn() -> Work<Result<Answer>> + Send + Sync>;

/// Hears the news. It is called on the I/O thread, and must never block.
pub type Hear = Box<dyn Fn(News) + Send + Sync>;

/// Only the I/O thread runs the futures of a driver. They are boxed, so that one copy of the machine serves all drivers.
pub trait Driver: Send + Sync {
    /// The kinds of lock that the system has.
    fn kinds(&self) -> &'static [Traits];
    /// The name of the system, for messages.
    fn system(&self) -> &'static str;
    /// Sets the listener, once.
    fn listen(&self, hear: Hear);
    /// Its waiters stand in the server's queue from the first try on: that costs no more than a try.
    fn stands_at_once(&self) -> bool {
        false
    }
    /// The key by which an owner has a lock of this kind: one for all owners, which hand the lock on inside, or one of its
    /// own. `None`: the client has met no server yet, and servers differ.
    fn key(&self, kind: &Traits, name: &str, owner: i64) -> Option<Key>;
    /// The other keys by which the same owner may hold the same lock.
    fn kin(&self, _key: &Key, _owner: i64) -> Vec<(Key, Kin)> {
        Vec::new()
    }
    /// Meets the server.
    fn meet(&self) -> Work<Result<()>>;
    /// Notes the value with which a candidate is to stand, before it asks for its key.
    fn bring(&self, _key: &Key, _value: &[u8]) {}
    /// Takes the key if it is free. The caller has no grip of it and no other call about it under way.
    fn take(&self, key: &Key) -> Work<Took>;
    /// Waits in the server's queue until the key is the client's, or for a while. `None`: every connection for that is in
    /// use.
    fn stand(&self, key: &Key) -> Option<Work<Took>>;
    /// Ends such a wait: [`Driver::stand`] has its outcome soon.
    fn leave(&self, key: &Key) -> Work;
    /// Notes that no task makes calls about the key any more: the driver gives up a place in the server's queue.
    fn end(&self, _key: &Key) {}
    /// Gives a grip back; `again`: and takes the key anew if no client waits for it in the server's queue.
    fn let_go(&self, grip: &Grip, again: bool) -> Work<Gone>;
    /// Draws numbers greater than all before for this key: `count` of them, or at least one.
    fn fence(&self, grip: &Grip, count: i64) -> Work<Result<Drawn>>;
    /// Asks the server for a sign of life of a bond. The answer comes as news.
    fn renew(&self, bond: Bond);
    /// Listens from this call on. The future is done once another client may have the key.
    fn changed(&self, _key: &Key) -> Work {
        boxed(sleep(A_HOLDER))
    }
    /// Looks who has the key; `fenced`: and at its latest token.
    fn look(&self, key: &Key, fenced: bool) -> Work<Result<Seen>>;
    /// Carries out an operation on all permits of a name. `None`: the system has no such operation.
    fn permits(&self, _op: Op, _kind: &Traits, _name: &str, _number: i64) -> Option<Repeatable> {
        None
    }
    /// Takes the key away from other clients. The first attempt notes which.
    fn evict(&self, key: &Key, evictees: Evictees) -> Work<Result<Evicted>>;
    /// Asks the server for a sign of life.
    fn ping(&self) -> Work<Result<()>>;
    /// Ends a bond: the client believes in it no longer.
    fn drop_bond(&self, bond: Bond);
    /// Ends all bonds, and returns when the server knows.
    fn close(&self) -> Work;
    /// Ends all bonds without a word to the server.
    fn cut(&self);
    /// Ends all bonds of a client of which the program has dropped the last handle. `None`: the end of the connections does.
    fn part(&self) -> Option<Work> {
        None
    }
}
