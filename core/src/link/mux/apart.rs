//! Messages over a connection of their own: a server, or what stands before it, that knows only RESP2 lets a connection that listens do
//! nothing else.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{Msg, RedisResult};
use tokio::sync::Mutex;

use super::Mux;
use crate::link::wire::{State, Wire};
use crate::tasks;
use crate::wakes::Wakes;

/// Opened for the first channel. It ends with the connection that it belongs to, and that one with it.
#[derive(Default)]
pub struct Apart(Mutex<Option<PubSubSink>>);

impl Mux {
    pub(super) async fn subscribe_apart(&self, wire: &Wire, apart: &Apart, channels: &[String]) -> RedisResult<()> {
        let mut sink = apart.0.lock().await;
        if sink.is_none() {
            let (opened, messages) = self.server.blocking()?.get_async_pubsub().await?.split();
            *sink = Some(opened);
            tasks::spawn(hear(messages, self.wakes.clone(), wire.state()));
        }
        match &mut *sink {
            Some(sink) => sink.subscribe(channels).await,
            None => Ok(()),
        }
    }

    pub(super) async fn unsubscribe_apart(&self, apart: &Apart, channel: &str) -> RedisResult<()> {
        match &mut *apart.0.lock().await {
            Some(sink) => sink.unsubscribe(channel).await,
            None => Ok(()),
        }
    }
}

/// Tells of messages until either connection ends.
async fn hear(mut messages: PubSubStream, wakes: Arc<Wakes>, state: Arc<State>) {
    loop {
        tokio::select! {
            message = next(&mut messages) => match message {
                Some(message) => tell(&message, &wakes),
                None => break,
            },
            () = state.ended() => return,
        }
    }
    state.end();
    wakes.disconnected();
}

async fn next(messages: &mut PubSubStream) -> Option<Msg> {
    std::future::poll_fn(|cx| Pin::new(&mut *messages).poll_next(cx)).await
}

fn tell(message: &Msg, wakes: &Wakes) {
    let channel = message.get_channel_name();
    wakes.message(channel);
    wakes.events.message(channel, message.get_payload_bytes());
}
