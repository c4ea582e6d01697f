//! The watchdog, one timer for a client. It renews holds in batches, each well before its lease ends; it makes the
//! server report their changes; and it finds holds that have ended.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::base::clock::{Alarm, Instant, Suspension};
use crate::base::scope::report;
use crate::base::tasks;
use crate::engine::claim::Claim;
use crate::engine::gate::{Entrance, Round};
use crate::engine::holds::Ask;
use crate::redis::Redis;
use crate::redis::kinds::script::Call;
use crate::redis::kinds::{self, Kind, KindRow, multi};
use crate::redis::link::wakes::{Suspects, Wakes};
use crate::redis::link::{Limits, Outcome, Reports};

/// The most names in one round.
const MOST: usize = 400;
/// The most names in one call. For tracking, Redis up to 7.0 notes all keys of a script at each of its reads, so the
/// cost of a call is the square of its names. With calls of 400, a hundred thousand holds kept such a server busy, and
/// their leases ended.
const CALL: usize = 32;
/// The time that the next round waits for the answers to the last one.
const PAUSE: Duration = Duration::from_millis(5);
/// The interval at which the watchdog checks that the machine was not suspended, while there are holds or waiters.
const LOOK: Duration = Duration::from_secs(5);
/// The least time that a renewal has for its answer: no caller waits for it.
const LEAST: Duration = Duration::from_millis(10);

/// Runs on the I/O thread until the client is gone.
pub async fn run(redis: Weak<Redis>, wakes: Arc<Wakes>, earlier: Arc<Notify>, freed: Arc<Notify>) {
    let alarm = Alarm::new();
    let mut suspension = Suspension::new();
    loop {
        let Some(awake) = redis.upgrade() else { return };
        let next = awake.holds(|holds| holds.sleep());
        // The order matters: a line that begins after the look finds `looks` false, and wakes the watchdog.
        awake.looks.store(false, SeqCst);
        let looks = next.is_some() || !awake.lines().are_none();
        awake.looks.store(looks, SeqCst);
        let next = looks.then(|| next.unwrap_or(Instant::NEVER).min(Instant::now() + LOOK));
        // The program alone keeps the client alive meanwhile.
        drop(awake);
        tokio::select! {
            _ = alarm.ring(next) => {}
            _ = earlier.notified() => continue,
            _ = wakes.suspicion.notified() => {}
            _ = freed.notified() => {}
        }
        let Some(redis) = redis.upgrade() else { return };
        redis.holds(|holds| holds.wake());
        let now = Instant::now();
        // The connection may have ended meanwhile, and reports of the server with it.
        if suspension.was() {
            redis.wakes.suspect(None);
            redis.lines().hurry(now);
        }
        // Inside the holds: no hold is handed on between the two looks.
        redis.holds(|holds| match redis.wakes.take_suspects() {
            Some(Suspects::All) => holds.suspect(None, now),
            Some(Suspects::Names(names)) => holds.suspect(Some(&names), now),
            None => {}
        });
        let freed = redis.gates.take_freed();
        redis.holds(|holds| freed.iter().for_each(|claim| holds.look_again(claim, now)));
        while let Some(most) = ask_about_due(&redis) {
            let _ = timeout(PAUSE, most).await;
        }
    }
}

/// One call about holds of one kind with the same lease.
struct Batch {
    kind: &'static dyn Kind,
    name: &'static str,
    /// See [`crate::redis::link::Link::slot_of_key`].
    slot: u16,
    lease_ms: u64,
    call: Call,
    asks: Vec<Ask>,
    /// Keeps other calls about these holds out meanwhile.
    round: Round,
}

/// Asks about the holds that are due. Gives the end of the last question if there may be more.
fn ask_about_due(redis: &Arc<Redis>) -> Option<JoinHandle<()>> {
    let now = Instant::now();
    let mut batches = Vec::<Batch>::new();
    // An owner with a call in flight is left out: that call sets its time, or the next round does. If its hold may be
    // lost, the watchdog looks once the call ends.
    let asked = redis.holds(|holds| {
        redis.gates.open(|entrance| holds.due(now, MOST, |claim, ask| add(redis, &mut batches, entrance, claim, ask)))
    });
    let asking = batches.into_iter().filter(|batch| !batch.asks.is_empty()).map(|batch| {
        let redis = redis.clone();
        tasks::spawn(async move { ask_about(&redis, batch).await })
    });
    asking.last().filter(|_| asked == MOST)
}

