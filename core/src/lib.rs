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
//! The folders are rooms. A room imports from itself and from the rooms below it in this list; a test keeps it so:
//!
//! - `ffi`: the border of languages, which bindings and tests import; no part of the API.
//! - `api`: the part that a Rust program calls. Locks, guards, semaphores, latches, permits.
//! - `client`: connects, hands each request to its engine, closes; groups of locks.
//! - `redis`: all knowledge of Redis. `wait` (acquire and pass on), `ops` (other operations), `kinds` and their
//!   scripts, `link` (the servers).
//! - `engine`: the parts that every engine shares. State machines without a socket, a clock or a runtime: `line`,
//!   `pace`, `holds`, `gate`.
//! - `config`: one configuration, from a URL, from options or from a file.
//! - `request`: the values that cross a border of languages. Requests, answers, errors, names.
//! - `base`: the parts that know nothing of locks. Clocks, tasks, callbacks, one value for each process.
#![forbid(unsafe_code)]
#![warn(missing_docs, missing_debug_implementations)]

/// The examples of the package's page run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod api;
mod base;
mod client;
mod config;
mod engine;
#[doc(hidden)]
pub mod ffi;
mod redis;
mod request;

pub use crate::api::guard::{BlockingGuard, Guard};
pub use crate::api::lock::{Blocking, LockBuilder};
pub use crate::api::locks::ReadWriteLock;
pub use crate::api::operation::{Acquiring, Operation, Waiting};
pub use crate::api::permit::{Permit, RenewedPermit};
pub use crate::api::permit_semaphore::PermitSemaphore;
pub use crate::api::red_lock::RedLock;
pub use crate::api::semaphore::{Latch, Semaphore};
pub use crate::api::semaphore_permit::SemaphorePermit;
pub use crate::client::{Client, Holds};
pub use crate::config::Config;
pub use crate::config::address_map::AddressMap;
pub use crate::config::sharded::Sharded;
pub use crate::config::sync_policy::SyncPolicy;
pub use crate::config::tls::TlsVerify;
pub use crate::request::error::{Error, Loss, LostReason, Result, ServerError, Source};
pub use crate::request::permit_id::PermitId;
