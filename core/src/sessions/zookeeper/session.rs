//! One session: what the server keeps for the client, over one connection after the other. A task drives it; it sends
//! requests one after the other without waiting for answers, reads all the time, and goes on at another server when a
//! connection breaks.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::yield_now;
use tokio::time::{sleep, sleep_until, timeout, timeout_at};

use crate::base::clock::Instant;
use crate::base::jitter::jitter;
use crate::base::tasks;
use crate::request::error::{Error, LostReason};
use crate::sessions::driver::{Bond, News};
use crate::sessions::zookeeper::Shared;
use crate::sessions::zookeeper::dial::{self, Dialed, SOON};
use crate::sessions::zookeeper::proof::Proof;
use crate::sessions::zookeeper::wire::{self, Call, Change, Credentials, Head, Packet, Wire, code, op, xid};

/// The pauses between two rounds through all servers: the first and the longest.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The pause behind a connection that did not last longer than this.
const PAUSED: Duration = Duration::from_millis(100);
/// The most requests that are sent at once.
const BATCH: usize = 256;
/// The most bytes of paths in one request for watches.
const WATCHES: usize = 100_000;
/// The data that asks a holder to let go, as Curator writes it.
pub const REVOKED: &[u8] = b"__REVOKE__";

/// The reason why a request has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The server refused it, for the reason of that number.
    Refused(i32),
    /// The connection broke: the server may have carried it out, or not. The session goes on.
    Unknown,
    /// No server answered in time; one may still carry it out.
    Late(Error),
    /// The session is over, and with it what the request may have made.
    Over,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub content: Vec<u8>,
    /// The number of the last transaction that the server had carried out: to a write, its own.
    pub transaction: i64,
    pub sent: Instant,
    /// The moment from which a lease counts by it, if it is the answer to a write.
    pub from: Instant,
}

pub type Came = Result<Reply, Failure>;

/// The hearer of a change of a node.
pub enum Watcher {
    /// The node is the client's own.
    Own,
    /// It is dropped at the change.
    Other(oneshot::Sender<()>),
    /// It is dropped when a child comes or goes.
    Children(oneshot::Sender<()>),
}

struct Ask {
    call: Call,
    /// The node of which the call has the server tell the changes.
    watch: Option<(String, Watcher)>,
    answer: Option<oneshot::Sender<Came>>,
}

enum Job {
    Ask(Ask),
    Close,
}

/// The state of the connection.
#[derive(Clone)]
enum Link {
    Up,
    /// The last reason for it.
    Down(Error),
}

pub struct Session {
    pub bond: Bond,
    jobs: UnboundedSender<Job>,
    stop: Arc<Notify>,
    link: watch::Receiver<Link>,
    over: watch::Receiver<bool>,
}

impl Session {
    /// Starts the task of a session that has begun.
    pub fn start(shared: &Arc<Shared>, bond: Bond, dialed: Dialed) -> Arc<Self> {
        let (jobs, taken) = unbounded_channel();
        let (linked, link) = watch::channel(Link::Up);
        let (end, over) = watch::channel(false);
        let stop = Arc::<Notify>::default();
        let timeout = dialed.timeout;
        let lease = timeout.min(shared.config.watchdog);
        shared.tell(News::Opened { bond, sent: dialed.sent, lease });
        let task = Task {
            shared: shared.clone(),
            bond,
            session: dialed.session.clone(),
            timeout,
            lease,
            jobs: taken,
            stop: stop.clone(),
            ends: false,
            asked: VecDeque::new(),
            watched: HashMap::new(),
            seen: 0,
            last: 0,
            at: dialed.at,
            link: linked,
            _end: end,
        };
        drop(tasks::spawn(task.run(dialed)));
        Arc::new(Session { bond, jobs, stop, link, over })
    }

    /// Sends a request behind those before it.
    pub fn begin(&self, call: Call) -> oneshot::Receiver<Came> {
        let (answer, answered) = oneshot::channel();
        let _ = self.jobs.send(Job::Ask(Ask { call, watch: None, answer: Some(answer) }));
        answered
    }

    /// As [`Session::begin`]; if the answer is no refusal, the receiver hears of the next change of the node.
    pub fn begin_watching(&self, path: &str) -> (oneshot::Receiver<Came>, oneshot::Receiver<()>) {
        let (answer, answered) = oneshot::channel();
        let (tell, changed) = oneshot::channel();
        let watch = Some((path.to_owned(), Watcher::Other(tell)));
        let _ = self.jobs.send(Job::Ask(Ask { call: Call::data(path, true), watch, answer: Some(answer) }));
        (answered, changed)
    }

