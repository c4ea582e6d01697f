//! What every engine shares: the state of lines, waits and holds. Nothing here has a socket, a clock or a runtime of its own.

use std::time::Duration;

pub mod claim;
pub mod gate;
pub mod holds;
pub mod line;
pub mod loss_listeners;
pub mod pace;
pub mod word;

/// How long after its sending a changing call may still be carried out.
pub const WINDOW: Duration = Duration::from_secs(1);
