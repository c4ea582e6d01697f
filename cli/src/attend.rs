//! A command under a lock that this process has just taken, from its start to its end.

use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_current_process_group};
use serde_json::json;
use signal_hook::low_level::emulate_default_handler;
use tokio::time::timeout;

use crate::arguments::{Care, OnLost, Task};
use crate::belief::Margins;
use crate::clock;
use crate::command::{Command, shown};
use crate::ending::{CANNOT_RUN, Failure, LOST, NOT_FOUND, SYSTEM, code_of, code_of_signal};
use crate::keeper::{Changes, Keeper, Kept, Policy};
use crate::lock::{Hold, Lock};
use crate::reports::Reports;
use crate::signals::Signals;
use crate::start::Obstacle;
use crate::times;

/// The longest time for which the end of a wait by a signal gives back what the server may grant yet.
const GIVE_UP: Duration = Duration::from_secs(2);

/// The events of this process and of its children.
pub struct Events {
    pub signals: Signals,
    changes: Changes,
}

impl Events {
    /// Listens from before the start of a command.
    pub fn listen() -> Result<Self, Failure> {
        let listen = || Ok(Events { signals: Signals::listen()?, changes: Changes::listen()? });
        listen().map_err(system)
    }
}

/// A command that has ended by itself, or because of its lock.
pub struct Attended {
    /// Its exit code, as shells have it.
    pub code: u8,
    /// It was ended because the lock was lost, or for fear of that; a report has told it.
    pub was_ended: bool,
    /// The last signal that went on to it.
    pub signal: Option<Signal>,
    /// Ctrl-C ended it.
    pub is_interrupted: bool,
}

/// Runs the command under the hold. A failure is an end before the command has begun, and the hold is given back.
pub async fn attend(
    lock: &Lock,
    hold: Hold,
    task: &Task,
    care: &Care,
    events: &mut Events,
    reports: &Reports,
) -> Result<(Hold, Attended), Failure> {
    let hold = certain(lock, hold, events).await?;
    let deadline = hold.deadline().unwrap_or_else(Instant::now);
    let margins = Margins::new(left_of(&hold), lock.life());
    let variables = [
        ("REDLATCH_NAME", Some(task.name.clone())),
        ("REDLATCH_OWNER", Some(lock.owner(&hold))),
        ("REDLATCH_TOKEN", hold.token().map(|token| token.to_string())),
    ];
    let until = clock::at(deadline).saturating_sub(margins.warden());
    let acts = care.on_lost != OnLost::Keep;
    let command = match Command::start(task, &variables, &lock.id(), until, acts) {
        Ok(command) => command,
        // Its words, and not those of the processes around it.
        Err(error) if error.kind() == ErrorKind::ArgumentListTooLong => {
            return Err(cannot_run(hold, task, error).await);
        }
        Err(error) => return Err(refused(hold, error).await),
    };
    let policy = Policy { on_lost: care.on_lost, grace: care.grace() };
    let keeper = Keeper::new(reports, &hold, command, policy, margins);
    let kept = keeper.keep(lock, &mut events.signals, &events.changes).await;
    let Kept { end, is_lost, signal } = kept.map_err(|error| unknown(task, error))?;
    match end.obstacle {
        Some(Obstacle::System(error)) => return Err(cannot_run(hold, task, error).await),
        Some(Obstacle::Late) if !is_lost && !end.is_wardens_doing => return Err(late(hold).await),
        _ => {}
    }
    if end.is_wardens_doing && !is_lost {
        reports.trouble(
            "killed",
            &format!(
                "redlatch stood still, so that `{}` was not renewed; the command was killed before another client can have the lock",
                task.name
            ),
            json!({}),
        );
    }
    let attended = Attended {
        code: code_of(end.status),
        was_ended: is_lost || end.is_wardens_doing,
        signal,
        is_interrupted: end.is_interrupted,
    };
    Ok((hold, attended))
}

/// Ctrl-C is for the whole job. The command alone had the terminal, so the script around this process hears of it here; and an interactive
/// shell, that ends its loop if this process has ended by the same signal.
pub fn interrupt_job() {
    // The first process of a container can die of no signal.
    if !getpid().is_init() {
        let _ = kill_current_process_group(Signal::INT);
        let _ = emulate_default_handler(Signal::INT.as_raw());
    }
}