    /// Lists the children of a node; if the answer is no refusal, the receiver hears when one comes or goes.
    pub fn begin_listing(&self, path: &str) -> (oneshot::Receiver<Came>, oneshot::Receiver<()>) {
        let (answer, answered) = oneshot::channel();
        let (tell, changed) = oneshot::channel();
        let watch = Some((path.to_owned(), Watcher::Children(tell)));
        let _ = self.jobs.send(Job::Ask(Ask { call: Call::children(path, true), watch, answer: Some(answer) }));
        (answered, changed)
    }

    /// Has the server tell of changes of a node of ours from now on.
    pub fn watch_own(&self, path: &str) {
        let watch = Some((path.to_owned(), Watcher::Own));
        let _ = self.jobs.send(Job::Ask(Ask { call: Call::data(path, true), watch, answer: None }));
    }

    /// Waits for an answer.
    pub async fn answer(&self, answered: oneshot::Receiver<Came>, limit: Duration) -> Came {
        match timeout(limit, answered).await {
            Ok(Ok(came)) => came,
            Ok(Err(_)) => Err(Failure::Over),
            Err(_) => Err(Failure::Late(self.trouble())),
        }
    }

    pub async fn ask(&self, call: Call, limit: Duration) -> Came {
        self.answer(self.begin(call), limit).await
    }

    /// The reason why no answer comes.
    fn trouble(&self) -> Error {
        match &*self.link.borrow() {
            Link::Up => Error::unavailable("the server", "is silent", true),
            Link::Down(error) => error.clone(),
        }
    }

    /// Returns when the session has had no connection for that long, with the reason, or is over.
    pub async fn down(&self, limit: Duration) -> Error {
        let mut link = self.link.clone();
        loop {
            if link.wait_for(|link| matches!(link, Link::Down(_))).await.is_err() {
                return ended("the server");
            }
            match timeout(limit, link.wait_for(|link| matches!(link, Link::Up))).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return ended("the server"),
                Err(_) => return self.trouble(),
            }
        }
    }

    pub fn is_over(&self) -> bool {
        self.jobs.is_closed()
    }

    /// Ends the session behind the requests under way.
    pub fn close(&self) {
        let _ = self.jobs.send(Job::Close);
    }

    /// Ends the task without a word to the server.
    pub fn cut(&self) {
        self.stop.notify_one();
    }

    /// Returns when the session has ended.
    pub async fn over(&self) {
        let mut over = self.over.clone();
        // Its task drops the other half.
        let _ = over.wait_for(|over| *over).await;
    }
}

pub fn ended(server: impl Into<String>) -> Error {
    Error::unavailable(server.into(), "has ended the session", false)
}

/// A request that was sent.
struct Asked {
    number: i32,
    sent: Instant,
    ask: Ask,
}

#[derive(Default)]
struct Watched {
    is_own: bool,
    others: Vec<oneshot::Sender<()>>,
    /// The hearers of changes of its children.
    children: Vec<oneshot::Sender<()>>,
}

impl Watched {
    fn data(&self) -> bool {
        self.is_own || self.others.iter().any(|other| !other.is_closed())
    }

    fn listed(&self) -> bool {
        self.children.iter().any(|other| !other.is_closed())
    }
}

struct Task {
    shared: Arc<Shared>,
    bond: Bond,
    session: Credentials,
    timeout: Duration,
    lease: Duration,
    jobs: UnboundedReceiver<Job>,
    stop: Arc<Notify>,
    /// The client wants its end, and nothing else any more.
    ends: bool,
    asked: VecDeque<Asked>,
    /// The nodes of whose changes the server tells.
    watched: HashMap<String, Watched>,
    /// The number of the last transaction that the client knows.
    seen: i64,
    /// The number of the last request.
    last: i32,
    /// The server's place among all servers.
    at: usize,
    link: watch::Sender<Link>,
    /// Its drop is the end.
    _end: watch::Sender<bool>,
}

/// The end of a connection.
enum End {
    Broken(String),
    /// The server says that the session is over.
    Expired,
    /// The client has ended it.
    Closed,
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        End::Broken(error.to_string())
    }
}

impl Task {
    async fn run(mut self, first: Dialed) {
        let stop = self.stop.clone();
        let reason = tokio::select! {
            biased;
            () = stop.notified() => LostReason::Closed,
            reason = self.live(first) => reason,
        };
        // The holders hear of it before the callers of requests do.
        self.shared.ended(self.bond, reason);
        self.jobs.close();
        let mut left: Vec<_> = self.asked.drain(..).map(|asked| asked.ask).collect();
        while let Ok(job) = self.jobs.try_recv() {
            if let Job::Ask(ask) = job {
                left.push(ask);
            }
        }
        for answer in left.into_iter().filter_map(|ask| ask.answer) {
            let _ = answer.send(Err(Failure::Over));
        }
    }

