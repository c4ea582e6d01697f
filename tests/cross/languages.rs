//! The table of languages. A new row is tested against all others, both ways round.

use redlatch::kinds::Traits;

/// How to start a language's agent, and what its API calls the one error that every language must tell.
pub struct Language {
    pub name: &'static str,
    pub program: &'static str,
    /// Releasing what is not, or not any more, held.
    pub not_held: &'static [&'static str],
    /// Acquiring once more what is not reentrant.
    pub already_held: &'static [&'static str],
    pub age: Age,
}

/// What a language is tested against, and with which kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Ours: against everybody, with every kind.
    Ours,
    /// Redisson as it is now: against everybody, with every kind that it has.
    Newest,
    /// Redisson as it was: against ours, with the kinds that most programs use.
    Older,
}

impl Language {
    /// Whether it has locks of this kind, as far as it is tested.
    pub fn has(&self, kind: &Traits) -> bool {
        match self.age {
            Age::Ours => true,
            // What Redisson's can do of it is in multi.rs.
            Age::Newest => kind.redisson && kind.name != "multi",
            Age::Older => ["plain", "fair", "read", "write", "semaphore"].contains(&kind.name),
        }
    }

    /// Whether the two are tested against each other.
    pub fn meets(&self, other: &Language) -> bool {
        ![self.age, other.age].contains(&Age::Older) || [self.age, other.age].contains(&Age::Ours)
    }
}

/// What `make agents` built.
macro_rules! launcher {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/agents/", $name)
    };
}

const ILLEGAL: &str = "IllegalMonitorStateException";

pub const ALL: &[Language] = &[
    Language {
        name: "rust",
        program: env!("CARGO_BIN_EXE_redlatch-agent"),
        not_held: &["not_held", "lost"],
        already_held: &["already_held"],
        age: Age::Ours,
    },
    PYTHON,
    Language { name: "asyncio", program: launcher!("asyncio"), ..PYTHON },
    Language { name: "java", program: launcher!("java"), age: Age::Ours, ..REDISSON },
    REDISSON,
];

/// Those that keys may still be shared with.
pub const OLDER: &[Language] = &[
    Language { name: "redisson 3.52.0", program: launcher!("redisson-3.52.0"), age: Age::Older, ..REDISSON },
    Language { name: "redisson 3.27.2", program: launcher!("redisson-3.27.2"), age: Age::Older, ..REDISSON },
];

/// Before 3.32, a waiter of Redisson's fair lock that comes again is told to wait for what is left until its own reckoning of the lease's end;
/// less than nothing is for ever.
pub const OVERSLEEPS: &str = "redisson 3.27.2";

const PYTHON: Language = Language {
    name: "python",
    program: launcher!("python"),
    not_held: &["NotHeldError", "LockLostError"],
    already_held: &["AlreadyHeldError"],
    age: Age::Ours,
};

const REDISSON: Language =
    Language { name: "redisson", program: launcher!("redisson"), not_held: &[ILLEGAL], already_held: &[ILLEGAL], age: Age::Newest };
