//! A connection for many first tries at once: callers write to it themselves and do not wait, the I/O thread reads the answers. To have
//! that thread write as well would cost each call more than the call.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{FromRedisValue, InfoDict, RedisError, Value};
use tokio::time::timeout;

use super::clock::Clock;
use super::first::First;
use super::server::Server;
use crate::base::clock::Instant;
use crate::base::tasks;
use crate::redis::link::failover::incarnation::Incarnation;
use crate::redis::link::{Limits, Sent};

mod pipeline;
mod reading;
mod resp;

use pipeline::{Flight, Pipeline};

/// After so many first tries there is one: whoever makes a few is served by the mux.
const WORTH: usize = 32;
/// After a failure it is not tried again for so long.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Swift {
    server: Arc<Server>,
    clock: Arc<Clock>,
    incarnation: Arc<Incarnation>,
    pipeline: Mutex<Option<Arc<Pipeline>>>,
    /// First tries that went another way.
    missed: AtomicUsize,
    /// Something was sent since the last look.
    used: AtomicBool,
}

impl Swift {
    /// Opens nothing yet.
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, incarnation: Arc<Incarnation>) -> Self {
        Swift { server, clock, incarnation, pipeline: Mutex::default(), missed: AtomicUsize::new(0), used: AtomicBool::new(false) }
    }

    /// On the caller's thread. `later`: somebody will [`flush`](Swift::flush) soon. Gives the first try back if it has to go another way.
    pub fn send(&self, first: Box<dyn First>, limits: Limits, later: bool) -> Result<(), Box<dyn First>> {
        let Some(pipeline) = self.pipeline().clone() else { return Err(first) };
        let (sent, not_after) = (Instant::now(), self.clock.server_ms(limits.window));
        let copy = Sent { connection: pipeline.connection, over: sent + limits.window + self.clock.error() };
        self.used.store(true, Relaxed);
        pipeline.send(Flight { first, sent, copy, patience: limits.response }, not_after, &self.server.sharding, later)
    }

    /// Writes what was left for later; tells whether anything was sent since the last time.
    pub fn flush(&self) -> bool {
        let used = self.used.swap(false, Relaxed);
        let pipeline = if used { self.pipeline().clone() } else { None };
        pipeline.inspect(|pipeline| pipeline.flush());
        used
    }

    /// On the I/O thread: so many first tries went another way. Once it is worth it, a connection is opened for the next ones.
    pub fn missed(self: &Arc<Self>, count: usize) {
        let before = self.missed.fetch_add(count, Relaxed);
        // In quarantine every connection has to begin with who answers.
        let may_be = !self.server.address.is_tls() && self.incarnation.quarantine.is_none();
        if may_be && before < WORTH && before + count >= WORTH {
            let swift = self.clone();
            tasks::spawn(async move { swift.serve().await });
        }
    }

    /// From its opening to its end.
    async fn serve(self: Arc<Self>) {
        let opened = timeout(self.server.connect_timeout, self.open()).await;
        if let Ok(Ok(pipeline)) = opened {
            *self.pipeline() = Some(pipeline.clone());
            self.read(&pipeline).await;
            self.pipeline().take();
        } else {
            tokio::time::sleep(AGAIN).await;
        }
        self.missed.store(0, Relaxed);
    }

    /// Ends the connection, if there is one, at the end of the client: dropping a first try tells its caller of that.
    pub fn close(&self) {
        let pipeline = self.pipeline().take();
        pipeline.inspect(|pipeline| drop(pipeline.end()));
    }

    async fn open(&self) -> Result<Arc<Pipeline>, RedisError> {
        let mut greeting = redis::pipe();
        let info = self.server.blocking()?.get_connection_info().redis_settings().clone();
        if let Some(password) = info.password() {
            let words: Vec<&str> = info.username().into_iter().chain([password]).collect();
            greeting.cmd("AUTH").arg(words);
        }
        if info.db() != 0 {
            greeting.cmd("SELECT").arg(info.db());
        }
        for cmd in self.server.greeting().cmd_iter() {
            greeting.add_command(cmd.clone());
        }
        let (stream, answers) = reading::greet(&self.server.address, &greeting).await?;
        let mut id = None;
        for answer in answers {
            match answer.extract_error() {
                Ok(Value::Int(number)) => id = Some(number),
                // The only text of more than a word, and the last answer.
                Ok(info @ Value::BulkString(_)) => self.incarnation.note(InfoDict::from_redis_value(info).ok()),
                Ok(_) => {}
                // Without a name or a number it works too; without rights it does not.
                Err(error) if error.code() == Some("ERR") || error.code() == Some("NOPERM") => {}
                Err(error) => return Err(error),
            }
        }
        let connection = id.map(|id| (self.incarnation.number(), id));
        Ok(Arc::new(Pipeline::new(stream, connection)))
    }

    fn pipeline(&self) -> MutexGuard<'_, Option<Arc<Pipeline>>> {
        self.pipeline.lock().expect("nothing panics while it is held")
    }
}
