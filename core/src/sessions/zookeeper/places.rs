//! The calls about a lock: a place in its queue of nodes, and the end of that.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout_at};

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::engine::word::AN_ANSWER;
use crate::request::error::{Error, Result};
use crate::sessions::driver::{Bond, Drawn, Evicted, Evictees, Gone, Grip, Key, News, Seen, Took};
use crate::sessions::zookeeper::names::{self, Contender, Mode, Spot, Wants};
use crate::sessions::zookeeper::session::{Came, Failure, REVOKED, Reply, Session, ended};
use crate::sessions::zookeeper::wire::{self, Call, EPHEMERAL, EPHEMERAL_SEQUENTIAL, Part, Parts, Stat, code};
use crate::sessions::zookeeper::{LABEL, Node, Shared};

/// The limit of a call that goes on until the session is over.
pub const ALWAYS: Duration = Duration::from_secs(86_400 * 365);
/// The length of a client's UUID.
const UUID: usize = 36;
/// The most bytes of checks in one request: a server takes a megabyte.
const CHECKS: usize = 200_000;
/// The pause before a refused sign of life is repeated.
const REFUSED: Duration = Duration::from_millis(50);

/// The reason why a call about a lock has no outcome.
pub enum Failed {
    /// It is certain that the call has left nothing, or what it may have left is being removed.
    Clean(Error),
    /// The place in the queue is still the client's.
    Kept(Error),
}

/// A node of ours in its queue.
struct Queued {
    node: Node,
    /// The path of the node that it waits for.
    waits_for: Option<String>,
    /// Another owner keeps it out, and not only nodes of this client on their way out.
    is_taken: bool,
    /// The sending of the question.
    sent: Instant,
}

impl Shared {
    pub fn limit(&self) -> Duration {
        self.config.response_timeout
    }

    pub fn words(&self, error: std::io::Error) -> Error {
        Error::unavailable(self.server(), format!("answers what no ZooKeeper does ({error})"), false)
    }

    /// The error of a call about `what`.
    pub fn error(&self, what: &str, failure: Failure) -> Error {
        match failure {
            Failure::Refused(number) => self.refused(what, number),
            Failure::Unknown => Error::unavailable(self.server(), "has broken the connection", false),
            Failure::Late(Error::Unavailable { cause, timeout, .. }) => {
                Error::unavailable(self.server(), cause, timeout)
            }
            Failure::Late(error) => error,
            Failure::Over => ended(self.server()),
        }
    }

