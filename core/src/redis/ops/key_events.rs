//! Listens for the end or the deletion of an object's key, by the server's keyspace events.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::base::tasks;
use crate::redis::Redis;
use crate::redis::kinds::multi;
use crate::redis::link::key_events::{Source, unknown};
use crate::redis::link::wakes::Listener;
use crate::redis::target::Target;
use crate::request::error::Result;
use crate::request::{Answer, Done, Op};

/// The pause between two attempts to listen again, and the time limit of one.
const AGAIN: Duration = Duration::from_secs(1);

/// Begins to listen. Answers with the subscription's number, once the server has confirmed it.
pub async fn subscribe(target: Target, op: Op) -> Result<Answer> {
    let redis = &target.redis;
    let limit = target.retry_for.max(target.response);
    let flags = redis.link.notifications(limit).await?;
    let source = Source::choose(op, flags.as_deref(), redis.config.database, multi::group(&target.claim.name))?;
    let channel = source.channel.clone();
    let (kept, end) = oneshot::channel();
    let listener = redis.wakes.join(&channel);
    let number = redis.wakes.events.add(source, kept);
    let listened = redis.link.listen(&channel, limit).await;
    tasks::spawn(keep(Arc::downgrade(redis), channel, listener, end));
    match listened {
        Ok(()) => Ok(Answer::done(number as i64)),
        Err(error) => {
            leave(redis, number);
            Err(error)
        }
    }
}

/// Listens again whenever the connection was lost. At the end it unsubscribes, if this was the last listener of the
/// channel.
async fn keep(redis: Weak<Redis>, channel: String, mut listener: Listener, mut end: oneshot::Receiver<()>) {
    let listen_again = async {
        loop {
            listener.heard().await;
            while !listener.is_proven() {
                let Some(redis) = redis.upgrade() else { return };
                if redis.link.listen(&channel, AGAIN).await.is_err() {
                    drop(redis);
                    sleep(AGAIN).await;
                }
            }
        }
    };
    tokio::select! {
        () = listen_again => {}
        _ = &mut end => {}
    }
    let Some(redis) = redis.upgrade() else { return };
    if redis.wakes.leave(&channel, listener) {
        redis.link.unlisten(&channel).await;
    }
}

/// Waits for the next event.
pub fn next(redis: &Arc<Redis>, number: u64, ticket: u64, done: Done) {
    if let Some((done, answer)) = redis.wakes.events.next(number, ticket, done, || redis.closed_error()) {
        done(answer);
    }
}

/// Ends a subscription. Answers with the number of events that its listener has not heard of.
pub fn end(redis: &Arc<Redis>, number: u64, done: Done) {
    done(leave(redis, number).map_or_else(|| Err(unknown(number)), |heard| Ok(Answer::done(heard))));
}

/// Ends the subscription whose next event a request waits for.
pub fn cancel(redis: &Arc<Redis>, ticket: u64) {
    let number = redis.wakes.events.find(ticket);
    if let Some(number) = number {
        leave(redis, number);
    }
}

fn leave(redis: &Arc<Redis>, number: u64) -> Option<i64> {
    let subscription = redis.wakes.events.remove(number)?;
    if let Some((_, done)) = subscription.waiting {
        done(Err(redis.cancelled_error()));
    }
    Some(subscription.heard)
}
