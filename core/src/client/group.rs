//! One lock made of several: all of them, or a majority. Its members may belong to different servers; the group has no
//! key of its own.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::base::clock::Instant;
use crate::base::jitter::jitter;
use crate::base::scope::{Scope, UnkeptScope};
use crate::base::tasks::boxed;
use crate::client::Client;
use crate::client::hold::Hold;
use crate::client::state::ClientState;
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::holds::{Meant, REMEMBER};

use crate::request::error::{Error, Loss, Result};
use crate::request::names::shown;
use crate::request::owner::OwnerField;
use crate::request::seat::Seat;
use crate::request::{Answer, Done, Look, Op, Request, given_back};

mod all;
mod hold;
mod holding;
mod majority;
mod responsiveness;

use holding::Of;

pub use hold::GroupHold;
pub use holding::Holding;

/// The longest pause between two rounds of attempts. Each pause is random, so that groups that are in each other's way
/// do not go on in step.
const PAUSE: Duration = Duration::from_millis(50);
/// The time that a round waits until the members that it took are given back. The release goes on after it. So do the
/// releases and extensions of the members that a majority does not need.
const GIVING_BACK: Duration = Duration::from_millis(200);

/// The number of members that make a group held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Every member is held.
    All,
    /// More than half of the members are held: members on servers that fail independently.
    Majority,
}

/// One lock of a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// The client of the lock's server.
    pub client: Client,
    /// The kind's name in `kinds::ALL`.
    pub kind: &'static str,
    /// The lock's name, without prefix.
    pub name: Arc<str>,
}

pub struct Group {
    rule: Rule,
    members: Vec<Member>,
    /// The first member whose client was open when the group was made. The state of that client has the group's holds.
    home: usize,
    /// Tells this group from other groups.
    identity: Arc<str>,
}

