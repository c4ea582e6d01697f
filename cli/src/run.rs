//! `redlatch run`: takes a lock, runs a command, releases the lock.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use crate::arguments::{Care, Run, Task};
use crate::attend::{Events, attend, interrupt_job, interrupted, system};
use crate::clock;
use crate::ending::{Failure, LOST};
use crate::lock::{Hold, Lock};
use crate::reports::Reports;

pub fn run(arguments: &Run) -> ExitCode {
    begin(&arguments.care, arguments.check(), async |task, reports| execute(arguments, task, reports).await)
}

/// Begins with a task, and tells how it fails.
pub fn begin(
    care: &Care,
    task: Result<Task, Failure>,
    execute: impl AsyncFnOnce(&Task, &Reports) -> Result<u8, Failure>,
) -> ExitCode {
    let name = care.words.first().map_or_else(Default::default, |name| name.to_string_lossy());
    let reports = Reports::new(&name, care.style());
    let code = task.and_then(|task| {
        // The command dies with the thread that starts it, so that is this one.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
        runtime.block_on(execute(&task, &reports)).map_err(|failure| failure.about(&name))
    });
    ExitCode::from(code.unwrap_or_else(|failure| {
        let facts = json!({ "exit": failure.code, "message": failure.text });
        match failure.code {
            // With -E 0 it is none.
            0 => reports.event(failure.event, facts),
            _ => reports.trouble(failure.event, &failure.text, facts),
        }
        failure.code
    }))
}

async fn execute(arguments: &Run, task: &Task, reports: &Reports) -> Result<u8, Failure> {
    let mut events = Events::listen()?;
    let lock = Lock::new(arguments, &task.name)?;
    let begun = clock::now();
    let taken = tokio::select! {
        biased;
        signal = events.signals.next() => Err(signal),
        taken = lock.acquire() => Ok(taken?),
    };
    let hold = match taken {
        Err(signal) => return Ok(interrupted(lock, signal, &mut events, reports).await),
        Ok(None) => return Err(Failure::new(arguments.not_acquired(), "not_acquired", lock.not_acquired())),
        Ok(Some(hold)) => hold,
    };
    let taken_at = clock::now();
    lock.tell_of(&hold, taken_at.saturating_sub(begun), reports);
    let (hold, attended) = attend(&lock, hold, task, &arguments.care, &mut events, reports).await?;
    // After that the drop of the hold gives back what there may be, without a wait for a silent server.
    let is_lost = attended.was_ended || !let_go(arguments.at_least, hold, taken_at, reports).await;
    let code = if is_lost { LOST } else { attended.code };
    reports.event("ended", json!({ "exit": code, "command": attended.code, "lost": is_lost }));
    if attended.is_interrupted && !is_lost {
        interrupt_job();
    }
    Ok(code)
}

/// Releases the lock, or keeps it for what is missing of --at-least. False: it turned out to be lost.
pub async fn let_go(at_least: Option<Duration>, hold: Hold, taken_at: Duration, reports: &Reports) -> bool {
    let name = hold.name().to_owned();
    let held = clock::now().saturating_sub(taken_at);
    let missing = at_least.unwrap_or_default().saturating_sub(held);
    let is_kept = missing >= Duration::from_millis(1);
    let done = match is_kept {
        true => hold.keep_for(missing).await,
        false => hold.release().await,
    };
    match done {
        Ok(()) if is_kept => reports.event("kept", json!({ "for_ms": missing.as_millis() as u64 })),
        Ok(()) => reports.event("released", json!({})),
        Err(redlatch::Error::Lost(loss)) => {
            reports.trouble(
                "lost",
                &format!("{loss}; the command had ended by itself. See to the work that it guarded: another client may have begun it"),
                json!({ "reason": loss.reason.name() }),
            );
            return false;
        }
        Err(error) => {
            let text =
                format!("`{name}` was not released after the end of the command, and ends with its lease: {error}");
            reports.trouble("not_released", &text, json!({}));
        }
    }
    true
}
