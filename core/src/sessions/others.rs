//! Operations that make no hold.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::traits::{Queue, Traits};
use crate::request::error::{Error, LostReason, Result};
use crate::request::names::LEADER;
use crate::request::owner::OwnerField;
use crate::request::{Answer, Done, Look, Op, Request};
use crate::sessions::Sessions;
use crate::sessions::driver::{Evicted, Evictees, Key, Repeatable};
use crate::sessions::waiter::{Caller, Limits};

/// The pause before a call that has failed is repeated.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause until a lock that this client has has an owner, or is the server's again.
const AN_OWNER: Duration = Duration::from_millis(2);

impl Sessions {
    /// Runs an operation on the I/O thread to its end: no caller can cancel it.
    pub fn spawn(
        self: &Arc<Self>,
        ticket: u64,
        limits: Limits,
        done: Done,
        operation: impl Future<Output = Result<Answer>> + Send + 'static,
    ) {
        let caller = Caller::new(self, ticket, limits.whole(), done);
        drop(self.io.spawn(async move { caller.answer(operation.await) }));
    }

    /// Repeats a call until the server answers, for as long as the limits allow.
    async fn repeat<T, F: Future<Output = Result<T>>>(&self, limits: Limits, call: impl Fn() -> F) -> Result<T> {
        let end = Instant::now() + limits.retry_for;
        loop {
            let silent = || Error::unavailable(self.config.server(), "is silent", true);
            let came = timeout(limits.response, call()).await.unwrap_or_else(|_| Err(silent()));
            match came {
                Err(error)
                    if error.is_for_now() && Instant::now() < end && (self.is_met() || self.config.retries_absent) =>
                {
                    sleep(PAUSE).await;
                }
                came => return came,
            }
        }
    }

    /// The operation of a request on all permits of a name; `None`: it is another one.
    pub fn permits(&self, request: &Request) -> Option<Repeatable> {
        let traits =
            self.kind(request.kind).ok().filter(|traits| traits.queue == Queue::Alone && request.op != Op::Acquire)?;
        let name = self.config.full_name(request.name.clone());
        let number = request.numbers.first().copied().unwrap_or_default();
        self.driver.permits(request.op, traits, &name, number)
    }

    pub async fn repeated(self: Arc<Self>, limits: Limits, call: Repeatable) -> Result<Answer> {
        self.repeat(limits, call).await
    }

    fn is_met(&self) -> bool {
        self.lock().met
    }

    async fn key(&self, limits: Limits, kind: &Traits, name: &str, owner: i64) -> Result<Key> {
        self.repeat(limits, || self.driver.meet()).await?;
        self.driver.key(kind, name, owner).ok_or(Error::Cancelled)
    }

    pub async fn ping(self: Arc<Self>, limits: Limits) -> Result<Answer> {
        self.repeat(limits, || self.driver.ping()).await.map(|()| Answer::done(0))
    }

    pub async fn inspect(self: Arc<Self>, limits: Limits, request: Request) -> Result<Answer> {
        let traits = self.kind(request.kind)?;
        let claim = Claim::new(traits.name, self.config.full_name(request.name), request.owner);
        let key = self.key(limits, traits, &claim.name, claim.owner).await?;
        let seen = self.repeat(limits, || self.driver.look(&key, traits.fenced)).await?;
        let (count, left) = self.work(|state| {
            let now = Instant::now();
            state.expire_bonds(now);
            let hold = state.grips.holds(&key).last().copied();
            let left = match hold.map(|hold| (hold, state.holds.look(hold, now))) {
                Some((hold, Look::Held { remaining })) => Some(remaining.min(state.left(hold, now))),
                _ => None,
            };
            (state.holds.count(&claim, now), left)
        });
        // Another client's session has no end that the server would tell.
        let number = match (seen.is_taken, left) {
            (false, _) => -2,
            (true, Some(left)) => left.as_millis() as i64,
            (true, None) => -1,
        };
        let mut items = vec![i64::from(count)];
        if traits.fenced {
            items.push(seen.token);
        }
        let texts = if traits.name == LEADER { vec![seen.holder.into_bytes(), seen.value] } else { Vec::new() };
        Ok(Answer { done: true, number, items, texts })
    }

