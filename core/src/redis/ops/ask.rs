//! Operations that take one call and make no hold.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::gate::Entry;
use crate::engine::holds::Meant;
use crate::redis::kinds;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::link::Sent;
use crate::redis::requests::forget;
use crate::redis::settle::{RetryLimits, Settled, Unsettled, after, settle};
use crate::redis::target::{Sending, Target};
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op};

/// The pause of a call that gives permits back, each time that the server has not answered for a lease of the watchdog.
const PAUSE: Duration = Duration::from_millis(500);
/// It doubles up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// The time for which it asks on while the server refuses it.
const REFUSED: Duration = Duration::from_secs(600);

impl Target {
    pub fn ask_call(&self, op: Op) -> Result<Call> {
        // Permits are named by their acquire: no other release takes them in its place.
        let op = if op == Op::GiveBack { Op::Release } else { op };
        if op == Op::Extend {
            self.redis.link.leased(self.lease);
        }
        self.call(op, &self.inputs())
    }

    /// Interprets the reply to such a call of the operation `op`. `before`: the count of [`Target::count_of_tangled`] before
    /// the call was sent.
    pub fn informed(&self, op: Op, call: &Call, reply: Reply, before: Option<i64>) -> Result<Answer> {
        let mut answer = self.told(call, reply)?;
        // The hold may have ended meanwhile: the server may have looked before or after that.
        if let Some(known) = self.count_of_tangled(op).or(before)
            && let Some(count) = answer.items.first_mut()
        {
            *count = known;
        }
        if matches!(op, Op::Release | Op::ReleaseIfExists | Op::GiveBack) && answer.done {
            self.count_released();
        }
        Ok(answer)
    }

    /// The number of the owner's holds if the question `op` is for that, and the server does not know it, because one hold
    /// was handed on inside this client.
    pub fn count_of_tangled(&self, op: Op) -> Option<i64> {
        if op != Op::Inspect || !self.row.traits.held {
            return None;
        }
        let holder = self.tangle()?.holder;
        let form = |kind| kinds::find(kind).map(|row| row.traits.form);
        let is_counted = holder.kind == self.claim.kind
            || (self.row.traits.exclusive && form(holder.kind) == Some(self.row.traits.form));
        is_counted.then_some(i64::from(holder.owner == self.claim.owner))
    }

    /// Interprets the reply to a call that makes no hold.
    pub fn told(&self, call: &Call, reply: Reply) -> Result<Answer> {
        self.forget(call);
        if call.changes() {
            self.changed_shared();
        }
        let mut numbers = reply.numbers.iter().copied();
        match reply.code {
            Code::Done | Code::NotNow => Ok(Answer {
                done: reply.code == Code::Done,
                number: numbers.next().unwrap_or_default(),
                items: numbers.collect(),
                texts: reply.texts,
            }),
            _ => Err(self.wrong_kind(&reply)),
        }
    }

    /// Carries out an operation. `first`: the try that a caller's thread has made already.
    pub async fn ask(&self, op: Op, first: Option<(Option<Entry>, Call, Sending)>) -> Result<Answer> {
        let since = first.as_ref().map_or_else(Instant::now, |(_, _, (_, sent))| *sent);
        let retry = self.retry_limits_since(since, self.end_of(op, since));
        let goes_on = self.goes_on(op).then(|| self.remembered_until(since));
        if self.counts_departures(op) {
            self.departed(0, retry).await;
        }
        let (entry, call, sent) = match first {
            Some((entry, call, sent)) => (entry, call, Some(sent)),
            None => {
                let call = self.ask_call(op)?;
                if !call.changes() {
                    (None, call, None)
                } else {
                    match self.enter(retry).await {
                        Ok(entry) => (Some(entry), call, None),
                        Err(error) => {
                            // Another call of the owner waits for the server, perhaps one that gives back as well.
                            goes_on.inspect(|end| self.go_on(None, call, Vec::new(), *end));
                            return Err(error);
                        }
                    }
                }
            }
        };
        let before = self.count_of_tangled(op);
        match settle(&self.redis, &call, retry, sent).await {
            Ok(Settled { reply, .. }) => self.informed(op, &call, reply, before),
            Err(Unsettled { error, copies, .. }) => {
                // No caller repeats a give-back.
                let is_refused = op == Op::GiveBack && matches!(error, Error::Refused { .. });
                match goes_on.filter(|_| error.is_for_now() || is_refused) {
                    Some(end) => self.go_on(entry, call, copies, end),
                    None => self.forget_unanswered(&call, copies),
                }
                Err(error.during(self.wait.filter(|wait| retry.end.is_some() && *wait < self.retry_for)))
            }
        }
    }

    /// Carries out in the background a call that gives permits back, see [`Target::persist`].
    fn go_on(&self, entry: Option<Entry>, call: Call, copies: Vec<Sent>, end: Option<Instant>) {
        self.count_released();
        drop(self.redis.io.spawn_present(self.clone().persist(entry, call, copies, end)));
    }

    /// Tells whether a call without an answer goes on in the background: it gives permits back that no caller gives back
    /// again, or that have ids, so that a second one changes nothing.
    fn goes_on(&self, op: Op) -> bool {
        op == Op::GiveBack || (op == Op::Release && self.has_ids())
    }

    fn has_ids(&self) -> bool {
        !self.row.kind.named(&self.owner).is_empty()
    }

    pub async fn delete(&self) -> Result<Answer> {
        let answer = self.taking_away(self.ask(Op::Delete, None)).await;
        // The server does not report a client's own changes to it.
        self.redis.wakes.suspect(Some((*self.claim.name).to_owned()));
        answer
    }

