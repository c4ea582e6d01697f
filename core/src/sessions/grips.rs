//! The grips of a client, and the owners that hold through them or wait for them. An owner holds a lock *through* the
//! client's grip of its key: inside the process the lock is handed on without a call, for the time of a turn. A state
//! machine without I/O: the caller brings the time and the outcomes of calls. `W` is the value that the caller needs to answer a
//! waiter.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use smallvec::SmallVec;

use crate::base::clock::Instant;
use crate::engine::line::{Line, Place, Returned};
use crate::engine::word::{AN_ANSWER, Word};
use crate::request::seat::{GRACE, Offer, Seat, WAKE_UP};
use crate::sessions::driver::{Bond, Key};

#[cfg(test)]
mod model;

/// The longest time for which an answer that the key is taken counts.
const TAKEN: Duration = Duration::from_secs(30);
/// The first and the longest delay between two tries of a line for which no connection can wait.
const FIRST_DELAY: Duration = Duration::from_millis(8);
const LONGEST_DELAY: Duration = Duration::from_millis(250);
/// The pause before a failed call is tried again.
const AGAIN: Duration = Duration::from_millis(50);
/// The most numbers to draw at once: in a turn of the usual time no more waiters get the lock.
const MOST_NUMBERS: i64 = 1000;

/// A waiter's wishes that matter to the line.
pub trait Wish {
    /// It waits for the end of one try, and no longer.
    fn is_once(&self) -> bool;
    /// Its hold has a fencing token.
    fn is_fenced(&self) -> bool;
    /// The seat of its thread, if a running thread may go before it.
    fn seat(&self) -> Option<&Arc<Seat>>;
    /// Its owner has a grip of its own.
    fn is_alone(&self) -> bool;
}

/// The next thing that the task of a key must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Take the key if it is free.
    Take,
    /// Wait in the server's queue.
    Stand,
    /// End that wait: no waiter is left.
    Leave,
    /// Give the grip back; `again`: for waiters of this client it takes its next turn at once.
    LetGo {
        bond: Bond,
        again: bool,
    },
    /// Draw so many fencing tokens.
    Fence {
        bond: Bond,
        count: i64,
    },
    /// Ask whether the key is taken: a waiter needs to know.
    Look,
    /// Give the grip to the heirs, see [`Grips::heirs`].
    Grant,
    Sleep(Instant),
    /// Nothing is left to do.
    End,
}

/// A waiter that has the lock now.
pub struct Heir<W> {
    pub place: Place<W>,
    pub bond: Bond,
    /// 0: its hold has none.
    pub token: i64,
    /// A running thread may take the lock until the heir's thread has come for it.
    pub may_miss: bool,
}

/// A hold that was taken back from an heir whose thread had not come for it.
pub struct TakenBack {
    pub number: u64,
    /// The heir's request.
    pub ticket: u64,
    pub offer: Box<dyn Offer>,
}

/// The call about a key that is under way. There is at most one, beside a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Take,
    Stand,
    LetGo,
    Fence,
}

enum Hand {
    /// The client has no grip of the key.
    Empty,
    Ours(Ours),
}

struct Ours {
    bond: Bond,
    /// The time at which the server gave the grip: a turn counts from it.
    since: Instant,
    holder: Option<Holder>,
    /// The head of the line may have it. Else the grip was released, and the turn decides.
    is_for_head: bool,
    /// Drawn tokens.
    tokens: Range<i64>,
    /// The last holder was a thread that came for the lock then.
    came: Option<Instant>,
}

struct Holder {
    owner: i64,
    holds: SmallVec<[u64; 1]>,
    /// The seat of its thread; `None`: it has none, or other holds came with this one.
    seat: Option<Arc<Seat>>,
    /// Its running thread took the lock by itself at that time.
    barged: Option<Instant>,
}

impl Holder {
    fn new(owner: i64) -> Self {
        Holder { owner, holds: SmallVec::new(), seat: None, barged: None }
    }

