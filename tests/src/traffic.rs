//! The common ground of the processes of a run under faults: which locks they take, and where the counters are that
//! only these locks protect.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redlatch::ffi::kinds::Traits;

use crate::kinds;

/// The kinds of locks in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Plain,
    NonReentrant,
    Spin,
    Fenced,
    Fair,
    NonReentrantFair,
    ReadWrite,
    Semaphore,
    /// Permits with ids. They are renewed, or have a lease.
    Permits,
    /// A latch for each attempt.
    Latch,
    /// All of several locks, see [`covers`].
    Multi,
    /// A majority of the servers that exist only for red locks.
    Red,
    Token,
    /// Several values of one group, see [`covers`] and [`value`].
    Values,
}

/// The locks of one kind in a run. The core's traits of the kind tell the rest.
struct Row {
    kind: Kind,
    /// How often the kind comes: the fastest and the most used ones come more often.
    share: usize,
    /// Locks that every lane takes and releases at once.
    fast_keys: &'static [u32],
    /// Locks that their holders keep long enough to be renewed, or lost.
    slow_keys: &'static [u32],
    /// The core's kind. Of a read-write lock it is the writer's.
    of_core: &'static str,
}

const fn row(
    kind: Kind,
    share: usize,
    fast_keys: &'static [u32],
    slow_keys: &'static [u32],
    of_core: &'static str,
) -> Row {
    Row { kind, share, fast_keys, slow_keys, of_core }
}

/// Every kind. No two of them have a lock in common, but for the parts of [`Kind::Multi`], which are plain locks.
static ROWS: &[Row] = &[
    row(Kind::Plain, 5, &[0, 2], &[10], "plain"),
    row(Kind::Fenced, 4, &[1], &[11], "fenced"),
    row(Kind::NonReentrant, 1, &[90], &[91], "non_reentrant"),
    row(Kind::Spin, 1, &[100], &[101], "spin"),
    row(Kind::Fair, 1, &[20], &[21], "fair"),
    row(Kind::NonReentrantFair, 1, &[110], &[111], "non_reentrant_fair"),
    row(Kind::ReadWrite, 1, &[30], &[31], "write"),
    row(Kind::Semaphore, 1, &[40], &[41], "semaphore"),
    row(Kind::Permits, 1, &[120], &[121], "permit_semaphore"),
    row(Kind::Latch, 1, &[130], &[131], "latch"),
    row(Kind::Multi, 1, &[50, 50, 52, 53], &[51, 51, 54], "plain"),
    row(Kind::Red, 1, &[60], &[61], "plain"),
    row(Kind::Token, 1, &[70], &[71], "token"),
    row(Kind::Values, 1, &[80, 80, 82, 83], &[81, 81, 84], "multi"),
];

impl Kind {
    /// Every kind, each as often as its share says.
    pub fn all() -> Vec<Kind> {
        ROWS.iter().flat_map(|row| std::iter::repeat_n(row.kind, row.share)).collect()
    }

    /// The kinds with these names, separated by commas; `all`: [`Kind::all`].
    ///
    /// # Panics
    /// When there is no kind of that name.
    pub fn named(names: &str) -> Vec<Kind> {
        let one = |name: &str| Kind::all().into_iter().find(|kind| format!("{kind:?}").eq_ignore_ascii_case(name));
        match names {
            "all" => Kind::all(),
            _ => {
                names.split(',').map(|name| one(name).unwrap_or_else(|| panic!("there is no kind `{name}`"))).collect()
            }
        }
    }

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.kind == self).expect("every kind has a row")
    }

    fn traits(self) -> &'static Traits {
        kinds::traits(self.row().of_core)
    }

    /// Locks that every lane takes and releases at once.
    pub fn fast_keys(self) -> &'static [u32] {
        self.row().fast_keys
    }

    /// Locks that their holders keep long enough to be renewed, or lost.
    pub fn slow_keys(self) -> &'static [u32] {
        self.row().slow_keys
    }

    /// The core's kind of the lock. `takes` is 0 for a reader.
    pub fn of_core(self, takes: u64) -> &'static str {
        match self {
            Kind::ReadWrite if takes == 0 => "read",
            kind => kind.row().of_core,
        }
    }

    /// Whether a hold keeps all others out: one owner at a time, or readers beside each other.
    pub fn excludes(self) -> bool {
        self.traits().exclusive
    }

    /// Whether the waiter that came first is served first, across all processes.
    pub fn is_fair(self) -> bool {
        self.traits().fair
    }

    /// Whether the owner may take the lock again. The owner of a token lock, for example, is refused.
    pub fn is_reentrant(self) -> bool {
        self.traits().reentrant || !self.traits().held
    }

    pub fn of(key: u32) -> Self {
        let has_key = |row: &&Row| row.fast_keys.contains(&key) || row.slow_keys.contains(&key);
        match key {
            // The parts of the multi locks.
            52..=54 => Kind::Plain,
            _ => match ROWS.iter().find(has_key) {
                Some(row) => row.kind,
                // A lock that belongs to one lane, see OWN_KEYS.
                None if key % 2 == 1 => Kind::Fenced,
                None => Kind::Plain,
            },
        }
    }
}

/// How many calls an attempt at this lock makes, one after the other.
pub fn calls(key: u32) -> u64 {
    match Kind::of(key) {
        // The attempt sets the latch, counts it down to zero and waits for it.
        Kind::Latch => LATCH_COUNT + 2,
        _ => covers(key).len() as u64,
    }
}

/// The locks that are held with this one: the lock itself, or its parts.
pub fn covers(key: u32) -> Vec<u32> {
    match key {
        50 => vec![52, 53],
        51 => vec![54, 53],
        80 => vec![82, 83],
        81 => vec![84, 83],
        _ => vec![key],
    }
}

/// How many permits a semaphore has.
pub fn permits(key: u32) -> u64 {
    if key == 40 || key == 120 { 5 } else { 3 }
}

/// The first number of the locks that belong to one lane each.
pub const OWN_KEYS: u32 = 1000;
/// The longest time that a killed process can keep a lock.
pub const LONGEST_LEASE: Duration = Duration::from_secs(5);
/// The same for a red lock. A server that lost its data may come back after that time.
pub const LONGEST_RED_LEASE: Duration = Duration::from_millis(1500);
/// The count with which a latch begins.
pub const LATCH_COUNT: u64 = 2;
/// Longer than any fault lasts: an open latch lets its waiter go at once.
pub const LATCH_PATIENCE: Duration = Duration::from_secs(10);

/// The name of a lock, or the group of a value.
pub fn name(key: u32) -> String {
    format!("k{}", if Kind::of(key) == Kind::Values { 80 } else { key })
}

/// The name of a value within its group.
pub fn value(key: u32) -> String {
    format!("v{key}")
}

/// One counter for each lock, in files. Nothing but the lock protects it.
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
        // A counter that was never written is 0.
        let _ = self.open(key).read_at(&mut number, 0);
        u64::from_le_bytes(number)
    }

    pub fn write(&self, key: u32, number: u64) {
        self.open(key).write_all_at(&number.to_le_bytes(), 0).expect("the disk has room");
    }

    fn open(&self, key: u32) -> Arc<File> {
        let mut files = self.files.lock().expect("nothing panics while it is held");
        let open = || {
            let path = self.dir.join(format!("counter-{key}"));
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            Arc::new(file.unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        };
        files.entry(key).or_insert_with(open).clone()
    }
}
