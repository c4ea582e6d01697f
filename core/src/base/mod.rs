//! The parts that know nothing of locks: clocks, tasks, threads for callbacks, batches, ways to hosts, and one value for each process.

pub mod blocking;
pub mod callbacks;
pub mod clock;
pub mod exhausted;
pub mod io_thread;
pub mod jitter;
pub mod presence;
pub mod process;
#[cfg(any(feature = "__tls", feature = "zookeeper"))]
pub mod reach;
pub mod scope;
pub mod tasks;
pub mod together;
