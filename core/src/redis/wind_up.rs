//! The end of the engine for Redis: it frees the holds and ends the calls in flight.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::engine::claim::Claim;
use crate::redis::target::Target;
use crate::redis::{Redis, kinds};

/// The least time that the end of a client gives the calls in flight, even if its releases have taken long.
const LAST: Duration = Duration::from_millis(100);

impl Redis {
    /// Ends the waiting acquires, and lets no other begin.
    pub fn end_waits(&self) {
        let waiting = self.lines().close(Instant::now());
        drop(waiting);
    }

    /// Tells every holder that the client is closed. Gives the claims that were held, and those of which the server may still
    /// have something.
    pub fn tell_closed(self: &Arc<Self>) -> Vec<Claim> {
        let mut left = self.holds(|holds| holds.close(Instant::now()));
        left.extend(self.insisting.grips(Instant::now()));
        left
    }

    /// Frees `held`, and lets all calls in flight end. Such a call gives back what it takes, since its caller hears of
    /// the end. All of that takes no longer than one call may.
    pub async fn wind_up(self: &Arc<Self>, held: Vec<Claim>) {
        let began = Instant::now();
        let response = self.config.response_timeout;
        let retry_for = self.config.retry_for;
        let longest = retry_for.max(response) + response + self.config.sync.within();
        let places = self.leave_places();
        // Each release has the time of one call, counted from its own beginning: of very many some begin late.
        self.free(held).await;
        for left in places {
            let _ = left.await;
        }
        let rest = || longest.saturating_sub(began.elapsed()).max(LAST);
        let _ = timeout(rest(), self.emptied()).await;
        // An acquire in flight may have taken a place meanwhile.
        let left = async {
            for left in self.leave_places() {
                let _ = left.await;
            }
        };
        let _ = timeout(rest(), left).await;
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
    }

    /// Gives up the places in the server's queues.
    fn leave_places(&self) -> Vec<JoinHandle<()>> {
        let places = self.lines().take_places();
        places.into_iter().map(|target| tasks::spawn(async move { target.leave().await })).collect()
    }

    /// Returns once no caller is inside and none can come in any more.
    async fn emptied(&self) {
        loop {
            self.gates.idle().await;
            self.io.presence.empty().await;
            if self.io.presence.shut_if_empty() && self.gates.is_idle() {
                return;
            }
        }
    }

    async fn free(self: &Arc<Self>, claims: Vec<Claim>) {
        let target =
            |claim: Claim| Target::of(self, kinds::find(claim.kind).expect("it was acquired"), claim, Duration::ZERO);
        let freed: Vec<_> =
            claims.into_iter().map(target).map(|target| tasks::spawn(async move { target.free().await })).collect();
        for freed in freed {
            let _ = freed.await;
        }
    }
}
