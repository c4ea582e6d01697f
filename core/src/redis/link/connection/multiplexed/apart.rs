//! Messages over a connection of their own. A server or proxy that knows only RESP2 does not let a listening connection
//! do anything else.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{Msg, RedisResult, Value};
use tokio::sync::Mutex;

use super::Multiplexed;
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::redis::link::connection::wire::{State, Wire};
use crate::redis::link::wakes::Wakes;

/// Opened for the first channel. It ends with the connection that it belongs to, and that one ends with it.
#[derive(Default)]
pub struct Apart {
    sink: Mutex<Option<PubSubSink>>,
    /// The time of its last answer; `None`: it is not open yet.
    heard: std::sync::Mutex<Option<Instant>>,
}

impl Apart {
    pub fn heard(&self) -> Option<Instant> {
        *self.heard.lock().expect("nothing panics while it is held")
    }

    /// Asks for a sign of life; a server that refuses even this has answered.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn sign(&self) -> RedisResult<()> {
        let sink = self.sink.lock().await.clone();
        let Some(mut sink) = sink else { return Ok(()) };
        match sink.ping::<Value>().await {
            Err(error) if error.code().is_none() => return Err(error),
            _ => self.answered(),
        }
        Ok(())
    }

    fn answered(&self) {
        *self.heard.lock().expect("nothing panics while it is held") = Some(Instant::now());
    }
}

impl Multiplexed {
    pub(super) async fn subscribe_apart(&self, wire: &Wire, apart: &Apart, channels: &[String]) -> RedisResult<()> {
        let mut sink = apart.sink.lock().await;
        if sink.is_none() {
            let (opened, messages) = self.server.messages().await?.split();
            *sink = Some(opened);
            apart.answered();
            tasks::spawn(hear(messages, self.wakes.clone(), wire.state()));
        }
        match &mut *sink {
            Some(sink) => sink.subscribe(channels).await.inspect(|()| apart.answered()),
            None => Ok(()),
        }
    }

    pub(super) async fn unsubscribe_apart(&self, apart: &Apart, channel: &str) -> RedisResult<()> {
        match &mut *apart.sink.lock().await {
            Some(sink) => sink.unsubscribe(channel).await,
            None => Ok(()),
        }
    }
}

/// Passes messages on until one of the two connections ends.
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
