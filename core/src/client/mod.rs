//! The client: it connects, hands each request to its engine, and closes. It owns what belongs to a process, and notices a fork.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use crate::base::presence::{Presence, Present};
use crate::base::process::PerProcess;
use crate::client::group::{Group, Member, Rule};
use crate::client::state::ClientState;
use crate::config::Config;
use crate::config::login::Credentials;
use crate::engine::Engine;
use crate::request::error::{Error, Loss, Result};
use crate::request::{Answer, Look, Op, Request};

pub mod group;
pub mod hold;
pub mod state;

/// A client of one server. Cheap to clone; all clones are one client with one identity. It ends, with its thread and its connections,
/// when the last of them, of its guards and of its calls is gone; [`Client::close`] ends it before.
#[derive(Clone)]
pub struct Client {
    config: Arc<Config>,
    state: Arc<PerProcess<Result<Arc<ClientState>>>>,
    tickets: Arc<AtomicU64>,
    /// It stands for several locks, of this client and of others.
    group: Option<Arc<Group>>,
}

impl Client {
    /// A client for a URL, see [`Config::from_url`]. Starts nothing: the first call connects.
    pub fn connect(url: &str) -> Result<Client> {
        let config = Config::from_url(url)?;
        config.check()?;
        Ok(Client::with_config(config))
    }

    /// A client for a configuration. Starts nothing: the first call connects.
    pub fn with_config(config: Config) -> Client {
        let config = Config { login: Arc::default(), ..config };
        Client { config: Arc::new(config), state: Arc::default(), tickets: Arc::new(AtomicU64::new(1)), group: None }
    }

    /// A client whose one lock is all of these locks, or a majority of them; its requests may name any kind. It lives as long as they do:
    /// closing it does nothing.
    ///
    /// # Errors
    /// `Config` if there are none, or one of them twice.
    pub fn group(rule: Rule, members: Vec<Member>) -> Result<Client> {
        let group = Arc::new(Group::new(rule, members)?);
        Ok(Client { group: Some(group.clone()), ..group.first().clone() })
    }

    /// The names of a group's locks.
    pub fn group_name(&self) -> String {
        self.group.as_ref().map_or_else(String::new, |group| group.name())
    }

    /// The client's identity in Redis, a UUID. A forked child has one of its own.
    pub fn id(&self) -> String {
        self.state().map_or_else(|_| String::new(), |state| state.redis.uuid.clone())
    }

    /// What belongs to this process.
    pub(crate) fn state(&self) -> Result<&Arc<ClientState>> {
        let state = self.state.get(|| ClientState::new(&self.config).map(Arc::new));
        state.as_ref().map_err(Error::clone)
    }

    fn engine(&self) -> Result<&dyn Engine> {
        match &self.group {
            Some(group) => Ok(group),
            None => Ok(&self.state()?.redis),
        }
    }

    /// Whether the server of that name grants nothing new just now, see `quarantine` at [`Config::set`]; of a group, whether one of its
    /// servers does not. Nothing is asked.
    pub fn is_held_back(&self, name: &str) -> bool {
        self.engine().is_ok_and(|engine| engine.is_held_back(name))
    }

    /// The server's address, without credentials.
    pub fn server(&self) -> String {
        self.config.server()
    }

    /// Has this client log in with other credentials from now on; without a user as the server's default one. Connections that are open
    /// stay as they are, and when a server ends them, those in their place use these; holds and waits go on meanwhile. Sentinels keep
    /// theirs. Nothing is sent: [`Op::Ping`] shows whether the server takes them, once it is asked over a new connection.
    ///
    /// # Errors
    /// `Config` for what is longer than a password can be, and for a user without a password.
    pub fn set_credentials(&self, username: Option<&str>, password: &str) -> Result<()> {
        self.config.login.set(Credentials::new(username, password)?);
        Ok(())
    }

    /// The lease of holds that are renewed.
    pub fn watchdog(&self) -> Duration {
        self.config.watchdog
    }

