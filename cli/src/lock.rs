//! The lock that a command runs under, and the client's hold of it.

use std::ops::Deref;
use std::time::Duration;

use redlatch::ffi::Border;
use redlatch::{Client, Config, CurrentLeader, Error, Guard, Holds, LockBuilder, RenewedPermit, Term};
use serde_json::json;

use crate::arguments::{Elect, Run};
use crate::belief::Life;
use crate::clock;
use crate::ending::Failure;
use crate::reports::Reports;
use crate::times;

/// The lease of holds that this program renews by itself.
const LEASE: Duration = Duration::from_secs(30);
/// The first letters of the servers that end a lock with its session.
const SESSIONS: [&str; 3] = ["mysql", "mariadb", "zookeeper"];

pub struct Lock {
    client: Client,
    name: String,
    kind: Kind,
    /// The longest wait.
    wait: Option<Duration>,
    /// `None`: the client renews holds. With --at-least this program does, since a hold that the client renews cannot be shortened.
    lease: Option<Duration>,
}

enum Kind {
    /// It excludes Redisson's `getLock` of that name, and draws a token.
    Fenced,
    Fair,
    Shared,
    Exclusive,
    Permits(u64),
    /// The term of a leader with this value.
    Leader(String),
}

impl Lock {
    pub fn new(run: &Run, name: &str) -> Result<Self, Failure> {
        let client = client(run.care.url.as_deref(), run.care.lease)?;
        if run.at_least.is_some() && life(&client) == Life::Session {
            return Err(Failure::usage(format!(
                "--at-least keeps `{name}` beyond the end of redlatch, and {} ends a lock with its session; leave --at-least out, or use a \
                 Redis",
                client.server()
            )));
        }
        let kind = match run {
            Run { shared: true, .. } => Kind::Shared,
            Run { exclusive: true, .. } => Kind::Exclusive,
            Run { fair: true, .. } => Kind::Fair,
            Run { permits: Some(permits), .. } => Kind::Permits(*permits),
            _ => Kind::Fenced,
        };
        let lease = run.at_least.map(|_| run.care.lease.unwrap_or(LEASE));
        Ok(Lock { client, name: name.to_owned(), kind, wait: run.wait(), lease })
    }

    /// The lock of the leader of that name.
    pub fn leader(elect: &Elect, name: &str) -> Result<Self, Failure> {
        let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        let value = elect.value.clone().unwrap_or_else(|| format!("{}:{}", host(), std::process::id()));
        Ok(Lock {
            client: client(elect.care.url.as_deref(), elect.care.lease)?,
            name: name.to_owned(),
            kind: Kind::Leader(value),
            wait: None,
            lease: None,
        })
    }

    /// The leader of now, as the server names it.
    pub async fn current_leader(&self) -> Result<Option<CurrentLeader>, Failure> {
        Ok(self.client.leader(&self.name).current().await?)
    }

    /// Waits for the lock; `None`: another client has it.
    pub async fn acquire(&self) -> Result<Option<Hold>, Failure> {
        let name = &self.name;
        match &self.kind {
            Kind::Fenced => self.fenced().await,
            Kind::Fair => self.take(self.client.fair_lock(name), self.wait).await,
            Kind::Shared => self.take(self.client.read_write_lock(name).read(), self.wait).await,
            Kind::Exclusive => self.take(self.client.read_write_lock(name).write(), self.wait).await,
            Kind::Permits(permits) => self.permit(*permits).await,
            Kind::Leader(value) => Ok(Some(Hold::Term(self.client.leader(name).value(value).lead().await?))),
        }
    }

    /// A MySQL without the table of tokens has the lock all the same, without a token.
    async fn fenced(&self) -> Result<Option<Hold>, Failure> {
        let begun = clock::now();
        let fenced = self.attempt(self.client.fenced_lock(&self.name), self.wait).await;
        match fenced {
            Err(Error::Unsupported(_)) => {
                let left = self.wait.map(|wait| wait.saturating_sub(clock::now().saturating_sub(begun)));
                self.take(self.client.lock(&self.name), left).await
            }
            taken => Ok(taken?),
        }
    }

    async fn take(&self, lock: LockBuilder, wait: Option<Duration>) -> Result<Option<Hold>, Failure> {
        Ok(self.attempt(lock, wait).await?)
    }

    async fn attempt(&self, lock: LockBuilder, wait: Option<Duration>) -> Result<Option<Hold>, Error> {
        let lock = self.lease.map_or(lock.clone(), |lease| lock.lease(lease));
        let guard = match wait {
            Some(wait) => lock.wait(wait).try_acquire().await?,
            None => Some(lock.acquire().await?),
        };
        Ok(guard.map(Hold::Lock))
    }

