//! The calls of the model's client, on their way to the server and back, and the watchdog.

use std::time::Duration;

use super::super::grip::{HandOn, Inherited};
use super::super::{Ask, Lapsed, Leaving, Meant, Owned, SHORT, believed};
use super::server::{Call, Reply};
use super::world::{Acquiring, Held, NAME, Patience, Todo, WATCHDOG, Waiter, World};
use crate::base::clock::Instant;
use crate::engine::WINDOW;
use crate::engine::claim::Claim;
use crate::engine::gate::{Entry, Round};
use crate::engine::line::{Place, Returned, Step};
use crate::engine::pace::{Busy, Obstacle};
use crate::request::Look;

/// The heir of a release.
pub struct Pass {
    to: Waiter,
    sure: bool,
    by_server: bool,
    spare: u32,
    /// `None`: the release has the right to send, because the heir is the owner of the grip.
    entry: Option<Entry>,
}

/// An heir inside the client that does not know it yet.
pub struct Heir {
    to: Waiter,
    number: u64,
    left: Duration,
}

/// The work that goes on with the answer of a call. Its entries keep other calls about the same field out meanwhile.
pub enum Then {
    Acquire {
        waiter: Waiter,
        of_line: Option<Instant>,
        entry: Entry,
    },
    Release {
        owner: i64,
        leaving: Leaving,
        entry: Entry,
        pass: Option<Pass>,
        heard: u64,
    },
    TakeGrip {
        owner: i64,
        entry: Entry,
        own: Option<Entry>,
        back: Option<Acquiring>,
    },
    Ask {
        ask: Ask,
        owner: i64,
        first: u64,
        asked: u64,
        round: Round,
    },
    /// `asked`: the lease in the call, which is no shorter than what other holds need.
    Extend {
        held: Held,
        lease: Duration,
        asked: Duration,
        exact: bool,
        entry: Entry,
    },
    GiveBack {
        owner: i64,
        leave: u32,
        entry: Entry,
    },
}

pub struct Flying {
    call: Call,
    sent: Instant,
    /// The server may have carried out an earlier copy.
    repeated: bool,
    /// The reply on its way, and the number of [`super::server::Server::meddled`] as it ran.
    reply: Option<(Reply, u64)>,
    then: Then,
}

impl World {
    pub fn in_flight(&self) -> usize {
        self.flying.len()
    }

    pub fn send(&mut self, call: Call, then: Then) {
        self.flying.push(Flying { call, sent: self.now, repeated: false, reply: None, then });
    }

    /// The server carries a call out, even if it has done so before.
    pub fn run(&mut self, at: usize) {
        let now = self.now;
        let flying = &mut self.flying[at];
        // The server ignores a copy that comes too late. The client sends another one, but not of a question of the watchdog.
        if matches!(flying.then, Then::Ask { .. }) && now > flying.sent + WATCHDOG / 3 {
            flying.reply = Some((Reply::TooLate, self.server.meddled));
            return;
        }
        if now > flying.sent + WINDOW {
            flying.sent = now;
        }
        let reply = self.server.run(flying.call, now);
        flying.reply = Some((reply, self.server.meddled));
    }

    /// The answer is lost. The client sends the call once more; only a question of the watchdog comes anew later.
    pub fn lose(&mut self, at: usize) {
        if matches!(self.flying[at].then, Then::Ask { .. }) {
            return drop(self.flying.remove(at));
        }
        let flying = &mut self.flying[at];
        (flying.reply, flying.sent, flying.repeated) = (None, self.now, true);
    }