    /// The time at which its thread came for the lock.
    fn came(&self) -> Option<Instant> {
        self.barged.or_else(|| self.seat.as_ref()?.taken_at())
    }
}

struct Grip<W> {
    line: Line<W>,
    /// Waiters that hold the lock already and want one hold more, with a token.
    more: VecDeque<Place<W>>,
    hand: Hand,
    doing: Option<Doing>,
    is_looking: bool,
    /// The end of the wait in the server's queue was asked for.
    is_leaving: bool,
    /// The last proof that the key is taken.
    word: Option<Word>,
    /// A waiter has no such proof: the line must ask for one by then.
    ask_by: Option<Instant>,
    /// The waiters in the line whose wait is over: they wait for the answer to the call under way.
    overtime: Vec<u64>,
    /// The last call has failed.
    has_failed: bool,
    /// The client makes no try before.
    until: Instant,
    /// The next try waits in the server's queue.
    stands: bool,
    /// So does the first one.
    stands_at_once: bool,
    delay: Duration,
    /// The time at which the key's task looks again by itself; never: there is none.
    armed: Instant,
}

pub struct Grips<W> {
    grips: HashMap<Key, Grip<W>, RandomState>,
    /// The time for which the lock is handed on inside, from the time of the grip on.
    turn: Duration,
    /// Waiters stand in the server's queue from the first try on.
    stands_at_once: bool,
}

impl<W: Wish> Grip<W> {
    fn new(turn: Duration, stands_at_once: bool, now: Instant) -> Self {
        let mut line = Line::new(false, now);
        line.turn = turn;
        Grip {
            line,
            more: VecDeque::new(),
            hand: Hand::Empty,
            doing: None,
            is_looking: false,
            is_leaving: false,
            word: None,
            ask_by: None,
            overtime: Vec::new(),
            has_failed: false,
            until: now,
            stands: stands_at_once,
            stands_at_once,
            delay: FIRST_DELAY,
            armed: Instant::NEVER,
        }
    }

    fn ours(&mut self) -> Option<&mut Ours> {
        match &mut self.hand {
            Hand::Ours(ours) => Some(ours),
            Hand::Empty => None,
        }
    }

    fn holder(&self) -> Option<&Holder> {
        match &self.hand {
            Hand::Ours(Ours { holder, .. }) => holder.as_ref(),
            Hand::Empty => None,
        }
    }

    fn is_free(&self) -> bool {
        matches!(&self.hand, Hand::Ours(Ours { holder: None, .. }))
    }

    /// Tells whether it is free for the next waiter alone: the server has given it anew, or a token is on its way.
    fn is_for_next(&self) -> bool {
        let is_anew = matches!(&self.hand, Hand::Ours(Ours { holder: None, is_for_head: true, .. }));
        self.line.has_waiters() && (is_anew || self.doing == Some(Doing::Fence))
    }

    /// Takes the head out of the line.
    fn take_head(&mut self, now: Instant) -> Option<Place<W>> {
        match self.hand {
            // The lock was released inside: a turn has its bounds.
            Hand::Ours(Ours { holder: None, is_for_head: false, since, .. }) => drop(self.line.pass(since, now)?),
            _ => drop(self.line.take_head(now)?),
        }
        match self.line.returned() {
            Returned::Wants(place) | Returned::Cancelled(place) => Some(place),
            Returned::Late => None,
        }
    }

