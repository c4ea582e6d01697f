//! Up to four blocking connections, each driven by the calling thread: the quickest way for a thread that waits anyway.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::{FromRedisValue, Pipeline, RedisResult, Value};

use super::clock::Clock;
use super::encoding::{self, Stamp};
use super::server::{Greeted, Server, time_ms};
use super::socket::Socket;
use super::wire::left;
use crate::base::clock::Instant;
use crate::redis::kinds::reply::Reply;
use crate::redis::kinds::script::Call;
use crate::redis::link::failover::incarnation::Incarnation;
use crate::redis::link::failover::quarantine::Identity;
use crate::redis::link::{ConnectionId, Elsewhere, Limits, Outcome, Sent, is_half_done, no_script};

const MOST: usize = 4;
/// After this idle time a connection asks for a sign of life first: the server may have closed it meanwhile.
const FRESH: Duration = Duration::from_secs(1);
/// The time for that sign of life; without it the call goes over the multiplexed connection instead.
const SIGN: Duration = Duration::from_millis(500);
/// The next answer is likely to come within this many times the time of the last one.
const LIKELY: u32 = 4;

pub struct Blocking {
    server: Arc<Server>,
    clock: Arc<Clock>,
    incarnation: Arc<Incarnation>,
    idle: Mutex<Vec<Pooled>>,
    open: AtomicUsize,
    /// The time of the last answer, in microseconds.
    took: AtomicU64,
}

struct Pooled {
    con: Socket,
    id: Option<ConnectionId>,
    /// The bytes of the last request: their memory serves the next one.
    request: Vec<u8>,
    response: Duration,
    used: Instant,
}

impl Pooled {
    fn patience(&mut self, response: Duration) -> redis::RedisResult<()> {
        if self.response != response {
            self.con.set_read_timeout(response)?;
            self.response = response;
        }
        Ok(())
    }
}

impl Blocking {
    pub fn new(server: Arc<Server>, clock: Arc<Clock>, incarnation: Arc<Incarnation>) -> Self {
        Blocking {
            server,
            clock,
            incarnation,
            idle: Mutex::default(),
            open: AtomicUsize::default(),
            took: AtomicU64::default(),
        }
    }

    /// Runs a call; `None`: all connections are in use.
    pub fn run(&self, call: &Call, mut limits: Limits) -> Option<Result<Outcome, Elsewhere>> {
        let idle = self.idle().pop();
        let mut pooled = match idle {
            Some(pooled) => pooled,
            None if self.open.fetch_add(1, AcqRel) >= MOST => {
                self.open.fetch_sub(1, AcqRel);
                return None;
            }
            None => {
                let end = Instant::now() + limits.response;
                match self.connect(end) {
                    Ok(pooled) => {
                        limits.response = left(end);
                        pooled
                    }
                    Err(outcome) => {
                        self.open.fetch_sub(1, AcqRel);
                        return Some(Ok(outcome));
                    }
                }
            }
        };
        match self.send(&mut pooled, call, limits) {
            Ok(outcome) => {
                pooled.used = Instant::now();
                self.idle().push(pooled);
                Some(outcome)
            }
            Err(outcome) => {
                self.open.fetch_sub(1, AcqRel);
                Some(Ok(outcome))
            }
        }
    }

    /// Tells whether a connection is idle, and the server is so near that its answer is likely to come within `inside`.
    pub fn is_likely_within(&self, inside: Duration) -> bool {
        !self.idle().is_empty() && LIKELY * Duration::from_micros(self.took.load(Relaxed)) <= inside
    }

    /// Tells whether no server listens there, and none ever did as far as this client knows.
    pub fn is_absent(&self) -> bool {
        self.server.is_absent()
    }

