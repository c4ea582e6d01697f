//! Notices when the whole machine stands still. Late events after that count as if every process had been stopped.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{scope, sleep};
use std::time::Duration;

use redlatch_tests::check::{Fault, Kind};
use redlatch_tests::clock::{self, ns};
use redlatch_tests::ms;

const STEP: Duration = ms(10);
/// A thread that wakes later than this shows that the machine stood still: a merely busy machine wakes it sooner.
const STILL: Duration = ms(300);

/// Runs `work`, and returns its result with the times, in ns, at which the machine stood still.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Vec<(u64, u64)>) {
    let over = AtomicBool::new(false);
    let mut times = Vec::new();
    let result = scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                let from = clock::now();
                sleep(STEP);
                let until = clock::now();
                if until - from > ns(STILL) {
                    times.push((from, until));
                }
            }
        });
        let _over = Over(&over);
        work()
    });
    (result, times)
}

/// Sets the flag at the end of the work, even after a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// The times as stops of each of so many processes.
pub fn faults(times: &[(u64, u64)], processes: usize) -> impl Iterator<Item = Fault> {
    times.iter().flat_map(move |&(from, until)| {
        (0..processes).map(move |process| Fault { from, until, kind: Kind::Stop { process } })
    })
}
