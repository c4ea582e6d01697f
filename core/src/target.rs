//! One lock of one client: an operation becomes a script call, sent until its outcome is known, and its reply an answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until, timeout_at};

use crate::command::{Answer, Op, Request};
use crate::error::{Error, LostReason, Result};
use crate::gate::Turn;
use crate::holds::{Leaving, Slot};
use crate::kinds::{self, Cx, Kind};
use crate::link::{Limits, Outcome, Reply};
use crate::live::Live;
use crate::script::{Call, Script, script};

static PING: Script = script!("ping");
/// How long after its sending a call may still be carried out.
pub const WINDOW: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Target {
    pub live: Arc<Live>,
    pub kind: &'static dyn Kind,
    pub slot: Slot,
    owner: String,
    lease: Duration,
}

/// What an acquire's call came to.
pub enum Tried {
    Taken(u64),
    Busy(Option<Duration>),
}

/// A call whose outcome could not be settled in time; `unknown`: it may have been carried out.
pub struct Unsettled {
    pub error: Error,
    unknown: bool,
}

impl Target {
    pub fn new(live: &Arc<Live>, request: &Request) -> Result<Self> {
        let kind = kinds::find(request.kind).ok_or_else(|| Error::config(format!("there is no kind of lock `{}`", request.kind)))?;
        let name = format!("{}{}", live.config.prefix, request.name).into();
        let slot = Slot { kind: request.kind, name, owner: request.owner };
        let (owner, lease) = (format!("{}:{}", live.uuid, request.owner), request.lease.unwrap_or(live.config.watchdog));
        Ok(Target { live: live.clone(), kind, slot, owner, lease })
    }

    fn call(&self, op: Op, lease: Duration, want: u32, leave: u32, holder: &str) -> Result<Call> {
        let publish = self.live.link.publish();
        let lease_ms = lease.as_millis() as u64;
        let cx = Cx { name: &self.slot.name, owner: &self.owner, lease_ms, want, leave, holder, publish };
        self.kind
            .call(op, &cx)
            .ok_or_else(|| Error::Unsupported(format!("the kind {} of `{}` has no {op:?}", self.slot.kind, self.slot.name)))
    }

    pub fn acquire_call(&self) -> Result<(Call, u32)> {
        let want = self.live.holds().count(&self.slot, Instant::now()) + 1;
        Ok((self.call(Op::Acquire, self.lease, want, 0, "")?, want))
    }

    /// What the reply to an acquire sent at `sent` means; `None`: the outer holds are lost, try for a first one.
    pub fn acquired(&self, reply: &Reply, watched: bool, sent: Instant) -> Option<Tried> {
        let now = Instant::now();
        match reply.code {
            1 => {
                let lease = (!watched).then_some(self.lease);
                let number = self.live.holds().taken(&self.slot, lease, sent, now);
                self.live.rearm();
                Some(Tried::Taken(number))
            }
            0 => Some(Tried::Busy(reply.numbers.first().and_then(|ms| u64::try_from(*ms).ok()).map(Duration::from_millis))),
            _ => {
                self.live.holds().lost(&self.slot, LostReason::Deleted, now);
                None
            }
        }
    }

    /// One acquire, settled: taken, busy, or given back in the background when its outcome stays unknown.
    pub async fn acquire(&self, watched: bool, give_up: Instant, mut first: Option<(Turn, Call, Outcome, Instant)>) -> Result<Tried> {
        loop {
            let (turn, call, outcome) = match first.take() {
                Some((turn, call, outcome, sent)) => (turn, call, Some((outcome, sent))),
                None => {
                    let turn = self.turn(give_up).await?;
                    (turn, self.acquire_call()?.0, None)
                }
            };
            match self.settle(&call, give_up, outcome).await {
                Ok((reply, sent, _)) => {
                    if let Some(tried) = self.acquired(&reply, watched, sent) {
                        return Ok(tried);
                    }
                }
                Err(unsettled) => {
                    if unsettled.unknown {
                        let leave = self.live.holds().count(&self.slot, Instant::now());
                        self.give_back(turn, leave);
                    }
                    return Err(unsettled.error);
                }
            }
        }
    }

    /// What releasing takes, or why it cannot be.
    pub fn leaving(&self, number: u64) -> Result<Leaving> {
        let mut holds = self.live.holds();
        match holds.leaving(&self.slot, number) {
            Ok(Some(leaving)) => Ok(leaving),
            Ok(None) => Err(Error::NotHeld { lock: self.slot.name.to_string(), owner: self.owner.clone() }),
            Err(lost) => {
                let now = Instant::now();
                let loss = holds.loss(&self.slot, &self.live.uuid, lost, now);
                let number = if number == 0 { holds.latest(&self.slot).unwrap_or_default() } else { number };
                holds.forget(&self.slot, number, now);
                Err(Error::Lost(Box::new(loss)))
            }
        }
    }

    pub fn release_call(&self, leaving: &Leaving) -> Result<Call> {
        self.call(Op::Release, leaving.lease, 0, leaving.leave, "")
    }

    /// What the reply to a release means. `repeated`: a copy before this one may have been carried out.
    pub fn released(&self, leaving: &Leaving, reply: &Reply, sent: Instant, repeated: bool) -> Result<Answer> {
        let now = Instant::now();
        let mut holds = self.live.holds();
        if reply.code == 1 || (repeated && leaving.leave == 0) {
            holds.forget(&self.slot, leaving.number, now);
            if leaving.lease > Duration::ZERO {
                holds.renewed(&self.slot, sent, now);
            }
            return Ok(Answer::done(leaving.leave.into()));
        }
        holds.lost(&self.slot, LostReason::Deleted, now);
        drop(holds);
        Err(self.leaving(leaving.number).err().unwrap_or(Error::NotHeld { lock: self.slot.name.to_string(), owner: self.owner.clone() }))
    }

