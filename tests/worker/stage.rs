//! The place of a process's lanes: when they may go on, and the files that they write.

use std::collections::BTreeMap;
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
    /// In so many of a hundred attempts each lane takes the lock that no other lane takes.
    Go {
        own: u64,
    },
}

pub struct Stage {
    pub recorder: Recorder,
    pub counters: Counters,
    /// The kinds of locks that the lanes take. A kind that is to come more often stands here more often.
    pub kinds: Vec<Kind>,
    /// The server's URL without the faults on the way.
    direct: String,
    view: Mutex<Option<View>>,
    phase: watch::Sender<Phase>,
    working: AtomicUsize,
}

impl Stage {
    pub fn new(history: &Path, counters: &Path, direct: &str, kinds: Vec<Kind>) -> Self {
        let recorder = Recorder::open(history);
        let counters = Counters::in_dir(counters);
        let view = Mutex::default();
        let phase = watch::Sender::new(Phase::Rest);
        let working = AtomicUsize::new(0);
        Stage { recorder, counters, kinds, direct: direct.to_owned(), view, phase, working }
    }

    pub fn set(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// How many lanes are in the midst of an attempt, or soon may be.
    pub fn working(&self) -> usize {
        self.working.load(SeqCst)
    }

    /// Counts a new lane.
    pub fn join(&self) {
        self.working.fetch_add(1, SeqCst);
    }

    /// Called by a lane between two attempts. Returns when it may make the next one, with the share of its own lock.
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

    /// Whether the lanes are to finish.
    pub fn rests(&self) -> bool {
        *self.phase.borrow() == Phase::Rest
    }

    /// The server's count of the holds that this client has of an exclusive lock; `None`: the server does not answer.
    /// An owner that was handed the lock inside its client holds it under the field of another owner.
    pub fn counted(&self, key: &str, client: &str) -> Option<u64> {
        let mut slot = self.view.lock().expect("nothing panics while it is held");
        let mut view = slot.take().or_else(|| View::quick(&self.direct).ok())?;
        let fields: BTreeMap<String, u64> = view.try_command(&["HGETALL", key]).ok()?;
        *slot = Some(view);
        let of_client = |field: &str| field.strip_prefix(client).is_some_and(|owner| owner.starts_with(':'));
        Some(fields.iter().filter(|(field, _)| of_client(field)).map(|(_, count)| count).sum())
    }
}
