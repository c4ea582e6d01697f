//! An operation of a semaphore or a latch that has not run yet: the caller awaits it or blocks.

use std::fmt::{Debug, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tracing::Instrument;

use crate::api::debug;
use crate::api::lock::{fresh_owner, not_acquired};
use crate::api::permit_semaphore::PermitSemaphore;
use crate::api::spans;
use crate::base::blocking;
use crate::base::tasks::{Work, boxed};
use crate::client::Client;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op, Request};

/// Turns an answer into the caller's result.
pub(crate) type Read<T> = fn(&Client, &Request, Answer) -> Result<T>;

/// One operation of a semaphore or a latch. It is a future; the client sends nothing before it is polled, or before
/// [`Operation::blocking`].
///
/// ```no_run
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let semaphore = client.semaphore("workers");
/// semaphore.try_set_permits(3).await?;
/// let available = tokio::spawn(semaphore.available());
/// println!("{}", available.await.expect("no panic")?);
/// # Ok(())
/// # }
/// ```
///
/// # Cancellation
/// An operation that has begun goes on to its end without its future.
#[must_use = "the client sends nothing before the operation is awaited"]
pub struct Operation<T> {
    client: Client,
    request: Request,
    read: Read<T>,
    /// The error of an operation that no server should see.
    refused: Option<Error>,
    /// `None`: it has not begun.
    running: Option<Work<Result<Answer>>>,
}

impl<T> Operation<T> {
    pub(crate) fn new(object: &Object, op: Op, numbers: &[i64], read: Read<T>) -> Self {
        let request = Request::new(op, object.kind, object.name.clone(), fresh_owner());
        let request = Request { numbers: numbers.to_vec(), ..request };
        Operation { client: object.client.clone(), request, read, refused: None, running: None }
    }

    /// An operation that takes one count.
    pub(crate) fn counting(object: &Object, op: Op, count: u64, read: Read<T>) -> Self {
        let too_large =
            || Error::config(format!("the number {count} of `{}` is too large; use one below 2^63", object.name));
        let number = i64::try_from(count).map_err(|_| too_large());
        let numbers = number.as_ref().map_or(&[][..], std::slice::from_ref);
        Operation { refused: number.as_ref().err().cloned(), ..Operation::new(object, op, numbers, read) }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.request);
        self
    }

    /// The same operation, which only gives this error.
    pub(crate) fn refused(self, error: Error) -> Self {
        Operation { refused: Some(error), ..self }
    }

    pub(crate) fn negated(self) -> Self {
        self.with(|request| request.numbers.iter_mut().for_each(|number| *number = -*number))
    }

    /// Waits without end, unless [`Waiting::wait`] says otherwise.
    pub(crate) fn for_ever(self) -> Self {
        self.with(|request| request.wait = None)
    }

    /// Runs the operation on the caller's thread, without a runtime, and blocks until it is done.
    ///
    /// # Panics
    /// If the operation was polled before, and on a thread that drives a tokio runtime, see [`crate::Blocking`].
    #[track_caller]
    pub fn blocking(self) -> Result<T> {
        blocking::check(|| format!("`{}`", self.request.name));
        assert!(self.running.is_none(), "the operation runs already; await it");
        // The client does not end before the permits of the result are noted.
        let _present = self.client.stay();
        let answer = match self.refused {
            Some(error) => Err(error),
            None => {
                spans::acquire(&self.client, &self.request).in_scope(|| self.client.run_blocking(self.request.clone()))
            }
        };
        (self.read)(&self.client, &self.request, answer?)
    }

    fn run(client: Client, request: Request, refused: Option<Error>) -> Work<Result<Answer>> {
        boxed(async move {
            match refused {
                Some(error) => Err(error),
                None => {
                    let span = spans::acquire(&client, &request);
                    client.run(request).instrument(span).await
                }
            }
        })
    }

    fn show(&self, f: &mut Formatter<'_>, of: &str) -> std::fmt::Result {
        let mut shown = debug::object(f, of, &self.client, &self.request);
        shown.field("op", &self.request.op);
        debug::times(&mut shown, &self.request);
        shown.field("begun", &self.running.is_some()).finish()
    }
}

