//! How a wait begins, until the server and the holder know of it, and how it ends.

use std::time::Duration;

use redlatch_tests::{View, eventually, eventually_within};

use crate::agent::Pending;
use crate::party::{Party, SOON};
use crate::stage::STAGE;

/// Begins to wait, and returns once the server knows of the waiter. It never knows of a waiter that only tries now and
/// then.
pub fn wait_for(waiter: &Party, view: &mut View) -> Pending {
    wait_besides(0, waiter, view)
}

/// The same while so many others already listen.
pub fn wait_besides(others: u64, waiter: &Party, view: &mut View) -> Pending {
    let pending = waiter.begin_lock(None);
    until_waiting(others, waiter, view);
    pending
}

/// Returns once the server knows that the waiter listens beside so many others.
pub fn until_waiting(others: u64, waiter: &Party, view: &mut View) {
    if let Some(channel) = waiter.channel() {
        eventually(&format!("a listener on {channel}"), || (view.listeners(&channel) > others).then_some(()));
        until_asleep(waiter);
    }
}

/// Waits until a Redisson's waiter sleeps. Between its look at the lock and its sleep it misses messages.
pub fn until_asleep(waiter: &Party) {
    if waiter.is_redisson() {
        eventually("Redisson's waiter to sleep", || waiter.sleeps().then_some(()));
    }
}

/// Waits until the waiter gets the lock after another's lease. A newcomer of redlatch wakes a waiter that may
/// oversleep.
pub fn until_it_has(waiter: &Party, pending: Pending, lease: Duration) {
    if waiter.may_oversleep() {
        until_told_by_a_newcomer(waiter, lease + SOON);
    }
    pending.within(lease + SOON).expect("the lease ended");
}

/// Has newcomers of redlatch try whenever the lock is free, until the waiter of another library has it.
pub fn until_told_by_a_newcomer(waiter: &Party, limit: Duration) {
    let newcomer = Party::new(STAGE.bystander(), waiter.kind, waiter.name());
    let mut view = STAGE.server.view();
    eventually_within(limit, "the first in the queue to have the lock", || {
        if !view.exists(waiter.name()) && newcomer.try_lock(Duration::ZERO) {
            newcomer.unlock();
        }
        waiter.has(&mut view).then_some(())
    });
}