    pub fn deliver(&mut self, at: usize) {
        let Some((reply, word)) = self.flying[at].reply else { return };
        let Flying { call, sent, repeated, then, .. } = self.flying.remove(at);
        let now = self.now;
        self.drop_lapsed();
        match (then, reply) {
            (Then::Acquire { waiter, of_line, entry }, reply) => {
                let tried = match reply {
                    Reply::Taken { token, spare } => self
                        .taken(waiter, token, spare, sent, word)
                        .ok_or(Busy { left: Some(Duration::ZERO), available: 0 }),
                    Reply::Busy(left) => Err(Busy { left: Some(left), available: 0 }),
                    Reply::Missing(taken) => {
                        self.missing(waiter.owner, waiter.owner, taken, sent);
                        return self.todo.push_back(Todo::Acquire(Acquiring { waiter, of_line, entry: None }));
                    }
                    other => panic!("{other:?} to {call:?}"),
                };
                drop(entry);
                self.end_acquire(waiter, of_line, tried);
            }
            (Then::Release { owner, leaving, entry, pass, heard }, reply) => {
                match reply {
                    Reply::Missing(taken) if !repeated || leaving.leave > 0 => {
                        self.missing(owner, entry.claim.owner, taken, sent);
                        self.holds.tell_loss(&self.claims[owner as usize], leaving.number, now);
                    }
                    reply => self.released(owner, &entry.claim, &leaving, reply, sent, word),
                }
                let is_left = leaving.leave > 0
                    && matches!(reply, Reply::Left(_))
                    && self.holds.kept_under(&entry.claim, now) == 0;
                match is_left {
                    true => self.give_back(owner, 0, entry),
                    false => drop(entry),
                }
                match (pass, reply) {
                    (Some(Pass { to, entry, .. }), Reply::Passed { token, spare }) => {
                        let taken = self.taken(to, token, spare, sent, word);
                        drop(entry);
                        match taken {
                            Some(number) => self.has_it(to, number, to.time()),
                            None => self.return_to_line(),
                        }
                    }
                    (Some(pass), _) => {
                        drop(pass.entry);
                        self.return_to_line();
                    }
                    (None, Reply::Freed(listeners)) => {
                        self.line.iter_mut().for_each(|line| line.pace.freed(listeners, heard + listeners, now));
                    }
                    (None, _) => {}
                }
            }
            (Then::TakeGrip { owner, entry, own, back }, reply) => {
                let claim = &self.claims[owner as usize];
                let is_wanted = match reply {
                    Reply::Passed { .. } => {
                        let is_wanted = self.holds.gripped(claim, entry.claim.owner, WATCHDOG, sent, now);
                        // The client may have stopped believing in the hold meanwhile.
                        match self.holds.of(claim).is_some_and(|owned| owned.live() > 0) {
                            true => self.book.gripped(owner, sent + believed(WATCHDOG), word),
                            false => self.book.lost(owner),
                        }
                        is_wanted
                    }
                    Reply::Missing(taken) => {
                        self.missing(owner, entry.claim.owner, taken, sent);
                        true
                    }
                    other => panic!("{other:?} to {call:?}"),
                };
                drop(entry);
                own.filter(|_| !is_wanted).into_iter().for_each(|own| self.give_back_own(own));
                self.todo.extend(back.map(Todo::Acquire));
            }
            (Then::Ask { .. }, Reply::TooLate) => {}
            (Then::Ask { ask, owner, first, asked, round }, reply) => {
                let state = match reply {
                    Reply::Held => "1",
                    Reply::Missing(true) => "0",
                    _ => "-",
                };
                self.holds.answered(&[ask], state, self.incarnation, true, sent, now);
                // The answer is about those holds only.
                if self.book.first(owner) == Some(first) {
                    let until = (ask.lease > Duration::ZERO).then_some(sent + believed(WATCHDOG));
                    match state {
                        "1" => self.book.answered(owner, asked, until, word),
                        _ => self.book.lost(owner),
                    }
                }
                drop(round);
            }
            (Then::Extend { held: Held { owner, number }, lease, asked, exact, entry }, reply) => {
                let field = entry.claim.owner;
                match reply {
                    // The owner has taken the lock anew, under another field.
                    Reply::Held if self.holds.field(&self.claims[owner as usize]) != field => {}
                    Reply::Held => {
                        self.holds.lengthen(&self.claims[owner as usize], lease, sent, now);
                        self.book.lengthened(owner, sent + believed(lease), word);
                        if exact {
                            self.holds.ends_as_believed(&self.claims[owner as usize]);
                        }
                    }
                    Reply::Missing(taken) => self.missing(owner, field, taken, sent),
                    other => panic!("{other:?} to {call:?}"),
                }
                if !matches!(self.holds.look(number, now), Look::Held { .. }) {
                    self.holds.outlasts_in(&self.claims[owner as usize], field, now + asked);
                }
                drop(entry);
            }
            (Then::GiveBack { owner, leave, entry }, reply) => {
                self.holds.changed(NAME, now);
                if leave > 0 {
                    let claim = self.claim(owner);
                    match reply {
                        Reply::Left(left) => {
                            self.holds.left(&claim, entry.claim.owner, left, Duration::ZERO, sent, now);
                            self.book.left(owner, entry.claim.owner, sent + believed(left), false, word, now);
                        }
                        _ => self.holds.outlasts_under(&entry.claim, now + WATCHDOG),
                    }
                    if self.holds.kept_under(&entry.claim, now) == 0 {
                        return self.give_back(owner, 0, entry);
                    }
                }
                drop(entry);
            }
        }
    }

