//! The parts that know nothing of locks: clocks, tasks, threads for callbacks, batches, and one value for each process.

pub mod blocking;
pub mod callbacks;
pub mod clock;
pub mod exhausted;
pub mod io_thread;
pub mod jitter;
pub mod presence;
pub mod process;
pub mod scope;
pub mod tasks;
pub mod together;