fn add(redis: &Redis, batches: &mut Vec<Batch>, entrance: &mut Entrance, claim: &Claim, ask: Ask) -> bool {
    let lease_ms = ask.lease.as_millis() as u64;
    let slot = redis.link.slot_of_key(multi::group(&claim.name));
    let client = &*redis.uuid;
    let same = |batch: &Batch| {
        batch.asks.len() < CALL && batch.slot == slot && batch.name == claim.kind && batch.lease_ms == lease_ms
    };
    let begun = batches.iter().position(same);
    let at = begun.unwrap_or(batches.len());
    if begun.is_none() {
        let Some(KindRow { kind, .. }) = kinds::find(claim.kind) else { return false };
        let Some(mut call) = kind.renew(client, lease_ms, false) else { return false };
        call.reserve(CALL);
        let asks = Vec::with_capacity(CALL);
        let round = redis.gates.round();
        batches.push(Batch { kind: *kind, name: claim.kind, slot, lease_ms, call, asks, round });
    }
    let batch = &mut batches[at];
    if !entrance.lets_in(&mut batch.round, claim) {
        return false;
    }
    batch.kind.renew_also(&mut batch.call, client, &claim.name, claim.owner);
    batch.asks.push(ask);
    true
}

/// Asks about one batch. Owners may release its holds as soon as it ends, even if other batches take longer.
async fn ask_about(redis: &Arc<Redis>, batch: Batch) {
    let is_split = ask(redis, &batch.call, &batch.asks).await;
    if !is_split || batch.asks.len() == 1 {
        return;
    }
    // While a slot moves, no server takes a call about keys of which it has only some. One key is at one server.
    let single = |(ask_of, claim): (&Ask, Option<Claim>)| {
        let claim = claim?;
        let mut call = batch.kind.renew(&redis.uuid, batch.lease_ms, false)?;
        batch.kind.renew_also(&mut call, &redis.uuid, &claim.name, claim.owner);
        let redis = redis.clone();
        let ask_of = *ask_of;
        Some(tasks::spawn(async move { ask(&redis, &call, &[ask_of]).await }))
    };
    let claims = redis.holds(|holds| holds.grips_of(&batch.asks));
    let asking: Vec<_> = batch.asks.iter().zip(claims).filter_map(single).collect();
    for asked in asking {
        let _ = asked.await;
    }
}

/// Sends a call about these holds. True: its keys are at two servers.
async fn ask(redis: &Arc<Redis>, call: &Call, asks: &[Ask]) -> bool {
    // The answer still counts within this time, and if none comes there is time for two more rounds.
    let leases = asks.iter().map(|ask| ask.lease).filter(|lease| !lease.is_zero());
    let shortest = leases.chain([redis.config.watchdog]).min().unwrap_or_default();
    let response = (shortest / 3).min(redis.config.response_timeout).max(LEAST);
    let limits = Limits { response, window: response };
    let mut sent = Instant::now();
    let (mut outcome, mut reports) = redis.link.run_told(call, limits).await;
    if matches!(outcome, Outcome::TooLate) {
        // The server ignored the call, and told its time: a second call comes in time.
        sent = Instant::now();
        (outcome, reports) = redis.link.run_told(call, limits).await;
    }
    let is_split = outcome.is_split();
    if !is_split && !matches!(outcome, Outcome::Reply(_)) {
        redis.counters.renewals_failed(asks.iter().filter(|ask| !ask.lease.is_zero()).count());
    }
    // Without an answer the state is unknown: the watchdog tries again a tenth of the lease later.
    match outcome {
        Outcome::Reply(reply) => {
            report(|| tracing::debug!(target: "redlatch::renew", "{} holds are asked about", asks.len()));
            let states = reply.text().unwrap_or_default();
            let incarnation = redis.link.incarnation();
            redis.holds(|holds| {
                let now = Instant::now();
                holds.answered(asks, &states, incarnation, reports == Reports::Yes, sent, now);
                if reports == Reports::NotYet {
                    holds.ask_again(asks, now);
                }
            });
        }
        Outcome::Refused(error) => {
            report(|| tracing::warn!(target: "redlatch::renew", "{} holds are not renewed: {error}", asks.len()))
        }
        outcome => {
            report(|| tracing::debug!(target: "redlatch::renew", "{} holds are not renewed: {outcome:?}", asks.len()))
        }
    }
    is_split
}
