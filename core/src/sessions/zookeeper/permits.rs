//! Permits, as Curator's `InterProcessSemaphoreV2` has them: a waiter queues in `locks`, and the first one there makes a node
//! in `leases`, of which as many count as there are permits. Their number is in `permits`, as Curator's `SharedCount`
//! writes it.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::base::clock::Instant;
use crate::engine::word::AN_ANSWER;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Op};
use crate::sessions::driver::{Bond, Key, News, Seen, Took};
use crate::sessions::zookeeper::names::{self, Mode, Spot};
use crate::sessions::zookeeper::places::{Children, Failed};
use crate::sessions::zookeeper::session::{Failure, Session};
use crate::sessions::zookeeper::wire::{self, Call, EPHEMERAL, PERSISTENT, Part, Parts, code};
use crate::sessions::zookeeper::{Node, Shared};

/// The most permits: their number has four bytes.
const MOST: i64 = i32::MAX as i64;

/// The questions for the permits that are out while there seem to be more than there can be.
const LOOKS: u32 = 3;
/// A try that fails beside more permits than that leaves without a look whether one of them has gone.
const FEW: usize = 64;

/// The paths of a semaphore.
struct Paths<'a>(&'a str);

impl Paths<'_> {
    /// The queue of those that want a permit.
    fn locks(&self) -> Spot {
        Spot { path: format!("{}/locks", self.0), mode: Mode::Mutex, owner: 0 }
    }

    fn leases(&self) -> Spot {
        Spot { path: format!("{}/leases", self.0), mode: Mode::Permit, owner: 0 }
    }

    fn permits(&self) -> String {
        format!("{}/permits", self.0)
    }
}

/// The number of permits, and the version of its node; none: there is no such node.
struct Count {
    permits: i64,
    version: Option<i32>,
}

impl Shared {
    /// The queue in which a waiter of this spot stands.
    pub fn queue_of(&self, spot: &Spot) -> Spot {
        match spot.mode {
            Mode::Permit => Paths(&spot.path).locks(),
            _ => spot.clone(),
        }
    }

    fn counted(&self, came: std::result::Result<Vec<u8>, Failure>) -> std::result::Result<Count, Failure> {
        match came {
            Ok(content) => {
                let mut parts = Parts(&content);
                let read = |parts: &mut Parts| {
                    let data = parts.bytes()?;
                    let stat = parts.stat()?;
                    Ok((Parts(data).int().unwrap_or_default(), stat.version))
                };
                let (permits, version) = read(&mut parts).map_err(|error| Failure::Late(self.words(error)))?;
                Ok(Count { permits: permits.into(), version: Some(version) })
            }
            Err(Failure::Refused(code::NO_NODE)) => Ok(Count { permits: 0, version: None }),
            Err(failure) => Err(failure),
        }
    }

    async fn count(&self, session: &Session, paths: &Paths<'_>) -> std::result::Result<Count, Failure> {
        let came = self.ask(session, Call::data(&paths.permits(), false), self.limit()).await;
        self.counted(came.map(|reply| reply.content))
    }

