//! One connection: a session of the server, and what it has locked. A task drives it; it sends statements one after the other
//! without waiting for answers, and reads all the time.

use std::collections::{BTreeMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{sleep_until, timeout};

use crate::base::clock::Instant;
use crate::base::tasks;
use crate::request::error::{Error, LostReason};
use crate::sessions::driver::{Bond, Key};
use crate::sessions::mysql::Shared;
use crate::sessions::mysql::wire::{Answer, Refusal, Wire};

/// The command of a statement, and that of the end.
const STATEMENT: u8 = 3;
const END: u8 = 1;
/// The time for which the client waits until the server closes a connection that it has ended.
const LAST: Duration = Duration::from_secs(1);

/// The reason why a statement has no rows.
#[derive(Debug)]
pub enum Failure {
    Refused(Refusal),
    /// The session is over for the client.
    Ended(Error),
}

/// The work that a connection is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It carries statements that end at once.
    Carries,
    /// It waits in the server's queue first.
    Waits,
    /// It has the statements about the table of tokens. Other programs may lock that table, so these never go before the signs
    /// of life of a session with locks.
    Draws,
    /// It waits for the lock of a leader, has that alone, and ends with it.
    Leads,
}

/// The first row of an answer.
#[derive(Debug)]
pub struct Row {
    values: Vec<Option<Vec<u8>>>,
    /// The number that a statement without rows has made; 0: none.
    pub made: u64,
}

impl Row {
    /// The number in a column; `None`: `NULL`, or no number.
    pub fn number(&self, at: usize) -> Option<i64> {
        std::str::from_utf8(self.bytes(at)?).ok()?.parse().ok()
    }

    /// The value in a column; `None`: `NULL`.
    pub fn bytes(&self, at: usize) -> Option<&[u8]> {
        self.values.get(at)?.as_deref()
    }
}

type Came = std::result::Result<(Row, Instant), Failure>;

enum Job {
    Ask { statement: String, limit: Duration, answer: oneshot::Sender<Came> },
    Quit,
}

pub struct Connection {
    pub bond: Bond,
    /// The number of the session at the server.
    pub id: u64,
    /// The lock by which the session can be found.
    pub tag: String,
    server: String,
    role: Role,
    jobs: UnboundedSender<Job>,
    stop: Arc<Notify>,
    over: watch::Receiver<bool>,
    late: Arc<Notify>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// It is kept for waiting in the server's queue, or for the table of tokens.
    reserved: bool,
    /// How often the session has each lock.
    locks: BTreeMap<Key, u32>,
    /// The number of calls that have still to note a lock: the answer that gives it may have come.
    locking: usize,
    /// The number of statements without an answer.
    unanswered: usize,
    /// The time at which the oldest statement without an answer was handed over.
    waits_since: Option<Instant>,
}

impl State {
    /// Notes a statement for the task to send.
    fn handed_over(&mut self) {
        self.unanswered += 1;
        self.waits_since.get_or_insert_with(Instant::now);
    }

    /// Notes an answer. `next`: the sending time of the oldest statement that was sent and has none.
    fn answered(&mut self, next: Option<Instant>) {
        self.unanswered -= 1;
        // Statements may have been handed over that were not sent yet.
        self.waits_since = next.or_else(|| (self.unanswered > 0).then(Instant::now));
    }

    fn is_idle(&self) -> bool {
        !self.reserved && self.locks.is_empty() && self.locking == 0 && self.unanswered == 0
    }
}

impl Connection {
    /// Starts the task of a connection that is logged in. `tag`: the lock by which the session can be found.
    pub fn start(shared: &Arc<Shared>, wire: Wire, bond: Bond, id: u64, tag: &str, role: Role) -> Arc<Self> {
        let (jobs, taken) = unbounded_channel();
        let stop = Arc::<Notify>::default();
        let (end, over) = watch::channel(false);
        let late = Arc::<Notify>::default();
        let state = Arc::new(Mutex::new(State { reserved: role != Role::Carries, ..State::default() }));
        let task = Task {
            shared: shared.clone(),
            wire,
            bond,
            tag: tag.to_owned(),
            role,
            jobs: taken,
            stop: stop.clone(),
            late: late.clone(),
            patience: shared.patience(),
            state: state.clone(),
            asked: VecDeque::new(),
            _end: end,
        };
        drop(tasks::spawn(task.run()));
        let server = shared.server();
        Arc::new(Connection { bond, id, tag: tag.to_owned(), server, role, jobs, stop, over, late, state })
    }

    /// Tells whether it is for any call about locks, but for the time of a wait.
    pub fn is_for_all(&self) -> bool {
        matches!(self.role, Role::Carries | Role::Waits)
    }

    /// Tells whether it is for the table of tokens.
    pub fn draws(&self) -> bool {
        self.role == Role::Draws
    }

    /// Tells whether it is for the lock of one leader.
    pub fn leads(&self) -> bool {
        self.role == Role::Leads
    }

