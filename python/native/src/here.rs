//! The event loop that runs in this thread: its mailbox, and its task as a caller. All of it is known mostly, and then
//! this runs no Python code of ours, which would cost more than the rest of a call.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::mailbox::Mailbox;

static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CURRENT_TASK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
/// The tables of Python's half: mailboxes by their loops, and callers by their tasks.
static MAILBOXES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static TASKS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

pub struct Here<'py> {
    event_loop: Bound<'py, PyAny>,
    pub mailbox: Bound<'py, Mailbox>,
}

impl<'py> Here<'py> {
    /// Raises UnsupportedError if no loop runs.
    pub fn find(py: Python<'py>) -> PyResult<Self> {
        let event_loop = RUNNING_LOOP.import(py, "asyncio", "_get_running_loop")?.call0()?;
        let known = MAILBOXES.import(py, "redlatch.aio.loops", "_mailboxes")?.get_item(event_loop.as_ptr() as usize)?;
        let mailbox = known.map(|weak| weak.call0()).transpose()?.filter(|mailbox| !mailbox.is_none());
        let mailbox = match mailbox {
            Some(mailbox) => mailbox,
            None => py.import("redlatch.aio.loops")?.call_method0("here")?,
        };
        Ok(Here { event_loop, mailbox: mailbox.cast_into()? })
    }

    /// The task that runs, as a `redlatch.tasks.ThisTask`, and its number as an owner. Raises UnsupportedError if none does.
    pub fn task(&self) -> PyResult<(Bound<'py, PyAny>, i64)> {
        let py = self.event_loop.py();
        let task = CURRENT_TASK.import(py, "asyncio", "current_task")?.call1((&self.event_loop,))?;
        let known = TASKS.import(py, "redlatch.tasks", "_tasks")?.get_item(task.as_ptr() as usize)?;
        // A later task may have the same identity.
        let is_its = |this: &Bound<'py, PyAny>| Ok::<_, PyErr>(this.getattr(intern!(py, "task"))?.call0()?.is(&task));
        let this = match known {
            Some(this) if is_its(&this)? => this,
            _ => py.import("redlatch.aio.tasks")?.call_method1("this_task", (&self.event_loop,))?,
        };
        let owner = this.getattr(intern!(py, "owner"))?.extract()?;
        Ok((this, owner))
    }
}
