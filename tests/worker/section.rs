//! A holder's work: it adds one to a counter, with nothing but the lock to keep other processes from doing so at the
//! same time.

use redlatch::Guard;
use redlatch_tests::clock;
use redlatch_tests::history::Section;
use redlatch_tests::traffic::name;

use crate::log::Attempt;
use crate::plan::Plan;
use crate::stage::Stage;

/// A section that has read the counter.
pub struct Open<'a> {
    stage: &'a Stage,
    attempt: Attempt<'a>,
    key: u32,
    read: u64,
    /// Whether the holder shares the lock, and so changes nothing.
    shares: bool,
}

impl<'a> Open<'a> {
    pub fn read(stage: &'a Stage, attempt: Attempt<'a>, plan: &Plan) -> Self {
        Open { stage, attempt, key: plan.key, read: stage.counters.read(plan.key), shares: plan.takes == 0 }
    }

    /// Writes if the hold is there, and checks it again. `None`: the hold is lost.
    pub fn write(self, guard: &Guard) -> Option<Section> {
        let sure = clock::now();
        if let Err(lost) = guard.ensure() {
            self.attempt.closes(sure, Err(lost), Section::None);
            return None;
        }
        if self.shares {
            self.attempt.closes(sure, Ok(()), Section::None);
            return Some(Section::None);
        }
        self.stage.counters.write(self.key, self.read + 1);
        let sure = clock::now();
        let wrote = Section::Wrote(self.read);
        self.attempt.closes(sure, guard.ensure(), wrote).then_some(wrote)
    }
}

/// [`count`] for a task.
pub fn count_in_task(stage: &Stage, attempt: Attempt, client: &str, key: u32, guard: &Guard, expected: u64) {
    tokio::task::block_in_place(|| count(stage, attempt, client, key, guard, expected));
}

/// Reads the server's count of this client's holds, and records it if the owner's hold was there before and after.
pub fn count(stage: &Stage, attempt: Attempt, client: &str, key: u32, guard: &Guard, expected: u64) {
    let before = guard.ensure().is_ok();
    let counted = stage.counted(&name(key), client);
    if let Some(counted) = counted.filter(|_| before && guard.ensure().is_ok()) {
        attempt.counted(counted, expected);
    }
}
