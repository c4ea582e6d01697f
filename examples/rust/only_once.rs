//! Runs a nightly job on one machine out of many: whoever comes second leaves at once. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{BlockingGuard, Client, Config, Result};

/// `None`: somebody does it already.
fn begin(machine: &Client) -> Result<Option<BlockingGuard>> {
    // Ends by itself after 60 s, whatever happens; without a lease it would be renewed for as long as the machine lives.
    machine.lock("example:nightly-report").lease(Duration::from_secs(60)).blocking().try_acquire()
}

fn main() -> Result<()> {
    let (one, two) = (Client::with_config(Config::from_env()?), Client::with_config(Config::from_env()?));
    let Some(job) = begin(&one)? else { panic!("somebody runs this example beside us") };
    println!("machine 1: I do it");
    assert!(begin(&two)?.is_none());
    println!("machine 2: somebody does it already");
    job.release()
}
