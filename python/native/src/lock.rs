//! The native half of `redlatch.Lock`. Acquire and release are one C call each, so that no signal handler can run
//! between an acquire and the block that it guards, nor between a call of a release and its begin.

use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use redlatch::ffi::{Answer, Op, Request};

use crate::caller::Caller;
use crate::client::Client;
use crate::hold::Hold;
use crate::named::Named;
use crate::object::{Object, What};
use crate::outcome::{self, Outcome};
use crate::park;
use crate::places;
use crate::records;

#[pyclass(extends = Object, subclass, frozen, module = "redlatch._redlatch")]
pub struct Lock {
    wait: Option<Duration>,
    lease: Option<Duration>,
    owner: Owner,
    /// Any thread or task may end the only hold that is open. A lock for readers has it false: it would end another
    /// reader's hold.
    ends_anywhere: bool,
}

/// The owner of what is acquired.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Thread,
    /// Each acquire.
    Each,
    Given(i64),
}

#[pymethods]
impl Lock {
    /// `owner` is a number that the program gave. Without it the thread is the owner, or with `ends_anywhere` each
    /// acquire.
    #[new]
    fn new(
        py: Python<'_>,
        client: &Client,
        what: What,
        times: (Option<f64>, Option<f64>),
        owner: Option<i64>,
        numbers: Vec<i64>,
        ends_anywhere: Option<bool>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let given = || Ok((outcome::duration(times.0)?, outcome::duration(times.1)?));
        let (wait, lease) = given().map_err(|error| outcome::exception(py, &error, what.name()))?;
        let object = Object::of(py, client, what, numbers)?;
        let owner = match owner {
            Some(number) => Owner::Given(number),
            None if ends_anywhere.is_some() => Owner::Each,
            None => Owner::Thread,
        };
        let ends_anywhere = ends_anywhere.unwrap_or(true);
        Ok(PyClassInitializer::from(object).add_subclass(Lock { wait, lease, owner, ends_anywhere }))
    }

    /// Releases the owner's latest hold. Raises NotHeldError if the owner has none, LockLostError if it was lost.
    ///
    /// If each acquire is an owner, it ends a hold that was taken through this object, and not by a block. That is the
    /// caller's own latest hold; else one that was lost, for which it raises LockLostError and releases nothing; else
    /// the only one that is open, unless that is a reader's.
    fn unlock(slf: &Bound<'_, Self>) -> PyResult<()> {
        if slf.get().owner != Owner::Each {
            return outcome::raised(slf.py(), Lock::_run_at_once(slf, Op::Release as i32)?, &named(slf).name);
        }
        let taken = taken(slf)?;
        records::forget_released(&taken)?;
        if !slf.getattr(intern!(slf.py(), "_missed"))?.is_none() {
            let caller = Caller::of(slf)?.owner()?;
            let meant = records::hold_meant(&taken, caller, slf.get().ends_anywhere)?;
            if meant.is_none_or(|(taker, _)| taker != caller) {
                let error = slf.call_method1("_release_of_nothing", (meant,))?;
                if !error.is_none() {
                    return Err(PyErr::from_value(error));
                }
            }
        }
        match slf.get().ending(slf, &taken, false)? {
            Some(hold) => released(&hold, None),
            None => Err(PyErr::from_value(slf.call_method0("_not_taken")?)),
        }
    }

    /// The same as `unlock`, under its name in `threading.RLock`. NotHeldError is a RuntimeError.
    fn release(slf: &Bound<'_, Self>) -> PyResult<()> {
        Lock::unlock(slf)
    }

    /// Acquires as `lock()` does. The block is never entered without the lock.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let frame = frame(slf);
        match this.acquire(slf, this.wait, this.lease, Some((blocks(slf)?, frame)))? {
            Some(hold) => Ok(hold),
            None => {
                Err(PyErr::from_value(slf.call_method1("_not_acquired", (this.wait.map(|wait| wait.as_secs_f64()),))?))
            }
        }
    }

    /// Releases the hold that this block began with, on any thread.
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
        match slf.get().ending(slf, &blocks(slf)?, true)? {
            Some(hold) => released(&hold, (!kind.is_none()).then_some(error)),
            None => Err(PyErr::from_value(slf.call_method0("_not_entered")?)),
        }
    }

    /// Acquires and puts the hold into `taken`, which stays empty if it is not in time.
    fn _take(slf: &Bound<'_, Self>, wait: Option<f64>, lease: Option<f64>, taken: &Bound<'_, PyList>) -> PyResult<()> {
        let times = || Ok((outcome::duration(wait)?, outcome::duration(lease)?));
        let (wait, lease) = times().map_err(|error| outcome::exception(slf.py(), &error, &named(slf).name))?;
        let records = if slf.get().owner == Owner::Each { Some((self::taken(slf)?, None)) } else { None };
        if let Some(hold) = slf.get().acquire(slf, wait, lease, records)? {
            taken.append(hold)?;
        }
        Ok(())
    }

    /// Runs an operation that never waits for other owners.
    fn _run_at_once(slf: &Bound<'_, Self>, op: i32) -> PyResult<Outcome> {
        let named = named(slf);
        match Op::from_number(op) {
            Ok(op) => park::run(slf.py(), &named.client, named.request(op, slf.get().default_owner(slf)?))
                .map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }
}