    /// Asks again when the connection breaks: only for calls that may be carried out twice.
    pub async fn ask(&self, session: &Session, call: Call, limit: Duration) -> Came {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match session.ask(call.clone(), left).await {
                Err(Failure::Unknown) => {}
                came => return came,
            }
        }
    }

    /// The children of a path; none if there is no such node.
    pub async fn children(
        &self,
        session: &Session,
        path: &str,
        limit: Duration,
    ) -> std::result::Result<Children, Failure> {
        let came = self.ask(session, Call::children(path, false), limit).await;
        self.listed(came)
    }

    /// Waits for all that the session has asked for before. A server to which the client has come may not know of the last of
    /// it yet; a transaction is behind that.
    pub async fn catch_up(&self, session: &Session, limit: Duration) -> std::result::Result<(), Failure> {
        match self.check(session, &["/".to_owned()], limit).await {
            // The rights may not let this client look at that node. The leader has answered all the same.
            Ok(_) | Err(Failure::Refused(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// The children of a path behind all that the session has asked for before.
    pub async fn settled(
        &self,
        session: &Session,
        path: &str,
        limit: Duration,
    ) -> std::result::Result<Children, Failure> {
        let caught_up = session.begin(Call::multi(&[Call::check("/")]));
        let listed = session.begin(Call::children(path, false));
        let behind = match session.answer(caught_up, limit).await {
            Ok(reply) => reply.transaction,
            // As in `catch_up`.
            Err(Failure::Refused(_)) => 0,
            Err(Failure::Unknown) => {
                self.catch_up(session, limit).await?;
                return self.children(session, path, limit).await;
            }
            Err(failure) => return Err(failure),
        };
        let children = self.asked_children(session, path, listed, limit).await?;
        Ok(Children { behind, ..children })
    }

    /// The children of a path, by a question under way; by another one if the connection has broken.
    async fn asked_children(
        &self,
        session: &Session,
        path: &str,
        asked: oneshot::Receiver<Came>,
        limit: Duration,
    ) -> std::result::Result<Children, Failure> {
        match self.listed(session.answer(asked, limit).await) {
            Err(Failure::Unknown) => self.children(session, path, limit).await,
            listed => listed,
        }
    }

    pub fn listed(&self, came: Came) -> std::result::Result<Children, Failure> {
        match came {
            Ok(reply) => Children::of(&reply).map_err(|error| Failure::Late(self.words(error))),
            Err(Failure::Refused(code::NO_NODE)) => {
                Ok(Children { names: Vec::new(), changed: 0, behind: 0, sent: Instant::now() })
            }
            Err(failure) => Err(failure),
        }
    }

    /// Makes the parents of a lock's nodes: containers, which the server removes some time after their last child.
    pub async fn make_parents(
        &self,
        session: &Session,
        path: &str,
        limit: Duration,
    ) -> std::result::Result<(), Failure> {
        let chroot = self.config.servers.chroot();
        let mut missing = vec![path.to_owned()];
        let mut has_containers = true;
        while let Some(path) = missing.last().cloned() {
            let is_ours = path.len() > chroot.len();
            let call = Call::create_parent(&path, is_ours && has_containers);
            match self.ask(session, call, limit).await {
                Ok(_) | Err(Failure::Refused(code::NODE_EXISTS)) => drop(missing.pop()),
                Err(Failure::Refused(code::UNIMPLEMENTED)) if has_containers => has_containers = false,
                Err(Failure::Refused(code::NO_NODE)) => match path.rsplit_once('/') {
                    Some((parent, _)) if !parent.is_empty() => missing.push(parent.to_owned()),
                    _ => return Err(Failure::Refused(code::NO_NODE)),
                },
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Removes a node, however often the connection breaks meanwhile. `Err`: the session is over, and the node with it.
    pub async fn remove(&self, session: &Session, path: &str) -> std::result::Result<(), Failure> {
        self.removed(session, path, session.begin(Call::delete(path))).await
    }

    /// The same, by a request under way.
    async fn removed(
        &self,
        session: &Session,
        path: &str,
        mut asked: oneshot::Receiver<Came>,
    ) -> std::result::Result<(), Failure> {
        loop {
            match session.answer(asked, ALWAYS).await {
                Ok(_) | Err(Failure::Refused(code::NO_NODE)) => return Ok(()),
                Err(Failure::Unknown | Failure::Late(_)) => {}
                Err(Failure::Refused(number)) => {
                    let reason = code::name(number);
                    tracing::warn!(target: "redlatch::server", path, %reason, "the server does not delete the node `{path}` ({reason})");
                    return Err(Failure::Refused(number));
                }
                Err(failure) => return Err(failure),
            }
            asked = session.begin(Call::delete(path));
        }
    }

    /// Removes a node of ours while all of these are still there, whose owners are before us; `false`: one has gone, and ours, which may
    /// be the first by now, stays. Another client's try that comes meanwhile takes our node for an owner's.
    pub async fn leaves(&self, session: &Session, node: &Node, before: &[String]) -> bool {
        if !before.is_empty() {
            let checks = before.iter().map(|path| Call::check(path));
            let calls: Vec<_> = checks.chain([Call::delete(&node.path)]).collect();
            let came = session.ask(Call::multi(&calls), ALWAYS).await;
            let parts = came.ok().and_then(|reply| wire::outcomes(&reply.content).ok()).unwrap_or_default();
            match parts.iter().position(|part| *part == Part::Failed(code::NO_NODE)) {
                Some(at) if at < before.len() => return false,
                None if parts.len() == calls.len() && parts.iter().all(|part| *part == Part::Done) => return true,
                // The rights may not let this client look at the nodes of others, or the answer is lost.
                _ => {}
            }
        }
        let _ = self.remove(session, &node.path).await;
        true
    }

    /// Removes a node of ours in the background, before all that the session asks for later.
    pub fn remove_soon(self: &Arc<Self>, session: &Arc<Session>, node: Node) {
        let shared = self.clone();
        let session = session.clone();
        let asked = session.begin(Call::delete(&node.path));
        drop(tasks::spawn(async move { drop(shared.removed(&session, &node.path, asked).await) }));
    }

    /// Removes what a call may have made of which no answer came.
    pub fn sweep(self: &Arc<Self>, session: &Arc<Session>, parent: &str, stem: &str) {
        let shared = self.clone();
        let session = session.clone();
        let parent = parent.to_owned();
        let stem = stem.to_owned();
        drop(tasks::spawn(async move {
            let Ok(children) = shared.settled(&session, &parent, ALWAYS).await else { return };
            for name in children.names.iter().filter(|name| name.starts_with(&stem)) {
                let _ = shared.remove(&session, &format!("{parent}/{name}")).await;
            }
        }));
    }

    /// Makes a node at the end of the queue, and lists the queue in the same round trip.
    pub async fn make(
        self: &Arc<Self>,
        session: &Arc<Session>,
        spot: &Spot,
    ) -> std::result::Result<(Node, Children), Failed> {
        let stem = names::stem(self.config.node_format, spot.mode, &self.id());
        let path = format!("{}/{stem}", spot.path);
        let create = Call::create(&path, &self.data(spot), EPHEMERAL_SEQUENTIAL);
        let mut under = self.under(spot, session.bond, &path);
        let end = Instant::now() + self.limit();
        let failed = |failure| Failed::Clean(self.error(&format!("to lock `{}`", spot.path), failure));
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let made = session.begin(under.as_ref().unwrap_or(&create).clone());
            let listed = session.begin(Call::children(&spot.path, false));
            let name = match session.answer(made, left).await {
                Ok(reply) if under.is_some() => match created(&reply.content) {
                    Some(name) => name,
                    // The writer's node is gone.
                    None => {
                        under = None;
                        continue;
                    }
                },
                Ok(reply) => {
                    let name = Parts(&reply.content).text().map(str::to_owned);
                    name.map_err(|error| Failed::Clean(self.words(error)))?
                }
                Err(Failure::Refused(code::NO_NODE)) => {
                    self.make_parents(session, &spot.path, left).await.map_err(failed)?;
                    continue;
                }
                Err(Failure::Unknown) => {
                    let children = self.settled(session, &spot.path, left).await.map_err(|failure| {
                        self.sweep(session, &spot.path, &stem);
                        failed(failure)
                    })?;
                    match children.names.iter().find(|name| name.starts_with(&stem)) {
                        Some(name) => format!("{}/{name}", spot.path),
                        None => continue,
                    }
                }
                Err(failure) => {
                    if let Failure::Late(_) = failure {
                        self.sweep(session, &spot.path, &stem);
                    }
                    return Err(failed(failure));
                }
            };
            let node = Node::new(session.bond, name);
            if names::is_spent(node.name()) {
                let _ = self.remove(session, &node.path).await;
                return Err(Failed::Clean(spent(&spot.path)));
            }
            return match self.asked_children(session, &spot.path, listed, left).await {
                Ok(children) => Ok((node, children)),
                Err(failure) => {
                    self.remove_soon(session, node);
                    Err(failed(failure))
                }
            };
        }
    }

    /// The call that has a writer read as well: its second node has the place of the first, and outlasts it there.
    fn under(&self, spot: &Spot, bond: Bond, path: &str) -> Option<Call> {
        if spot.mode != Mode::Read {
            return None;
        }
        let writer = self.nodes().held.get(&spot.other(Mode::Write, spot.owner).key()).cloned()?;
        let number = Contender::read(writer.name()).filter(|_| writer.bond == bond)?.number;
        let create = Call::create(&format!("{path}{number:010}"), &self.data(spot), EPHEMERAL);
        Some(Call::multi(&[Call::check(&writer.path), create]))
    }

    /// Finds out what a node of ours waits for; makes it if there is none.
    async fn queue(
        self: &Arc<Self>,
        session: &Arc<Session>,
        spot: &Spot,
        place: Option<Node>,
    ) -> std::result::Result<Queued, (Failed, Option<Node>)> {
        let mut place = place;
        loop {
            let (node, children) = match place.take() {
                None => self.make(session, spot).await.map_err(|failed| (failed, None))?,
                Some(node) => match self.children(session, &spot.path, self.limit()).await {
                    Ok(children) => (node, children),
                    Err(failure @ Failure::Over) => {
                        return Err((Failed::Clean(self.error(&spot.path, failure)), None));
                    }
                    Err(failure) => return Err((Failed::Kept(self.error(&spot.path, failure)), Some(node))),
                },
            };
            let names = children.names();
            // Without a place it was deleted by another client: the next one is at the end of the queue.
            if let Ok(obstacles) = names::obstacles(&Contender::all(&names), node.name()) {
                let waits_for = obstacles.first().map(|obstacle| format!("{}/{}", spot.path, obstacle.name));
                let is_taken = obstacles.iter().any(|obstacle| !self.is_passing(&spot.path, obstacle.name));
                return Ok(Queued { waits_for, is_taken, sent: children.sent, node });
            }
        }
    }

    /// The place in the queue that no call uses.
    fn place(&self, key: &Key, bond: Bond) -> Option<Node> {
        self.nodes().places.remove(key).filter(|place| place.bond == bond)
    }

    fn failed(&self, key: &Key, failed: Failed, node: Option<Node>) -> Took {
        match failed {
            Failed::Clean(error) => Took::Failed(error),
            Failed::Kept(error) => {
                if let Some(node) = node {
                    self.nodes().places.insert(key.clone(), node);
                }
                Took::Failed(error)
            }
        }
    }

    /// Notes that a node of ours is first.
    pub fn granted(&self, session: &Session, key: &Key, node: Node) -> Took {
        session.watch_own(&node.path);
        let mut nodes = self.nodes();
        nodes.keys.insert(node.path.clone(), key.clone());
        nodes.held.insert(key.clone(), node);
        Took::Yes { bond: session.bond }
    }

    pub async fn take(self: Arc<Self>, key: Key) -> Took {
        let session = match self.session().await {
            Ok(session) => session,
            Err(error) => return Took::Failed(error),
        };
        let spot = Spot::of(&key);
        if spot.mode == Mode::Permit {
            return self.take_permit(session, key, &spot).await;
        }
        let mut place = self.place(&key, session.bond);
        let is_standing = place.is_some();
        let mut has_waited = is_standing;
        let end = Instant::now() + AN_ANSWER;
        loop {
            match self.queue(&session, &spot, place.take()).await {
                Ok(Queued { node, waits_for: None, .. }) if has_waited => {
                    return self.first(&session, &key, &spot, node).await;
                }
                Ok(Queued { node, waits_for: None, .. }) => return self.granted(&session, &key, node),
                Ok(Queued { node, waits_for: Some(other), is_taken: false, .. }) if Instant::now() < end => {
                    // It is on its way out, and no other owner has the lock.
                    has_waited = true;
                    let (answered, gone) = session.begin_watching(&other);
                    let left = end.saturating_duration_since(Instant::now());
                    if session.answer(answered, left).await.is_ok() {
                        let _ = timeout_at(end.into(), gone).await;
                    }
                    place = Some(node);
                }
                Ok(Queued { node, sent, .. }) if is_standing => {
                    self.nodes().places.insert(key, node);
                    return Took::Busy { sent };
                }
                Ok(Queued { node, waits_for, sent, .. }) => {
                    let before = waits_for.filter(|_| Instant::now() < end);
                    if self.leaves(&session, &node, before.as_slice()).await {
                        return Took::Busy { sent };
                    }
                    has_waited = true;
                    place = Some(node);
                }
                Err((failed, node)) => return self.failed(&key, failed, node),
            }
        }
    }

    /// `left`: noted among those that stand, so that a wait can end before it begins.
    pub async fn stand(self: Arc<Self>, key: Key, left: Arc<Notify>) -> Took {
        let took = self.wait(&key, &left).await;
        self.nodes().standing.remove(&key);
        took
    }

    /// Waits in the queue until the lock is the client's, or until its last waiter has `left`.
    async fn wait(self: &Arc<Self>, key: &Key, left: &Notify) -> Took {
        let session = tokio::select! {
            biased;
            session = self.session() => match session {
                Ok(session) => session,
                Err(error) => return Took::Failed(error),
            },
            () = left.notified() => return Took::NoRoom,
        };
        match self.wait_in(&session, key, left).await {
            // The servers may be well: the next try finds out, in another session.
            Took::Failed(_) if session.is_over() => Took::NoRoom,
            took => took,
        }
    }

    async fn wait_in(self: &Arc<Self>, session: &Arc<Session>, key: &Key, left: &Notify) -> Took {
        let spot = Spot::of(key);
        let (node, has_waited) = match self.be_first(session, key, &self.queue_of(&spot), left).await {
            Ok(first) => first,
            Err(took) => return took,
        };
        if spot.mode == Mode::Permit {
            return self.wait_for_permit(session, key, &spot, node, left).await;
        }
        if !has_waited {
            return self.granted(session, key, node);
        }
        self.first(session, key, &spot, node).await
    }

    /// Takes the lock by a node that has stood in the queue, and is first. The question that told so says nothing of when: a sign of
    /// life does, and it finds a node that is gone.
    async fn first(&self, session: &Session, key: &Key, spot: &Spot, node: Node) -> Took {
        self.proven(session, key, node).await.unwrap_or_else(|(failure, node)| {
            let failed = Failed::Kept(self.error(&format!("to lock `{}`", spot.path), failure));
            self.failed(key, failed, Some(node))
        })
    }

    /// The same; a failure leaves the node to the caller.
    pub async fn proven(&self, session: &Session, key: &Key, node: Node) -> std::result::Result<Took, (Failure, Node)> {
        match self.check(session, std::slice::from_ref(&node.path), self.limit()).await {
            Ok(_) => Ok(self.granted(session, key, node)),
            Err(Failure::Refused(code::NO_NODE)) => Ok(Took::NoRoom),
            Err(failure) => Err((failure, node)),
        }
    }

    /// Waits in a queue until a node of ours is first, and tells whether it has waited. `Err`: the outcome of a wait that has
    /// ended before.
    async fn be_first(
        self: &Arc<Self>,
        session: &Arc<Session>,
        key: &Key,
        spot: &Spot,
        left: &Notify,
    ) -> std::result::Result<(Node, bool), Took> {
        let mut place = self.place(key, session.bond);
        let mut has_waited = place.is_some();
        loop {
            let Queued { node, waits_for, is_taken, sent } = match self.queue(session, spot, place.take()).await {
                Ok(queued) => queued,
                Err((failed, node)) => return Err(self.failed(key, failed, node)),
            };
            let Some(other) = waits_for else { return Ok((node, has_waited)) };
            has_waited = true;
            // In the queue for permits it may be the turn of one that leaves a permit for us.
            if is_taken && spot.mode != Mode::Mutex {
                self.tell(News::Taken { key: key.clone() });
            }
            // Another program may delete the place of ours.
            let (_asked, gone) = session.begin_watching(&node.path);
            let (answered, changed) = session.begin_watching(&other);
            match session.answer(answered, self.limit()).await {
                Ok(_) => {
                    tokio::select! {
                        biased;
                        () = left.notified() => {
                            let _ = self.remove(session, &node.path).await;
                            return Err(if is_taken { Took::Busy { sent } } else { Took::NoRoom });
                        }
                        _ = changed => {}
                        _ = gone => {}
                        error = session.down(self.limit()) => {
                            let failed = Failed::Kept(self.error(&spot.path, Failure::Late(error)));
                            return Err(self.failed(key, failed, Some(node)));
                        }
                    }
                }
                // It has gone meanwhile, or the connection has.
                Err(Failure::Refused(code::NO_NODE) | Failure::Unknown) => {}
                Err(failure) => {
                    let failed = Failed::Kept(self.error(&format!("to lock `{}`", spot.path), failure));
                    return Err(self.failed(key, failed, Some(node)));
                }
            }
            place = Some(node);
        }
    }

    /// A sign of life that the leader counts, and a look whether these nodes are there. Gives the moment of its sending and
    /// the moment from which a lease counts by it.
    pub async fn check(
        &self,
        session: &Session,
        paths: &[String],
        limit: Duration,
    ) -> std::result::Result<(Instant, Instant), Failure> {
        let checks: Vec<_> = paths.iter().map(|path| Call::check(path)).collect();
        let reply = self.ask(session, Call::multi(&checks), limit).await?;
        match wire::outcomes(&reply.content) {
            Ok(parts) if parts.iter().all(|part| *part == Part::Done) && parts.len() == paths.len() => {
                Ok((reply.sent, reply.from))
            }
            Ok(_) => Err(Failure::Refused(code::NO_NODE)),
            Err(error) => Err(Failure::Late(self.words(error))),
        }
    }

    pub async fn let_go(self: Arc<Self>, grip: Grip, again: bool) -> Gone {
        let node = {
            let mut nodes = self.nodes();
            let node = nodes.held.remove(&grip.key);
            node.inspect(|node| drop(nodes.keys.remove(&node.path)))
        };
        let (Some(node), Some(session)) = (node, self.session_of(grip.bond)) else { return Gone::Ended };
        let spot = Spot::of(&grip.key);
        if !again || spot.mode == Mode::Permit {
            return self.give_back(&session, &spot, &node).await;
        }
        let Replaced { node, listed } = match self.replace(&session, &spot, &node).await {
            Ok(next) => next,
            Err(gone) => return gone,
        };
        let children = match self.asked_children(&session, &spot.path, listed, ALWAYS).await {
            Ok(children) if !names::is_spent(node.name()) => children,
            _ => return self.give_back(&session, &spot, &node).await,
        };
        let names = children.names();
        match names::obstacles(&Contender::all(&names), node.name()) {
            Ok(obstacles) if obstacles.is_empty() => {
                self.granted(&session, &grip.key, node);
                Gone::Again
            }
            Ok(_) => {
                self.nodes().places.insert(grip.key, node);
                Gone::Taken { sent: children.sent }
            }
            Err(()) => Gone::Ended,
        }
    }

    async fn give_back(&self, session: &Session, spot: &Spot, node: &Node) -> Gone {
        match self.remove(session, &node.path).await {
            Ok(()) => Gone::Freed,
            Err(Failure::Refused(number)) => {
                let what = format!("to release `{}`, which ends with the session of this client", spot.path);
                Gone::Refused(self.refused(&what, number))
            }
            Err(_) => Gone::Ended,
        }
    }

    /// Gives a node back, and makes one at the end of the queue, in one transaction. `Err`: there is no new one.
    async fn replace(&self, session: &Session, spot: &Spot, node: &Node) -> std::result::Result<Replaced, Gone> {
        let stem = names::stem(self.config.node_format, spot.mode, &self.id());
        let path = format!("{}/{stem}", spot.path);
        let create = Call::create(&path, &self.data(spot), EPHEMERAL_SEQUENTIAL);
        loop {
            let made = session.begin(Call::multi(&[Call::delete(&node.path), create.clone()]));
            let listed = session.begin(Call::children(&spot.path, false));
            match session.answer(made, ALWAYS).await {
                Ok(reply) => match created(&reply.content) {
                    Some(path) => return Ok(Replaced { node: Node::new(session.bond, path), listed }),
                    // The node was gone, or the server makes none: then ours has stayed.
                    None => return Err(self.give_back(session, spot, node).await),
                },
                Err(Failure::Unknown) => {
                    let children = self.settled(session, &spot.path, ALWAYS).await.map_err(|_| Gone::Ended)?;
                    if let Some(name) = children.names.iter().find(|name| name.starts_with(&stem)) {
                        let node = Node::new(session.bond, format!("{}/{name}", spot.path));
                        return Ok(Replaced { node, listed: session.begin(Call::children(&spot.path, false)) });
                    }
                }
                Err(Failure::Late(_)) => {}
                Err(Failure::Refused(_)) => return Err(self.give_back(session, spot, node).await),
                Err(Failure::Over) => return Err(Gone::Ended),
            }
        }
    }

    /// Writes to the node of a grip. The number of that transaction is greater than all before, in any session.
    ///
    /// A leader's node is not written to: a waiting `LeaderLatch` of Curator has one watch of the node before its own, which
    /// a write would use up, and it would never hear of that node's end. Nor is there a need: leaders come in the order
    /// in which their nodes were made, and each term has a node of its own.
    pub async fn fence(self: Arc<Self>, grip: Grip) -> Result<Drawn> {
        let spot = Spot::of(&grip.key);
        let what = format!("the fencing token of `{}`", spot.path);
        loop {
            let node = self.nodes().held.get(&grip.key).cloned();
            let (Some(node), Some(session)) = (node, self.session_of(grip.bond)) else {
                return Err(ended(self.server()));
            };
            if spot.mode == Mode::Leader {
                let stat = self.stat(&session, &node.path).await.map_err(|failure| self.error(&what, failure))?;
                return match stat {
                    Some(stat) => Ok(Drawn::Tokens(stat.created..stat.created + 1)),
                    None => {
                        self.deleted(grip.bond, &node.path);
                        Err(ended(self.server()))
                    }
                };
            }
            let write = Call::write(&node.path, &self.data(&spot), node.version);
            match self.ask(&session, write, self.limit()).await {
                Ok(reply) => {
                    let stat = Parts(&reply.content).stat().map_err(|error| self.words(error))?;
                    self.knows(&grip.key, stat.version);
                    return Ok(Drawn::Tokens(stat.modified..stat.modified + 1));
                }
                // Another client has written to it, or the answer to a write of ours was lost.
                Err(Failure::Refused(code::BAD_VERSION)) => {
                    let reply = self.ask(&session, Call::data(&node.path, false), self.limit()).await;
                    let reply = reply.map_err(|failure| self.error(&what, failure))?;
                    let (data, stat) = content(&reply).map_err(|foreign| self.words(foreign))?;
                    if data.starts_with(REVOKED) {
                        self.asked_for(&node.path);
                    }
                    self.knows(&grip.key, stat.version);
                }
                Err(Failure::Refused(code::NO_NODE)) => {
                    self.deleted(grip.bond, &node.path);
                    return Err(ended(self.server()));
                }
                Err(failure) => return Err(self.error(&what, failure)),
            }
        }
    }

    fn knows(&self, key: &Key, version: i32) {
        if let Some(node) = self.nodes().held.get_mut(key) {
            node.version = version;
        }
    }

    /// A sign of life of a session, which looks whether its locks are still there.
    pub async fn renew(self: Arc<Self>, bond: Bond) {
        let Some(session) = self.session_of(bond) else { return };
        let mut paths: Vec<_> = {
            let nodes = self.nodes();
            nodes.held.values().filter(|node| node.bond == bond).map(|node| node.path.clone()).collect()
        };
        if paths.is_empty() {
            // The last lock is on its way back.
            paths.push("/".into());
        }
        let mut alive: Option<(Instant, Instant)> = None;
        let mut rest = &paths[..];
        while !rest.is_empty() {
            let mut length = 0;
            let count = rest.iter().take_while(|path| {
                length += path.len() + 17;
                length <= CHECKS
            });
            let (now, later) = rest.split_at(count.count().max(1));
            rest = later;
            let mut now = now.to_vec();
            while !now.is_empty() {
                match self.checked(&session, &now).await {
                    Ok(Checked { sent, from, missing }) => {
                        let (first, least) = alive.unwrap_or((sent, from));
                        alive = Some((first.min(sent), least.min(from)));
                        let Some(at) = missing else { break };
                        let path = now.remove(at.min(now.len() - 1));
                        self.deleted(bond, &path);
                        // The others that have gone back meanwhile need no look.
                        now.retain(|path| self.is_own(path));
                    }
                    Err(()) => return,
                }
            }
        }
        if let Some((sent, from)) = alive {
            self.tell(News::Answered { bond, sent, from });
        }
    }

    /// `Err`: the session is over.
    async fn checked(&self, session: &Session, paths: &[String]) -> std::result::Result<Checked, ()> {
        let checks: Vec<_> = paths.iter().map(|path| Call::check(path)).collect();
        loop {
            let reply = match self.ask(session, Call::multi(&checks), ALWAYS).await {
                Ok(reply) => reply,
                Err(Failure::Refused(number)) => {
                    let reason = code::name(number);
                    tracing::warn!(target: "redlatch::server", %reason, "the server refuses a sign of life; it gets another one");
                    sleep(REFUSED).await;
                    continue;
                }
                Err(_) => return Err(()),
            };
            let parts = wire::outcomes(&reply.content).map_err(drop)?;
            let missing = parts.iter().position(|part| *part == Part::Failed(code::NO_NODE));
            return Ok(Checked { sent: reply.sent, from: reply.from, missing });
        }
    }

    pub async fn look(self: Arc<Self>, key: Key, fenced: bool) -> Result<Seen> {
        let session = self.session().await?;
        let spot = Spot::of(&key);
        let what = format!("`{}`", spot.path);
        let limit = self.limit();
        let error = |failure| self.error(&what, failure);
        if spot.mode == Mode::Permit {
            return self.look_at_permits(&session, &spot).await.map_err(error);
        }
        if spot.mode == Mode::Leader {
            return self.look_at_leader(&session, &spot).await.map_err(error);
        }
        loop {
            let children = self.settled(&session, &spot.path, limit).await.map_err(error)?;
            let names = children.names();
            let all = Contender::all(&names);
            let holders = names::holders(&all);
            let mut others = all.iter().filter(|contender| !self.is_passing(&spot.path, contender.name));
            let mut seen = Seen {
                is_taken: names::have(holders, spot.mode),
                is_busy: others.any(|other| spot.mode != Mode::Read || other.wants == Wants::Alone),
                ..Seen::default()
            };
            if fenced {
                // No token that was given until then is greater than the last change of the queue.
                seen.token = children.changed;
                if let Some(first) = holders.first() {
                    let path = format!("{}/{}", spot.path, first.name);
                    match self.drawn(&session, &path).await.map_err(error)? {
                        Some(Drawing::By(token)) => seen.token = token,
                        Some(Drawing::Perhaps(token)) => seen.token = seen.token.max(token),
                        // Behind it there may be a token already, and any change of the queue after that. This number is behind all
                        // tokens that a client has seen, and before the next one: that node was there.
                        None if children.behind > 0 => seen.token = children.behind,
                        None => continue,
                    }
                }
            }
            return Ok(seen);
        }
    }

    /// Reads the first node of a queue. While it exists it is the first: nodes that come later stand behind it.
    async fn look_at_leader(&self, session: &Session, spot: &Spot) -> std::result::Result<Seen, Failure> {
        loop {
            let children = self.settled(session, &spot.path, self.limit()).await?;
            let names = children.names();
            let Some(first) = Contender::all(&names).first().copied() else { return Ok(Seen::default()) };
            let path = format!("{}/{}", spot.path, first.name);
            let reply = match self.ask(session, Call::data(&path, false), self.limit()).await {
                Ok(reply) => reply,
                // It has gone meanwhile.
                Err(Failure::Refused(code::NO_NODE)) => continue,
                Err(failure) => return Err(failure),
            };
            let (value, stat) = content(&reply).map_err(|foreign| Failure::Late(self.words(foreign)))?;
            let token = stat.created;
            let seen = Seen { is_taken: true, is_busy: true, holder: first.name.to_owned(), ..Seen::default() };
            // A lock of this library has that name, and no leader.
            let label = std::str::from_utf8(value).ok().and_then(|value| value.strip_prefix(LABEL));
            let is_lock = label.is_some_and(|uuid| uuid.len() == UUID && names::is_of(uuid, first.name));
            return Ok(if is_lock { seen } else { Seen { token, value: value.to_vec(), ..seen } });
        }
    }

    /// The number of the write by which the first node has drawn a token. `None`: the node has gone.
    async fn drawn(&self, session: &Session, path: &str) -> std::result::Result<Option<Drawing>, Failure> {
        let (stat, is_known) = match self.ask(session, Call::data(path, false), self.limit()).await {
            Ok(reply) => {
                let (data, stat) = content(&reply).map_err(|error| Failure::Late(self.words(error)))?;
                (stat, !data.starts_with(REVOKED))
            }
            Err(Failure::Refused(code::NO_NODE)) => return Ok(None),
            Err(Failure::Refused(code::NO_AUTH)) => match self.stat(session, path).await? {
                Some(stat) => (stat, false),
                None => return Ok(None),
            },
            Err(failure) => return Err(failure),
        };
        Ok(Some(match stat.version {
            0 => Drawing::Perhaps(0),
            _ if is_known => Drawing::By(stat.modified),
            _ => Drawing::Perhaps(stat.modified),
        }))
    }

    /// `None`: there is no such node.
    async fn stat(&self, session: &Session, path: &str) -> std::result::Result<Option<Stat>, Failure> {
        match self.ask(session, Call::exists(path), self.limit()).await {
            Ok(reply) => Parts(&reply.content).stat().map(Some).map_err(|error| Failure::Late(self.words(error))),
            Err(Failure::Refused(code::NO_NODE)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub async fn evict(self: Arc<Self>, key: Key, evictees: Evictees) -> Result<Evicted> {
        let session = self.session().await?;
        let spot = Spot::of(&key);
        let what = format!("to take `{}` from its holder", spot.path);
        let limit = self.limit();
        let error = |failure| self.error(&what, failure);
        let children = self.settled(&session, &spot.path, limit).await.map_err(error)?;
        let names = children.names();
        let all = Contender::all(&names);
        let holders = names::holders(&all);
        let is_meant = names::have(holders, spot.mode);
        let mut had = evictees.get().is_some_and(|evictees| !evictees.is_empty());
        let found = || holders.iter().filter(|_| is_meant).map(|holder| holder.name.to_owned());
        let evictees = evictees.get_or_init(|| found().collect());
        for name in evictees {
            // Not again within this attempt: the next one takes a node that is gone for one that it has deleted.
            match session.ask(Call::delete(&format!("{}/{name}", spot.path)), limit).await {
                Ok(_) => had = true,
                Err(Failure::Refused(code::NO_NODE)) => {}
                Err(failure) => return Err(error(failure)),
            }
        }
        Ok(match had {
            true => Evicted::Yes,
            false if evictees.is_empty() => Evicted::Free,
            false => Evicted::Missed,
        })
    }

    /// A write, so that the leader answers.
    pub async fn ping(self: Arc<Self>) -> Result<()> {
        let session = self.session().await?;
        self.catch_up(&session, self.limit()).await.map_err(|failure| self.error("a sign of life", failure))
    }
}

/// The error of a queue in which the server has no number left for one node alone.
fn spent(path: &str) -> Error {
    let remedy = format!(
        "the queue of `{path}` has used up its 2,147,483,647 numbers; delete the node `{path}` while no client uses it, for then the \
         server counts from 0 again, or choose another name"
    );
    Error::refused(format!("to lock `{path}`"), "NoNumber", remedy)
}

/// The data and the state of a node.
fn content(reply: &Reply) -> std::io::Result<(&[u8], Stat)> {
    let mut parts = Parts(&reply.content);
    Ok((parts.bytes()?, parts.stat()?))
}

/// The path of the node that the second call of a transaction has made. `None`: the transaction was refused.
fn created(answer: &[u8]) -> Option<String> {
    match wire::outcomes(answer).ok()?.into_iter().nth(1)? {
        Part::Created(path) => Some(path),
        Part::Done | Part::Failed(_) => None,
    }
}

/// The names of the nodes below a path, by a question that was sent then.
pub struct Children {
    pub names: Vec<String>,
    /// The number of the transaction that last added or removed one of them.
    changed: i64,
    /// The number of a transaction before the question; 0: not known.
    behind: i64,
    pub sent: Instant,
}

impl Children {
    fn of(reply: &Reply) -> std::io::Result<Self> {
        let mut parts = Parts(&reply.content);
        let names = parts.texts()?.into_iter().map(str::to_owned).collect();
        Ok(Children { names, changed: parts.stat()?.changed, behind: 0, sent: reply.sent })
    }

    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

/// The last write to a node.
enum Drawing {
    By(i64),
    /// Another program may have written, perhaps before the node was the first; or none has.
    Perhaps(i64),
}

/// A new node in the place of another, and the question for the queue behind it.
struct Replaced {
    node: Node,
    listed: oneshot::Receiver<Came>,
}

/// The answer to a sign of life that looked at nodes.
struct Checked {
    sent: Instant,
    /// The moment from which a lease counts by it.
    from: Instant,
    /// The place of the first node that is gone; those behind it were not looked at.
    missing: Option<usize>,
}