    /// Goes on from connection to connection until the session is over.
    async fn live(&mut self, first: Dialed) -> LostReason {
        let mut dialed = Some(first);
        loop {
            let Some(next) = dialed.take() else {
                return if self.ends { LostReason::Closed } else { LostReason::SessionEnded };
            };
            let next = match next.sent.elapsed() > self.lease / 4 && !self.ends {
                // A greeting that comes late proves little of the session. The server of another connection asks the leader anew.
                true => match self.dial(false).await {
                    Some(again) => again,
                    None => continue,
                },
                false => next,
            };
            self.agree(next.timeout, next.sent);
            let end = self.serve(next.wire, next.sent).await;
            let is_asked = self.ends || !self.asked.is_empty() || !self.watches().is_empty();
            self.forget_asked();
            // The tasks of the last answers have a lock now, or ask for more.
            yield_now().await;
            let is_needed = is_asked || !self.jobs.is_empty() || self.shared.has_nodes(self.bond);
            match end {
                End::Closed => return LostReason::Closed,
                End::Expired => return LostReason::SessionEnded,
                End::Broken(cause) => {
                    let cause = format!("has broken the connection ({cause})");
                    let _ = self.link.send(Link::Down(Error::unavailable(self.shared.server(), cause, false)));
                    // A request that breaks each connection, or a server that lets no client stay, must not keep all servers busy.
                    if next.sent.elapsed() < PAUSED {
                        sleep(PAUSED.mul_f64(0.5 + jitter() / 2.0)).await;
                    }
                    dialed = self.dial(!is_needed).await;
                    let _ = self.link.send(Link::Up);
                }
            }
        }
    }

    /// Notes the time for which a server keeps the session. Each server has limits of its own.
    fn agree(&mut self, timeout: Duration, sent: Instant) {
        let lease = timeout.min(self.shared.config.watchdog);
        self.timeout = timeout;
        if self.lease != lease {
            self.lease = lease;
            self.shared.tell(News::Agreed { bond: self.bond, lease, from: sent });
        }
    }

    /// Finds a server that goes on with the session. `None`: it is over. One that is `idle` holds nothing and waits for nothing, so
    /// a new one is as good: servers that have lost their data never take the former one again.
    async fn dial(&mut self, idle: bool) -> Option<Dialed> {
        let begun = Instant::now();
        let mut pause = PAUSE;
        let mut patience = SOON;
        let count = self.shared.config.servers.named().len();
        loop {
            let mut is_late = false;
            for _ in 0..count {
                self.at = (self.at + 1) % count;
                let limit = self.shared.config.connect_timeout.min(self.timeout / 6).min(patience);
                let mut greeted = None;
                let wanted = self.shared.config.watchdog;
                let dialed =
                    dial::dial(&self.shared, self.at, &self.session, wanted, self.seen, limit, &mut greeted).await;
                match dialed {
                    Ok(dialed) => return dialed,
                    Err(error) => {
                        is_late |= matches!(error, Error::Unavailable { timeout: true, .. });
                        drop(self.link.send(Link::Down(error)));
                    }
                }
                // From its greeting on, the session lasts for as long as that server says.
                if let Some((timeout, sent)) = greeted {
                    self.agree(timeout, sent);
                }
            }
            // The session has ended by itself, if any server counts its time. Where none does, it is of no use to wait for it.
            if begun.elapsed() > if idle { self.timeout / 6 } else { self.timeout * 2 } {
                return None;
            }
            sleep(pause.mul_f64(0.5 + jitter() / 2.0)).await;
            pause = (pause * 2).min(LONGEST_PAUSE).min(self.timeout / 12);
            // A server that is not quite ready never answers a client that came too early; another one may need longer to answer.
            if is_late {
                patience *= 2;
            }
        }
    }

    /// The connection has broken: the outcome of what was sent is unknown.
    fn forget_asked(&mut self) {
        for Asked { ask, .. } in self.asked.drain(..) {
            if let Some(answer) = ask.answer {
                let _ = answer.send(Err(Failure::Unknown));
            }
        }
    }

