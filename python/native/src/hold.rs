//! The native half of `redlatch.Hold`. A release is one C call: once it is made, no signal handler runs before it is carried out.

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
    fn new(object: &Object, owner: i64, number: u64, token: Option<i64>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Held::new(object, owner, number, token)).add_subclass(Hold)
    }

    /// Gives this one hold back, whichever thread asks; outer holds of the same owner stay.
    ///
    /// Raises NotHeldError if it was released before, LockLostError if it was lost, UnavailableError if Redis did not
    /// answer; then it is not renewed any more and ends with its lease.
    fn release(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.as_super().get().release(slf.py(), None)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Releases. Its errors are raised only if the body succeeded; of the body's own error they become a note.
    #[pyo3(signature = (kind, error, at, /))]
    fn __exit__(slf: &Bound<'_, Self>, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = at;
        slf.as_super().get().release(slf.py(), (!kind.is_none()).then_some(error))
    }

    /// Waits until it has ended: lost, or "not now" where it was released or `wait` is over.
    fn _wait(slf: &Bound<'_, Self>, wait: Option<f64>) -> PyResult<Outcome> {
        let held = slf.as_super().get();
        match held.watching(wait) {
            Ok(request) => park::run(slf.py(), &held.named.client, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// Has it last for so many seconds from now on.
    fn _extend(slf: &Bound<'_, Self>, lease: f64) -> PyResult<Outcome> {
        let held = slf.as_super().get();
        match held.extending(lease) {
            Ok(request) => park::run(slf.py(), &held.named.client, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }
}
