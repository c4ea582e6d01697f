//! A lane that is a task, and drops futures.

use std::future::Future;
use std::time::Duration;

use redlatch::{Error, Guard};
use redlatch_tests::clock;
use redlatch_tests::dice::Dice;
use redlatch_tests::history::Section;
use redlatch_tests::traffic::Kind;
use tokio::time::{sleep, timeout};

use crate::clients::Clients;
use crate::latch;
use crate::log::{Attempt, Log};
use crate::permits;
use crate::plan::{Plan, Temper};
use crate::section::{Open, count_in_task};
use crate::stage::Stage;

/// Runs one attempt after another until the process ends.
pub async fn lane(stage: &Stage, clients: &Clients, number: u32, temper: Temper, mut dice: Dice) {
    let mut log = Log::new(stage, number);
    let id = clients.id();
    loop {
        let own = stage.go().await;
        let plan = Plan::roll(&mut dice, &stage.kinds, temper, number, log.attempts(), own);
        let attempt = log.acquire(&plan);
        let had_any = match plan.kind() {
            Kind::Semaphore => Some(permits::in_task(clients, attempt, &plan).await),
            Kind::Permits => Some(permits::with_id_in_task(clients, attempt, &plan).await),
            Kind::Latch => {
                latch::in_task(clients, attempt, &plan).await;
                Some(true)
            }
            _ => None,
        };
        if let Some(had_any) = had_any {
            if !had_any {
                sleep(plan.pause).await;
            }
            continue;
        }
        let Some(guard) = acquire(clients, attempt, &plan).await else {
            sleep(plan.pause).await;
            continue;
        };
        let open = Open::read(stage, attempt, &plan);
        if plan.count {
            count_in_task(stage, attempt, &id, plan.key, &guard, 1);
        }
        if plan.inner {
            let inside = plan.inside();
            let attempt = log.acquire(&plan.inside());
            if let Some(inner) = acquire(clients, attempt, &inside).await {
                if plan.count && guard.ensure().is_ok() {
                    count_in_task(stage, attempt, &id, plan.key, &inner, 2);
                }
                attempt.closes(clock::now(), inner.ensure(), Section::None);
                attempt.released(within(plan.drop_release, inner.release()).await);
            }
        }
        let wrote = if stay(stage, attempt, &guard, plan.stay).await { open.write(&guard) } else { None };
        let reading = if plan.downgrade && wrote.is_some() { read_on(clients, &mut log, &plan).await } else { None };
        // The hold lasts until the call of its release: the last check comes just before that.
        let whole = wrote.is_some_and(|section| attempt.closes(clock::now(), guard.ensure(), section));
        let released = if plan.drop_guard {
            drop(guard);
            None
        } else {
            within(plan.drop_release, guard.release()).await
        };
        if whole {
            attempt.released(released);
        }
        if let Some((attempt, guard)) = reading
            && stay(stage, attempt, &guard, plan.stay).await
            && attempt.closes(clock::now(), guard.ensure(), Section::None)
        {
            attempt.released(within(plan.drop_release, guard.release()).await);
        }
    }
}

/// The writer reads its number before another owner can write.
async fn read_on<'a>(clients: &Clients, log: &mut Log<'a>, plan: &Plan) -> Option<(Attempt<'a>, Guard)> {
    let reading = plan.reading();
    let attempt = log.acquire(&reading);
    acquire(clients, attempt, &reading).await.map(|guard| (attempt, guard))
}

async fn acquire(clients: &Clients, attempt: Attempt<'_>, plan: &Plan) -> Option<Guard> {
    let lock = clients.lock(plan);
    let result = match plan.wait {
        None => within(plan.drop_acquire, async { lock.acquire().await.map(Some) }).await,
        Some(_) => within(plan.drop_acquire, lock.try_acquire()).await,
    };
    match result {
        Some(result) => attempt.returned(result, clients.lease(plan)),
        None => {
            attempt.dropped();
            None
        }
    }
}

/// The future's output, or `None` if it was dropped before it had one.
pub async fn within<T>(patience: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    match patience {
        Some(patience) => timeout(patience, future).await.ok(),
        None => Some(future.await),
    }
}

/// Stays inside until the hold is lost or all lanes are to rest, and records each new deadline. False: the hold is
/// lost, and that is recorded.
async fn stay(stage: &Stage, attempt: Attempt<'_>, guard: &Guard, mut time: Duration) -> bool {
    const LOOK: Duration = Duration::from_millis(50);
    while !time.is_zero() && !stage.rests() {
        if let Ok(Some(loss)) = timeout(time.min(LOOK), guard.lost()).await {
            return attempt.closes(clock::now(), Err(Error::Lost(Box::new(loss))), Section::None);
        }
        time = time.saturating_sub(LOOK);
        if !time.is_zero() {
            attempt.deadline(guard);
        }
    }
    true
}
