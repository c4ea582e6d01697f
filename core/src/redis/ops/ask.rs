//! Operations that take one call and make no hold.

use tokio::task::JoinHandle;

use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::gate::Entry;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::link::Sent;
use crate::redis::requests::forget;
use crate::redis::settle::{RetryLimits, Settled, Unsettled, after, settle};
use crate::redis::target::{Sending, Target};
use crate::request::error::Result;
use crate::request::{Answer, Op};

impl Target {
    pub fn ask_call(&self, op: Op) -> Result<Call> {
        self.call(op, &self.inputs())
    }

    /// Interprets the reply to such a call.
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
        let retry = self.retry_limits_since(since, None);
        let (_entry, call, sent) = match first {
            Some((entry, call, sent)) => (entry, call, Some(sent)),
            None => {
                let call = self.ask_call(op)?;
                (if call.changes() { Some(self.enter(retry).await?) } else { None }, call, None)
            }
        };
        match settle(&self.redis, &call, retry, sent).await {
            Ok(Settled { reply, .. }) => self.told(&call, reply),
            Err(Unsettled { error, copies, .. }) => {
                self.forget_unanswered(&call, copies);
                Err(error)
            }
        }
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
        self.redis.holds(|holds| holds.force(&self.claim.name, is_gone));
        answer
    }

    /// Gives back what an acquire has taken for a caller that is gone.
    pub async fn take_back(&self, taken: &Answer) {
        let _ = match self.row.traits.held {
            true => self.release(taken.number as u64, None, Instant::now()).await,
            false => self.ask(Op::Release, None).await,
        };
    }

    /// Takes back, in the background, the permits that an acquire may have taken by one of `copies`.
    pub fn undo(&self, entry: Entry, call: &Call, copies: Vec<Sent>) -> JoinHandle<()> {
        let target = self.clone();
        let request = call.remembered.clone().unwrap_or_default();
        self.redis.io.spawn_present(async move {
            let _entry = entry;
            let Some(call) = target.row.kind.undo(&crate::redis::kinds::Inputs { request, ..target.inputs() }) else {
                return;
            };
            target.behind(&call, copies).await;
            target.changed_shared();
        })
    }

    /// Forgets, in the background, the key of a call without an answer that the server may have carried out by one of
    /// `copies`.
    fn forget_unanswered(&self, call: &Call, copies: Vec<Sent>) {
        let Some(request) = call.remembered.clone().filter(|_| !copies.is_empty()) else { return };
        let target = self.clone();
        self.redis.io.spawn_present(async move { target.behind(&forget(&[request]), copies).await });
    }

    /// Carries out a call of the client's own after `copies` of another one: none of them can run after it. It gives up
    /// if the server does not answer for a lease of the watchdog.
    async fn behind(&self, call: &Call, copies: Vec<Sent>) {
        let give_up = Instant::now() + self.redis.config.watchdog + WINDOW;
        let retry = RetryLimits { give_up, ..self.retry_limits(None) };
        let _ = after(&self.redis, call, retry, None, copies).await;
    }

    /// Forgets the key of an answered call: no repeat of it comes any more.
    pub fn forget(&self, call: &Call) {
        if let Some(request) = &call.remembered {
            self.redis.forget(request.clone());
        }
    }
}
