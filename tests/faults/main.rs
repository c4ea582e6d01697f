//! The promises while processes die, connections break and servers stumble: one test for each promise.
//!
//! Wherever something must happen before a lease would end, the lease is much longer than the rig's patience.

use std::time::{Duration, Instant};

use redlatch::{Client, Holds};
use redlatch_tests::*;

mod calls;
mod cancelling;
mod changes;
mod closing;
mod dropped;
mod endings;
mod every_packet;
mod exhausted;
mod full;
mod goers;
mod holders;
mod hurried;
mod late_copies;
mod load;
mod losses;
mod lost_replies;
mod many_at_once;
mod names;
mod nonsense;
mod outages;
mod quarantine;
mod refused;
mod repeats;
mod servers;
mod slowness;
mod subscribers;
mod suspended;

/// Longer than any wait in these tests.
const LONG: Duration = Duration::from_secs(120);

fn connect(url: &str) -> Client {
    Client::connect(url).expect("the URL is good")
}

fn channel(name: &str) -> String {
    format!("redisson_lock__channel:{{{name}}}")
}

/// The server's counts of a lock, one for each owner.
fn counts(view: &mut View, name: &str) -> Vec<String> {
    view.hgetall(name).into_values().collect()
}

/// Returns once the lock has no holder and no subscriber.
fn nothing_is_left(view: &mut View, name: &str) {
    let since = Instant::now();
    loop {
        let key = view.hgetall(name);
        let ttl = view.pttl(name);
        let listeners = view.listeners(&channel(name));
        if key.is_empty() && listeners == 0 {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "`{name}` is held by {key:?} for {ttl} ms more, {listeners} listen");
        std::thread::sleep(ms(2));
    }
}

const WORKER: &str = env!("CARGO_BIN_EXE_redlatch-worker");

fn worker(url: String) -> Process {
    Process::start(WORKER, &[url])
}
