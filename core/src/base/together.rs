//! What is done once for many small things: to wake a thread costs more than most of what it is woken for.

use std::cell::RefCell;

type End = Box<dyn FnOnce()>;

thread_local! {
    /// What is due at the end; `None`: nothing is done together just now.
    static ENDS: RefCell<Option<Vec<End>>> = const { RefCell::new(None) };
}

/// Does what has to be done at the end, also after a panic.
struct Ending;

/// Does many small things, each of which may put something off until they are all done.
pub fn together<T>(things: impl FnOnce() -> T) -> T {
    let is_first = ENDS.with_borrow_mut(|ends| match ends {
        Some(_) => false,
        None => {
            *ends = Some(Vec::new());
            true
        }
    });
    // Only then is there one: an ending that is made is an end.
    let _ending = is_first.then(|| Ending);
    things()
}

/// Does it once at the end of what this thread does together, or now.
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

/// Whether this thread does things together just now.
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
    fn what_is_put_off_is_done_once_all_is_done() {
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
