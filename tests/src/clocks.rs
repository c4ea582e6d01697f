//! The clocks of one process, which a test moves: as a suspended machine shows them, or a machine with another time of day. A process
//! takes part when it is started with [`Clocks::words`] before its command.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock;

/// Where in the file each number is that `clocks.c` reads.
const LAG: u64 = 0;
const FROZEN: u64 = 8;
const AHEAD: u64 = 16;
const END: u64 = 24;

/// The clocks of the processes that share them; at first they show the same as the machine's.
pub struct Clocks {
    /// Of the library and of the file that it reads.
    dir: PathBuf,
    shown: File,
}

impl Clocks {
    /// Compiles the library that stands before the system's in those processes.
    ///
    /// # Panics
    /// Without a C compiler.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-{}-clocks-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let source = dir.join("clocks.c");
        std::fs::write(&source, include_str!("clocks.c")).expect("the folder is ours");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(dir.join("clocks.so")).arg(&source);
        let compiled = compiler.output().expect("there is a C compiler: apt-get install gcc libc6-dev");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let shown = File::options().read(true).write(true).create_new(true).open(dir.join("shown")).expect("the folder is ours");
        shown.set_len(END).expect("the file is ours");
        Clocks { dir, shown }
    }

    /// The words before a command that is to have these clocks.
    pub fn words(&self) -> [String; 3] {
        let dir = self.dir.display();
        ["env".into(), format!("LD_PRELOAD={dir}/clocks.so"), format!("REDLATCH_CLOCKS={dir}/shown")]
    }

    /// A program that is `program` with these clocks.
    pub fn program(&self, program: &str) -> String {
        let path = self.dir.join("program");
        std::fs::write(&path, format!("#!/bin/sh\nexec {} {program} \"$@\"\n", self.words().join(" "))).expect("the folder is ours");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("the file is ours");
        path.display().to_string()
    }

    /// The machine was suspended for `time`: the monotonic clock is that much further behind the one that counts suspension.
    pub fn suspended_for(&self, time: Duration) {
        let mut lag = [0; 8];
        self.shown.read_exact_at(&mut lag, LAG).expect("the file is ours");
        self.show(LAG, i64::from_ne_bytes(lag) + clock::ns(time) as i64);
    }

    /// The monotonic clock stands still from now on.
    pub fn freeze(&self) {
        self.show(FROZEN, clock::now() as i64);
    }

    /// The time of day is `time` ahead of the machine's.
    pub fn ahead(&self, time: Duration) {
        self.show(AHEAD, clock::ns(time) as i64);
    }

    fn show(&self, at: u64, ns: i64) {
        self.shown.write_all_at(&ns.to_ne_bytes(), at).expect("the file is ours");
    }
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks::new()
    }
}

impl Drop for Clocks {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