    fn step(&mut self, now: Instant) -> Step {
        let waits = self.line.has_waiters();
        if let Some(doing) = self.doing {
            let asks = self.ask_by.filter(|_| doing == Doing::Stand && !self.is_looking);
            return match doing {
                Doing::Stand if !waits && !self.is_leaving => Step::Leave,
                _ if asks.is_some_and(|by| by <= now) => Step::Look,
                _ => self.sleep(asks, now),
            };
        }
        match &mut self.hand {
            Hand::Empty if !waits => Step::End,
            Hand::Empty if self.until > now => self.sleep(Some(self.until), now),
            // A try that waits for nothing may come after the answer to another one. In the server's queue it would wait.
            Hand::Empty if self.stands && !self.line.first().is_some_and(|head| head.waiter.is_once()) => Step::Stand,
            Hand::Empty => Step::Take,
            Hand::Ours(Ours { holder: Some(_), tokens, bond, .. }) => match self.more.len() as i64 {
                0 if waits => self.sleep(None, now),
                0 => Step::End,
                _ if !tokens.is_empty() => Step::Grant,
                _ if self.until > now => self.sleep(Some(self.until), now),
                count => Step::Fence { bond: *bond, count: count.min(MOST_NUMBERS) },
            },
            Hand::Ours(ours) if !waits || !(ours.is_for_head || self.line.turn_lasts(ours.since, now)) => {
                Step::LetGo { bond: ours.bond, again: waits }
            }
            Hand::Ours(ours) => {
                let wants_token = self.line.first().is_some_and(|place| place.waiter.is_fenced());
                let needs_token = wants_token && ours.tokens.is_empty();
                match needs_token {
                    true if self.until > now => self.sleep(Some(self.until), now),
                    true => {
                        let count = (self.line.waiting() as i64).min(MOST_NUMBERS);
                        Step::Fence { bond: ours.bond, count }
                    }
                    false => Step::Grant,
                }
            }
        }
    }

    fn sleep(&self, until: Option<Instant>, now: Instant) -> Step {
        let more = self.more.iter().filter_map(|place| place.deadline);
        let ends = [until, self.line.deadline()].into_iter().flatten().chain(more);
        Step::Sleep(ends.fold(now + Duration::from_secs(60), Instant::min))
    }

    /// Notes proof that the key is taken.
    fn told(&mut self, now: Instant) {
        self.word = Some(Word::taken_for(TAKEN, now));
        self.ask_by = None;
        self.has_failed = false;
    }

    /// Takes out the waiters whose time has run out, but for those that wait for the answer to a call.
    fn expired(&mut self, now: Instant) -> Vec<Place<W>> {
        let overtime = std::mem::take(&mut self.overtime);
        let mut over = Vec::new();
        for mut place in self.line.expired(now) {
            let is_new = !place.waiter.is_once() && !overtime.contains(&place.id);
            if is_new && self.waits_on(&place, now) {
                place.deadline = Some(now + AN_ANSWER);
                self.overtime.push(place.id);
                self.line.join(place);
            } else {
                over.push(place);
            }
        }
        for id in overtime {
            let Some(place) = self.line.leave(id) else { continue };
            if self.waits_on(&place, now) {
                self.overtime.push(id);
                self.line.join(place);
            } else {
                over.push(place);
            }
        }
        over
    }

    /// Tells whether the server may still answer a waiter whose wait is over.
    fn waits_on(&self, place: &Place<W>, now: Instant) -> bool {
        !self.has_failed && !self.is_taken(place.joined, now)
    }

    /// Tells whether a waiter that came at `came` knows that another owner has the key.
    fn is_taken(&self, came: Instant, now: Instant) -> bool {
        self.holder().is_some() || self.word.is_some_and(|word| word.stands(came, now))
    }
}

impl<W: Wish> Grips<W> {
    pub fn new(turn: Duration) -> Self {
        Grips { grips: HashMap::default(), turn, stands_at_once: false }
    }

    /// Whether waiters stand in the server's queue from the first try on.
    pub fn standing_at_once(self, stands_at_once: bool) -> Self {
        Grips { stands_at_once, ..self }
    }

    /// The owner that holds the lock through this client's grip.
    pub fn holder(&self, key: &Key) -> Option<i64> {
        self.grips.get(key)?.holder().map(|holder| holder.owner)
    }

    /// The numbers of the holds through the grip of this key.
    pub fn holds(&self, key: &Key) -> SmallVec<[u64; 1]> {
        self.grips.get(key).and_then(Grip::holder).map(|holder| holder.holds.clone()).unwrap_or_default()
    }

    pub fn bond(&self, key: &Key) -> Option<Bond> {
        match &self.grips.get(key)?.hand {
            Hand::Ours(ours) => Some(ours.bond),
            Hand::Empty => None,
        }
    }

