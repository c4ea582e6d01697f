//! A program that loses a lock while the system has no thread for its callback: `redlatch-threadless URL`. It ends with 0
//! if the callback runs once the system has one again, or says the defect.

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use redlatch::{Client, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The bytes that are left to it: a quarter of a thread's stack.
const SPARE: u64 = 512 * 1024;
const LONG: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let url = std::env::args().nth(1).expect("the argument is a URL");
    match run(&url) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(defect)) => println!("{defect}"),
        Err(error) => println!("{error}"),
    }
    ExitCode::FAILURE
}

/// Gives the defect.
fn run(url: &str) -> Result<Option<&'static str>> {
    let client = Client::connect(url)?;
    let guard = client.lock("n").lease(Duration::from_secs(1)).blocking().acquire()?;
    let (tell, told) = channel();
    guard.on_lost(move |loss| drop(tell.send(loss)));
    let without_threads = Limit::set();
    if std::thread::Builder::new().spawn(|| ()).is_ok() {
        return Ok(Some("the limit lets threads begin"));
    }
    let waiting = tokio::runtime::Builder::new_current_thread().build().expect("this needs no thread");
    if waiting.block_on(guard.lost()).is_none() {
        return Ok(Some("the lease does not end"));
    }
    drop(without_threads);
    Ok(told.recv_timeout(LONG).is_err().then_some("the callback does not run"))
}

/// The program can map hardly any more memory, so that no new thread gets its stack.
struct Limit(Rlimit);

impl Limit {
    fn set() -> Limit {
        let before = getrlimit(Resource::As);
        let sizes = std::fs::read_to_string("/proc/self/statm").expect("the system tells it");
        let pages: u64 = sizes.split(' ').next().and_then(|size| size.parse().ok()).expect("the size comes first");
        let current = Some(pages * rustix::param::page_size() as u64 + SPARE);
        setrlimit(Resource::As, Rlimit { current, ..before }).expect("a lower limit is allowed");
        Limit(before)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        setrlimit(Resource::As, self.0).expect("the limit from before is allowed");
    }
}