    /// Returns once another client leads than the request names, or none. See [`Op::Acquire`].
    pub async fn next_leader(self: Arc<Self>, limits: Limits, request: Request) -> Result<Answer> {
        let seen = request.texts.first().cloned().unwrap_or_default();
        let end = request.wait.map(|wait| Instant::now() + wait);
        let traits = self.kind(LEADER)?;
        let key = self.key(limits, traits, &self.config.full_name(request.name.clone()), request.owner).await?;
        loop {
            let changed = self.driver.changed(&key);
            let question = Request::new(Op::Inspect, LEADER, request.name.clone(), request.owner);
            let Answer { items, texts, .. } = self.clone().inspect(limits, question).await?;
            let token = items.get(1).copied().unwrap_or_default();
            let mut texts = texts.into_iter();
            let mut now = texts.next().unwrap_or_default();
            let is_led = !now.is_empty();
            now.extend_from_slice(format!(" {token}").as_bytes());
            if now != seen {
                let texts = [now].into_iter().chain(texts.filter(|_| is_led)).collect();
                return Ok(Answer { done: true, number: token, texts, ..Answer::default() });
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            match left {
                Some(Duration::ZERO) => return Ok(Answer::not_now()),
                Some(left) => drop(timeout(left, changed).await),
                None => changed.await,
            }
        }
    }

    pub async fn force_release(self: Arc<Self>, limits: Limits, request: Request) -> Result<Answer> {
        let traits = self.kind(request.kind)?;
        let name = self.config.full_name(request.name);
        let key = self.key(limits, traits, &name, request.owner).await?;
        let end = Instant::now() + limits.whole();
        loop {
            if let Some(freed) = self.free_own(limits, &key) {
                return freed.await.unwrap_or_else(|_| Err(self.cancelled_error()));
            }
            let evictees = Evictees::default();
            match self.repeat(limits, || self.driver.evict(&key, evictees.clone())).await? {
                Evicted::Free => return Ok(Answer::done(0)),
                Evicted::Yes => return Ok(Answer::done(1)),
                // It is on its way to an owner, or back to the server.
                Evicted::Own | Evicted::Missed if Instant::now() < end => sleep(AN_OWNER).await,
                Evicted::Own => return Err(Error::unavailable(self.config.server(), "is silent", true)),
                Evicted::Missed => {
                    let cause =
                        format!("has told another owner of `{name}` each time, and that one had gone; try again");
                    return Err(Error::unavailable(self.config.server(), cause, false));
                }
            }
        }
    }

    /// Frees the lock if an owner of this client has it. It goes back alone: its session has other locks.
    fn free_own(self: &Arc<Self>, limits: Limits, key: &Key) -> Option<oneshot::Receiver<Result<Answer>>> {
        let (told, freed) = oneshot::channel();
        self.work(|state| {
            let now = Instant::now();
            let mut claims: Vec<_> =
                state.grips.holds(key).iter().filter_map(|hold| state.holds.claim_of(*hold)).collect();
            claims.dedup();
            if claims.is_empty() {
                return None;
            }
            for claim in claims {
                state.holds.force(&claim.name, true);
                state.holds.lost(&claim, LostReason::Deleted, now);
            }
            let done: Done = Box::new(move |answer| drop(told.send(answer)));
            let mut caller = Caller::new(self, 0, limits.whole(), done);
            caller.number = 1;
            state.releases.entry(key.clone()).or_default().push(caller);
            state.poke(key);
            Some(freed)
        })
    }

    /// Lets a hold last for the request's lease from now on. The client itself keeps that lease: no server is asked.
    pub fn extend(self: &Arc<Self>, request: &Request) -> Result<Answer> {
        let traits = self.kind(request.kind)?;
        let claim = Claim::new(traits.name, self.config.full_name(request.name.clone()), request.owner);
        let lease = request.lease.unwrap_or(self.config.watchdog);
        let not_held =
            || Error::NotHeld { lock: claim.name.to_string(), owner: OwnerField(&self.uuid, claim.owner).to_string() };
        self.work(|state| {
            let now = Instant::now();
            state.expire_bonds(now);
            state.holds.look(request.hold, now).ensure(not_held)?;
            if state.holds.may_shorten(&claim) {
                state.holds.shorten(&claim, lease, now);
            }
            state.holds.lengthen(&claim, lease, now, now);
            Ok(Answer::done(1))
        })
    }
}
