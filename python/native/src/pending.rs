//! A request that a task awaits. asyncio takes it for a future. It differs in one point: when the loop empties the
//! mailbox, it resumes the task directly. Scheduling the task in the loop's queue would cost more than the rest of the
//! Python work.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit, intern};
use redlatch::ffi::{Border, ErrorNumber};

use crate::held::Held;
use crate::named::Named;
use crate::outcome::{self, Outcome};
use crate::taken::Taken;

/// How a request ended: with an outcome, or with a lock that must be released if no task receives it.
pub enum Ended {
    Outcome(Outcome),
    /// An outcome with texts.
    Texts(Outcome, Vec<Vec<u8>>),
    Taken(Box<Taken>),
}

/// The form in which the task that awaits a request gets its end.
pub enum Meaning {
    Outcome,
    /// The outcome, and its texts.
    Texts,
    /// A hold of this class, or None; an error is raised. The task gets it by [`Pending::claim`].
    Hold {
        lock: Py<PyAny>,
        named: Arc<Named>,
        class: Py<PyAny>,
        /// The task, a `redlatch.owners.Caller`.
        caller: Py<PyAny>,
        owner: i64,
    },
    /// None; an error is raised, and a loss is noted.
    Release {
        held: Py<Held>,
    },
    /// None; an error is raised.
    Nothing {
        named: Arc<Named>,
    },
}

#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Pending {
    event_loop: Py<PyAny>,
    meaning: Meaning,
    state: Mutex<State>,
    begun: Instant,
}

struct State {
    phase: Phase,
    /// Its lock knows that the wait is long.
    told: bool,
    /// The lock and the ticket by which the request can be cancelled.
    ticket: Option<(Arc<Named>, u64)>,
    callbacks: Vec<Callback>,
    /// asyncio's mark that a coroutine has just yielded this object, and that its task is about to wait for it.
    blocking: bool,
    /// The task has cleared that mark, so the next callback is the one that resumes the task.
    seen: bool,
}

enum Phase {
    Running,
    Ended(Ended),
    Claimed,
    /// The wait was given up, with the message of the cancellation.
    GivenUp(Option<Py<PyAny>>),
}

struct Callback {
    function: Py<PyAny>,
    context: Py<PyAny>,
    resumes_task: bool,
}

#[pymethods]
impl Pending {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The end of a wait for a lock brings no value: an exception that carries one would cost more than the call of `claim`.
    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Option<Py<Self>>> {
        let mut state = slf.get().state();
        match (&state.phase, &slf.get().meaning) {
            (Phase::Running, _) => {
                state.blocking = true;
                return Ok(Some(slf.clone().unbind()));
            }
            (Phase::Ended(_), Meaning::Hold { .. }) => return Ok(None),
            _ => drop(state),
        }
        let value = slf.get().claim(slf.py())?;
        if value.is_none(slf.py()) {
            return Ok(None);
        }
        // Python would take a tuple for several arguments of the exception.
        Err(if value.bind(slf.py()).is_instance_of::<PyTuple>() {
            PyStopIteration::new_err((value,))
        } else {
            PyStopIteration::new_err(value)
        })
    }

    /// Returns the result, or raises the error. Only one caller gets it.
    fn claim(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut state = self.state();
        match std::mem::replace(&mut state.phase, Phase::Claimed) {
            Phase::Ended(ended) => {
                drop(state);
                self.meaning.of(py, ended)
            }
            Phase::GivenUp(message) => Err(cancelled(py, message)),
            Phase::Claimed => {
                Err(PyRuntimeError::new_err("the result of this call was claimed before; await the call once"))
            }
            Phase::Running => {
                state.phase = Phase::Running;
                Err(PyRuntimeError::new_err("this call has not ended; await it"))
            }
        }
    }

    /// Raises an exception in the coroutine that waits for it, and gives up the wait.
    #[pyo3(signature = (kind, value = None, at = None))]
    fn throw(
        &self,
        kind: Bound<'_, PyAny>,
        value: Option<Bound<'_, PyAny>>,
        at: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = at;
        self.give_up(None);
        Err(PyErr::from_value(value.unwrap_or(kind)))
    }