    /// The client sends no further copy of a call, and does not know its outcome.
    pub fn give_up(&mut self, at: usize) {
        let now = self.now;
        let flying = &mut self.flying[at];
        match &mut flying.then {
            // A client goes on to give back.
            Then::GiveBack { .. } => return,
            // It goes on as well to find out under which field its hold is, until it stops believing in it.
            Then::TakeGrip { owner, own, back, .. } => match back.take() {
                Some(Acquiring { waiter, of_line, entry }) => {
                    *own = entry;
                    return self.fail(waiter, of_line);
                }
                None if self.holds.believed_until(&self.claims[*owner as usize]).is_some_and(|until| until > now) => {
                    return;
                }
                None => {}
            },
            _ => {}
        }
        let Flying { then, .. } = self.flying.remove(at);
        match then {
            Then::Acquire { waiter, of_line, entry } => {
                let leave = self.holds.kept_under(&entry.claim, now);
                self.give_back(waiter.owner, leave, entry);
                self.fail(waiter, of_line);
            }
            Then::Release { owner, leaving, entry, pass, .. } => {
                self.holds.forget(&self.claims[owner as usize], leaving.number, now);
                self.book.ended(owner, leaving.number);
                self.give_back(owner, leaving.leave, entry);
                if let Some(pass) = pass {
                    let to = pass.to.owner;
                    pass.entry.into_iter().for_each(|entry| self.give_back(to, 0, entry));
                    self.return_to_line();
                }
            }
            Then::Extend { held, entry, asked, .. } => {
                let end = now + asked + WINDOW;
                self.holds.outlasts_in(&self.claims[held.owner as usize], entry.claim.owner, end);
                self.book.unsettled(held.owner);
                self.holds.changed(NAME, now);
                drop(entry);
            }
            Then::TakeGrip { own, .. } => own.into_iter().for_each(|own| self.give_back_own(own)),
            Then::Ask { .. } | Then::GiveBack { .. } => {}
        }
    }

    fn give_back_own(&mut self, own: Entry) {
        let leave = self.holds.kept_under(&own.claim, self.now);
        let owner = own.claim.owner;
        self.give_back(owner, leave, own);
    }

    /// Gives back what the owner of this entry may have beyond `leave` holds.
    fn give_back(&mut self, owner: i64, leave: u32, entry: Entry) {
        let field = entry.claim.owner;
        let call = Call::Release { field, leave, lease: Duration::ZERO, next: None, tokens: None };
        self.send(call, Then::GiveBack { owner, leave, entry });
    }

