//! For how long a server grants nothing new because it may have lost what was held on it: whoever held it may not know yet. After the
//! longest lease nobody believes it any more.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{InfoDict, RedisResult};

use crate::base::clock::Instant;
use crate::redis::kinds::script::Call;
use crate::redis::link::Outcome;
use crate::request::error::Error;

/// The longest lease that this client knows of, in ms.
pub struct Longest(AtomicU64);

impl Longest {
    pub fn new(lease: Duration) -> Self {
        Longest(AtomicU64::new(lease.as_millis() as u64))
    }

    /// There are leases of this length, too.
    pub fn note(&self, lease: Duration) {
        self.0.fetch_max(lease.as_millis() as u64, Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_millis(self.0.load(Relaxed))
    }
}

/// Who a server says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Another one after every start.
    pub run: String,
    /// For how long it has run, in seconds.
    uptime: u64,
    pub is_master: bool,
    /// The name of the history of its data: of all that it was told to write since it is master, or that its master was.
    pub history: String,
    /// The history that this one goes on from, and where that ended.
    pub former: String,
    pub parted: i64,
}

/// What the server answers to [`Identity::questions`].
pub type Said = (RedisResult<InfoDict>, RedisResult<InfoDict>);

impl Identity {
    pub fn questions() -> redis::Pipeline {
        let mut pipe = redis::pipe();
        pipe.ignore_errors().cmd("INFO").arg("server").cmd("INFO").arg("replication");
        pipe
    }

    /// The same process with the same data; it may have been a replica, and be a master now.
    fn goes_on_from(&self, known: &Identity) -> bool {
        self.run == known.run && (self.history == known.history || self.former == known.history)
    }

    /// `None`: it does not say.
    pub fn read((server, replication): Said) -> Option<Identity> {
        let (server, replication) = (server.ok()?, replication.ok()?);
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

/// Of one server.
pub struct Quarantine {
    server: String,
    longest: Arc<Longest>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Who answered last; `None`: nobody yet, or it does not say who it is.
    known: Option<Identity>,
    doubts: Vec<Doubt>,
    last: u64,
}

/// Locks may have been lost that were granted until `age` before `noticed`.
struct Doubt {
    number: u64,
    noticed: Instant,
    age: Duration,
}

impl Quarantine {
    pub fn new(server: &str, longest: Arc<Longest>) -> Self {
        Quarantine { server: server.to_owned(), longest, state: Mutex::default() }
    }

    /// Called for each connection, before anything is sent over it.
    pub fn met(&self, who: Option<Identity>) {
        let mut state = self.state();
        match (&state.known, &who) {
            (Some(known), Some(who)) if who.goes_on_from(known) => {}
            (Some(_), Some(_)) => drop(self.add(&mut state, Duration::ZERO, "is not the one that it was: it may have lost its data")),
            // It counts whole seconds of a clock: it may have begun up to one later.
            (None, Some(who)) => {
                let age = Duration::from_secs(who.uptime.saturating_sub(1));
                self.add(&mut state, age, "has only just started: there may have been locks before");
            }
            (_, None) => {}
        }
        state.known = who;
    }

    pub fn known(&self) -> Option<Identity> {
        self.state().known.clone()
    }

    /// From now on it grants nothing for as long as a lease may last, unless that number is given to [`Quarantine::clear`].
    pub fn doubt(&self, why: &str) -> u64 {
        self.add(&mut self.state(), Duration::ZERO, why)
    }

    pub fn clear(&self, number: u64) {
        self.state().doubts.retain(|doubt| doubt.number != number);
        tracing::info!(target: "redlatch::quarantine", "{} is shown to have lost nothing", self.server);
    }

    /// For how long it grants nothing yet.
    pub fn rest(&self) -> Option<Duration> {
        let longest = self.longest.get();
        self.state().doubts.iter().filter_map(|doubt| doubt.rest(longest)).max()
    }

    /// What becomes of a call that is not to be sent now; `None`: it is.
    pub fn objection(&self, call: &Call) -> Option<Outcome> {
        if !call.grants {
            return None;
        }
        if self.state().known.is_none() {
            let why = "does not say who it is (INFO), which the option quarantine needs; allow that, or leave the option out";
            return Some(Outcome::Refused(Error::Unsupported(format!("{} {why}", self.server))));
        }
        self.rest().map(Outcome::HeldBack)
    }

    fn add(&self, state: &mut State, age: Duration, why: &str) -> u64 {
        let longest = self.longest.get();
        state.doubts.retain(|doubt| doubt.rest(longest).is_some());
        state.last += 1;
        let doubt = Doubt { number: state.last, noticed: Instant::now(), age };
        if let Some(rest) = doubt.rest(longest) {
            tracing::warn!(target: "redlatch::quarantine", "{} {why}; it grants no new locks for {rest:.1?}", self.server);
        }
        state.doubts.push(doubt);
        state.last
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl Doubt {
    fn rest(&self, longest: Duration) -> Option<Duration> {
        longest.checked_sub(self.age + self.noticed.elapsed()).filter(|rest| !rest.is_zero())
    }
}
