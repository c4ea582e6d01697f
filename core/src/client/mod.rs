//! The client: it connects, hands each request to its engine, and closes. It owns the values that belong to one
//! process, and notices a fork.

use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use once_cell::race::OnceBox;
use tokio::runtime::Handle;

use crate::base::blocking;
use crate::base::clock::Instant;
use crate::base::presence::{Presence, Present};
use crate::base::scope::UnkeptScope;
use crate::client::group::{Group, Member, Rule};
use crate::client::handles::{Handles, States};
use crate::client::state::ClientState;
use crate::config::Config;
use crate::config::login::Credentials;
use crate::engine::Engine;
use crate::engine::departures::Departure;
use crate::engine::stats::{Counters, Figures, Stats};
use crate::redis::kinds;
use crate::request::error::{Error, Loss, Result};
use crate::request::seat::{Seat, WaitEnd};
use crate::request::{Answer, Look, Op, Request};

pub mod group;
pub mod handles;
pub mod hold;
pub mod lent;
pub mod served;
pub mod state;

/// The client's own numbers for requests begin here. A binding may number its requests by itself, below: if two requests
/// under way had one number, the end of the one would be that of the other.
const OWN_TICKETS: u64 = 1 << 63;

/// The fate of the holds of a client that ends, see [`Client::close`].
///
/// ```no_run
/// # async fn example(client: redlatch::Client) {
/// client.close(redlatch::Holds::Release).await; // at the end of a service: waiters elsewhere get its locks at once
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The client gives them back, and the permits of guards, as far as the servers answer in time.
    Release,
    /// They stay until their leases end. Permits without a lease stay out. Locks of MySQL and MariaDB end with the client all
    /// the same: its sessions have them.
    Keep,
}

/// A client of one server, one cluster, or one master with its replicas and sentinels. A clone is cheap; all clones are
/// one client with one identity. The client ends, with its thread and its connections, when the last clone, guard and call is gone; [`Client::close`] ends it before.
///
/// ```
/// # fn example() -> redlatch::Result<()> {
/// let client = redlatch::Client::connect("redis://localhost:6379/2")?; // connects to no server yet
/// let same = client.clone();
/// assert_eq!(client.id(), same.id());
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// # Drop
/// A dropped guard or permit is released in the background. The drop of the last handle of a client (clone, lock,
/// semaphore, guard, permit or call) waits until these releases have their answers, but for no longer than the option
/// `flush`, 1 s by default, see [`Config::flush`]. So a program whose `main` returns, fails or panics leaves no lock
/// behind, unless another thread still has a handle. On a thread of an asynchronous runtime the wait blocks that thread for that time at most; use [`Client::close`] where that is
/// too long. A lock of several clients may be the last handle of each: they wait one after the other, each for its own
/// time. The drop of a handle that is not the last one never waits, and neither does a drop while no release is
/// under way. `std::process::exit` and statics drop nothing: call [`Client::close`] or [`Client::close_blocking`]
/// before.
#[derive(Clone)]
pub struct Client {
    /// The program's handles, of the clients of all members for a group: they go before the rest of the client. `None`:
    /// a handle of the client's own work.
    handles: Option<Arc<[Arc<Handles>]>>,
    config: Arc<Config>,
    state: Arc<States>,
    tickets: Arc<AtomicU64>,
    /// The group of locks that this client stands for, of this client and of others.
    group: Option<Arc<Group>>,
}

impl Client {
    /// Makes a client for a URL, see [`Config::from_url`]. Connects to no server yet: the first call does, and that is the
    /// one that fails if there is none.
    ///
    /// # Errors
    /// As [`Config::from_url`] and [`Client::with_config`].
    pub fn connect(url: &str) -> Result<Client> {
        Client::connect_ending_with(url, &Arc::default())
    }

    /// As [`Client::connect`], with `until` as in [`Client::ending_with`].
    pub(crate) fn connect_ending_with(url: &str, until: &Arc<OnceBox<Instant>>) -> Result<Client> {
        Client::ending_with(Config::from_url(url)?, until)
    }

