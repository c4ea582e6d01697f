//! The text of an owner in a lock's hash.

use std::fmt::{Display, Formatter, Result, Write};
use std::sync::Arc;

/// `<client uuid>:<number>`.
#[derive(Clone, Copy)]
pub struct OwnerField<'a>(pub &'a str, pub i64);

impl Display for OwnerField<'_> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        f.write_str(self.0)?;
        f.write_char(':')?;
        self.1.fmt(f)
    }
}

/// The same as a shared text, for calls.
pub fn owner_field(uuid: &str, number: i64) -> Arc<str> {
    let mut text = String::with_capacity(uuid.len() + 21);
    text.push_str(uuid);
    text.push(':');
    text.push_str(itoa::Buffer::new().format(number));
    text.into()
}
