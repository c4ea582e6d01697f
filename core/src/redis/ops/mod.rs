//! Operations other than acquire and release; each runs until its outcome is known.

pub mod ask;
pub mod extend;
pub mod force;
pub mod inventory;
pub mod key_events;
pub mod keys;
pub mod ping;
pub mod renew;
pub mod servers;
pub mod watchdog;
