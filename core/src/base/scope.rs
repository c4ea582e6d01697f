//! The span of a program to which a report belongs, for the reports that other threads make. Without a subscriber of the
//! crate `tracing` there is none, and to ask for one costs one comparison.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use tracing::Span;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::LevelFilter;

/// Reports to the program's subscriber. One that panics must not cost a caller its lock; the panic hook has told of it.
pub fn report(says: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(says));
}

/// A span, or none. The span stays open until its last scope is gone.
#[derive(Clone, Default)]
pub struct Scope(Option<Arc<Span>>);

impl Scope {
    /// The span in which the caller is.
    pub fn current() -> Scope {
        match LevelFilter::current() {
            LevelFilter::OFF => Scope::default(),
            _ => Scope::of(Span::current()),
        }
    }

    pub fn of(span: Span) -> Scope {
        Scope((!span.is_disabled()).then(|| Arc::new(span)))
    }

    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    pub fn span(&self) -> Span {
        self.0.as_deref().cloned().unwrap_or_else(Span::none)
    }

    /// Runs `work` inside the span.
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(span) => span.in_scope(work),
            None => work(),
        }
    }

    /// As [`report`], inside the span.
    pub fn report(&self, says: impl FnOnce()) {
        report(|| self.enter(says));
    }

    /// Runs `work` inside the span.
    pub fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.span())
    }

    /// The same span, which this does not keep open.
    pub fn unkept(&self) -> UnkeptScope {
        UnkeptScope(self.0.as_ref().map(Arc::downgrade))
    }
}

/// A span that another part keeps open and ends, or none.
#[derive(Clone, Default)]
pub struct UnkeptScope(Option<Weak<Span>>);

impl UnkeptScope {
    /// None: the span has ended.
    pub fn get(&self) -> Scope {
        Scope(self.0.as_ref().and_then(Weak::upgrade))
    }
}
