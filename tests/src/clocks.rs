//! The clocks of one process, moved by a test: like those of a suspended machine, or of a machine with another time of
//! day. A process has these clocks if [`Clocks::words`] stand before its command.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock;

/// Where each number stands in the file that `clocks.c` reads.
const LAG: u64 = 0;
const FROZEN: u64 = 8;
const AHEAD: u64 = 16;
const END: u64 = 24;

/// The clocks of the processes that share them. At first they show the machine's time.
pub struct Clocks {
    /// The directory of the library and of its file of numbers.
    dir: PathBuf,
    shown: File,
}

impl Clocks {
    /// Compiles the library that replaces the system's clock calls in those processes.
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
        let shown = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(dir.join("shown"))
            .expect("the folder is ours");
        shown.set_len(END).expect("the file is ours");
        Clocks { dir, shown }
    }

    /// The words before a command that is to have these clocks.
    pub fn words(&self) -> [String; 3] {
        let dir = self.dir.display();
        ["env".into(), format!("LD_PRELOAD={dir}/clocks.so"), format!("REDLATCH_CLOCKS={dir}/shown")]
    }

    /// The path of a script that runs `program` with these clocks.
    pub fn program(&self, program: &str) -> String {
        let path = self.dir.join("program");
        std::fs::write(&path, format!("#!/bin/sh\nexec {} {program} \"$@\"\n", self.words().join(" ")))
            .expect("the folder is ours");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("the file is ours");
        path.display().to_string()
    }

    /// Shows the processes that the machine was suspended for `time`: the monotonic clock falls behind the clock that
    /// counts suspension.
    pub fn suspended_for(&self, time: Duration) {
        let mut lag = [0; 8];
        self.shown.read_exact_at(&mut lag, LAG).expect("the file is ours");
        self.show(LAG, i64::from_ne_bytes(lag) + clock::ns(time) as i64);
    }

    /// Stops the monotonic clock.
    pub fn freeze(&self) {
        self.show(FROZEN, clock::now() as i64);
    }

    /// Sets the time of day `time` ahead of the machine's.
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
