//! One hold: its state as this process knows it, and the operations on it. Holds of threads and holds of tasks share
//! this.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pyo3::prelude::*;
use redlatch::ffi::{self, Border, Look, Op, Request};

use crate::completions::Completions;
use crate::gone::Dropped;
use crate::here::Here;
use crate::mailbox::Mailbox;
use crate::named::Named;
use crate::object::Object;
use crate::outcome::{self, LOST, Outcome};
use crate::park;
use crate::pending::{Meaning, Pending};

/// The shortest lease of a key.
const SHORTEST: Duration = Duration::from_millis(1);

/// The serial number of the latest hold. It starts with 1, so that Python never takes a serial number for false.
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
    /// Greater than the serial number of every earlier hold of this process.
    pub serial: u64,
    /// The process that acquired it. A forked child has a copy of this object, and a client of its own with other
    /// numbers.
    process: u32,
    /// The drop of this object needs no action: the hold was released, or can be released without this object.
    settled: AtomicBool,
    /// The client renews it by a lease of its own, so its drop gives it back.
    renewed: AtomicBool,
    /// The loss, once this object has learnt of it. The client forgets a loss some time after the release.
    loss: OnceLock<Outcome>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if *self.settled.get_mut() {
            return;
        }
        if *self.renewed.get_mut() {
            return self.release_last();
        }
        let dropped =
            Dropped { named: self.named.clone(), owner: self.owner, number: self.number, process: self.process };
        // At the end of the interpreter nothing is attached. Its clients are closed then.
        let _ = Python::try_attach(|py| dropped.settle(py));
    }
}

#[pymethods]
impl Held {
    #[new]
    #[pyo3(signature = (object, owner, number, token, process = None))]
    pub fn new(object: &Object, owner: i64, number: u64, token: Option<i64>, process: Option<u32>) -> Self {
        // A renewed permit can be given back by its id, which a program may have stored anywhere.
        let settled = AtomicBool::new(object.named.kind == "permit");
        let serial = SERIALS.fetch_add(1, Relaxed) + 1;
        Held {
            named: object.named.clone(),
            owner,
            number,
            token,
            serial,
            process: process.unwrap_or_else(std::process::id),
            settled,
            renewed: AtomicBool::new(false),
            loss: OnceLock::new(),
        }
    }

    /// The lock's name.
    #[getter]
    fn name(&self) -> &str {
        self.named.shown()
    }

    /// The owner's number: that of the thread, task or acquire, or the one that `get_lock` was given.
    #[getter]
    pub fn owner(&self) -> i64 {
        self.owner
    }

    /// The fencing token, greater than the token of every earlier hold of this lock; None: the lock gives none.
    #[getter]
    fn token(&self) -> Option<i64> {
        self.token
    }

    /// Raises NotHeldError if this object is a forked child's copy of its parent's hold.
    fn _refuse_in_a_fork(&self, py: Python<'_>) -> PyResult<()> {
        match self.request(Op::Watch) {
            Ok(_) => Ok(()),
            Err(error) => Err(outcome::exception(py, &error, self.named.shown())),
        }
    }

    /// The state as this process knows it, without a call to Redis: the microseconds that remain, a loss, or "not now"
    /// for released.
    fn _look(&self) -> Outcome {
        match self.request(Op::Watch) {
            Ok(request) => match self.named.client.look(request.hold) {
                held @ Look::Held { .. } => outcome::from_look(held),
                Look::Lost(_) | Look::Gone => self.look_back(request.hold),
            },
            Err(error) => outcome::from_error(&error),
        }
    }

    /// Whether another client has asked for its release, without a call to the server.
    ///
    /// It is a request and no more: the hold stays. On ZooKeeper Curator's `Revoker` asks so; clients of other systems
    /// cannot.
    #[getter]
    fn wanted(&self) -> bool {
        self.request(Op::Watch).is_ok_and(|request| self.named.client.is_wanted(request.hold))
    }

    /// Puts the outcome of its end into `completions`, under `key`.
    fn _watch(&self, completions: &Completions, key: u64) {
        let client = &self.named.client;
        let queue = completions.core.clone();
        match self.request(Op::Watch) {
            Ok(request) => client.submit(client.ticket(), request, move |result| queue.push(key, result)),
            Err(error) => queue.push(key, Err(error)),
        }
    }

    /// Starts an operation on this hold. A task of the mailbox's loop awaits the outcome.
    fn _submit(&self, mailbox: &Bound<'_, Mailbox>, op: i32) -> PyResult<Py<Pending>> {
        let request = Op::from_number(op).and_then(|op| self.request(op));
        Mailbox::submit(mailbox, &self.named, request, Meaning::Outcome)
    }

    /// Starts the release, where no caller can wait for it. The client goes on with it while the server refuses it.
    fn _release_soon(&self) {
        self.settled.store(true, Relaxed);
        self.release_last();
    }

    /// Starts the release. The task that runs awaits its end. None: it is over.
    fn _end(slf: &Bound<'_, Self>) -> PyResult<Option<Py<Pending>>> {
        Held::begin_end(slf, slf.get().request(Op::Release))
    }

