//! The counter that only the lock protects. Each whole section must have read the number that the section before it
//! wrote.

use super::{Attempt, Close, Fault, Violations, by_key};
use crate::history::Section;
use crate::traffic::Kind;

#[derive(Clone, Debug, Default)]
pub struct Counted {
    pub violations: Violations,
    /// Sections whose holder was sure of its hold even after it had written.
    pub whole: u64,
    /// Sections of holders that were killed, were told of a loss, or whose hold an operator took away. Nothing tells
    /// when such a holder wrote, or whether it did.
    pub broken: u64,
    /// Steps in the counter that a broken section explains.
    pub explained: u64,
    /// The sum of all counters at the end.
    pub shows: u64,
}

/// One section: when its holder can have read and written.
struct Span {
    from: u64,
    until: u64,
    read: u64,
    whole: bool,
}

/// Follows each counter through its sections. `last(key)` is the counter's number at the end.
pub fn counter(attempts: &[Attempt], faults: &[Fault], last: impl Fn(u32) -> u64) -> Counted {
    let mut found = Counted::default();
    by_key(attempts, |key, attempts| {
        let mut spans: Vec<Span> = attempts.iter().filter_map(|attempt| span(attempt, faults)).collect();
        spans.sort_by_key(|span| span.from);
        let (whole, broken): (Vec<_>, Vec<_>) = spans.into_iter().partition(|span| span.whole);
        found.whole += whole.len() as u64;
        found.broken += broken.len() as u64;
        let mut writers = Writers::new(broken);
        let mut shows = 0;
        let mut since = 0;
        let mut step = |reads: u64, until: u64, since: u64, shows: u64, caller: &str| {
            if reads == shows {
                return;
            }
            if writers.explain(since, until) {
                found.explained += 1;
            } else {
                found
                    .violations
                    .add(|| format!("the counter of key {key} shows {reads} to {caller}, after {shows} was written"));
            }
        };
        for span in &whole {
            step(span.read, span.until, since, shows, &format!("the section from {} to {}", span.from, span.until));
            shows = span.read + 1;
            since = span.from;
        }
        step(last(key), u64::MAX, since, shows, "the rig at the end");
        found.shows += last(key);
    });
    found
}

/// Broken sections that have not explained a step yet. A section writes once, so it explains at most one step.
struct Writers(Vec<Span>);

impl Writers {
    fn new(mut broken: Vec<Span>) -> Self {
        broken.sort_by_key(|span| span.until);
        Writers(broken)
    }

    /// Uses up one section that may have written between the two times: the one that ended first. The steps come in
    /// order, so sections that end later stay for later steps.
    fn explain(&mut self, from: u64, until: u64) -> bool {
        let found = self.0.iter().position(|span| span.from <= until && from <= span.until);
        found.map(|at| self.0.remove(at)).is_some()
    }
}

fn span(attempt: &Attempt, faults: &[Fault]) -> Option<Span> {
    // Readers do not write, and permits protect no counter.
    let hold = attempt.hold.as_ref().filter(|_| attempt.takes > 0 && Kind::of(attempt.key).excludes())?;
    let span = |until, read, whole| Some(Span { from: hold.from, until, read, whole });
    match (&hold.close, hold.section) {
        (Close::Released { .. }, Section::Wrote(read)) => {
            let taken_away = |fault: &Fault| fault.takes_away(attempt.key) && fault.overlaps(hold.asked, hold.until);
            span(hold.until, read, !faults.iter().any(taken_away))
        }
        (Close::Released { .. }, Section::None) => None,
        // The holder noticed its loss before it wrote, and did not write.
        (Close::Lost { .. }, Section::None) => None,
        (Close::Lost { told, .. }, Section::Wrote(_)) => span(*told, 0, false),
        (Close::Died { at }, _) => span(*at, 0, false),
    }
}