impl Lock {
    /// The owner of an operation that acquires nothing: the one that the lock was given, else the thread.
    fn default_owner(&self, slf: &Bound<'_, Self>) -> PyResult<i64> {
        match self.owner {
            Owner::Given(owner) => Ok(owner),
            Owner::Thread | Owner::Each => {
                slf.getattr(intern!(slf.py(), "_this_thread"))?.getattr(intern!(slf.py(), "owner"))?.extract()
            }
        }
    }

    /// Acquires, and notes the hold in `records`. With a frame the hold is that of a block that begins in this frame.
    fn acquire<'py>(
        &self,
        slf: &Bound<'py, Self>,
        wait: Option<Duration>,
        lease: Option<Duration>,
        records: Option<(Bound<'py, PyList>, Option<Bound<'py, PyAny>>)>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let named = named(slf);
        // All of these lookups may run Python code, so they come before the acquire.
        if !self.ends_anywhere {
            records::forget_gone(&blocks(slf)?)?;
            records::forget_gone(&taken(slf)?)?;
        }
        let place = match &records {
            Some((_, Some(frame))) => places::place(frame)?,
            _ => None,
        };
        let caller = Caller::of(slf)?;
        let taker = caller.owner()?;
        let owner = match self.owner {
            Owner::Given(owner) => owner,
            Owner::Each => caller.another()?,
            Owner::Thread if !caller.is_alone => return Err(PyErr::from_value(slf.call_method0("_shares_thread")?)),
            Owner::Thread => taker,
        };
        let class = slf.getattr(intern!(py, "_hold"))?;
        // A wait would stop the loop, perhaps with the task that has to release the lock.
        let waits = if caller.is_in_loop { Some(Duration::ZERO) } else { wait };
        let request = Request { wait: waits, lease, ..named.request(Op::Acquire, owner) };
        let waits_long = || slf.call_method1(intern!(py, "_waits_long"), (&caller.object,)).map(drop);
        match park::acquire(py, &named.client, request, &waits_long)? {
            Ok(Answer { done: true, number, items, .. }) => {
                let hold = class.call1((slf, owner, number, items.first()))?;
                if let Some((records, frame)) = records {
                    // All greenlets of a thread are one caller, and a frame tells only of the one that runs now.
                    let running = if caller.is_in_loop { None } else { frame.as_ref() };
                    records::record(&records, taker, &hold, place.as_ref(), running)?;
                }
                Ok(Some(hold))
            }
            Ok(_) if caller.is_in_loop && wait != Some(Duration::ZERO) => {
                Err(PyErr::from_value(slf.call_method0("_would_block")?))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(outcome::exception(py, &error, named.shown())),
        }
    }

    /// Takes out of `records` the hold that an end of the caller ends, see [`records::ending`].
    fn ending<'py>(
        &self,
        slf: &Bound<'py, Self>,
        records: &Bound<'py, PyList>,
        is_block: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.ends_anywhere && records.len() == 1 {
            return records::take(records, 0).map(Some);
        }
        let frame = if is_block { frame(slf) } else { None };
        records::ending(records, Caller::of(slf)?.owner()?, self.ends_anywhere, frame.as_ref())
    }
}

fn released(hold: &Bound<'_, PyAny>, body: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    hold.cast::<Hold>()?.as_super().get().release(hold.py(), body)
}

fn named<'a>(lock: &'a Bound<'_, Lock>) -> &'a Named {
    &lock.as_super().get().named
}

/// The frame that calls. `None` if native code calls.
fn frame<'py>(lock: &Bound<'py, Lock>) -> Option<Bound<'py, PyAny>> {
    lock.getattr(intern!(lock.py(), "_frame")).and_then(|frame| frame.call0()).ok()
}

/// The holds of the open `with lock` blocks.
fn blocks<'py>(lock: &Bound<'py, Lock>) -> PyResult<Bound<'py, PyList>> {
    Ok(lock.getattr(intern!(lock.py(), "_blocks"))?.cast_into()?)
}

/// The holds that were taken without a block.
fn taken<'py>(lock: &Bound<'py, Lock>) -> PyResult<Bound<'py, PyList>> {
    Ok(lock.getattr(intern!(lock.py(), "_taken"))?.cast_into()?)
}
