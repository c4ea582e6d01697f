//! Looks after a command and its lock until the command has ended.

use std::future::pending;
use std::time::{Duration, Instant};

use redlatch::{Error, Loss, LostReason};
use rustix::process::{Signal, kill_current_process_group};
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::sleep_until;

use crate::arguments::OnLost;
use crate::belief::Margins;
use crate::bell::Bell;
use crate::clock;
use crate::command::{Command, End, State};
use crate::lock::{Hold, Lock};
use crate::reports::Reports;
use crate::signals::{Signals, is_blocked};
use crate::times;

/// The time between two looks at a child whose changes are not told.
const LOOKS: Duration = Duration::from_millis(100);
/// The time between two tries of a command to get a terminal that its job cannot have.
const TRIES: Duration = Duration::from_secs(1);

/// The consequences of a loss for the command.
#[derive(Clone, Copy)]
pub struct Policy {
    pub on_lost: OnLost,
    pub grace: Duration,
}

pub struct Keeper<'a> {
    reports: &'a Reports,
    hold: &'a Hold,
    command: Command,
    policy: Policy,
    margins: Margins,
    is_lost: bool,
    /// The command has got a TERM because of the lock.
    is_asked: bool,
    /// The time of its KILL after a loss that the server has reported.
    kill_at: Option<Instant>,
    is_killed: bool,
    /// The time at which the command goes on after a stop of the job.
    continue_at: Option<Instant>,
    continued_at: Option<Instant>,
}

/// Hears of each change of a child.
pub struct Changes {
    children: Bell,
    /// The system does not tell the changes of children: their signal is blocked, from before this program.
    is_deaf: bool,
}

impl Changes {
    pub fn listen() -> std::io::Result<Self> {
        Ok(Changes { children: Bell::of(Signal::CHILD)?, is_deaf: is_blocked(Signal::CHILD) })
    }
}

/// The end of a command that was looked after.
pub struct Kept {
    pub end: End,
    /// The lock was lost, or this process has ended the command for fear of that; a report has told it.
    pub is_lost: bool,
    /// The last signal that went on to the command.
    pub signal: Option<Signal>,
}

impl<'a> Keeper<'a> {
    pub fn new(reports: &'a Reports, hold: &'a Hold, command: Command, policy: Policy, margins: Margins) -> Self {
        Keeper {
            reports,
            hold,
            command,
            policy,
            margins,
            is_lost: false,
            is_asked: false,
            kill_at: None,
            is_killed: false,
            continue_at: None,
            continued_at: None,
        }
    }

    /// `changes`: from before the start of the command.
    pub async fn keep(mut self, lock: &Lock, signals: &mut Signals, changes: &Changes) -> std::io::Result<Kept> {
        let hold = self.hold;
        let mut renewal = std::pin::pin!(lock.renew(hold));
        let mut loss = std::pin::pin!(hold.lost());
        let mut is_told = false;
        let mut forwarded = None;
        loop {
            // The belief comes first: this process may have stood still.
            let next = self.look();
            match self.command.state() {
                State::Ended => break,
                State::Stopped(signal) => self.stopped(signal),
                State::Runs => {}
            }
            let next = if changes.is_deaf { next.min(Instant::now() + LOOKS) } else { next };
            tokio::select! {
                biased;
                _ = &mut loss, if !is_told => is_told = true,
                signal = signals.next() => {
                    forwarded = Some(signal);
                    self.command.signal(signal);
                }
                () = changes.children.rung() => {}
                () = due(self.continue_at) => self.go_on(),
                () = sleep_until(next.into()) => {}
                () = &mut renewal => {}
            }
        }
        // Others of its group would go on without the lock.
        if self.is_killed || (self.is_lost || self.is_asked) && self.policy.on_lost != OnLost::Keep {
            self.command.signal(Signal::KILL);
        }
        let end = self.command.finish()?;
        Ok(Kept { end, is_lost: self.is_lost || self.is_asked || self.is_killed, signal: forwarded })
    }

    /// Compares the belief in the lock with the clock, and acts. Gives the time of the next look.
    fn look(&mut self) -> Instant {
        let now = Instant::now();
        match self.hold.ensure() {
            Ok(()) if self.policy.on_lost != OnLost::Keep => {
                // Between two questions the belief may end.
                let deadline = self.hold.deadline().unwrap_or(now);
                self.compare(deadline, now)
            }
            Err(Error::Lost(loss)) if !self.is_lost => {
                self.is_lost = true;
                self.lose(&loss, now);
                self.after_loss(now)
            }
            _ => self.after_loss(now),
        }
    }