    /// Ends a try that has no outcome.
    fn fail(&mut self, waiter: Waiter, of_line: Option<Instant>) {
        let Some(since) = of_line else { return self.answer([waiter.id]) };
        self.working = false;
        self.book.doubted = Some(self.now);
        let line = self.line.as_mut().expect("a waiter is out");
        let mut ended: Vec<u64> = line.put_back().into_iter().map(|place| place.id).collect();
        line.pace.deaf(self.now);
        ended.extend(line.take_all_since(since).into_iter().map(|place| place.id));
        self.answer(ended);
    }

    /// Notes a hold that the server has given; `None`: its lease is over.
    fn taken(&mut self, waiter: Waiter, token: i64, spare: i64, sent: Instant, word: u64) -> Option<u64> {
        let Waiter { owner, lease, .. } = waiter;
        let claim = self.claim(owner);
        let now = self.now;
        let time = waiter.time();
        if time > SHORT && believed(time) <= now - sent {
            return None;
        }
        let is_over = |owned: &Owned| owned.live() == 0 || owned.field != owner && owned.deadline <= now;
        let is_first = self.holds.of(&claim).is_none_or(is_over);
        let number = self.holds.taken(&claim, || None, lease, self.incarnation, sent, now);
        let hold = (number, lease.is_none());
        let until = sent + believed(time);
        match is_first {
            true => self.book.began(owner, hold, until, self.incarnation, word, now),
            false => self.book.grew(owner, hold, until),
        }
        self.line.iter_mut().for_each(|line| line.pace.taken(sent));
        self.book.doubted.take_if(|since| *since < sent);
        if token != 0 {
            self.holds.fence(number, token, spare);
            self.book.newest = token + spare;
            self.give_token(owner, token);
        }
        Some(number)
    }

    /// Notes the server's answer that it has no such field, in which the owner had its holds.
    fn missing(&mut self, owner: i64, field: i64, taken: bool, sent: Instant) {
        let claim = &self.claims[owner as usize];
        let is_there = self.holds.field(claim) == field;
        self.holds.missing(claim, field, taken, self.incarnation, sent, self.now);
        if is_there {
            self.book.lost(owner);
        }
    }

    /// Ends a try that the line has sent at `of_line`, or the waiter itself.
    pub fn end_acquire(&mut self, waiter: Waiter, of_line: Option<Instant>, tried: Result<u64, Busy>) {
        let now = self.now;
        match (tried, of_line) {
            (Ok(number), Some(_)) => self.has_it(waiter, number, waiter.time()),
            (Err(busy), Some(_)) => {
                let line = self.line.as_mut().expect("a waiter is out");
                line.busy(busy, true, now);
                let cancelled = line.put_back();
                self.answer(cancelled.map(|place| place.id));
            }
            (Ok(number), None) => {
                let cancelled = self.running.get(&waiter.id) == Some(&true);
                self.hand_out(waiter.owner, number, Some((waiter.id, cancelled)));
            }
            (Err(_), None) if waiter.patience == Patience::Once || waiter.deadline().is_some_and(|end| end <= now) => {
                self.answer([waiter.id]);
            }
            (Err(busy), None) => {
                let near = self.holds.is_near(&self.claims[waiter.owner as usize], now);
                self.join(waiter, if near { Obstacle::Near } else { Obstacle::WasBusy(busy) });
            }
        }
        if of_line.is_some() {
            self.working = false;
            if std::mem::take(&mut self.missed) {
                let heard = self.heard;
                self.line.iter_mut().for_each(|line| line.pace.heard(heard, now));
                self.book.doubted = Some(self.now);
            }
        }
    }

    /// A waiter of the line has the lock for as long as `lease`.
    fn has_it(&mut self, to: Waiter, number: u64, lease: Duration) {
        let returned = self.comes_out(lease).map(|(place, cancelled)| (place.id, cancelled));
        self.once_more(to.owner);
        self.hand_out(to.owner, number, returned);
    }