    /// Takes a permit if one is left. Its node stands behind those of all who have one or are about to: so it needs no place in
    /// the queue.
    pub async fn take_permit(self: Arc<Self>, session: Arc<Session>, key: Key, spot: &Spot) -> Took {
        let paths = Paths(&spot.path);
        let leases = paths.leases();
        let what = format!("a permit of `{}`", spot.path);
        let (node, children) = match self.make(&session, &leases).await {
            Ok(made) => made,
            Err(Failed::Clean(error) | Failed::Kept(error)) => return Took::Failed(error),
        };
        let end = Instant::now() + AN_ANSWER;
        let mut listed = Ok(children);
        let mut has_waited = false;
        loop {
            let counted = async { Ok((listed?, self.count(&session, &paths).await?)) };
            let (children, count) = match counted.await {
                Ok(counted) => counted,
                Err(failure) => return self.without(&session, node, &what, failure),
            };
            // Without its place another client has deleted it.
            let Some(before) = names::before(&children.names(), node.name())
                .map(|before| before.into_iter().map(|name| format!("{}/{name}", leases.path)).collect::<Vec<_>>())
            else {
                return Took::Busy { sent: children.sent };
            };
            if (before.len() as i64) < count.permits {
                return match has_waited {
                    false => self.granted(&session, &key, node),
                    true => self.take_proven(&session, &key, node, &what).await,
                };
            }
            // While those that have the permits are there, ours has none. The others may be tries that fail as well.
            let owners = &before[..before.len().min(usize::try_from(count.permits).unwrap_or_default())];
            let is_short = owners.len() <= FEW && Instant::now() < end;
            if self.leaves(&session, &node, if is_short { owners } else { &[] }).await {
                return Took::Busy { sent: children.sent };
            }
            has_waited = true;
            listed = self.children(&session, &leases.path, self.limit()).await;
        }
    }

    /// Takes a permit by a node that has waited for it.
    async fn take_proven(self: &Arc<Self>, session: &Arc<Session>, key: &Key, node: Node, what: &str) -> Took {
        let proven = self.proven(session, key, node).await;
        proven.unwrap_or_else(|(failure, node)| self.without(session, node, what, failure))
    }

    /// Ends an attempt, and removes its node.
    fn without(self: &Arc<Self>, session: &Arc<Session>, node: Node, what: &str, failure: Failure) -> Took {
        self.remove_soon(session, node);
        Took::Failed(self.error(what, failure))
    }

    /// Waits for a permit at the head of the queue, by a node of ours in it.
    pub async fn wait_for_permit(
        self: &Arc<Self>,
        session: &Arc<Session>,
        key: &Key,
        spot: &Spot,
        head: Node,
        left: &Notify,
    ) -> Took {
        let paths = Paths(&spot.path);
        let what = format!("a permit of `{}`", spot.path);
        let lease = match self.make(session, &paths.leases()).await {
            Ok((lease, _)) => lease,
            Err(Failed::Clean(error) | Failed::Kept(error)) => {
                self.remove_soon(session, head);
                return Took::Failed(error);
            }
        };
        let failed = |failure| {
            let took = self.without(session, lease.clone(), &what, failure);
            self.remove_soon(session, head.clone());
            took
        };
        loop {
            // The node of their number may be made later.
            let (_asked, made) = session.begin_listing(&spot.path);
            let (listed, came_or_went) = session.begin_listing(&paths.leases().path);
            let (counted, set) = session.begin_watching(&paths.permits());
            let children = match self.listed(session.answer(listed, self.limit()).await) {
                Ok(children) => children,
                Err(Failure::Unknown) => continue,
                Err(failure) => return failed(failure),
            };
            let sent = children.sent;
            let counted = session.answer(counted, self.limit()).await.map(|reply| reply.content);
            let count = match self.counted(counted) {
                Ok(count) => count,
                Err(Failure::Unknown) => continue,
                Err(failure) => return failed(failure),
            };
            let Some(before) = names::before(&children.names(), lease.name()) else {
                // Another client has deleted it.
                self.remove_soon(session, head);
                return Took::NoRoom;
            };
            if (before.len() as i64) < count.permits {
                self.remove_soon(session, head.clone());
                return self.take_proven(session, key, lease, &what).await;
            }
            let with_ours = |name: &&str| *name == lease.name() || !self.is_passing(&paths.leases().path, name);
            let others: Vec<_> = children.names().into_iter().filter(with_ours).collect();
            if names::before(&others, lease.name()).is_some_and(|before| before.len() as i64 >= count.permits) {
                self.tell(News::Taken { key: key.clone() });
            }
            let has_number = count.version.is_some();
            tokio::select! {
                biased;
                () = left.notified() => {
                    let _ = self.remove(session, &lease.path).await;
                    let _ = self.remove(session, &head.path).await;
                    return Took::Busy { sent };
                }
                _ = came_or_went => {}
                _ = set, if has_number => {}
                _ = made, if !has_number => {}
                error = session.down(self.limit()) => return failed(Failure::Late(error)),
            }
        }
    }

