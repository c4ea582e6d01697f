//! What goes back to Python: `(status, number, items, None)`, or `(status, 0, [], (message, reason))` for an error.

use std::time::Duration;

use pyo3::exceptions::{PyException, PyImportError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use redlatch::{Answer, Error, Look};

/// The status is 0 for done, 1 for not now, from 10 on [`Error::number`].
pub type Outcome = (i32, i64, Vec<i64>, Option<(String, Option<String>)>);

/// The status of [`Error::Lost`].
pub const LOST: i32 = 11;

pub fn from_result(result: redlatch::Result<Answer>) -> Outcome {
    match result {
        Ok(Answer { done, number, items, .. }) => (i32::from(!done), number, items, None),
        Err(error) => from_error(&error),
    }
}

/// A hold that is held answers the microseconds that remain, a released one "not now".
pub fn from_look(look: Look) -> Outcome {
    match look {
        Look::Held { remaining } => (0, i64::try_from(remaining.as_micros()).unwrap_or(i64::MAX), Vec::new(), None),
        Look::Lost(loss) => from_error(&Error::Lost(Box::new(loss))),
        Look::Gone => (1, 0, Vec::new(), None),
    }
}

pub fn from_error(error: &Error) -> Outcome {
    let reason = match error {
        Error::Lost(loss) => Some(loss.reason.name().to_owned()),
        Error::Refused { code, .. } => Some(code.clone()),
        Error::Unavailable { timeout, .. } => Some(if *timeout { "timeout" } else { "unreachable" }.to_owned()),
        _ => None,
    };
    (error.number(), 0, Vec::new(), Some((error.to_string(), reason)))
}

/// Raises the error that an outcome about lock `name` is, if it is one.
pub fn raised(py: Python<'_>, outcome: Outcome, name: &str) -> PyResult<()> {
    let Some((message, _)) = &outcome.3 else { return Ok(()) };
    match py.import("redlatch.calls") {
        Ok(calls) => calls.call_method1("answer", (outcome, name)).map(drop),
        // At its very end Python has no modules any more, and objects that go then may still release what they held.
        Err(error) if error.is_instance_of::<PyImportError>(py) => Err(PyRuntimeError::new_err(message.clone())),
        Err(error) => Err(error),
    }
}

/// Notes at the error of a block's body what went wrong at the block's end, from Python 3.11 on.
pub fn noted(body: &Bound<'_, PyAny>, error: &Error) -> PyResult<()> {
    let add_note = intern!(body.py(), "add_note");
    if !body.hasattr(add_note)? {
        return Ok(());
    }
    match body.call_method1(add_note, (error.to_string(),)) {
        // The program's own exception says more than that it takes no notes, as one of a frozen dataclass does not.
        Err(refusal) if refusal.is_instance_of::<PyException>(body.py()) => Ok(()),
        told => told.map(drop),
    }
}

/// The exception that an error about lock `name` is to Python.
pub fn exception(py: Python<'_>, error: &Error, name: &str) -> PyErr {
    raised(py, from_error(error), name).expect_err("an error has a message, and is raised")
}

/// Seconds that Python has checked already; out of range all the same is an error, never a panic.
pub fn duration(seconds: Option<f64>) -> redlatch::Result<Option<Duration>> {
    let convert = |s| Duration::try_from_secs_f64(s).map_err(|e| Error::config(format!("{s} seconds: {e}")));
    seconds.map(convert).transpose()
}
