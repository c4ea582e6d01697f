//! A queue of outcomes that no caller waits for. One Python thread drains it.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::outcome::{self, Outcome};

/// A queue of `(key, outcome)`.
#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Completions {
    pub core: Arc<redlatch::ffi::Completions>,
}

#[pymethods]
impl Completions {
    #[new]
    fn new() -> Self {
        Completions { core: redlatch::ffi::Completions::new() }
    }

    /// Blocks until there are outcomes, and takes at most so many. An empty list means that the queue was stopped and
    /// is empty.
    fn drain(&self, py: Python<'_>, at_most: usize) -> Vec<(u64, Outcome)> {
        let ended = py.detach(|| self.core.drain(at_most));
        ended.into_iter().map(|(key, result)| (key, outcome::from_result(result))).collect()
    }

    fn stop(&self) {
        self.core.stop();
    }
}
