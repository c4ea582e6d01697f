//! Values that belong to one process. A child after `fork` gets its own and never touches its parent's, whose locks may
//! stay locked.

use std::fmt::{Debug, Formatter};

use once_cell::race::OnceBox;

/// One value for each process that uses it: a child after `fork` makes its own.
pub struct PerProcess<T>(OnceBox<Generation<T>>);

struct Generation<T> {
    process: u32,
    /// `None` only during the drop.
    own: Option<T>,
    next: PerProcess<T>,
}

/// A child does not even drop its parent's value.
impl<T> Drop for Generation<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.own.take());
        }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}

/// A child shows nothing of its parent's value.
impl<T> Debug for PerProcess<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerProcess").finish_non_exhaustive()
    }
}

impl<T> PerProcess<T> {
    /// Makes no value yet.
    pub const fn new() -> Self {
        PerProcess(OnceBox::new())
    }

    /// The value of this process; its first call makes it.
    pub fn get(&self, new: impl Fn() -> T) -> &T {
        self.get_in(std::process::id(), new)
    }

    /// As [`PerProcess::get`], for a caller that knows the id of this process: to ask for it is a system call.
    pub(crate) fn get_in(&self, process: u32, new: impl Fn() -> T) -> &T {
        let mut link = self;
        loop {
            let generation =
                link.0.get_or_init(|| Box::new(Generation { process, own: Some(new()), next: PerProcess::default() }));
            if generation.process == process {
                return generation.own.as_ref().expect("only its drop takes it");
            }
            link = &generation.next;
        }
    }

    /// The value of this process, if there is one.
    pub(crate) fn made(&self) -> Option<&T> {
        let process = std::process::id();
        let mut link = self;
        loop {
            let generation = link.0.get()?;
            if generation.process == process {
                return generation.own.as_ref();
            }
            link = &generation.next;
        }
    }
}
