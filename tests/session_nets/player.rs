//! One client in a cell: its calls, each of which must end in time and with a typed result, and a watch of each hold.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error, Holds};

use crate::witness::Witness;

/// A call without a wait must end within this time, of which a part is for a busy machine.
const BOUND: Duration = Duration::from_secs(12);

type End = Result<Answer, Error>;

/// The trouble that the caller itself makes for its next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    #[default]
    Usual,
    Cancelled(Duration),
    Dropped(Duration),
}

pub struct Player {
    /// The client of the lock, which may be a group. `None`: the program has dropped it.
    lock: Mutex<Option<Client>>,
    /// The clients of the servers, each with the witness of its server.
    clients: Mutex<Vec<(Client, Arc<Witness>)>>,
    /// The ids of these clients.
    pub ids: Vec<String>,
    kind: &'static str,
    name: String,
    next: Mutex<Next>,
    is_closed: AtomicBool,
    told: Mutex<Vec<String>>,
    pub faults: Mutex<Vec<String>>,
    pub errors: Mutex<Vec<Error>>,
    watches: Mutex<Vec<Watch>>,
}

/// A call without an answer yet.
pub struct Pending {
    what: &'static str,
    owner: i64,
    bound: Duration,
    ticket: u64,
    answer: Receiver<End>,
}

/// A hold, and the caller that waits for its end.
struct Watch {
    hold: u64,
    ticket: u64,
    begun: Instant,
    end: Receiver<(Instant, End)>,
}

impl Player {
    pub fn new(lock: Client, clients: Vec<(Client, Arc<Witness>)>, kind: &'static str, name: String) -> Self {
        let ids: Vec<String> = clients.iter().map(|(client, _)| client.id()).collect();
        for (id, (_, witness)) in ids.iter().zip(&clients) {
            witness.hears(id);
        }
        Player {
            lock: Mutex::new(Some(lock)),
            clients: Mutex::new(clients),
            ids,
            kind,
            name,
            next: Mutex::default(),
            is_closed: AtomicBool::new(false),
            told: Mutex::default(),
            faults: Mutex::default(),
            errors: Mutex::default(),
            watches: Mutex::default(),
        }
    }

    pub fn meets(&self, next: Next) {
        *self.next.lock().expect("no call panics") = next;
    }

    /// All answers to the client, in words.
    pub fn told(&self) -> String {
        self.told.lock().expect("no call panics").join("; ")
    }

    /// Takes the lock. Gives the number of the hold; `None`: it was not granted.
    pub fn take(&self, owner: i64, wait: Option<Duration>, lease: Option<Duration>) -> Option<u64> {
        let pending = self.begin_take(owner, wait, lease);
        self.end(pending)
    }

    pub fn begin_take(&self, owner: i64, wait: Option<Duration>, lease: Option<Duration>) -> Pending {
        self.begin("take", Request { wait, lease, ..self.request(Op::Acquire, owner) })
    }

    /// Releases a hold, if there is one.
    pub fn give(&self, owner: i64, hold: Option<u64>) {
        if let Some(hold) = hold {
            let pending = self.begin("give", Request { hold, ..self.request(Op::Release, owner) });
            self.end(pending);
        }
    }

    pub fn extend(&self, owner: i64, hold: Option<u64>, lease: Duration) {
        if let Some(hold) = hold {
            let lease = Some(lease);
            let pending = self.begin("extend", Request { hold, lease, ..self.request(Op::Extend, owner) });
            self.end(pending);
        }
    }

    pub fn force(&self) {
        let pending = self.begin("force", self.request(Op::ForceRelease, 77));
        self.end(pending);
    }

    pub fn inspect(&self) {
        let pending = self.begin("inspect", self.request(Op::Inspect, 1));
        self.end(pending);
    }

    fn request(&self, op: Op, owner: i64) -> Request {
        // One permit.
        let numbers = if self.kind == "permit" { vec![1] } else { Vec::new() };
        Request { numbers, ..Request::new(op, self.kind, self.name.clone(), owner) }
    }

