//! The promises of one server also hold on several: clusters, sentinels, replicas.

use redlatch::Client;
use redlatch_tests::{kinds, secs};

mod anew;
mod bounds;
mod cluster;
mod confirmed;
mod credentials;
mod half_moved;
mod inventory;
mod keys;
mod moves;
mod nat;
mod old;
mod outages;
mod quarantine;
mod replicated;
mod rights;
mod sentinel;
mod sharded;
mod silent;
mod turns;
mod ways;

fn client(url: &str) -> Client {
    Client::connect(url).expect("a good URL")
}

/// Locks and unlocks with every kind that has a name of its own.
fn use_every_kind(client: &Client, name: &str) {
    for (kind, lock) in kinds::locks() {
        let lock = lock(client, &format!("{name}:{}", kind.name));
        lock.blocking().acquire().expect("free").release().expect("held");
    }
    let semaphore = client.semaphore(&format!("{name}:semaphore"));
    assert!(semaphore.try_set_permits(2).blocking().expect("answered"));
    semaphore.acquire(2).blocking().expect("available").keep();
    semaphore.release(2).blocking().expect("answered");
    // The channel of a latch has braces of its own.
    let latch = client.latch(&format!("{name}:latch").replace(['{', '}'], ""));
    assert!(latch.try_set_count(1).blocking().expect("answered"));
    latch.count_down().blocking().expect("answered");
    latch.wait().blocking().expect("open");
}

/// One client holds the lock, and another one waits and gets it soon after the release.
fn hand_over(from: &Client, to: &Client, name: &str, meanwhile: impl FnOnce()) {
    let held = from.lock(name).blocking().acquire().expect("free");
    let waiter = to.clone();
    let name = name.to_owned();
    let waiting =
        std::thread::spawn(move || waiter.lock(&name).wait(secs(20)).blocking().acquire().map(|guard| guard.release()));
    meanwhile();
    held.release().expect("held");
    waiting.join().expect("no panic").expect("woken").expect("held");
}
