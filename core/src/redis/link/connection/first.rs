//! First tries that many callers make at the same time. They go to the server together, with one write and one wake.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::clock::Instant;
use crate::redis::kinds::script::Call;
use crate::redis::link::{Limits, Outcome};

/// One first try. Its drop means that the I/O thread has ended, and no caller is told of an outcome.
pub trait First: Send {
    fn call(&self) -> &Call;
    /// Receives the outcome and the time of the sending. `None`: the try was not sent; use
    /// [`crate::redis::link::Link::run`].
    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>);
}

/// The tries in one pipeline. The first of them has its answer only with the last, so the number is small: while the
/// callers of one pipeline go on, the server works on the next.
pub const BATCH: usize = 16;
/// The most tries in flight. Further ones wait for answers, so that a slow server does not reach all of them too late.
pub const MOST_IN_FLIGHT: usize = 64 * BATCH;

/// First tries with one limit: the time that the client allows for an answer.
pub struct Firsts {
    pub all: Vec<Box<dyn First>>,
    pub limits: Limits,
}

impl Firsts {
    pub fn not_sent(self) {
        self.all.into_iter().for_each(|first| tell(first, None));
    }
}

/// Hands one caller the outcome of its try. If the code of that caller panics, the panic is reported as usual, and the
/// other callers still get their answers.
pub fn tell(first: Box<dyn First>, tried: Option<(Outcome, Instant)>) {
    let _ = catch_unwind(AssertUnwindSafe(|| first.told(tried)));
}