    fn compare(&mut self, deadline: Instant, now: Instant) -> Instant {
        let left = deadline.saturating_duration_since(now);
        self.margins = self.margins.at_least(left);
        self.command.warden.until(clock::at(deadline).saturating_sub(self.margins.warden()));
        let silence = times::shown(self.margins.silence(left));
        let name = self.hold.name();
        let moment = |before: Duration| deadline.checked_sub(before).unwrap_or(now);
        if left <= self.margins.kill() {
            if !self.is_killed {
                self.kill();
                self.reports.trouble(
                    "killed",
                    &format!("`{name}` was not confirmed by the server for {silence}; the command was killed before another client can have the lock"),
                    json!({ "silence_ms": self.margins.silence(left).as_millis() as u64 }),
                );
            }
            return far(now);
        }
        if left <= self.margins.term() && !self.is_asked && self.policy.on_lost == OnLost::Term {
            self.ask();
            let rest = times::shown(left.saturating_sub(self.margins.kill()));
            self.reports.trouble(
                "asked",
                &format!(
                    "`{name}` was not confirmed by the server for {silence}; the command was asked to end (TERM), and is killed in {rest} \
                     unless the server answers"
                ),
                json!({ "silence_ms": self.margins.silence(left).as_millis() as u64 }),
            );
        }
        // By then the belief is mostly longer already; the warden must hear of that, whatever the policy.
        moment(if left > self.margins.term() { self.margins.term() } else { self.margins.kill() })
    }

    fn lose(&mut self, loss: &Loss, now: Instant) {
        // A loss that the clock told: the time of the command is over.
        let is_over = matches!(loss.reason, LostReason::Expired | LostReason::Partitioned | LostReason::Paused);
        let done = match self.policy.on_lost {
            OnLost::Keep => "the command goes on without the lock (--on-lost keep)".into(),
            OnLost::Term if !is_over => {
                self.ask();
                let kill_at = now + self.policy.grace;
                self.kill_at = Some(kill_at);
                self.command.warden.until(clock::at(kill_at));
                format!("the command was asked to end (TERM), and is killed in {}", times::shown(self.policy.grace))
            }
            OnLost::Term | OnLost::Kill => {
                self.kill();
                "the command was killed".into()
            }
        };
        self.reports.trouble(
            "lost",
            &format!("{loss}; {done}. See to the work that it guarded: another client may have begun it"),
            json!({ "reason": loss.reason.name() }),
        );
    }

    /// Kills the command when its grace is over.
    fn after_loss(&mut self, now: Instant) -> Instant {
        match self.kill_at {
            Some(at) if at <= now => {
                if !self.is_killed {
                    self.kill();
                    self.reports.trouble(
                        "killed",
                        &format!(
                            "the command under `{}` did not end within {}; it was killed",
                            self.hold.name(),
                            times::shown(self.policy.grace)
                        ),
                        json!({}),
                    );
                }
                far(now)
            }
            Some(at) => at,
            None => far(now),
        }
    }

    fn ask(&mut self) {
        self.is_asked = true;
        self.command.signal(Signal::TERM);
        // A stopped process takes no other signal.
        self.command.signal(Signal::CONT);
    }

    fn kill(&mut self) {
        self.is_killed = true;
        self.command.signal(Signal::KILL);
    }

    /// The command was stopped, by Ctrl-Z or because it wants the terminal: then the whole job stops, and goes on as one.
    fn stopped(&mut self, signal: i32) {
        let wish = [Signal::TTIN, Signal::TTOU].into_iter().find(|wish| wish.as_raw() == signal);
        let wants_terminal = wish.is_some();
        let group = self.command.warden.group();
        let Some(terminal) = self.command.terminal.as_mut() else { return };
        if wants_terminal && terminal.is_ours() {
            terminal.lend(group);
            return self.command.signal(Signal::CONT);
        }
        if !terminal.is_lent() && !wants_terminal && signal != Signal::TSTP.as_raw() {
            return;
        }
        let owner = terminal.take_back();
        // Here this process stands still, until its shell continues it. A job without a shell that could do so does not stop. The wish for
        // the terminal stops the job as it stops the command: `timeout` goes on then, and not after a TSTP.
        let _ = kill_current_process_group(wish.unwrap_or(Signal::TSTP));
        self.look();
        if self.is_killed {
            return;
        }
        if let Some(terminal) = self.command.terminal.as_mut() {
            terminal.lend(owner.unwrap_or(group));
        }
        let now = Instant::now();
        self.continue_at = Some(self.continued_at.map_or(now, |before| now.max(before + TRIES)));
    }

    /// Continues the command after a stop of the job.
    fn go_on(&mut self) {
        self.continue_at = None;
        self.continued_at = Some(Instant::now());
        self.command.signal(Signal::CONT);
    }
}

/// Waits for this time, if there is one. The signals that came during a stop are heard before: the command gets them while it is stopped, so
/// that they come before its next step.
async fn due(time: Option<Instant>) {
    match time {
        Some(time) => {
            yield_now().await;
            sleep_until(time.into()).await;
        }
        None => pending().await,
    }
}

/// Later than anything that is looked after.
fn far(now: Instant) -> Instant {
    now + Duration::from_secs(24 * 3600)
}
