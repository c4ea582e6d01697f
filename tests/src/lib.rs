//! The rig: real servers that a test starts for itself ([`server`]), a plain view of their contents ([`view`]),
//! witnesses of published messages ([`listener`]) and of commands ([`monitor`]), and a proxy that breaks connections on
//! demand ([`proxy`]). Every verb returns when it is in effect, so that no test needs a sleep.
//!
//! The rig watches over four statements in every test: [`oracle`].
//!
//! Under faults, processes record their actions ([`history`]), and [`check`] judges the records.

pub mod agent;
pub mod authority;
pub mod begun;
pub mod cells;
pub mod check;
pub mod clock;
pub mod clocks;
pub mod cluster;
pub mod contents;
pub mod deadline;
pub mod dice;
pub mod given_up;
pub mod guarded;
pub mod history;
pub mod kinds;
pub mod listener;
pub mod loss;
pub mod mariadb;
pub mod monitor;
pub mod newest;
pub mod nodes;
pub mod oracle;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod relay;
pub mod remote;
pub mod replica;
pub mod seats;
pub mod sentinels;
pub mod server;
pub mod sql;
pub mod terminal;
pub mod together;
pub mod traffic;
pub mod view;
pub mod zookeeper;

pub use agent::Agent;
pub use authority::{Authority, Issued};
pub use begun::begun;
pub use clocks::Clocks;
pub use cluster::Cluster;
pub use contents::Contents;
pub use given_up::given_up;
pub use listener::Listener;
pub use loss::told;
pub use mariadb::Mariadb;
pub use monitor::{Monitor, Seen};
pub use newest::{newest, newest_program};
pub use nodes::Nodes;
pub use process::Process;
pub use proxy::{Direction, Proxy};
pub use remote::Remote;
pub use sentinels::{Sentinels, Stray};
pub use server::{Options, Server, Tls};
pub use sql::Sql;
pub use terminal::Terminal;
pub use together::all_at_once;
pub use view::View;
pub use zookeeper::{Ensemble, Zookeeper};

use std::time::{Duration, Instant};

/// How long the rig waits for an event that must come: long enough for a loaded machine, short enough to end a hung
/// test.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The result of a future.
///
/// # Panics
/// When the future has none after [`PATIENCE`].
pub fn soon<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("the system gives a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await }).expect("it ends in time")
}

/// Calls `probe` again and again until it has an answer.
///
/// # Panics
/// After [`PATIENCE`], with `what` as the missing event.
pub fn eventually<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    eventually_within(PATIENCE, what, probe)
}

/// The same with another limit.
///
/// # Panics
/// After `limit`, with `what` as the missing event.
pub fn eventually_within<T>(limit: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = probe() {
            return answer;
        }
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
