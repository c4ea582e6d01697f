//! The common ground of the processes of a run under faults: which locks they take, and where the counters are that
//! only these locks protect.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

impl Kind {
    /// Every kind. Two of them come more often, because they are the fastest and the most used.
    #[rustfmt::skip]
    pub const ALL: [Kind; 21] = [
        Kind::Plain, Kind::Plain, Kind::Plain, Kind::Plain, Kind::Plain,
        Kind::Fenced, Kind::Fenced, Kind::Fenced, Kind::Fenced,
        Kind::NonReentrant, Kind::Spin, Kind::Fair, Kind::NonReentrantFair, Kind::ReadWrite,
        Kind::Semaphore, Kind::Permits, Kind::Latch,
        Kind::Multi, Kind::Red, Kind::Token, Kind::Values,
    ];

    /// The kinds with these names, separated by commas; `all`: [`Kind::ALL`].
    ///
    /// # Panics
    /// When there is no kind of that name.
    pub fn named(names: &str) -> Vec<Kind> {
        let one = |name: &str| Kind::ALL.into_iter().find(|kind| format!("{kind:?}").eq_ignore_ascii_case(name));
        match names {
            "all" => Kind::ALL.to_vec(),
            _ => names.split(',').map(|name| one(name).unwrap_or_else(|| panic!("there is no kind `{name}`"))).collect(),
        }
    }

    /// Locks that every lane takes and releases at once.
    pub fn fast_keys(self) -> &'static [u32] {
        match self {
            Kind::Plain => &[0, 2],
            Kind::Fenced => &[1],
            Kind::Fair => &[20],
            Kind::ReadWrite => &[30],
            Kind::Semaphore => &[40],
            Kind::Multi => &[50, 50, 52, 53],
            Kind::Red => &[60],
            Kind::Token => &[70],
            Kind::Values => &[80, 80, 82, 83],
            Kind::NonReentrant => &[90],
            Kind::Spin => &[100],
            Kind::NonReentrantFair => &[110],
            Kind::Permits => &[120],
            Kind::Latch => &[130],
        }
    }

    /// Locks that their holders keep long enough to be renewed, or lost.
    pub fn slow_keys(self) -> &'static [u32] {
        match self {
            Kind::Plain => &[10],
            Kind::Fenced => &[11],
            Kind::Fair => &[21],
            Kind::ReadWrite => &[31],
            Kind::Semaphore => &[41],
            Kind::Multi => &[51, 51, 54],
            Kind::Red => &[61],
            Kind::Token => &[71],
            Kind::Values => &[81, 81, 84],
            Kind::NonReentrant => &[91],
            Kind::Spin => &[101],
            Kind::NonReentrantFair => &[111],
            Kind::Permits => &[121],
            Kind::Latch => &[131],
        }
    }

    /// The core's kind of the lock. `takes` is 0 for a reader.
    pub fn of_core(self, takes: u64) -> &'static str {
        match self {
            Kind::Plain | Kind::Multi | Kind::Red => "plain",
            Kind::NonReentrant => "non_reentrant",
            Kind::Spin => "spin",
            Kind::Fenced => "fenced",
            Kind::Fair => "fair",
            Kind::NonReentrantFair => "non_reentrant_fair",
            Kind::ReadWrite if takes == 0 => "read",
            Kind::ReadWrite => "write",
            Kind::Semaphore => "semaphore",
            Kind::Permits => "permit_semaphore",
            Kind::Latch => "latch",
            Kind::Token => "token",
            Kind::Values => "multi",
        }
    }

    /// Whether a hold keeps all others out: one owner at a time, or readers beside each other.
    pub fn excludes(self) -> bool {
        !matches!(self, Kind::Semaphore | Kind::Permits | Kind::Latch)
    }

    /// Whether the waiter that came first is served first, across all processes.
    pub fn is_fair(self) -> bool {
        matches!(self, Kind::Fair | Kind::NonReentrantFair)
    }

    /// Whether the owner may take the lock again. The owner of a token lock, for example, is refused.
    pub fn is_reentrant(self) -> bool {
        !matches!(self, Kind::Token | Kind::NonReentrant | Kind::NonReentrantFair)
    }

    pub fn of(key: u32) -> Self {
        match key {
            20..30 => Kind::Fair,
            30..40 => Kind::ReadWrite,
            40..50 => Kind::Semaphore,
            50 | 51 => Kind::Multi,
            60..70 => Kind::Red,
            70..80 => Kind::Token,
            80..90 => Kind::Values,
            90..100 => Kind::NonReentrant,
            100..110 => Kind::Spin,
            110..120 => Kind::NonReentrantFair,
            120..130 => Kind::Permits,
            130..140 => Kind::Latch,
            _ if key % 2 == 1 => Kind::Fenced,
            _ => Kind::Plain,
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
