//! The native half of `redlatch.Hold`. A release is one C call: once it is made, no signal handler runs before it is carried out.

use pyo3::prelude::*;
use redlatch::{Error, Op, Request};

use crate::completions::Completions;
use crate::lock::Lock;
use crate::outcome::{self, Outcome};
use crate::park;

#[pyclass(subclass, frozen, module = "redlatch._redlatch")]
pub struct Hold {
    lock: Py<Lock>,
    owner: i64,
    number: u64,
    token: Option<i64>,
    /// A forked child has a copy of this object, and a client of its own that numbers its holds anew.
    process: u32,
}

#[pymethods]
impl Hold {
    #[new]
    fn new(lock: Py<Lock>, owner: i64, number: u64, token: Option<i64>) -> Self {
        Hold { lock, owner, number, token, process: std::process::id() }
    }

    /// The lock's name.
    #[getter]
    fn name(&self) -> &str {
        self.lock.get().name()
    }

    /// The number that stands for the owner: one per thread, or what `get_lock` was given.
    #[getter]
    fn owner(&self) -> i64 {
        self.owner
    }

    /// The fencing token: greater than that of every hold of this lock before; None: this kind of lock has none.
    #[getter]
    fn token(&self) -> Option<i64> {
        self.token
    }

    /// Gives this one hold back, whichever thread asks; outer holds of the same owner stay.
    ///
    /// Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
    /// answer; then it is not renewed any more and ends with its lease.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.leave(py, true)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Releases. Its errors are raised only if the body succeeded: they must not hide the body's own.
    #[pyo3(signature = (kind, error, at, /))]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = (error, at);
        self.leave(kind.py(), kind.is_none())
    }

    /// Raises NotHeldError if this is a copy of another process's hold.
    fn _refuse_in_a_fork(&self, py: Python<'_>) -> PyResult<()> {
        match self.request(Op::Watch, None) {
            Ok(_) => Ok(()),
            Err(error) => Err(outcome::exception(py, &error, self.name())),
        }
    }

    /// What this process knows of it, without asking Redis: the microseconds that remain, lost, or "not now" for released.
    fn _look(&self) -> Outcome {
        match self.request(Op::Watch, None) {
            Ok(request) => outcome::from_look(self.lock.get().client().look(request.hold)),
            Err(error) => outcome::from_error(&error),
        }
    }

    /// Waits until it has ended: lost, or "not now" where it was released or `wait` is over.
    fn _wait(&self, py: Python<'_>, wait: Option<f64>) -> PyResult<Outcome> {
        match self.request(Op::Watch, wait) {
            Ok(request) => park::run(py, self.lock.get().client(), request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Has it last for so many seconds from now on.
    fn _extend(&self, py: Python<'_>, lease: f64) -> PyResult<Outcome> {
        let request = || Ok::<_, Error>(Request { lease: outcome::duration(Some(lease))?, ..self.request(Op::Extend, None)? });
        match request() {
            Ok(request) => park::run(py, self.lock.get().client(), request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Puts the outcome of its end into `completions`, under `key`.
    fn _watch(&self, completions: &Completions, key: u64) {
        let (client, queue) = (self.lock.get().client(), completions.core.clone());
        match self.request(Op::Watch, None) {
            Ok(request) => client.submit(client.ticket(), request, move |result| queue.push(key, result)),
            Err(error) => queue.push(key, Err(error)),
        }
    }
}

impl Hold {
    pub fn leave(&self, py: Python<'_>, loud: bool) -> PyResult<()> {
        let outcome = match self.request(Op::Release, None) {
            Ok(request) => outcome::from_result(park::run(py, self.lock.get().client(), request)?),
            Err(error) => outcome::from_error(&error),
        };
        if loud { outcome::raised(py, outcome, self.name()) } else { Ok(()) }
    }

    fn request(&self, op: Op, wait: Option<f64>) -> redlatch::Result<Request> {
        if self.process != std::process::id() {
            let owner = "this process but by the one that forked it".to_owned();
            return Err(Error::NotHeld { lock: self.name().to_owned(), owner });
        }
        let request = self.lock.get().request(op, self.owner);
        Ok(Request { wait: outcome::duration(wait)?, hold: self.number, ..request })
    }
}
