//! One connection that everybody who waits for something else shares: waiters, renewals, async calls, messages.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind, RedisError, Value};
use tokio::time::timeout;

use super::clock::Clock;
use super::single::{Server, time_ms};
use super::{Limits, Outcome, no_script, packed};
use crate::error::Error;
use crate::script::Call;
use crate::wakes::Wakes;

pub struct Mux {
    server: Arc<Server>,
    clock: Arc<Clock>,
    wakes: Arc<Wakes>,
    now: Mutex<Option<Wire>>,
    /// Held by whoever opens the connection, so that only one does.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Wire {
    con: MultiplexedConnection,
    /// Set when the connection ends, before anything else can run: an error after that tells that the call was not sent.
    ended: Arc<AtomicBool>,
}

impl Mux {
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, wakes: Arc<Wakes>) -> Self {
        Mux { server, clock, wakes, now: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    pub async fn run(&self, call: &Call, limits: Limits) -> Outcome {
        let mut wire = match self.wire(limits.response).await {
            Ok(wire) => wire,
            Err(outcome) => return outcome,
        };
        let mut whole = false;
        loop {
            if wire.ended.load(SeqCst) {
                return Outcome::Unsent(self.server.unavailable("closed the connection", false));
            }
            let (sent, not_after) = (Instant::now(), self.clock.server_ms(limits.window));
            let unknown = |error| Outcome::Unknown { error, settled: sent + limits.window };
            let cmd = packed(call, not_after, whole);
            match timeout(limits.response, wire.con.send_packed_command(&cmd)).await {
                Err(_) => return unknown(self.server.unavailable("does not answer in time", true)),
                Ok(answer) => match answer.and_then(Value::extract_error) {
                    Ok(value) => return self.server.understood(value, &self.clock, sent),
                    Err(error) if no_script(&error) && !whole => whole = true,
                    Err(error) => {
                        let said_no = self.server.said_no(&call.what(), &error);
                        return said_no.unwrap_or_else(|| unknown(self.server.broken(&error)));
                    }
                },
            }
        }
    }

    pub async fn listen(&self, channel: &str, limit: Duration) -> Result<(), Error> {
        let mut wire = match self.wire(limit).await {
            Ok(wire) => wire,
            Err(Outcome::Unsent(error) | Outcome::Refused(error)) => return Err(error),
            Err(_) => return Err(self.server.unavailable("cannot be reached", false)),
        };
        match timeout(limit, wire.con.subscribe(channel)).await {
            Ok(Ok(())) => {
                if !wire.ended.load(SeqCst) {
                    self.wakes.proven(channel);
                }
                Ok(())
            }
            Ok(Err(error)) => match self.server.said_no("SUBSCRIBE", &error) {
                Some(Outcome::Unsent(error) | Outcome::Refused(error)) => Err(error),
                _ => Err(self.server.broken(&error)),
            },
            Err(_) => Err(self.server.unavailable("does not answer in time", true)),
        }
    }

    pub async fn unlisten(&self, channel: &str) {
        let wire = self.now.lock().expect("nothing panics while it is held").clone();
        let Some(mut wire) = wire.filter(|wire| !wire.ended.load(SeqCst)) else { return };
        if self.wakes.is_wanted(channel) {
            return;
        }
        let _ = timeout(self.server.connect_timeout, wire.con.unsubscribe(channel)).await;
        if self.wakes.is_wanted(channel) {
            // Somebody subscribed while the end was on its way, and may have been overtaken by it.
            let _ = self.listen(channel, self.server.connect_timeout).await;
            self.wakes.message(channel);
        }
    }

    pub fn close(&self) {
        self.now.lock().expect("nothing panics while it is held").take();
    }

    async fn wire(&self, limit: Duration) -> Result<Wire, Outcome> {
        let alive = || self.now.lock().expect("nothing panics while it is held").clone().filter(|wire| !wire.ended.load(SeqCst));
        if let Some(wire) = alive() {
            return Ok(wire);
        }
        let late = || Outcome::Unsent(self.server.unavailable("does not answer in time", true));
        let open = async {
            let _only_me = self.opening.lock().await;
            match alive() {
                Some(wire) => Ok(wire),
                None => self.open().await.map_err(|error| self.server.not_opened(&error)),
            }
        };
        timeout(limit.min(self.server.connect_timeout), open).await.unwrap_or_else(|_| Err(late()))
    }

    /// Opens the connection, listens again to every channel that anybody wants, and wakes them all: messages may have been missed.
    async fn open(&self) -> Result<Wire, RedisError> {
        let ended = Arc::new(AtomicBool::new(false));
        let (wakes, end) = (self.wakes.clone(), ended.clone());
        let config =
            redis::AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None).set_push_sender(move |push| {
                pushed(push, &wakes, &end);
                Ok::<(), std::convert::Infallible>(())
            });
        let mut con = self.server.pushing.get_multiplexed_async_connection_with_config(&config).await?;
        let asked = Instant::now();
        let (time,): ((i64, i64),) = self.server.greeting().query_async(&mut con).await?;
        self.clock.learn(time_ms(time), asked);
        let channels = self.wakes.wanted();
        if !channels.is_empty() {
            con.subscribe(&channels).await?;
        }
        let wire = Wire { con, ended };
        *self.now.lock().expect("nothing panics while it is held") = Some(wire.clone());
        for channel in &channels {
            self.wakes.proven(channel);
            self.wakes.message(channel);
        }
        Ok(wire)
    }
}

fn pushed(push: PushInfo, wakes: &Wakes, ended: &AtomicBool) {
    match push.kind {
        PushKind::Disconnection => {
            ended.store(true, SeqCst);
            wakes.disconnected();
        }
        PushKind::Message => {
            if let Some(Value::BulkString(channel)) = push.data.first() {
                wakes.message(&String::from_utf8_lossy(channel));
            }
        }
        _ => {}
    }
}
