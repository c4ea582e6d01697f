//! The waiters of one client for one lock. The head contends for the lock, and a release passes the hold on to the
//! head. Of a lock with several permits a waiter behind the head may go first if it wants fewer, see [`Overtaken`]. A
//! state machine without I/O; `W` is the value that the caller needs to answer a waiter.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::base::clock::Instant;
use crate::engine::pace::{Busy, Next, Obstacle, Pace};
use crate::engine::word::AN_ANSWER;

/// The bounds of a chain of owners of one client, in number and in time. Once the turn is over as well, waiters of other
/// processes get the lock.
const PASSES: u32 = 64;
const CHAIN: Duration = Duration::from_millis(10);
/// The time for which an empty line stays subscribed. A caller that returns at once finds it listening.
const LINGER: Duration = Duration::from_millis(5);
/// The permits that go to waiters which overtake the head before the line keeps some for it, and the longest time for
/// which it keeps them.
const ENOUGH: u64 = 16;
const KEPT: Duration = Duration::from_secs(1);

/// The next thing that the line's task must do.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    End,
    Listen,
    /// A try for the head.
    Try,
    /// A try for the first waiter that wants no more than is available, while the head sleeps.
    TryFitting,
    /// Gives up the place in the server's queue: no waiter wants it any more.
    Leave,
    Sleep(Instant),
}

#[derive(Debug)]
pub struct Line<W> {
    waiting: VecDeque<Place<W>>,
    /// The number of waiters of each owner.
    owners: HashMap<i64, u32, RandomState>,
    deadlines: BTreeSet<(Instant, u64)>,
    out: Option<Out<W>>,
    /// The number of owners in a row, and the time at which the server gave this client the lock.
    chain: Option<(u32, Instant)>,
    /// The time from the acquire of a grip during which its lock is handed on inside this client, to more owners than
    /// [`PASSES`] or for longer than [`CHAIN`]; zero: each time the server passes it on.
    pub turn: Duration,
    empty_since: Option<Instant>,
    /// The number of waiters that have come so far.
    came: u64,
    /// The permits that the last try found, less those taken since.
    available: u64,
    overtaken: Option<Overtaken>,
    /// Whether the server's queue has a place for this line.
    pub placed: bool,
    pub pace: Pace,
}

#[derive(Debug)]
pub struct Place<W> {
    pub id: u64,
    pub deadline: Option<Instant>,
    pub joined: Instant,
    /// The number of permits that it wants at once.
    pub wants: u64,
    /// Its number in the order of arrival; 0: it arrives now.
    pub number: u64,
    pub owner: i64,
    pub waiter: W,
}

/// The permits that went past a head that wants more than is available. Once they are as many as the head wants, no
/// waiter overtakes it for twice as long as that took; permits that come back meanwhile are the head's. If that time
/// was too short for the head, the next one is longer, and before it others overtake the head for as long. No waiter
/// that wants fewer waits longer than [`KEPT`] because of this.
#[derive(Debug)]
struct Overtaken {
    /// The head's [`Place::number`].
    head: u64,
    permits: u64,
    since: Instant,
    /// The time for which no waiter overtook it the last time.
    kept: Duration,
    /// The time until which no waiter may overtake it.
    kept_until: Option<Instant>,
}

impl Overtaken {
    fn new(head: u64, since: Instant, kept: Duration) -> Self {
        Overtaken { head, permits: 0, since, kept, kept_until: None }
    }
}

/// The ways in which a release may give the lock to the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Inside this client: its turn lasts.
    pub inside: bool,
    /// By the server.
    pub by_server: bool,
}

/// The one waiter that has a call in flight: a try of the line, or a pass by a release.
#[derive(Debug)]
struct Out<W> {
    id: u64,
    /// `None`: its wait has ended meanwhile, and the line has answered it.
    place: Option<Place<W>>,
    cancelled: bool,
    wants: u64,
    /// An earlier waiter is still in the line.
    overtakes: bool,
    /// See [`Line::outlasts`].
    lasts: bool,
    /// Its wait is over: the end of the call answers it, until this time at the latest. Otherwise the call could still get
    /// the lock for an owner that has been told that it did not.
    over: Option<Instant>,
}

/// The waiter of a finished call.
#[derive(Debug)]
pub enum Returned<W> {
    Wants(Place<W>),
    /// The waiter asked to end meanwhile, and has no answer yet.
    Cancelled(Place<W>),
    /// The waiter has its answer already.
    Late,
}

impl<W> Line<W> {
    /// `near`: another owner of this client holds the lock.
    pub fn new(near: bool, now: Instant) -> Self {
        let pace = Pace::new(near, now);
        Line {
            waiting: VecDeque::new(),
            owners: HashMap::default(),
            deadlines: BTreeSet::new(),
            out: None,
            chain: None,
            turn: Duration::ZERO,
            empty_since: None,
            came: 0,
            available: 0,
            overtaken: None,
            placed: false,
            pace,
        }
    }

