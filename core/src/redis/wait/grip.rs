//! The holder of a lock that was handed on inside this client holds it through the grip of another owner, see
//! [`crate::engine::holds::grip`]. Before it asks the server about the lock, the server puts its own field in that place.

use std::time::Duration;

use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::gate::Entry;
use crate::engine::holds::grip::Tangle;
use crate::redis::kinds::reply::Code;
use crate::redis::kinds::script::Call;
use crate::redis::kinds::{self, Inputs};
use crate::redis::link::Sent;
use crate::redis::settle::{RetryLimits, Settled, Unsettled, after, settle};
use crate::redis::target::{Attempt, Target};
use crate::request::error::{Error, Result};

/// The pause before a server that refuses a call is asked again.
const REFUSED: Duration = Duration::from_millis(500);
/// The longest sleep of a waiter behind a hold of another kind that only this client knows.
const UNTOLD: Duration = Duration::from_secs(1);

impl Target {
    /// See [`crate::engine::holds::Holds::tangle`]. Another owner's hold only begins or ends to be one while no call of
    /// this owner is under way.
    pub fn tangle(&self) -> Option<Tangle> {
        self.redis.holds(|holds| holds.tangle(&self.claim.name, self.claim.owner, Instant::now()))
    }

    /// Tells whether the server may have a field of this owner already: for a hold of its own, or of one to which the
    /// lock was handed on.
    pub fn has_field(&self) -> bool {
        self.count_with_others() > 0 || self.tangle().is_some()
    }

    /// Makes way for an acquire that has the right to send, and gives that back. `Err`: the answer of the acquire, because
    /// another owner of this client has the lock.
    pub async fn untangle(&self, mut entry: Entry, retry: RetryLimits) -> Result<std::result::Result<Entry, Attempt>> {
        while let Some(tangle) = self.tangle() {
            let Tangle { holder, left, is_abandoned } = tangle;
            if is_abandoned {
                return Err(Error::Cancelled);
            }
            if holder.owner != self.claim.owner {
                // No message may tell this kind's waiters of a release of the other one's.
                let left = if holder.kind == self.claim.kind { left } else { left.min(UNTOLD) };
                return Ok(Err(Attempt::busy(Some(left))));
            }
            entry = self.for_claim(&holder).take_grip(entry, retry).await?;
        }
        Ok(Ok(entry))
    }

    /// The same owner's target for another claim.
    fn for_claim(&self, claim: &Claim) -> Target {
        let row = kinds::find(claim.kind).expect("it was acquired");
        Target { row, claim: claim.clone(), grip: None, ..self.clone() }
    }

    /// Has the server keep the owner's hold under the owner's own field. The caller has the right to send of its own, `own`:
    /// it must not wait for that here, after the hold has ended.
    async fn take_grip(&self, own: Entry, retry: RetryLimits) -> Result<Entry> {
        let entry = loop {
            let grip = self.grip();
            if grip.owner == self.claim.owner {
                return Ok(own);
            }
            let entry = self.enter_as(&grip, retry).await?;
            if self.is_under(&entry) {
                break entry;
            }
        };
        let grip = self.clone().through(entry.claim.owner);
        let lease = self.redis.holds(|holds| holds.lease_to_keep(&self.claim, Instant::now()));
        let (Some(lease), true) = (lease, grip.grip.is_some()) else { return Ok(own) };
        let inputs =
            Inputs { lease_ms: 0, next_owner: &self.owner, next_lease_ms: lease.as_millis() as u64, ..grip.inputs() };
        let Some(call) = self.row.kind.take_grip(&inputs) else { return Ok(own) };
        match settle(&self.redis, &call, retry, None).await {
            // If the hold has ended meanwhile, the caller's own acquire takes that field or gives it back.
            Ok(settled) => drop(self.took_grip(&entry, settled, lease)),
            Err(unsettled) => {
                let is_half_done = unsettled.is_half_done();
                let Unsettled { error, copies, .. } = unsettled;
                if !copies.is_empty() || is_half_done {
                    let go_on = self.clone().find_grip(own, entry, call, copies, lease);
                    self.redis.io.spawn_present(go_on);
                }
                return Err(error);
            }
        }
        Ok(own)
    }

    /// False: the server has the owner's own field, and no hold is left for it.
    fn took_grip(&self, entry: &Entry, settled: Settled, lease: Duration) -> bool {
        let Settled { reply, sent, .. } = settled;
        let now = Instant::now();
        match reply.code {
            Code::Passed => self.redis.holds(|holds| holds.gripped(&self.claim, entry.claim.owner, lease, sent, now)),
            _ => {
                self.missing(entry.claim.owner, &reply, sent);
                true
            }
        }
    }

    /// Finds out under which field the server keeps the hold, after a call without a known outcome. No other call about
    /// the hold goes out before that, or before the client stops believing in it, even while the server refuses to tell. Then it
    /// gives back what the server may have under the owner's own field for `lease`: that outlasts the hold.
    async fn find_grip(self, own: Entry, entry: Entry, call: Call, mut copies: Vec<Sent>, lease: Duration) {
        let give_up = self.redis.holds(|holds| holds.end_of(&self.claim)).unwrap_or_else(Instant::now);
        let retry = RetryLimits { give_up, ..self.retry_limits(None) };
        let found = loop {
            match after(&self.redis, &call, retry, None, copies).await {
                Ok(settled) => break Ok(settled),
                Err(unsettled) if Instant::now() < give_up => {
                    copies = unsettled.copies;
                    sleep_until((Instant::now() + REFUSED).min(give_up).into()).await;
                }
                Err(unsettled) => break Err(unsettled.copies),
            }
        };
        let (is_wanted, over) = match found {
            Ok(settled) => (self.took_grip(&entry, settled, lease), Instant::now()),
            // A copy may still come: no newer hold may begin under either field before that is over.
            Err(copies) => {
                let over = copies.iter().map(|copy| copy.over).max().unwrap_or(give_up);
                sleep_until(over.into()).await;
                self.redis.holds(|holds| holds.outlasts(&self.claim, over + lease));
                (false, over)
            }
        };
        drop(entry);
        if !is_wanted {
            let own = match own.claim.is_counted_with(&self.claim) {
                true => own,
                // A reader's: this is about the hold that it has as a writer.
                false => {
                    drop(own);
                    self.redis.gates.enter(&self.claim).await
                }
            };
            let leave = self.redis.holds(|holds| holds.kept_under(&own.claim, Instant::now()));
            drop(self.patient_until(over + lease).give_back(own, leave, Vec::new()));
        }
    }
}
