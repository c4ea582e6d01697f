//! An operation of a semaphore or a latch that has not run yet: the caller awaits it or blocks.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::api::lock::not_acquired;
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op, Request};

/// Turns an answer into the caller's result.
pub(crate) type Read<T> = fn(&Client, &Request, Answer) -> Result<T>;

/// One operation of a semaphore or a latch. The client sends nothing before the caller awaits the operation or calls
/// [`Operation::blocking`].
///
/// # Cancellation
/// Dropping the future of an operation that waits leaves no permit taken. Other operations go on to their end.
#[must_use = "the client sends nothing before the operation is awaited"]
pub struct Operation<T> {
    client: Client,
    request: Request,
    read: Read<T>,
}

impl<T> Operation<T> {
    pub(crate) fn new(object: &Object, op: Op, numbers: &[i64], read: Read<T>) -> Self {
        let request = Request::new(op, object.kind, object.name.clone(), crate::api::lock::fresh_owner());
        Operation { client: object.client.clone(), request: Request { numbers: numbers.to_vec(), ..request }, read }
    }

    pub(crate) fn for_ever(mut self) -> Self {
        self.request.wait = None;
        self
    }

    /// Limits the wait of an operation that waits; other operations ignore it.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.request.wait = Some(wait);
        self
    }

    /// Lets the permits that the operation takes end after this time. Default: they do not end by themselves. Permits
    /// without ids never end by themselves.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.request.lease = Some(lease);
        self
    }

    /// Runs the operation on the caller's thread, without a runtime, and blocks until it is done.
    pub fn blocking(self) -> Result<T> {
        let answer = self.client.run_blocking(self.request.clone())?;
        (self.read)(&self.client, &self.request, answer)
    }
}

impl<T: 'static> IntoFuture for Operation<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let answer = self.client.run(self.request.clone()).await?;
            (self.read)(&self.client, &self.request, answer)
        })
    }
}

/// The semaphore or latch of an operation.
#[derive(Clone)]
pub(crate) struct Object {
    pub client: Client,
    pub kind: &'static str,
    pub name: Arc<str>,
}

pub(crate) fn done(_: &Client, _: &Request, answer: Answer) -> Result<bool> {
    Ok(answer.done)
}

pub(crate) fn changed(_: &Client, _: &Request, answer: Answer) -> Result<bool> {
    Ok(answer.number == 1)
}

pub(crate) fn count(_: &Client, _: &Request, answer: Answer) -> Result<i64> {
    Ok(answer.number)
}

pub(crate) fn nothing(_: &Client, _: &Request, _: Answer) -> Result<()> {
    Ok(())
}

pub(crate) fn taken(client: &Client, request: &Request, answer: Answer) -> Result<()> {
    answer.done.then_some(()).ok_or_else(|| late(client, request))
}

/// The error of an acquire whose wait ended without its permits.
pub(crate) fn late(client: &Client, request: &Request) -> Error {
    not_acquired(client, request, "its permits are out, or were never set: see try_set_permits")
}
