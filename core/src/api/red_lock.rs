//! Locks on a majority of independent servers.

use std::sync::Arc;

use crate::api::lock::LockBuilder;
use crate::base::blocking;
use crate::client::group::Rule;
use crate::client::{Client, Holds};
use crate::request::error::{Error, Result};

/// Several servers without replication between them; a minority of them may fail. An owner holds a lock while more than
/// half of the servers say so. The client asks all of them at once, and each has a hundredth of the lease (50 to 500
/// ms) to answer. At every renewal the client asks the missing ones again. Redisson's `getRedLock`.
///
/// A majority does not make a lease safe against a holder that stands still: the guarded resource should compare
/// fencing tokens.
///
/// ```no_run
/// # async fn example() -> redlatch::Result<()> {
/// let red = redlatch::RedLock::connect(["redis://a:6379", "redis://b:6379", "redis://c:6379"])?;
/// let guard = red.lock("orders:42").acquire().await?;
/// guard.release().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RedLock {
    clients: Vec<Client>,
}

impl RedLock {
    /// Makes one client for each URL, see [`crate::Config::from_url`]. Connects to no server: the first call does.
    ///
    /// # Errors
    /// `Config` for a bad URL, or for an empty list.
    pub fn connect<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> Result<RedLock> {
        let until = Arc::default();
        let connect = |url: U| Client::connect_ending_with(url.as_ref(), &until);
        let clients: Vec<_> = urls.into_iter().map(connect).collect::<Result<_>>()?;
        if clients.is_empty() {
            return Err(Error::config("there is no server to lock on; give the URLs of three or five"));
        }
        Ok(RedLock { clients })
    }

    /// The lock of this name on a majority of the servers.
    pub fn lock(&self, name: &str) -> LockBuilder {
        LockBuilder::group(&self.clients[0], Rule::Majority, self.clients.iter().map(|client| client.lock(name)))
    }

    /// As [`Client::close`], for all servers at the same time.
    pub async fn close(&self, holds: Holds) {
        let (told, mut closed) = tokio::sync::mpsc::channel::<()>(1);
        self.clients.iter().for_each(|client| client.begin_to_close(holds, told.clone()));
        drop(told);
        let _ = closed.recv().await;
    }

    /// As [`RedLock::close`], and blocks until all clients have ended.
    ///
    /// # Panics
    /// As [`Client::close_blocking`].
    #[track_caller]
    pub fn close_blocking(&self, holds: Holds) {
        blocking::check(|| format!("the end of the client of {}", self.clients[0].server()));
        let (told, closed) = std::sync::mpsc::sync_channel::<()>(0);
        self.clients.iter().for_each(|client| client.begin_to_close(holds, told.clone()));
        drop(told);
        let _ = closed.recv();
    }
}
