//! One timer for a client: renews holds in batches, each well before its lease ends, has the server tell of their changes, and
//! finds those that ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use crate::gate::Turn;
use crate::holds::Ask;
use crate::kinds::{self, Renewal};
use crate::link::{Limits, Outcome};
use crate::live::Live;
use crate::owner::OwnerField;
use crate::wakes::Suspects;

/// Names in one script call, and script calls in one go: what is due at once goes out over a while.
const BATCH: usize = 100;
const BATCHES: usize = 4;
const PAUSE: Duration = Duration::from_millis(5);

/// Runs on the I/O thread until the client is closed.
pub async fn run(live: Arc<Live>) {
    loop {
        let next = live.holds(|holds| holds.next_due());
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
            _ = live.wakes.suspicion.notified() => {}
            _ = live.stop.notified() => return,
        }
        let now = Instant::now();
        match live.wakes.take_suspects() {
            Some(Suspects::All) => live.holds(|holds| holds.suspect(None, now)),
            Some(Suspects::Names(names)) => live.holds(|holds| holds.suspect(Some(&names), now)),
            None => {}
        }
        let mut most = BATCHES;
        while most > 0 {
            // An owner with a call in flight is left out: that call sets the time, or the next round will.
            let batch = live.holds(|holds| holds.due(Instant::now(), BATCH, |slot| live.gates.try_enter(slot)));
            if batch.is_empty() {
                break;
            }
            let live = live.clone();
            tokio::spawn(async move { ask_about(&live, &batch).await });
            most -= 1;
        }
        if most == 0 {
            sleep(PAUSE).await;
        }
    }
}

async fn ask_about(live: &Arc<Live>, batch: &[(Turn, Ask)]) {
    // Time enough for the answer to count, and for two more rounds if none comes.
    let response = (live.config.watchdog / 3).clamp(Duration::from_millis(10), live.config.response_timeout);
    for (traits, kind) in kinds::ALL {
        let batch: Vec<_> = batch.iter().filter(|(turn, _)| turn.slot.kind == traits.name).collect();
        let mut holds = Vec::with_capacity(batch.len());
        for (Turn { slot, .. }, ask) in &batch {
            holds.push(Renewal { name: &slot.name, owner: OwnerField(&live.uuid, slot.owner), lease_ms: ask.lease.as_millis() as u64 });
        }
        let Some(call) = (!holds.is_empty()).then(|| kind.renew(&holds)).flatten() else { continue };
        let sent = Instant::now();
        let outcome = live.link.run_told(&call, Limits { response, window: response }).await;
        // Anything but an answer leaves it unknown: it is tried again a tenth of the lease later.
        let Outcome::Reply(reply) = outcome else {
            tracing::debug!(target: "redlatch::renew", "{} holds are not renewed: {outcome:?}", batch.len());
            continue;
        };
        tracing::debug!(target: "redlatch::renew", "{} holds are asked about", batch.len());
        let (epoch, now) = (live.link.epoch(), Instant::now());
        live.holds(|holds| {
            for ((turn, ask), state) in batch.iter().zip(reply.text.unwrap_or_default().bytes()) {
                match state {
                    b'1' => holds.confirmed(ask, sent, now),
                    state => holds.missing(&turn.slot, state == b'0', epoch, now),
                }
            }
        });
    }
}