    /// Makes a client for a configuration. Connects to no server: the first call does.
    ///
    /// # Errors
    /// `Config` for an option beyond its limits; for TLS options on an address without TLS, for PEM that has no
    /// certificate or no key, a certificate without its key, an `SSL_CERT_FILE` in the environment that would count and
    /// cannot be used, or `rediss://` in a build without TLS; for a sync policy that may take as long as a lease of the watchdog; for
    /// options that only a cluster has, or has not; and for a user without a password.
    pub fn with_config(config: Config) -> Result<Client> {
        Client::ending_with(config, &Arc::default())
    }

    /// As [`Client::with_config`], for one of several clients that end together: `until` is the end of the time in which
    /// they flush.
    pub(crate) fn ending_with(config: Config, until: &Arc<OnceBox<Instant>>) -> Result<Client> {
        config.check()?;
        let config = Config { login: Arc::default(), ..config };
        let state = Arc::<States>::default();
        let handles = Handles { states: state.clone(), until: until.clone() };
        Ok(Client {
            handles: Some([Arc::new(handles)].into()),
            config: Arc::new(config),
            state,
            tickets: Arc::new(AtomicU64::new(OWN_TICKETS)),
            group: None,
        })
    }

    /// Makes a client whose one lock is all of these locks, or a majority of them; its requests may name any kind. It
    /// lives as long as the members' clients: closing it does nothing.
    ///
    /// # Errors
    /// `Config` if the list is empty or has a lock twice.
    pub(crate) fn group(rule: Rule, members: Vec<Member>) -> Result<Client> {
        let handles =
            members.iter().flat_map(|member| member.client.handles.iter().flat_map(|all| all.iter().cloned()));
        let handles = Some(handles.collect());
        let group = Arc::new(Group::new(rule, members)?);
        Ok(Client { handles, group: Some(group.clone()), ..group.home().clone() })
    }

    /// The same client for its own work, which may go on when the program's last handle is gone.
    pub(crate) fn unattended(&self) -> Client {
        Client {
            handles: None,
            config: self.config.clone(),
            state: self.state.clone(),
            tickets: self.tickets.clone(),
            group: self.group.clone(),
        }
    }

    pub(crate) fn is_group(&self) -> bool {
        self.group.is_some()
    }

    /// The names of a group's locks.
    pub(crate) fn group_name(&self) -> String {
        self.group.as_ref().map_or_else(String::new, |group| group.name())
    }

    /// The client's identity in Redis, a UUID. A forked child has its own.
    pub fn id(&self) -> String {
        self.state().map_or_else(|_| String::new(), |state| state.served.engine().id().to_owned())
    }

    /// The client's state in this process.
    pub(crate) fn state(&self) -> Result<&Arc<ClientState>> {
        self.state_in(std::process::id())
    }

    /// As [`Client::state`], for a caller that knows the id of this process.
    fn state_in(&self, process: u32) -> Result<&Arc<ClientState>> {
        let state = self.state.get_in(process, || ClientState::new(&self.config).map(Arc::new));
        state.as_ref().map_err(Error::clone)
    }

    /// The runtime of the client's I/O thread in this process. `None`: the thread has not started.
    pub(crate) fn io(&self) -> Option<Handle> {
        self.state.made()?.as_ref().ok()?.io.runtime().cloned()
    }

    fn engine(&self) -> Result<&dyn Engine> {
        match &self.group {
            Some(group) => Ok(group),
            None => Ok(self.state()?.served.engine()),
        }
    }

    /// Tells whether the server of that name is in quarantine and grants nothing new, see
    /// [`Config::quarantine`]. For a group: whether a server of one of its locks is. Sends nothing.
    pub(crate) fn is_held_back(&self, name: &str) -> bool {
        self.engine().is_ok_and(|engine| engine.is_held_back(name))
    }

    /// The server's address, without credentials.
    pub fn server(&self) -> String {
        self.config.server()
    }

