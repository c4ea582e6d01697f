//! The native half of `redlatch.Hold`. A release is one C call: no signal handler can run between the call and the
//! release.

use pyo3::prelude::*;

use crate::held::Held;
use crate::object::Object;
use crate::outcome::{self, Outcome};
use crate::park;

#[pyclass(extends = Held, subclass, frozen, module = "redlatch._redlatch")]
pub struct Hold;

#[pymethods]
impl Hold {
    #[new]
    #[pyo3(signature = (object, owner, number, token, process = None))]
    fn new(
        object: &Object,
        owner: i64,
        number: u64,
        token: Option<i64>,
        process: Option<u32>,
    ) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Held::new(object, owner, number, token, process)).add_subclass(Hold)
    }

    /// Releases this one hold. Any thread may do so, and the owner's other holds stay.
    ///
    /// Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
    /// answer. In the last case it is not renewed any more and ends with its lease.
    fn release(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.as_super().get().release(slf.py(), None)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Releases the hold.
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
        slf.as_super().get().release(slf.py(), (!kind.is_none()).then_some(error))
    }

    /// Waits until it has ended. Returns the loss, or "not now" if it was released or `wait` is over.
    fn _wait(slf: &Bound<'_, Self>, wait: Option<f64>) -> PyResult<Outcome> {
        let held = slf.as_super().get();
        match held.watching(wait) {
            Ok(request) => park::run(slf.py(), &held.named.client, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Makes it last for so many seconds from now on.
    fn _extend(slf: &Bound<'_, Self>, lease: f64) -> PyResult<Outcome> {
        let held = slf.as_super().get();
        match held.extending(lease) {
            Ok(request) => park::run(slf.py(), &held.named.client, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Starts to renew it every third of `lease` seconds, until it has ended.
    fn _renew(slf: &Bound<'_, Self>, lease: f64) -> PyResult<Outcome> {
        let held = slf.as_super().get();
        match held.renewing(lease) {
            Ok(request) => park::run(slf.py(), &held.named.client, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Releases it once, but its key stays at the server until `at_least` seconds have passed since the hold began.
    fn _let_go(slf: &Bound<'_, Self>, at_least: Option<f64>) -> PyResult<()> {
        slf.as_super().get().let_go(slf.py(), at_least)
    }
}
