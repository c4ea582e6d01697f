//! A lock that an acquire has taken, on its way to a caller that may be gone by now.

use std::sync::Arc;

use redlatch::ffi::{Answer, Border, Op, Request};

use crate::named::Named;
use crate::outcome::{self, Outcome};

/// Its drop releases the lock, unless the caller has claimed it before. It is dropped with a cancelled task, or with a
/// closed loop.
pub struct Taken {
    pub named: Arc<Named>,
    /// The owner and the numbers of the acquire.
    pub owner: i64,
    pub numbers: Vec<i64>,
    /// `None`: the caller has claimed it.
    pub answer: Option<Answer>,
    /// The process that took the lock. A forked child has a copy of this object, which must not release it.
    pub process: u32,
}

impl Taken {
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
            let numbers = std::mem::take(&mut self.numbers);
            let hold = answer.number.unsigned_abs();
            let release = Request { hold, numbers, ..self.named.request(Op::GiveBack, self.owner) };
            let client = &self.named.client;
            client.submit(client.ticket(), release, drop);
        }
    }
}