    /// Tells whether a newcomer that does not wait finds the lock taken, without a question to the server.
    pub fn is_refused(&self, key: &Key) -> bool {
        self.grips.get(key).is_some_and(|grip| {
            grip.holder().is_some() || grip.line.has_waiters() || (grip.doing == Some(Doing::Stand) && !grip.is_leaving)
        })
    }

    /// Tells whether a release has had its effect: the last owner's grip is no longer the client's, or is another holder's, or that
    /// of the next waiter, which may still need a token. The end of its session is not enough while it is on its way back: the
    /// server may still have that.
    pub fn is_given_back(&self, key: &Key) -> bool {
        let is_back = |grip: &Grip<W>| !grip.is_free() || grip.is_for_next();
        self.grips.get(key).is_none_or(|grip| grip.doing != Some(Doing::LetGo) && is_back(grip))
    }

    /// Tells whether a call still goes on for waiters that have all gone: the key may be the client's for a moment.
    pub fn is_ending(&self, key: &Key) -> bool {
        self.grips.get(key).is_some_and(|grip| {
            let is_under_way = grip.doing.is_some() || grip.is_free();
            is_under_way && grip.holder().is_none() && !grip.line.has_waiters()
        })
    }

    /// A waiter joins the line.
    pub fn join(&mut self, key: &Key, place: Place<W>, now: Instant) {
        // The server's queue decides which owner is next.
        let turn = if place.waiter.is_alone() { Duration::ZERO } else { self.turn };
        let stands_at_once = self.stands_at_once;
        let grip = self.grips.entry(key.clone()).or_insert_with(|| Grip::new(turn, stands_at_once, now));
        if let Some(deadline) = place.deadline.filter(|_| !grip.is_taken(now, now)) {
            let wait = deadline.saturating_duration_since(now);
            let latest = now + wait.saturating_sub(AN_ANSWER).min(wait / 2);
            grip.ask_by = Some(grip.ask_by.map_or(latest, |by| by.min(latest)));
        }
        grip.line.join(place);
    }

    /// A waiter that holds the lock asks for one hold more, with a token. Its call begins now, and has some time for its answer.
    pub fn join_more(&mut self, key: &Key, mut place: Place<W>) {
        if let Some(grip) = self.grips.get_mut(key) {
            if !place.waiter.is_once() {
                place.deadline = place.deadline.map(|deadline| deadline.max(place.joined + AN_ANSWER));
            }
            grip.more.push_back(place);
        }
    }

    /// A waiter gives up.
    pub fn leave(&mut self, key: &Key, id: u64) -> Option<W> {
        let grip = self.grips.get_mut(key)?;
        let more = grip.more.iter().position(|place| place.id == id).and_then(|at| grip.more.remove(at));
        more.or_else(|| grip.line.leave(id)).map(|place| place.waiter)
    }

    /// All waiters, for the end of the client.
    pub fn take_waiters(&mut self) -> Vec<W> {
        let all = self.grips.values_mut().flat_map(|grip| {
            let mut places = grip.line.take_all_since(Instant::NEVER);
            places.extend(grip.more.drain(..));
            places
        });
        all.map(|place| place.waiter).collect()
    }

    /// Takes out the waiters whose time has run out; true: the server has said meanwhile that the lock is taken. However short a
    /// wait is, the server has [`AN_ANSWER`] for its answer.
    pub fn expired(&mut self, key: &Key, now: Instant) -> Vec<(W, bool)> {
        let Some(grip) = self.grips.get_mut(key) else { return Vec::new() };
        let late = grip.expired(now);
        let (more, left): (VecDeque<_>, _) =
            grip.more.drain(..).partition(|place| place.deadline.is_some_and(|deadline| deadline <= now));
        grip.more = left;
        // No other owner has the lock of those who want one hold more: the server has not answered.
        let more = more.into_iter().map(|place| (place.waiter, false));
        late.into_iter()
            .map(|place| (grip.is_taken(place.joined, now), place))
            .map(|(taken, place)| (place.waiter, taken))
            .chain(more)
            .collect()
    }

