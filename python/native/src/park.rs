//! Runs one request to its end on the caller's thread, without the GIL; on the main thread signals are heard while it waits.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use redlatch::{Answer, Client, Error, Op, Request};

use crate::leaving;

type Done = redlatch::Result<Answer>;
type WaitsLong<'a> = &'a dyn Fn() -> PyResult<()>;

/// How long the main thread is deaf to signals at most.
pub const SLICE: Duration = Duration::from_millis(50);

/// A wait that lasts so long is looked at: its caller may wait for itself.
pub const LONG: Duration = Duration::from_secs(5);

/// Returns what came of `request`, or the exception of a signal handler (Ctrl-C): then nothing is held.
pub fn run(py: Python<'_>, client: &Client, request: Request) -> PyResult<Done> {
    run_and_tell(py, client, request, None)
}

/// The same of an acquire: `waits_long` is called once if it waits [`LONG`], and the exception that it raises ends the wait.
pub fn acquire(py: Python<'_>, client: &Client, request: Request, waits_long: WaitsLong) -> PyResult<Done> {
    run_and_tell(py, client, request, Some(waits_long))
}

fn run_and_tell(py: Python<'_>, client: &Client, request: Request, waits_long: Option<WaitsLong>) -> PyResult<Done> {
    let ticket = client.ticket();
    let (done, waiting) = sync_channel(1);
    let parked = Parked { client, ticket, request: &request, waiting };
    let (request, deadline) = (request.clone(), parked.deadline());
    let started = py.detach(|| {
        client.start(ticket, request, move |result| {
            // Nobody listens any more only if the caller panicked.
            let _ = done.send(result);
        })
    });
    let done = match started {
        Some(result) => parked.deliver(py, result),
        None => parked.wait(py, deadline, waits_long),
    }?;
    leaving::stay(py, &done);
    Ok(done)
}

/// A caller whose request goes on on the I/O thread.
struct Parked<'a> {
    client: &'a Client,
    ticket: u64,
    request: &'a Request,
    waiting: Receiver<Done>,
}

impl Parked<'_> {
    /// When the caller leaves by itself: the core ends the waits of an acquire, but watches a hold as long as it lasts.
    fn deadline(&self) -> Option<Instant> {
        let wait = self.request.wait.filter(|_| self.request.op == Op::Watch)?;
        Instant::now().checked_add(wait)
    }

    fn wait(mut self, py: Python<'_>, deadline: Option<Instant>, waits_long: Option<WaitsLong>) -> PyResult<Done> {
        // What never waits ends within the response time-out, and giving up half-way would leave it open what was done.
        let may_leave = matches!(self.request.op, Op::Acquire | Op::Watch);
        let deaf = match may_leave.then(|| is_main_thread(py)) {
            None | Some(Ok(false)) => true,
            Some(Ok(true)) => false,
            Some(Err(signal)) => return self.flee(py, signal),
        };
        let mut long = waits_long.and_then(|waits_long| Some((Instant::now().checked_add(LONG)?, waits_long)));
        loop {
            let next = [deadline, long.map(|(at, _)| at)].into_iter().flatten().min();
            let left = next.map(|next| next.saturating_duration_since(Instant::now()));
            let slice = if deaf { left } else { Some(left.unwrap_or(SLICE).min(SLICE)) };
            let waiting = &mut self.waiting;
            match py.detach(move || receive(waiting, slice)) {
                Ok(result) => return self.deliver(py, result),
                Err(RecvTimeoutError::Disconnected) => return Err(dropped()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !deaf && let Err(signal) = py.check_signals() {
                return self.flee(py, signal);
            }
            if let Some((_, waits_long)) = long.take_if(|(at, _)| *at <= Instant::now())
                && let Err(raised) = waits_long()
            {
                return self.flee(py, raised);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return match py.detach(move || self.leave()) {
                    Some(Err(Error::Cancelled)) => Ok(Ok(Answer::default())),
                    Some(result) => Ok(result),
                    None => Err(dropped()),
                };
            }
        }
    }

    /// Ends the request and returns what came of it all the same.
    fn leave(&mut self) -> Option<Done> {
        self.client.cancel(self.ticket);
        self.waiting.recv().ok()
    }

    /// Leaves nothing behind, for a signal handler that has raised.
    fn flee(mut self, py: Python<'_>, signal: PyErr) -> PyResult<Done> {
        py.detach(move || {
            if let Some(result) = self.leave() {
                give_back(self.client, self.request, result);
            }
        });
        Err(signal)
    }

    /// Hears signals a last time: Python would raise them before its caller has the hold, and nobody could release it.
    fn deliver(&self, py: Python<'_>, result: Done) -> PyResult<Done> {
        if self.request.op == Op::Acquire
            && let Err(signal) = py.check_signals()
        {
            py.detach(|| give_back(self.client, self.request, result));
            return Err(signal);
        }
        Ok(result)
    }
}

pub fn receive<T>(waiting: &mut Receiver<T>, slice: Option<Duration>) -> Result<T, RecvTimeoutError> {
    match slice {
        Some(slice) => waiting.recv_timeout(slice),
        None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// Releases what was acquired for a caller that has left. If that does not work, the client knows the hold and it ends with its lease.
fn give_back(client: &Client, request: &Request, result: Done) {
    if let Ok(Answer { done: true, number, .. }) = result {
        let release = Request { op: Op::Release, hold: number.unsigned_abs(), ..request.clone() };
        let _ = client.run_blocking(release);
    }
}

/// Python runs signal handlers on its main thread only. Asking runs Python code, so that they may run, and raise, in here.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

fn dropped() -> PyErr {
    PyRuntimeError::new_err("the client's I/O thread ended without an answer; this is a bug of redlatch")
}
