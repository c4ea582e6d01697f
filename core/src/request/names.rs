//! Names of locks: the valid ones, and how a message shows them.

use std::borrow::Cow;

use crate::request::error::{Error, Result};

/// The longest name of a lock, in bytes of UTF-8.
pub const NAME_MAX: usize = 64 * 1024;
/// Stands in front of a value that Redisson's `Kryo5Codec` encodes.
pub const KRYO: char = '\u{1}';

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