    /// The next step of the key's task, which begins it.
    pub fn step(&mut self, key: &Key, now: Instant) -> Step {
        let Some(grip) = self.grips.get_mut(key) else { return Step::End };
        let step = grip.step(now);
        match &step {
            Step::Take => grip.doing = Some(Doing::Take),
            Step::Stand => {
                grip.doing = Some(Doing::Stand);
                grip.is_leaving = false;
            }
            Step::LetGo { again, .. } => {
                grip.doing = Some(Doing::LetGo);
                grip.line.end_turn();
                if !again {
                    // It told of a holder of this client. Those that come from now on are to find the lock free.
                    grip.word = None;
                }
            }
            Step::Fence { .. } => {
                grip.doing = Some(Doing::Fence);
                // No owner has the lock while a token for the next one is on its way.
                if grip.is_free() {
                    grip.word.iter_mut().for_each(|word| word.end(now));
                }
            }
            Step::Leave => grip.is_leaving = true,
            Step::Look => grip.is_looking = true,
            Step::Sleep(until) => grip.armed = *until,
            Step::End if matches!(grip.hand, Hand::Empty) => drop(self.grips.remove(key)),
            Step::End => grip.armed = Instant::NEVER,
            Step::Grant => {}
        }
        step
    }

    /// Tells whether the key's task has anything to do before it looks again by itself.
    pub fn is_due(&mut self, key: &Key, now: Instant) -> bool {
        let step = self.grips.get_mut(key).map(|grip| (grip.step(now), grip.armed));
        match step {
            // The timers of the task may be late: they do not count the time of a suspended machine.
            Some((Step::Sleep(until), armed)) => until < armed || armed <= now,
            Some(_) => true,
            None => false,
        }
    }

    /// Gives the grip to the heirs, if the client has it and the turn allows it: to the head of the line with its owner's
    /// other waiters, or to waiters of the holder.
    pub fn heirs(&mut self, key: &Key, now: Instant) -> Vec<Heir<W>> {
        let Some(grip) = self.grips.get_mut(key) else { return Vec::new() };
        if grip.doing.is_some() || grip.step(now) != Step::Grant {
            return Vec::new();
        }
        let mut places = Vec::new();
        let mut may_miss = false;
        if grip.is_free() {
            let Some(head) = grip.take_head(now) else { return Vec::new() };
            let twins = grip.line.take_twins(head.owner);
            let owner = head.owner;
            places.push(head);
            places.extend(twins);
            let seat = places[0].waiter.seat().filter(|_| places.len() == 1).cloned();
            let Some(ours) = grip.ours() else { return Vec::new() };
            let is_short = ours.came.is_some_and(|came| now < came + WAKE_UP);
            let since = ours.since;
            ours.holder = Some(Holder { seat: seat.clone(), ..Holder::new(owner) });
            ours.is_for_head = false;
            may_miss = is_short && seat.is_some() && grip.line.turn_lasts(since, now + GRACE);
            grip.told(now);
        } else {
            places.extend(grip.more.drain(..));
        }
        let mut heirs = Vec::new();
        for place in places {
            let Some(ours) = grip.ours() else { break };
            let bond = ours.bond;
            match place.waiter.is_fenced() {
                true => match ours.tokens.next() {
                    Some(token) => heirs.push(Heir { place, bond, token, may_miss: false }),
                    None => grip.more.push_back(place),
                },
                false => heirs.push(Heir { place, bond, token: 0, may_miss }),
            }
        }
        heirs
    }