    async fn permit(&self, permits: u64) -> Result<Option<Hold>, Failure> {
        let semaphore = self.client.permit_semaphore(&self.name);
        semaphore.try_set_permits(permits).await?;
        let there = semaphore.permits().await?;
        if there != permits {
            return Err(Failure::usage(format!(
                "`{}` has {there} permits, and --permits asks for {permits}; say --permits {there}, or delete it when none is out",
                self.name
            )));
        }
        let permit = match (self.wait, self.lease) {
            (Some(wait), Some(lease)) => semaphore.try_acquire_renewed().wait(wait).lease(lease).await?,
            (Some(wait), None) => semaphore.try_acquire_renewed().wait(wait).await?,
            (None, Some(lease)) => Some(semaphore.acquire_renewed().lease(lease).await?),
            (None, None) => Some(semaphore.acquire_renewed().await?),
        };
        Ok(permit.map(Hold::Permit))
    }

    /// The time for which the client believes in a hold after a renewal.
    pub fn lease(&self) -> Duration {
        self.lease.unwrap_or_else(|| self.client.watchdog())
    }

    /// Renews the hold as long as the future is awaited, if the client does not.
    pub async fn renew(&self, hold: &Hold) {
        let Some(lease) = self.lease else { return std::future::pending().await };
        loop {
            tokio::time::sleep(lease / 3).await;
            // An error is no loss: the next try comes soon, and the hold tells of a loss.
            while hold.extend(lease).await.is_err() {
                tokio::time::sleep(lease / 10).await;
            }
        }
    }

    /// The holder as the server names it.
    pub fn owner(&self, hold: &Hold) -> String {
        match hold {
            Hold::Permit(permit) => permit.id().to_string(),
            hold => format!("{}:{}", self.client.id(), hold.owner()),
        }
    }

    /// Reports that the lock was acquired, after so long a wait.
    pub fn tell_of(&self, hold: &Hold, waited: Duration, reports: &Reports) {
        let waited = waited.as_millis() as u64;
        reports.event("acquired", json!({ "owner": self.owner(hold), "token": hold.token(), "waited_ms": waited }));
    }

    /// How the server keeps its holds alive.
    pub fn life(&self) -> Life {
        life(&self.client)
    }

    /// A text that no other process has.
    pub fn id(&self) -> String {
        self.client.id()
    }

    /// Ends the client of a wait that was given up: if the server grants the lock yet, it goes back.
    pub async fn give_up(self) {
        self.client.close(Holds::Release).await;
    }

    /// The text for a caller that did not get the lock.
    pub fn not_acquired(&self) -> String {
        let holders = match &self.kind {
            Kind::Permits(permits) => format!("its {permits} permits are out"),
            Kind::Shared => "a command with --exclusive has it".into(),
            _ => "another client has it".into(),
        };
        let waited = match self.wait {
            Some(Duration::ZERO) | None => "now".into(),
            Some(wait) => format!("within {}", times::shown(wait)),
        };
        format!("`{}` was not acquired {waited}: {holders}; nothing was run. Wait longer, or try later", self.name)
    }
}

fn life(client: &Client) -> Life {
    let server = client.server();
    let is_session = SESSIONS.iter().any(|system| server.starts_with(system));
    if is_session { Life::Session } else { Life::Lease }
}

/// The client's hold.
pub enum Hold {
    Lock(Guard),
    Permit(RenewedPermit),
    Term(Term),
}

impl Deref for Hold {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        match self {
            Hold::Lock(guard) => guard,
            Hold::Permit(permit) => permit,
            Hold::Term(term) => term,
        }
    }
}

impl Hold {
    /// Permits have no tokens.
    pub fn token(&self) -> Option<i64> {
        match self {
            Hold::Permit(_) => None,
            hold => (**hold).token(),
        }
    }

    pub async fn release(self) -> Result<(), Error> {
        match self {
            Hold::Lock(guard) => guard.release().await,
            Hold::Permit(permit) => permit.release().await,
            Hold::Term(term) => term.release().await,
        }
    }

    /// Leaves the lock to its lease.
    pub async fn keep_for(self, time: Duration) -> Result<(), Error> {
        self.extend(time).await?;
        match self {
            Hold::Lock(guard) => guard.keep(),
            Hold::Permit(permit) => drop(permit.keep()),
            // Nothing asks for that: a leader resigns.
            Hold::Term(term) => drop(term),
        }
        Ok(())
    }
}

/// The URL of the servers; `None`: the default one.
pub fn given(url: Option<&str>) -> Option<String> {
    let of = |variable| std::env::var(variable).ok();
    url.map(str::to_owned).or_else(|| of("REDLATCH_URL")).or_else(|| of("REDIS_URL"))
}

/// A client of --url, or of the variables without it; `lease`: that of the holds which it renews, if not its own default.
pub fn client(url: Option<&str>, lease: Option<Duration>) -> Result<Client, Failure> {
    let config = config(url)?;
    Ok(Client::with_config(match lease {
        Some(lease) => config.watchdog(lease),
        None => config,
    })?)
}

/// The configuration that --url gives, or the variables without it.
pub fn config(url: Option<&str>) -> Result<Config, Failure> {
    Ok(match url {
        Some(url) => Config::from_url(url)?,
        None => Config::from_env()?,
    })
}