/// A signal has ended the wait.
pub async fn interrupted(lock: Lock, signal: Signal, events: &mut Events, reports: &Reports) -> u8 {
    tokio::select! {
        biased;
        _ = events.signals.next() => {}
        _ = timeout(GIVE_UP, lock.give_up()) => {}
    }
    let code = code_of_signal(signal);
    reports.event("interrupted", json!({ "signal": signal.as_raw(), "exit": code }));
    code
}

/// The hold, with enough of its lease left for a command to begin. A grant that was long on its way has used up most of it.
async fn certain(lock: &Lock, hold: Hold, events: &mut Events) -> Result<Hold, Failure> {
    let least = Margins::new(lock.lease(), lock.life()).begin();
    let left = left_of(&hold);
    if left >= least {
        return Ok(hold);
    }
    tokio::select! {
        biased;
        signal = events.signals.next() => return Err(ended_before(hold, signal).await),
        // An error is told below, by what is left.
        _ = timeout(left, hold.extend(lock.lease())) => {}
    }
    match left_of(&hold) >= least {
        true => Ok(hold),
        false => Err(granted_late(hold, left).await),
    }
}

/// The time for which the client still believes in the hold.
fn left_of(hold: &Hold) -> Duration {
    hold.deadline().map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()))
}

/// A signal came before the command had begun.
async fn ended_before(hold: Hold, signal: Signal) -> Failure {
    let now = given_back(hold).await;
    let text = format!("signal {} came before the command had begun; {now}, and nothing was run", signal.as_raw());
    Failure::new(code_of_signal(signal), "interrupted", text)
}

/// The grant came late, and the lock could not be renewed in time.
async fn granted_late(hold: Hold, left: Duration) -> Failure {
    let now = given_back(hold).await;
    Failure::new(
        LOST,
        "not_run",
        format!(
            "the lock was granted so late that it was certain for {} more, and it was not renewed in time; {now}, and nothing was run. Run it \
             again, with a longer --lease if the server is often that slow",
            times::shown(left)
        ),
    )
}

/// The command cannot run. The lock is released before the report: no command has run under it.
async fn cannot_run(hold: Hold, task: &Task, error: Error) -> Failure {
    let now = given_back(hold).await;
    let program = shown(&task.program);
    let is_missing = error.kind() == ErrorKind::NotFound;
    let remedy = if is_missing { "check its name and PATH" } else { "check its rights and what it is" };
    let code = if is_missing { NOT_FOUND } else { CANNOT_RUN };
    Failure::new(
        code,
        "not_run",
        format!("the command {program} cannot be run: {error}; {now}. Look at the command: {remedy}"),
    )
}

/// The processes around the command cannot run.
async fn refused(hold: Hold, error: Error) -> Failure {
    let now = given_back(hold).await;
    Failure::new(
        SYSTEM,
        "failed",
        format!(
            "the system refused what redlatch needs to look after a command: {error}; {now}, and nothing was run. Look at the limits of \
             this user (`ulimit -a`), and whether /proc is there"
        ),
    )
}

/// The command was about to begin when the client might have lost the lock.
async fn late(hold: Hold) -> Failure {
    let now = given_back(hold).await;
    Failure::new(
        LOST,
        "not_run",
        format!(
            "this machine took longer to start the command than the lock was certain; {now}, and nothing was run. Run it again, with a \
             longer --lease if the machine is often that slow"
        ),
    )
}

/// Releases the lock, and tells what has become of it.
async fn given_back(hold: Hold) -> String {
    let name = hold.name().to_owned();
    match timeout(GIVE_UP, hold.release()).await {
        Ok(Ok(())) => format!("`{name}` is released"),
        Ok(Err(error)) => format!("`{name}` ends with its lease ({error})"),
        Err(_) => format!("`{name}` ends with its lease (the server has not answered within {GIVE_UP:?})"),
    }
}

pub fn system(error: Error) -> Failure {
    Failure::new(SYSTEM, "failed", format!("the system refused what redlatch needs to look after a command: {error}"))
}

fn unknown(task: &Task, error: Error) -> Failure {
    Failure::new(
        SYSTEM,
        "failed",
        format!("the system does not tell how the command under `{}` has ended: {error}", task.name),
    )
}