    /// Takes the waiter that has the lock for as long as `lease` out of the line. Tells whether it was cancelled.
    fn comes_out(&mut self, lease: Duration) -> Option<(Place<Waiter>, bool)> {
        let line = self.line.as_mut().expect("a waiter is out");
        line.pace.near(Some(lease), self.now);
        match line.returned() {
            Returned::Wants(place) => Some((place, false)),
            Returned::Cancelled(place) => Some((place, true)),
            Returned::Late => None,
        }
    }

    /// Starts the other waiters of an owner that has the lock now.
    fn once_more(&mut self, owner: i64) {
        let line = self.line.as_mut().expect("a waiter was out");
        // They must not wait behind their own owner.
        for twin in line.take_twins(owner) {
            self.running.insert(twin.id, false);
            self.begin(Waiter { number: twin.number, ..twin.waiter });
        }
    }

    /// Answers a waiter that has the lock, or gives the hold back if its caller is gone.
    fn hand_out(&mut self, owner: i64, number: u64, returned: Option<(u64, bool)>) {
        self.answer(returned.map(|(id, _)| id));
        match returned {
            Some((_, false)) => self.held.push(Held { owner, number }),
            _ => self.release(owner, Meant::Untaken(number)),
        }
    }

    pub fn begin_release(&mut self, owner: i64, meant: Meant, entry: Entry) {
        let claim = self.claim(owner);
        let now = self.now;
        let grip = entry.claim.owner;
        let leaving = match self.holds.leaving(&claim, meant, now) {
            Ok(Some(leaving)) => leaving,
            Ok(None) => return,
            Err(Lapsed { outlasts, .. }) => {
                if outlasts.is_some() {
                    let leave = self.holds.kept_under(&entry.claim, now);
                    self.give_back(owner, leave, entry);
                }
                return;
            }
        };
        self.held.retain(|held| held.number != leaving.number);
        let heard = self.heard;
        let mut pass = if leaving.leave == 0 { self.find_heir(leaving.since, grip) } else { None };
        if let Some(heir) = pass.as_ref().and_then(|pass| self.hand_on(owner, &leaving, grip, pass)) {
            return self.untold.push_back(heir);
        }
        let is_no_heir = |pass: &mut Pass| !pass.by_server || pass.to.owner == grip || self.has_field(pass.to.owner);
        if pass.take_if(is_no_heir).is_some() {
            self.put_back();
        }
        let call = Call::Release {
            field: grip,
            leave: leaving.leave,
            lease: leaving.lease,
            next: pass.as_ref().map(|pass| (pass.to.owner, pass.to.time())),
            tokens: pass.as_ref().filter(|_| self.server.fenced).map(|pass| pass.spare),
        };
        if leaving.leave == 0 {
            self.book.leaves(owner);
        }
        self.send(call, Then::Release { owner, leaving, entry, pass, heard });
    }

    /// Tells whether the server may have a field of this owner already, for a hold of its own or of another owner.
    fn has_field(&mut self, owner: i64) -> bool {
        let claim = self.claim(owner);
        self.holds.count(&claim, self.now) > 0 || self.holds.tangle(NAME, owner, self.now).is_some()
    }

    fn find_heir(&mut self, since: Instant, grip: i64) -> Option<Pass> {
        let line = self.line.as_mut()?;
        let (to, ways) = line.pass(since, self.now).map(|(place, ways)| (place.waiter, ways))?;
        let sure = ways.inside && !line.pace.is_doubted() && !line.waits(to.owner);
        let spare = if sure && to.lease.is_none() { self.spare() } else { 0 };
        let is_grips = to.owner == grip;
        let entry = if is_grips { None } else { self.gates.try_enter(&self.claims[to.owner as usize]) };
        if entry.is_none() && !is_grips {
            self.put_back();
            return None;
        }
        Some(Pass { to, sure, by_server: ways.by_server, spare, entry })
    }