    pub async fn release(&self, number: u64, first: Option<(Turn, Call, Leaving, Outcome, Instant)>) -> Result<Answer> {
        let give_up = Instant::now() + self.live.config.retry_for;
        let (turn, call, leaving, outcome) = match first {
            Some((turn, call, leaving, outcome, sent)) => (turn, call, leaving, Some((outcome, sent))),
            None => {
                let turn = self.turn(give_up).await?;
                let leaving = self.leaving(number)?;
                (turn, self.release_call(&leaving)?, leaving, None)
            }
        };
        match self.settle(&call, give_up, outcome).await {
            Ok((reply, sent, repeated)) => self.released(&leaving, &reply, sent, repeated),
            Err(unsettled) => {
                // The caller has let go, so nothing may renew it any more; the key is freed as soon as the server can be reached.
                if !matches!(unsettled.error, Error::Refused { .. }) {
                    self.live.holds().forget(&self.slot, leaving.number, Instant::now());
                    self.give_back(turn, leaving.leave);
                }
                Err(unsettled.error)
            }
        }
    }

    pub async fn force_release(&self) -> Result<Answer> {
        let give_up = Instant::now() + self.live.config.retry_for;
        let mut holder = String::new();
        loop {
            let call = self.call(Op::ForceRelease, Duration::ZERO, 0, 0, &holder)?;
            let (reply, _, repeated) = self.settle(&call, give_up, None).await.map_err(|unsettled| unsettled.error)?;
            match (reply.code, reply.text) {
                (1, _) => return Ok(Answer::done(1)),
                (0, Some(other)) => holder = other,
                _ => return Ok(Answer::done(i64::from(repeated && !holder.is_empty()))),
            }
        }
    }

    pub async fn inspect(&self) -> Result<Answer> {
        let give_up = Instant::now() + self.live.config.retry_for;
        let call = self.call(Op::Inspect, Duration::ZERO, 0, 0, "")?;
        let (reply, ..) = self.settle(&call, give_up, None).await.map_err(|unsettled| unsettled.error)?;
        Ok(Answer { done: true, number: reply.numbers[0], items: reply.numbers[1..].to_vec() })
    }

    pub fn inspect_call(&self) -> Result<Call> {
        self.call(Op::Inspect, Duration::ZERO, 0, 0, "")
    }

    pub async fn ping(live: &Arc<Live>) -> Result<Answer> {
        let request = Request::new(Op::Ping, "plain", "ping", 0);
        let give_up = Instant::now() + live.config.retry_for;
        let settled = Target::new(live, &request)?.settle(&Call::new(&PING), give_up, None).await;
        settled.map(|_| Answer::done(1)).map_err(|unsettled| unsettled.error)
    }

    /// Frees, in the background, what an owner may hold beyond `leave`; ends when it is done or the lease has run out.
    fn give_back(&self, turn: Turn, leave: u32) {
        let target = self.clone();
        tokio::spawn(async move {
            let _turn = turn;
            let give_up = Instant::now() + target.lease.max(target.live.config.watchdog) + WINDOW;
            sleep(WINDOW).await;
            let leaving = Leaving { number: 0, leave, lease: Duration::ZERO };
            if let Ok(call) = target.release_call(&leaving) {
                let _ = target.settle(&call, give_up, None).await;
            }
        });
    }

    async fn turn(&self, give_up: Instant) -> Result<Turn> {
        let late = |_| Error::Unavailable {
            server: self.live.config.server(),
            cause: format!("has not answered an earlier call for `{}`", self.slot.name),
            timeout: true,
        };
        timeout_at(give_up.into(), self.live.gates.enter(&self.slot)).await.map_err(late)
    }

    /// Sends a call until its outcome is known. Gives the reply, when the answered copy was sent, and whether an earlier one may have run.
    async fn settle(
        &self,
        call: &Call,
        give_up: Instant,
        mut first: Option<(Outcome, Instant)>,
    ) -> std::result::Result<(Reply, Instant, bool), Unsettled> {
        let (mut unknown, mut window, mut pause) = (false, WINDOW, Duration::from_millis(10));
        loop {
            let now = Instant::now();
            let response = self.live.config.response_timeout.min(give_up.saturating_duration_since(now)).max(Duration::from_millis(1));
            let (outcome, sent) = match first.take() {
                Some(first) => first,
                None => (self.live.link.run(call, Limits { response, window }).await, now),
            };
            let error = match outcome {
                Outcome::Reply(reply) => return Ok((reply, sent, unknown)),
                Outcome::Refused(error) => return Err(Unsettled { error, unknown }),
                Outcome::TooLate => {
                    window = (window * 2).min(self.live.config.response_timeout.max(WINDOW));
                    let (server, cause) = (self.live.config.server(), "answers too late".to_owned());
                    Error::Unavailable { server, cause, timeout: true }
                }
                Outcome::Unsent(error) => {
                    sleep_until((Instant::now() + pause).min(give_up).into()).await;
                    pause = (pause * 2).min(Duration::from_millis(500));
                    error
                }
                Outcome::Unknown { error, settled } => {
                    unknown |= call.changes();
                    if call.changes() {
                        sleep_until(settled.min(give_up).into()).await;
                    }
                    error
                }
            };
            if Instant::now() >= give_up {
                return Err(Unsettled { error, unknown });
            }
        }
    }
}
