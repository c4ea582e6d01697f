//! The waiters of one client for one lock: the head contends for it, and a release passes the hold on to it.
//! A state machine without I/O; `W` is what the caller needs to answer a waiter.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::clock::Instant;
use crate::waiter::{Next, Waiter};

/// A chain of passes ends after so many, or after this long: then others have their turn.
const PASSES: u32 = 64;
const CHAIN: Duration = Duration::from_millis(10);
/// How long an empty line stays: whoever comes back at once finds it listening.
const LINGER: Duration = Duration::from_millis(5);

/// What the line wants done now.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    End,
    Listen,
    Try,
    /// Give up the place in the server's queue: nobody wants it any more.
    Leave,
    Sleep(Instant),
}

#[derive(Debug)]
pub struct Line<W> {
    waiting: VecDeque<Place<W>>,
    deadlines: BTreeSet<(Instant, u64)>,
    out: Option<Out<W>>,
    chain: Option<(u32, Instant)>,
    empty_since: Option<Instant>,
    /// The server's queue has a place for this line.
    pub placed: bool,
    pub waiter: Waiter,
}

#[derive(Debug)]
pub struct Place<W> {
    pub id: u64,
    pub deadline: Option<Instant>,
    pub joined: Instant,
    pub waiter: W,
}

/// The one waiter for whom a call is in flight: a try of the line, or a pass by a release.
#[derive(Debug)]
struct Out<W> {
    id: u64,
    /// None: its time has run out meanwhile, and it was told so.
    place: Option<Place<W>>,
    cancelled: bool,
}

/// Whom a finished call was for.
#[derive(Debug)]
pub enum Returned<W> {
    Wants(Place<W>),
    /// Asked to end meanwhile; still to be answered.
    Cancelled(Place<W>),
    /// Answered already.
    Late,
}

impl<W> Line<W> {
    /// `near`: a hold of this client is in the way.
    pub fn new(near: bool, now: Instant) -> Self {
        let waiter = Waiter::new(near, now);
        Line { waiting: VecDeque::new(), deadlines: BTreeSet::new(), out: None, chain: None, empty_since: None, placed: false, waiter }
    }

    pub fn join(&mut self, place: Place<W>) {
        self.deadlines.extend(place.deadline.map(|deadline| (deadline, place.id)));
        self.empty_since = None;
        self.waiting.push_back(place);
    }

    /// Leaves from wherever it stands; `None`: a call is in flight for it, whose end will answer it.
    pub fn leave(&mut self, id: u64) -> Option<Place<W>> {
        if let Some(out) = self.out.as_mut().filter(|out| out.id == id) {
            out.cancelled = true;
            return None;
        }
        let at = self.waiting.iter().position(|place| place.id == id)?;
        let place = self.waiting.remove(at)?;
        self.forget_deadline(&place);
        Some(place)
    }

    /// Those whose time has run out.
    pub fn expired(&mut self, now: Instant) -> Vec<Place<W>> {
        let mut late = Vec::new();
        while let Some(&(_, id)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            self.deadlines.pop_first();
            match &mut self.out {
                Some(out) if out.id == id => late.extend(out.place.take()),
                _ => late.extend(self.waiting.iter().position(|place| place.id == id).and_then(|at| self.waiting.remove(at))),
            }
        }
        late
    }

    pub fn step(&mut self, now: Instant) -> Step {
        if self.waiting.is_empty() && self.out.is_none() {
            if self.placed {
                return Step::Leave;
            }
            let end = *self.empty_since.get_or_insert(now) + LINGER;
            return if now >= end { Step::End } else { Step::Sleep(end) };
        }
        let deadline = self.deadline();
        let next = if self.out.is_some() { Next::Sleep(now + Duration::from_secs(60)) } else { self.waiter.next(now) };
        match next {
            Next::Listen => Step::Listen,
            Next::Try => Step::Try,
            Next::Sleep(until) => Step::Sleep(deadline.map_or(until, |deadline| until.min(deadline))),
        }
    }

    /// Takes the head out for a try.
    pub fn take_head(&mut self, now: Instant) -> Option<&Place<W>> {
        if self.out.is_some() {
            return None;
        }
        let at = self.waiting.iter().position(|place| place.deadline.is_none_or(|deadline| deadline > now))?;
        let place = self.waiting.remove(at)?;
        self.out = Some(Out { id: place.id, place: Some(place), cancelled: false });
        self.out.as_ref().and_then(|out| out.place.as_ref())
    }

    /// Takes the head out, to pass a hold on to it that began at `since`; `None`: let go of the lock.
    pub fn pass(&mut self, since: Instant, now: Instant) -> Option<&Place<W>> {
        let (passes, since) = self.chain.take().unwrap_or((0, since));
        if passes >= PASSES || now.saturating_duration_since(since) >= CHAIN {
            return None;
        }
        self.take_head(now)?;
        self.chain = Some((passes + 1, since));
        self.out.as_ref().and_then(|out| out.place.as_ref())
    }

    /// The call in flight has ended, and its waiter is to be answered.
    pub fn returned(&mut self) -> Returned<W> {
        let Some(out) = self.out.take() else { return Returned::Late };
        match out.place {
            Some(place) => {
                self.forget_deadline(&place);
                if out.cancelled { Returned::Cancelled(place) } else { Returned::Wants(place) }
            }
            None => Returned::Late,
        }
    }

    /// The call in flight has ended without the lock: its waiter is the head again, unless it asked to end.
    pub fn put_back(&mut self) -> Option<Place<W>> {
        match self.out.take()? {
            Out { place: Some(place), cancelled: false, .. } => self.waiting.push_front(place),
            Out { place: Some(place), .. } => {
                self.forget_deadline(&place);
                return Some(place);
            }
            Out { place: None, .. } => {}
        }
        None
    }

    /// The place in the server's queue is given up; whoever has come meanwhile may have another.
    pub fn left(&mut self) {
        self.placed &= !self.waiting.is_empty();
    }

    /// Everybody who has waited since before `then`.
    pub fn take_all_since(&mut self, then: Instant) -> Vec<Place<W>> {
        let (old, new) = self.waiting.drain(..).partition(|place| place.joined <= then);
        self.waiting = new;
        let old: VecDeque<Place<W>> = old;
        old.iter().for_each(|place| self.forget_deadline(place));
        old.into()
    }

    /// Whoever comes now is to stand behind the others.
    pub fn is_waited_in(&self, now: Instant) -> bool {
        !self.waiting.is_empty() || self.out.is_some() || self.waiter.gives_way(now)
    }

    /// When the first of them runs out of time.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Everybody, for the end of the client.
    pub fn into_waiters(self) -> impl Iterator<Item = W> {
        self.waiting.into_iter().chain(self.out.and_then(|out| out.place)).map(|place| place.waiter)
    }

    fn forget_deadline(&mut self, place: &Place<W>) {
        if let Some(deadline) = place.deadline {
            self.deadlines.remove(&(deadline, place.id));
        }
    }
}

#[cfg(test)]
mod model;
