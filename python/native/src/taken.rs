//! A lock that an acquire has taken, on its way to a caller that may be gone by now.

use redlatch::Client;
use redlatch::ffi::{Answer, Border, Op, Request};

use crate::outcome::{self, Outcome};

/// Its drop releases the lock, unless the caller has claimed it before. It is dropped with a cancelled task, or with a
/// closed loop.
pub struct Taken {
    client: Client,
    request: Request,
    /// `None`: the caller has claimed it.
    answer: Option<Answer>,
    /// The process that took the lock. A forked child has a copy of this object, which must not release it.
    process: u32,
}

impl Taken {
    pub fn new(client: Client, request: Request, answer: Answer, process: u32) -> Self {
        Taken { client, request, answer: Some(answer), process }
    }

    /// Returns the outcome. From now on the caller must release the lock.
    pub fn claim(mut self) -> Outcome {
        outcome::from_result(Ok(self.answer.take().unwrap_or_default()))
    }
}

/// Starts the release. If it fails, the hold ends with its lease.
impl Drop for Taken {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        if self.process == std::process::id() {
            let release = Request { op: Op::GiveBack, hold: answer.number.unsigned_abs(), ..self.request.clone() };
            self.client.submit(self.client.ticket(), release, drop);
        }
    }
}