    /// Runs an operation that may take away this client's holds of the name: losses by it are the client's own doing.
    pub async fn taking_away(&self, doing: impl Future<Output = Result<Answer>>) -> Result<Answer> {
        // This comes before the sending: the watchdog may find the holds gone before the answer is here.
        self.redis.holds(|holds| holds.force(&self.claim.name, true));
        let answer = doing.await;
        let is_gone = answer.as_ref().is_ok_and(|answer| answer.number > 0);
        // A hold that the client has taken meanwhile is none of those that this takes away.
        if !is_gone {
            self.redis.holds(|holds| holds.force(&self.claim.name, false));
        }
        answer
    }

    /// Gives back what an acquire has taken for a caller that is gone. It returns in the time of one call; permits go
    /// back in the background after that.
    pub async fn take_back(&self, taken: &Answer) {
        if self.row.traits.held {
            let unseen = Target { unseen: true, ..self.clone() };
            let _ = unseen.release(Meant::Untaken(taken.number as u64), None, Instant::now()).await;
            return;
        }
        let Ok(call) = self.ask_call(Op::Release) else { return };
        let target = self.clone();
        let given_back = self.redis.io.spawn_present(async move {
            let end = target.remembered_until(Instant::now());
            target.persist(None, call, Vec::new(), end).await;
        });
        let _ = timeout(self.retry_for + self.response, given_back).await;
    }

    /// Takes back, in the background, the permits that an acquire may have taken by one of `copies`.
    pub fn undo(&self, entry: Entry, call: &Call, copies: Vec<Sent>) -> JoinHandle<()> {
        let target = self.clone();
        let request = call.remembered.clone().unwrap_or_default();
        self.redis.io.spawn_present(async move {
            let inputs = crate::redis::kinds::Inputs { request, ..target.inputs() };
            let Some(call) = target.row.kind.undo(&inputs) else { return };
            let end = target.remembered_until(Instant::now());
            target.persist(Some(entry), call, copies, end).await;
        })
    }

    /// Forgets, in the background, the key of a call without an answer that the server may have carried out by one of
    /// `copies`.
    fn forget_unanswered(&self, call: &Call, copies: Vec<Sent>) {
        let Some(request) = call.remembered.clone().filter(|_| !copies.is_empty()) else { return };
        let target = self.clone();
        self.redis.io.spawn_present(async move {
            let _ = target.follow(&forget(&[request]), copies, target.redis.config.watchdog).await;
        });
    }

    /// Carries out a call of the client's own behind `copies` of another one: none of them can run after it. It gives up
    /// if the server refuses it, or does not answer for so long.
    pub async fn follow(
        &self,
        call: &Call,
        copies: Vec<Sent>,
        patience: Duration,
    ) -> std::result::Result<Settled, Unsettled> {
        let retry = RetryLimits { give_up: Instant::now() + patience + WINDOW, ..self.retry_limits(None) };
        after(&self.redis, call, retry, None, copies).await
    }

    /// The time after which a repeat of a call that gives permits back, and that was first sent at `since`, might count
    /// twice, or finds nothing. `None`: there is none, because the permits have ids.
    fn remembered_until(&self, since: Instant) -> Option<Instant> {
        (!self.has_ids()).then(|| since + self.keep().saturating_sub(2 * (self.response + WINDOW)))
    }

    /// Carries out a call that gives permits back after `copies` of another one: none of them can run after it. A
    /// permit has no end by itself, so the client tries until `end`, or as long as it lives.
    async fn persist(self, mut entry: Option<Entry>, call: Call, mut copies: Vec<Sent>, end: Option<Instant>) {
        // The call may clear away holds that are over, out of a key with many.
        let shared = self.row.kind.shared_key(&self.claim.name);
        let response = self.response;
        let mut redis = self.redis.clone();
        // The span of the hold ends now, not with the outage.
        drop(self);
        let once = redis.config.watchdog + WINDOW;
        let refused_until = Instant::now() + REFUSED;
        let mut pause = PAUSE;
        loop {
            let now = Instant::now();
            let give_up = end.map_or(now + once, |end| end.min(now + once));
            let retry = RetryLimits { response, give_up, end: None };
            match after(&redis, &call, retry, None, copies).await {
                Ok(_) => {
                    call.remembered.iter().for_each(|request| redis.forget(request.clone()));
                    shared.iter().for_each(|key| redis.holds(|holds| holds.changed(key, Instant::now())));
                    return;
                }
                Err(Unsettled { error, copies: left, .. }) => {
                    // Some refusals end, as that of a server that cannot save its data.
                    let may_end = matches!(error, Error::Refused { .. }) && now < refused_until;
                    if !error.is_for_now() && !may_end {
                        return;
                    }
                    copies = left;
                }
            }
            copies.retain(|copy| copy.over > Instant::now());
            if end.is_some_and(|end| end <= Instant::now()) {
                return;
            }
            // The owner's next calls need not wait: none of them is about these permits. The program alone keeps the
            // client alive.
            drop(entry.take());
            let client = Arc::downgrade(&redis);
            drop(redis);
            sleep(pause).await;
            // Very many of them may wait for one silent server.
            pause = (2 * pause).min(LONGEST_PAUSE);
            match client.upgrade() {
                Some(lives) => redis = lives,
                None => return,
            }
        }
    }

    /// Forgets the key of an answered call: no repeat of it comes any more.
    pub fn forget(&self, call: &Call) {
        if let Some(request) = &call.remembered {
            self.redis.forget(request.clone());
        }
    }
}
