//! A hold with a lease of its own that the watchdog renews, and its end: the key may outlast it for a while.

use std::time::Duration;

use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::holds::{LetGo, Meant};
use crate::redis::settle::{Settled, Unsettled, settle};
use crate::redis::target::Target;
use crate::request::Answer;
use crate::request::error::{Error, Result};

/// The shortest lease of a key.
const SHORTEST: Duration = Duration::from_millis(1);

impl Target {
    /// Has the watchdog renew the hold, each time by the target's lease.
    pub fn renew(&self, number: u64) -> Result<Answer> {
        let now = Instant::now();
        let look = self.redis.holds(|holds| {
            holds.renew(number, self.lease, now);
            holds.look(number, now)
        });
        look.ensure(|| self.not_held()).map(|()| Answer::done(0))
    }

    /// Ends the hold. Its key stays until `at_least` has passed since the hold began. The client forgets the hold before the future
    /// begins: the end of the client must not free a key that is to stay.
    pub fn let_go(&self, number: u64, at_least: Duration) -> impl Future<Output = Result<Answer>> + Send + 'static {
        let now = Instant::now();
        let left = self.redis.holds(|holds| {
            let until = holds.acquired(number)? + at_least;
            let is_to_stay = until > now;
            is_to_stay.then(|| holds.let_go(&self.claim, number, now)).flatten().map(|left| (left, until))
        });
        let target = Target { last: true, ..self.clone() };
        async move {
            match left {
                Some((left, until)) => target.leave_key(number, &left, until).await,
                None => target.free_soon(number, now).await,
            }
        }
    }

    /// Has the server keep the key until then, and no longer.
    async fn leave_key(&self, number: u64, left: &LetGo, until: Instant) -> Result<Answer> {
        let retry = self.retry_limits(None);
        let grip = self.claim.of(left.field);
        let entry = match self.enter_as(&grip, retry).await {
            Ok(entry) => entry,
            Err(error) => return Ok(self.leave_later(grip, left, until, &error)),
        };
        let begun = Instant::now();
        let rest = until.saturating_duration_since(begun).max(SHORTEST);
        let none = || Error::Unsupported(format!("`{}` has no lease that could be changed", self.plain_name()));
        let mut call = self.row.kind.renew(&self.redis.uuid, rest.as_millis() as u64, true).ok_or_else(none)?;
        self.row.kind.renew_also(&mut call, &self.redis.uuid, &self.claim.name, left.field);
        let Settled { reply, repeated, .. } = match self.scope.around(settle(&self.redis, &call, retry, None)).await {
            Ok(settled) => settled,
            Err(Unsettled { error, copies, .. }) => {
                if let Some(over) = copies.iter().map(|copy| copy.over).max() {
                    // Until then no other call of the owner goes out.
                    self.redis.io.spawn_present(async move {
                        sleep_until(over.into()).await;
                        drop(entry);
                    });
                }
                return Ok(self.leave_later(grip, left, until, &error));
            }
        };
        let now = Instant::now();
        let told = reply.text();
        // A copy before may have had the key end since.
        if told.as_deref() == Some("1") || (repeated && now >= begun + rest) {
            self.say_released(0);
            return Ok(Answer::done(0));
        }
        let is_taken = told.as_deref() == Some("0");
        let loss = self.redis.holds(|holds| holds.was_lost(&self.claim, number, left, is_taken, now));
        Err(Error::Lost(Box::new(loss)))
    }

    /// Frees the key once it need not stay any more: the server has not heard how long that is.
    fn leave_later(&self, grip: Claim, left: &LetGo, until: Instant, error: &Error) -> Answer {
        self.count_released();
        self.warn_unheard(error);
        self.insist(grip, until, left.end.max(until));
        Answer::not_now()
    }

    /// Releases the hold. The client goes on with that while the server cannot be asked, or refuses it.
    async fn free_soon(&self, number: u64, since: Instant) -> Result<Answer> {
        match self.release(Meant::Given(number), None, since).await {
            Err(error @ (Error::Unavailable { .. } | Error::Refused { .. })) => {
                self.warn_unheard(&error);
                Ok(Answer::not_now())
            }
            result => result,
        }
    }

    fn warn_unheard(&self, error: &Error) {
        let lock = self.plain_name();
        self.scope.report(|| {
            tracing::warn!(
                target: "redlatch::job",
                lock,
                "the server has not heard of the end of `{lock}`, and the client goes on to tell it: {error}"
            )
        });
    }
}