    /// Takes the lock back from an heir whose thread has not come for it, for another owner whose thread runs: that owner
    /// is the holder now. `None`: nothing has changed.
    pub fn take_back(&mut self, key: &Key, owner: i64, now: Instant) -> Option<TakenBack> {
        let grip = self.grips.get_mut(key)?;
        // The owner's own waiters ask for one hold more each.
        if grip.doing.is_some() || !grip.more.is_empty() || grip.line.waits(owner) {
            return None;
        }
        let Hand::Ours(ours) = &mut grip.hand else { return None };
        if !grip.line.turn_lasts(ours.since, now) {
            return None;
        }
        let holder = ours.holder.as_mut().filter(|holder| holder.owner != owner)?;
        let number = *holder.holds.first().filter(|_| holder.holds.len() == 1)?;
        let seat = holder.seat.as_ref()?;
        let (_, offer) = seat.take_back(now)?;
        let ticket = seat.ticket();
        *holder = Holder { barged: Some(now), ..Holder::new(owner) };
        Some(TakenBack { number, ticket, offer })
    }

    /// Draws a token for one hold more of the holder. `None`: the server must draw it.
    pub fn token(&mut self, key: &Key) -> Option<i64> {
        self.grips.get_mut(key)?.ours()?.tokens.next()
    }

    /// Notes a hold of the holder.
    pub fn held(&mut self, key: &Key, number: u64) {
        if let Some(Hand::Ours(Ours { holder: Some(holder), .. })) = self.grips.get_mut(key).map(|grip| &mut grip.hand)
        {
            holder.holds.push(number);
        }
    }

    /// Notes the end of a hold, by a release or a loss. True: it was the last one, and the grip is free for the next.
    pub fn let_go(&mut self, key: &Key, number: u64) -> bool {
        let Some(ours) = self.grips.get_mut(key).and_then(Grip::ours) else { return false };
        let Some(holder) = &mut ours.holder else { return false };
        holder.holds.retain(|held| *held != number);
        self.settle_holder(key)
    }

    /// Frees a grip whose holder has no hold. True: it did.
    pub fn settle_holder(&mut self, key: &Key) -> bool {
        let Some(grip) = self.grips.get_mut(key) else { return false };
        let Some(ours) = grip.ours() else { return false };
        let is_last = ours.holder.as_ref().is_some_and(|holder| holder.holds.is_empty());
        if is_last {
            ours.came = ours.holder.take().and_then(|holder| holder.came());
            ours.is_for_head = false;
            // Its owner's waiters for one hold more wait like any other.
            for place in std::mem::take(&mut grip.more) {
                grip.line.join(place);
            }
        }
        is_last
    }

    /// The server has given the client the key.
    pub fn took(&mut self, key: &Key, bond: Bond, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.hand = Hand::Ours(Ours { bond, since: now, holder: None, is_for_head: true, tokens: 0..0, came: None });
        grip.stands = grip.stands_at_once;
        grip.delay = FIRST_DELAY;
        grip.has_failed = false;
        // Another owner has the key only once it is the holder.
        grip.word = None;
        grip.ask_by = None;
    }

    /// Another client has the key, by the answer to a call sent at `sent`. Gives the waiter that waits no longer.
    pub fn busy(&mut self, key: &Key, sent: Instant, now: Instant) -> Option<W> {
        let grip = self.grips.get_mut(key)?;
        grip.doing = None;
        grip.hand = Hand::Empty;
        grip.told(now);
        grip.stands = true;
        grip.until = now;
        let is_answered = grip.line.first().is_some_and(|place| place.waiter.is_once() && place.joined <= sent);
        if is_answered { grip.take_head(now).map(|place| place.waiter) } else { None }
    }

    /// Another client has the key, by the server's answer to a call that waits in the server's queue. Tells whether a waiter
    /// whose wait is over waits for that.
    pub fn told_taken(&mut self, key: &Key, now: Instant) -> bool {
        let Some(grip) = self.grips.get_mut(key).filter(|grip| grip.doing == Some(Doing::Stand)) else { return false };
        // The line still asks again before the end of a long wait.
        let ask_by = grip.ask_by;
        grip.told(now);
        grip.ask_by = ask_by;
        !grip.overtime.is_empty()
    }

    /// No connection is free to wait in the server's queue: the line tries again later.
    pub fn no_room(&mut self, key: &Key, jitter: f64, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.stands = false;
        grip.until = now + grip.delay.mul_f64(1.0 - jitter / 4.0);
        grip.delay = (grip.delay * 2).min(LONGEST_DELAY);
    }

