//! The native half of what is asked by name, and mostly held by nobody: semaphores and latches.

use pyo3::prelude::*;
use pyo3::types::PyList;
use redlatch::{Error, Op, Request, kinds};

use crate::client::Client;
use crate::outcome;
use crate::park;

/// Something on the server that is asked by name.
#[pyclass(subclass, frozen, module = "redlatch._redlatch")]
pub struct Object {
    client: Py<Client>,
    kind: &'static str,
    name: String,
}

#[pymethods]
impl Object {
    /// `what` is its kind and its name.
    #[new]
    fn new(py: Python<'_>, client: Py<Client>, what: (String, String)) -> PyResult<Self> {
        let (kind, name) = what;
        match kinds::name_of(&kind) {
            Ok(kind) => Ok(Object { client, kind, name }),
            Err(error) => Err(outcome::exception(py, &error, &name)),
        }
    }

    /// Its name, without the client's prefix.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Runs an operation for `owner` and puts its outcome into `done`; `times` are its wait and its lease.
    fn _run(
        &self,
        py: Python<'_>,
        op: i32,
        owner: i64,
        times: (Option<f64>, Option<f64>),
        numbers: Vec<i64>,
        done: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        let request = || {
            let request = Request::new(Op::from_number(op)?, self.kind, self.name.clone(), owner);
            Ok::<_, Error>(Request { wait: outcome::duration(times.0)?, lease: outcome::duration(times.1)?, numbers, ..request })
        };
        match request() {
            Ok(request) => done.append(outcome::from_result(park::run(py, &self.client.get().core, request)?)),
            Err(error) => done.append(outcome::from_error(&error)),
        }
    }
}

/// Permits, of which a block takes one. The acquire is one C call, so that no signal handler runs between it and the block.
#[pyclass(extends = Object, subclass, frozen, module = "redlatch._redlatch")]
pub struct Permits;

#[pymethods]
impl Permits {
    #[new]
    fn new(py: Python<'_>, client: Py<Client>, what: (String, String)) -> PyResult<PyClassInitializer<Self>> {
        Ok(PyClassInitializer::from(Object::new(py, client, what)?).add_subclass(Permits))
    }

    /// Takes one permit, and waits as long as that takes.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        run(slf, Op::Acquire, true).map(|()| slf.clone())
    }

    /// Gives the permit back. Its errors are raised only if the body succeeded: they must not hide the body's own.
    #[pyo3(signature = (kind, error, at, /))]
    fn __exit__(slf: &Bound<'_, Self>, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = (error, at);
        run(slf, Op::Release, kind.is_none())
    }
}

fn run(permits: &Bound<'_, Permits>, op: Op, loud: bool) -> PyResult<()> {
    let (py, object) = (permits.py(), permits.as_super().get());
    let owner = permits.getattr(pyo3::intern!(py, "_this_thread"))?.getattr(pyo3::intern!(py, "owner"))?.extract()?;
    let request = Request { wait: None, numbers: vec![1], ..Request::new(op, object.kind, object.name.clone(), owner) };
    let outcome = outcome::from_result(park::run(py, &object.client.get().core, request)?);
    if loud { outcome::raised(py, outcome, &object.name) } else { Ok(()) }
}
