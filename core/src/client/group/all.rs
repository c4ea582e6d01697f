//! Takes all of several locks one after the other, or none.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Group, GroupHold, give_back, release};
use crate::base::clock::Instant;
use crate::client::state::ClientState;
use crate::engine::holds::SHORT;
use crate::engine::word::AN_ANSWER;
use crate::request::error::{Error, LostReason, Result};
use crate::request::{LEASE_MAX, Op, Request};

/// The time for each member that one round may hold some members while it waits for another. Another group may take the
/// members in another order, and would wait for this one without end.
const ROUND: Duration = Duration::from_millis(1500);

impl Group {
    /// Takes every member in one round, or none. `begun`: the start of the wait. `failing`: the time since which a
    /// member has not answered.
    pub(super) async fn take_all(
        &self,
        state: &ClientState,
        request: &Request,
        begun: Instant,
        end: Option<Instant>,
        failing: &mut Option<Instant>,
    ) -> Result<Option<Arc<GroupHold>>> {
        let now = Instant::now();
        let once = request.wait == Some(Duration::ZERO);
        let round = now + ROUND * self.members.len() as u32;
        let give_up = if once { now } else { end.map_or(round, |end| end.min(round)) };
        // The lease of the first member runs while the round waits for the others.
        let lease = request.lease.map(|lease| (lease + (give_up - now)).min(LEASE_MAX));
        let mut taken = Vec::new();
        for member in &self.members {
            let asked = Instant::now();
            let end = match member.take(request, give_up.saturating_duration_since(asked), lease).await {
                Ok(Some(guard)) => {
                    taken.push(Some(guard));
                    continue;
                }
                Ok(None) => Ok(None),
                Err(error) => {
                    // The other members took the time. Silence of a member that the round asked at the very end means
                    // nothing.
                    let is_too_soon = failing.is_none() && begun + AN_ANSWER < asked && asked.elapsed() < AN_ANSWER;
                    match error.is_for_now() && is_too_soon {
                        true => Ok(None),
                        false => {
                            failing.get_or_insert(asked);
                            Err(error)
                        }
                    }
                }
            };
            give_back(state, release(taken.into_iter().flatten().collect())).await;
            return end;
        }
        let held = Arc::new(GroupHold::new(taken, 0));
        let extended = match request.lease {
            // Each member has its own time limits, and all of them what is left of the wait.
            Some(_) if !once => {
                let left =
                    end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()).max(AN_ANSWER));
                timeout(left, held.extend(request)).await.unwrap_or_else(|_| Err(self.late())).map(drop)
            }
            _ => Ok(()),
        };
        // The round may have lost the first members while it waited for the others.
        let lasts = extended.and_then(|()| held.ensure());
        let is_short = request.lease.is_some_and(|lease| lease <= SHORT);
        let is_over = matches!(&lasts, Err(Error::Lost(loss)) if loss.reason == LostReason::Expired);
        // A lease that ends before its answer may do so if it is as short as its caller wants it: another round would
        // end the same way.
        if lasts.is_err() && !(is_short && is_over) {
            let Request { response_timeout, retry_for, .. } = *request;
            give_back(state, async move { held.release(Op::GiveBack, response_timeout, retry_for).await }).await;
            return match lasts {
                // No other owner is in the way: the server does not answer.
                Err(error) if error.is_for_now() => Err(error),
                _ => Ok(None),
            };
        }
        Ok(Some(held))
    }

    fn late(&self) -> Error {
        Error::unavailable(self.home().server(), "does not answer in time", true)
    }
}
