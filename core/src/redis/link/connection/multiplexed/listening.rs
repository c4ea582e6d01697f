//! Channels: those that this connection listens to, and those that the next one must listen to.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use redis::{RedisError, RedisResult};
use tokio::time::sleep;

use super::Multiplexed;
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::redis::link::Outcome;
use crate::redis::link::connection::wire::{NoAnswer, Wire};
use crate::request::error::Error;

/// The pause between two attempts to listen while the server cannot be reached.
const RETRY: Duration = Duration::from_millis(50);

impl Multiplexed {
    pub async fn listen(self: &Arc<Self>, channel: &str, limit: Duration) -> Result<(), Error> {
        let end = Instant::now() + limit;
        self.channels().entry(channel.to_owned()).or_default();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let error = match self.wire(left).await {
                Ok(wire) => match wire.ask(self.subscribe(&wire, &[channel.to_owned()]), left).await {
                    Ok(Ok(())) if wire.is_over() => self.silent(NoAnswer::Over),
                    Ok(Ok(())) => {
                        tracing::debug!(target: "redlatch::pubsub", "listens to {channel}");
                        self.confirm(channel);
                        return Ok(());
                    }
                    Ok(Err(error)) => match self.server.said_no("SUBSCRIBE", &error) {
                        Some(Outcome::Unsent(error) | Outcome::Refused(error)) => return Err(error),
                        _ => self.broken(&wire, &error),
                    },
                    Err(silence) => self.silent(silence),
                },
                Err(Outcome::Unsent(error)) => error,
                Err(Outcome::Refused(error)) => return Err(error),
                Err(_) => self.server.unavailable("cannot be reached", false),
            };
            if Instant::now() + RETRY >= end {
                return Err(error);
            }
            sleep(RETRY).await;
        }
    }

    pub async fn unlisten(self: &Arc<Self>, channel: &str) {
        while let Some(wire) = self.now().filter(|_| !self.wakes.is_wanted(channel)) {
            let _ = wire.ask(self.unsubscribe(&wire, channel), self.server.connect_timeout).await;
            tracing::debug!(target: "redlatch::pubsub", "listens no more to {channel}");
            if !self.wakes.is_wanted(channel) {
                self.channels().remove(channel);
                return;
            }
            // A listener subscribed while the unsubscribe was on its way, and the server may have carried them out in
            // the other order. The listener may also be gone again by now.
            let _ = self.listen(channel, self.server.connect_timeout).await;
            self.wakes.message(channel);
        }
    }

    pub(super) async fn subscribe(&self, wire: &Wire, channels: &[String]) -> RedisResult<()> {
        if let Some(apart) = &wire.apart {
            return if channels.is_empty() { Ok(()) } else { self.subscribe_apart(wire, apart, channels).await };
        }
        let mut con = wire.con.clone();
        if !self.sharded {
            return if channels.is_empty() { Ok(()) } else { con.subscribe(channels).await };
        }
        for channel in channels {
            redis::cmd("SSUBSCRIBE").arg(channel).exec_async(&mut con).await?;
        }
        Ok(())
    }

    /// Subscribes, and gives the channels that the server allows. If it refuses a channel, only the listener of that
    /// channel fails, by its own attempt: all other calls still need the connection.
    pub(super) async fn subscribe_to_allowed(&self, wire: &Wire, channels: Vec<String>) -> RedisResult<Vec<String>> {
        let is_refused =
            |error: &RedisError| matches!(self.server.said_no("SUBSCRIBE", error), Some(Outcome::Refused(_)));
        match self.subscribe(wire, &channels).await {
            Err(error) if is_refused(&error) => {}
            subscribed => return subscribed.map(|()| channels),
        }
        let mut allowed = Vec::new();
        for channel in channels {
            match self.subscribe(wire, std::slice::from_ref(&channel)).await {
                Ok(()) => allowed.push(channel),
                Err(error) if is_refused(&error) => drop(self.channels().remove(&channel)),
                Err(error) => return Err(error),
            }
        }
        Ok(allowed)
    }

    async fn unsubscribe(&self, wire: &Wire, channel: &str) -> RedisResult<()> {
        if let Some(apart) = &wire.apart {
            return self.unsubscribe_apart(apart, channel).await;
        }
        let mut con = wire.con.clone();
        if self.sharded {
            redis::cmd("SUNSUBSCRIBE").arg(channel).exec_async(&mut con).await
        } else {
            con.unsubscribe(channel).await
        }
    }

    /// Tells whether this connection listens to this channel, and the server has confirmed it.
    pub fn hears(&self, channel: &str) -> bool {
        self.now().is_some() && self.channels().get(channel).copied().unwrap_or_default()
    }

    /// Stops listening to this channel here, even if a listener wants it: another server sends its messages now.
    pub fn drop_channel(self: &Arc<Self>, channel: &str) {
        let dropped = self.channels().remove(channel);
        if let Some(wire) = self.now().filter(|_| dropped.is_some()) {
            let multiplexed = self.clone();
            let channel = channel.to_owned();
            tasks::spawn(async move {
                let _ = wire.ask(multiplexed.unsubscribe(&wire, &channel), multiplexed.server.connect_timeout).await;
            });
        }
    }

    /// Notes that the server has confirmed a subscription on the present connection.
    pub(super) fn confirm(&self, channel: &str) {
        self.channels().insert(channel.to_owned(), true);
        self.wakes.proven(channel);
    }

    /// The channels to listen to here.
    pub fn channels_wanted(&self) -> Vec<String> {
        let mut channels = self.channels();
        channels.retain(|channel, _| self.wakes.is_wanted(channel));
        channels.keys().cloned().collect()
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.channels.lock().expect("nothing panics while it is held")
    }
}
