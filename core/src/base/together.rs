//! Batches of deferred work: waking a thread costs more than most work that it is woken for, so a thread does it once
//! for many small steps.

use std::cell::RefCell;

type End = Box<dyn FnOnce()>;

thread_local! {
    /// The work for the end of the batch; `None`: no batch is open on this thread.
    static ENDS: RefCell<Option<Vec<End>>> = const { RefCell::new(None) };
}

/// Runs the deferred work at the end, even after a panic.
struct Ending;

/// Runs many small steps as one batch; each step may defer work to the end.
pub fn together<T>(things: impl FnOnce() -> T) -> T {
    let is_first = ENDS.with_borrow_mut(|ends| match ends {
        Some(_) => false,
        None => {
            *ends = Some(Vec::new());
            true
        }
    });
    // Only the outermost batch makes an ending: its drop ends the batch.
    let _ending = is_first.then(|| Ending);
    things()
}

/// Runs `what` at the end of this thread's batch, or now if there is none.
pub fn at_the_end(what: impl FnOnce() + 'static) {
    let now = ENDS.with_borrow_mut(|ends| match ends {
        Some(ends) => {
            ends.push(Box::new(what));
            None
        }
        None => Some(what),
    });
    if let Some(what) = now {
        what();
    }
}

/// Tells whether a batch is open on this thread.
pub(crate) fn is_together() -> bool {
    ENDS.with_borrow(Option::is_some)
}

impl Drop for Ending {
    fn drop(&mut self) {
        let ends = ENDS.with_borrow_mut(Option::take);
        ends.into_iter().flatten().for_each(|end| end());
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn deferred_work_runs_once_the_batch_is_done() {
        let done = Rc::new(RefCell::new(Vec::new()));
        let note = |what| {
            let done = done.clone();
            move || done.borrow_mut().push(what)
        };
        together(|| {
            at_the_end(note("end"));
            together(|| at_the_end(note("end of the inner")));
            note("things")();
        });
        at_the_end(note("alone"));
        assert_eq!(*done.borrow(), ["things", "end", "end of the inner", "alone"]);
    }

    #[test]
    fn a_panic_is_an_end_too() {
        let done = Rc::new(RefCell::new(false));
        let told = done.clone();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            together(|| {
                at_the_end(move || *told.borrow_mut() = true);
                panic!("on the way");
            })
        }));
        assert!(panicked.is_err() && *done.borrow() && !is_together());
    }
}