    /// Starts to renew it every third of `lease` seconds, until it has ended. A task of the mailbox's loop awaits the
    /// outcome.
    fn _begin_renewal(&self, mailbox: &Bound<'_, Mailbox>, lease: f64) -> PyResult<Py<Pending>> {
        Mailbox::submit(mailbox, &self.named, self.renewing(lease), Meaning::Outcome)
    }

    /// Starts to make it last for so many seconds from now on. A task of the mailbox's loop awaits the outcome.
    fn _begin_extension(&self, mailbox: &Bound<'_, Mailbox>, lease: f64) -> PyResult<Py<Pending>> {
        Mailbox::submit(mailbox, &self.named, self.extending(lease), Meaning::Outcome)
    }

    /// As `_end`, but the key stays at the server until `at_least` seconds have passed since the hold began. None: it is
    /// over, or the hold was released before.
    fn _begin_letting_go(slf: &Bound<'_, Self>, at_least: Option<f64>) -> PyResult<Option<Py<Pending>>> {
        if slf.get().settled.load(Relaxed) {
            return Ok(None);
        }
        Held::begin_end(slf, slf.get().letting_go(at_least))
    }

    /// The same, where no caller can wait for it.
    fn _let_go_soon(&self, at_least: Option<f64>) {
        if self.settled.swap(true, Relaxed) {
            return;
        }
        if let Ok(request) = self.letting_go(at_least) {
            let client = &self.named.client;
            client.submit(client.ticket(), request, drop);
        }
    }
}

impl Held {
    /// The same for other native code. A forked child's copy of its parent's hold is no hold.
    pub fn look(&self) -> Look {
        self.request(Op::Watch).map_or(Look::Gone, |request| self.named.client.look(request.hold))
    }

    /// Releases it, or raises the error. At the end of a block whose body failed, `body` is that error, and the
    /// release's error becomes a note of it.
    pub fn release(&self, py: Python<'_>, body: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.end(py, self.request(Op::Release), body)
    }

    /// Releases it, but its key stays at the server until `at_least` seconds have passed since the hold began. Raises
    /// the error. A hold that was released before stays as it is.
    pub fn let_go(&self, py: Python<'_>, at_least: Option<f64>) -> PyResult<()> {
        if self.settled.load(Relaxed) {
            return Ok(());
        }
        self.end(py, self.letting_go(at_least), None)
    }

    fn end(&self, py: Python<'_>, request: redlatch::Result<Request>, body: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.settled.store(true, Relaxed);
        let result = match request {
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

    /// Starts an end of it. The task that runs awaits it. None: it is over.
    fn begin_end(slf: &Bound<'_, Self>, request: redlatch::Result<Request>) -> PyResult<Option<Py<Pending>>> {
        let here = Here::find(slf.as_any())?;
        let this = slf.get();
        this.settled.store(true, Relaxed);
        let meaning = Meaning::Release { held: slf.clone().unbind() };
        Mailbox::release(&here.mailbox, &this.named, request, meaning)
    }

    /// Releases it, and no caller hears of the end.
    pub fn release_last(&self) {
        if let Ok(request) = self.request(Op::Release) {
            let client = &self.named.client;
            client.submit(client.ticket(), Request { last: true, ..request }, drop);
        }
    }

    /// The loss of a hold that has ended, or "not now" if it was released.
    fn look_back(&self, number: u64) -> Outcome {
        let Some(loss) = self.named.client.loss_of(number) else {
            return self.loss.get().cloned().unwrap_or_else(|| outcome::from_look(Look::Gone));
        };
        let loss = outcome::from_look(Look::Lost(loss));
        self.note_loss(loss.clone());
        loss
    }

    /// Keeps the outcome of a release if it is a loss.
    pub fn note_loss(&self, outcome: Outcome) {
        if outcome.status == LOST {
            let _ = self.loss.set(outcome);
        }
    }

    pub fn watching(&self, wait: Option<f64>) -> redlatch::Result<Request> {
        Ok(Request { wait: outcome::duration(wait)?, ..self.request(Op::Watch)? })
    }

    pub fn extending(&self, lease: f64) -> redlatch::Result<Request> {
        Ok(Request { lease: outcome::duration(Some(lease))?, ..self.request(Op::Extend)? })
    }

    pub fn renewing(&self, lease: f64) -> redlatch::Result<Request> {
        let request = Request { lease: outcome::duration(Some(lease))?, ..self.request(Op::Renew)? };
        self.renewed.store(true, Relaxed);
        Ok(request)
    }

    fn letting_go(&self, at_least: Option<f64>) -> redlatch::Result<Request> {
        let at_least = outcome::duration(at_least)?.filter(|at_least| !at_least.is_zero());
        let lease = at_least.map(|at_least| at_least.max(SHORTEST));
        Ok(Request { lease, ..self.request(Op::LetGo)? })
    }

    fn request(&self, op: Op) -> redlatch::Result<Request> {
        if self.process != std::process::id() {
            return Err(ffi::inherited(self.named.name.to_string()));
        }
        Ok(Request { hold: self.number, ..self.named.request(op, self.owner) })
    }
}