    pub fn close(&self) {
        let closed = std::mem::take(&mut *self.idle());
        self.open.fetch_sub(closed.len(), AcqRel);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Pooled>> {
        self.idle.lock().expect("nothing panics while it is held")
    }

    fn connect(&self, end: Instant) -> Result<Pooled, Outcome> {
        let end = end.min(Instant::now() + self.server.connect_timeout);
        // The redis crate starts its time-out anew for the connection and for each reply of the handshake.
        let limit = (left(end) / 3).max(Duration::from_millis(1));
        let opened = |error| self.server.not_opened(&error);
        let mut con = self.server.socket(limit).map_err(opened)?;
        self.server.note_reached();
        con.set_write_timeout(left(end)).map_err(opened)?;
        let asked = Instant::now();
        let (id, time, run): Greeted = last_answers(&mut con, &self.server.greeting(), 3, end).map_err(opened)?;
        self.clock.learn(time_ms(time.map_err(opened)?), asked);
        if let Some(quarantine) = &self.incarnation.quarantine {
            quarantine.met(Identity::read(last_answers(&mut con, &Identity::questions(), 2, end).map_err(opened)?));
        }
        self.incarnation.note(run.ok());
        let id = id.ok().map(|number| ConnectionId { incarnation: self.incarnation.number(), number });
        // The first call sets its own time-out: no call has this one.
        Ok(Pooled { con, id, request: Vec::new(), response: Duration::ZERO, used: Instant::now() })
    }

    /// Sends a call. An `Err` ends the connection.
    fn send(
        &self,
        pooled: &mut Pooled,
        call: &Call,
        mut limits: Limits,
    ) -> Result<Result<Outcome, Elsewhere>, Outcome> {
        let not_sent = |error| Outcome::Unsent(self.server.broken(&error));
        if pooled.used.elapsed() > FRESH {
            let end = Instant::now() + limits.response;
            pooled.patience(limits.response.min(SIGN)).map_err(not_sent)?;
            let ping = redis::cmd("PING").get_packed_command();
            let sign = pooled.con.send(&ping).and_then(|()| pooled.con.receive()?.extract_error().map(drop));
            // A server that refuses even this has answered.
            sign.or_else(|error| error.code().is_some().then_some(()).ok_or(error)).map_err(not_sent)?;
            limits.response = left(end);
        }
        if let Some(objection) = self.incarnation.objection(call) {
            return Ok(Ok(objection));
        }
        pooled.patience(limits.response).map_err(not_sent)?;
        let mut whole = false;
        loop {
            let sent = Instant::now();
            let not_after = self.clock.server_ms(limits.window);
            pooled.request.clear();
            encoding::write(
                &mut pooled.request,
                call,
                Stamp { whole, ..Stamp::first(not_after, &self.server.sharding) },
            );
            pooled.con.send(&pooled.request).map_err(not_sent)?;
            let copy = || Sent { connection: pooled.id, over: sent + limits.window + self.clock.error() };
            match pooled.con.receive().and_then(|value| value.extract_error()) {
                Ok(value) => {
                    self.took.store(sent.elapsed().as_micros() as u64, Relaxed);
                    return match Reply::read(value) {
                        Some(reply) => Ok(Ok(self.server.understood(reply, &self.clock, sent))),
                        None => Err(Outcome::Unknown { error: self.server.nonsense(), copy: copy() }),
                    };
                }
                Err(error) if no_script(&error) && !whole => {
                    whole = true;
                    pooled.patience(left(sent + limits.response)).map_err(not_sent)?;
                }
                Err(error) => {
                    let copy = copy();
                    return match (self.server.redirection(&error), self.server.refused_call(call, &error)) {
                        (Some(elsewhere), _) => Ok(Err(elsewhere)),
                        _ if is_half_done(&error) => Ok(Ok(Outcome::Unknown { error: self.server.moving(), copy })),
                        (None, Some(outcome)) => Ok(Ok(outcome)),
                        (None, None) => Err(Outcome::Unknown { error: self.server.broken(&error), copy }),
                    };
                }
            }
        }
    }
}

/// Asks all of these questions and gives the answers to the last `count`, all by `end`. The redis crate would start its
/// time-out anew for each answer, and would go on waiting after an answer that did not come.
fn last_answers<T: FromRedisValue>(
    con: &mut Socket,
    questions: &Pipeline,
    count: usize,
    end: Instant,
) -> RedisResult<T> {
    // The TLS handshake comes with the first write, and it reads.
    con.set_read_timeout(left(end))?;
    con.send(&questions.get_packed_pipeline())?;
    let mut answers = Vec::new();
    for _ in questions.cmd_iter() {
        con.set_read_timeout(left(end))?;
        answers.push(con.receive()?);
    }
    let last = answers.split_off(answers.len().saturating_sub(count));
    Ok(T::from_redis_value(Value::Array(last))?)
}
