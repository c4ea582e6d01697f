//! Notices, while anybody waits, that the mux's connection, or the one that brings its messages, leads nowhere any more although nothing
//! says so: a peer that vanished, a network that swallows one direction. A server that is slow costs a second connection's opening, but
//! never the connection in use.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, sleep_until, timeout};

use super::multiplexed::Mux;
use super::wire::Wire;
use crate::base::clock::Instant;

/// How long nothing is heard before a sign of life is asked for, and how long that may take.
const QUIET: Duration = Duration::from_millis(500);
/// Between two looks at a server that is silent on every connection.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the first connection may still answer once a second one has.
const GRACE: Duration = Duration::from_millis(100);

/// Runs while somebody waits for the mux. Only answers count as heard: a connection that only brings messages is of no use.
pub async fn watch(mux: Arc<Mux>) {
    let start = Instant::now();
    while let Some(wire) = mux.waited_for() {
        let quiet = wire.heard().max(start) + QUIET;
        if Instant::now() < quiet {
            sleep_until(quiet.into()).await;
        } else {
            probe(&mux, &wire).await;
        }
    }
    // Nothing was awaited since the look that found nobody, and the mux lives on this thread: none can have come in between.
    mux.watched_no_more();
}

/// Returns once the connection has answered, or nobody waits for it, or another one has taken its place.
async fn probe(mux: &Arc<Mux>, wire: &Wire) {
    let mut con = wire.con.clone();
    let mut sign = pin!(async {
        match con.send_packed_command(&redis::cmd("PING")).await {
            Err(error) if error.code().is_none() => return mux.lost(wire),
            // A server that refuses even that has answered.
            _ => wire.answered(),
        }
        if let Some(apart) = &wire.apart
            && apart.sign().await.is_err()
        {
            mux.lost(wire);
        }
    });
    let second_opinion = async {
        let mut limit = AGAIN;
        let mut pause = QUIET;
        loop {
            sleep(pause).await;
            mux.waited_for()?;
            let before = Instant::now();
            // A far server needs many round trips, so the next one may take longer.
            let fresh = timeout(limit, mux.dial()).await;
            limit = (limit * 2).min(mux.connect_timeout());
            match fresh {
                Ok(Ok(fresh)) => return Some(fresh),
                _ => pause = AGAIN.saturating_sub(before.elapsed()),
            }
        }
    };
    let fresh = tokio::select! { () = &mut sign => None, fresh = second_opinion => fresh };
    // A server that stood still answers both, in no particular order: an answer that is there by now is as good.
    if let Some(fresh) = fresh
        && timeout(GRACE, sign).await.is_err()
    {
        mux.replace(wire, fresh).await;
    }
}
