//! Which keys of redlatch may be without an end: the one list.

use super::{Statement, Violation};
use crate::view::View;

/// The reason why an endless key must have an end; `None`: it may be endless, or it is no key of redlatch.
///
/// On the wire these have no end: the counters of fencing tokens, semaphores and latches without one of their own, the
/// permits of an expirable semaphore that are out, and the queue of a fair lock.
///
/// `asked` hears of each command that the answer takes.
pub fn wants_an_end(view: &mut View, key: &str, mut asked: impl FnMut(&'static str)) -> Option<&'static str> {
    if key.starts_with("redlatch_request:") {
        return Some("a remembered call");
    }
    if key.starts_with("redlatch_lock_seen:") {
        return Some("the signs of life of the waiters of a fair lock");
    }
    if key.contains(":rwlock_timeout:") {
        return Some("a reader's hold");
    }
    asked("type");
    match view.try_command::<String>(&["TYPE", key]).ok()?.as_str() {
        "hash" => {
            asked("hgetall");
            let words: Vec<Vec<u8>> = view.try_command(&["HGETALL", key]).ok()?;
            words.iter().any(|word| names_an_owner(word)).then_some("a lock")
        }
        "string" => {
            asked("get");
            view.try_command::<Vec<u8>>(&["GET", key]).ok().filter(|value| names_an_owner(value)).map(|_| "a lock")
        }
        _ => None,
    }
}

pub(super) fn violation(key: &str, what: &str) -> Violation {
    let text = format!("the key `{}` is {what}, and has no end", key.escape_debug());
    Violation { statement: Statement::Ends, name: key.to_owned(), text }
}

/// Whether a text contains a client's uuid with a number behind it: `…:<uuid>:<number>…`.
pub fn names_an_owner(text: &[u8]) -> bool {
    text.windows(38).any(|at| is_uuid(&at[..36]) && at[36] == b':' && (at[37].is_ascii_digit() || at[37] == b'-'))
}

fn is_uuid(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
