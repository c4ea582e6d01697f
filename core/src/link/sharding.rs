//! By which commands channels are spoken to.

use std::sync::OnceLock;

/// Whether channels belong to slots of a cluster, as keys do: then messages are sent, and listened to, by other commands.
#[derive(Default)]
pub struct Sharding(OnceLock<bool>);

impl Sharding {
    pub fn decide(&self, on: bool) {
        let _ = self.0.set(on);
    }

    pub fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn is_on(&self) -> bool {
        self.0.get().copied().unwrap_or_default()
    }

    /// Which command wakes the waiters.
    pub fn publish(&self) -> &'static str {
        if self.is_on() { "SPUBLISH" } else { "PUBLISH" }
    }
}
