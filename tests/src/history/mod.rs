//! What one process did with its locks: one line per event, appended at once, so that a killed process leaves all that it knew.
//!
//! A *lane* is one caller, who does one thing after another; an *attempt* is one acquire of a lane and the hold that comes of it.

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
    /// An acquire is called. `wait`: ms, `None` for ever, 0 tries once. `lease`: ms, `None` is renewed. `takes`: how many permits, 0 to
    /// share it with others who share.
    Acquire { key: u32, owner: u64, wait: Option<u64>, lease: Option<u64>, takes: u64 },
    /// It returned a hold that the server gave after `asked`, and which may be believed in until `deadline`.
    Held { asked: u64, deadline: u64 },
    /// The fencing token of the hold.
    Token { token: i64 },
    /// It returned without one.
    NotNow,
    /// It returned an error.
    Failed { code: String, text: String },
    /// Its future was dropped.
    Dropped,
    /// The hold may be believed until then.
    Deadline { deadline: u64 },
    /// The holder was told that it holds no more, and since when. `section` as in [`Event::Release`].
    Lost { since: u64, reason: String, section: Section },
    /// Asked beside the code under test, the server counted so many holds of this owner, who believed in `expected` before and after.
    Counted { count: u64, expected: u64 },
    /// At this time the hold was sure; thereafter release is called.
    Release { section: Section },
    /// Release returned; `ok`, or an error's code.
    Released { code: String },
}

/// What a holder did to the counter that only the lock protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Nothing.
    None,
    /// It read this number and wrote the next one.
    Wrote(u64),
}

/// Reads what a process has recorded. The line that it died in is left out.
///
/// # Panics
/// When there is no such file, or a line in it cannot be understood.
pub fn read(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("no history in {}: {e}", path.display()));
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line: &str| line.parse().unwrap_or_else(|e| panic!("`{line}` in {}: {e}", path.display()));
    whole.lines().map(parse).collect()
}
