//! Runs one request to its end on the caller's thread, without the GIL. On the main thread it handles signals while it
//! waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use redlatch::ffi::{Answer, Border, Op, Request, Seat, WaitEnd};
use redlatch::{Client, Error};

use crate::at_exit;

type Done = redlatch::Result<Answer>;
type WaitsLong<'a> = &'a dyn Fn() -> PyResult<()>;

/// The longest time for which the main thread does not handle signals.
pub const SLICE: Duration = Duration::from_millis(50);

/// After so long a wait a check is made: the caller may wait for its own hold.
pub const LONG: Duration = Duration::from_secs(5);

/// Returns the result of `request`, or the exception of a signal handler (Ctrl-C). In that case no lock stays held.
pub fn run(py: Python<'_>, client: &Client, request: Request) -> PyResult<Done> {
    run_and_tell(py, client, request, None)
}

/// The same for an acquire. It calls `waits_long` once if it waits for [`LONG`]. An exception of that function ends the
/// wait.
pub fn acquire(py: Python<'_>, client: &Client, request: Request, waits_long: WaitsLong) -> PyResult<Done> {
    run_and_tell(py, client, request, Some(waits_long))
}

fn run_and_tell(py: Python<'_>, client: &Client, request: Request, waits_long: Option<WaitsLong>) -> PyResult<Done> {
    // The caller waits until the outcome has come, so none is late.
    let seat = Seat::new(client.ticket(), |_, _| {});
    let parked = Parked { client, request: &request, seat: &seat };
    let request = request.clone();
    let deadline = parked.deadline();
    let started = py.detach(|| client.start(Duration::MAX, &seat, request));
    let done = match started {
        Some(result) => parked.deliver(py, result),
        None => parked.wait(py, deadline, waits_long),
    }?;
    at_exit::hold_back_daemon(py, &done);
    Ok(done)
}

/// A caller that waits while the I/O thread carries out its request.
struct Parked<'a> {
    client: &'a Client,
    request: &'a Request,
    seat: &'a Arc<Seat>,
}

impl Parked<'_> {
    /// When this caller has to end its wait itself. The core ends the wait of an acquire, but it watches a hold as long
    /// as the hold lasts.
    fn deadline(&self) -> Option<Instant> {
        let wait = self.request.wait.filter(|_| self.request.op == Op::Watch)?;
        Instant::now().checked_add(wait)
    }

    fn wait(self, py: Python<'_>, deadline: Option<Instant>, waits_long: Option<WaitsLong>) -> PyResult<Done> {
        // Other operations end within the response time-out. Giving one up half-way would leave it open whether it was
        // carried out.
        let may_leave = matches!(self.request.op, Op::Acquire | Op::Watch);
        let deaf = match may_leave.then(|| is_main_thread(py)) {
            None | Some(Ok(false)) => true,
            Some(Ok(true)) => false,
            Some(Err(signal)) => return self.give_up(py, signal),
        };
        let mut long = waits_long.and_then(|waits_long| Some((Instant::now().checked_add(LONG)?, waits_long)));
        loop {
            let next = [deadline, long.map(|(at, _)| at)].into_iter().flatten().min();
            let left = next.map(|next| next.saturating_duration_since(Instant::now()));
            let slice = if deaf { left } else { Some(left.unwrap_or(SLICE).min(SLICE)) };
            match py.detach(|| self.seat.wait(slice)) {
                WaitEnd::Over(result) => return self.deliver(py, result),
                WaitEnd::Gone => return Err(dropped()),
                WaitEnd::NotYet => {}
            }
            if !deaf && let Err(signal) = py.check_signals() {
                return self.give_up(py, signal);
            }
            if let Some((_, waits_long)) = long.take_if(|(at, _)| *at <= Instant::now())
                && let Err(raised) = waits_long()
            {
                return self.give_up(py, raised);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return match py.detach(move || self.cancel()) {
                    Some(Err(Error::Cancelled)) => Ok(Ok(Answer::default())),
                    Some(result) => Ok(result),
                    None => Err(dropped()),
                };
            }
        }
    }

    /// Cancels the request and returns its result. It may have succeeded before the cancellation.
    fn cancel(&self) -> Option<Done> {
        self.seat.insist();
        self.client.cancel(self.seat.ticket());
        match self.seat.wait(None) {
            WaitEnd::Over(result) => Some(result),
            WaitEnd::NotYet | WaitEnd::Gone => None,
        }
    }

    /// Ends the request, releases a lock that it took, and raises the exception of a signal handler.
    fn give_up(self, py: Python<'_>, signal: PyErr) -> PyResult<Done> {
        py.detach(move || {
            if let Some(result) = self.cancel() {
                give_back(self.client, self.request, result);
            }
        });
        Err(signal)
    }

    /// Returns the result, after a last look for signals. Python would handle them before its caller has the hold, and
    /// if a handler raises, no program could release that hold.
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

/// Releases a lock that was acquired for a caller that has given up. If the release fails, the hold ends with its
/// lease.
fn give_back(client: &Client, request: &Request, result: Done) {
    if let Ok(Answer { done: true, number, .. }) = result {
        let release = Request { op: Op::GiveBack, hold: number.unsigned_abs(), ..request.clone() };
        let _ = client.run_blocking(release);
    }
}

/// Whether this is the thread on which Python runs signal handlers. This runs Python code, so a handler may run, and
/// raise, in it.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

fn dropped() -> PyErr {
    PyRuntimeError::new_err("the client's I/O thread ended without an answer; this is a bug of redlatch")
}
