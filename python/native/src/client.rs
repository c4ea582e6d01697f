//! The native half of `redlatch.Client`.

use std::borrow::Cow;

use pyo3::prelude::*;
use redlatch::{Config, Op, Request};

use crate::outcome::{self, Outcome};
use crate::park;

#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Client {
    pub core: redlatch::Client,
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

    /// Asks the server for a sign of life.
    fn ping(&self, py: Python<'_>) -> PyResult<Outcome> {
        park::run(py, &self.core, Request::new(Op::Ping, "plain", "", 0)).map(outcome::from_result)
    }

    /// Gives every hold back and closes; later calls are refused.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.core.close(true));
    }
}
