//! A server whose clock the test sets.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use redlatch_tests::{Options, Server};

/// The library that replaces the clock calls of a server, compiled once.
static SHIM: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = folder("shim");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/clock.c");
    let library = dir.join("clock.so");
    let built =
        Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl").status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "`cc` builds {source}: install a C compiler, which cargo needs as well"
    );
    library
});

fn folder(what: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("redlatch-nets-{}-{what}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    dir
}

pub struct Clock(std::fs::File);

impl Clock {
    /// Sets the server's clock so many ms ahead of this machine's; a negative number: back.
    pub fn set(&self, ms: i64) {
        self.0.write_all_at(&(ms * 1000).to_ne_bytes(), 0).expect("the disk has room");
    }
}

pub fn start() -> (Server, Clock) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let dir = folder(&COUNT.fetch_add(1, SeqCst).to_string());
    let file = dir.join("ahead");
    let program = dir.join("server");
    std::fs::write(&file, 0i64.to_ne_bytes()).expect("the disk has room");
    let server = std::env::var("REDLATCH_TEST_SERVER").unwrap_or_else(|_| "redis-server".into());
    let lines =
        format!("#!/bin/sh\nREDLATCH_CLOCK={} LD_PRELOAD={} exec {server} \"$@\"\n", file.display(), SHIM.display());
    std::fs::write(&program, lines).expect("the disk has room");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let clock = Clock(std::fs::File::options().write(true).open(&file).expect("it is there"));
    (Server::with(Options { program: Some(program.display().to_string()), ..Options::default() }), clock)
}
