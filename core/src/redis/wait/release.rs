//! Releases: of one hold; of the lock; of the lock to the next in line; and of locks that a call without a known
//! outcome may have taken.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::gate::Entry;
use crate::engine::holds::{Holds, Lapsed, Leaving, Meant, lease_for};
use crate::redis::kinds::Inputs;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::link::Sent;
use crate::redis::settle::{RetryLimits, Settled, Unsettled, settle};
use crate::redis::target::{Sending, Target};
use crate::redis::wait::passing::Pass;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op};

/// A release on its way.
pub struct Releasing {
    pub leaving: Leaving,
    pub call: Call,
    entry: Entry,
    pass: Option<Pass>,
    /// No caller can repeat it.
    is_last: bool,
    /// The number of messages heard before it was sent.
    heard: u64,
}

/// The first step of a release.
pub enum Begun {
    /// The server has to be asked.
    Call(Box<Releasing>),
    /// The lock went to another owner of this client: there is nothing to ask.
    HandedOn(Answer),
    /// The server keeps the holds under another field now, or the owner has its latest one by another kind: the release
    /// begins again.
    Moved,
}

/// A release that the caller's thread has prepared, and its outcome there.
pub type FirstRelease = (Box<Releasing>, Option<Sending>);

impl Target {
    pub fn not_held(&self) -> Error {
        Error::NotHeld { lock: self.claim.name.to_string(), owner: self.owner.to_string() }
    }

    /// Prepares the release of a hold, or gives the reason against it. `entry`: see [`Target::enter_grip`]; the target is
    /// that of [`Target::of_meant`].
    pub fn releasing(&self, meant: Meant, entry: Entry) -> Result<Begun> {
        let now = Instant::now();
        let grip = entry.claim.owner;
        let leaving = self.redis.holds(|holds| {
            // This looks again: only now no other call can move or end them.
            let is_meant = holds.meant(&self.claim, meant).0 == self.claim;
            let is_here = is_meant && holds.field(&self.claim) == grip;
            is_here.then(|| holds.leaving(&self.claim, meant, now))
        });
        let Some(leaving) = leaving else { return Ok(Begun::Moved) };
        let leaving = match leaving {
            Ok(Some(leaving)) => leaving,
            Ok(None) if meant.number().is_some_and(|number| self.redis.holds(|holds| holds.gave(number))) => {
                return Err(Error::Released { lock: self.claim.name.to_string() });
            }
            Ok(None) => return Err(self.not_held()),
            Err(Lapsed { loss, outlasts }) => {
                // A read hold that the server still has would let readers in beside the next writer of this client, under
                // the same field.
                let is_beside = !self.row.traits.exclusive && self.row.sharers().next().is_some();
                if let Some(end) = outlasts.or(is_beside.then_some(now)) {
                    let leave = self.redis.holds(|holds| holds.kept_under(&entry.claim, now));
                    drop(self.patient_until(end).give_back(entry, leave, Vec::new()));
                }
                return Err(Error::Lost(loss));
            }
        };
        let mut pass = if leaving.leave == 0 && self.passes() { Pass::find(self, leaving.since, grip) } else { None };
        if let Some(heir) = pass.as_mut().and_then(|pass| pass.hand_on(self, &leaving)) {
            drop(entry);
            self.say_released(0);
            heir.tell();
            return Ok(Begun::HandedOn(Answer::done(0)));
        }
        let channel = if self.redis.lines().has(&self.key()) { self.wake().channel } else { None };
        let heard = channel.map_or(0, |channel| self.redis.wakes.count(&channel));
        // The script takes an heir whose field is there already for a copy of this call.
        let is_no_heir = |pass: &mut Pass| !pass.by_server || pass.to.claim.owner == grip || pass.to.has_field();
        pass.take_if(is_no_heir).into_iter().for_each(Pass::put_back);
        // The quarantine of a server that loses its data lasts as long as this lease too.
        let next = pass.as_ref().map(|pass| &pass.to).inspect(|next| self.redis.link.leased(next.lease));
        let inputs = Inputs {
            leave: leaving.leave,
            lease_ms: leaving.lease.as_millis() as u64,
            next_owner: next.map_or("", |next| &next.owner),
            next_lease_ms: next.map_or(0, |next| next.lease.as_millis() as u64),
            spare: pass.as_ref().map_or(0, |pass| pass.spare),
            ..self.inputs()
        };
        let call = self.call(Op::Release, &inputs)?;
        let is_last = self.last || matches!(meant, Meant::Untaken(_));
        Ok(Begun::Call(Box::new(Releasing { leaving, call, entry, pass, is_last, heard })))
    }

