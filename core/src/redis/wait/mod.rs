//! An acquire, from its first try to the hold; and the release that passes the hold on.

pub mod acquire;
pub mod barge;
pub mod contend;
pub mod grip;
pub mod insisting;
pub mod lines;
pub mod passing;
pub mod release;
pub mod take;
pub mod waiting;
