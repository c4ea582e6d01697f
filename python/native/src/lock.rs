//! The native half of `redlatch.Lock`: what has to be one C call, so that no signal handler runs between the acquire and the block
//! that it guards, nor before a release has begun.

use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use redlatch::{Answer, Op, Request};

use crate::client::Client;
use crate::hold::Hold;
use crate::named::Named;
use crate::object::Object;
use crate::outcome::{self, Outcome};
use crate::park;

#[pyclass(extends = Object, subclass, frozen, module = "redlatch._redlatch")]
pub struct Lock {
    wait: Option<Duration>,
    lease: Option<Duration>,
    owner: Option<i64>,
}

#[pymethods]
impl Lock {
    #[new]
    fn new(
        py: Python<'_>,
        client: &Client,
        what: (String, String),
        times: (Option<f64>, Option<f64>),
        owner: Option<i64>,
        numbers: Vec<i64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let given = || Ok((outcome::duration(times.0)?, outcome::duration(times.1)?));
        let (wait, lease) = given().map_err(|error| outcome::exception(py, &error, &what.1))?;
        let object = Object::of(py, client, what, numbers)?;
        Ok(PyClassInitializer::from(object).add_subclass(Lock { wait, lease, owner }))
    }

    /// Releases the owner's latest hold. Raises NotHeldError if there is none, LockLostError if it was lost.
    fn unlock(slf: &Bound<'_, Self>) -> PyResult<()> {
        outcome::raised(slf.py(), Lock::_ask(slf, Op::Release as i32)?, &named(slf).name)
    }

    /// Is `unlock`, under the name that `threading.RLock` has for it. NotHeldError is a RuntimeError.
    fn release(slf: &Bound<'_, Self>) -> PyResult<()> {
        Lock::unlock(slf)
    }

    /// Acquires as `lock()` does: the block is never entered without the lock.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (this, entered) = (slf.get(), entered(slf)?);
        match this.acquire(slf, this.wait, this.lease)? {
            Some(hold) => entered.append((slf, &hold)).map(|()| hold),
            None => Err(PyErr::from_value(slf.call_method1("_not_acquired", (this.wait.map(|wait| wait.as_secs_f64()),))?)),
        }
    }

    /// Releases the hold that this block began with; its errors, LockLostError too, only if the body succeeded.
    #[pyo3(signature = (kind, error, at, /))]
    fn __exit__(slf: &Bound<'_, Self>, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = (error, at);
        let entered = entered(slf)?;
        // Blocks of generators may end in another order than they began, so this one is not always the last.
        for i in (0..entered.len()).rev() {
            let block = entered.get_item(i)?.cast_into::<PyTuple>()?;
            if block.get_item(0)?.is(slf) {
                entered.del_item(i)?;
                return block.get_item(1)?.cast::<Hold>()?.as_super().get().release(slf.py(), kind.is_none());
            }
        }
        Err(PyErr::from_value(slf.call_method0("_not_entered")?))
    }

    /// Acquires and puts the hold into `taken`; it stays empty: not in time.
    fn _take(slf: &Bound<'_, Self>, wait: Option<f64>, lease: Option<f64>, taken: &Bound<'_, PyList>) -> PyResult<()> {
        let times = || Ok((outcome::duration(wait)?, outcome::duration(lease)?));
        let (wait, lease) = times().map_err(|error| outcome::exception(slf.py(), &error, &named(slf).name))?;
        if let Some(hold) = slf.get().acquire(slf, wait, lease)? {
            taken.append(hold)?;
        }
        Ok(())
    }

    /// Runs an operation that never waits for others.
    fn _ask(slf: &Bound<'_, Self>, op: i32) -> PyResult<Outcome> {
        let named = named(slf);
        match Op::from_number(op) {
            Ok(op) => park::run(slf.py(), &named.client, named.request(op, slf.get().caller(slf)?)).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }
}

impl Lock {
    /// Who asks: the owner that the lock was given, else the thread's.
    fn caller(&self, slf: &Bound<'_, Self>) -> PyResult<i64> {
        match self.owner {
            Some(owner) => Ok(owner),
            None => this_thread(slf)?.getattr(intern!(slf.py(), "owner"))?.extract(),
        }
    }

    fn acquire<'py>(&self, slf: &Bound<'py, Self>, wait: Option<Duration>, lease: Option<Duration>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // Looking these two up may run Python code, so that comes before the acquire.
        let (py, owner, class, named) = (slf.py(), self.caller(slf)?, slf.getattr(intern!(slf.py(), "_hold"))?, named(slf));
        match park::run(py, &named.client, Request { wait, lease, ..named.request(Op::Acquire, owner) })? {
            Ok(Answer { done: true, number, items, .. }) => class.call1((slf, owner, number, items.first())).map(Some),
            Ok(_) => Ok(None),
            Err(error) => Err(outcome::exception(py, &error, named.shown())),
        }
    }
}

fn named<'a>(lock: &'a Bound<'_, Lock>) -> &'a Named {
    &lock.as_super().get().named
}

/// The `with lock` blocks that this thread is in, as `(lock, hold)`.
fn entered<'py>(lock: &Bound<'py, Lock>) -> PyResult<Bound<'py, PyList>> {
    Ok(this_thread(lock)?.getattr(intern!(lock.py(), "entered"))?.cast_into()?)
}

fn this_thread<'py>(lock: &Bound<'py, Lock>) -> PyResult<Bound<'py, PyAny>> {
    lock.getattr(intern!(lock.py(), "_this_thread"))
}
