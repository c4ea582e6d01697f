//! Looks again and again who answers for what, while somebody waits for messages of several servers and for a while after a call has failed,
//! and moves the ears there. Calls need none of it: they go by no old news. Sentinels tell of another master themselves.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::time::sleep;

use super::Topology;
use crate::base::clock::Instant;
use crate::config::servers::Servers;
use crate::redis::link::wakes::{Listener, Wakes};
use crate::request::error::{Error, Result};

const LOOK: Duration = Duration::from_secs(1);
/// A cluster says itself when a call goes wrong.
const CLUSTER: Duration = Duration::from_secs(5);
/// How long after a call that has failed this goes on, at least: until the next look at a hold.
const FAILED: Duration = Duration::from_secs(5);
/// Between two looks meanwhile.
const ANXIOUS: Duration = Duration::from_millis(100);
/// Between two looks at what sentinels have told of, at first: it may not be there yet.
const SOON: Duration = Duration::from_millis(20);
/// What sentinels tell of another master on.
const SWITCHED: &str = "+switch-master";

#[derive(Default)]
pub struct Keeper {
    kept: AtomicBool,
    /// What those who are asked who the master is tell by themselves.
    pub told: Arc<Wakes>,
    /// The sentinels let nobody listen.
    mute: Arc<AtomicBool>,
    failed: Mutex<Option<Instant>>,
}

impl Keeper {
    /// It begins no more.
    pub fn end(&self) {
        self.kept.store(true, SeqCst);
    }

    /// Somebody else answers for something: it looks at once.
    pub fn hurry(&self) {
        self.told.message(SWITCHED);
    }
}

impl Topology {
    /// Called whenever somebody begins to listen.
    pub fn keep(self: &Arc<Self>) {
        if !self.keeper.kept.swap(true, SeqCst) {
            let told = self.keeper.told.join(SWITCHED);
            tokio::spawn(look(Arc::downgrade(self), self.wakes.clone(), told));
        }
    }

    /// Called when a call has failed on its way: who only holds is to know soon who answers now.
    pub fn keep_a_while(self: &Arc<Self>) {
        *self.keeper.failed.lock().expect("nothing panics while it is held") = Some(Instant::now());
        self.keep();
    }

    fn has_failed(&self) -> bool {
        let last = *self.keeper.failed.lock().expect("nothing panics while it is held");
        last.is_some_and(|failed| failed.elapsed() < FAILED.max(self.config.watchdog / 5))
    }

    /// Has all sentinels that can be reached tell of another master: the first to know of it is the one that brought it about.
    fn hear_sentinels(&self) -> Result<()> {
        if !matches!(self.config.servers, Servers::Sentinel { .. }) || self.keeper.mute.load(SeqCst) {
            return Ok(());
        }
        for node in self.sentinel_nodes()?.into_iter().filter(|node| !node.mux.hears(SWITCHED)) {
            let mute = self.keeper.mute.clone();
            tokio::spawn(async move {
                // Of one that cannot be reached this is asked once.
                if node.ask::<redis::Value>(&["PING"], LOOK / 2).await.is_err() {
                    return;
                }
                if let Err(Error::Refused { message, .. }) = node.mux.listen(SWITCHED, LOOK / 2).await {
                    tracing::debug!(target: "redlatch::link", "{} tells nobody of another master: {message}", node.address);
                    mute.store(true, SeqCst);
                }
                // The last one who wanted it may have left meanwhile.
                node.mux.unlisten(SWITCHED).await;
            });
        }
        Ok(())
    }

    /// The end of [`look`].
    fn keep_no_more(&self, told: Listener) {
        // All of this runs on one thread: nobody can begin to listen in between.
        self.keeper.kept.store(false, SeqCst);
        self.keeper.told.leave(SWITCHED, told);
        for node in self.sentinel_nodes().unwrap_or_default() {
            tokio::spawn(async move { node.mux.unlisten(SWITCHED).await });
        }
    }
}

async fn look(topology: Weak<Topology>, wakes: Arc<Wakes>, mut told: Listener) {
    let mut pause = LOOK;
    loop {
        if let Some(topology) = topology.upgrade() {
            let _ = topology.hear_sentinels();
        }
        let has_heard = tokio::select! {
            _ = told.heard() => true,
            // A slot has gone elsewhere, or a server is gone.
            () = wakes.deafness.notified() => true,
            () = sleep(pause) => false,
        };
        let since = Instant::now();
        let Some(topology) = topology.upgrade() else { return };
        if !topology.wakes.anybody_listens() && !topology.has_failed() {
            return topology.keep_no_more(told);
        }
        if has_heard {
            // Also whoever comes and goes has something told: there is to be time in between.
            sleep(SOON).await;
            pause = SOON;
        }
        let most = if topology.is_cluster() { CLUSTER } else { ANXIOUS };
        pause = match topology.said() {
            Some(said) if pause == LOOK && said.elapsed() <= most => LOOK,
            _ => match topology.refresh(since).await {
                Ok(()) if topology.has_failed() => ANXIOUS,
                Ok(()) => LOOK,
                Err(error) => {
                    tracing::debug!(target: "redlatch::link", "nobody says who answers: {error}");
                    (pause * 2).min(LOOK)
                }
            },
        };
        topology.tune().await;
    }
}