    /// Interprets the reply to a release. `repeated`: the server may have carried out an earlier copy.
    pub fn released(&self, releasing: Box<Releasing>, reply: Reply, sent: Instant, repeated: bool) -> Result<Answer> {
        let Releasing { leaving, entry, pass, heard, .. } = *releasing;
        let now = Instant::now();
        let done = matches!(reply.code, Code::Done | Code::Passed) || (repeated && leaving.leave == 0);
        let left = reply.left();
        if done {
            self.say_released(leaving.leave);
            self.redis.holds(|holds| {
                holds.released(&self.claim, leaving.number, leaving.leave == 0, now);
                if let Some(left) = left.filter(|_| leaving.leave > 0) {
                    holds.left(&self.claim, entry.claim.owner, left, leaving.lease, sent, now);
                }
            });
        } else {
            self.missing(entry.claim.owner, &reply, sent);
        }
        // All that it left may have ended meanwhile: the server would keep the key for no hold.
        let is_left = leaving.leave > 0 && self.redis.holds(|holds| holds.kept_under(&entry.claim, now)) == 0;
        if is_left && done {
            let target = self.as_patient_as_its_hold();
            let target = left.map_or(target.clone(), |left| target.patient_until(now + left));
            drop(target.give_back(entry, 0, Vec::new()))
        } else {
            drop(entry)
        }
        match (pass, reply.code) {
            (Some(pass), Code::Passed) => pass.done(reply, sent),
            (Some(pass), _) => drop(pass),
            (None, Code::Done) if leaving.leave == 0 => {
                let listeners = reply.numbers.first().copied().unwrap_or_default().max(0) as u64;
                let enough = heard.saturating_add(listeners);
                self.redis.lines().change(&self.key(), now, |line| line.pace.freed(listeners, enough, now));
                self.wake_sharers();
            }
            // A copy before this one freed it, and its message does not come to waiters by every kind.
            (None, _) if done && leaving.leave == 0 => self.wake_sharers(),
            (None, _) => {}
        }
        if done {
            return Ok(Answer::done(leaving.leave.into()));
        }
        let look = self.redis.holds(|holds| {
            let look = holds.look(leaving.number, now);
            holds.tell_loss(&self.claim, leaving.number, now);
            look
        });
        Err(look.ensure(|| self.not_held()).err().unwrap_or_else(|| self.not_held()))
    }

    /// Releases a hold. `first`: the try that a caller's thread has made since `since`.
    pub async fn release(&self, meant: Meant, first: Option<FirstRelease>, since: Instant) -> Result<Answer> {
        match self.release_by(self.retry_limits_since(since, None), meant, first).await {
            Err(None) => {
                // An earlier call is still in flight, but the caller has released: the client releases the lock as soon
                // as it can.
                let target = self.clone();
                let give_up = Instant::now() + self.clone().of_meant(meant).as_patient_as_its_hold().patience();
                let retry = RetryLimits { give_up, ..self.retry_limits(None) };
                self.redis.io.spawn_present(async move { drop(target.release_by(retry, meant, None).await) });
                Err(self.in_the_way())
            }
            Err(Some(error)) => Err(error),
            Ok(answer) => Ok(answer),
        }
    }

    /// `Err(None)`: an earlier call of the owner has not ended.
    async fn release_by(
        &self,
        retry: RetryLimits,
        meant: Meant,
        first: Option<FirstRelease>,
    ) -> std::result::Result<Answer, Option<Error>> {
        if let Some((releasing, sent)) = first {
            return self.settle_release(retry, releasing, sent).await.map_err(Some);
        }
        loop {
            let target = self.clone().of_meant(meant);
            let entry = target.enter_grip(retry).await.map_err(|_| None)?;
            let target = target.through(entry.claim.owner);
            match target.releasing(meant, entry)? {
                Begun::Call(releasing) => return target.settle_release(retry, releasing, None).await.map_err(Some),
                Begun::HandedOn(answer) => return Ok(answer),
                Begun::Moved => {}
            }
        }
    }

    async fn settle_release(
        &self,
        retry: RetryLimits,
        releasing: Box<Releasing>,
        sent: Option<Sending>,
    ) -> Result<Answer> {
        match self.scope.around(settle(&self.redis, &releasing.call, retry, sent)).await {
            Ok(Settled { reply, sent, repeated }) => self.released(releasing, reply, sent, repeated),
            Err(Unsettled { error, copies, .. }) => {
                let Releasing { leaving, entry, pass, is_last, .. } = *releasing;
                // The caller has released, so the watchdog must renew the hold no longer. The client frees the key as
                // soon as it can reach the server. If the server refuses that for good, a caller that still has the
                // hold may free it once the server refuses no longer.
                let is_refused = matches!(error, Error::Refused { .. }) && !error.is_for_now();
                if is_refused && copies.is_empty() && !is_last {
                    self.redis.holds(|holds| holds.stop_renewing(&self.claim, leaving.number));
                } else {
                    let target = match leaving.leave {
                        0 => self.as_patient_as_its_hold(),
                        // The release of what it leaves frees the key.
                        _ => self.clone(),
                    };
                    self.redis.holds(|holds| holds.forget(&self.claim, leaving.number, Instant::now()));
                    self.count_released();
                    target.give_back(entry, leaving.leave, copies.clone());
                }
                if let Some(pass) = pass {
                    pass.give_back(copies);
                }
                Err(error)
            }
        }
    }

