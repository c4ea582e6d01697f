//! A process's record of what it did with its locks. Each event is appended at once as a line, so that a killed process
//! leaves all that it knew.
//!
//! A *lane* is one caller, with one call after another. An *attempt* is one acquire of a lane, and the hold that it
//! leads to.

mod line;
mod recorder;

pub use recorder::Recorder;

use std::path::Path;

/// One event of one attempt. Times are [`crate::clock::now`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: u64,
    pub lane: u32,
    pub attempt: u64,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An acquire is called. `wait`: in ms, `None` without a limit, 0 for a single try. `lease`: in ms, `None` for a
    /// renewed hold. `takes`: how many permits, 0 for a reader, which shares the lock with other readers.
    Acquire { key: u32, owner: u64, wait: Option<u64>, lease: Option<u64>, takes: u64 },
    /// The acquire returned a hold. The server granted it after `asked`; its holder may believe in it until `deadline`.
    Held { asked: u64, deadline: u64 },
    /// The fencing token of the hold.
    Token { token: i64 },
    /// The acquire returned without a hold.
    NotNow,
    /// The acquire returned an error.
    Failed { code: String, text: String },
    /// The acquire's future was dropped.
    Dropped,
    /// The holder may believe in its hold until then.
    Deadline { deadline: u64 },
    /// The holder was told that it holds nothing any more, and since when. `section` as in [`Event::Release`].
    Lost { since: u64, reason: String, section: Section },
    /// The server's own count of this owner's holds. The owner believed in `expected` holds before and after the count.
    Counted { count: u64, expected: u64 },
    /// The holder was sure of its hold at this time; then it called release.
    Release { section: Section },
    /// The release returned with `ok` or an error's code.
    Released { code: String },
}

/// A holder's work on the counter that only its lock protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// It left the counter alone.
    None,
    /// It read this number and wrote the next one.
    Wrote(u64),
}

/// Reads a process's record, without the line in which the process died.
///
/// # Panics
/// When there is no such file, or a line in it cannot be understood.
pub fn read(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("no history in {}: {e}", path.display()));
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line: &str| line.parse().unwrap_or_else(|e| panic!("`{line}` in {}: {e}", path.display()));
    whole.lines().map(parse).collect()
}
