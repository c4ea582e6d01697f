//! `redlatch elect`: runs a command while this process leads.

use std::process::ExitCode;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tokio::time::sleep;

use crate::arguments::{Elect, Task};
use crate::attend::{Events, attend, interrupt_job, interrupted};
use crate::clock;
use crate::ending::{Failure, LOST, UNREACHABLE};
use crate::lock::{Hold, Lock};
use crate::reports::Reports;
use crate::run::{begin, let_go};

/// The pause before a candidate asks a silent server again.
const PAUSE: Duration = Duration::from_secs(1);

pub fn elect(arguments: &Elect) -> ExitCode {
    begin(&arguments.care, arguments.check(), async |task, reports| execute(arguments, task, reports).await)
}

async fn execute(arguments: &Elect, task: &Task, reports: &Reports) -> Result<u8, Failure> {
    let mut events = Events::listen()?;
    let lock = Lock::leader(arguments, &task.name)?;
    // A wrong address ends the process. A server that has answered once may be away for a while.
    let asked = tokio::select! {
        biased;
        signal = events.signals.next() => Err(signal),
        answered = lock.current_leader() => Ok(answered?),
    };
    if let Err(signal) = asked {
        return Ok(interrupted(lock, signal, &mut events, reports).await);
    }
    loop {
        let begun = clock::now();
        let hold = match stand(&lock, task, &mut events, reports).await? {
            Ok(hold) => hold,
            Err(signal) => return Ok(interrupted(lock, signal, &mut events, reports).await),
        };
        let taken_at = clock::now();
        lock.tell_of(&hold, taken_at.saturating_sub(begun), reports);
        let (hold, attended) = match attend(&lock, hold, task, &arguments.care, &mut events, reports).await {
            Ok(attended) => attended,
            // The machine was too slow to begin: the next term may do.
            Err(failure) if failure.code == LOST => {
                reports.trouble(failure.event, &failure.text, json!({}));
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if attended.was_ended && attended.signal.is_none() {
            continue;
        }
        let is_lost = attended.was_ended || !let_go(None, hold, taken_at, reports).await;
        let code = if is_lost { LOST } else { attended.code };
        reports.event("ended", json!({ "exit": code, "command": attended.code, "lost": is_lost }));
        if attended.is_interrupted && !is_lost {
            interrupt_job();
        }
        return Ok(code);
    }
}

/// Stands until this process leads, however long the server is away; `Err`: a signal ends that.
async fn stand(
    lock: &Lock,
    task: &Task,
    events: &mut Events,
    reports: &Reports,
) -> Result<Result<Hold, Signal>, Failure> {
    reports.event("stands", json!({}));
    let mut is_told = false;
    loop {
        let taken = tokio::select! {
            biased;
            signal = events.signals.next() => return Ok(Err(signal)),
            taken = lock.acquire() => taken,
        };
        match taken {
            Ok(Some(hold)) => return Ok(Ok(hold)),
            Ok(None) => {}
            Err(failure) if failure.code != UNREACHABLE => return Err(failure),
            Err(failure) => {
                if !is_told {
                    let text = format!("{}; this process goes on standing for `{}`", failure.text, task.name);
                    reports.trouble(failure.event, &text, json!({}));
                }
                is_told = true;
            }
        }
        tokio::select! {
            biased;
            signal = events.signals.next() => return Ok(Err(signal)),
            () = sleep(PAUSE) => {}
        }
    }
}
