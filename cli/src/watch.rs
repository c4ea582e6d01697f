//! Watches locks by looking at them again and again: which are held, since when, and the events between two looks.

mod event;
mod feed;
mod known;
mod sight;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use event::Change;
pub use event::Event;
pub use feed::{Feed, reach};
pub use known::{Known, SHORTEST_INTERVAL, Watch};
pub use sight::{Sight, party};