impl Group {
    /// Sorts the members: an acquire takes them in one order everywhere, so that no two groups each wait for a member
    /// of the other. The write lock comes before the read lock of its name: a writer may read as well, while a reader
    /// would wait for itself.
    ///
    /// The work of the group goes on without its program, so the clients of the members are no handles of the program.
    pub fn new(rule: Rule, mut members: Vec<Member>) -> Result<Group> {
        members.iter_mut().for_each(|member| member.client = member.client.unattended());
        let key = |member: &Member| {
            let Config { database, prefix, .. } = &*member.client.config;
            let name = match &member.client.group {
                Some(group) => group.identity.to_string(),
                None => format!("{prefix}{}", member.name),
            };
            (member.client.server(), *database, name, Reverse(member.kind))
        };
        members.sort_by_key(key);
        if members.is_empty() {
            return Err(Error::config("a lock of several locks has none; give it at least one"));
        }
        match members.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
            Some(twice) => Err(Error::config(format!(
                "`{}` on {} is there twice; give each lock once",
                twice[0].name,
                twice[0].client.server()
            ))),
            None => {
                let identity = format!("{rule:?} {:?}", members.iter().map(key).collect::<Vec<_>>()).into();
                let home = members.iter().position(|member| !member.client.is_closed()).unwrap_or_default();
                Ok(Group { rule, members, home, identity })
            }
        }
    }

    pub fn home(&self) -> &Client {
        &self.members[self.home].client
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The number of members that may be missing.
    fn spare(&self) -> usize {
        match self.rule {
            Rule::All => 0,
            Rule::Majority => (self.members.len() - 1) / 2,
        }
    }

    fn of(&self, owner: i64) -> Of {
        (self.identity.clone(), owner)
    }

    async fn run(
        &self,
        state: &ClientState,
        request: &Request,
        mut cancelled: oneshot::Receiver<()>,
    ) -> Result<Answer> {
        match request.op {
            Op::Acquire => tokio::select! {
                biased;
                acquired = self.acquire(state, request) => acquired,
                _ = &mut cancelled => Err(Error::Cancelled),
            },
            Op::Watch => tokio::select! {
                biased;
                over = self.watch(state, request.hold) => over,
                _ = &mut cancelled => Err(Error::Cancelled),
            },
            Op::Release => self.release(state, request).await,
            Op::GiveBack => given_back(self.release(state, request).await),
            Op::Extend => self.held(state, request)?.extend(request).await,
            Op::Inspect => self.inspect(request).await,
            Op::ForceRelease | Op::Ping => {
                let answers = self.everywhere(request).await?;
                Ok(Answer::done(answers.iter().flatten().map(|answer| answer.number).max().unwrap_or_default()))
            }
            Op::Expiry | Op::Deletion => Err(Error::Unsupported(format!(
                "`{}` has no key of its own to listen to; listen to its locks",
                self.name()
            ))),
            op => Err(Error::Unsupported(format!("`{}` is several locks, which have no {op:?}", self.name()))),
        }
    }

    /// The last round decides the end of the wait: "not now" if enough members answered, else their error.
    async fn acquire(&self, state: &ClientState, request: &Request) -> Result<Answer> {
        let begun = Instant::now();
        let end = request.wait.map(|wait| begun + wait);
        let mut failing = None;
        loop {
            let asked = Instant::now();
            let taken = match self.rule {
                Rule::All => self.take_all(state, request, begun, end, &mut failing).await,
                Rule::Majority => self.take_majority(state, request).await,
            };
            let left = end.map_or(PAUSE, |end| end.saturating_duration_since(Instant::now()));
            match taken {
                Ok(Some(held)) => {
                    let number = state.groups().add(self.of(request.owner), held.clone());
                    state.forget_after_loss(number, held, REMEMBER);
                    return Ok(Answer::done(number as i64));
                }
                Ok(None) if left.is_zero() => return Ok(Answer::not_now()),
                Ok(None) => failing = None,
                Err(error) if !error.is_for_now() || request.wait == Some(Duration::ZERO) => return Err(error),
                Err(error) if left.is_zero() => return Err(error.during(request.wait)),
                // In a lock of all members, each one has as long as a lock of its own would have.
                Err(error) if failing.is_some_and(|since| since + self.retry_for(state, request) <= Instant::now()) => {
                    return Err(error.during(None));
                }
                // A majority may come back at any time of a wait that has an end.
                Err(_) if end.is_none() => {
                    failing.get_or_insert(asked);
                }
                Err(_) => {}
            }
            sleep(PAUSE.mul_f64(jitter()).min(left)).await;
        }
    }

    fn retry_for(&self, state: &ClientState, request: &Request) -> Duration {
        request.retry_for.unwrap_or(state.config.retry_for)
    }

    async fn watch(&self, state: &ClientState, number: u64) -> Result<Answer> {
        let held = state.groups().get(number);
        match held {
            Some(held) => held.end().await,
            // Its release may have told of a loss already.
            None => match state.groups().loss_of(number) {
                Some(loss) => Err(Error::Lost(Box::new(loss))),
                None => Ok(Answer::not_now()),
            },
        }
    }

    async fn release(&self, state: &ClientState, request: &Request) -> Result<Answer> {
        let of = self.of(request.owner);
        let leaving = {
            let mut groups = state.groups();
            let number = groups.meant(&of, Meant::from(request));
            number.and_then(|number| Some((number, groups.leave(&of, number)?)))
        };
        let Some((number, (held, left))) = leaving else { return Err(self.gone(state, &of, request)) };
        let released = held.release(request.op, request.response_timeout, request.retry_for).await;
        let loss = match &released {
            Err(Error::Lost(loss)) => Some(&**loss),
            _ => None,
        };
        drop(state.groups().forget(number, loss, true));
        released.map(|()| Answer::done(left as i64))
    }

    /// The reason why there is nothing to release.
    fn gone(&self, state: &ClientState, of: &Of, request: &Request) -> Error {
        let mut groups = state.groups();
        if let Some(loss) = groups.tell_loss(of, request.hold) {
            return Error::Lost(Box::new(loss));
        }
        match self.not_held(request.owner) {
            Error::NotHeld { lock, .. } if groups.has_left(of, request.hold) => Error::Released { lock },
            error => error,
        }
    }

    fn held(&self, state: &ClientState, request: &Request) -> Result<Arc<GroupHold>> {
        let held = state.groups().get(request.hold).filter(|held| !held.is_leaving());
        held.ok_or_else(|| self.not_held(request.owner))
    }

    /// The group is locked while enough members are. The number of an owner's holds is the largest that enough members
    /// reach.
    async fn inspect(&self, request: &Request) -> Result<Answer> {
        let mut seen = Vec::new();
        for answer in self.everywhere(request).await? {
            match answer {
                Some(Answer { number, items, .. }) => {
                    let count = items.first().copied().unwrap_or_default();
                    seen.push((if number == -1 { i64::MAX } else { number }, count))
                }
                None => seen.push((-2, 0)),
            }
        }
        let (mut times, mut counts): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
        times.sort_unstable();
        counts.sort_unstable();
        let time = times[self.spare()];
        let count = counts[self.spare()];
        Ok(Answer {
            done: true,
            number: if time == i64::MAX { -1 } else { time },
            items: vec![count],
            ..Answer::default()
        })
    }

    /// Sends the same request to every member. `None`: that member failed, as so many may as may be missing.
    async fn everywhere(&self, request: &Request) -> Result<Vec<Option<Answer>>> {
        let mut asked = JoinSet::new();
        for (i, member) in self.members.iter().enumerate() {
            let client = member.client.clone();
            let request = member.request(request);
            asked.spawn(boxed(async move { (i, client.run(request).await) }));
        }
        let mut answers = asked.join_all().await;
        answers.sort_by_key(|(i, _)| *i);
        let mut failures = 0;
        let answered = answers.into_iter().map(|(_, answer)| match answer {
            Err(error) if failures == self.spare() => Err(error),
            Err(_) => {
                failures += 1;
                Ok(None)
            }
            Ok(answer) => Ok(Some(answer)),
        });
        answered.collect()
    }

    /// The names of the first members.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.members.iter().take(3).map(|member| shown(&member.name)).collect();
        let more = self.members.len() - names.len();
        if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
    }

    fn not_held(&self, owner: i64) -> Error {
        Error::NotHeld { lock: self.name(), owner: OwnerField(&self.home().id(), owner).to_string() }
    }
}