    pub async fn look_at_permits(&self, session: &Session, spot: &Spot) -> std::result::Result<Seen, Failure> {
        let paths = Paths(&spot.path);
        let waiting = self.settled(session, &paths.locks().path, self.limit()).await?;
        let out = self.children(session, &paths.leases().path, self.limit()).await?;
        let count = self.count(session, &paths).await?;
        let others = |path: &str, children: &Children| {
            children.names.iter().filter(|name| !self.is_passing(path, name)).count() as i64
        };
        let is_busy = others(&paths.leases().path, &out) >= count.permits || others(&paths.locks().path, &waiting) > 0;
        Ok(Seen { is_taken: !out.names.is_empty(), is_busy, ..Seen::default() })
    }

    /// Counts the permits: those that are left, and those that are out.
    pub async fn count_permits(self: Arc<Self>, path: String) -> Result<Answer> {
        let session = self.session().await?;
        let paths = Paths(&path);
        let error = |failure| self.error(&format!("the permits of `{path}`"), failure);
        self.catch_up(&session, self.limit()).await.map_err(error)?;
        let count = self.count(&session, &paths).await.map_err(error)?;
        let out = self.out(&session, &paths, count.permits).await.map_err(error)?;
        let end = if count.version.is_some() { -1 } else { -2 };
        Ok(Answer { items: vec![end, out], ..Answer::done(count.permits - out) })
    }

    /// The number of permits that are out of so many. The head of the queue has a node among theirs as well while it waits.
    async fn out(&self, session: &Session, paths: &Paths<'_>, permits: i64) -> std::result::Result<i64, Failure> {
        let mut looks = 0;
        loop {
            looks += 1;
            let waiting = self.children(session, &paths.locks().path, self.limit()).await?.names.len();
            let nodes = self.children(session, &paths.leases().path, self.limit()).await?.names.len() as i64;
            let is_headed = waiting > 0 && nodes > permits;
            // Without a waiter it is a try that fails, or a waiter that came between the two questions; or the number was reduced.
            if nodes <= permits || is_headed || looks == LOOKS {
                return Ok(nodes - i64::from(is_headed));
            }
        }
    }