    /// A waiter comes to a line in which no other waited. `met` is the result of its own try.
    pub fn meet(&mut self, met: Obstacle, now: Instant) {
        if let Obstacle::Busy(busy) | Obstacle::WasBusy(busy) = met {
            self.available = busy.available;
        }
        self.pace.meet(met, now);
    }

    pub fn join(&mut self, mut place: Place<W>) {
        if place.number == 0 {
            place.number = self.came + 1;
        }
        self.came = self.came.max(place.number);
        self.deadlines.extend(place.deadline.map(|deadline| (deadline, place.id)));
        self.empty_since = None;
        self.stand(place);
    }

    /// Puts a waiter into the line, before those that came later.
    fn stand(&mut self, place: Place<W>) {
        *self.owners.entry(place.owner).or_default() += 1;
        match self.waiting.back() {
            Some(last) if last.number > place.number => {
                let at = self.waiting.partition_point(|other| other.number < place.number);
                self.waiting.insert(at, place);
            }
            _ => self.waiting.push_back(place),
        }
    }

    fn step_out(&mut self, at: usize) -> Option<Place<W>> {
        let place = self.waiting.remove(at)?;
        self.miss(place.owner);
        Some(place)
    }

    /// Counts one waiter of this owner less.
    fn miss(&mut self, owner: i64) {
        if let Entry::Occupied(mut count) = self.owners.entry(owner) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Takes a waiter out of the line. `None`: a call is in flight for it, and the end of the call will answer it.
    pub fn leave(&mut self, id: u64) -> Option<Place<W>> {
        if let Some(out) = self.out.as_mut().filter(|out| out.id == id) {
            out.cancelled = true;
            return None;
        }
        let at = self.waiting.iter().position(|place| place.id == id)?;
        let place = self.step_out(at)?;
        self.forget_deadline(&place);
        Some(place)
    }

    /// Takes out the waiters whose time has run out. One with a call in flight mostly stays until the end of that.
    pub fn expired(&mut self, now: Instant) -> Vec<Place<W>> {
        let mut late = Vec::new();
        while let Some(&(_, id)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            self.deadlines.pop_first();
            match &mut self.out {
                Some(out) if out.id == id && out.lasts => {}
                Some(out) if out.id == id && out.over.is_none() => {
                    let latest = now + AN_ANSWER;
                    out.over = Some(latest);
                    self.deadlines.insert((latest, id));
                }
                Some(out) if out.id == id => late.extend(out.place.take()),
                _ => late.extend(self.waiting.iter().position(|place| place.id == id).and_then(|at| self.step_out(at))),
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
        let until = match self.next(now) {
            Next::Listen => return Step::Listen,
            Next::Try => return Step::Try,
            Next::Sleep(until) => until,
        };
        let fits = self.fitting(now).map(|(_, from)| from);
        match fits {
            Some(from) if from <= now => Step::TryFitting,
            fits => Step::Sleep([fits, self.deadline()].into_iter().flatten().fold(until, Instant::min)),
        }
    }

    fn next(&self, now: Instant) -> Next {
        if self.out.is_some() { Next::Sleep(now + Duration::from_secs(60)) } else { self.pace.next(now) }
    }

    /// The place of the first waiter that wants no more than is available, and the time from which it may try.
    fn fitting(&self, now: Instant) -> Option<(usize, Instant)> {
        if self.out.is_some() || self.available == 0 {
            return None;
        }
        let at = self.waiting.iter().position(|place| place.wants <= self.available && is_in_time(place, now))?;
        let kept = self.overtaken.as_ref().filter(|overtaken| at > 0 && overtaken.head == self.waiting[0].number);
        Some((at, kept.and_then(|overtaken| overtaken.kept_until).unwrap_or(now)))
    }

    /// Takes out the first waiter that wants no more than is available, for a try.
    pub fn take_fitting(&mut self, now: Instant) -> Option<&Place<W>> {
        let (at, _) = self.fitting(now).filter(|(_, from)| *from <= now)?;
        self.take(at, at > 0)
    }

    fn take(&mut self, at: usize, overtakes: bool) -> Option<&Place<W>> {
        let place = self.step_out(at)?;
        self.out = Some(Out {
            id: place.id,
            wants: place.wants,
            place: Some(place),
            cancelled: false,
            overtakes,
            lasts: false,
            over: None,
        });
        self.out.as_ref().and_then(|out| out.place.as_ref())
    }

    /// Notes that the server may have carried out the call in flight, and that the replicas have not confirmed it. The
    /// end of the call answers its waiter, even if the waiter's time runs out before.
    pub fn outlasts(&mut self) {
        self.out.iter_mut().for_each(|out| out.lasts = true);
    }

    /// Notes that the try in flight has taken the permits or the lock for its waiter.
    pub fn took(&mut self, now: Instant) {
        let Some(out) = self.out.as_ref().filter(|out| out.overtakes) else {
            // There may be more for the next waiter.
            self.pace.served(now);
            return self.pace.hurry(now);
        };
        // The answer to the head's try still holds: a waiter that overtakes it makes no room for it.
        self.available = self.available.saturating_sub(out.wants);
        let Some(head) =
            self.waiting.front().filter(|head| out.place.as_ref().is_none_or(|place| head.number < place.number))
        else {
            return self.pace.hurry(now);
        };
        let before = self.overtaken.take().filter(|overtaken| overtaken.head == head.number);
        let mut overtaken = match before {
            Some(Overtaken { kept_until: Some(until), kept, .. }) => Overtaken::new(head.number, until, kept),
            Some(goes_on) => goes_on,
            None => Overtaken::new(head.number, now, Duration::ZERO),
        };
        overtaken.permits += out.wants;
        let took = now.saturating_duration_since(overtaken.since);
        if overtaken.permits >= head.wants.max(ENOUGH) && took >= overtaken.kept {
            overtaken.kept = (2 * took).min(KEPT);
            overtaken.kept_until = Some(now + overtaken.kept);
        }
        self.overtaken = Some(overtaken);
    }

    /// Notes that the try in flight found the lock busy. `proven`: the server has confirmed the subscription.
    pub fn busy(&mut self, busy: Busy, proven: bool, now: Instant) {
        self.available = busy.available;
        match &self.out {
            Some(Out { overtakes: true, .. }) => self.pace.busy_too(busy.left, now),
            _ => self.pace.busy(busy.left, proven, now),
        }
    }

    /// Takes out the head for a try.
    pub fn take_head(&mut self, now: Instant) -> Option<&Place<W>> {
        if self.out.is_some() {
            return None;
        }
        let at = self.waiting.iter().position(|place| is_in_time(place, now))?;
        self.take(at, false)
    }

    /// Takes out the head, to give it a lock that this client has had from the server since `since`. `None`: the caller
    /// must release the lock.
    pub fn pass(&mut self, since: Instant, now: Instant) -> Option<(&Place<W>, Ways)> {
        let (served, since) = self.chain.take().unwrap_or((0, since));
        let took = now.saturating_duration_since(since);
        let lasts = took < self.turn;
        let is_short = took < CHAIN && served < PASSES;
        let ways = Ways {
            inside: lasts || (is_short && !self.turn.is_zero()),
            by_server: is_short || (lasts && took < CHAIN),
        };
        if !ways.inside && !ways.by_server {
            return None;
        }
        self.take_head(now)?;
        self.chain = Some((served + 1, since));
        self.out.as_ref().and_then(|out| out.place.as_ref()).map(|place| (place, ways))
    }

    /// Tells whether the turn of the last [`Line::pass`] lasts for longer than `more`.
    pub fn is_in_turn(&self, more: Duration, now: Instant) -> bool {
        self.chain.is_some_and(|(_, since)| now + more < since + self.turn)
    }

    /// Ends the call in flight; the caller answers its waiter.
    pub fn returned(&mut self) -> Returned<W> {
        let Some(out) = self.take_out() else { return Returned::Late };
        match out.place {
            Some(place) => {
                self.forget_deadline(&place);
                if out.cancelled { Returned::Cancelled(place) } else { Returned::Wants(place) }
            }
            None => Returned::Late,
        }
    }

    fn take_out(&mut self) -> Option<Out<W>> {
        let out = self.out.take()?;
        if let Some(latest) = out.over {
            self.deadlines.remove(&(latest, out.id));
        }
        Some(out)
    }

    /// Ends the call in flight without the lock: its waiter is back in its place, unless it asked to end.
    pub fn put_back(&mut self) -> Option<Place<W>> {
        self.chain = None;
        match self.take_out()? {
            Out { place: Some(place), cancelled: false, .. } => {
                // Its time may be over: then the next step takes it out.
                self.deadlines.extend(place.deadline.map(|deadline| (deadline, place.id)));
                self.stand(place);
            }
            Out { place: Some(place), .. } => {
                self.forget_deadline(&place);
                return Some(place);
            }
            Out { place: None, .. } => {}
        }
        None
    }

    /// Notes that the place in the server's queue is given up; a waiter that came meanwhile may get another.
    pub fn left(&mut self) {
        self.placed &= !self.waiting.is_empty();
    }

    /// Tells whether the caller must give up the place in the server's queue, because no waiter wants it any more.
    pub fn leaves(&mut self) -> bool {
        self.waiting.is_empty() && self.out.is_none() && std::mem::take(&mut self.placed)
    }

    /// Takes out the waiters that have waited since before `then`.
    pub fn take_all_since(&mut self, then: Instant) -> Vec<Place<W>> {
        self.take_those(|place| place.joined <= then)
    }

    /// Tells whether an owner has a waiter without a call in flight.
    pub fn waits(&self, owner: i64) -> bool {
        self.owners.contains_key(&owner)
    }

    /// Takes out every waiter of an owner.
    pub fn take_twins(&mut self, owner: i64) -> Vec<Place<W>> {
        match self.waits(owner) {
            // With very many waiters, each has its turn as the head. An owner hardly ever has another waiter, so the
            // search is rarely needed.
            false => Vec::new(),
            true => self.take_those(|place| place.owner == owner),
        }
    }

    fn take_those(&mut self, leaves: impl Fn(&Place<W>) -> bool) -> Vec<Place<W>> {
        let (taken, left): (Vec<_>, _) = self.waiting.drain(..).partition(leaves);
        self.waiting = left.into();
        for place in &taken {
            self.miss(place.owner);
            self.forget_deadline(place);
        }
        taken
    }

    /// Tells whether a newcomer must stand behind others.
    pub fn is_waited_in(&self, now: Instant) -> bool {
        !self.waiting.is_empty() || self.out.is_some() || self.pace.gives_way(now)
    }

    /// The number of waiters without a call in flight.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Tells whether a waiter is left.
    pub fn has_waiters(&self) -> bool {
        !self.waiting.is_empty() || self.out.as_ref().is_some_and(|out| out.place.is_some() && !out.cancelled)
    }

    /// The time at which the first wait ends.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// All waiters, for the end of the client.
    pub fn into_waiters(self) -> impl Iterator<Item = W> {
        self.waiting.into_iter().chain(self.out.and_then(|out| out.place)).map(|place| place.waiter)
    }

    fn forget_deadline(&mut self, place: &Place<W>) {
        if let Some(deadline) = place.deadline {
            self.deadlines.remove(&(deadline, place.id));
        }
    }
}

fn is_in_time<W>(place: &Place<W>, now: Instant) -> bool {
    place.deadline.is_none_or(|deadline| deadline > now)
}

mod views;

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    fn line(turn: Duration, now: Instant) -> Line<()> {
        let mut line = Line::new(true, now);
        line.turn = turn;
        for id in 1..=20 * u64::from(PASSES) {
            line.join(Place { id, deadline: None, joined: now, wants: 1, number: 0, owner: id as i64, waiter: () });
        }
        line
    }

    fn pass(line: &mut Line<()>, since: Instant, now: Instant) -> Option<Ways> {
        let ways = line.pass(since, now).map(|(_, ways)| ways);
        let _ = line.returned();
        ways
    }

    #[test]
    fn any_number_of_waiters_gets_the_lock_in_a_turn_and_none_after_it() {
        let start = Instant::now();
        let turn = Duration::from_millis(10);
        let mut line = line(turn, start);
        for id in 1..=10 * PASSES {
            let ways = pass(&mut line, start, start + turn * (id % 10) / 10).expect("the turn lasts");
            assert!(ways.inside);
        }
        assert_eq!(pass(&mut line, start, start + turn), None);
    }

    #[test]
    fn after_its_turn_a_lock_is_handed_on_to_as_many_as_without_turns() {
        let start = Instant::now();
        let turn = Duration::from_millis(2);
        for (served, more) in [(10, PASSES - 10), (PASSES, 0)] {
            let mut line = line(turn, start);
            for _ in 0..served {
                assert!(pass(&mut line, start, start).expect("the turn lasts").inside);
            }
            for _ in 0..more {
                assert_eq!(pass(&mut line, start, start + turn), Some(Ways { inside: true, by_server: true }));
            }
            assert_eq!(pass(&mut line, start, start + turn), None, "{served}");
            // The lock was released.
            assert!(pass(&mut line, start + turn, start + turn).expect("a new turn").inside);
            assert_eq!(pass(&mut line, start + turn, start + turn + CHAIN), None);
        }
    }

    #[test]
    fn in_a_turn_that_lasts_longer_the_server_passes_nothing_on() {
        let start = Instant::now();
        let mut line = line(10 * CHAIN, start);
        assert_eq!(pass(&mut line, start, start), Some(Ways { inside: true, by_server: true }));
        assert_eq!(pass(&mut line, start, start + CHAIN), Some(Ways { inside: true, by_server: false }));
    }
}
