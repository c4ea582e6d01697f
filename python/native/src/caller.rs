//! The thread or task that calls: a `redlatch.owners.Caller`.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The thread that calls. In a thread whose event loop runs: the loop's task.
pub struct Caller<'py> {
    pub object: Bound<'py, PyAny>,
    /// Tasks or greenlets share this thread. All of them stand still while a call waits in it.
    pub is_in_loop: bool,
    /// No other caller in this thread is the same owner.
    pub is_alone: bool,
}

impl<'py> Caller<'py> {
    /// Finds the caller by the attributes of the Python object `lock`.
    pub fn of(lock: &Bound<'py, PyAny>) -> PyResult<Self> {
        let modules = lock.getattr(intern!(lock.py(), "_modules"))?.cast_into::<PyDict>()?;
        match running_loop(&modules)? {
            Some(event_loop) => {
                let object = lock.getattr(intern!(lock.py(), "_caller_in"))?.call1((event_loop,))?;
                Ok(Caller { object, is_in_loop: true, is_alone: false })
            }
            None => {
                let hub = hub(&modules)?;
                let this_thread = lock.getattr(intern!(lock.py(), "_this_thread"))?;
                let object = this_thread.getattr(intern!(lock.py(), "caller"))?;
                Ok(Caller { object, is_in_loop: hub.is_some(), is_alone: hub.unwrap_or(true) })
            }
        }
    }

    /// The number of the caller itself as an owner.
    pub fn owner(&self) -> PyResult<i64> {
        self.object.getattr(intern!(self.object.py(), "owner"))?.extract()
    }

    /// A new owner, for one acquire of this caller.
    pub fn another(&self) -> PyResult<i64> {
        self.object.call_method0(intern!(self.object.py(), "another"))?.extract()
    }
}

/// Whether each greenlet of this thread is an owner of its own; `None`: greenlets do not share this thread.
fn hub(modules: &Bound<'_, PyDict>) -> PyResult<Option<bool>> {
    let py = modules.py();
    if !modules.contains(intern!(py, "gevent._hub_local"))? {
        return Ok(None);
    }
    py.import("redlatch.greenlets")?.call_method0("has_own_owner")?.extract()
}

/// The event loop of asyncio that runs in this thread, if one does.
fn running_loop<'py>(modules: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = modules.py();
    // No loop runs before asyncio is imported.
    let Some(events) = modules.get_item(intern!(py, "asyncio.events"))? else { return Ok(None) };
    // Another thread may be importing the module at this moment.
    let Some(running) = events.getattr_opt(intern!(py, "_get_running_loop"))? else { return Ok(None) };
    let running = running.call0()?;
    Ok((!running.is_none()).then_some(running))
}
