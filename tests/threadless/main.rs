//! A program that loses locks while the system has no thread for their callbacks: `redlatch-threadless URL FINDER`. It ends
//! with 0 if all callbacks run at once when the system has threads again, or says the defect.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use redlatch::{BlockingGuard, Client, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The bytes that are left to it: a quarter of a thread's stack.
const SPARE: u64 = 512 * 1024;
const LONG: Duration = Duration::from_secs(20);
const LOCKS: usize = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let [_, url, finder] = &words[..] else { panic!("the arguments are a URL and a finder") };
    match run(url, finder) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(defect)) => println!("{defect}"),
        Err(error) => println!("{error}"),
    }
    ExitCode::FAILURE
}

/// Gives the defect.
fn run(url: &str, finder: &str) -> Result<Option<&'static str>> {
    let client = Client::connect(url)?;
    let take = |at| client.lock(&format!("n{at}")).lease(Duration::from_secs(1)).blocking().acquire();
    let guards = (0..LOCKS).map(take).collect::<Result<Vec<_>>>()?;
    let (tell, told) = channel();
    let ends: Vec<_> = guards.iter().map(|guard| call_back(guard, tell.clone())).collect();
    let waiting = tokio::runtime::Builder::new_current_thread().build().expect("this needs no thread");
    // The I/O thread has its memory once it has answered.
    waiting.block_on(client.latch("none").count())?;
    let without_threads = Limit::set();
    if std::thread::Builder::new().spawn(|| ()).is_ok() {
        return Ok(Some("the limit lets threads begin"));
    }
    match finder {
        "io-thread" => {
            if guards.iter().any(|guard| waiting.block_on(guard.lost()).is_none()) {
                return Ok(Some("a lease does not end"));
            }
        }
        // The I/O thread wakes up for it, and is later.
        "caller" => while guards.iter().any(|guard| guard.ensure().is_ok()) {},
        _ => return Ok(Some("the finder is `io-thread` or `caller`")),
    }
    drop(without_threads);
    // Each callback blocks its thread until all of them run.
    let ran = (0..LOCKS).all(|_| told.recv_timeout(LONG).is_ok());
    drop(ends);
    Ok((!ran).then_some("a callback does not run"))
}

/// The callback says that it runs, and goes on until the result is dropped.
fn call_back(guard: &BlockingGuard, tell: Sender<()>) -> Sender<()> {
    let (end, ends): (_, Receiver<()>) = channel();
    guard.on_lost(move |_| {
        let _ = tell.send(());
        let _ = ends.recv();
    });
    end
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
