//! One timer for a client: renews holds in batches, each well before its lease ends, and finds those that ended.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use crate::error::LostReason;
use crate::gate::Turn;
use crate::holds::Slot;
use crate::kinds::{self, Renewal};
use crate::link::{Limits, Outcome};
use crate::live::Live;
use crate::target::WINDOW;

/// Names in one script call.
const BATCH: usize = 100;

/// Runs on the I/O thread until the client is closed.
pub async fn run(live: Arc<Live>) {
    loop {
        let next = live.holds().next_due();
        live.asleep_until(next);
        // What came between the look and the note has been announced, and is not slept over.
        let timer = async {
            match next {
                Some(due) => sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = timer => {}
            _ = live.earlier.notified() => continue,
            _ = live.stop.notified() => return,
        }
        loop {
            // A little more than what is due at this moment: fewer and fuller batches.
            let slack = live.config.watchdog / 300;
            let due = live.holds().due(Instant::now() + slack, BATCH);
            if due.is_empty() {
                break;
            }
            // An owner with a call in flight is left out: that call sets the time, or the next round will.
            let free: Vec<_> = due.into_iter().filter_map(|(slot, lease)| Some((live.gates.try_enter(&slot)?, slot, lease))).collect();
            let live = live.clone();
            tokio::spawn(async move { renew(&live, free).await });
        }
        if live.closed.load(SeqCst) {
            return;
        }
    }
}

async fn renew(live: &Arc<Live>, batch: Vec<(Turn, Slot, Duration)>) {
    for (traits, kind) in kinds::ALL {
        let batch: Vec<_> = batch.iter().filter(|(_, slot, _)| slot.kind == traits.name).collect();
        let owners: Vec<_> = batch.iter().map(|(_, slot, _)| format!("{}:{}", live.uuid, slot.owner)).collect();
        let mut holds = Vec::new();
        for ((_, slot, lease), owner) in batch.iter().zip(&owners) {
            holds.push(Renewal { name: &slot.name, owner, lease_ms: lease.as_millis() as u64 });
        }
        let Some(call) = (!holds.is_empty()).then(|| kind.renew(&holds)).flatten() else { continue };
        let sent = Instant::now();
        let outcome = live.link.run(&call, Limits { response: live.config.response_timeout, window: WINDOW }).await;
        // Anything but an answer leaves it unknown: it is tried again a tenth of the lease later.
        if let Outcome::Reply(reply) = outcome {
            let now = Instant::now();
            for ((_, slot, _), state) in batch.iter().zip(reply.numbers) {
                match state {
                    1 => live.holds().renewed(slot, sent, now),
                    0 => live.holds().lost(slot, LostReason::TakenOver, now),
                    _ => live.holds().lost(slot, LostReason::Deleted, now),
                }
            }
        }
    }
}