    /// Changes the credentials of this client; without a user it logs in as the default user of a Redis. Open connections
    /// stay as they are. If a server ends one, the client opens another with the new credentials; holds and waits go on
    /// meanwhile. Sentinels keep theirs. Sends nothing: wrong credentials fail the first call that needs a new connection.
    ///
    /// # Errors
    /// `Config` for a user or password that is too long, for a user without a password, and for a password without a user
    /// of MySQL or MariaDB.
    pub fn set_credentials(&self, username: Option<&str>, password: &str) -> Result<()> {
        let credentials = Credentials::new(username, password)?;
        if credentials.username.is_none() && self.config.servers.is_sql() {
            return Err(Error::config(format!(
                "{} has no default user; give the user to log in as with its new password",
                self.server()
            )));
        }
        self.config.login.set(credentials);
        Ok(())
    }

    /// Gives the figures that the client has counted since its start in this process, see [`Stats`]. Sends nothing; a client
    /// that is closed still tells.
    ///
    /// ```
    /// # fn example() -> redlatch::Result<()> {
    /// let client = redlatch::Client::connect("redis://localhost:6379")?;
    /// let before = client.stats();
    /// // Some time later:
    /// let now = client.stats();
    /// println!("{} locks were acquired, {} wait", now.acquired - before.acquired, now.waiting);
    /// # Ok(())
    /// # }
    /// # example().unwrap();
    /// ```
    pub fn stats(&self) -> Stats {
        match self.state() {
            Ok(state) => state.served.engine().stats(),
            Err(_) => Counters::default().stats(Figures::default()),
        }
    }

    /// The number of restarts of servers, see `Serving::restarts`.
    pub(crate) fn restarts(&self) -> u64 {
        self.state().map_or(0, |state| state.served.engine().restarts())
    }

    /// Notes permits that `release` gives back, see [`lent::LentPermits::add`].
    pub(crate) fn lends(&self, release: &Request) -> Option<usize> {
        self.state().ok()?.lent.add(release)
    }

    /// Forgets such permits, see [`lent::LentPermits::remove`].
    fn forget_lent(&self, place: usize) -> bool {
        self.state().is_ok_and(|state| state.lent.remove(place))
    }

    /// Forgets such permits for a caller that gives them back before the drop of the result: the client does not end
    /// before. `None`: the client has ended, or its end gives them back.
    pub(crate) fn lends_no_more(&self, place: usize) -> Option<Present<&Presence>> {
        let present = self.stay()?;
        self.forget_lent(place).then_some(present)
    }

    /// Lets the caller in. The client does not end before the drop of the result. `None`: it has ended.
    pub(crate) fn stay(&self) -> Option<Present<&Presence>> {
        self.state().ok()?.io.presence.enter(true)
    }

    /// Refuses a kind of lock that the client's servers do not have. Sends nothing.
    pub(crate) fn supports(&self, kind: &str) -> Result<()> {
        self.state()?.served.engine().supports(kind)
    }

    /// The lease of holds that the watchdog renews.
    pub(crate) fn watchdog(&self) -> Duration {
        self.config.watchdog
    }

