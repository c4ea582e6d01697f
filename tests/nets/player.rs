//! One client in a cell: its calls, each of which must end in time and with a typed result, and the answers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Op, Request};
use redlatch_tests::kinds;
use redlatch_tests::remote::End;

use crate::cell::LEASE;
use crate::hand::Hand;

/// A call without a wait must end within this time, of which a part is for a busy machine.
const BOUND: Duration = Duration::from_secs(12);

/// The trouble that the caller itself makes for its next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    #[default]
    Usual,
    Cancelled(Duration),
    Dropped(Duration),
}

pub struct Player {
    hand: Mutex<Option<Hand>>,
    pub kind: &'static str,
    pub name: String,
    /// Whether calls are made on the caller's thread.
    blocks: bool,
    next: Mutex<Next>,
    /// Whether the client hears nothing of its server, so that it cannot know that a lock is taken.
    pub is_deaf: AtomicBool,
    told: Mutex<Vec<String>>,
    pub faults: Mutex<Vec<String>>,
    pub errors: Mutex<Vec<String>>,
}

/// A call without an answer yet.
pub struct Pending {
    what: &'static str,
    bound: Duration,
    ticket: u64,
    /// Whether the caller heard nothing of the server when the call began.
    was_deaf: bool,
    answer: mpsc::Receiver<End>,
}

impl Player {
    pub fn new(hand: Hand, kind: &'static str, name: String, blocks: bool) -> Self {
        Player {
            hand: Mutex::new(Some(hand)),
            kind,
            name,
            blocks,
            next: Mutex::default(),
            is_deaf: AtomicBool::new(false),
            told: Mutex::default(),
            faults: Mutex::default(),
            errors: Mutex::default(),
        }
    }

    /// `None`: the client was dropped.
    pub fn hand(&self) -> Option<Hand> {
        self.hand.lock().expect("no call panics").clone()
    }

    /// Drops the client with all its holds.
    pub fn abandon(&self) {
        drop(self.hand.lock().expect("no call panics").take());
    }

    pub fn meets(&self, next: Next) {
        *self.next.lock().expect("no call panics") = next;
    }

    /// All answers to the client, in words.
    pub fn told(&self) -> String {
        self.told.lock().expect("no call panics").join("; ")
    }

    pub fn request(&self, op: Op, owner: i64) -> Request {
        Request::new(op, self.kind, self.name.clone(), owner)
    }

    /// Takes the lock; `None`: it was not granted.
    pub fn take(&self, owner: i64, wait: Option<Duration>, lease: Option<Duration>) -> Option<Answer> {
        let pending = self.begin_take(owner, wait, lease);
        self.end(pending)
    }

    /// As [`Player::take`], while another owner of this client has the lock: the client knows that without the server.
    pub fn take_beside(&self, owner: i64, wait: Option<Duration>) -> Option<Answer> {
        let pending = self.begin_take(owner, wait, None);
        self.end(Pending { was_deaf: false, ..pending })
    }

    pub fn begin_take(&self, owner: i64, wait: Option<Duration>, lease: Option<Duration>) -> Pending {
        let acquire = Request { wait, lease, ..self.request(Op::Acquire, owner) };
        let request = match self.kind {
            "semaphore" => Request { numbers: vec![1], lease: None, ..acquire },
            "permit_semaphore" => Request { numbers: vec![1], lease: lease.or(Some(LEASE)), ..acquire },
            // The player takes a latch by setting it, and waits for it.
            "latch" if wait == Some(Duration::ZERO) => Request { numbers: vec![1], ..self.request(Op::TrySet, owner) },
            "latch" => Request { lease: None, ..acquire },
            _ => acquire,
        };
        self.begin("take", request)
    }

    /// Releases the hold of the answer `taken`; `None`: there is no hold.
    pub fn give(&self, owner: i64, taken: Option<&Answer>) -> Option<Answer> {
        let taken = taken?;
        let release = Request { hold: taken.number as u64, ..self.request(Op::Release, owner) };
        let request = match self.kind {
            "semaphore" => Request { hold: 0, numbers: vec![1], ..release },
            "permit_semaphore" => Request { numbers: vec![1], ..release },
            "latch" => self.request(Op::CountDown, owner),
            _ => release,
        };
        let pending = self.begin("give", request);
        self.end(pending)
    }