    /// Ends the wait of a coroutine that is closed.
    fn close(&self) {
        self.give_up(None);
    }

    #[getter(_asyncio_future_blocking)]
    fn blocking(&self) -> bool {
        self.state().blocking
    }

    #[setter(_asyncio_future_blocking)]
    fn set_blocking(&self, blocking: bool) {
        let mut state = self.state();
        state.seen = state.blocking && !blocking;
        state.blocking = blocking;
    }

    fn get_loop(&self, py: Python<'_>) -> Py<PyAny> {
        self.event_loop.clone_ref(py)
    }

    #[pyo3(signature = (function, /, *, context = None))]
    fn add_done_callback(slf: &Bound<'_, Self>, function: Py<PyAny>, context: Option<Py<PyAny>>) -> PyResult<()> {
        let py = slf.py();
        let context = match context {
            Some(context) => context,
            None => py.import("contextvars")?.call_method0("copy_context")?.unbind(),
        };
        let mut state = slf.get().state();
        let callback = Callback { function, context, resumes_task: std::mem::take(&mut state.seen) };
        if let Phase::Running = state.phase {
            state.callbacks.push(callback);
            return Ok(());
        }
        drop(state);
        callback.soon(slf)
    }

    fn remove_done_callback(&self, function: &Bound<'_, PyAny>) -> usize {
        let mut state = self.state();
        let before = state.callbacks.len();
        state.callbacks.retain(|callback| !callback.function.is(function));
        before - state.callbacks.len()
    }

    fn done(&self) -> bool {
        !matches!(self.state().phase, Phase::Running)
    }

    fn cancelled(&self) -> bool {
        matches!(self.state().phase, Phase::GivenUp(_))
    }

    /// Raises CancelledError in the task that waits if the wait was given up. The task gets the result by `claim`.
    fn result(&self, py: Python<'_>) -> PyResult<()> {
        match &self.state().phase {
            Phase::GivenUp(message) => Err(cancelled(py, message.as_ref().map(|message| message.clone_ref(py)))),
            _ => Ok(()),
        }
    }

    /// Cancels the request, and resumes the task that waits for it. False: it has ended already.
    #[pyo3(signature = (msg = None))]
    fn cancel(slf: &Bound<'_, Self>, msg: Option<Py<PyAny>>) -> PyResult<bool> {
        if slf.get().done() {
            return Ok(false);
        }
        slf.get().give_up(msg);
        let callbacks = std::mem::take(&mut slf.get().state().callbacks);
        callbacks.into_iter().try_for_each(|callback| callback.soon(slf))?;
        Ok(true)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        match &self.meaning {
            Meaning::Hold { lock, class, caller, .. } => {
                visit.call(lock)?;
                visit.call(class)?;
                visit.call(caller)?;
            }
            Meaning::Release { held } => visit.call(held)?,
            Meaning::Outcome | Meaning::Texts | Meaning::Nothing { .. } => {}
        }
        let Ok(state) = self.state.try_lock() else { return Ok(()) };
        state
            .callbacks
            .iter()
            .try_for_each(|callback| visit.call(&callback.function).and_then(|()| visit.call(&callback.context)))
    }

    fn __clear__(&self) {
        let cleared = std::mem::take(&mut self.state().callbacks);
        drop(cleared);
    }
}

impl Pending {
    pub fn new(event_loop: Py<PyAny>, meaning: Meaning, ticket: Option<(Arc<Named>, u64)>) -> Self {
        let state =
            State { phase: Phase::Running, told: false, ticket, callbacks: Vec::new(), blocking: false, seen: false };
        Pending { event_loop, meaning, state: Mutex::new(state), begun: Instant::now() }
    }

