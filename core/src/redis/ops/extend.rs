//! Changes the end of a hold.

use std::time::Duration;

use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::engine::holds::lease_for;
use crate::redis::settle::{Settled, Unsettled, settle};
use crate::redis::target::Target;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Look};

impl Target {
    /// Lets a hold last for the target's lease from now on: longer; or shorter, if the owner has no other hold that
    /// this would cut, and the watchdog does not renew it.
    pub async fn extend(&self, number: u64) -> Result<Answer> {
        let retry = self.retry_limits(None);
        let entry = self.enter_grip(retry).await?;
        let field = entry.claim.owner;
        self.ensure(number)?;
        let none = || Error::Unsupported(format!("`{}` has no lease that could be changed", self.plain_name()));
        let exact = self.redis.holds(|holds| holds.may_shorten(&self.claim));
        // While a slot moves, a script may find no key of a reader's hold, and makes it anew: for as long as the holder
        // believes in it.
        let lease = if exact { self.lease } else { self.lease.max(self.present_lease(number)) };
        let mut call = self.row.kind.renew(&self.redis.uuid, lease.as_millis() as u64, exact).ok_or_else(none)?;
        self.row.kind.renew_also(&mut call, &self.redis.uuid, &self.claim.name, field);
        self.redis.link.leased(lease);
        // No holder may believe in its hold for longer than the server keeps it, even if the call fails. A release meanwhile
        // is to be as patient as before.
        let before = self.redis.holds(|holds| {
            let before = if exact { holds.shorten(&self.claim, self.lease, Instant::now()) } else { None };
            before.inspect(|before| holds.outlasts(&self.claim, *before))
        });
        let Settled { reply, sent, .. } = match settle(&self.redis, &call, retry, None).await {
            Ok(settled) => settled,
            Err(unsettled) => {
                // Each hold of a reader has a key of its own, which the script may have changed before the server refused it.
                let is_half_done = unsettled.is_half_done() && !self.row.traits.exclusive;
                let half_done = is_half_done.then(Instant::now);
                let Unsettled { error, copies, .. } = unsettled;
                let Some(over) = copies.iter().map(|copy| copy.over).chain(half_done).max() else {
                    // The server has not seen the call.
                    self.redis
                        .holds(|holds| before.into_iter().for_each(|before| holds.restore(&self.claim, field, before)));
                    return Err(error);
                };
                self.redis.holds(|holds| holds.outlasts_in(&self.claim, field, over + lease));
                // A copy may still come, and change the end of the key: no newer hold may begin before that is over.
                let target = self.clone();
                self.redis.io.spawn_present(async move {
                    sleep_until(over.into()).await;
                    target.changed();
                    drop(entry);
                });
                return Err(error);
            }
        };
        let incarnation = self.redis.link.incarnation();
        let now = Instant::now();
        self.redis.holds(|holds| match reply.text().as_deref() {
            // The hold may have ended meanwhile, and its owner may have taken the lock anew under another field.
            Some("1") if holds.field(&self.claim) != field => {}
            Some("1") => {
                holds.lengthen(&self.claim, self.lease, sent, now);
                if exact {
                    holds.ends_as_believed(&self.claim);
                }
            }
            other => holds.missing(&self.claim, field, other == Some("0"), incarnation, sent, now),
        });
        self.ensure(number)
            .map(|()| Answer::done(1))
            .inspect_err(|_| self.redis.holds(|holds| holds.outlasts_in(&self.claim, field, now + lease)))
    }

    /// The lease that keeps a hold from now on for as long as the client believes in it.
    fn present_lease(&self, number: u64) -> Duration {
        match self.redis.holds(|holds| holds.look(number, Instant::now())) {
            Look::Held { remaining } => lease_for(remaining),
            Look::Lost(_) | Look::Gone => Duration::ZERO,
        }
    }

    fn ensure(&self, number: u64) -> Result<()> {
        self.redis.holds(|holds| holds.look(number, Instant::now())).ensure(|| self.not_held())
    }
}
