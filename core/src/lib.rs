//! Distributed locks over Redis, on the wire of Redisson, shared by Rust, Python and the JVM.
//!
//! ```no_run
//! # async fn example() -> redlatch::Result<()> {
//! let client = redlatch::Client::connect("redis://localhost:6379")?;
//! let guard = client.lock("orders:42").wait(std::time::Duration::from_secs(5)).acquire().await?;
//! guard.ensure()?;
//! guard.release().await
//! # }
//! ```
//!
//! Read in this order: `locks`, `lock` and `guard` (the API), `command` (what crosses a border), `client`, `contend` and `waiter` (the wait loop), `queue`,
//! `target` (an operation until its outcome is known), `kinds` and the scripts, `slot`, `holds`, `gate`, `watchdog`, `wakes`, `link`.
#![forbid(unsafe_code)]

mod acquire;
mod client;
mod clock;
mod command;
mod completions;
mod config;
mod contend;
mod dice;
pub mod document;
mod error;
mod events;
mod exhausted;
mod gate;
mod group;
mod guard;
mod holds;
mod inbox;
pub mod kinds;
mod lines;
mod link;
mod live;
mod lock;
mod locks;
mod login;
mod nat;
mod operate;
mod operation;
mod owner;
mod passing;
mod permit;
mod permit_id;
mod permit_semaphore;
mod presence;
mod process;
mod queue;
mod red_lock;
mod redisson;
mod requests;
mod script;
mod semaphore;
mod servers;
mod settle;
mod sharded;
mod shown;
mod slot;
mod sync_policy;
mod target;
mod tasks;
mod texts;
mod tls;
mod together;
mod waiter;
mod wakes;
mod watchdog;
mod watchers;
mod word;

pub use client::Client;
pub use command::{Answer, LEASE_MAX, Look, NAME_MAX, OWN_OWNERS, Op, Request};
pub use completions::Completions;
pub use config::{Address, Config};
pub use error::{Error, Loss, LostReason, Result};
pub use group::{Member, Rule};
pub use guard::{BlockingGuard, Guard};
pub use lock::{Blocking, LockBuilder};
pub use locks::ReadWriteLock;
pub use operation::Operation;
pub use permit::{Permit, RenewedPermit};
pub use permit_id::PermitId;
pub use permit_semaphore::PermitSemaphore;
pub use process::PerProcess;
pub use red_lock::RedLock;
pub use semaphore::{Latch, Semaphore};
pub use sync_policy::SyncPolicy;
pub use together::{at_the_end, together};
