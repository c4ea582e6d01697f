//! Runs a nightly job on one machine out of many: the second machine leaves at once. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{BlockingGuard, Client, Config, Result};

/// `None`: another machine does it already.
fn begin(machine: &Client) -> Result<Option<BlockingGuard>> {
    // Ends by itself after 60 s, even if its machine dies; without a lease it would be renewed while the machine lives.
    machine.lock("example:nightly-report").lease(Duration::from_secs(60)).blocking().try_acquire()
}

fn main() -> Result<()> {
    let one = Client::with_config(Config::from_env()?)?;
    let two = Client::with_config(Config::from_env()?)?;
    let Some(job) = begin(&one)? else { panic!("another run of this example holds the lock") };
    println!("machine 1: I do it");
    assert!(begin(&two)?.is_none());
    println!("machine 2: another machine does it already");
    job.release()
}
