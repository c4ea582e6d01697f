//! The native half of everything that has a name on a server: locks, semaphores and latches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use redlatch::ffi::{self, Answer, Border, Op, Request, kinds};

use crate::client::Client;
use crate::mailbox::Mailbox;
use crate::named::Named;
use crate::outcome;
use crate::park;
use crate::pending::{Meaning, Pending};

type Times = (Option<f64>, Option<f64>);

/// The lower half of a number.
const COUNT: u64 = u32::MAX as u64;

/// A lock, semaphore or latch, which the server knows by its name.
#[pyclass(subclass, frozen, module = "redlatch._redlatch")]
pub struct Object {
    pub named: Arc<Named>,
}

#[pymethods]
impl Object {
    /// `what` is its kind and its name. `numbers` are those of its requests that give none of their own.
    #[new]
    #[pyo3(signature = (client, what, numbers = Vec::new()))]
    fn new(py: Python<'_>, client: &Client, what: (String, String), numbers: Vec<i64>) -> PyResult<Self> {
        Object::of(py, client, what, numbers)
    }

    /// The name, without the client's prefix.
    #[getter]
    fn name(&self) -> &str {
        self.named.shown()
    }

    /// Whether its server grants no new lock now, because of a quarantine. No call goes to Redis.
    fn _held_back(&self) -> bool {
        self.named.client.is_held_back(&self.named.name)
    }

    /// The owners of its client that hold it now. Of several locks: the owners of any of them. No call goes to Redis.
    fn _owners(&self) -> Vec<i64> {
        self.named.client.owners(&self.named.name)
    }

    /// Runs an operation for `owner` and puts its outcome into `done`. `times` are its wait and its lease.
    fn _run(
        &self,
        py: Python<'_>,
        op: i32,
        owner: i64,
        times: Times,
        numbers: Vec<i64>,
        done: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        match self.request(op, owner, times, numbers) {
            Ok(request) => done.append(outcome::from_result(park::run(py, &self.named.client, request)?)),
            Err(error) => done.append(outcome::from_error(&error)),
        }
    }

    /// Starts an operation for `owner`. A task of the mailbox's loop awaits the outcome.
    fn _submit(
        &self,
        mailbox: &Bound<'_, Mailbox>,
        op: i32,
        owner: i64,
        times: Times,
        numbers: Vec<i64>,
    ) -> PyResult<Py<Pending>> {
        Mailbox::submit(mailbox, &self.named.client, self.request(op, owner, times, numbers), Meaning::Outcome)
    }

    /// Starts an acquire for `owner`, which `caller` called. A task of the mailbox's loop awaits a hold of `class`, or
    /// None.
    fn _begin(
        slf: &Bound<'_, Self>,
        mailbox: &Bound<'_, Mailbox>,
        class: Py<PyAny>,
        caller: Py<PyAny>,
        owner: i64,
        wait: Option<f64>,
        lease: Option<f64>,
    ) -> PyResult<Py<Pending>> {
        let named = &slf.get().named;
        let times = || Ok((outcome::duration(wait)?, outcome::duration(lease)?));
        let request = times().map(|(wait, lease)| Request { wait, lease, ..named.request(Op::Acquire, owner) });
        let meaning =
            Meaning::Hold { lock: slf.clone().into_any().unbind(), named: named.clone(), class, caller, owner };
        Mailbox::submit(mailbox, &named.client, request, meaning)
    }

    /// Starts the release of the owner's latest hold. A task of the mailbox's loop awaits its end.
    fn _end(&self, mailbox: &Bound<'_, Mailbox>, owner: i64) -> PyResult<Py<Pending>> {
        let meaning = Meaning::Nothing { named: self.named.clone() };
        Mailbox::submit(mailbox, &self.named.client, Ok(self.named.request(Op::Release, owner)), meaning)
    }
}

impl Object {
    pub fn of(py: Python<'_>, client: &Client, (kind, name): (String, String), numbers: Vec<i64>) -> PyResult<Self> {
        match kinds::name_of(&kind) {
            Ok(kind) => {
                Ok(Object { named: Arc::new(Named { client: client.core.clone(), kind, name: name.into(), numbers }) })
            }
            Err(error) => Err(outcome::exception(py, &error, &name)),
        }
    }

