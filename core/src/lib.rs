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
//! - [`Client`] gives every kind of lock: [`lock`](Client::lock), [`fair_lock`](Client::fair_lock),
//!   [`read_write_lock`](Client::read_write_lock), [`fenced_lock`](Client::fenced_lock), and so on; also
//!   [`semaphore`](Client::semaphore), [`permit_semaphore`](Client::permit_semaphore) and [`latch`](Client::latch).
//!   [`RedLock`] locks on a majority of independent servers.
//! - [`leader`](Client::leader) elects one of several processes: a [`Term`] is the hold of the one that leads.
//! - [`job`](Client::job) runs work once a period among all nodes.
//! - [`locks`](Client::locks) lists the locks that are held, by any client.
//! - [`LockBuilder`] has the wait, the lease and the owner of an acquire. `.blocking()` has the same calls for threads.
//! - [`Guard`] is a hold. It releases when it is dropped, and tells of a loss: [`ensure`](Guard::ensure),
//!   [`run`](Guard::run), [`lost`](Guard::lost), [`on_lost`](Guard::on_lost).
//! - [`Config`] has the options, also from a URL or a file of Redisson. [`Error`] has every error, with the remedy in its
//!   text.
//!
//! Without a lease the client renews a hold until its release. A lease cannot stop a process that is paused beyond it and
//! then goes on: call [`Guard::ensure`] before the step that must not happen twice, or let the guarded resource compare
//! [fencing tokens](Guard::token).
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
// Each system uses a part of it.
#[cfg_attr(not(all(feature = "mysql", feature = "zookeeper")), allow(dead_code))]
mod sessions;

pub use crate::api::guard::{BlockingGuard, Guard};
pub use crate::api::inventory::Locks;
pub use crate::api::job::{Job, JobRun, JobStats};
pub use crate::api::leader::{CurrentLeader, Leader, Observer, Term};
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
pub use crate::config::node_format::NodeFormat;
pub use crate::config::sharded::Sharded;
pub use crate::config::sync_policy::SyncPolicy;
pub use crate::config::tls::TlsVerify;
pub use crate::engine::stats::Stats;
pub use crate::request::error::{Error, Loss, LostReason, Result, ServerError, Source};
pub use crate::request::inventory::{HeldLock, Holder};
pub use crate::request::permit_id::PermitId;