    async fn serve(&mut self, mut wire: Wire, opened: Instant) -> End {
        let mut proof = Proof::new(opened, self.timeout, self.lease);
        let every = (self.timeout / 12).max(Duration::from_millis(10));
        // With a ping each twelfth, a connection that hangs is found before the third of a lease is over that is left at the
        // least.
        let silence = self.shared.config.response_timeout.min(self.timeout / 6);
        let mut pinged: Option<Instant> = None;
        let watches = self.watches();
        if let Err(end) = self.send(&mut wire, &watches, silence).await {
            return end;
        }
        if self.ends {
            return self.close(wire, &mut proof, silence).await;
        }
        // A server drops what comes for a session that ended while it let the client in: only an answer tells.
        let mut next_ping = Instant::now();
        let mut alarm = pin!(sleep_until(next_ping.into()));
        loop {
            tokio::select! {
                biased;
                packet = wire.receive() => {
                    let heard = match packet {
                        Ok(packet) => self.hear(&packet, &mut proof, &mut pinged),
                        Err(error) => Err(error.into()),
                    };
                    if let Err(end) = heard {
                        return end;
                    }
                }
                job = self.jobs.recv() => {
                    let now = Instant::now();
                    let mut packets = Vec::new();
                    let mut next = job;
                    let mut taken = 0;
                    let ends = loop {
                        match next {
                            Some(Job::Ask(ask)) => self.add(ask, now, &mut packets),
                            Some(Job::Close) | None => break true,
                        }
                        taken += 1;
                        // A job that is taken from the queue is carried out.
                        if taken == BATCH {
                            break false;
                        }
                        match self.jobs.try_recv() {
                            Ok(job) => next = Some(job),
                            Err(_) => break false,
                        }
                    };
                    if let Err(end) = self.send(&mut wire, &packets, silence).await {
                        return end;
                    }
                    if ends {
                        self.ends = true;
                        return self.close(wire, &mut proof, silence).await;
                    }
                }
                () = alarm.as_mut() => {
                    let now = Instant::now();
                    let late = self.oldest(pinged).map(|oldest| oldest + silence);
                    if late.is_some_and(|late| late <= now) {
                        return End::Broken(format!("no answer for {silence:?}"));
                    }
                    if next_ping <= now {
                        // The answers do not say to which ping they belong, so no more than one is under way.
                        if pinged.is_none() {
                            let ping = Packet::new().int(xid::PING).int(op::PING).done();
                            if let Err(end) = self.send(&mut wire, &ping, silence).await {
                                return end;
                            }
                            pinged = Some(now);
                        }
                        next_ping = now + every;
                    }
                    let late = self.oldest(pinged).map_or(next_ping, |oldest| oldest + silence);
                    alarm.as_mut().reset(next_ping.min(late).into());
                }
            }
        }
    }

    /// The sending of the oldest packet without an answer.
    fn oldest(&self, pinged: Option<Instant>) -> Option<Instant> {
        self.asked.front().map(|asked| asked.sent).into_iter().chain(pinged).min()
    }

    async fn send(&self, wire: &mut Wire, packets: &[u8], limit: Duration) -> Result<(), End> {
        match timeout(limit, wire.send(packets)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(End::Broken(format!("it takes nothing for {limit:?}"))),
        }
    }

    /// Adds a request to those that are sent now.
    fn add(&mut self, ask: Ask, now: Instant, packets: &mut Vec<u8>) {
        if ask.answer.as_ref().is_some_and(oneshot::Sender::is_closed) {
            // Its caller has gone: the request must not be carried out any more.
            return;
        }
        if let Some((path, Watcher::Own)) = &ask.watch {
            self.watched.entry(path.clone()).or_default().is_own = true;
        }
        self.last = if self.last == i32::MAX { 1 } else { self.last + 1 };
        packets.extend_from_slice(&ask.call.packet(self.last));
        self.asked.push_back(Asked { number: self.last, sent: now, ask });
    }

    /// The packets that have a new server tell of changes since the last one did.
    fn watches(&mut self) -> Vec<u8> {
        self.watched.retain(|_, watched| watched.data() || watched.listed());
        let mut packets = Vec::new();
        let (mut data, mut children): (Vec<&str>, Vec<&str>) = Default::default();
        let mut length = 0;
        let mut all = self.watched.iter().peekable();
        while let Some((path, watched)) = all.next() {
            data.extend(watched.data().then_some(path.as_str()));
            children.extend(watched.listed().then_some(path.as_str()));
            length += path.len() + 4;
            if length > WATCHES || all.peek().is_none() {
                let packet = Packet::new().int(xid::SET_WATCHES).int(op::SET_WATCHES).long(self.seen);
                let packet = packet.texts(data.drain(..)).texts(std::iter::empty()).texts(children.drain(..));
                packets.extend(packet.done());
                length = 0;
            }
        }
        packets
    }