impl<T> Future for Operation<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let Operation { client, request, read, refused, running } = self.get_mut();
        // As in `blocking`.
        let _present = client.stay();
        let running = running.get_or_insert_with(|| Self::run(client.clone(), request.clone(), refused.take()));
        let answer = ready!(running.as_mut().poll(cx))?;
        Poll::Ready(read(client, request, answer))
    }
}

impl<T> Debug for Operation<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.show(f, "Operation")
    }
}

/// An [`Operation`] that may wait.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// if !client.latch("ready").wait().wait(Duration::from_secs(5)).await? {
///     println!("not ready after 5 s");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Cancellation
/// Dropping the future ends the wait, and leaves no permit taken.
#[must_use = "the client sends nothing before the operation is awaited"]
pub struct Waiting<T>(pub(crate) Operation<T>);

impl<T> Waiting<T> {
    /// Waits at most this long. The end of the wait is an answer for a latch and for a `try_acquire` (`false`, `None`),
    /// and an error for an `acquire` (`NotAcquired`).
    pub fn wait(self, wait: Duration) -> Self {
        Waiting(self.0.with(|request| request.wait = Some(wait)))
    }

    /// As [`Operation::blocking`].
    ///
    /// # Panics
    /// As [`Operation::blocking`].
    #[track_caller]
    pub fn blocking(self) -> Result<T> {
        self.0.blocking()
    }
}

impl<T> Future for Waiting<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> Debug for Waiting<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Waiting")
    }
}

/// An [`Operation`] that takes permits with ids, and may wait for them.
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn example(client: redlatch::Client) -> redlatch::Result<()> {
/// let downloads = client.permit_semaphore("downloads");
/// let permit = downloads.acquire().wait(Duration::from_secs(5)).lease(Duration::from_secs(60)).await?;
/// permit.release().await
/// # }
/// ```
///
/// # Cancellation
/// Dropping the future ends the wait, and leaves no permit taken.
#[must_use = "the client sends nothing before the operation is awaited"]
pub struct Acquiring<T>(pub(crate) Operation<T>);

impl<T> Acquiring<T> {
    /// Waits at most this long.
    pub fn wait(self, wait: Duration) -> Self {
        Acquiring(self.0.with(|request| request.wait = Some(wait)))
    }

    /// Lets the permits end after this time: from 1 ms to 100 years. Default, and with [`crate::PermitSemaphore::NO_END`]: they do not end by
    /// themselves, and the watchdog renews a [`crate::RenewedPermit`].
    pub fn lease(self, lease: Duration) -> Self {
        Acquiring(self.0.with(|request| request.lease = (lease < PermitSemaphore::NO_END).then_some(lease)))
    }

    /// As [`Operation::blocking`].
    ///
    /// # Panics
    /// As [`Operation::blocking`].
    #[track_caller]
    pub fn blocking(self) -> Result<T> {
        self.0.blocking()
    }
}

impl<T> Future for Acquiring<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> Debug for Acquiring<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.show(f, "Acquiring")
    }
}

/// The semaphore or latch of an operation.
#[derive(Clone)]
pub(crate) struct Object {
    pub client: Client,
    pub kind: &'static str,
    pub name: Arc<str>,
}

impl Object {
    pub fn show(&self, f: &mut Formatter<'_>, of: &str) -> std::fmt::Result {
        f.debug_struct(of).field("name", &self.name).field("client", &self.client).finish()
    }
}

pub(crate) fn done(_: &Client, _: &Request, answer: Answer) -> Result<bool> {
    Ok(answer.done)
}

pub(crate) fn changed(_: &Client, _: &Request, answer: Answer) -> Result<bool> {
    Ok(answer.number == 1)
}

/// No count is below zero.
pub(crate) fn count(_: &Client, _: &Request, answer: Answer) -> Result<u64> {
    Ok(unsigned(answer.number))
}

pub(crate) fn unsigned(number: i64) -> u64 {
    number.max(0).unsigned_abs()
}

pub(crate) fn nothing(_: &Client, _: &Request, _: Answer) -> Result<()> {
    Ok(())
}

/// The error of an acquire whose wait ended without its permits.
pub(crate) fn late(client: &Client, request: &Request) -> Error {
    not_acquired(client, request, "its permits are out, or were never set: see try_set_permits")
}
