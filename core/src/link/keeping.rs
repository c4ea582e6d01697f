//! Looks again and again, while somebody waits for messages of several servers, who answers for what, and moves the ears there. Calls
//! need none of it: they go by no old news.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::topology::Topology;

const LOOK: Duration = Duration::from_secs(1);
/// A cluster says itself when a call goes wrong.
const CLUSTER: Duration = Duration::from_secs(5);

impl Topology {
    /// Called whenever somebody begins to listen.
    pub(super) fn keep(self: &Arc<Self>) {
        if !self.kept.swap(true, SeqCst) {
            tokio::spawn(look(Arc::downgrade(self)));
        }
    }
}

async fn look(topology: Weak<Topology>) {
    loop {
        sleep(LOOK).await;
        let Some(topology) = topology.upgrade() else { return };
        if !topology.wakes.anybody_listens() {
            // All of this runs on one thread: nobody can begin to listen in between.
            topology.kept.store(false, SeqCst);
            return;
        }
        let most = if topology.is_cluster() { CLUSTER } else { LOOK / 4 };
        if topology.said().is_none_or(|said| said.elapsed() > most)
            && let Err(error) = topology.refresh(Instant::now()).await
        {
            tracing::debug!(target: "redlatch::link", "nobody says who answers: {error}");
        }
        topology.tune().await;
    }
}