    /// Takes a packet of the server.
    fn hear(&mut self, packet: &[u8], proof: &mut Proof, pinged: &mut Option<Instant>) -> Result<(), End> {
        let (head, content) = Head::read(packet)?;
        if head.transaction > 0 {
            self.seen = self.seen.max(head.transaction);
        }
        match head.number {
            xid::EVENT => {
                let (change, path) = wire::change(content)?;
                self.changed(path, change);
            }
            xid::PING => {
                if let Some(sent) = pinged.take() {
                    proof.answers(sent, Instant::now());
                }
            }
            xid::AUTH => {}
            // The hearers must look again by themselves.
            xid::SET_WATCHES if head.error != 0 => self.watched.clear(),
            xid::SET_WATCHES => {}
            number => {
                let at = self.asked.iter().position(|asked| asked.number == number);
                let Some(asked) = at.and_then(|at| self.asked.remove(at)) else {
                    return Err(End::Broken("it answers what was not asked".into()));
                };
                return self.answered(asked, &head, content, proof);
            }
        }
        Ok(())
    }

    fn answered(&mut self, asked: Asked, head: &Head, content: &[u8], proof: &mut Proof) -> Result<(), End> {
        let Asked { sent, ask, .. } = asked;
        let Head { error, transaction, .. } = *head;
        match error {
            code::EXPIRED => {
                self.asked.push_front(Asked { number: 0, sent, ask });
                return Err(End::Expired);
            }
            code::MOVED => {
                self.asked.push_front(Asked { number: 0, sent, ask });
                return Err(End::Broken("the session has moved to another server".into()));
            }
            _ => {}
        }
        let from = proof.from(sent);
        proof.answers(sent, Instant::now());
        if error == 0 && [op::CREATE, op::DELETE, op::SET_DATA, op::MULTI].contains(&ask.call.op) {
            self.shared.tell(News::Alive { bond: self.bond, from });
        }
        match ask.watch {
            Some((path, Watcher::Own)) if error == code::NO_NODE => self.changed(&path, Change::Deleted),
            Some((path, Watcher::Own)) if content.get(4..).is_some_and(|data| data.starts_with(REVOKED)) => {
                self.shared.asked_for(&path);
            }
            Some((path, Watcher::Other(other))) if error == 0 => {
                let others = &mut self.watched.entry(path).or_default().others;
                others.retain(|other| !other.is_closed());
                others.push(other);
            }
            Some((path, Watcher::Children(other))) if error == 0 => {
                let children = &mut self.watched.entry(path).or_default().children;
                children.retain(|other| !other.is_closed());
                children.push(other);
            }
            _ => {}
        }
        if let Some(answer) = ask.answer {
            let came = match error {
                0 => Ok(Reply { content: content.to_vec(), transaction, sent, from }),
                error => Err(Failure::Refused(error)),
            };
            let _ = answer.send(came);
        }
        Ok(())
    }

    /// A node has changed. The server tells of it once.
    fn changed(&mut self, path: &str, change: Change) {
        let Some(watched) = self.watched.get_mut(path) else { return };
        if change != Change::Written {
            watched.children.clear();
        }
        if change == Change::Children {
            if !watched.data() {
                self.watched.remove(path);
            }
            return;
        }
        watched.others.clear();
        let is_own = std::mem::take(&mut watched.is_own);
        if watched.children.is_empty() {
            self.watched.remove(path);
        }
        match change {
            Change::Deleted if is_own => self.shared.deleted(self.bond, path),
            _ if is_own && self.shared.is_own(path) => self.watch_again(path),
            _ => {}
        }
    }

    /// Asks to be told of the next change as well.
    fn watch_again(&mut self, path: &str) {
        if let Some(session) = self.shared.session_of(self.bond) {
            session.watch_own(path);
        }
    }

    /// Ends the session. The server has removed its nodes when it answers. If the connection breaks before that, another one
    /// must tell.
    async fn close(&mut self, mut wire: Wire, proof: &mut Proof, silence: Duration) -> End {
        self.last = if self.last == i32::MAX { 1 } else { self.last + 1 };
        let number = self.last;
        let mut late = Instant::now() + silence;
        if let Err(end) = self.send(&mut wire, &Call::close().packet(number), silence).await {
            return end;
        }
        loop {
            let packet = match timeout_at(late.into(), wire.receive()).await {
                Ok(Ok(packet)) => packet,
                Ok(Err(error)) => return error.into(),
                Err(_) => return End::Broken(format!("no answer for {silence:?}")),
            };
            late = Instant::now() + silence;
            if Head::read(&packet).is_ok_and(|(head, _)| head.number == number) {
                return End::Closed;
            }
            if let Err(end) = self.hear(&packet, proof, &mut None) {
                return end;
            }
        }
    }
}
