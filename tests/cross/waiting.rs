//! Beginning to wait, until everybody who matters knows of it, and what ends it.

use std::time::Duration;

use redlatch_tests::{View, eventually};

use crate::agent::Pending;
use crate::party::{Party, SOON};
use crate::stage::STAGE;

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

/// Waits until the waiter has what another's lease kept from it. One that may oversleep is told by whoever of ours comes along.
pub fn until_it_has(waiter: &Party, pending: Pending, lease: Duration) {
    if waiter.may_oversleep() {
        until_told_by_a_newcomer(waiter);
    }
    pending.within(lease + SOON).expect("the lease ended");
}

/// Has others of ours come along whenever the lock is free, until the waiter, which is none of ours, has it.
pub fn until_told_by_a_newcomer(waiter: &Party) {
    let newcomer = Party::new(STAGE.bystander(), waiter.kind, waiter.name());
    let mut view = STAGE.server.view();
    eventually("the first in the queue to have the lock", || {
        if !view.exists(waiter.name()) && newcomer.try_lock(Duration::ZERO) {
            newcomer.unlock();
        }
        waiter.has(&mut view).then_some(())
    });
}
