//! The commands for channels: ordinary ones, or those of slots.

use std::sync::OnceLock;

use crate::config::servers::Address;
use crate::config::sharded::Sharded;
use crate::request::error::{Error, Result};

/// Whether channels belong to slots of a cluster, as keys do: then other commands send messages and listen for them.
#[derive(Default)]
pub struct Sharding(OnceLock<Ways>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ways {
    Plain,
    OfSlots,
    Both,
}

impl Sharding {
    /// Decides by the program's choice; `able`: this server knows channels of slots.
    pub fn decide(&self, chosen: Sharded, able: bool, server: &Address) -> Result<()> {
        let ways = match (chosen, able) {
            (Sharded::Off, _) | (Sharded::Auto | Sharded::Both, false) => Ways::Plain,
            (Sharded::Auto | Sharded::On, true) => Ways::OfSlots,
            (Sharded::Both, true) => Ways::Both,
            (Sharded::On, false) => {
                return Err(Error::Unsupported(format!(
                    "{server} has no channels of slots (SSUBSCRIBE), which `sharded=on` wants; leave it out, or use Redis 7.0 or newer"
                )));
            }
        };
        let _ = self.0.set(ways);
        Ok(())
    }

    pub fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    fn ways(&self) -> Ways {
        self.0.get().copied().unwrap_or(Ways::Plain)
    }

    /// Tells whether a channel must be in the slot of its keys.
    pub fn is_on(&self) -> bool {
        self.ways() != Ways::Plain
    }

    /// Tells whether both commands wake waiters.
    pub fn is_both(&self) -> bool {
        self.ways() == Ways::Both
    }

    /// The ways to listen to a channel: as one of a slot, as an ordinary one. Keyspace events have only ordinary ones.
    pub fn listening(&self, channel: &str) -> &'static [bool] {
        match self.ways() {
            Ways::OfSlots if !channel.starts_with("__key") => &[true],
            Ways::Both if !channel.starts_with("__key") => &[true, false],
            _ => &[false],
        }
    }

    /// The command that wakes waiters.
    pub fn publish(&self) -> &'static str {
        if self.is_on() { "SPUBLISH" } else { "PUBLISH" }
    }
}
