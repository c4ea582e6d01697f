//! How an owner is written in a lock's hash.

use std::fmt::{Display, Formatter, Result, Write};

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
