//! A lane's turn at a semaphore.

use std::time::Duration;

use redlatch::{Operation, Result};
use redlatch_tests::clock;
use redlatch_tests::history::Section;
use tokio::time::sleep;

use crate::asynchronous::within;
use crate::clients::Clients;
use crate::log::Attempt;
use crate::plan::Plan;

fn taking(clients: &Clients, plan: &Plan) -> Operation<bool> {
    clients.semaphore(plan).try_acquire(plan.takes as i64).wait(plan.wait.unwrap_or_default())
}

fn giving_back(clients: &Clients, plan: &Plan) -> Operation<()> {
    clients.semaphore(plan).release(plan.takes as i64)
}

/// True: it had permits. It may drop futures.
pub async fn in_task(clients: &Clients, attempt: Attempt<'_>, plan: &Plan) -> bool {
    let Some(taken): Option<Result<bool>> = within(plan.drop_acquire, async { taking(clients, plan).await }).await else {
        attempt.dropped();
        return false;
    };
    if !attempt.took(taken) {
        return false;
    }
    sleep(stay(plan)).await;
    attempt.closes(clock::now(), Ok(()), Section::None);
    attempt.released(within(plan.drop_release, async { giving_back(clients, plan).await }).await);
    true
}

/// As [`in_task`], on a thread.
pub fn on_thread(clients: &Clients, attempt: Attempt, plan: &Plan) -> bool {
    if !attempt.took(taking(clients, plan).blocking()) {
        return false;
    }
    std::thread::sleep(stay(plan));
    attempt.closes(clock::now(), Ok(()), Section::None);
    attempt.released(Some(giving_back(clients, plan).blocking()));
    true
}

/// Permits are not lost, so nobody stays long enough for that.
fn stay(plan: &Plan) -> Duration {
    plan.stay / 4
}
