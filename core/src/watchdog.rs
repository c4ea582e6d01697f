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
use crate::wakes::Suspects;

/// Names in one script call, and script calls in one go: what is due at once goes out over a while.
const BATCH: usize = 100;
const BATCHES: usize = 3;
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
        // A little more than what is due at this moment: fewer and fuller batches.
        let slack = live.config.watchdog / 300;
        let mut most = BATCHES;
        while most > 0 {
            let due = live.holds(|holds| holds.due(Instant::now() + slack, BATCH));
            if due.is_empty() {
                break;
            }
            let turns = due.into_iter().filter_map(|ask| Some((live.gates.try_enter(&ask.slot)?, ask)));
            // An owner with a call in flight is left out: that call sets the time, or the next round will.
            let free: Vec<_> = turns.filter(|(_, ask)| live.holds(|holds| holds.is_due(&ask.slot))).collect();
            let live = live.clone();
            tokio::spawn(async move { ask_about(&live, free).await });
            most -= 1;
        }
        if most == 0 {
            sleep(PAUSE).await;
        }
    }
}

async fn ask_about(live: &Arc<Live>, batch: Vec<(Turn, Ask)>) {
    // Time enough for the answer to count, and for two more rounds if none comes.
    let response = (live.config.watchdog / 3).clamp(Duration::from_millis(10), live.config.response_timeout);
    for (traits, kind) in kinds::ALL {
        let batch: Vec<_> = batch.iter().map(|(_, ask)| ask).filter(|ask| ask.slot.kind == traits.name).collect();
        let owners: Vec<_> = batch.iter().map(|ask| format!("{}:{}", live.uuid, ask.slot.owner)).collect();
        let mut holds = Vec::new();
        for (ask, owner) in batch.iter().zip(&owners) {
            holds.push(Renewal { name: &ask.slot.name, owner, lease_ms: ask.lease.as_millis() as u64 });
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
            for (ask, state) in batch.iter().zip(reply.numbers) {
                match state {
                    1 if ask.lease > Duration::ZERO => holds.renewed(&ask.slot, sent, now),
                    1 => {}
                    state => holds.missing(&ask.slot, state == 0, epoch, now),
                }
                holds.confirmed(&ask.slot, now);
            }
        });
    }
}
