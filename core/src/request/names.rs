//! Names of locks: the valid ones, and how a message shows them.

use std::borrow::Cow;

use crate::request::error::{Error, Result};

/// The longest name of a lock, in bytes of UTF-8.
pub const NAME_MAX: usize = 64 * 1024;
/// Stands in front of a value that Redisson's `Kryo5Codec` encodes.
pub const KRYO: char = '\u{1}';

/// The longest value of a leader, in bytes of UTF-8.
pub const VALUE_MAX: usize = 64 * 1024;
/// The kind of a leader's lock, see [`crate::Leader`].
pub const LEADER: &str = "leader";
/// The kind that waits for the next change of a leader. It takes nothing.
pub const LEADER_WATCH: &str = "leader_watch";

/// Refuses a value that is too long, or that not every server and language would give back as it is.
pub fn check_value(name: &str, value: &[u8]) -> Result<()> {
    let refused = |problem: &str| Err(Error::config(format!("the value of the leader `{}` {problem}", shown(name))));
    match std::str::from_utf8(value) {
        _ if value.len() > VALUE_MAX => refused(&format!(
            "has {} bytes, the most is {VALUE_MAX}; let it be the address of the leader, which tells the rest",
            value.len()
        )),
        Err(_) => refused("is no UTF-8; encode it as text"),
        Ok(value) if value.contains('\0') => refused("has a zero byte; leave it out"),
        Ok(_) => Ok(()),
    }
}

/// Refuses an empty name, and one that is too long.
pub fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::config("the name of a lock is empty; give it at least one character"));
    }
    if name.len() > NAME_MAX {
        let start = shown(name).chars().take(20).collect::<String>();
        let len = name.len();
        return Err(Error::config(format!(
            "the name `{start}…` has {len} bytes, the most is {NAME_MAX}; use a shorter one or its hash"
        )));
    }
    Ok(())
}

/// Removes the prefix: gives the name as the program knows it.
pub fn without<'a>(prefix: &str, name: &'a str) -> &'a str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// A name as messages show it: that of a multi lock as `group: value, value`.
pub fn shown(name: &str) -> Cow<'_, str> {
    match name.split_once('\0') {
        Some((group, values)) => format!("{group}: {}", values.replace('\0', ", ").replace(KRYO, "")).into(),
        None => name.into(),
    }
}
