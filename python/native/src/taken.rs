//! What an acquire has taken for a caller that may be gone by now.

use redlatch::{Answer, Client, Op, Request};

use crate::outcome::{self, Outcome};

/// It is given back when it is dropped, unless somebody has claimed it: with a cancelled task, with a loop that is closed.
pub struct Taken {
    client: Client,
    request: Request,
    /// `None`: somebody has it.
    answer: Option<Answer>,
    /// A forked child has a copy of this object; what was taken is its parent's.
    process: u32,
}

impl Taken {
    pub fn new(client: Client, request: Request, answer: Answer, process: u32) -> Self {
        Taken { client, request, answer: Some(answer), process }
    }

    /// The outcome; from now on the caller gives it back.
    pub fn claim(mut self) -> Outcome {
        outcome::from_result(Ok(self.answer.take().unwrap_or_default()))
    }
}

/// Has it released, soon. If that does not work, the client knows the hold and it ends with its lease.
impl Drop for Taken {
    fn drop(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        if self.process == std::process::id() {
            let release = Request { op: Op::Release, hold: answer.number.unsigned_abs(), ..self.request.clone() };
            self.client.submit(self.client.ticket(), release, drop);
        }
    }
}
