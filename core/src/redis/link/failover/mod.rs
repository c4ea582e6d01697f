//! What a server that restarts, or takes over from another one, means for locks.

pub mod incarnation;
pub mod quarantine;
pub mod successors;