/// The holds of a group are in the state of one member's client, its home.
impl Engine for Arc<Group> {
    /// A group does nothing on the caller's thread.
    fn start(&self, _: Duration, seat: &Arc<Seat>, request: Request) -> Option<Result<Answer>> {
        self.submit(seat.ticket(), request, seat.done());
        None
    }

    fn submit(&self, ticket: u64, request: Request, done: Done) {
        let state = match self.home().state() {
            Ok(state) => state.clone(),
            Err(error) => return done(Err(error)),
        };
        let cancelled = state.groups().begin(ticket, (request.op == Op::Acquire).then(|| self.of(request.owner)));
        let io = state.io.clone();
        let lasts = request.op == Op::Watch;
        let group = self.clone();
        let watched = if lasts { Some((self.clone(), request.hold)) } else { None };
        let mut promise = Promise { state: state.clone(), done: Some(done), watched };
        // A watch may last long, and reports nothing.
        let scope = if lasts { Scope::default() } else { Scope::current() };
        let run = async move {
            let result = scope.around(group.run(&state, &request, cancelled)).await;
            state.groups().end(ticket);
            promise.keep(result);
        };
        // A hold may outlast this client: some of its parts may belong to other clients.
        drop(if lasts { io.spawn(run) } else { io.spawn_present(run) });
    }

    fn cancel(&self, ticket: u64) {
        if let Ok(state) = self.home().state() {
            state.groups().end(ticket);
        }
    }

    fn look(&self, hold: u64) -> Look {
        let Ok(state) = self.home().state() else { return Look::Gone };
        let held = state.groups().get(hold);
        held.map_or_else(|| state.groups().look_back(hold), |held| held.look())
    }

    fn is_wanted(&self, hold: u64) -> bool {
        let held = self.home().state().ok().and_then(|state| state.groups().get(hold));
        held.is_some_and(|held| held.is_wanted())
    }

    fn loss_of(&self, hold: u64) -> Option<Loss> {
        match self.look(hold) {
            Look::Lost(loss) => Some(loss),
            Look::Held { .. } => None,
            Look::Gone => self.home().state().ok()?.groups().loss_of(hold),
        }
    }

