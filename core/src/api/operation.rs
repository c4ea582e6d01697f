//! An operation in Rust that is still to be run: awaited, or blocking.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use crate::api::lock::not_acquired;
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op, Request};

/// Makes what a caller gets of an answer.
pub(crate) type Read<T> = fn(&Client, &Request, Answer) -> Result<T>;

/// What a semaphore or a latch can be asked. Nothing is sent before it is awaited, or [`Operation::blocking`] is called.
///
/// # Cancellation
/// Dropping the future of an operation that waits takes nothing; others go on to their end.
#[must_use = "nothing is asked before it is awaited"]
pub struct Operation<T> {
    client: Client,
    request: Request,
    read: Read<T>,
}

impl<T> Operation<T> {
    pub(crate) fn new(object: &Object, op: Op, numbers: &[i64], read: Read<T>) -> Self {
        let request = Request::new(op, object.kind, &*object.name, crate::api::lock::fresh_owner());
        Operation { client: object.client.clone(), request: Request { numbers: numbers.to_vec(), ..request }, read }
    }

    pub(crate) fn for_ever(mut self) -> Self {
        self.request.wait = None;
        self
    }

    /// Waits at most this long, if it waits at all.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.request.wait = Some(wait);
        self
    }

    /// Has the permits that it takes end after this; without it they do not end by themselves. Permits without ids never do.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.request.lease = Some(lease);
        self
    }

    /// Runs it without a runtime.
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

/// What operations are about.
#[derive(Clone)]
pub(crate) struct Object {
    pub client: Client,
    pub kind: &'static str,
    pub name: String,
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

/// The error of an acquire of permits that waited in vain.
pub(crate) fn late(client: &Client, request: &Request) -> Error {
    not_acquired(client, request, "its permits are out, or were never set: see try_set_permits")
}
