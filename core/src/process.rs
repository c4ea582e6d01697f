//! What belongs to one process: a child after `fork` gets its own and never touches its parent's, whose locks may be held for ever.

use once_cell::race::OnceBox;

pub struct PerProcess<T>(OnceBox<Generation<T>>);

struct Generation<T> {
    process: u32,
    own: T,
    next: PerProcess<T>,
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess(OnceBox::new())
    }
}

impl<T> PerProcess<T> {
    /// This process's; its first call makes it.
    pub fn get(&self, new: impl Fn() -> T) -> &T {
        let process = std::process::id();
        let mut link = self;
        loop {
            let generation = link.0.get_or_init(|| Box::new(Generation { process, own: new(), next: PerProcess::default() }));
            if generation.process == process {
                return &generation.own;
            }
            link = &generation.next;
        }
    }
}
