//! The counters of a client, for every engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::base::clock::Instant;
use crate::request::error::{Error, LostReason};
use crate::request::names::LEADER_WATCH;
use crate::request::{Answer, Request};

/// The figures that a client has counted since its start, for metrics; see [`crate::Client::stats`].
///
/// The counters only grow. Each lock of a multi or red lock counts at its own client. Permits of a semaphore count as locks do; the
/// waits for a latch and for the news of a leader do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The holds that the client has now. Permits without a holder, those of a semaphore, are none.
    pub held: u64,
    /// The acquires that have no answer yet.
    pub waiting: u64,
    /// The acquires that got the lock.
    pub acquired: u64,
    /// The acquires that ended without the lock because others had it.
    pub not_acquired: u64,
    /// The acquires that ended with an error.
    pub failed: u64,
    /// The acquires that their callers gave up.
    pub cancelled: u64,
    /// The releases that gave something back, or with which the client goes on by itself.
    pub released: u64,
    /// The holds whose renewal had no answer in time; the watchdog tries again, so that most of them are not lost.
    pub renewals_failed: u64,
    /// The time that all acquires took until their answers.
    pub waited: Duration,
    /// The time for which owners had locks, up to each release or loss. Nested holds count once.
    pub held_for: Duration,
    /// The holds that were lost, by reason; every reason is there.
    pub lost: Vec<(LostReason, u64)>,
}

impl Stats {
    /// All numbers in the order of the fields, the times in µs and the losses in the order of the reasons' numbers. With it a
    /// binding needs no field by name.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let us = |time: Duration| time.as_micros() as u64;
        let mut numbers = vec![
            self.held,
            self.waiting,
            self.acquired,
            self.not_acquired,
            self.failed,
            self.cancelled,
            self.released,
            self.renewals_failed,
            us(self.waited),
            us(self.held_for),
        ];
        numbers.extend(self.lost.iter().map(|(_, count)| count));
        numbers
    }
}

/// The counters that change outside the ledger of holds.
#[derive(Default)]
pub struct Counters {
    begun: AtomicU64,
    acquired: AtomicU64,
    not_acquired: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    released: AtomicU64,
    renewals_failed: AtomicU64,
    waited_ns: AtomicU64,
}

/// The figures of the ledger of holds. They change together: at no moment is a lost hold neither among the held nor among the lost.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The holds of all owners that have not ended.
    pub held: u64,
    /// The time for which owners had locks until they lost or released them.
    pub held_for: Duration,
    /// The holds that were lost, by the reason's number, from 1 on.
    pub lost: [u64; LostReason::ALL.len()],
}

impl Counters {
    /// Counts an acquire from now on; `None`: its wait is none for a lock.
    pub fn begin(self: &Arc<Self>, request: &Request) -> Option<Asked> {
        if [LEADER_WATCH, "latch"].contains(&request.kind) {
            return None;
        }
        add(&self.begun, 1);
        Some(Asked { counters: self.clone(), at: Instant::now(), is_over: AtomicBool::new(false) })
    }

    pub fn released(&self) {
        add(&self.released, 1);
    }

    pub fn renewals_failed(&self, holds: usize) {
        add(&self.renewals_failed, holds as u64);
    }

    /// All figures, together with those of the ledger of holds.
    pub fn stats(&self, figures: Figures) -> Stats {
        let Figures { held, held_for, lost } = figures;
        // The acquires that are over come first: one that ends meanwhile must not make fewer than none wait.
        let over = [&self.acquired, &self.not_acquired, &self.failed, &self.cancelled].map(|count| count.load(Relaxed));
        let [acquired, not_acquired, failed, cancelled] = over;
        Stats {
            held,
            waiting: self.begun.load(Relaxed).saturating_sub(over.iter().sum()),
            acquired,
            not_acquired,
            failed,
            cancelled,
            released: self.released.load(Relaxed),
            renewals_failed: self.renewals_failed.load(Relaxed),
            waited: Duration::from_nanos(self.waited_ns.load(Relaxed)),
            held_for,
            lost: LostReason::ALL.into_iter().zip(lost).collect(),
        }
    }
}

/// An acquire that has no answer yet. One that never gets an answer was given up.
pub struct Asked {
    counters: Arc<Counters>,
    at: Instant,
    is_over: AtomicBool,
}

impl Asked {
    pub fn over(&self, came: Result<&Answer, &Error>) {
        if self.is_over.swap(true, Relaxed) {
            return;
        }
        let counters = &self.counters;
        add(&counters.waited_ns, self.at.elapsed().as_nanos() as u64);
        let ended = match came {
            Ok(answer) if answer.done => &counters.acquired,
            Ok(_) => &counters.not_acquired,
            Err(Error::Cancelled) => &counters.cancelled,
            Err(_) => &counters.failed,
        };
        add(ended, 1);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.over(Err(&Error::Cancelled));
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;

    #[test]
    fn each_acquire_counts_once_and_one_without_an_answer_was_given_up() {
        let counters = Arc::<Counters>::default();
        let request = Request::new(Op::Acquire, "plain", "n", 1);
        let begin = || counters.begin(&request).expect("it counts");
        let stats = || counters.stats(Figures::default());
        let [had, late, wrong, gone, waits] = [begin(), begin(), begin(), begin(), begin()];
        assert_eq!(stats().waiting, 5);
        had.over(Ok(&Answer::done(1)));
        late.over(Ok(&Answer::not_now()));
        wrong.over(Err(&Error::config("no name")));
        drop((had, late, wrong, gone));
        let Stats { waiting, acquired, not_acquired, failed, cancelled, .. } = stats();
        assert_eq!([waiting, acquired, not_acquired, failed, cancelled], [1; 5]);
        drop(waits);
        assert_eq!((stats().waiting, stats().cancelled), (0, 2));
        assert!(counters.begin(&Request::new(Op::Acquire, LEADER_WATCH, "n", 1)).is_none());
    }

    #[test]
    fn a_loss_counts_under_its_reason() {
        let mut figures = Figures::default();
        for reason in LostReason::ALL {
            figures.lost[reason as usize - 1] = reason as u64;
        }
        let stats = Counters::default().stats(figures);
        assert!(stats.lost.iter().all(|(reason, count)| *count == *reason as u64), "{stats:?}");
        assert_eq!(stats.numbers().len(), 10 + LostReason::ALL.len());
    }
}
