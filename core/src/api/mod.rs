//! The part that a Rust program calls: locks and their guards, semaphores, latches and permits.

pub mod guard;
pub mod lock;
pub mod locks;
pub mod operation;
pub mod permit;
pub mod permit_semaphore;
pub mod red_lock;
pub mod semaphore;