    fn hand_on(&mut self, owner: i64, leaving: &Leaving, grip: i64, pass: &Pass) -> Option<Heir> {
        if !pass.sure || pass.to.lease.is_some() || self.turn.is_zero() {
            return None;
        }
        let Inherited { number, left, .. } = self.inherit(owner, leaving.number, pass.to.owner, grip)?;
        Some(Heir { to: pass.to, number, left })
    }

    /// Moves a hold under the field of `grip` from one owner to another.
    fn inherit(&mut self, from: i64, number: u64, to: i64, grip: i64) -> Option<Inherited> {
        let former = self.claim(from);
        let heir = self.claim(to);
        let hand_on =
            HandOn { from: &former, number, to: &heir, fenced: self.server.fenced, incarnation: self.incarnation };
        let before = self.before_hand_on(from);
        let is_suspect = self.suspect;
        let inherited = self.holds.hand_on(&hand_on, self.now, |field| {
            assert_eq!(field, grip, "another field's calls are kept out");
            !is_suspect
        })?;
        self.check_hand_on(from, to, &inherited, &before);
        self.handed_on += 1;
        Some(inherited)
    }

    /// Tells the first heir that does not know yet that it has the lock.
    pub fn tell_heir(&mut self) {
        let Some(Heir { to, number, left }) = self.untold.pop_front() else { return };
        let returned = self.comes_out(left);
        self.once_more(to.owner);
        match returned {
            Some((place, false)) if !self.server.fenced => {
                // The heir before may have slept past the end of its hold: its answer is in a seat of its own.
                self.come();
                self.asleep = Some((Waiter { number: place.number, ..place.waiter }, number));
            }
            returned => {
                self.hand_out(to.owner, number, returned.map(|(place, cancelled)| (place.id, cancelled)));
            }
        }
    }

    /// The thread of the last heir comes for its lock.
    pub fn come(&mut self) {
        if let Some((Waiter { id, owner, .. }, number)) = self.asleep.take() {
            self.hand_out(owner, number, Some((id, false)));
        }
    }

    /// A thread that runs takes the lock from an heir whose thread has not come for it. False: it cannot.
    pub fn barge(&mut self, owner: i64) -> bool {
        let Some((heir, number)) = self.asleep.filter(|(heir, _)| heir.owner != owner) else { return false };
        let may = self.line.as_ref().is_some_and(|line| {
            !line.pace.is_doubted() && !line.waits(owner) && line.is_in_turn(Duration::ZERO, self.now)
        });
        let claim = self.claim(owner);
        let field = self.holds.field(&self.claims[heir.owner as usize]);
        let gates = self.gates.clone();
        let grip = self.claim(field);
        let Some(_own) = gates.try_enter(&claim).filter(|_| may) else { return false };
        let _grip = if field == owner { None } else { gates.try_enter(&grip) };
        if _grip.is_none() && field != owner {
            return false;
        }
        let Some(Inherited { number, left, .. }) = self.inherit(heir.owner, number, owner, field) else {
            return false;
        };
        self.asleep = None;
        self.join(heir, Obstacle::Near);
        self.line.iter_mut().for_each(|line| line.pace.near(Some(left), self.now));
        self.asked += 1;
        let id = self.asked;
        self.hand_out(owner, number, Some((id, false)));
        self.barged += 1;
        true
    }

    fn released(&mut self, owner: i64, grip: &Claim, leaving: &Leaving, reply: Reply, sent: Instant, word: u64) {
        let claim = self.claim(owner);
        let now = self.now;
        let Leaving { number, leave, lease, .. } = *leaving;
        self.holds.released(&claim, number, leave == 0, now);
        self.book.ended(owner, number);
        if let Reply::Left(left) = reply {
            self.holds.left(&claim, grip.owner, left, lease, sent, now);
            let is_renewal = lease > Duration::ZERO && left >= lease;
            self.book.left(owner, grip.owner, sent + believed(left), is_renewal, word, now);
        }
    }

