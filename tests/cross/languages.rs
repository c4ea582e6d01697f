//! The table of languages. A new row is tested against all others, both ways round.

/// How to start a language's agent, and what its API calls the one error that every language must tell.
pub struct Language {
    pub name: &'static str,
    pub program: &'static str,
    /// Releasing what is not, or not any more, held.
    pub not_held: &'static [&'static str],
    /// Acquiring once more what is not reentrant.
    pub already_held: &'static [&'static str],
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
    },
    Language {
        name: "python",
        program: launcher!("python"),
        not_held: &["NotHeldError", "LockLostError"],
        already_held: &["AlreadyHeldError"],
    },
    Language { name: "java", program: launcher!("java"), not_held: &[ILLEGAL], already_held: &[ILLEGAL] },
    Language { name: "redisson", program: launcher!("redisson"), not_held: &[ILLEGAL], already_held: &[ILLEGAL] },
];
