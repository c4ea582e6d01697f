//! A hold with a lease of its own that the client renews, and its end: the key may outlast it for a while.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{sleep, sleep_until};

use crate::base::clock::Instant;
use crate::engine::holds::Meant;
use crate::redis::settle::{Settled, Unsettled, settle};
use crate::redis::target::Target;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Look};

/// The shortest pause between two renewals.
const SHORTEST: Duration = Duration::from_millis(1);

impl Target {
    /// Renews the hold every third of the target's lease, until it has ended. The renewal does not keep the client alive.
    pub fn renew(&self, number: u64, ticket: u64) -> Result<Answer> {
        let look = self.redis.holds(|holds| holds.look(number, Instant::now()));
        look.ensure(|| self.not_held())?;
        let (ended, mut end) = oneshot::channel::<()>();
        self.redis.watch(number, ticket, Box::new(move |_| drop(ended)));
        let Target { row, lease, response, retry_for, .. } = *self;
        let claim = self.claim.clone();
        let client = Arc::downgrade(&self.redis);
        drop(self.redis.io.spawn(async move {
            let mut pause = lease / 3;
            loop {
                tokio::select! {
                    biased;
                    _ = &mut end => return,
                    () = sleep(pause.max(SHORTEST)) => {}
                }
                let Some(redis) = client.upgrade() else { return };
                let target = Target { response, retry_for, ..Target::of(&redis, row, claim.clone(), lease) };
                // An error is no loss: the next try comes soon, and the hold tells of a loss.
                pause = if target.extend(number).await.is_ok() { lease / 3 } else { lease / 10 };
            }
        }));
        Ok(Answer::done(0))
    }

    /// Ends the hold. Its key stays until `at_least` has passed since the hold began.
    pub async fn let_go(&self, number: u64, at_least: Duration) -> Result<Answer> {
        let since = Instant::now();
        let retry = self.retry_limits(None);
        let meant = Meant::Given(number);
        let Some(acquired) = self.redis.holds(|holds| holds.acquired(number)) else {
            return self.let_go_now(meant, since).await;
        };
        let entry = match self.enter_grip(retry).await {
            Ok(entry) => entry,
            Err(error) => return Ok(self.let_go_unheard(number, &error)),
        };
        let field = entry.claim.owner;
        let now = Instant::now();
        let rest = (acquired + at_least).saturating_duration_since(now);
        let is_leaving = !rest.is_zero()
            && self.redis.holds(|holds| {
                holds.look(number, now).is_held() && matches!(holds.leaving(&self.claim, meant, now), Ok(Some(_)))
            });
        if !is_leaving {
            drop(entry);
            return self.let_go_now(meant, since).await;
        }
        let exact = self.redis.holds(|holds| holds.may_shorten(&self.claim));
        let rest_ms = (rest.as_millis() as u64).max(1);
        let none = || Error::Unsupported(format!("`{}` has no lease that could be changed", self.plain_name()));
        let mut call = self.row.kind.renew(&self.redis.uuid, rest_ms, exact).ok_or_else(none)?;
        self.row.kind.renew_also(&mut call, &self.redis.uuid, &self.claim.name, field);
        self.redis.link.leased(rest);
        let Settled { reply, sent, .. } = match self.scope.around(settle(&self.redis, &call, retry, None)).await {
            Ok(settled) => settled,
            Err(Unsettled { error, copies, .. }) => {
                if let Some(over) = copies.iter().map(|copy| copy.over).max() {
                    // A copy may still come, and change the end of the key: no newer hold may begin before that is over.
                    self.redis.io.spawn_present(async move {
                        sleep_until(over.into()).await;
                        drop(entry);
                    });
                }
                return Ok(self.let_go_unheard(number, &error));
            }
        };
        let now = Instant::now();
        let told = reply.text();
        if told.as_deref() == Some("1") {
            self.redis.holds(|holds| holds.forget(&self.claim, number, now));
            self.say_released(0);
            return Ok(Answer::done(0));
        }
        let incarnation = self.redis.link.incarnation();
        let look = self.redis.holds(|holds| {
            holds.missing(&self.claim, field, told.as_deref() == Some("0"), incarnation, sent, now);
            let look = holds.look(number, now);
            holds.tell_loss(&self.claim, number, now);
            look
        });
        Err(look.ensure(|| self.not_held()).err().unwrap_or_else(|| self.not_held()))
    }

    /// Releases the hold; the client goes on with that while it cannot ask the server.
    async fn let_go_now(&self, meant: Meant, since: Instant) -> Result<Answer> {
        match self.release(meant, None, since).await {
            Err(error @ (Error::Unavailable { .. } | Error::Refused { .. })) => {
                self.warn_unheard(&error, "the client releases it as soon as the server lets it");
                Ok(Answer::not_now())
            }
            result => result,
        }
    }

    /// Forgets the hold, of whose end the server has not heard.
    fn let_go_unheard(&self, number: u64, error: &Error) -> Answer {
        let remaining = self.redis.holds(|holds| {
            let look = holds.look(number, Instant::now());
            holds.forget(&self.claim, number, Instant::now());
            look
        });
        self.count_released();
        let left = match remaining {
            Look::Held { remaining } => remaining,
            Look::Lost(_) | Look::Gone => Duration::ZERO,
        };
        self.warn_unheard(error, &format!("the server keeps its key for about {left:.1?} more"));
        Answer::not_now()
    }

    fn warn_unheard(&self, error: &Error, then: &str) {
        let lock = self.plain_name();
        self.scope.report(|| {
            tracing::warn!(
                target: "redlatch::job",
                lock,
                "the server has not heard of the end of `{lock}`, and {then}: {error}"
            )
        });
    }
}