    /// Sets the number of permits, or goes on with a call that has not found out whether it did.
    pub async fn set_permits(self: Arc<Self>, change: Arc<SetPermits>) -> Result<Answer> {
        let session = self.session().await?;
        let paths = Paths(&change.path);
        let error = |failure| self.error(&format!("the permits of `{}`", change.path), failure);
        loop {
            match change.state() {
                State::Set { .. } if change.op == Op::TrySet => return Ok(Answer::done(1)),
                State::Set { permits } => {
                    let out = self.out(&session, &paths, permits).await.map_err(error)?;
                    return Ok(Answer::done(permits - out));
                }
                State::Sent { bond, .. } if bond != session.bond => return Err(self.unknown(&change)),
                State::Sent { permits, .. } => {
                    let came = match self.catch_up(&session, self.limit()).await {
                        Ok(()) => self.ask(&session, Call::exists(&change.mark()), self.limit()).await,
                        Err(failure) => Err(failure),
                    };
                    match came {
                        Ok(_) => self.set(&session, &change, permits),
                        Err(Failure::Refused(code::NO_NODE)) => change.is(State::Begun),
                        Err(Failure::Over) => return Err(self.unknown(&change)),
                        Err(failure) => return Err(error(failure)),
                    }
                    continue;
                }
                State::Begun => {}
            }
            let count = self.count(&session, &paths).await.map_err(error)?;
            let wanted = match change.op {
                Op::TrySet if count.version.is_some() => return Ok(Answer::done(0)),
                Op::Add => count.permits + change.number,
                _ => change.number,
            };
            let least = if change.op == Op::Add { -MOST } else { 0 };
            let Some(data) = i32::try_from(wanted).ok().filter(|_| wanted >= least).map(i32::to_be_bytes) else {
                return Err(Error::config(format!(
                    "`{}` cannot have {wanted} permits; a semaphore of ZooKeeper has {MOST} at most",
                    change.path
                )));
            };
            let permits = wanted;
            let set = match count.version {
                Some(version) => Call::write(&paths.permits(), &data, version),
                None => Call::create(&paths.permits(), &data, PERSISTENT),
            };
            let mark = Call::create(&change.mark(), self.label().as_bytes(), EPHEMERAL);
            change.is(State::Sent { bond: session.bond, permits });
            let refused = match session.ask(Call::multi(&[set, mark]), self.limit()).await {
                Ok(reply) => {
                    let parts = wire::outcomes(&reply.content).map_err(|error| self.words(error))?;
                    parts.into_iter().find_map(|part| match part {
                        Part::Failed(number) => Some(number),
                        Part::Created(_) | Part::Done => None,
                    })
                }
                Err(Failure::Refused(number)) => Some(number),
                Err(Failure::Unknown) => continue,
                Err(Failure::Over) => return Err(self.unknown(&change)),
                Err(failure) => return Err(error(failure)),
            };
            match refused {
                None => {
                    self.set(&session, &change, permits);
                    continue;
                }
                // Another client was faster.
                Some(code::BAD_VERSION | code::NODE_EXISTS) => {}
                Some(code::NO_NODE) => {
                    self.make_parents(&session, &change.path, self.limit()).await.map_err(error)?;
                }
                Some(number) => return Err(error(Failure::Refused(number))),
            }
            change.is(State::Begun);
        }
    }

    fn unknown(&self, change: &SetPermits) -> Error {
        let cause = format!(
            "has ended the session in which the permits of `{}` were to be set, and may have set them before; look at their number",
            change.path
        );
        Error::unavailable(self.server(), cause, false)
    }

    fn set(self: &Arc<Self>, session: &Arc<Session>, change: &SetPermits, permits: i64) {
        change.is(State::Set { permits });
        self.remove_soon(session, Node::new(session.bond, change.mark()));
    }
}

/// A call that sets the number of permits. Its transaction also makes a node of its own, so a client that has lost the answer
/// finds out whether it was carried out.
pub struct SetPermits {
    shared: Arc<Shared>,
    op: Op,
    path: String,
    number: i64,
    /// The name of that node.
    mark: String,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
enum State {
    /// The server has not been asked, or it has refused.
    Begun,
    Sent {
        bond: Bond,
        permits: i64,
    },
    Set {
        permits: i64,
    },
}

impl SetPermits {
    pub fn new(shared: &Arc<Shared>, op: Op, path: String, number: i64) -> Self {
        let mark = format!("set-{}", shared.id());
        SetPermits { shared: shared.clone(), op, path, number, mark, state: Mutex::new(State::Begun) }
    }

    fn mark(&self) -> String {
        format!("{}/{}", self.path, self.mark)
    }

    fn state(&self) -> State {
        *self.state.lock().expect("nothing panics while it is held")
    }

    fn is(&self, state: State) {
        *self.state.lock().expect("nothing panics while it is held") = state;
    }
}

/// Runs on the I/O thread once the call is over: then nothing looks for the mark any more.
impl Drop for SetPermits {
    fn drop(&mut self) {
        if let State::Sent { bond, .. } = self.state()
            && let Some(session) = self.shared.session_of(bond)
        {
            self.shared.sweep(&session, &self.path, &self.mark);
        }
    }
}
