//! Where the lanes of a process run: when they may go on, and what they write to.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use redlatch_tests::View;
use redlatch_tests::history::Recorder;
use redlatch_tests::traffic::{Counters, Kind};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    Rest,
    /// So many times of a hundred each lane is to take the lock that nobody else takes.
    Go {
        own: u64,
    },
}

pub struct Stage {
    pub recorder: Recorder,
    pub counters: Counters,
    /// What kinds of locks are taken; the same one more often where it is to be.
    pub kinds: Vec<Kind>,
    /// The server's URL without the faults on the way.
    direct: String,
    view: Mutex<Option<View>>,
    phase: watch::Sender<Phase>,
    working: AtomicUsize,
}

impl Stage {
    pub fn new(history: &Path, counters: &Path, direct: &str, kinds: Vec<Kind>) -> Self {
        let (recorder, counters) = (Recorder::open(history), Counters::in_dir(counters));
        let (view, phase, working) = (Mutex::default(), watch::Sender::new(Phase::Rest), AtomicUsize::new(0));
        Stage { recorder, counters, kinds, direct: direct.to_owned(), view, phase, working }
    }

    pub fn set(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// How many lanes are in the middle of something, or may soon be.
    pub fn working(&self) -> usize {
        self.working.load(SeqCst)
    }

    /// A lane is there.
    pub fn join(&self) {
        self.working.fetch_add(1, SeqCst);
    }

    /// A lane asks between two attempts; returns when it may make the next one, with the share of its own lock.
    pub async fn go(&self) -> u64 {
        loop {
            if let Phase::Go { own } = *self.phase.borrow() {
                return own;
            }
            self.working.fetch_sub(1, SeqCst);
            let _ = self.phase.subscribe().wait_for(|phase| *phase != Phase::Rest).await;
            self.working.fetch_add(1, SeqCst);
        }
    }

    /// Whether lanes are to come to an end.
    pub fn rests(&self) -> bool {
        *self.phase.borrow() == Phase::Rest
    }

    /// How often the server says that this owner holds this key; `None`: it does not say.
    pub fn counted(&self, key: &str, field: &str) -> Option<u64> {
        let mut slot = self.view.lock().expect("nothing panics while it is held");
        let mut view = slot.take().or_else(|| View::quick(&self.direct).ok())?;
        let count: Option<u64> = view.try_command(&["HGET", key, field]).ok()?;
        *slot = Some(view);
        Some(count.unwrap_or_default())
    }
}
