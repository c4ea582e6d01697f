//! What is known of one acquire that is not released, and can be asked of it, by whatever means its owner waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use redlatch::{Error, Look, Op, Request};

use crate::completions::Completions;
use crate::gone::Dropped;
use crate::mailbox::Mailbox;
use crate::named::Named;
use crate::object::Object;
use crate::outcome::{self, LOST, Outcome};
use crate::park;
use crate::pending::{Meaning, Pending};

/// The serial number of the latest hold; of none it is 1, so that Python takes none of them for false.
static SERIALS: AtomicU64 = AtomicU64::new(1);

/// The serial number of the latest hold that this process took.
#[pyfunction]
pub fn latest_serial() -> u64 {
    SERIALS.load(Relaxed)
}

#[pyclass(subclass, frozen, module = "redlatch._redlatch")]
pub struct Held {
    pub named: Arc<Named>,
    owner: i64,
    number: u64,
    token: Option<i64>,
    /// Greater than that of every hold of this process before.
    pub serial: u64,
    /// A forked child has a copy of this object, and a client of its own that numbers its holds anew.
    process: u32,
    /// It needs no release any more, or has other means than this object to be released.
    settled: AtomicBool,
    /// How it was lost, once this is known here: the client forgets it some time after its release.
    loss: OnceLock<Outcome>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if *self.settled.get_mut() {
            return;
        }
        let dropped = Dropped { named: self.named.clone(), owner: self.owner, number: self.number, process: self.process };
        // `None`: the interpreter ends, and its clients are closed.
        let _ = Python::try_attach(|py| dropped.settle(py));
    }
}

#[pymethods]
impl Held {
    #[new]
    pub fn new(object: &Object, owner: i64, number: u64, token: Option<i64>) -> Self {
        // A renewed permit is given back by its id, which may be written down anywhere.
        let settled = AtomicBool::new(object.named.kind == "permit");
        let serial = SERIALS.fetch_add(1, Relaxed) + 1;
        Held { named: object.named.clone(), owner, number, token, serial, process: std::process::id(), settled, loss: OnceLock::new() }
    }

    /// The lock's name.
    #[getter]
    fn name(&self) -> &str {
        self.named.shown()
    }

    /// The number that stands for the owner: one per thread, or what `get_lock` was given.
    #[getter]
    pub fn owner(&self) -> i64 {
        self.owner
    }

    /// The fencing token: greater than that of every hold of this lock before; None: this kind of lock has none.
    #[getter]
    fn token(&self) -> Option<i64> {
        self.token
    }

    /// Raises NotHeldError if this is a copy of another process's hold.
    fn _refuse_in_a_fork(&self, py: Python<'_>) -> PyResult<()> {
        match self.request(Op::Watch) {
            Ok(_) => Ok(()),
            Err(error) => Err(outcome::exception(py, &error, self.named.shown())),
        }
    }

    /// What this process knows of it, without asking Redis: the microseconds that remain, lost, or "not now" for released.
    fn _look(&self) -> Outcome {
        match self.request(Op::Watch) {
            Ok(request) => match self.named.client.look(request.hold) {
                held @ Look::Held { .. } => outcome::from_look(held),
                Look::Lost(_) | Look::Gone => self.look_back(request.hold),
            },
            Err(error) => outcome::from_error(&error),
        }
    }

    /// Puts the outcome of its end into `completions`, under `key`.
    fn _watch(&self, completions: &Completions, key: u64) {
        let (client, queue) = (&self.named.client, completions.core.clone());
        match self.request(Op::Watch) {
            Ok(request) => client.submit(client.ticket(), request, move |result| queue.push(key, result)),
            Err(error) => queue.push(key, Err(error)),
        }
    }

    /// Has an operation on this hold carried out: its outcome is awaited in the loop of that mailbox.
    fn _submit(&self, mailbox: &Bound<'_, Mailbox>, op: i32) -> PyResult<Py<Pending>> {
        let request = Op::from_number(op).and_then(|op| self.request(op));
        Mailbox::submit(mailbox, &self.named.client, request, Meaning::Outcome)
    }

    /// Has it released, soon: nothing can wait for that here. If it does not work, the client knows the hold and it ends with its lease.
    fn _leave(&self) {
        self.settled.store(true, Relaxed);
        if let Ok(request) = self.request(Op::Release) {
            let client = &self.named.client;
            client.submit(client.ticket(), request, drop);
        }
    }

    /// Releases it.
    fn _end(slf: &Bound<'_, Self>, mailbox: &Bound<'_, Mailbox>) -> PyResult<Py<Pending>> {
        let this = slf.get();
        this.settled.store(true, Relaxed);
        Mailbox::submit(mailbox, &this.named.client, this.request(Op::Release), Meaning::Release { held: slf.clone().unbind() })
    }
}

impl Held {
    /// The same, for other native code. A copy of another process's hold is none.
    pub fn look(&self) -> Look {
        self.request(Op::Watch).map_or(Look::Gone, |request| self.named.client.look(request.hold))
    }

    /// Raises the error that there is; `body`: the end of a block that has failed with this, of whose error it becomes a note.
    pub fn release(&self, py: Python<'_>, body: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.settled.store(true, Relaxed);
        let result = match self.request(Op::Release) {
            Ok(request) => park::run(py, &self.named.client, request)?,
            Err(error) => Err(error),
        };
        if let Err(error) = &result {
            self.note_loss(outcome::from_error(error));
        }
        match (result, body) {
            (Err(error), Some(body)) => outcome::noted(body, &error),
            (Err(error), None) => Err(outcome::exception(py, &error, self.named.shown())),
            (Ok(_), _) => Ok(()),
        }
    }

    /// How it was lost, or "not now": it was released.
    fn look_back(&self, number: u64) -> Outcome {
        let Some(loss) = self.named.client.loss_of(number) else {
            return self.loss.get().cloned().unwrap_or_else(|| outcome::from_look(Look::Gone));
        };
        let loss = outcome::from_look(Look::Lost(loss));
        self.note_loss(loss.clone());
        loss
    }

    /// Notes what a release was told, if that is a loss.
    pub fn note_loss(&self, outcome: Outcome) {
        if outcome.0 == LOST {
            let _ = self.loss.set(outcome);
        }
    }

    pub fn watching(&self, wait: Option<f64>) -> redlatch::Result<Request> {
        Ok(Request { wait: outcome::duration(wait)?, ..self.request(Op::Watch)? })
    }

    pub fn extending(&self, lease: f64) -> redlatch::Result<Request> {
        Ok(Request { lease: outcome::duration(Some(lease))?, ..self.request(Op::Extend)? })
    }

    fn request(&self, op: Op) -> redlatch::Result<Request> {
        if self.process != std::process::id() {
            return Err(Error::Inherited { lock: self.named.name.clone() });
        }
        Ok(Request { hold: self.number, ..self.named.request(op, self.owner) })
    }
}
