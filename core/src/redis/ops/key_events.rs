//! Listening for the end or the deletion of an object's key, by the server's keyspace events.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::base::tasks;
use crate::redis::Live;
use crate::redis::kinds::multi;
use crate::redis::link::key_events::{Source, unknown};
use crate::redis::link::wakes::Listener;
use crate::redis::target::Target;
use crate::request::error::Result;
use crate::request::{Answer, Done, Op};

/// Between two attempts to listen again, and how long one may take.
const AGAIN: Duration = Duration::from_secs(1);

/// Begins to listen; answers, with the subscription's number, once the server has confirmed it.
pub async fn subscribe(target: Target, op: Op) -> Result<Answer> {
    let (live, limit) = (&target.live, target.retry_for.max(target.response));
    let flags = live.link.notifications(limit).await?;
    let source = Source::choose(op, flags.as_deref(), live.config.database, multi::group(&target.slot.name))?;
    let (channel, (kept, end)) = (source.channel.clone(), oneshot::channel());
    let listener = live.wakes.join(&channel);
    let number = live.wakes.events.add(source, kept);
    let listened = live.link.listen(&channel, limit).await;
    tasks::spawn(keep(Arc::downgrade(live), channel, listener, end));
    match listened {
        Ok(()) => Ok(Answer::done(number as i64)),
        Err(error) => {
            leave(live, number);
            Err(error)
        }
    }
}

/// Listens again whenever the connection was lost; at the end, ends the subscription if it was the channel's last.
async fn keep(live: Weak<Live>, channel: String, mut listener: Listener, mut end: oneshot::Receiver<()>) {
    let listen_again = async {
        loop {
            listener.heard().await;
            while !listener.is_proven() {
                let Some(live) = live.upgrade() else { return };
                if live.link.listen(&channel, AGAIN).await.is_err() {
                    drop(live);
                    sleep(AGAIN).await;
                }
            }
        }
    };
    tokio::select! {
        () = listen_again => {}
        _ = &mut end => {}
    }
    let Some(live) = live.upgrade() else { return };
    if live.wakes.leave(&channel, listener) {
        live.link.unlisten(&channel).await;
    }
}

/// Waits for the next event.
pub fn next(live: &Arc<Live>, number: u64, ticket: u64, done: Done) {
    if let Some((done, answer)) = live.wakes.events.next(number, ticket, done, || live.closed_error()) {
        done(answer);
    }
}

/// Ends a subscription; answers with the count of the events that nobody was told of.
pub fn end(live: &Arc<Live>, number: u64, done: Done) {
    done(leave(live, number).map_or_else(|| Err(unknown(number)), |heard| Ok(Answer::done(heard))));
}

/// Ends the subscription whose next event a request waits for.
pub fn cancel(live: &Arc<Live>, ticket: u64) {
    let number = live.wakes.events.find(ticket);
    if let Some(number) = number {
        leave(live, number);
    }
}

fn leave(live: &Arc<Live>, number: u64) -> Option<i64> {
    let subscription = live.wakes.events.remove(number)?;
    if let Some((_, done)) = subscription.waiting {
        done(Err(live.cancelled_error()));
    }
    Some(subscription.heard)
}
