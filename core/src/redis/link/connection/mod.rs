//! The connections to one server, and the parts that they share.

pub mod blocking;
pub mod clock;
pub mod confirming;
pub mod encoding;
pub mod eviction;
pub mod first;
pub mod liveness;
pub mod multiplexed;
pub mod pipelined;
pub mod refusal;
pub mod server;
pub mod socket;
#[cfg(feature = "__tls")]
pub mod tls;
pub mod wire;
