//! The option that decides whether the messages of a cluster stay with their slot.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::request::error::{Error, Result};
use crate::request::shown;

/// The channels by which waiters of a cluster are woken, see [`crate::Config::sharded`]. Its text is the name in small
/// letters.
///
/// ```
/// assert_eq!("both".parse::<redlatch::Sharded>().unwrap(), redlatch::Sharded::Both);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharded {
    /// Sharded channels, wherever the servers have them.
    #[default]
    Auto,
    /// Sharded channels; servers before Redis 7 are refused.
    On,
    /// Channels of the whole cluster.
    Off,
    /// The client sends messages, and listens for them, in both ways: for fleets whose clients have different settings.
    Both,
}

impl FromStr for Sharded {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Sharded::Auto),
            "on" => Ok(Sharded::On),
            "off" => Ok(Sharded::Off),
            "both" => Ok(Sharded::Both),
            _ => Err(Error::config(format!(
                "the sharded `{}` is neither auto nor on nor off nor both",
                shown::value("sharded", text)
            ))),
        }
    }
}

impl Display for Sharded {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Sharded::Auto => "auto",
            Sharded::On => "on",
            Sharded::Off => "off",
            Sharded::Both => "both",
        })
    }
}