    /// Asks for one row, or carries out a statement without rows; `limit`: the time for the answer. Also gives the time of the
    /// sending.
    pub async fn ask(&self, statement: String, limit: Duration) -> Came {
        let (answer, answered) = oneshot::channel();
        self.state().handed_over();
        let _ = self.jobs.send(Job::Ask { statement, limit, answer });
        answered.await.unwrap_or_else(|_| {
            Err(Failure::Ended(Error::unavailable(self.server.as_str(), "has ended the session", false)))
        })
    }

    /// Ends the connection without a word.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Ends the session behind the statements under way.
    pub fn quit(&self) {
        let _ = self.jobs.send(Job::Quit);
    }

    /// Returns when the connection has ended.
    pub async fn over(&self) {
        let mut over = self.over.clone();
        // Its task drops the other half.
        let _ = over.wait_for(|over| *over).await;
    }

    pub fn is_over(&self) -> bool {
        self.over.has_changed().is_err()
    }

    /// Returns when a statement has been unanswered for longer than a call waits before it tries another connection.
    pub async fn is_late(&self) {
        self.late.notified().await;
    }

    pub fn reserve(&self, reserved: bool) {
        self.state().reserved = reserved;
    }

    pub fn is_reserved(&self) -> bool {
        self.state().reserved
    }

    /// Tells whether it may wait in the server's queue: it has no lock, and no statement is under way.
    pub fn is_idle(&self) -> bool {
        self.state().is_idle()
    }

    pub fn is_stuck(&self, time: Duration) -> bool {
        self.state().waits_since.is_some_and(|since| since.elapsed() > time)
    }

    /// Notes a call that may get a lock, until the drop.
    pub fn locking(&self) -> Locking {
        self.state().locking += 1;
        Locking(self.state.clone())
    }

    pub fn add(&self, key: &Key) {
        *self.state().locks.entry(key.clone()).or_default() += 1;
    }