    /// A fresh number for a request, for [`Client::cancel`].
    pub fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, SeqCst)
    }

    /// Carries out a request in one round trip on the caller's thread if that is possible. `None`: it waits, or the way was busy; then
    /// `done` is called once, on the I/O thread: it may only hand over, never block or run a user's code.
    pub fn start(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) -> Option<Result<Answer>> {
        self.start_within(Duration::MAX, ticket, request, done)
    }

    /// As [`Client::start`], and an acquire keeps the caller's thread for no longer than about `inside`, for callers that are to react to an
    /// interrupt. A first try that is not answered by then goes on on the I/O thread.
    pub fn start_within(
        &self,
        inside: Duration,
        ticket: u64,
        request: Request,
        done: impl FnOnce(Result<Answer>) + Send + 'static,
    ) -> Option<Result<Answer>> {
        let (state, _present) = match self.ready(&request) {
            Ok(ready) => ready,
            Err(error) => return Some(Err(error)),
        };
        // Not by way of `dyn`: nothing may come between a caller and the first try of an uncontended lock.
        match &self.group {
            Some(group) => group.start(inside, ticket, request, Box::new(done)),
            None => state.redis.start(inside, ticket, request, Box::new(done)),
        }
    }

    /// Carries out a request on the I/O thread; `done` as in [`Client::start`].
    pub fn submit(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) {
        match (self.ready(&request), &self.group) {
            (Ok((_, _present)), Some(group)) => group.submit(ticket, request, Box::new(done)),
            (Ok((state, _present)), None) => state.redis.submit(ticket, request, Box::new(done)),
            (Err(error), _) => done(Err(error)),
        }
    }

    /// Asks a request to end. Its `done` still comes: `Cancelled` with nothing held, or an answer that was already on its way.
    pub fn cancel(&self, ticket: u64) {
        if let Ok(engine) = self.engine() {
            engine.cancel(ticket);
        }
    }

    /// Carries out a request and blocks until it is done.
    pub fn run_blocking(&self, request: Request) -> Result<Answer> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let closed = || Error::Closed { server: self.server() };
        let done = move |result| drop(sender.send(result));
        self.start(self.ticket(), request, done).unwrap_or_else(|| receiver.recv().unwrap_or_else(|_| Err(closed())))
    }

    /// Carries out a request.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request; a lock that was taken meanwhile is given back.
    pub async fn run(&self, request: Request) -> Result<Answer> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut running = Running { client: self.clone(), ticket: self.ticket(), request: request.clone(), receiver };
        let orphan = (self.clone(), request.clone());
        self.submit(running.ticket, request, move |result| {
            if let Err(result) = sender.send(result) {
                orphan.0.give_back(&orphan.1, result);
            }
        });
        let result = (&mut running.receiver).await;
        result.unwrap_or_else(|_| Err(Error::Closed { server: self.server() }))
    }

    /// Releases what an acquire has taken for a caller that is gone.
    fn give_back(&self, request: &Request, result: Result<Answer>) {
        if let (Op::Acquire, Ok(Answer { done: true, number, .. })) = (request.op, result) {
            let release = Request { op: Op::Release, hold: number as u64, ..request.clone() };
            self.submit(self.ticket(), release, drop);
        }
    }

    /// What is known of a hold, without asking the server.
    pub fn look(&self, hold: u64) -> Look {
        self.engine().map_or(Look::Gone, |engine| engine.look(hold))
    }

    /// How a hold was lost, also where its release was told of that: [`Client::look`] calls that one gone. Nothing is asked of the server.
    pub fn loss_of(&self, hold: u64) -> Option<Loss> {
        self.engine().ok()?.loss_of(hold)
    }

    /// No caller can release the hold any more: from now on it is not renewed, and ends with its lease. Nothing is asked of the server.
    /// False: it is not held, or is not renewed anyway.
    pub fn abandon(&self, hold: u64) -> bool {
        self.engine().is_ok_and(|engine| engine.abandon(hold))
    }

    /// The owners of this client that hold a lock of that name now; of a group those that hold one of its locks. Nothing is asked of the
    /// server.
    pub fn owners(&self, name: &str) -> Vec<i64> {
        self.engine().map_or_else(|_| Vec::new(), |engine| engine.owners(name))
    }

    /// The fencing token of a hold, without asking the server; `None`: it has none, or was released.
    pub fn token(&self, hold: u64) -> Option<i64> {
        self.engine().ok()?.token(hold)
    }

    /// The number of the latest hold of an owner, lost or not; `None` once it was released or its loss was told to its release.
    pub fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64> {
        self.engine().ok()?.latest(kind, name, owner)
    }

    /// Whether no owner holds anything of it, in this process. Nothing is asked of the server.
    pub fn is_idle(&self) -> bool {
        self.state().map_or(true, |state| state.groups().is_empty() && state.redis.holds(|holds| holds.is_empty()))
    }

    pub fn is_closed(&self) -> bool {
        self.state().is_ok_and(|state| state.redis.is_closed())
    }

    /// Ends the client: waiting calls end with `Closed`, nothing is renewed any more, and whoever still holds a lock is told that it is
    /// lost. With `release`, everything held is given back first, as far as the server answers in time; without, it stays until its
    /// lease ends.
    pub fn close(&self, release: bool) {
        if let (Ok(state), None) = (self.state(), &self.group) {
            state.close(release);
        }
    }

    /// The client's end waits until what this gives is dropped.
    fn ready(&self, request: &Request) -> Result<(&Arc<ClientState>, Present<&Presence>)> {
        let state = self.state()?;
        let present = state.io.presence.enter(request.op == Op::Release).ok_or_else(|| state.redis.closed_error())?;
        request.check()?;
        state.start()?;
        Ok((state, present))
    }
}

/// A request whose caller waits for it, or goes away.
struct Running {
    client: Client,
    ticket: u64,
    request: Request,
    receiver: tokio::sync::oneshot::Receiver<Result<Answer>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.receiver.is_terminated() {
            return;
        }
        // What comes from now on is given back by the sender; what has come already, here.
        self.receiver.close();
        match self.receiver.try_recv() {
            Ok(result) => self.client.give_back(&self.request, result),
            Err(_) => self.client.cancel(self.ticket),
        }
    }
}
