//! The native half of everything that has a name on a server: locks, semaphores and latches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use redlatch::ffi::{self, Answer, Border, Op, Request, kinds};

use crate::client::Client;
use crate::here::Here;
use crate::mailbox::Mailbox;
use crate::named::Named;
use crate::outcome::{self, Outcome};
use crate::park;
use crate::pending::{Meaning, Pending};

type Times = (Option<f64>, Option<f64>);

/// The parts of the number of [`Blocks`].
const INSIDE: u64 = u16::MAX as u64;
const INHERITED: u64 = INSIDE << u16::BITS;

/// The kind and the name of an object, and the value of a candidate.
#[derive(FromPyObject)]
pub enum What {
    Object(String, String),
    Candidate(String, String, String),
}

impl What {
    pub fn name(&self) -> &str {
        match self {
            What::Object(_, name) | What::Candidate(_, name, _) => name,
        }
    }
}

/// A lock, semaphore or latch, which the server knows by its name.
#[pyclass(subclass, frozen, module = "redlatch._redlatch")]
pub struct Object {
    pub named: Arc<Named>,
}

#[pymethods]
impl Object {
    /// `what` is its kind and its name, and for a candidate its value. `numbers` are those of its requests that give none of their own.
    #[new]
    #[pyo3(signature = (client, what, numbers = Vec::new()))]
    fn new(py: Python<'_>, client: &Client, what: What, numbers: Vec<i64>) -> PyResult<Self> {
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
        Mailbox::submit(mailbox, &self.named, self.request(op, owner, times, numbers), Meaning::Outcome)
    }

    /// Asks who leads, or with `seen` waits until another process does. Returns the outcome and its texts.
    fn _ask_leader(&self, py: Python<'_>, owner: i64, seen: Option<Vec<u8>>) -> PyResult<(Outcome, Vec<Vec<u8>>)> {
        park::run(py, &self.named.client, self.leader_question(owner, seen)).map(outcome::with_texts)
    }

    /// The same. A task of the mailbox's loop awaits it.
    fn _submit_leader(&self, mailbox: &Bound<'_, Mailbox>, owner: i64, seen: Option<Vec<u8>>) -> PyResult<Py<Pending>> {
        Mailbox::submit(mailbox, &self.named, Ok(self.leader_question(owner, seen)), Meaning::Texts)
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
        Mailbox::submit(mailbox, named, request, meaning)
    }

    /// As `_begin`, for the task that runs as the owner.
    fn _begin_own(
        slf: &Bound<'_, Self>,
        class: Py<PyAny>,
        wait: Option<f64>,
        lease: Option<f64>,
    ) -> PyResult<Py<Pending>> {
        let here = Here::find(slf.as_any())?;
        let (caller, owner) = here.task()?;
        Object::_begin(slf, &here.mailbox, class, caller.unbind(), owner, wait, lease)
    }

    /// Starts the release of the latest hold of `owner`, None: of the task that runs. The task awaits its end. None: it is
    /// over.
    fn _end(slf: &Bound<'_, Self>, owner: Option<i64>) -> PyResult<Option<Py<Pending>>> {
        let here = Here::find(slf.as_any())?;
        let owner = owner.map_or_else(|| here.task().map(|(_, owner)| owner), Ok)?;
        let named = &slf.get().named;
        let meaning = Meaning::Nothing { named: named.clone() };
        Mailbox::release(&here.mailbox, named, Ok(named.request(Op::Release, owner)), meaning)
    }
}

impl Object {
    pub fn of(py: Python<'_>, client: &Client, what: What, numbers: Vec<i64>) -> PyResult<Self> {
        let (kind, name, value) = match what {
            What::Object(kind, name) => (kind, name, None),
            What::Candidate(kind, name, value) => (kind, name, Some(value)),
        };
        match kinds::name_of(&kind) {
            Ok(kind) => {
                let client = client.core.clone();
                Ok(Object { named: Arc::new(Named { client, kind, name: name.into(), numbers, value }) })
            }
            Err(error) => Err(outcome::exception(py, &error, &name)),
        }
    }

    fn leader_question(&self, owner: i64, seen: Option<Vec<u8>>) -> Request {
        match seen {
            Some(seen) => Request { wait: None, texts: vec![seen], ..self.named.request(Op::Acquire, owner) },
            None => self.named.request(Op::Inspect, owner),
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
    inside: Blocks,
}

/// The number of blocks that are inside, of the threads of one process. A child by a fork has copies of them, and no
/// permits: it counts them apart from its own.
struct Blocks(AtomicU64);

impl Blocks {
    fn enter(&self) {
        let one_more = |state| Some(Self::own(state) + 1);
        let _ = self.0.fetch_update(SeqCst, SeqCst, one_more);
    }

    /// False: the block is that of the process that forked this one. A permit that no block has taken belongs to its
    /// caller.
    fn leave(&self) -> bool {
        let one_less = |state| match Self::own(state) {
            own if own & INSIDE > 0 => Some(own - 1),
            own if own & INHERITED > 0 => Some(own - (INSIDE + 1)),
            _ => None,
        };
        let before = self.0.fetch_update(SeqCst, SeqCst, one_less);
        before.is_err() || before.is_ok_and(|state| Self::own(state) & INSIDE > 0)
    }

    /// The process in the upper half. In the lower half the number of its blocks, below that of the blocks that it has
    /// copies of.
    fn own(state: u64) -> u64 {
        let process = u64::from(std::process::id()) << u32::BITS;
        let is_own = state & !(INHERITED | INSIDE) == process;
        let inherited = ((state & INHERITED) >> u16::BITS) + (state & INSIDE);
        if is_own { state } else { process | inherited.min(INSIDE) << u16::BITS }
    }
}

#[pymethods]
impl Permits {
    #[new]
    fn new(py: Python<'_>, client: &Client, what: What) -> PyResult<PyClassInitializer<Self>> {
        Ok(PyClassInitializer::from(Object::of(py, client, what, Vec::new())?)
            .add_subclass(Permits { inside: Blocks(AtomicU64::new(0)) }))
    }

    /// Takes one permit. Raises NotAcquiredError when the `wait` of `get_semaphore` ends.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        // This runs Python code, so it comes before the acquire.
        let prepared = slf.call_method0(intern!(slf.py(), "_prepare"))?;
        let (left, may_wait): (Option<f64>, bool) = prepared.extract()?;
        let shown = slf.as_super().get().named.shown();
        let left = outcome::duration(left).map_err(|error| outcome::exception(slf.py(), &error, shown))?;
        let this = slf.get();
        let wait = if may_wait { left } else { Some(Duration::ZERO) };
        match this.run(slf, Op::Acquire, wait)? {
            Ok(Answer { done: true, .. }) => {
                this.inside.enter();
                Ok(slf.clone())
            }
            Ok(_) if wait != left => Err(PyErr::from_value(slf.call_method0(intern!(slf.py(), "_would_block"))?)),
            Ok(_) => Err(PyErr::from_value(slf.call_method0(intern!(slf.py(), "_not_entered"))?)),
            Err(error) => Err(outcome::exception(slf.py(), &error, shown)),
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
