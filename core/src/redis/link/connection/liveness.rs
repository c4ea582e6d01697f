//! Watches the multiplexed connection, and the one that brings its messages, while a call or a listener waits. It
//! notices a connection that is dead without an error: the peer vanished, or the network drops one direction. A slow
//! server costs the opening of a second connection, but never the connection in use.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, sleep_until, timeout};

use super::multiplexed::Multiplexed;
use super::wire::Wire;
use crate::base::clock::Instant;

/// The silence after which the watch asks for a sign of life, and the time that the sign may take.
const QUIET: Duration = Duration::from_millis(500);
/// The pause between two looks at a server that is silent on every connection.
const AGAIN: Duration = Duration::from_secs(1);
/// The time for which the first connection may still answer after a second one has answered.
const GRACE: Duration = Duration::from_millis(100);

/// Runs while a call or a listener waits for the multiplexed connection. Only answers prove a connection: one that
/// brings messages alone is of no use.
pub async fn watch(multiplexed: Arc<Multiplexed>) {
    let start = Instant::now();
    while let Some(wire) = multiplexed.waited_for() {
        let quiet = wire.heard().max(start) + QUIET;
        if Instant::now() < quiet {
            sleep_until(quiet.into()).await;
        } else {
            probe(&multiplexed, &wire).await;
        }
    }
    // Since that look nothing waits, and the multiplexed connection lives on this thread: no call can have come in
    // between.
    multiplexed.watched_no_more();
}

/// Returns once the connection has answered, nothing waits for it any more, or another one has taken its place.
async fn probe(multiplexed: &Arc<Multiplexed>, wire: &Wire) {
    let mut con = wire.con.clone();
    let mut sign = pin!(async {
        match con.send_packed_command(&redis::cmd("PING")).await {
            Err(error) if error.code().is_none() => return multiplexed.lost(wire),
            // A server that refuses even this has answered.
            _ => wire.answered(),
        }
        if let Some(apart) = &wire.apart
            && apart.sign().await.is_err()
        {
            multiplexed.lost(wire);
        }
    });
    let second_opinion = async {
        let mut limit = AGAIN;
        let mut pause = QUIET;
        loop {
            sleep(pause).await;
            multiplexed.waited_for()?;
            let before = Instant::now();
            // A far server needs many round trips, so the next attempt may take longer.
            let fresh = timeout(limit, multiplexed.dial()).await;
            limit = (limit * 2).min(multiplexed.connect_timeout());
            match fresh {
                Ok(Ok(fresh)) => return Some(fresh),
                _ => pause = AGAIN.saturating_sub(before.elapsed()),
            }
        }
    };
    let fresh = tokio::select! { () = &mut sign => None, fresh = second_opinion => fresh };
    // A server that stood still answers on both connections, in any order: an answer on the old one that is here by now
    // is as good.
    if let Some(fresh) = fresh
        && timeout(GRACE, sign).await.is_err()
    {
        multiplexed.replace(wire, fresh).await;
    }
}
