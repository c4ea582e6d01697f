//! The client of the model: its ledger, its line, its gates, and its calls on their way to the server and back. The
//! steps come in the order in which the code below `redis::wait` takes them. A thread of the program may come between
//! any two of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::super::{Holds, Meant, believed, lease_for};
use super::book::Book;
use super::calls::{Flying, Heir, Then};
use super::server::{Acquire, Call, Server};
use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::engine::gate::{Entry, Gates};
use crate::engine::line::{Line, Place};
use crate::engine::pace::{Busy, Obstacle};
use crate::engine::word::AN_ANSWER;
use crate::request::Look;

pub const WATCHDOG: Duration = Duration::from_millis(300);
pub const OWNERS: i64 = 6;
pub const NAME: &str = "n";

/// The time that a caller is willing to wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    Once,
    Until(Instant),
    Forever,
}

/// An acquire of the program without an answer.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    pub id: u64,
    pub owner: i64,
    /// `None`: the watchdog renews the hold.
    pub lease: Option<Duration>,
    pub patience: Patience,
    /// Its former place in the line.
    pub number: u64,
}

impl Waiter {
    pub fn time(&self) -> Duration {
        self.lease.unwrap_or(WATCHDOG)
    }

    pub fn deadline(&self) -> Option<Instant> {
        match self.patience {
            Patience::Until(deadline) => Some(deadline),
            Patience::Once | Patience::Forever => None,
        }
    }
}

/// A hold that the program knows of.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub owner: i64,
    pub number: u64,
}

/// An acquire that has no call in flight yet.
pub struct Acquiring {
    pub waiter: Waiter,
    /// The time at which the line began the try; `None`: the waiter makes it for itself.
    pub of_line: Option<Instant>,
    pub entry: Option<Entry>,
}

/// A call that waits for the right to send.
pub enum Todo {
    Acquire(Acquiring),
    Release(i64, Meant),
    Extend(Held, Duration),
}

pub struct World {
    pub now: Instant,
    /// Zero: the server passes the lock on each time.
    pub turn: Duration,
    pub server: Server,
    pub holds: Holds,
    pub line: Option<Line<Waiter>>,
    pub claims: Vec<Claim>,
    pub book: Book,
    pub held: Vec<Held>,
    /// The number of acquires so far, and those that have an answer.
    pub asked: u64,
    pub answered: Vec<u64>,
    pub handed_on: u64,
    /// A change of the key that the watchdog has not looked into.
    pub suspect: bool,
    pub incarnation: u64,
    pub gates: Arc<Gates>,
    pub flying: Vec<Flying>,
    pub todo: VecDeque<Todo>,
    pub untold: VecDeque<Heir>,
    /// An heir that has been told, and whose thread has not come for its lock; and the number of its hold.
    pub asleep: Option<(Waiter, u64)>,
    pub barged: u64,
    /// The acquires that continue out of their callers' sight, and whether they were cancelled.
    pub running: BTreeMap<u64, bool>,
    /// The task of the line has a call in flight.
    pub working: bool,
    /// A message has come meanwhile.
    pub missed: bool,
    pub heard: u64,
}

impl World {
    pub fn new(fenced: bool, turn: Duration) -> Self {
        let kind = if fenced { "fenced" } else { "plain" };
        let name: Arc<str> = NAME.into();
        World {
            now: Instant::now(),
            turn,
            server: Server::new(fenced),
            holds: Holds::new("u".into(), WATCHDOG),
            line: None,
            claims: (0..=OWNERS).map(|owner| Claim::new(kind, name.clone(), owner)).collect(),
            book: Book::default(),
            held: Vec::new(),
            asked: 0,
            answered: Vec::new(),
            handed_on: 0,
            suspect: false,
            incarnation: 0,
            gates: Arc::default(),
            flying: Vec::new(),
            todo: VecDeque::new(),
            untold: VecDeque::new(),
            asleep: None,
            barged: 0,
            running: BTreeMap::new(),
            working: false,
            missed: false,
            heard: 0,
        }
    }

    pub fn claim(&self, owner: i64) -> Claim {
        self.claims[owner as usize].clone()
    }

    /// The number of holds and of acquires without an answer.
    pub fn wants(&self) -> usize {
        self.held.len() + self.asked as usize - self.answered.len()
    }

    pub fn is_still(&self) -> bool {
        let is_idle = self.flying.is_empty() && self.todo.is_empty();
        is_idle && self.untold.is_empty() && self.asleep.is_none() && self.line.is_none()
    }

    pub fn acquire(&mut self, owner: i64, lease: Option<Duration>, patience: Patience) {
        self.asked += 1;
        let waiter = Waiter { id: self.asked, owner, lease, patience, number: 0 };
        let claim = self.claim(owner);
        let now = self.now;
        if patience != Patience::Once && self.holds.count(&claim, now) == 0 {
            let near = self.holds.is_near(&claim, now);
            let is_short = waiter.deadline().is_some_and(|deadline| deadline < now + AN_ANSWER);
            let has_a_line = self
                .line
                .as_ref()
                .is_some_and(|line| line.is_waited_in(now) && (line.pace.is_taken(now, now) || !is_short));
            if near || has_a_line {
                return self.join(waiter, if near { Obstacle::Near } else { Obstacle::Unknown });
            }
        }
        self.begin(waiter);
    }

    /// Tries at once if the owner has the right to send and no hold is tangled with it.
    pub fn begin(&mut self, waiter: Waiter) {
        self.running.entry(waiter.id).or_insert(false);
        let claim = self.claim(waiter.owner);
        let entry = self.gates.try_enter(&claim);
        match entry.filter(|_| self.holds.tangle(NAME, waiter.owner, self.now).is_none()) {
            Some(entry) => self.send_acquire(waiter, None, entry),
            None => self.todo.push_back(Todo::Acquire(Acquiring { waiter, of_line: None, entry: None })),
        }
    }

