//! The effects on locks of a server that restarts, or takes over from another.

pub mod incarnation;
pub mod quarantine;
pub mod successors;