    /// Frees all that this owner has, at the end of the client.
    pub async fn free(&self) -> Result<()> {
        let retry = self.retry_limits(None);
        let entry = self.enter_grip(retry).await?;
        let grip = self.clone().through(entry.claim.owner);
        let call = grip.call(Op::Release, &Inputs { lease_ms: 0, ..grip.inputs() })?;
        settle(&self.redis, &call, retry, None).await.map_err(|unsettled| unsettled.error)?;
        self.redis.holds(|holds| holds.freed(&self.claim));
        Ok(())
    }

    /// The same target, whose give-back tries for as long as the server may keep what the owner has now.
    fn as_patient_as_its_hold(&self) -> Target {
        self.patient_until(self.redis.holds(|holds| holds.latest_end_of(&self.claim)).unwrap_or_else(Instant::now))
    }

    /// The same target, whose give-back tries for as long as the server may keep what ends at `end`, as the client knows it.
    pub fn patient_until(&self, end: Instant) -> Target {
        let left = lease_for(end.saturating_duration_since(Instant::now()));
        Target { lease: self.lease.max(left), ..self.clone() }
    }

    /// The time for which a give-back tries: the server keeps nothing for longer after its last call for the owner.
    fn patience(&self) -> Duration {
        self.lease.max(self.redis.config.watchdog)
    }

    /// Frees, in the background, the holds that an owner may have beyond `leave` by one of `copies`. It ends when that
    /// is done, or when the server has not answered for the lease of this target and that of the watchdog; a refusal makes it
    /// [go on](Target::insist).
    pub fn give_back(&self, entry: Entry, leave: u32, copies: Vec<Sent>) -> JoinHandle<()> {
        let mut target = self.clone();
        self.redis.io.spawn_present(async move {
            // Until then no other call of the owner goes out.
            let entry = entry;
            let begun = Instant::now();
            let mut reduced = target.reduce_to(leave, copies, &entry.claim, target.patience()).await;
            // All that it left may have ended meanwhile: the server would keep the key for no hold.
            let kept = |holds: &mut Holds| holds.kept_under(&entry.claim, Instant::now());
            if leave > 0 && target.redis.holds(kept) == 0 {
                target = reduced.left.map_or(target.clone(), |left| target.patient_until(Instant::now() + left));
                reduced = target.reduce_to(0, Vec::new(), &entry.claim, target.patience()).await;
            }
            if !reduced.is_done {
                // The entry may be that of a call by another kind.
                target.insist(target.claim.of(entry.claim.owner), begun, begun + target.patience());
            }
            drop(entry);
        })
    }

    /// Has the client free what the server may have granted by a call whose answer came after the end of the lease: if the call was long on its
    /// way, the server keeps it. The caller waits on, and its next call need not wait for this one.
    pub fn free_late_grant_beside(&self) {
        let now = Instant::now();
        self.insist(self.claim.clone(), now, now + self.patience());
    }

    /// As [`Target::free_late_grant_beside`], at once, for a caller that ends now. A program that ends as well waits for it.
    pub fn free_late_grant(&self) {
        let target = self.clone();
        drop(self.redis.io.spawn_present(async move {
            match target.enter(target.retry_limits(None)).await {
                Ok(entry) => {
                    let leave = target.redis.holds(|holds| holds.kept_under(&entry.claim, Instant::now()));
                    let _ = target.give_back(entry, leave, Vec::new()).await;
                }
                Err(_) => target.free_late_grant_beside(),
            }
        }));
    }

    /// The error of a caller that ends so: no other owner need have the lock.
    pub fn granted_late(&self) -> Error {
        let cause = format!(
            "answered after the lease of {:?} was over, and the lock is given back; choose a longer lease, or look at the way to the server",
            self.lease
        );
        Error::unavailable(self.redis.config.server(), cause, true)
    }

    /// Has the server keep so many holds under this grip and no more, after `copies`. Meanwhile the owner of what is given back
    /// may take the lock anew, under another grip. It ends when the server has not answered for so long.
    pub async fn reduce_to(&self, leave: u32, copies: Vec<Sent>, grip: &Claim, patience: Duration) -> Reduced {
        let Ok(call) = self.call(Op::Release, &Inputs { leave, lease_ms: 0, ..self.inputs() }) else {
            return Reduced { left: None, is_done: true };
        };
        let settled = self.follow(&call, copies, patience).await;
        self.changed();
        if leave == 0 {
            self.wake_sharers();
            return Reduced { left: None, is_done: settled.is_ok() };
        }
        // A call that is undone by this one may have changed the end of the key.
        let left = settled.ok().and_then(|Settled { reply, sent, .. }| Some((reply.left()?, sent)));
        self.redis.holds(|holds| match left {
            Some((left, sent)) => holds.left(&self.claim, grip.owner, left, Duration::ZERO, sent, Instant::now()),
            None => holds.outlasts_under(grip, Instant::now() + self.lease),
        });
        // The release of what it leaves frees the key.
        Reduced { left: left.map(|(left, _)| left), is_done: true }
    }
}

/// The outcome of a give-back.
pub struct Reduced {
    /// The time for which the server keeps the rest, if it tells.
    left: Option<Duration>,
    /// The server has carried it out, or another call will.
    pub is_done: bool,
}
