//! The quarantine of a server that may have lost locks: it grants nothing new, because the holders of those locks may
//! not know yet. After the longest lease no holder believes in a lost lock any more.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{InfoDict, RedisResult};

use crate::base::clock::Instant;
use crate::redis::kinds::script::Call;
use crate::redis::link::Outcome;
use crate::request::error::Error;

/// Two ends of a quarantine that differ by less are one.
const SAME: Duration = Duration::from_millis(10);

/// The longest lease that this client knows of, in ms.
pub struct Longest(AtomicU64);

impl Longest {
    pub fn new(lease: Duration) -> Self {
        Longest(AtomicU64::new(lease.as_millis() as u64))
    }

    /// Notes that there are leases of this length too.
    pub fn note(&self, lease: Duration) {
        self.0.fetch_max(lease.as_millis() as u64, Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_millis(self.0.load(Relaxed))
    }
}

/// The identity of a server, as the server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The run of the server; it changes with every start.
    pub run: String,
    /// The time that it has run, in seconds.
    uptime: u64,
    pub is_master: bool,
    /// The name of the history of its data: of all writes since it became a master, or since its master did.
    pub history: String,
    /// The history that this one continues, and the place where that one ended.
    pub former: String,
    pub parted: i64,
}

/// The server's answers to [`Identity::questions`].
pub type Said = (RedisResult<InfoDict>, RedisResult<InfoDict>);

impl Identity {
    pub fn questions() -> redis::Pipeline {
        let mut pipe = redis::pipe();
        pipe.ignore_errors().cmd("INFO").arg("server").cmd("INFO").arg("replication");
        pipe
    }

    /// Tells whether this is the same process with the same data; it may have been a replica, and be a master now.
    fn goes_on_from(&self, known: &Identity) -> bool {
        self.run == known.run && (self.history == known.history || self.former == known.history)
    }

    /// Reads the answers; `None`: the server does not tell its identity.
    pub fn read((server, replication): Said) -> Option<Identity> {
        let server = server.ok()?;
        let replication = replication.ok()?;
        Some(Identity {
            run: server.get("run_id")?,
            uptime: server.get("uptime_in_seconds")?,
            is_master: replication.get::<String>("role")? == "master",
            history: replication.get("master_replid").unwrap_or_default(),
            former: replication.get("master_replid2").unwrap_or_default(),
            parted: replication.get("second_repl_offset").unwrap_or(-1),
        })
    }
}

/// The quarantine of one server.
pub struct Quarantine {
    server: String,
    longest: Arc<Longest>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last identity; `None`: no server has answered yet, or it does not tell its identity.
    known: Option<Identity>,
    doubts: Vec<Doubt>,
    last: u64,
    /// The end of the quarantine that the log has told.
    told: Option<Instant>,
}

/// A reason for quarantine: locks may be lost that the server granted until `age` before `noticed`.
struct Doubt {
    number: u64,
    noticed: Instant,
    age: Duration,
}

impl Quarantine {
    pub fn new(server: &str, longest: Arc<Longest>) -> Self {
        Quarantine { server: server.to_owned(), longest, state: Mutex::default() }
    }

    /// Notes the identity of the server behind a new connection. The connection calls it before it sends anything else.
    pub fn met(&self, who: Option<Identity>) {
        let mut state = self.state();
        let news = match (&state.known, &who) {
            (Some(known), Some(who)) if who.goes_on_from(known) => None,
            (Some(_), Some(_)) => {
                self.add(&mut state, Duration::ZERO, "is not the one that it was: it may have lost its data")
            }
            // The server counts whole seconds: it may have started up to one second later.
            (None, Some(who)) => {
                let age = Duration::from_secs(who.uptime.saturating_sub(1));
                self.add(&mut state, age, "has only just started: there may have been locks before")
            }
            (_, None) => None,
        };
        state.known = who;
        drop(state);
        self.warn(news);
    }

    pub fn known(&self) -> Option<Identity> {
        self.state().known.clone()
    }

    /// Begins a quarantine for as long as a lease may last. It ends earlier if [`Quarantine::clear`] gets the number
    /// that this gives.
    pub fn doubt(&self, why: &'static str) -> u64 {
        let mut state = self.state();
        let news = self.add(&mut state, Duration::ZERO, why);
        let number = state.last;
        drop(state);
        self.warn(news);
        number
    }

    pub fn clear(&self, number: u64) {
        self.state().doubts.retain(|doubt| doubt.number != number);
        tracing::info!(target: "redlatch::quarantine", "{} is shown to have lost nothing", self.server);
    }

    /// The time for which the server still grants nothing.
    pub fn rest(&self) -> Option<Duration> {
        let longest = self.longest.get();
        self.state().doubts.iter().filter_map(|doubt| doubt.rest(longest)).max()
    }

    /// The outcome of a call that must not go out now; `None`: it may.
    pub fn objection(&self, call: &Call) -> Option<Outcome> {
        if !call.grants {
            return None;
        }
        if self.state().known.is_none() {
            let why = "does not tell its identity (INFO), which the option quarantine needs; allow INFO, or leave the option out";
            return Some(Outcome::Refused(Error::Unsupported(format!("{} {why}", self.server))));
        }
        let rest = self.rest()?;
        let why = "may have lost locks with a lease as long as one that this client has asked for";
        let news = News::of(&mut self.state(), rest, why);
        self.warn(news);
        Some(Outcome::HeldBack(rest))
    }

    fn add(&self, state: &mut State, age: Duration, why: &'static str) -> Option<News> {
        let longest = self.longest.get();
        state.doubts.retain(|doubt| doubt.rest(longest).is_some());
        state.last += 1;
        let doubt = Doubt { number: state.last, noticed: Instant::now(), age };
        let news = doubt.rest(longest).and_then(|rest| News::of(state, rest, why));
        state.doubts.push(doubt);
        news
    }

    /// Warns. The log may run code of the program, so no mutex is held.
    fn warn(&self, news: Option<News>) {
        if let Some(News { rest, why }) = news {
            tracing::warn!(target: "redlatch::quarantine", "{} {why}; it grants no new locks for {rest:.1?}", self.server);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

/// A quarantine that begins, or that lasts longer than the log has told because a longer lease was asked for.
struct News {
    rest: Duration,
    why: &'static str,
}

impl News {
    fn of(state: &mut State, rest: Duration, why: &'static str) -> Option<News> {
        let end = Instant::now() + rest;
        let is_new = state.told.is_none_or(|told| end > told + SAME);
        is_new.then(|| {
            state.told = Some(end);
            News { rest, why }
        })
    }
}

impl Doubt {
    fn rest(&self, longest: Duration) -> Option<Duration> {
        longest.checked_sub(self.age.saturating_add(self.noticed.elapsed())).filter(|rest| !rest.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_claims_to_run_for_ever_is_in_no_quarantine() {
        let doubt = Doubt { number: 1, noticed: Instant::now(), age: Duration::MAX };
        while doubt.noticed.elapsed().is_zero() {}
        assert_eq!(doubt.rest(Duration::from_secs(60)), None);
    }
}
