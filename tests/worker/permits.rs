//! A lane's turn at a semaphore: with plain permits, or with permits that have ids.

use std::time::Duration;

use redlatch::{Acquiring, RenewedPermit, Result, SemaphorePermit, Waiting};
use redlatch_tests::clock;
use redlatch_tests::history::Section;
use tokio::time::sleep;

use crate::asynchronous::within;
use crate::clients::Clients;
use crate::log::Attempt;
use crate::plan::Plan;

fn taking(clients: &Clients, plan: &Plan) -> Waiting<Option<SemaphorePermit>> {
    clients.semaphore(plan).try_acquire(plan.takes).wait(plan.wait.unwrap_or_default())
}

/// True: the lane had permits. It may drop futures.
pub async fn in_task(clients: &Clients, attempt: Attempt<'_>, plan: &Plan) -> bool {
    let Some(taken): Option<Result<Option<SemaphorePermit>>> =
        within(plan.drop_acquire, async { taking(clients, plan).await }).await
    else {
        attempt.dropped();
        return false;
    };
    let Some(permit) = attempt.took(taken) else { return false };
    sleep(stay(plan)).await;
    attempt.closes(clock::now(), Ok(()), Section::None);
    attempt.released(within(plan.drop_release, permit.release()).await);
    true
}

/// As [`in_task`], on a thread.
pub fn on_thread(clients: &Clients, attempt: Attempt, plan: &Plan) -> bool {
    let Some(permit) = attempt.took(taking(clients, plan).blocking()) else { return false };
    std::thread::sleep(stay(plan));
    attempt.closes(clock::now(), Ok(()), Section::None);
    attempt.released(Some(permit.release_blocking()));
    true
}

/// How long a lane stays inside. Permits cannot be lost, so a long stay would show nothing.
fn stay(plan: &Plan) -> Duration {
    plan.stay / 4
}

/// A lane's turn at permits with ids, of which it takes one. It may drop futures.
pub async fn with_id_in_task(clients: &Clients, attempt: Attempt<'_>, plan: &Plan) -> bool {
    let Some(taken) = within(plan.drop_acquire, async { taking_one(clients, plan).await }).await else {
        attempt.dropped();
        return false;
    };
    let Some(permit) = attempt.returned(taken, clients.lease(plan)) else { return false };
    sleep(stay(plan)).await;
    attempt.deadline(&permit);
    if attempt.closes(clock::now(), permit.ensure(), Section::None) {
        attempt.released(within(plan.drop_release, permit.release()).await);
    }
    true
}

/// As [`with_id_in_task`], on a thread.
pub fn with_id_on_thread(clients: &Clients, attempt: Attempt, plan: &Plan) -> bool {
    let Some(permit) = attempt.returned(taking_one(clients, plan).blocking(), clients.lease(plan)) else {
        return false;
    };
    std::thread::sleep(stay(plan));
    attempt.deadline(&permit);
    if attempt.closes(clock::now(), permit.ensure(), Section::None) {
        attempt.released(Some(permit.release_blocking()));
    }
    true
}

fn taking_one(clients: &Clients, plan: &Plan) -> Acquiring<Option<RenewedPermit>> {
    let asked = clients.permits(plan).try_acquire_renewed().wait(plan.wait.unwrap_or_default());
    match plan.lease {
        Some(lease) => asked.lease(lease),
        None => asked,
    }
}
