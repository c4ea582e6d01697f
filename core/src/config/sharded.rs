//! The option that decides whether the messages of a cluster stay with their slot.

use crate::request::error::{Error, Result};
use crate::request::shown;

/// Redisson's `shardedSubscriptionMode`, and one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sharded {
    /// Sharded channels, wherever the servers have them.
    #[default]
    Auto,
    On,
    Off,
    /// The client sends messages, and listens for them, in both ways: for fleets whose clients have different settings.
    Both,
}

impl Sharded {
    pub fn read(value: &str) -> Result<Self> {
        match value {
            "auto" => Ok(Sharded::Auto),
            "on" => Ok(Sharded::On),
            "off" => Ok(Sharded::Off),
            "both" => Ok(Sharded::Both),
            _ => Err(Error::config(format!(
                "the sharded `{}` is neither auto nor on nor off nor both",
                shown::value("sharded", value)
            ))),
        }
    }
}
