//! What every engine shares: the state of lines, waits and holds. Nothing here has a socket, a clock or a runtime of its own.

pub mod claim;
pub mod gate;
pub mod holds;
pub mod line;
pub mod loss_listeners;
pub mod pace;
pub mod word;
