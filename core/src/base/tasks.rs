//! What goes on beside other things on the I/O thread. The runtime's machinery for a task is some 5 kB of code for each type of it, so
//! all of them are made one type.

use std::pin::Pin;

use tokio::task::JoinHandle;

pub type Work<T = ()> = Pin<Box<dyn Future<Output = T> + Send>>;

/// To be called on the I/O thread.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(boxed(work))
}

pub fn boxed<T>(work: impl Future<Output = T> + Send + 'static) -> Work<T> {
    Box::pin(work)
}