    pub fn remove(&self, key: &Key) {
        let locks = &mut self.state().locks;
        if let Some(count) = locks.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                locks.remove(key);
            }
        }
    }

    pub fn has_locks(&self) -> bool {
        !self.state().locks.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

/// A call that may get a lock on a connection.
pub struct Locking(Arc<Mutex<State>>);

impl Drop for Locking {
    fn drop(&mut self) {
        self.0.lock().expect("nothing panics while it is held").locking -= 1;
    }
}

/// A statement that was sent.
struct Asked {
    sent: Instant,
    until: Instant,
    answer: Answer,
    to: oneshot::Sender<Came>,
    /// The client has known since then that the answer is late.
    late: Option<Instant>,
}

impl Asked {
    /// The time at which its answer is late, once more or for the first time.
    fn late_at(&self, patience: Duration) -> Instant {
        self.late.unwrap_or(self.sent) + patience
    }
}

struct Task {
    shared: Arc<Shared>,
    wire: Wire,
    bond: Bond,
    tag: String,
    role: Role,
    jobs: UnboundedReceiver<Job>,
    stop: Arc<Notify>,
    late: Arc<Notify>,
    /// An answer that takes longer is late.
    patience: Duration,
    state: Arc<Mutex<State>>,
    asked: VecDeque<Asked>,
    /// Its drop is the end.
    _end: watch::Sender<bool>,
}

/// The way in which a connection has ended.
struct Ended {
    reason: LostReason,
    /// The server has ended the session, too.
    is_clean: bool,
    cause: String,
}

impl Task {
    async fn run(mut self) {
        let Ended { reason, is_clean, cause } = self.serve().await;
        // A session that draws tokens has no lock that others want, and numbers that it draws yet are skipped. The server may
        // be unable to end it while its disk stands still.
        let haunts = !is_clean && self.role != Role::Draws;
        // The holders hear of it before the callers of statements do.
        self.shared.ended(self.bond, &self.tag, reason, haunts);
        let error = Error::unavailable(self.shared.server(), cause, false);
        self.jobs.close();
        let mut left: Vec<_> = self.asked.drain(..).map(|asked| asked.to).collect();
        while let Ok(job) = self.jobs.try_recv() {
            if let Job::Ask { answer, .. } = job {
                left.push(answer);
            }
        }
        for to in left {
            let _ = to.send(Err(Failure::Ended(error.clone())));
        }
    }

    async fn serve(&mut self) -> Ended {
        let broken = |error: std::io::Error| Ended {
            reason: LostReason::SessionEnded,
            is_clean: false,
            cause: format!("has ended the session ({error})"),
        };
        let silent = || Ended { reason: LostReason::Partitioned, is_clean: false, cause: "is silent".into() };
        // The alarm never goes off too late, and mostly too early. A timer that is earlier than all others of the runtime costs
        // two calls of the system more, and nearly each statement would have one.
        let mut rings = Instant::NEVER;
        let mut alarm = pin!(sleep_until(rings.into()));
        loop {
            let until = self.asked.front().map(|asked| asked.until);
            let next = self.asked.front().map(|asked| asked.until.min(asked.late_at(self.patience)));
            if let Some(next) = next
                && next < rings
            {
                rings = next;
                alarm.as_mut().reset(rings.into());
            }
            tokio::select! {
                biased;
                packet = self.wire.receive() => match packet {
                    Ok(packet) => match self.add(&packet.content) {
                        Ok(()) => {}
                        Err(error) => return broken(error),
                    },
                    Err(error) => return broken(error),
                },
                () = self.stop.notified() => return silent(),
                job = self.jobs.recv() => match job {
                    Some(Job::Ask { statement, limit, answer }) => {
                        let sent = Instant::now();
                        self.asked.push_back(Asked { sent, until: sent + limit, answer: Answer::default(), to: answer, late: None });
                        match timeout(limit, self.wire.command(STATEMENT, statement.as_bytes())).await {
                            Ok(Ok(())) => {}
                            Ok(Err(error)) => return broken(error),
                            Err(_) => return silent(),
                        }
                    }
                    Some(Job::Quit) | None => return self.quit().await,
                },
                () = alarm.as_mut() => {
                    if until.is_some_and(|until| until <= Instant::now()) && !self.bears() {
                        return silent();
                    }
                    self.tell_late();
                    rings = Instant::NEVER;
                    alarm.as_mut().reset(rings.into());
                }
            }
        }
    }

    /// Gives the oldest statement more time, if the session has got a lock since it was sent: the client believes in that for
    /// longer. False: its time is over.
    fn bears(&mut self) -> bool {
        let has_locks = !self.state.lock().expect("nothing panics while it is held").locks.is_empty();
        let Some(asked) = self.asked.front_mut().filter(|_| has_locks) else { return false };
        asked.until = asked.until.max(asked.sent + self.shared.longest());
        asked.until > Instant::now()
    }

    /// Tells the callers if the oldest answer is late. They hear of it again and again.
    fn tell_late(&mut self) {
        let now = Instant::now();
        if let Some(asked) = self.asked.front_mut()
            && asked.late_at(self.patience) <= now
        {
            asked.late = Some(now);
            self.late.notify_waiters();
        }
    }

    /// Adds a packet to the oldest answer that is not whole.
    fn add(&mut self, content: &[u8]) -> std::io::Result<()> {
        let Some(asked) = self.asked.front_mut() else {
            // The server says why it ends the session.
            return Err(std::io::Error::other(Refusal::new(content).message));
        };
        if let Some(whole) = asked.answer.add(content)? {
            let Asked { sent, to, answer, .. } = self.asked.pop_front().expect("it is the front");
            let row = whole.map(|rows| {
                let values = rows.into_iter().next().unwrap_or_default();
                (Row { values, made: answer.made }, sent)
            });
            let next = self.asked.front().map(|asked| asked.sent);
            self.state.lock().expect("nothing panics while it is held").answered(next);
            let _ = to.send(row.map_err(Failure::Refused));
        }
        Ok(())
    }

    /// Ends the session behind the statements under way. The server has freed its locks when it closes the connection.
    async fn quit(&mut self) -> Ended {
        let _ = timeout(LAST, async {
            while !self.asked.is_empty() {
                let packet = self.wire.receive().await?;
                self.add(&packet.content)?;
            }
            self.wire.command(END, &[]).await?;
            while self.wire.receive().await.is_ok() {}
            std::io::Result::Ok(())
        })
        .await;
        Ended { reason: LostReason::Closed, is_clean: true, cause: "has ended the session".into() }
    }
}

impl Refusal {
    /// The error of a statement or a login: `what` it was about.
    pub fn error(self, what: &str) -> Error {
        let remedy = match self.code {
            1044 | 1045 | 1698 => "; check the user, the password and its rights",
            1049 => "; make that schema, or name another one",
            _ => "",
        };
        Error::refused(what, self.code.to_string(), format!("{}{remedy}", self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer to the first statement comes before the task sends the second one.
    #[test]
    fn a_connection_with_a_statement_that_was_not_sent_yet_waits_in_no_queue_of_the_server() {
        let mut state = State::default();
        state.handed_over();
        state.handed_over();
        state.answered(None);
        assert!(!state.is_idle() && state.waits_since.is_some());
        state.answered(None);
        assert!(state.is_idle() && state.waits_since.is_none());
    }

    /// The task of the connection reads the answer before the call that asked goes on.
    #[test]
    fn a_connection_whose_lock_is_not_noted_yet_waits_in_no_queue_of_the_server() {
        let state = Arc::<Mutex<State>>::default();
        let idle = || state.lock().expect("nothing panics while it is held").is_idle();
        state.lock().expect("nothing panics while it is held").locking += 1;
        let call = Locking(state.clone());
        assert!(!idle());
        drop(call);
        assert!(idle());
    }
}