    fn abandon(&self, hold: u64) -> bool {
        let Ok(state) = self.home().state() else { return false };
        let held = state.groups().get(hold);
        match held {
            Some(held) => {
                state.forget_after_end(hold, held.clone());
                held.abandon()
            }
            None => {
                state.groups().forget_loss(hold);
                false
            }
        }
    }

    fn keep(&self, hold: u64) {
        let Ok(state) = self.home().state() else { return };
        let held = state.groups().get(hold);
        held.inspect(|held| held.keep());
    }

    fn trace(&self, hold: u64, scope: UnkeptScope) {
        let Ok(state) = self.home().state() else { return };
        let held = state.groups().get(hold);
        held.inspect(|held| held.trace(scope));
    }

    /// A group of locks has no token.
    fn token(&self, _: u64) -> Option<i64> {
        None
    }

    fn latest(&self, _: &'static str, _: &str, owner: i64) -> Option<u64> {
        self.home().state().ok()?.groups().latest(&self.of(owner))
    }

    /// The owners that hold one of its locks now, but for what an acquire under way has taken.
    fn owners(&self, _: &str) -> Vec<i64> {
        let Ok(state) = self.home().state() else { return Vec::new() };
        let is_of_round = |member: &Member, owner: i64| {
            state.groups().is_acquiring(&self.of(owner))
                && member.client.latest(member.kind, &member.name, owner).is_some()
        };
        let of = |member: &Member| {
            let mut owners = member.client.owners(&member.name);
            owners.retain(|owner| !is_of_round(member, *owner));
            owners
        };
        self.members.iter().flat_map(of).collect()
    }

    fn is_held_back(&self, _: &str) -> bool {
        self.members.iter().any(|member| member.client.is_held_back(&member.name))
    }
}

/// Calls `done` exactly once, even if the task dies with its runtime.
struct Promise {
    state: Arc<ClientState>,
    done: Option<Done>,
    /// The hold whose end the caller waits for, if that is its request.
    watched: Option<(Arc<Group>, u64)>,
}

impl Promise {
    fn keep(&mut self, result: Result<Answer>) {
        if let Some(done) = self.done.take() {
            done(match result {
                Err(Error::Cancelled) if self.state.io.presence.is_closing() => Err(self.closed()),
                result => result,
            });
        }
    }

    /// The error for a caller whose client is closed: the loss of the hold that it watches.
    fn closed(&self) -> Error {
        let loss = self.watched.as_ref().and_then(|(group, hold)| group.loss_of(*hold));
        loss.map_or_else(|| self.state.served.engine().closed_error(), |loss| Error::Lost(Box::new(loss)))
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.done.is_some() {
            let error = self.closed();
            self.keep(Err(error));
        }
    }
}

impl Member {
    /// The group's request, rewritten for this member.
    fn request(&self, request: &Request) -> Request {
        Request {
            kind: self.kind,
            name: self.name.clone(),
            numbers: Vec::new(),
            endless: request.is_endless(),
            member: true,
            ..request.clone()
        }
    }

    /// Tries for at most `wait`; `lease` as in [`Request::lease`].
    async fn take(&self, request: &Request, wait: Duration, lease: Option<Duration>) -> Result<Option<Hold>> {
        let request = Request { op: Op::Acquire, wait: Some(wait), lease, ..self.request(request) };
        let answer = self.client.run(request.clone()).await?;
        // Until a caller has the group, each part goes back as a hold that no caller had.
        Ok(answer.done.then(|| Hold::new(self.client.clone(), Op::GiveBack, request, &answer)))
    }
}

/// Gives members back, which may take much longer than the caller is willing to wait. The end of the group's client
/// waits for it, even if the caller is gone by then.
async fn give_back(state: &ClientState, released: impl Future<Output = Result<()>> + Send + 'static) {
    let _ = timeout(GIVING_BACK, state.io.spawn_present(released)).await;
}

/// Releases all parts side by side; gives the first error.
async fn release(guards: Vec<Hold>) -> Result<()> {
    let mut released: JoinSet<_> = guards.into_iter().map(|guard| boxed(guard.release())).collect();
    let mut result = Ok(());
    while let Some(one) = released.join_next().await {
        result = result.and(one.unwrap_or(Ok(())));
    }
    result
}