    /// A call has failed: the client has no grip, and tries again after a pause.
    pub fn failed(&mut self, key: &Key, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.hand = Hand::Empty;
        grip.stands = grip.stands_at_once;
        grip.until = now + AGAIN;
        grip.has_failed = true;
        grip.word.iter_mut().for_each(|word| word.end(now));
    }

    /// Takes out the waiters that have waited since before `then`; true: the server has said that the lock is taken.
    pub fn take_waiting_since(&mut self, key: &Key, then: Instant) -> Vec<Place<W>> {
        let Some(grip) = self.grips.get_mut(key) else { return Vec::new() };
        let mut places = grip.line.take_all_since(then);
        let (more, left): (VecDeque<_>, _) = grip.more.drain(..).partition(|place| place.joined <= then);
        grip.more = left;
        places.extend(more);
        places
    }

    /// The server has taken the grip back, and has not given it again.
    pub fn freed(&mut self, key: &Key, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.has_failed = false;
        grip.hand = Hand::Empty;
        grip.until = now;
    }

    /// The server has drawn these tokens.
    pub fn fenced(&mut self, key: &Key, tokens: Range<i64>) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.has_failed = false;
        grip.delay = FIRST_DELAY;
        if let Some(ours) = grip.ours() {
            ours.tokens = tokens;
        }
    }

    /// The server gives no tokens for now: they are drawn again after a pause.
    pub fn not_yet_fenced(&mut self, key: &Key, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.doing = None;
        grip.until = now + grip.delay;
        grip.delay = (grip.delay * 2).min(LONGEST_DELAY);
    }

    /// The server has drawn no tokens. Gives the waiters that want one: those in the line, and those that have the lock already.
    pub fn not_fenced(&mut self, key: &Key, now: Instant) -> (Vec<Place<W>>, Vec<Place<W>>) {
        let Some(grip) = self.grips.get_mut(key) else { return (Vec::new(), Vec::new()) };
        grip.doing = None;
        grip.has_failed = true;
        grip.until = now + AGAIN;
        let (fenced, others): (Vec<_>, Vec<_>) =
            grip.line.take_all_since(Instant::NEVER).into_iter().partition(|place| place.waiter.is_fenced());
        others.into_iter().for_each(|place| grip.line.join(place));
        (fenced, grip.more.drain(..).collect())
    }

    /// The server has said whether the key is taken; `None`: it has not answered.
    pub fn looked(&mut self, key: &Key, is_taken: Option<bool>, now: Instant) {
        let Some(grip) = self.grips.get_mut(key) else { return };
        grip.is_looking = false;
        grip.ask_by = None;
        // Behind the end of the call it may tell of what this client had itself.
        if is_taken == Some(true) && grip.doing == Some(Doing::Stand) {
            grip.told(now);
            grip.ask_by = Some(now + TAKEN);
        }
    }

    /// A bond has ended, and with it the grip of this key. Gives the holds through it.
    pub fn ended(&mut self, key: &Key, bond: Bond, now: Instant) -> SmallVec<[u64; 1]> {
        let Some(grip) = self.grips.get_mut(key) else { return SmallVec::new() };
        match std::mem::replace(&mut grip.hand, Hand::Empty) {
            Hand::Ours(ours) if ours.bond == bond => {
                for place in std::mem::take(&mut grip.more) {
                    grip.line.join(place);
                }
                grip.until = now;
                ours.holder.map(|holder| holder.holds).unwrap_or_default()
            }
            hand => {
                grip.hand = hand;
                SmallVec::new()
            }
        }
    }

    /// Forgets a key whose task has died: gives its waiters.
    pub fn forget(&mut self, key: &Key) -> Vec<W> {
        let Some(grip) = self.grips.remove(key) else { return Vec::new() };
        grip.line.into_waiters().chain(grip.more.into_iter().map(|place| place.waiter)).collect()
    }

    /// Tells whether the client has no grip and no waiter.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.grips.is_empty()
    }
}
