//! The native half of `redlatch.Client`.

use std::borrow::Cow;

use pyo3::prelude::*;
use redlatch::{Config, Op, Request, kinds};

use crate::outcome::{self, Outcome};
use crate::park;

#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Client {
    core: redlatch::Client,
}

#[derive(IntoPyObject)]
pub enum Connected {
    Client(Client),
    Error(Outcome),
}

/// A client of `url` (`None`: the environment's) with `options` by name; starts nothing until the first call.
#[pyfunction]
pub fn connect(url: Option<Cow<'_, str>>, options: Vec<(String, String)>) -> Connected {
    match configure(url.as_deref(), &options) {
        Ok(config) => Connected::Client(Client { core: redlatch::Client::with_config(config) }),
        Err(error) => Connected::Error(outcome::from_error(&error)),
    }
}

fn configure(url: Option<&str>, options: &[(String, String)]) -> redlatch::Result<Config> {
    let mut config = url.map_or_else(Config::from_env, Config::from_url)?;
    for (option, value) in options {
        config.set(option, value)?;
    }
    config.check()?;
    Ok(config)
}

#[pymethods]
impl Client {
    #[getter]
    fn id(&self) -> String {
        self.core.id()
    }

    #[getter]
    fn server(&self) -> String {
        self.core.server()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Runs one request to its end and returns its outcome.
    #[allow(clippy::too_many_arguments)] // they are the fields of `Request`
    fn run(
        &self,
        py: Python<'_>,
        op: i32,
        kind: Cow<'_, str>,
        name: String,
        owner: i64,
        wait: Option<f64>,
        lease: Option<f64>,
        hold: u64,
    ) -> PyResult<Outcome> {
        match request(op, &kind, name, owner, wait, lease, hold) {
            Ok(request) => park::run(py, &self.core, request).map(outcome::from_result),
            Err(error) => Ok(outcome::from_error(&error)),
        }
    }

    /// What this process knows of a hold, without asking Redis.
    fn look(&self, hold: u64) -> Outcome {
        outcome::from_look(self.core.look(hold))
    }

    /// Gives every hold back and closes; later calls are refused.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.core.close(true));
    }
}

fn request(op: i32, kind: &str, name: String, owner: i64, wait: Option<f64>, lease: Option<f64>, hold: u64) -> redlatch::Result<Request> {
    let (wait, lease) = (outcome::duration(wait)?, outcome::duration(lease)?);
    let request = Request::new(Op::from_number(op)?, kinds::name_of(kind)?, name, owner);
    Ok(Request { wait, lease, hold, ..request })
}