    /// A fresh number for a request, for [`Client::cancel`]; 2⁶³ or above. A program that has numbers of its own uses
    /// those below, each for one request.
    pub(crate) fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, SeqCst)
    }

    /// Carries out a request in one round trip on the caller's thread if that is possible. An acquire keeps that thread for
    /// about `inside` at most: the caller can then react to an interrupt. `None`: the request waits, or the connection was
    /// busy, or a first try goes on on the I/O thread. Then the outcome comes into the seat.
    pub(crate) fn start(&self, inside: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        let (state, _present) = match self.state().and_then(|state| self.ready(state, &request)) {
            Ok(ready) => ready,
            Err(error) => return Some(Err(self.too_late(&request, error))),
        };
        // This avoids `dyn`: nothing may come between a caller and the first try of an uncontended lock.
        match &self.group {
            Some(group) => group.start(inside, seat, request),
            None => state.served.start(inside, seat, request),
        }
    }

    /// Carries out a request on the I/O thread, which calls `done` once: `done` may only hand the result over, never block
    /// or run a user's code.
    pub(crate) fn submit(&self, ticket: u64, request: Request, done: impl FnOnce(Result<Answer>) + Send + 'static) {
        self.submit_to(self.state(), ticket, request, done);
    }

    /// As [`Client::submit`], for a caller that knows the id of this process: to ask for it is a system call.
    pub(crate) fn submit_in(
        &self,
        process: u32,
        ticket: u64,
        request: Request,
        done: impl FnOnce(Result<Answer>) + Send + 'static,
    ) {
        self.submit_to(self.state_in(process), ticket, request, done);
    }

    /// As [`Client::submit`], to the client's state in this process: to look that up is a system call.
    fn submit_to(
        &self,
        state: Result<&Arc<ClientState>>,
        ticket: u64,
        request: Request,
        done: impl FnOnce(Result<Answer>) + Send + 'static,
    ) {
        match (state.and_then(|state| self.ready(state, &request)), &self.group) {
            (Ok((_, _present)), Some(group)) => group.submit(ticket, request, Box::new(done)),
            (Ok((state, _present)), None) => state.served.submit(ticket, request, Box::new(done)),
            (Err(error), _) => done(Err(self.too_late(&request, error))),
        }
    }

    /// Asks a request to end. The client still calls its `done`: with `Cancelled` and no lock held, or with an answer
    /// that was on its way.
    pub(crate) fn cancel(&self, ticket: u64) {
        if let Ok(engine) = self.engine() {
            engine.cancel(ticket);
        }
    }

    /// Carries out a request and blocks until it is done.
    pub(crate) fn run_blocking(&self, request: Request) -> Result<Answer> {
        // The thread waits until the outcome has come, so none is late.
        let seat = Seat::new(self.ticket(), |_, _| {});
        self.start(Duration::MAX, &seat, request).unwrap_or_else(|| match seat.wait(None) {
            WaitEnd::Over(result) => result,
            WaitEnd::NotYet | WaitEnd::Gone => Err(Error::Closed { server: self.server() }),
        })
    }

    /// Carries out a request.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request. If the request took a lock or permits meanwhile, the client gives them
    /// back.
    pub(crate) async fn run(&self, request: Request) -> Result<Answer> {
        self.begin(request).end().await
    }

    /// Begins to carry out a request, as [`Client::run`].
    pub(crate) fn begin(&self, request: Request) -> Running {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let running = Running { client: self.clone(), ticket: self.ticket(), receiver };
        let caller = (self.unattended(), request.clone());
        let state = self.state();
        // The client does not end before a lock that it took for a caller that is gone is on its way back.
        let present = match request.op {
            Op::Acquire | Op::Drain => state.as_ref().ok().map(|state| state.io.presence.accompany()),
            _ => None,
        };
        self.submit_to(state, running.ticket, request, move |result| {
            drop(sender.send(Arriving::new(caller, result)));
            drop(present);
        });
        running
    }

    /// Hands over a release whose caller is gone: its outcome is not reported.
    pub(crate) fn give_up(&self, release: Request) {
        let release = Request { op: Op::GiveBack, ..release };
        let departures = self.depart(&release.name);
        self.submit(self.ticket(), release, move |_| drop(departures));
    }

    /// Notes that a hold of this name is on its way back, for a group of the names of its locks.
    fn depart(&self, name: &Arc<str>) -> Vec<Departure> {
        match &self.group {
            Some(group) => group.members().iter().flat_map(|member| member.client.depart(&member.name)).collect(),
            None => self.state().ok().map(|state| state.served.engine().depart(name)).into_iter().collect(),
        }
    }

    /// Tells what the client knows of a hold. Sends nothing.
    pub(crate) fn look(&self, hold: u64) -> Look {
        self.engine().map_or(Look::Gone, |engine| engine.look(hold))
    }

    /// Tells whether another client has asked for the release of a hold. Sends nothing.
    pub(crate) fn is_wanted(&self, hold: u64) -> bool {
        self.engine().is_ok_and(|engine| engine.is_wanted(hold))
    }

    /// The loss of a hold, even if the client reported it to the release: then [`Client::look`] calls the hold gone.
    /// Sends nothing.
    pub(crate) fn loss_of(&self, hold: u64) -> Option<Loss> {
        self.engine().ok()?.loss_of(hold)
    }

    /// Notes that no caller can release the hold any more: the watchdog renews it no longer, and it ends with its
    /// lease. Sends nothing. False: it is not held, or the watchdog does not renew it anyway.
    pub(crate) fn abandon(&self, hold: u64) -> bool {
        self.engine().is_ok_and(|engine| engine.abandon(hold))
    }

    /// Notes that the program lets the hold end with its lease. Sends nothing.
    pub(crate) fn keep(&self, hold: u64) {
        if let Ok(engine) = self.engine() {
            engine.keep(hold);
        }
    }

    /// The owners of this client that hold a lock of that name now; for a group, those that hold one of its locks.
    /// Sends nothing.
    pub(crate) fn owners(&self, name: &str) -> Vec<i64> {
        self.engine().map_or_else(|_| Vec::new(), |engine| engine.owners(name))
    }

    /// Has the reports about a hold come in this scope.
    pub(crate) fn trace(&self, hold: u64, scope: UnkeptScope) {
        if let Ok(engine) = self.engine() {
            engine.trace(hold, scope);
        }
    }

    /// The fencing token of a hold; `None`: it has none, or was released. Sends nothing.
    pub(crate) fn token(&self, hold: u64) -> Option<i64> {
        self.engine().ok()?.token(hold)
    }

    /// The number of an owner's latest hold, lost or not; `None` once the owner released it, or heard of the loss at
    /// its release.
    pub(crate) fn latest(&self, kind: &'static str, name: &str, owner: i64) -> Option<u64> {
        self.engine().ok()?.latest(kind, name, owner)
    }

    /// Tells whether this client holds nothing in this process. Sends nothing.
    pub(crate) fn is_idle(&self) -> bool {
        let Ok(state) = self.state() else { return true };
        let groups = state.groups().all();
        groups.iter().all(|(_, hold)| !hold.look().is_held()) && state.served.engine().is_idle()
    }

    /// Tells whether the program has closed this client, or a clone of it, in this process.
    pub fn is_closed(&self) -> bool {
        self.state.made().is_some_and(|state| state.as_ref().is_ok_and(|state| state.io.presence.is_closing()))
    }

    /// Ends the client. Waiting calls end with `Closed`, the watchdog stops, and each holder hears that its lock is
    /// lost. Returns once the calls under way have ended, and the releases with [`Holds::Release`]: beside a server that
    /// does not answer, after the longest time of a call, by default 6 s. A client ends once: the first call decides about
    /// the holds, and a later one only waits for the same end.
    ///
    /// # Cancellation
    /// The client ends from the first poll on, even if the future is dropped then.
    pub async fn close(&self, holds: Holds) {
        let (told, closed) = tokio::sync::oneshot::channel::<()>();
        self.begin_to_close(holds, told);
        let _ = closed.await;
    }

    /// As [`Client::close`], and blocks until the client has ended.
    ///
    /// # Panics
    /// On a thread that drives a tokio runtime, which would stand still meanwhile.
    #[track_caller]
    pub fn close_blocking(&self, holds: Holds) {
        blocking::check(|| format!("the end of the client of {}", self.server()));
        let (told, closed) = std::sync::mpsc::sync_channel::<()>(0);
        self.begin_to_close(holds, told);
        let _ = closed.recv();
    }

    /// Ends the client, and drops `told` when it has ended.
    pub(crate) fn begin_to_close(&self, holds: Holds, told: impl Send + 'static) {
        if let (Ok(state), None) = (self.state(), &self.group) {
            state.close(holds, |release| self.give_up(release), told);
        }
    }

    /// The error of a request that the client does not take. A watch of a hold that has ended with the client hears of
    /// that loss.
    fn too_late(&self, request: &Request, error: Error) -> Error {
        match (request.op, error) {
            (Op::Watch, error @ Error::Closed { .. }) => {
                self.loss_of(request.hold).map_or(error, |loss| Error::Lost(Box::new(loss)))
            }
            (_, error) => error,
        }
    }

    /// The client does not end before the returned guard is dropped.
    fn ready<'a>(
        &self,
        state: &'a Arc<ClientState>,
        request: &Request,
    ) -> Result<(&'a Arc<ClientState>, Present<&'a Presence>)> {
        let comes_in_late = matches!(request.op, Op::Release | Op::GiveBack | Op::Watch);
        let present = state.io.presence.enter(comes_in_late).ok_or_else(|| state.served.engine().closed_error())?;
        request.check()?;
        state.start()?;
        Ok((state, present))
    }
}

