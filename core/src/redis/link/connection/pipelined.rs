//! A connection for many first tries at once. The callers write to it themselves and do not wait; the I/O thread reads
//! the answers. If that thread wrote as well, each call would cost more than the call itself.

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
use crate::redis::link::{ConnectionId, Limits, Sent};

mod pipeline;
mod reading;
mod resp;

use pipeline::{Flight, Pipeline};

/// The number of first tries after which the connection is opened; the multiplexed connection serves fewer ones.
const WORTH: usize = 32;
/// The pause after a failure before the next attempt.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Pipelined {
    server: Arc<Server>,
    clock: Arc<Clock>,
    incarnation: Arc<Incarnation>,
    pipeline: Mutex<Option<Arc<Pipeline>>>,
    /// First tries that went another way.
    missed: AtomicUsize,
    /// A caller has sent something since the last look.
    used: AtomicBool,
}

impl Pipelined {
    /// Opens no connection yet.
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, incarnation: Arc<Incarnation>) -> Self {
        Pipelined {
            server,
            clock,
            incarnation,
            pipeline: Mutex::default(),
            missed: AtomicUsize::new(0),
            used: AtomicBool::new(false),
        }
    }

    /// Sends a first try on the caller's thread. `later`: a thread will [`flush`](Pipelined::flush) soon. Gives the try
    /// back if it has to go another way.
    pub fn send(&self, first: Box<dyn First>, limits: Limits, later: bool) -> Result<(), Box<dyn First>> {
        let Some(pipeline) = self.pipeline().clone() else { return Err(first) };
        let sent = Instant::now();
        let not_after = self.clock.server_ms(limits.window);
        let copy = Sent { connection: pipeline.id, over: sent + limits.window + self.clock.error() };
        self.used.store(true, Relaxed);
        pipeline.send(Flight { first, sent, copy, patience: limits.response }, not_after, &self.server.sharding, later)
    }

    /// Writes the calls that were left for later. Tells whether a caller has sent something since the last time.
    pub fn flush(&self) -> bool {
        let used = self.used.swap(false, Relaxed);
        let pipeline = if used { self.pipeline().clone() } else { None };
        pipeline.inspect(|pipeline| pipeline.flush());
        used
    }

    /// Counts first tries that went another way; runs on the I/O thread. Once there are enough, it opens a connection
    /// for the next ones.
    pub fn missed(self: &Arc<Self>, count: usize) {
        let before = self.missed.fetch_add(count, Relaxed);
        // In quarantine every connection must first learn the identity of its server.
        let may_be = !self.server.address.is_tls() && self.incarnation.quarantine.is_none();
        if may_be && before < WORTH && before + count >= WORTH {
            let pipelined = self.clone();
            tasks::spawn(async move { pipelined.serve().await });
        }
    }

    /// Runs the connection from its opening to its end.
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

    /// Ends the connection, if there is one, at the end of the client. The drop of each first try tells its caller.
    pub fn close(&self) {
        let pipeline = self.pipeline().take();
        pipeline.inspect(|pipeline| drop(pipeline.end()));
    }

    async fn open(&self) -> Result<Arc<Pipeline>, RedisError> {
        let mut greeting = redis::pipe();
        let info = self.server.login()?;
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
                // This is the last answer, and the only text of more than a word.
                Ok(info @ Value::BulkString(_)) => self.incarnation.note(InfoDict::from_redis_value(info).ok()),
                Ok(_) => {}
                // The connection works without a name and a number, but not without a login.
                Err(error) if error.code() == Some("ERR") || error.code() == Some("NOPERM") => {}
                Err(error) => return Err(error),
            }
        }
        let id = id.map(|number| ConnectionId { incarnation: self.incarnation.number(), number });
        Ok(Arc::new(Pipeline::new(stream, id)))
    }

    fn pipeline(&self) -> MutexGuard<'_, Option<Arc<Pipeline>>> {
        self.pipeline.lock().expect("nothing panics while it is held")
    }
}
