//! A lane on a thread of its own.

use std::thread::sleep;
use std::time::Duration;

use redlatch::BlockingGuard;
use redlatch_tests::clock;
use redlatch_tests::dice::Dice;
use redlatch_tests::history::Section;
use redlatch_tests::traffic::Kind;
use tokio::runtime::Handle;

use crate::clients::Clients;
use crate::latch;
use crate::log::{Attempt, Log};
use crate::permits;
use crate::plan::{Plan, Temper};
use crate::section::{Open, count};
use crate::stage::Stage;

/// Runs one attempt after another until the process ends.
pub fn lane(stage: &Stage, clients: &Clients, runtime: &Handle, number: u32, temper: Temper, mut dice: Dice) {
    let mut log = Log::new(stage, number);
    let id = clients.id();
    loop {
        let own = runtime.block_on(stage.go());
        let plan = Plan::roll(&mut dice, &stage.kinds, temper, number, log.attempts(), own);
        let attempt = log.acquire(&plan);
        let had_any = match plan.kind() {
            Kind::Semaphore => Some(permits::on_thread(clients, attempt, &plan)),
            Kind::Permits => Some(permits::with_id_on_thread(clients, attempt, &plan)),
            Kind::Latch => {
                latch::on_thread(clients, attempt, &plan);
                Some(true)
            }
            _ => None,
        };
        if let Some(had_any) = had_any {
            if !had_any {
                sleep(plan.pause);
            }
            continue;
        }
        let Some(guard) = acquire(clients, attempt, &plan) else {
            sleep(plan.pause);
            continue;
        };
        let open = Open::read(stage, attempt, &plan);
        if plan.count {
            count(stage, attempt, &id, plan.key, &guard, 1);
        }
        if plan.inner {
            let inside = plan.inside();
            let attempt = log.acquire(&plan.inside());
            if let Some(inner) = acquire(clients, attempt, &inside) {
                if plan.count && guard.ensure().is_ok() {
                    count(stage, attempt, &id, plan.key, &inner, 2);
                }
                let sure = clock::now();
                attempt.closes(sure, inner.ensure(), Section::None);
                attempt.released(Some(inner.release()));
            }
        }
        stay(stage, attempt, &guard, plan.stay);
        let wrote = open.write(&guard);
        let reading = plan.reading();
        let reading = if plan.downgrade && wrote.is_some() { Some((log.acquire(&reading), reading)) } else { None };
        let reading =
            reading.and_then(|(attempt, reading)| acquire(clients, attempt, &reading).map(|guard| (attempt, guard)));
        // The hold lasts until the call of its release: the last check comes just before that.
        let whole = wrote.is_some_and(|section| attempt.closes(clock::now(), guard.ensure(), section));
        if plan.drop_guard {
            drop(guard);
            attempt.released(None);
        } else {
            let released = guard.release();
            if whole {
                attempt.released(Some(released));
            }
        }
        if let Some((attempt, guard)) = reading {
            stay(stage, attempt, &guard, plan.stay);
            if attempt.closes(clock::now(), guard.ensure(), Section::None) {
                attempt.released(Some(guard.release()));
            }
        }
    }
}

fn acquire(clients: &Clients, attempt: Attempt, plan: &Plan) -> Option<BlockingGuard> {
    let lock = clients.lock(plan).blocking();
    let result = match plan.wait {
        None => lock.acquire().map(Some),
        Some(_) => lock.try_acquire(),
    };
    attempt.returned(result, clients.lease(plan))
}

/// Stays inside until all lanes are to rest, and records each new deadline.
fn stay(stage: &Stage, attempt: Attempt, guard: &redlatch::Guard, mut time: Duration) {
    const LOOK: Duration = Duration::from_millis(50);
    while !time.is_zero() && !stage.rests() {
        sleep(time.min(LOOK));
        time = time.saturating_sub(LOOK);
        if !time.is_zero() {
            attempt.deadline(guard);
        }
    }
}
