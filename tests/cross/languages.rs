//! The table of languages. A new row is tested against all others, in both directions.

use std::sync::LazyLock;

use redlatch::ffi::kinds::Traits;

/// How to start a language's agent, and the names of the errors that every language must report.
pub struct Language {
    pub name: &'static str,
    pub program: &'static str,
    /// The error about the release of a lock that is not, or no longer, held.
    pub not_held: &'static [&'static str],
    /// The error about a second acquire of a lock that is not reentrant.
    pub already_held: &'static [&'static str],
    pub age: Age,
}

/// The opponents and the kinds with which a language is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// A language of redlatch: against every other, with every kind.
    Ours,
    /// The present Redisson: against every other, with every kind that it has.
    Newest,
    /// An older Redisson: against the languages of redlatch, with the kinds that most programs use.
    Older,
}

impl Language {
    /// Whether the language has locks of this kind, as far as they are tested.
    pub fn has(&self, kind: &Traits) -> bool {
        match self.age {
            Age::Ours => true,
            // multi.rs tests Redisson's own multi locks.
            Age::Newest => kind.redisson && kind.name != "multi",
            Age::Older => ["plain", "fair", "read", "write", "semaphore"].contains(&kind.name),
        }
    }

    /// Whether the two are tested against each other.
    pub fn meets(&self, other: &Language) -> bool {
        if [self.name, other.name] == [BEFORE; 2] {
            return false; // there is one agent of it
        }
        ![self.age, other.age].contains(&Age::Older) || [self.age, other.age].contains(&Age::Ours)
    }
}

/// The launcher that `make agents` built.
macro_rules! launcher {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/agents/", $name)
    };
}

const ILLEGAL: &str = "IllegalMonitorStateException";

pub const ALL: &[Language] = &[
    RUST,
    PYTHON,
    Language { name: "asyncio", program: launcher!("asyncio"), ..PYTHON },
    Language { name: "java", program: launcher!("java"), age: Age::Ours, ..REDISSON },
    REDISSON,
];

/// The versions with which programs may still share keys. `REDLATCH_BEFORE` may name the agent of Rust in an earlier
/// version of redlatch.
pub static OLDER: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let mut older = vec![
        Language { name: "redisson 3.52.0", program: launcher!("redisson-3.52.0"), age: Age::Older, ..REDISSON },
        Language { name: "redisson 3.27.2", program: launcher!("redisson-3.27.2"), age: Age::Older, ..REDISSON },
    ];
    if let Ok(program) = std::env::var("REDLATCH_BEFORE") {
        older.push(Language { name: BEFORE, program: program.leak(), ..RUST });
    }
    older
});

/// The name of an earlier version of redlatch.
const BEFORE: &str = "before";

/// Before 3.32, a returning waiter of Redisson's fair lock sleeps for the rest of its own estimate of the lease. Less
/// than zero means for ever.
pub const OVERSLEEPS: &str = "redisson 3.27.2";

const RUST: Language = Language {
    name: "rust",
    program: env!("CARGO_BIN_EXE_redlatch-agent"),
    not_held: &["not_held", "lost"],
    already_held: &["already_held"],
    age: Age::Ours,
};

const PYTHON: Language = Language {
    name: "python",
    program: launcher!("python"),
    not_held: &["NotHeldError", "LockLostError"],
    already_held: &["AlreadyHeldError"],
    age: Age::Ours,
};

const REDISSON: Language = Language {
    name: "redisson",
    program: launcher!("redisson"),
    not_held: &[ILLEGAL],
    already_held: &[ILLEGAL],
    age: Age::Newest,
};
