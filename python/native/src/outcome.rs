//! The outcome of a request, and how it becomes a Python object or exception.

use std::time::Duration;

use pyo3::exceptions::{PyException, PyImportError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use redlatch::Error;
use redlatch::ffi::{self, Answer, ErrorNumber, Look};

/// The outcome of a request. Python gets it as a tuple of these fields.
#[derive(Clone)]
pub struct Outcome {
    /// 0 for done and 1 for not now. From 10 on it is an [`ErrorNumber`].
    pub status: i32,
    pub number: i64,
    pub items: Vec<i64>,
    /// The message and the reason of an error.
    pub failure: Option<(String, Option<String>)>,
}

impl<'py> IntoPyObject<'py> for Outcome {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        (self.status, self.number, self.items, self.failure).into_pyobject(py)
    }
}

/// The status of [`Error::Lost`].
pub const LOST: i32 = ErrorNumber::Lost as i32;

pub fn from_result(result: redlatch::Result<Answer>) -> Outcome {
    match result {
        Ok(Answer { done, number, items, .. }) => Outcome { status: i32::from(!done), number, items, failure: None },
        Err(error) => from_error(&error),
    }
}

/// The outcome of a question, and its texts.
pub fn with_texts(result: redlatch::Result<Answer>) -> (Outcome, Vec<Vec<u8>>) {
    let texts = result.as_ref().map_or_else(|_| Vec::new(), |answer| answer.texts.clone());
    (from_result(result), texts)
}

/// The outcome of a look at a hold: the microseconds that remain, a loss, or "not now" for released.
pub fn from_look(look: Look) -> Outcome {
    match look {
        Look::Held { remaining } => {
            let number = i64::try_from(remaining.as_micros()).unwrap_or(i64::MAX);
            Outcome { status: 0, number, items: Vec::new(), failure: None }
        }
        Look::Lost(loss) => from_error(&Error::Lost(Box::new(loss))),
        Look::Gone => Outcome { status: 1, number: 0, items: Vec::new(), failure: None },
    }
}

pub fn from_error(error: &Error) -> Outcome {
    let reason = match error {
        Error::Lost(loss) => Some(loss.reason.name().to_owned()),
        Error::Refused { code, .. } => Some(code.clone()),
        Error::Unavailable { timeout, .. } => Some(if *timeout { "timeout" } else { "unreachable" }.to_owned()),
        _ => None,
    };
    Outcome { status: ffi::number(error), number: 0, items: Vec::new(), failure: Some((error.to_string(), reason)) }
}

/// Raises the error of an outcome about lock `name`, if it is an error.
pub fn raised(py: Python<'_>, outcome: Outcome, name: &str) -> PyResult<()> {
    let Some((message, _)) = outcome.failure.clone() else { return Ok(()) };
    match py.import("redlatch.calls") {
        Ok(calls) => calls.call_method1("answer", (outcome, name)).map(drop),
        // At its very end Python has no modules any more, but objects that it drops then may still release their locks.
        Err(error) if error.is_instance_of::<PyImportError>(py) => Err(PyRuntimeError::new_err(message)),
        Err(error) => Err(error),
    }
}

/// Adds the error of a block's end to the error of its body as a note, from Python 3.11 on.
pub fn noted(body: &Bound<'_, PyAny>, error: &Error) -> PyResult<()> {
    let add_note = intern!(body.py(), "add_note");
    if !body.hasattr(add_note)? {
        return Ok(());
    }
    match body.call_method1(add_note, (error.to_string(),)) {
        // An exception may take no notes, for example one that is a frozen dataclass. The program still gets its own
        // exception then, which matters more than the note.
        Err(refusal) if refusal.is_instance_of::<PyException>(body.py()) => Ok(()),
        told => told.map(drop),
    }
}

/// The Python exception for an error about lock `name`.
pub fn exception(py: Python<'_>, error: &Error, name: &str) -> PyErr {
    raised(py, from_error(error), name).expect_err("an error has a message, and is raised")
}

/// Converts seconds, which Python has checked already. If they are out of range nevertheless, it is an error and no
/// panic.
pub fn duration(seconds: Option<f64>) -> redlatch::Result<Option<Duration>> {
    let convert = |s| Duration::try_from_secs_f64(s).map_err(|e| Error::Config(format!("{s} seconds: {e}")));
    seconds.map(convert).transpose()
}
