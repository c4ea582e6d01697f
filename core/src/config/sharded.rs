//! Whether the messages of a cluster stay where their slot is, as a program chooses it.

use crate::request::error::{Error, Result};
use crate::request::shown;

/// Redisson's `shardedSubscriptionMode`, and one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sharded {
    /// Wherever the servers can do it.
    #[default]
    Auto,
    On,
    Off,
    /// Messages are sent, and listened to, either way: for fleets of which not all decide alike.
    Both,
}

impl Sharded {
    pub fn read(value: &str) -> Result<Self> {
        match value {
            "auto" => Ok(Sharded::Auto),
            "on" => Ok(Sharded::On),
            "off" => Ok(Sharded::Off),
            "both" => Ok(Sharded::Both),
            _ => Err(Error::config(format!("the sharded `{}` is neither auto nor on nor off nor both", shown::value("sharded", value)))),
        }
    }
}
