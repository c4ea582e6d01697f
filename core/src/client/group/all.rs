//! All of several locks, one after the other, or none.

use std::sync::Arc;
use std::time::Duration;

use super::{Group, GroupHold, give_back, release};
use crate::base::clock::Instant;
use crate::engine::holds::believed;
use crate::engine::word::AN_ANSWER;
use crate::request::Request;
use crate::request::error::Result;

/// How long one round of attempts may hold some members while it waits for another one, for each member: whoever takes them in another
/// order is not to be waited for, for ever.
const ROUND: Duration = Duration::from_millis(1500);

impl Group {
    /// One round: every member, or nothing. `begun`: when the wait began. `failing`: since when a member has not answered.
    pub(super) async fn take_all(
        &self,
        request: &Request,
        begun: Instant,
        end: Option<Instant>,
        failing: &mut Option<Instant>,
    ) -> Result<Option<Arc<GroupHold>>> {
        let (now, once) = (Instant::now(), request.wait == Some(Duration::ZERO));
        let round = now + ROUND * self.members.len() as u32;
        let give_up = if once { now } else { end.map_or(round, |end| end.min(round)) };
        // The first one's lease runs while the others are waited for.
        let lease = request.lease.map(|lease| lease + (give_up - now));
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
                    // The others took the time: a member that is asked at the very end says nothing by its silence.
                    let is_too_soon = failing.is_none() && begun + AN_ANSWER < asked && asked.elapsed() < AN_ANSWER;
                    match error.is_transient() && is_too_soon {
                        true => Ok(None),
                        false => {
                            failing.get_or_insert(asked);
                            Err(error)
                        }
                    }
                }
            };
            give_back(release(taken.into_iter().flatten().collect())).await;
            return end;
        }
        let held = Arc::new(GroupHold::new(taken, 0));
        let lasts = match request.lease {
            // The first ones may have been lost while the last one was waited for.
            None => held.look().is_held(),
            Some(lease) => {
                let asked = Instant::now();
                // A lease that ends before this answer is as short as its caller wants it: another round would end the same way.
                once || held.extend(request.lease).await.is_ok() || asked.elapsed() >= believed(lease)
            }
        };
        if !lasts {
            give_back(async move { held.release().await }).await;
            return Ok(None);
        }
        Ok(Some(held))
    }
}
