//! What the processes of a run under faults have in common: which locks they take, and where the counters are that only these protect.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Locks that are taken and given back at once, by everybody.
pub const FAST_KEYS: [u32; 3] = [0, 1, 2];
/// Locks that are held long enough to be renewed, or lost.
pub const SLOW_KEYS: [u32; 2] = [10, 11];
/// Locks of one lane each begin here.
pub const OWN_KEYS: u32 = 1000;
/// The longest that a killed process can keep a lock.
pub const LONGEST_LEASE: Duration = Duration::from_secs(5);

/// The name of a lock.
pub fn name(key: u32) -> String {
    format!("k{key}")
}

/// Whether a lock draws fencing tokens.
pub fn is_fenced(key: u32) -> bool {
    key % 2 == 1
}

/// One counter for each lock, in files, with nothing to protect them.
pub struct Counters {
    dir: PathBuf,
    files: Mutex<HashMap<u32, Arc<File>>>,
}

impl Counters {
    pub fn in_dir(dir: &Path) -> Self {
        Counters { dir: dir.to_owned(), files: Mutex::default() }
    }

    pub fn read(&self, key: u32) -> u64 {
        let mut number = [0; 8];
        // A counter that nobody has written yet is 0.
        let _ = self.open(key).read_at(&mut number, 0);
        u64::from_le_bytes(number)
    }

    pub fn write(&self, key: u32, number: u64) {
        self.open(key).write_all_at(&number.to_le_bytes(), 0).expect("the disk has room");
    }

    fn open(&self, key: u32) -> Arc<File> {
        let mut files = self.files.lock().expect("nobody panics while holding this");
        let open = || {
            let path = self.dir.join(format!("counter-{key}"));
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            Arc::new(file.unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        };
        files.entry(key).or_insert_with(open).clone()
    }
}
