//! The end of the engine for Redis: what is held is freed, and what is under way ends.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::engine::claim::Claim;
use crate::redis::target::Target;
use crate::redis::{Redis, kinds};
use crate::request::error::LostReason;

/// What the end of a client has for the calls in flight, at least, however long its releases have taken.
const LAST: Duration = Duration::from_millis(100);

impl Redis {
    /// No acquire begins any more, and those that wait end.
    pub fn end_waits(&self) {
        let waiting = self.lines().close(Instant::now());
        drop(waiting);
    }

    /// Tells everybody who holds something that the client is closed. Gives what was held.
    pub fn tell_closed(self: &Arc<Self>) -> Vec<Claim> {
        let now = Instant::now();
        self.holds(|holds| {
            let held = holds.held();
            held.iter().for_each(|claim| holds.lost(claim, LostReason::Closed, now));
            held
        })
    }

    /// Frees `held`, and lets everything end that is under way: what it takes is given back by it, since its caller is told of the end. All of
    /// that takes no longer than one call may.
    pub async fn wind_up(self: Arc<Self>, held: Vec<Claim>, done: SyncSender<()>) {
        let (began, response, retry_for) = (Instant::now(), self.config.response_timeout, self.config.retry_for);
        let longest = retry_for.max(response) + response + self.config.sync.within();
        let places = self.leave_places();
        // Each has the time of one call from its beginning on: of very many some begin late.
        self.free(held).await;
        for left in places {
            let _ = left.await;
        }
        let rest = || longest.saturating_sub(began.elapsed()).max(LAST);
        let _ = timeout(rest(), self.emptied()).await;
        // An acquire that was on its way may have taken a place meanwhile.
        let left = async {
            for left in self.leave_places() {
                let _ = left.await;
            }
        };
        let _ = timeout(rest(), left).await;
        tracing::trace!(target: "redlatch::belief", change = "over", client = &*self.uuid);
        let _ = done.send(());
    }

    /// Gives up the places in queues of the server.
    fn leave_places(&self) -> Vec<JoinHandle<()>> {
        let places = self.lines().take_places();
        places.into_iter().map(|target| tasks::spawn(async move { target.leave().await })).collect()
    }

    /// Returns once no caller is inside, and none can come in any more.
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
        let target = |claim: Claim| Target::of(self, kinds::find(claim.kind).expect("it was acquired"), claim, Duration::ZERO);
        let freed: Vec<_> = claims.into_iter().map(target).map(|target| tasks::spawn(async move { target.free().await })).collect();
        for freed in freed {
            let _ = freed.await;
        }
    }
}