    fn begin(&self, what: &'static str, request: Request) -> Pending {
        let next = std::mem::take(&mut *self.next.lock().expect("no call panics"));
        let (sender, answer) = mpsc::channel();
        let owner = request.owner;
        let bound = BOUND + request.wait.unwrap_or_default();
        let Some(lock) = self.lock().clone() else {
            return Pending { what, owner, bound, ticket: 0, answer };
        };
        let ticket = lock.ticket();
        match next {
            Next::Usual => lock.submit(ticket, request, move |result| drop(sender.send(result))),
            Next::Cancelled(after) => {
                lock.submit(ticket, request, move |result| drop(sender.send(result)));
                thread::sleep(after);
                lock.cancel(ticket);
            }
            Next::Dropped(after) => drop(thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .build()
                    .expect("the system gives a runtime");
                let ended = runtime.block_on(async { tokio::time::timeout(after, lock.run(request)).await });
                drop(sender.send(ended.unwrap_or(Err(Error::Cancelled))));
            })),
        }
        Pending { what, owner, bound, ticket, answer }
    }

    pub fn cancel(&self, pending: &Pending) {
        self.lock().iter().for_each(|lock| lock.cancel(pending.ticket));
    }

    /// Waits for the answer. Gives the number of a hold that was granted.
    pub fn end(&self, pending: Pending) -> Option<u64> {
        let Pending { what, owner, bound, answer, .. } = pending;
        let begun = Instant::now();
        let result = answer.recv_timeout(bound);
        let is_gone = self.lock().is_none();
        let mut told = self.told.lock().expect("no call panics");
        match result {
            Ok(Ok(answer)) => {
                told.push(format!("{what} {}", if answer.done { "done" } else { "not now" }));
                let hold = (answer.done && what == "take").then_some(answer.number as u64)?;
                self.watch(owner, hold);
                Some(hold)
            }
            Ok(Err(error)) => {
                told.push(format!("{what} {}: {error}", error.code()));
                self.errors.lock().expect("no call panics").push(error);
                None
            }
            Err(RecvTimeoutError::Disconnected) if is_gone => None,
            Err(end) => {
                let how = if end == RecvTimeoutError::Timeout { "is not answered" } else { "ended without an answer" };
                let fault = format!("{what} {how} after {:.1?}", begun.elapsed());
                told.push(fault.clone());
                self.faults.lock().expect("no call panics").push(fault);
                None
            }
        }
    }

    fn watch(&self, owner: i64, hold: u64) {
        let Some(lock) = self.lock().clone() else { return };
        let (sender, end) = mpsc::channel();
        let request = Request { hold, ..self.request(Op::Watch, owner) };
        let ticket = lock.ticket();
        let begun = Instant::now();
        lock.submit(ticket, request, move |result| drop(sender.send((Instant::now(), result))));
        self.watches.lock().expect("no call panics").push(Watch { hold, ticket, begun, end });
    }

    /// Closes the client, unless the close hangs.
    pub fn close(&self) {
        if self.is_closed.swap(true, SeqCst) {
            return;
        }
        let (sender, ended) = mpsc::channel();
        let clients: Vec<Client> = self.clients().iter().map(|(client, _)| client.clone()).collect();
        for client in clients {
            let sender = sender.clone();
            thread::spawn(move || {
                client.close_blocking(Holds::Release);
                let _ = sender.send(());
            });
        }
        drop(sender);
        let begun = Instant::now();
        for _ in 0..self.ids.len() {
            if self.clients().is_empty() {
                return;
            }
            if ended.recv_timeout(BOUND.saturating_sub(begun.elapsed())).is_err() {
                let fault = format!("close has not ended after {BOUND:?}");
                return self.faults.lock().expect("no call panics").push(fault);
            }
        }
    }

    /// Drops the client with all its holds. The watch of a group is a call under way, which would keep its clients.
    pub fn abandon(&self) {
        let lock = self.lock().take();
        for watch in &*self.watches.lock().expect("no call panics") {
            lock.iter().for_each(|lock| lock.cancel(watch.ticket));
        }
        drop(lock);
        drop(std::mem::take(&mut *self.clients()));
    }

    /// Looks whether the end of each hold was told to the caller that waits for it, and every loss as one. The clients are
    /// closed or dropped.
    pub fn check_watches(&self, witnesses: &[Arc<Witness>]) -> Vec<String> {
        let mut wrong = Vec::new();
        for Watch { hold, begun, end, .. } in self.watches.lock().expect("no call panics").drain(..) {
            let Ok((told, end)) = end.recv_timeout(BOUND) else {
                wrong.push(format!("the end of hold {hold} was not told"));
                continue;
            };
            // The holds of a group are no holds of its clients, and have other numbers.
            let [id] = &self.ids[..] else { continue };
            let Some(lost) = witnesses[0].lost_at(id, hold) else { continue };
            if !matches!(end, Err(Error::Lost(_) | Error::Closed { .. } | Error::Cancelled)) {
                wrong.push(format!("the loss of hold {hold} was told as {end:?}"));
            }
            let late = told.saturating_duration_since(lost.max(begun));
            if late > witnesses[0].patience() {
                wrong.push(format!("the loss of hold {hold} was told {late:?} after it was noticed"));
            }
        }
        wrong
    }

    fn lock(&self) -> MutexGuard<'_, Option<Client>> {
        self.lock.lock().expect("no call panics")
    }

    fn clients(&self) -> MutexGuard<'_, Vec<(Client, Arc<Witness>)>> {
        self.clients.lock().expect("no call panics")
    }
}
