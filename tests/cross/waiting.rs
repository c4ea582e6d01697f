//! Beginning to wait, until everybody who matters knows of it.

use redlatch_tests::{View, eventually};

use crate::agent::Pending;
use crate::party::Party;

/// Begins to wait, and returns once the server knows it; whoever only asks now and then is not known.
pub fn wait_for(waiter: &Party, view: &mut View) -> Pending {
    wait_besides(0, waiter, view)
}

/// The same where so many others listen already.
pub fn wait_besides(others: u64, waiter: &Party, view: &mut View) -> Pending {
    let pending = waiter.begin_lock(None);
    until_waiting(others, waiter, view);
    pending
}

/// Returns once the server knows that it listens, besides so many others.
pub fn until_waiting(others: u64, waiter: &Party, view: &mut View) {
    if let Some(channel) = waiter.channel() {
        eventually(&format!("a listener on {channel}"), || (view.listeners(&channel) > others).then_some(()));
        until_asleep(waiter);
    }
}

/// A Redisson's waiter that has seen that there is nothing for it misses the messages that come before it sleeps.
pub fn until_asleep(waiter: &Party) {
    if waiter.is_redisson() {
        eventually("Redisson's waiter to sleep", || waiter.sleeps().then_some(()));
    }
}