    fn request(&self, op: i32, owner: i64, times: Times, numbers: Vec<i64>) -> redlatch::Result<Request> {
        let mut request = self.named.request(Op::from_number(op)?, owner);
        if !numbers.is_empty() {
            request.numbers = numbers;
        }
        Ok(Request { wait: outcome::duration(times.0)?, lease: outcome::duration(times.1)?, ..request })
    }
}

/// A semaphore, of which a block takes one permit. The acquire is one C call, so that no signal handler can run between
/// it and the block.
#[pyclass(extends = Object, subclass, frozen, module = "redlatch._redlatch")]
pub struct Permits {
    /// How long a block waits for its permit.
    wait: Option<Duration>,
    inside: Blocks,
}

/// The number of blocks that are inside, of the threads of one process: its child by a fork has copies of them, and no
/// permits.
struct Blocks(AtomicU64);

impl Blocks {
    fn enter(&self) {
        let one_more = |state| Some(Self::own(state) + 1);
        let _ = self.0.fetch_update(SeqCst, SeqCst, one_more);
    }

    /// False: the block is that of the process that forked this one.
    fn leave(&self) -> bool {
        let one_less = |state| (Self::own(state) & COUNT > 0).then(|| Self::own(state) - 1);
        self.0.fetch_update(SeqCst, SeqCst, one_less).is_ok()
    }

    /// The process in the upper half, and the number in the lower one.
    fn own(state: u64) -> u64 {
        let process = u64::from(std::process::id()) << COUNT.count_ones();
        if state & !COUNT == process { state } else { process }
    }
}

#[pymethods]
impl Permits {
    #[new]
    fn new(
        py: Python<'_>,
        client: &Client,
        what: (String, String),
        wait: Option<f64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let wait = outcome::duration(wait).map_err(|error| outcome::exception(py, &error, &what.1))?;
        Ok(PyClassInitializer::from(Object::of(py, client, what, Vec::new())?)
            .add_subclass(Permits { wait, inside: Blocks(AtomicU64::new(0)) }))
    }

    /// Takes one permit. Raises NotAcquiredError when the `wait` of `get_semaphore` ends.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        // This runs Python code, so it comes before the acquire.
        let may_wait: bool = slf.call_method0(intern!(slf.py(), "_prepare"))?.extract()?;
        let this = slf.get();
        let wait = if may_wait { this.wait } else { Some(Duration::ZERO) };
        match this.run(slf, Op::Acquire, wait)? {
            Ok(Answer { done: true, .. }) => {
                this.inside.enter();
                Ok(slf.clone())
            }
            Ok(_) if wait != this.wait => Err(PyErr::from_value(slf.call_method0(intern!(slf.py(), "_would_block"))?)),
            Ok(_) => Err(PyErr::from_value(slf.call_method0(intern!(slf.py(), "_not_entered"))?)),
            Err(error) => Err(outcome::exception(slf.py(), &error, slf.as_super().get().named.shown())),
        }
    }

    /// Gives the permit back.
    ///
    /// If the body raised an error, that one is raised, and an error of the release becomes a note of it.
    #[pyo3(signature = (kind, error, at, /))]
    fn __exit__(
        slf: &Bound<'_, Self>,
        kind: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        at: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let _ = at;
        let given_back = match slf.get().inside.leave() {
            true => slf.get().run(slf, Op::GiveBack, None)?,
            false => Err(ffi::inherited(slf.as_super().get().named.name.to_string())),
        };
        match given_back {
            Ok(_) => Ok(()),
            Err(failure) if kind.is_none() => {
                Err(outcome::exception(slf.py(), &failure, slf.as_super().get().named.shown()))
            }
            Err(failure) => outcome::noted(error, &failure),
        }
    }
}

impl Permits {
    fn run(&self, slf: &Bound<'_, Self>, op: Op, wait: Option<Duration>) -> PyResult<redlatch::Result<Answer>> {
        let py = slf.py();
        let named = &slf.as_super().get().named;
        let owner = slf.getattr(intern!(py, "_this_thread"))?.getattr(intern!(py, "owner"))?.extract()?;
        let request = Request { wait, numbers: vec![1], ..named.request(op, owner) };
        park::run(py, &named.client, request)
    }
}
