//! The event loop that runs in this thread: its mailbox, and its task as a caller. All of it is known mostly, and then
//! this runs no Python code of ours, which would cost more than the rest of a call.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::mailbox::Mailbox;

pub struct Here<'py> {
    /// See `PARTS` in `redlatch.aio.loops`.
    parts: Bound<'py, PyTuple>,
    event_loop: Bound<'py, PyAny>,
    pub mailbox: Bound<'py, Mailbox>,
}

impl<'py> Here<'py> {
    /// `of`: an object of the interpreter that runs, with its own parts: several interpreters of one process share every
    /// `static`. Raises UnsupportedError if no loop runs.
    pub fn find(of: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = of.py();
        let parts = of.getattr(intern!(py, "_here"))?.cast_into::<PyTuple>()?;
        let event_loop = parts.get_item(0)?.call0()?;
        let mailboxes = parts.get_item(2)?.cast_into::<PyDict>()?;
        let known = mailboxes.get_item(event_loop.as_ptr() as usize)?;
        let mailbox = known.map(|weak| weak.call0()).transpose()?.filter(|mailbox| !mailbox.is_none());
        let mailbox = match mailbox {
            Some(mailbox) => mailbox,
            None => py.import("redlatch.aio.loops")?.call_method0("here")?,
        };
        Ok(Here { parts, event_loop, mailbox: mailbox.cast_into()? })
    }

    /// The task that runs, as a `redlatch.tasks.ThisTask`, and its number as an owner. Raises UnsupportedError if none does.
    pub fn task(&self) -> PyResult<(Bound<'py, PyAny>, i64)> {
        let py = self.event_loop.py();
        let task = self.parts.get_item(1)?.call1((&self.event_loop,))?;
        let known = self.parts.get_item(3)?.cast_into::<PyDict>()?.get_item(task.as_ptr() as usize)?;
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
