//! The first program of the guide: two clients, as two machines, and one lock. Needs a server at REDLATCH_URL.

use std::time::Duration;

use redlatch::{Client, Config};

fn main() -> redlatch::Result<()> {
    let ours = Client::with_config(Config::from_env()?)?;
    let theirs = Client::with_config(Config::from_env()?)?;
    let guard = ours.lock("start:42").wait(Duration::from_secs(5)).blocking().acquire()?; // Error::NotAcquired after 5 s
    println!("they get it: {}", theirs.lock("start:42").blocking().try_acquire()?.is_some()); // false
    guard.ensure()?; // Error::Lost if the lock was lost meanwhile
    guard.release()
}
