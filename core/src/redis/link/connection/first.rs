//! First tries that many callers make at the same time: they go to the server together, as one write and one waking.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::base::clock::Instant;
use crate::redis::kinds::script::Call;
use crate::redis::link::{Limits, Outcome};

/// One of them. Dropping it is the end of the I/O thread: nobody is told.
pub trait First: Send {
    fn call(&self) -> &Call;
    /// What became of it, and when it was sent; `None`: it was not sent, try by [`crate::redis::link::Link::run`].
    fn told(self: Box<Self>, tried: Option<(Outcome, Instant)>);
}

/// How many go in one pipeline. The first of them is answered only with the last, so that these are few: while the callers of one pipeline
/// go on, the server works on the next.
pub const TOGETHER: usize = 16;
/// No more than so many are under way; further ones wait for their answers, lest a slow server gets to all of them too late.
pub const UNDER_WAY: usize = 64 * TOGETHER;

/// All of them may take the time that the client is given for an answer.
pub struct Firsts {
    pub all: Vec<Box<dyn First>>,
    pub limits: Limits,
}

impl Firsts {
    pub fn not_sent(self) {
        self.all.into_iter().for_each(|first| tell(first, None));
    }
}

/// Tells one of many what became of it. A panic of one caller's code, of which the process has heard by then, leaves the others their answers.
pub fn tell(first: Box<dyn First>, tried: Option<(Outcome, Instant)>) {
    let _ = catch_unwind(AssertUnwindSafe(|| first.told(tried)));
}