/// Shows neither user nor password.
impl Debug for Client {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Client");
        match &self.group {
            Some(group) => shown.field("group", &group.name()),
            None => shown.field("server", &self.server()),
        };
        shown.finish_non_exhaustive()
    }
}

/// A request whose caller waits for its end, or goes away.
pub(crate) struct Running {
    client: Client,
    ticket: u64,
    receiver: tokio::sync::oneshot::Receiver<Arriving>,
}

impl Running {
    /// Waits for the end.
    pub(crate) async fn end(mut self) -> Result<Answer> {
        let arriving = (&mut self.receiver).await;
        arriving.map_or_else(|_| Err(Error::Closed { server: self.client.server() }), Arriving::arrive)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.receiver.is_terminated() {
            // A result that has come is dropped with the receiver, and one that comes from now on by its sender.
            self.client.cancel(self.ticket);
        }
    }
}

/// A result on the way to its caller. Its drop, for a caller that is gone, gives back the lock or the permits that the
/// request took. The end of the client gives permits back before: their caller may not ask for its result.
struct Arriving {
    client: Client,
    result: Result<Answer>,
    /// The request that gives back what was taken.
    back: Option<Request>,
    /// Where the client has noted permits for its end.
    place: Option<usize>,
}

impl Arriving {
    /// Only for a caller that is inside the client.
    fn new((client, request): (Client, Request), result: Result<Answer>) -> Self {
        let back = match (request.op, &result) {
            (Op::Acquire, Ok(Answer { done: true, number, .. })) => {
                Some(Request { op: Op::GiveBack, hold: *number as u64, ..request })
            }
            (Op::Drain, Ok(Answer { number: permits @ 1.., .. })) => {
                Some(Request { op: Op::GiveBack, numbers: vec![*permits], ..request })
            }
            _ => None,
        };
        let mut arriving = Arriving { client, result, back, place: None };
        if let Some(permits) = arriving.back.take_if(|back| are_permits(back)) {
            arriving.place = arriving.client.lends(&permits);
            match arriving.place {
                Some(_) => arriving.back = Some(permits),
                None => {
                    arriving.client.give_up(permits);
                    arriving.result = Err(arriving.closed());
                }
            }
        }
        arriving
    }

    /// Gives the result to its caller, which stays in the client until it has noted its permits.
    fn arrive(mut self) -> Result<Answer> {
        self.back = None;
        match self.place {
            Some(place) if !self.client.forget_lent(place) => Err(self.closed()),
            _ => std::mem::replace(&mut self.result, Err(Error::Cancelled)),
        }
    }

    fn closed(&self) -> Error {
        Error::Closed { server: self.client.server() }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let Some(back) = self.back.take() else { return };
        let present = self.place.map_or_else(|| self.client.stay(), |place| self.client.lends_no_more(place));
        if present.is_some() {
            self.client.give_up(back);
        }
    }
}

/// Tells whether this gives permits back that are no hold. A latch has none.
fn are_permits(back: &Request) -> bool {
    !back.numbers.is_empty() && kinds::find(back.kind).is_some_and(|row| !row.traits.held)
}
