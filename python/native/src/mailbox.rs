//! What has ended and an event loop is to be told: a queue, and a file descriptor that is readable while something is in it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use redlatch::{Client, Error, Op, Request};

use crate::outcome::{self, Outcome};
use crate::taken::Taken;

/// The queue of one loop. When it is dropped, which is when its loop was closed, what is taken from then on is given back.
#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Mailbox {
    shared: Arc<Shared>,
    process: u32,
}

/// A mailbox, and the key under which something is put in.
pub type To<'py> = (PyRef<'py, Mailbox>, u64);

/// How a request ended: nothing is to be given back, or something is.
#[derive(IntoPyObject)]
pub enum Ended {
    Outcome(Outcome),
    Taken(Taken),
}

struct Shared {
    state: Mutex<State>,
    /// Both ends, so that nobody ever writes to a closed one.
    rings: UnixStream,
    hears: UnixStream,
}

#[derive(Default)]
struct State {
    ended: Vec<(u64, Ended)>,
    /// The loop was told and has not looked yet.
    rung: bool,
    dropped: bool,
}

#[pymethods]
impl Mailbox {
    #[new]
    fn new() -> PyResult<Self> {
        let (rings, hears) = UnixStream::pair()?;
        rings.set_nonblocking(true)?;
        hears.set_nonblocking(true)?;
        Ok(Mailbox { shared: Arc::new(Shared { state: Mutex::default(), rings, hears }), process: std::process::id() })
    }

    /// What is readable while something is in it.
    fn fileno(&self) -> i32 {
        self.shared.hears.as_raw_fd()
    }

    /// Takes everything, as `(key, how it ended)`.
    fn empty(&self) -> PyResult<Vec<(u64, Ended)>> {
        // Before looking, so that what comes from now on rings again.
        match (&self.shared.hears).read(&mut [0; 8]) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Err(error.into()),
            _ => {}
        }
        let mut state = self.shared.state();
        state.rung = false;
        Ok(std::mem::take(&mut state.ended))
    }
}

impl Mailbox {
    /// Has a request carried out, whose end is put in here under `key`; gives the ticket to cancel it by.
    pub fn submit(&self, key: u64, client: &Client, request: redlatch::Result<Request>) -> redlatch::Result<u64> {
        let (ticket, put) = (client.ticket(), self.opening(key)?);
        match request {
            Ok(request) => {
                let orphan = (request.op == Op::Acquire).then(|| (client.clone(), request.clone()));
                client.submit(ticket, request, move |result| {
                    put(match (orphan, result) {
                        (Some((client, request)), Ok(answer)) if answer.done => Ended::Taken(Taken::new(client, request, answer)),
                        (_, result) => Ended::Outcome(outcome::from_result(result)),
                    });
                });
            }
            Err(error) => put(Ended::Outcome(outcome::from_error(&error))),
        }
        Ok(ticket)
    }

    /// What puts something in under `key`, on whichever thread.
    pub fn opening(&self, key: u64) -> redlatch::Result<impl FnOnce(Ended) + Send + 'static> {
        if self.process != std::process::id() {
            let why = "this event loop belongs to the process that forked this one; run a new one here, as `asyncio.run` does";
            return Err(Error::Unsupported(why.into()));
        }
        let shared = self.shared.clone();
        Ok(move |ended| shared.put(key, ended))
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // What a forked child has a copy of is its parent's, and might be locked for ever.
        if self.process == std::process::id() {
            let mut state = self.shared.state();
            state.dropped = true;
            let ended = std::mem::take(&mut state.ended);
            drop(state);
            drop(ended);
        }
    }
}

impl Shared {
    fn put(&self, key: u64, ended: Ended) {
        let mut state = self.state();
        if state.dropped {
            drop(state);
            return drop(ended);
        }
        state.ended.push((key, ended));
        let silent = !std::mem::replace(&mut state.rung, true);
        drop(state);
        if silent {
            // One byte at most is under way, so there is always room for it.
            let _ = (&self.rings).write(&[1]);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}
