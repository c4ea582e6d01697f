//! What an acquire has taken for a caller that may be gone by now.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use pyo3::prelude::*;
use redlatch::{Answer, Client, Op, Request};

use crate::outcome::{self, Outcome};

/// It is given back when it is dropped, unless somebody has claimed it: with a cancelled task, with a loop that is closed.
#[pyclass(frozen, module = "redlatch._redlatch")]
pub struct Taken {
    client: Client,
    request: Request,
    answer: Answer,
    settled: AtomicBool,
    /// A forked child has a copy of this object; what was taken is its parent's.
    process: u32,
}

impl Taken {
    pub fn new(client: Client, request: Request, answer: Answer) -> Self {
        Taken { client, request, answer, settled: AtomicBool::new(false), process: std::process::id() }
    }
}

#[pymethods]
impl Taken {
    /// The outcome; from now on the caller gives it back.
    fn claim(&self) -> Outcome {
        self.settled.store(true, SeqCst);
        outcome::from_result(Ok(self.answer.clone()))
    }

    /// Has it released, soon. If that does not work, the client knows the hold and it ends with its lease.
    fn give_back(&self) {
        if !self.settled.swap(true, SeqCst) && self.process == std::process::id() {
            let release = Request { op: Op::Release, hold: self.answer.number.unsigned_abs(), ..self.request.clone() };
            self.client.submit(self.client.ticket(), release, drop);
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.give_back();
    }
}