    /// Ends it, and resumes its task. The loop gets an exception of the task.
    pub fn end(slf: &Bound<'_, Self>, ended: Ended) -> PyResult<()> {
        let callbacks = {
            let mut state = slf.get().state();
            let Phase::Running = state.phase else {
                drop(state);
                // The task will not repeat a release that the server has refused.
                if let (Meaning::Release { held }, Ended::Outcome(outcome)) = (&slf.get().meaning, &ended)
                    && outcome.status == ErrorNumber::Refused as i32
                {
                    held.get().release_last();
                }
                // The wait was given up. The drop releases a lock that was taken.
                drop(ended);
                return Ok(());
            };
            state.phase = Phase::Ended(ended);
            std::mem::take(&mut state.callbacks)
        };
        callbacks
            .into_iter()
            .try_for_each(|callback| if callback.resumes_task { callback.now(slf) } else { callback.soon(slf) })
    }

    /// Gives up the wait: cancels the request, and releases a lock that it has taken already.
    pub fn give_up(&self, message: Option<Py<PyAny>>) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.phase, Phase::GivenUp(message));
        let ticket = state.ticket.take();
        drop(state);
        if let (Phase::Running, Some((named, ticket))) = (before, ticket) {
            named.client.cancel(ticket);
        }
    }

    /// The time until it has waited for `long`. `None` if it does not wait for a lock, has ended, or its lock knows
    /// already.
    pub fn left_until(&self, long: Duration) -> Option<Duration> {
        let state = self.state();
        let waits = matches!((&self.meaning, &state.phase), (Meaning::Hold { .. }, Phase::Running)) && !state.told;
        waits.then(|| long.saturating_sub(self.begun.elapsed()))
    }

    /// Tells its lock that the caller has waited long.
    pub fn tell_waits_long(&self, py: Python<'_>) -> PyResult<()> {
        self.state().told = true;
        match &self.meaning {
            Meaning::Hold { lock, caller, .. } => {
                lock.call_method1(py, intern!(py, "_waits_long"), (caller,)).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl Meaning {
    /// That form of an end.
    pub fn of(&self, py: Python<'_>, ended: Ended) -> PyResult<Py<PyAny>> {
        let (outcome, process) = match ended {
            Ended::Outcome(outcome) => (outcome, None),
            Ended::Texts(outcome, texts) => {
                let texts: Vec<_> = texts.iter().map(|text| PyBytes::new(py, text)).collect();
                return Ok((outcome, texts).into_pyobject(py)?.into_any().unbind());
            }
            Ended::Taken(taken) => {
                let process = taken.process;
                (taken.claim(), Some(process))
            }
        };
        match self {
            Meaning::Texts => Ok((outcome, Vec::<Vec<u8>>::new()).into_pyobject(py)?.into_any().unbind()),
            Meaning::Outcome => Ok(outcome.into_pyobject(py)?.into_any().unbind()),
            Meaning::Hold { named, .. } | Meaning::Nothing { named } if outcome.failure.is_some() => {
                outcome::raised(py, outcome, named.shown()).map(|()| py.None())
            }
            Meaning::Release { held } if outcome.failure.is_some() => {
                let held = held.get();
                held.note_loss(outcome.clone());
                outcome::raised(py, outcome, held.named.shown()).map(|()| py.None())
            }
            Meaning::Hold { lock, class, owner, .. } if outcome.status == 0 => {
                class.call1(py, (lock, *owner, outcome.number, outcome.items.first(), process))
            }
            Meaning::Hold { .. } | Meaning::Nothing { .. } | Meaning::Release { .. } => Ok(py.None()),
        }
    }
}

impl Callback {
    fn now(self, pending: &Bound<'_, Pending>) -> PyResult<()> {
        self.context.call_method1(pending.py(), intern!(pending.py(), "run"), (self.function, pending)).map(drop)
    }

    fn soon(self, pending: &Bound<'_, Pending>) -> PyResult<()> {
        let py = pending.py();
        let named = PyDict::new(py);
        named.set_item(intern!(py, "context"), self.context)?;
        pending
            .get()
            .event_loop
            .call_method(py, intern!(py, "call_soon"), (self.function, pending), Some(&named))
            .map(drop)
    }
}

fn cancelled(py: Python<'_>, message: Option<Py<PyAny>>) -> PyErr {
    let made = || {
        let class = py.import("asyncio")?.getattr("CancelledError")?;
        class.call1(PyTuple::new(py, message)?)
    };
    made().map_or_else(|error| error, PyErr::from_value)
}
