//! Tasks of the I/O thread. The runtime's code for a task takes some 5 kB for each type of it, so all tasks are boxed
//! into one type.

use std::pin::Pin;

use tokio::task::JoinHandle;

pub type Work<T = ()> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a task; only for callers on the I/O thread.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(boxed(work))
}

pub fn boxed<T>(work: impl Future<Output = T> + Send + 'static) -> Work<T> {
    Box::pin(work)
}

/// A task that ends when this is dropped.
#[cfg(feature = "__tls")]
pub struct Bound(JoinHandle<()>);

/// Only connections with TLS have such a task.
#[cfg(not(feature = "__tls"))]
pub enum Bound {}

#[cfg(feature = "__tls")]
impl Bound {
    /// As [`spawn`].
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Bound(spawn(work))
    }
}

#[cfg(feature = "__tls")]
impl Drop for Bound {
    fn drop(&mut self) {
        self.0.abort();
    }
}