    pub fn extend(&self, owner: i64, taken: Option<&Answer>, lease: Duration) -> Option<Answer> {
        let taken = taken?;
        let extend = Request { lease: Some(lease), hold: taken.number as u64, ..self.request(Op::Extend, owner) };
        let request = match self.kind {
            "semaphore" | "latch" => {
                Request { numbers: vec![lease.as_millis() as i64], ..self.request(Op::LiveFor, owner) }
            }
            "permit_semaphore" => Request { hold: 0, numbers: taken.items.clone(), ..extend },
            _ => extend,
        };
        let pending = self.begin("extend", request);
        self.end(pending)
    }

    /// Takes the lock away from its holder by force.
    pub fn force(&self) -> Option<Answer> {
        let request = match self.kind {
            "semaphore" | "latch" | "permit_semaphore" => self.request(Op::Delete, 0),
            "permit" => Request { kind: "permit_semaphore", ..self.request(Op::Delete, 0) },
            _ => self.request(Op::ForceRelease, 77),
        };
        let pending = self.begin("force", request);
        self.end(pending)
    }

    pub fn ask(&self, what: &'static str, request: Request) -> Option<Answer> {
        let pending = self.begin(what, request);
        self.end(pending)
    }

    fn begin(&self, what: &'static str, request: Request) -> Pending {
        let next = std::mem::take(&mut *self.next.lock().expect("no call panics"));
        let bound = BOUND + request.wait.unwrap_or_default();
        let was_deaf = self.is_deaf.load(SeqCst);
        let Some(hand) = self.hand() else {
            let (sender, answer) = mpsc::channel();
            let _ = sender.send(Err(("closed".into(), "the client was dropped".into())));
            return Pending { what, bound, ticket: 0, was_deaf, answer };
        };
        let ticket = hand.ticket();
        let answer = match next {
            Next::Dropped(after) => hand.run_for(after, request),
            Next::Usual if self.blocks && request.wait == Some(Duration::ZERO) => hand.run_blocking(ticket, request),
            Next::Usual => hand.submit(ticket, request),
            Next::Cancelled(after) => {
                let answer = hand.submit(ticket, request);
                thread::sleep(after);
                hand.cancel(ticket);
                answer
            }
        };
        Pending { what, bound, ticket, was_deaf, answer }
    }

    pub fn cancel(&self, pending: &Pending) {
        self.hand().into_iter().for_each(|hand| hand.cancel(pending.ticket));
    }

    pub fn end(&self, pending: Pending) -> Option<Answer> {
        let Pending { what, bound, was_deaf, answer, .. } = pending;
        let begun = Instant::now();
        let result = answer.recv_timeout(bound);
        let mut told = self.told.lock().expect("no call panics");
        match result {
            Ok(Ok(answer)) => {
                let is_done = answer.done
                    && (self.kind != "latch" || what != "take" || answer.number != 0 || answer.items.is_empty());
                let token = if kinds::traits(self.kind).fenced && what == "take" {
                    format!(" with token {:?}", answer.items)
                } else {
                    String::new()
                };
                if what == "take" && !is_done && was_deaf && self.is_deaf.load(SeqCst) {
                    self.faults
                        .lock()
                        .expect("no call panics")
                        .push("take is told `not now` without a word of the server".into());
                }
                told.push(format!("{what} {}{token}", if is_done { "done" } else { "not now" }));
                is_done.then_some(answer)
            }
            Ok(Err((code, error))) => {
                told.push(format!("{what} {code}: {error}"));
                self.errors.lock().expect("no call panics").push(format!("{what}: {error}"));
                None
            }
            Err(end) => {
                let how = if end == RecvTimeoutError::Timeout { "is not answered" } else { "ended without an answer" };
                let fault = format!("{what} {how} after {:.1?}", begun.elapsed());
                told.push(fault.clone());
                self.faults.lock().expect("no call panics").push(fault);
                None
            }
        }
    }

    /// Closes the client, unless the close hangs.
    pub fn close(&self) {
        let Some(hand) = self.hand() else { return };
        if hand.close().recv_timeout(BOUND).is_err() {
            self.faults.lock().expect("no call panics").push(format!("close has not ended after {BOUND:?}"));
        }
    }
}
