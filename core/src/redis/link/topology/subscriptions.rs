//! Listens to channels of several servers: at the server that publishes each one now.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::Topology;
use super::hash_slots::of_channel;
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::redis::link::connection::multiplexed::Multiplexed;
use crate::request::error::Result;

/// The time that one server may take to confirm a subscription.
const LISTEN: Duration = Duration::from_secs(2);
/// The pause between two attempts to listen.
const RETRY: Duration = Duration::from_millis(50);

impl Topology {
    pub async fn listen(self: &Arc<Self>, channel: &str, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        self.keep();
        loop {
            let left = end.saturating_duration_since(Instant::now()).min(LISTEN);
            let heard = async {
                let owner = self.owner(self.slot_of_channel(channel), end).await?;
                for sharded in self.sharding.listening(channel) {
                    owner.ear(*sharded).listen(channel, left).await?;
                }
                Ok(())
            };
            match heard.await {
                Err(_) if Instant::now() + RETRY < end => self.doubt_owner(self.slot_of_channel(channel)),
                heard => return heard,
            }
            sleep(RETRY).await;
        }
    }

    pub async fn unlisten(&self, channel: &str) {
        let nodes: Vec<_> = self.nodes().values().cloned().collect();
        for node in nodes {
            for sharded in self.sharding.listening(channel) {
                let ear = node.ear(*sharded).clone();
                let channel = channel.to_owned();
                // Nothing waits for a silent server.
                tasks::spawn(async move { ear.unlisten(&channel).await });
            }
        }
    }

    /// Listens to each channel at the server that publishes it now, and at no other.
    pub async fn tune(self: &Arc<Self>) {
        let map = self.map();
        let nodes: Vec<_> = self.nodes().values().cloned().collect();
        for channel in self.wakes.wanted() {
            let Some(owner) = map.owner(self.slot_of_channel(&channel)) else { continue };
            for sharded in self.sharding.listening(&channel) {
                for node in nodes.iter().filter(|node| !Arc::ptr_eq(node, owner)) {
                    node.ear(*sharded).drop_channel(&channel);
                }
                self.turn(owner.ear(*sharded), &channel);
            }
        }
    }

    /// Listens there, unless the connection does already.
    fn turn(&self, ear: &Arc<Multiplexed>, channel: &str) {
        if ear.hears(channel) {
            return self.wakes.proven(channel);
        }
        let wakes = self.wakes.clone();
        let ear = ear.clone();
        let channel = channel.to_owned();
        tokio::spawn(async move {
            if ear.listen(&channel, LISTEN).await.is_ok() {
                // The listeners may have missed messages.
                wakes.message(&channel);
            }
            // The last listener may have left meanwhile, when there was no connection on which to unsubscribe.
            ear.unlisten(&channel).await;
        });
    }

    fn slot_of_channel(&self, channel: &str) -> u16 {
        if self.is_cluster() { of_channel(channel) } else { 0 }
    }
}
