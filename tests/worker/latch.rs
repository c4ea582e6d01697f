//! A lane's turn at a latch of its own: every count is answered exactly, even after lost replies, and the end opens the
//! latch.

use redlatch::Result;
use redlatch_tests::traffic::{LATCH_COUNT, LATCH_PATIENCE};

use crate::clients::Clients;
use crate::log::Attempt;
use crate::plan::Plan;

const COUNT: u64 = LATCH_COUNT;

/// A waiter waits beside the lane that counts.
pub async fn in_task(clients: &Clients, attempt: Attempt<'_>, plan: &Plan) {
    let latch = clients.latch(plan, attempt.number());
    let counted = async {
        attempt.counted(u64::from(latch.try_set_count(COUNT).await?), 1);
        let waiter = latch.clone();
        let (opened, counted) = tokio::join!(async { waiter.wait().wait(LATCH_PATIENCE).await }, async {
            for left in (0..COUNT).rev() {
                attempt.counted(latch.count_down().await?, left);
            }
            Result::Ok(())
        });
        counted?;
        attempt.counted(u64::from(opened?), 1);
        Result::Ok(())
    };
    let outcome = counted.await;
    let leaves_it = outcome.is_err();
    attempt.ended(outcome);
    // A later attempt never uses this latch: its key need only go.
    if leaves_it {
        let _ = latch.delete().await;
    }
}

/// As [`in_task`], on a thread that counts first and waits then.
pub fn on_thread(clients: &Clients, attempt: Attempt, plan: &Plan) {
    let latch = clients.latch(plan, attempt.number());
    let counted = || {
        attempt.counted(u64::from(latch.try_set_count(COUNT).blocking()?), 1);
        for left in (0..COUNT).rev() {
            attempt.counted(latch.count_down().blocking()?, left);
        }
        attempt.counted(u64::from(latch.wait().wait(LATCH_PATIENCE).blocking()?), 1);
        Result::Ok(())
    };
    let outcome = counted();
    let leaves_it = outcome.is_err();
    attempt.ended(outcome);
    if leaves_it {
        let _ = latch.delete().blocking();
    }
}
