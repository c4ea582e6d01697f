//! Runs one request to its end on the caller's thread, without the GIL; on the main thread signals are heard while it waits.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use redlatch::{Answer, Client, Op, Request};

type Done = redlatch::Result<Answer>;

/// How long the main thread is deaf to signals at most.
const SLICE: Duration = Duration::from_millis(50);

/// Returns what came of `request`, or the exception of a signal handler (Ctrl-C): then nothing is held.
pub fn run(py: Python<'_>, client: &Client, request: Request) -> PyResult<Done> {
    let ticket = client.ticket();
    let (done, waiting) = sync_channel(1);
    let back = request.clone();
    let started = py.detach(|| {
        client.start(ticket, request, move |result| {
            // Nobody listens any more only if the caller panicked.
            let _ = done.send(result);
        })
    });
    match started {
        Some(result) => deliver(py, client, &back, result),
        // What is not an acquire ends within the response time-out, and giving up half-way would leave it open what was done.
        None if back.op != Op::Acquire || !is_main_thread(py)? => py.detach(move || waiting.recv()).map_err(|_| dropped()),
        None => park(py, client, ticket, &back, waiting),
    }
}

fn park(py: Python<'_>, client: &Client, ticket: u64, request: &Request, mut waiting: Receiver<Done>) -> PyResult<Done> {
    loop {
        let receiver = &mut waiting;
        match py.detach(move || receiver.recv_timeout(SLICE)) {
            Ok(result) => return deliver(py, client, request, result),
            Err(RecvTimeoutError::Disconnected) => return Err(dropped()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals() {
            py.detach(move || {
                client.cancel(ticket);
                if let Ok(result) = waiting.recv() {
                    give_back(client, request, result);
                }
            });
            return Err(signal);
        }
    }
}

/// Hears signals a last time: Python would raise them before its caller has the hold, and nobody could release it.
fn deliver(py: Python<'_>, client: &Client, request: &Request, result: Done) -> PyResult<Done> {
    if request.op == Op::Acquire
        && let Err(signal) = py.check_signals()
    {
        py.detach(|| give_back(client, request, result));
        return Err(signal);
    }
    Ok(result)
}

/// Releases what was acquired for a caller that has left. If that does not work, the client knows the hold and it ends with its lease.
fn give_back(client: &Client, request: &Request, result: Done) {
    if let Ok(Answer { done: true, number, .. }) = result {
        let release = Request { op: Op::Release, hold: number.unsigned_abs(), ..request.clone() };
        let _ = client.run_blocking(release);
    }
}

/// Python runs signal handlers on its main thread only.
fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

fn dropped() -> PyErr {
    PyRuntimeError::new_err("the client's I/O thread ended without an answer; this is a bug of redlatch")
}
