//! Appends events to a process's own file. Each event is one write, so that nothing is lost when the process is killed.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use super::{Entry, Event};
use crate::clock;

pub struct Recorder {
    file: File,
}

impl Recorder {
    /// Opens a file to append to, or creates it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn open(path: &Path) -> Self {
        let file = File::options().append(true).create(true).open(path);
        Recorder { file: file.unwrap_or_else(|e| panic!("no history can be written to {}: {e}", path.display())) }
    }

    /// Records an event that happens now.
    pub fn record(&self, lane: u32, attempt: u64, event: Event) {
        self.record_at(clock::now(), lane, attempt, event);
    }

    /// Records an event that happened at `at`.
    pub fn record_at(&self, at: u64, lane: u32, attempt: u64, event: Event) {
        let line = format!("{}\n", Entry { at, lane, attempt, event });
        (&self.file).write_all(line.as_bytes()).expect("the disk has room");
    }
}
