//! The part that a Rust program calls: locks and their guards, semaphores, latches and permits.

mod debug;
pub mod guard;
pub mod inventory;
pub mod job;
pub mod leader;
pub mod lock;
pub mod locks;
mod on_lost;
pub mod operation;
pub mod permit;
pub mod permit_semaphore;
pub mod red_lock;
pub mod semaphore;
pub mod semaphore_permit;
mod spans;
