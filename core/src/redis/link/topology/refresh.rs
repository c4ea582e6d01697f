//! Looks again and again which server answers for which slot, and moves the listening connections there. It runs while
//! a listener waits for messages of several servers, and for some time after a call has failed. Calls do not need it:
//! they rely on no old knowledge. Sentinels report another master themselves.

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
/// The pause in a cluster, whose servers themselves say when a call goes to the wrong one.
const CLUSTER: Duration = Duration::from_secs(5);
/// The least time for which this goes on after a failed call: until the next check of the holds.
const FAILED: Duration = Duration::from_secs(5);
/// The pause between two looks during that time.
const ANXIOUS: Duration = Duration::from_millis(100);
/// The first pause between two looks after a report of the sentinels: the new master may not be ready yet.
const SOON: Duration = Duration::from_millis(20);
/// The channel on which sentinels report another master.
const SWITCHED: &str = "+switch-master";

#[derive(Default)]
pub struct Keeper {
    kept: AtomicBool,
    /// The messages of the sentinels.
    pub told: Arc<Wakes>,
    /// The sentinels let no client listen.
    mute: Arc<AtomicBool>,
    failed: Mutex<Option<Instant>>,
}

impl Keeper {
    /// Prevents further runs.
    pub fn end(&self) {
        self.kept.store(true, SeqCst);
    }

    /// Notes that another server answers for some slots: the task looks at once.
    pub fn hurry(&self) {
        self.told.message(SWITCHED);
    }
}

impl Topology {
    /// Starts the task; runs whenever a listener begins.
    pub fn keep(self: &Arc<Self>) {
        if !self.keeper.kept.swap(true, SeqCst) {
            let told = self.keeper.told.join(SWITCHED);
            tokio::spawn(look(Arc::downgrade(self), self.wakes.clone(), told));
        }
    }

    /// Starts the task after a failed call: a client that only holds must learn soon which server answers now.
    pub fn keep_a_while(self: &Arc<Self>) {
        *self.keeper.failed.lock().expect("nothing panics while it is held") = Some(Instant::now());
        self.keep();
    }

    fn has_failed(&self) -> bool {
        let last = *self.keeper.failed.lock().expect("nothing panics while it is held");
        last.is_some_and(|failed| failed.elapsed() < FAILED.max(self.config.watchdog / 5))
    }

    /// Listens to all sentinels that can be reached for reports of another master: the sentinel that promoted it knows
    /// first.
    fn hear_sentinels(&self) -> Result<()> {
        if !matches!(self.config.servers, Servers::Sentinel { .. }) || self.keeper.mute.load(SeqCst) {
            return Ok(());
        }
        for node in self.sentinel_nodes()?.into_iter().filter(|node| !node.multiplexed.hears(SWITCHED)) {
            let mute = self.keeper.mute.clone();
            tokio::spawn(async move {
                // A sentinel that cannot be reached costs only this one question.
                if node.ask::<redis::Value>(&["PING"], LOOK / 2).await.is_err() {
                    return;
                }
                if let Err(Error::Refused { message, .. }) = node.multiplexed.listen(SWITCHED, LOOK / 2).await {
                    tracing::debug!(target: "redlatch::link", "{} does not let clients listen for another master: {message}", node.address);
                    mute.store(true, SeqCst);
                }
                // The last listener may have left meanwhile.
                node.multiplexed.unlisten(SWITCHED).await;
            });
        }
        Ok(())
    }

    /// The end of [`look`].
    fn keep_no_more(&self, told: Listener) {
        // All of this runs on one thread: no listener can begin in between.
        self.keeper.kept.store(false, SeqCst);
        self.keeper.told.leave(SWITCHED, told);
        for node in self.sentinel_nodes().unwrap_or_default() {
            tokio::spawn(async move { node.multiplexed.unlisten(SWITCHED).await });
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
            // A slot has moved, or a server is gone.
            () = wakes.deafness.notified() => true,
            () = sleep(pause) => false,
        };
        let since = Instant::now();
        let Some(topology) = topology.upgrade() else { return };
        if !topology.wakes.anybody_listens() && !topology.has_failed() {
            return topology.keep_no_more(told);
        }
        if has_heard {
            // Listeners that come and go cause signals too, so there is a pause in between.
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
                    tracing::debug!(target: "redlatch::link", "no server says which servers answer: {error}");
                    (pause * 2).min(LOOK)
                }
            },
        };
        topology.tune().await;
    }
}