    pub fn release(&mut self, owner: i64, meant: Meant) {
        if let Meant::Given(number) = meant {
            self.held.retain(|held| held.number != number);
        }
        let blocked = self.try_release(owner, meant);
        self.todo.extend(blocked);
    }

    pub fn extend(&mut self, held: Held, lease: Duration) {
        let blocked = self.try_extend(held, lease);
        self.todo.extend(blocked);
    }

    pub fn cancel(&mut self, id: u64) {
        match self.running.get_mut(&id) {
            Some(cancelled) => *cancelled = true,
            None => {
                let place = self.line.as_mut().and_then(|line| line.leave(id));
                self.answer(place.map(|place| place.id));
            }
        }
    }

    pub fn answer(&mut self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            self.running.remove(&id);
            self.answered.push(id);
        }
    }

    pub fn join(&mut self, waiter: Waiter, met: Obstacle) {
        if self.running.remove(&waiter.id) == Some(true) {
            return self.answer([waiter.id]);
        }
        let (now, turn) = (self.now, self.turn);
        let is_new = self.line.is_none();
        let line = self.line.get_or_insert_with(|| {
            let mut line = Line::new(matches!(met, Obstacle::Near), now);
            line.turn = turn;
            line
        });
        line.pace.join(&met, waiter.deadline(), now);
        if !is_new && !line.is_waited_in(now) {
            line.meet(met, now);
        }
        let Waiter { id, owner, number, .. } = waiter;
        line.join(Place { id, deadline: waiter.deadline(), joined: now, wants: 1, number, owner, waiter });
    }

    /// Goes on with what waits for the right to send.
    pub fn go_on(&mut self) {
        for _ in 0..self.todo.len() {
            let blocked = match self.todo.pop_front() {
                Some(Todo::Acquire(acquiring)) => self.try_acquire(acquiring).map(Todo::Acquire),
                Some(Todo::Release(owner, meant)) => self.try_release(owner, meant),
                Some(Todo::Extend(held, lease)) => self.try_extend(held, lease),
                None => None,
            };
            self.todo.extend(blocked);
        }
    }

    pub fn try_acquire(&mut self, mut acquiring: Acquiring) -> Option<Acquiring> {
        let owner = acquiring.waiter.owner;
        let claim = self.claim(owner);
        let Some(entry) = acquiring.entry.take().or_else(|| self.gates.try_enter(&claim)) else {
            return Some(acquiring);
        };
        while let Some(tangle) = self.holds.tangle(NAME, owner, self.now) {
            if tangle.holder.owner != owner {
                drop(entry);
                let busy = Busy { left: Some(tangle.left), available: 0 };
                self.end_acquire(acquiring.waiter, acquiring.of_line, Err(busy));
                return None;
            }
            let Some(its_grip) = self.enter_grip(owner) else {
                acquiring.entry = Some(entry);
                return Some(acquiring);
            };
            let Some(lease) = self.holds.lease_to_keep(&claim, self.now) else { continue };
            let call = Call::Release {
                field: its_grip.claim.owner,
                leave: 0,
                lease: Duration::ZERO,
                next: Some((owner, lease)),
                tokens: None,
            };
            acquiring.entry = Some(entry);
            self.book.moves(owner);
            self.send(call, Then::TakeGrip { owner, entry: its_grip, own: None, back: Some(acquiring) });
            return None;
        }
        self.send_acquire(acquiring.waiter, acquiring.of_line, entry);
        None
    }

    /// The right to send a call about the holds of an owner, under the field where the server keeps them.
    fn enter_grip(&self, owner: i64) -> Option<Entry> {
        let claim = self.claim(owner);
        self.gates.try_enter(&claim.of(self.holds.field(&claim)))
    }

    fn try_release(&mut self, owner: i64, meant: Meant) -> Option<Todo> {
        match self.enter_grip(owner) {
            Some(entry) => self.begin_release(owner, meant, entry),
            None => return Some(Todo::Release(owner, meant)),
        }
        None
    }

    fn try_extend(&mut self, held: Held, lease: Duration) -> Option<Todo> {
        let claim = self.claim(held.owner);
        let now = self.now;
        let Some(entry) = self.enter_grip(held.owner) else { return Some(Todo::Extend(held, lease)) };
        let Look::Held { remaining } = self.holds.look(held.number, now) else { return None };
        let exact = self.holds.may_shorten(&claim);
        let asked = if exact { lease } else { lease.max(lease_for(remaining)) };
        if exact {
            let before = self.holds.shorten(&claim, lease, now).expect("it is held");
            self.holds.outlasts(&claim, before);
            self.book.shortened(held.owner, now + believed(lease));
        }
        let call = Call::Renew { field: entry.claim.owner, lease: asked, exact };
        self.send(call, Then::Extend { held, lease, asked, exact, entry });
        None
    }

    fn send_acquire(&mut self, waiter: Waiter, of_line: Option<Instant>, entry: Entry) {
        let claim = self.claim(waiter.owner);
        let count = self.holds.count_in(&claim, waiter.owner, self.now);
        let (owner, lease, spare) = (waiter.owner, waiter.time(), self.spare());
        let call = Call::Acquire(Acquire { owner, want: count + 1, lease, spare });
        self.send(call, Then::Acquire { waiter, of_line, entry });
    }

    /// The number of tokens to draw for the waiters of the line.
    pub fn spare(&self) -> u32 {
        match self.server.fenced && !self.turn.is_zero() {
            true => self.line.as_ref().map_or(0, Line::waiting) as u32,
            false => 0,
        }
    }
}
