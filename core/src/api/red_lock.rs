//! Locks that a majority of independent servers gives.

use crate::api::lock::LockBuilder;
use crate::client::Client;
use crate::client::group::Rule;
use crate::request::error::{Error, Result};

/// Several servers without replication between them, of which a minority may fail: a lock is held while more than half of them say so. Each
/// is asked at once and has a hundredth of the lease (50 to 500 ms) to answer; those that were missing are asked again at every renewal.
/// Redisson's `getRedLock`.
///
/// A majority does not make a lease safe against a holder that stands still: what it guards should compare fencing tokens.
#[derive(Clone)]
pub struct RedLock {
    clients: Vec<Client>,
}

impl RedLock {
    /// One client for each URL, see [`crate::Config::from_url`]. Starts nothing: the first call connects.
    ///
    /// # Errors
    /// `Config` for a bad URL, or none.
    pub fn connect<U: AsRef<str>>(urls: impl IntoIterator<Item = U>) -> Result<RedLock> {
        let clients: Vec<_> = urls.into_iter().map(|url| Client::connect(url.as_ref())).collect::<Result<_>>()?;
        if clients.is_empty() {
            return Err(Error::config("there is no server to lock on; give the URLs of three or five"));
        }
        Ok(RedLock { clients })
    }

    /// The lock of this name on a majority of the servers.
    pub fn lock(&self, name: &str) -> LockBuilder {
        LockBuilder::group(&self.clients[0], Rule::Majority, self.clients.iter().map(|client| client.lock(name)))
    }

    /// As [`Client::close`], for every server.
    pub fn close(&self, release: bool) {
        self.clients.iter().for_each(|client| client.close(release));
    }
}