    fn return_to_line(&mut self) {
        self.line.as_mut().expect("a waiter is out").pace.hurry(self.now);
        self.put_back();
    }

    /// The heir of a release waits on in its place.
    fn put_back(&mut self) {
        let cancelled = self.line.as_mut().expect("a waiter is out").put_back();
        self.answer(cancelled.map(|place| place.id));
    }

    /// The work of the line's task.
    pub fn step_line(&mut self) {
        let now = self.now;
        let Some(line) = &mut self.line else { return };
        let late: Vec<u64> = line.expired(now).into_iter().map(|place| place.id).collect();
        let step = line.step(now);
        self.answer(late);
        match step {
            Step::End => {
                if self.line.take().is_some_and(|line| line.pace.is_doubted()) {
                    self.holds.doubt(NAME);
                }
                (self.server.listens, self.server.unheard) = (false, 0);
                // The line's doubt is now one about the holds.
                if self.book.doubted.take().is_some() {
                    self.book.suspect();
                }
            }
            Step::Listen if !self.working => {
                self.server.listens = true;
                self.line.iter_mut().for_each(|line| line.pace.listening());
            }
            Step::Try if !self.working => {
                let Some(waiter) = self.line.as_mut().and_then(|line| Some(line.take_head(now)?.waiter)) else {
                    return;
                };
                self.working = true;
                let blocked = self.try_acquire(Acquiring { waiter, of_line: Some(now), entry: None });
                self.todo.extend(blocked.map(Todo::Acquire));
            }
            _ => {}
        }
    }

    /// The client hears a message of the channel.
    pub fn hear(&mut self) {
        if self.server.unheard == 0 {
            return;
        }
        self.server.unheard -= 1;
        self.wake_line();
    }

    fn wake_line(&mut self) {
        self.heard += 1;
        let Some(line) = &mut self.line else { return };
        self.book.doubted = Some(self.now);
        self.missed = self.working;
        match self.working {
            true => line.pace.doubt(self.now),
            false => line.pace.heard(self.heard, self.now),
        }
    }

    /// The connection is cut and made anew, perhaps to another server.
    pub fn disconnect(&mut self, replaced: bool) {
        self.server.unheard = 0;
        self.incarnation += u64::from(replaced);
        self.suspect = true;
        self.wake_line();
    }

    /// The watchdog looks into what it has heard of.
    pub fn look_into(&mut self) {
        if std::mem::take(&mut self.suspect) {
            self.holds.suspect(Some(&[NAME.to_owned()]), self.now);
            self.book.suspect();
        }
        self.watch();
    }

    /// The watchdog asks about the holds that are due.
    pub fn watch(&mut self) {
        let now = self.now;
        self.holds.wake();
        for grip in self.gates.take_freed() {
            self.holds.look_again(&grip, now);
            self.check_look_again(&grip);
        }
        let gates = self.gates.clone();
        let mut asks = Vec::new();
        // A round must not end meanwhile.
        let mut shut_out = Vec::new();
        gates.open(|entrance| {
            self.holds.due(now, usize::MAX, |grip, ask| {
                let mut round = gates.round();
                let lets_in = entrance.lets_in(&mut round, grip);
                match lets_in {
                    true => asks.push((grip.owner, ask, round)),
                    false => shut_out.push((grip.owner, ask, round)),
                }
                lets_in
            })
        });
        for (field, ask, _) in &shut_out {
            let (owner, _) = self.check_ask(*field, ask);
            self.book.is_shut_out(owner, ask.lease > Duration::ZERO);
        }
        for (field, ask, round) in asks {
            let (owner, first) = self.check_ask(field, &ask);
            let asked = self.book.asks(owner, ask.lease > Duration::ZERO);
            let call = Call::Renew { field, lease: ask.lease, exact: false };
            self.send(call, Then::Ask { ask, owner, first, asked, round });
        }
        self.holds.sleep();
    }
}
