//! Which run of the server this is: after another one began, its data may be gone, and its numbers mean others.

use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub struct Life {
    now: Mutex<(String, u64)>,
}

impl Life {
    /// Counts the runs that were seen.
    pub fn epoch(&self) -> u64 {
        self.now().1
    }

    /// Takes over the `run_id` that the server has shown.
    pub fn note(&self, run: String) {
        let mut now = self.now();
        if !now.0.is_empty() && now.0 != run {
            now.1 += 1;
        }
        now.0 = run;
    }

    fn now(&self) -> MutexGuard<'_, (String, u64)> {
        self.now.lock().expect("nothing panics while it is held")
    }
}
