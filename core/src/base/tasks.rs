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
