//! The locks that are known, and the events that follow from the looks at them. It has neither a clock nor a connection: each call
//! gives the time of [`crate::clock`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use redlatch::Holder;

use super::event::{Change, Event};
use super::sight::{Sight, is_same};
use crate::list::UNREADABLE;

/// A free lock is looked at for so long after its last hold: busy locks are free in between.
const LINGER: Duration = Duration::from_secs(10);
/// Changes per second are those of this time.
const WINDOW: Duration = Duration::from_secs(10);
/// A lock that is about to end is looked at so long before and behind its end.
const BEFORE: Duration = Duration::from_millis(50);
const BEHIND: Duration = Duration::from_millis(10);
/// A look so shortly before the end leaves little doubt that the holder did not release the lock.
const CLOSE: Duration = Duration::from_millis(250);
/// A page of a listing may be so old.
const PAGE: Duration = Duration::from_millis(250);
/// The events that wait for a reader. Without one the older half is forgotten.
const MOST_EVENTS: usize = 10_000;
/// The shortest time between two looks at a lock.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(20);
const HOUR: Duration = Duration::from_secs(3600);
/// A server answers again when no call has failed for so long: of a cluster one may be silent alone.
const STEADY: Duration = Duration::from_secs(5);
/// A lock whose last look is older is marked: there are more locks than looks.
const OLD: Duration = Duration::from_secs(10);

/// A lock that is held, or was a moment ago.
#[derive(Clone, Debug)]
pub struct Known {
    /// `None`: it is free.
    pub sight: Option<Sight>,
    /// The holders were first seen then.
    pub since: Duration,
    /// The last look: its beginning, and its answer.
    asked: Duration,
    pub seen: Duration,
    /// The last look that failed.
    failed: Option<Duration>,
    first: Duration,
    /// The restarts of servers by the last look.
    restarts: u64,
    changes: VecDeque<(Duration, u64)>,
    /// Grows with each look.
    pub version: u64,
    /// Its place in [`Watch::due`].
    due: Duration,
    is_busy: bool,
}

/// The work of the next moment.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Look(Vec<String>),
    /// There is none before this time.
    At(Duration),
}

/// The looks that are to come, in the order of their times.
type Due = BTreeSet<(Duration, String)>;

/// The time in which calls fail.
struct Silence {
    since: Duration,
    last: Duration,
    why: String,
}

pub struct Watch {
    /// A lock is looked at once in this time, if the server is quick enough.
    interval: Duration,
    known: BTreeMap<String, Known>,
    /// The looks at quiet locks, and those at busy ones.
    due: [Due; 2],
    versions: u64,
    /// The first listing is over: a lock that comes now has been acquired since.
    is_settled: bool,
    /// The time that the last listing took.
    listing: Option<Duration>,
    /// The time of the last answer to a look.
    answer: Option<Duration>,
    silence: Option<Silence>,
    /// The restarts of servers by the look that comes next.
    restarts: u64,
    is_quiets_turn: bool,
    expired: VecDeque<Duration>,
    events: Vec<Event>,
}

impl Watch {
    pub fn new(interval: Duration) -> Self {
        Watch {
            interval,
            known: BTreeMap::new(),
            due: [Due::new(), Due::new()],
            versions: 0,
            is_settled: false,
            listing: None,
            answer: None,
            silence: None,
            restarts: 0,
            is_quiets_turn: false,
            expired: VecDeque::new(),
            events: Vec::new(),
        }
    }

    /// A listing has found this lock. Of a lock that is known it tells nothing: the page may be older than the last look.
    pub fn listed(&mut self, sight: Sight, now: Duration) {
        if self.known.get(&sight.name).is_some_and(|known| can_look(&sight.name) || known.sight.is_none()) {
            return;
        }
        self.saw(&sight.name.clone(), Some(sight), now.saturating_sub(PAGE), now);
    }

    /// A listing that began then has found all that it could.
    pub fn listing_done(&mut self, began: Duration, now: Duration) {
        self.is_settled = true;
        self.listing = Some(now.saturating_sub(began));
        let missing = |(name, known): (&String, &Known)| (!can_look(name) && known.seen < began).then(|| name.clone());
        let missing: Vec<_> = self.known.iter().filter_map(missing).collect();
        for name in missing {
            self.saw(&name, None, began, now);
        }
        let is_over = |known: &Known| known.sight.is_none() && now.saturating_sub(known.since) >= LINGER;
        let over: Vec<_> =
            self.known.iter().filter(|(_, known)| is_over(known)).map(|(name, _)| name.clone()).collect();
        for name in over {
            self.take(&name);
        }
    }

    /// Servers were started anew, or replaced, so many times before the look that comes next.
    pub fn restarted(&mut self, restarts: u64) {
        self.restarts = restarts;
    }

    /// A look that was begun at `asked` has found that; `None`: the lock is free.
    pub fn looked(&mut self, name: &str, sight: Option<Sight>, asked: Duration, now: Duration) {
        // This program has evicted the holder in between.
        if self.known.get(name).is_none_or(|known| asked >= known.seen) {
            self.saw(name, sight, asked, now);
        }
    }

    /// This program has taken the lock from them.
    pub fn evicted(&mut self, name: &str, kind: &'static str, from: Vec<Holder>, now: Duration) {
        let is_lost = |holder: &Holder| from.iter().any(|it| is_same(it, holder));
        if let Some(mut known) = self.take(name) {
            let age = now.saturating_sub(known.seen);
            let is_known = match &mut known.sight {
                sight if sight.as_ref().is_none_or(|sight| sight.holders.iter().all(is_lost)) => {
                    *sight = None;
                    known.since = now;
                    true
                }
                // The other permits of a semaphore stay out.
                Some(sight) if sight.is_whole() && sight.holders.iter().any(is_lost) => {
                    *sight = sight.later(age).except(is_lost);
                    true
                }
                // A look has found the next holder already.
                _ => false,
            };
            if is_known {
                known.asked = now;
                known.seen = now;
            }
            self.put(name, known, now);
        }
        self.tell(now, name, kind, Change::Evicted { from });
    }

    /// A look that was begun at `asked` has found that.
    fn saw(&mut self, name: &str, sight: Option<Sight>, asked: Duration, now: Duration) {
        let sight = sight.filter(|sight| !sight.is_idle());
        let Some(mut known) = self.take(name) else {
            let Some(sight) = sight else { return };
            if self.is_settled && sight.is_held() {
                self.tell(now, name, sight.kind, Change::Acquired { by: sight.holders.clone() });
            }
            let known = Known { restarts: self.restarts, ..Known::new(sight, asked, now) };
            self.put(name, known, now);
            return;
        };
        let is_restarted = known.restarts != self.restarts;
        let is_other = match (&known.sight, &sight) {
            (None, None) => now.saturating_sub(known.since) >= LINGER,
            (None, Some(after)) if !after.is_held() => true,
            (None, Some(after)) => {
                self.tell(now, name, after.kind, Change::Acquired { by: after.holders.clone() });
                known.count(now, 1);
                true
            }
            (Some(before), None) => {
                let by = before.holders.clone();
                let kind = before.kind;
                if before.is_held() {
                    let change = match End::of(before.remaining, [known.asked, known.seen], [asked, now]) {
                        End::Passed => Change::Expired { by },
                        _ if is_restarted => Change::Forgotten { by },
                        End::Ahead => Change::Gone { by, is_before_end: true },
                        End::Unclear => Change::Gone { by, is_before_end: false },
                    };
                    self.tell(now, name, kind, change);
                }
                true
            }
            (Some(before), Some(after)) => {
                let changes = self.compared(before, after, [known.asked, known.seen], [asked, now], is_restarted);
                let is_other =
                    after.is_whole() && before.is_whole() && after.without(before).len() == after.holders.len();
                let is_held = !after.holders.is_empty() || !before.holders.is_empty();
                if changes > 0 {
                    known.count(now, changes);
                }
                is_other && is_held
            }
        };
        if sight.is_none() && known.sight.is_none() && is_other {
            return;
        }
        if is_other {
            known.since = now;
        }
        known.sight = sight;
        known.asked = asked;
        known.seen = now;
        known.failed = None;
        known.restarts = self.restarts;
        self.put(name, known, now);
    }

    fn take(&mut self, name: &str) -> Option<Known> {
        let (name, known) = self.known.remove_entry(name)?;
        self.due[usize::from(known.is_busy)].remove(&(known.due, name));
        Some(known)
    }

    /// A lock that is busy now has its next look among the busy ones, even if it turns quiet before that.
    fn put(&mut self, name: &str, mut known: Known, now: Duration) {
        self.versions += 1;
        known.version = self.versions;
        known.due = known.next_look(self.interval);
        known.is_busy = known.has_waiters_or_changes(now);
        if can_look(name) {
            self.due[usize::from(known.is_busy)].insert((known.due, name.to_owned()));
        }
        self.known.insert(name.to_owned(), known);
    }

    /// Tells what has happened between two sights of a lock, of looks in these times, and gives the number of acquires.
    fn compared(
        &mut self,
        before: &Sight,
        after: &Sight,
        first: [Duration; 2],
        second: [Duration; 2],
        is_restarted: bool,
    ) -> u64 {
        let [_, now] = second;
        // Each acquire of a fenced lock draws a token, also those that no look has seen.
        let drawn = before.token.zip(after.token).map_or(0, |(old, new)| u64::try_from(new - old).unwrap_or(0));
        if !before.is_whole() || !after.is_whole() {
            return drawn;
        }
        let (left, joined) = (before.without(after), after.without(before));
        let count = drawn.max(joined.len() as u64);
        let (name, kind) = (&after.name, after.kind);
        let none_stayed = left.len() == before.holders.len();
        if none_stayed && !left.is_empty() && !joined.is_empty() {
            let lost = match End::of(before.remaining, first, second) {
                End::Passed => Change::Expired { by: left },
                _ if is_restarted => Change::Forgotten { by: left },
                End::Ahead | End::Unclear => {
                    self.tell(now, name, kind, Change::PassedOn { from: left, to: joined });
                    return count;
                }
            };
            self.tell(now, name, before.kind, lost);
            self.tell(now, name, kind, Change::Acquired { by: joined });
            return count;
        }
        for holder in left {
            // Without an end of its own it has that of the lock, which is still there.
            let end = holder.remaining.map_or(End::Ahead, |left| End::of(Some(left), first, second));
            let by = vec![holder];
            let change = match end {
                End::Passed => Change::Expired { by },
                _ if is_restarted => Change::Forgotten { by },
                End::Ahead => Change::Released { by },
                End::Unclear => Change::Gone { by, is_before_end: false },
            };
            self.tell(now, name, before.kind, change);
        }
        if !joined.is_empty() {
            self.tell(now, name, kind, Change::Acquired { by: joined });
        }
        count
    }

    fn tell(&mut self, at: Duration, name: &str, kind: &'static str, change: Change) {
        if matches!(change, Change::Expired { .. }) {
            self.expired.push_back(at);
            self.expired(at);
        }
        if self.events.len() >= MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
        self.events.push(Event { at, name: name.to_owned(), kind, change });
    }

    /// A look could not be made; the others come first.
    pub fn look_failed(&mut self, name: &str, now: Duration) {
        if let Some(mut known) = self.take(name) {
            known.failed = Some(now);
            self.put(name, known, now);
        }
    }

    /// A server has answered a look in that time.
    pub fn answered(&mut self, took: Duration) {
        self.answer = Some(took);
    }

    /// A server does not answer.
    pub fn unreachable(&mut self, why: &str, now: Duration) {
        match &mut self.silence {
            Some(silence) => silence.last = now,
            None => {
                self.silence = Some(Silence { since: now, last: now, why: why.to_owned() });
                self.tell(now, "", "", Change::Unreachable(why.to_owned()));
            }
        }
    }

    /// A server has answered.
    pub fn reachable(&mut self, now: Duration) {
        if self.silence.as_ref().is_some_and(|silence| now.saturating_sub(silence.last) >= STEADY) {
            self.silence = None;
            self.tell(now, "", "", Change::Reachable);
        }
    }

    /// The time since which calls fail, and why.
    pub fn silence(&self) -> Option<(Duration, &str)> {
        self.silence.as_ref().map(|silence| (silence.since, silence.why.as_str()))
    }

    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// The time that the last listing of all keys took.
    pub fn listing(&self) -> Option<Duration> {
        self.listing
    }

    /// The time in which a server has answered the last look.
    pub fn answer(&self) -> Option<Duration> {
        self.answer
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The locks that have expired in the last hour.
    pub fn expired(&mut self, now: Duration) -> usize {
        while self.expired.front().is_some_and(|at| now.saturating_sub(*at) > HOUR) {
            self.expired.pop_front();
        }
        self.expired.len()
    }

    pub fn locks(&self) -> impl Iterator<Item = (&String, &Known)> {
        self.known.iter()
    }

    pub fn known(&self, name: &str) -> Option<&Known> {
        self.known.get(name)
    }

    /// The names to look at now, so many at most. Locks that are waited for, or have changed, take turns with the quiet ones: there may
    /// be more locks than looks.
    pub fn next(&mut self, now: Duration, most: usize) -> Next {
        let mut due = self.due.each_ref().map(|due| due.iter().take_while(|(at, _)| *at <= now));
        let mut names = Vec::new();
        while names.len() < most {
            let turn = usize::from(!self.is_quiets_turn);
            let Some((_, name)) = due[turn].next().or_else(|| due[1 - turn].next()) else { break };
            self.is_quiets_turn = !self.is_quiets_turn;
            names.push(name.clone());
        }
        if names.is_empty() {
            let first = self.due.iter().filter_map(|due| Some(due.first()?.0)).min();
            return Next::At(first.unwrap_or(now + self.interval));
        }
        Next::Look(names)
    }
}

impl Known {
    fn new(sight: Sight, asked: Duration, now: Duration) -> Self {
        Known {
            sight: Some(sight),
            since: now,
            asked,
            seen: now,
            failed: None,
            first: now,
            restarts: 0,
            changes: VecDeque::new(),
            version: 0,
            due: now,
            is_busy: false,
        }
    }

    /// The last look, or the last one that failed.
    fn tried(&self) -> Duration {
        self.failed.unwrap_or(self.seen)
    }

    fn count(&mut self, now: Duration, changes: u64) {
        self.changes.push_back((now, changes));
        while self.changes.front().is_some_and(|(at, _)| now.saturating_sub(*at) > WINDOW) {
            self.changes.pop_front();
        }
    }

    /// The acquires in a second that looks have seen.
    pub fn rate(&self, now: Duration) -> f64 {
        let age = |at: &Duration| now.saturating_sub(*at);
        let count: u64 = self.changes.iter().filter(|(at, _)| age(at) <= WINDOW).map(|(_, count)| count).sum();
        count as f64 / age(&self.first).clamp(Duration::from_secs(1), WINDOW).as_secs_f64()
    }

    pub fn is_old(&self, now: Duration) -> bool {
        now.saturating_sub(self.seen) > OLD
    }

    /// The time for which looks have seen the lock with its holders.
    pub fn held_for(&self) -> Duration {
        self.seen.saturating_sub(self.since)
    }

    /// The time at which the lock ends, unless it is renewed; `None`: it does not end by itself, or is free.
    pub fn ends(&self) -> Option<Duration> {
        Some(self.seen + self.sight.as_ref()?.remaining?)
    }

    fn has_waiters_or_changes(&self, now: Duration) -> bool {
        let has_waiters = self.sight.as_ref().is_some_and(Sight::has_waiters);
        has_waiters || self.changes.back().is_some_and(|(at, _)| now.saturating_sub(*at) <= WINDOW)
    }

    /// The time of the next look. A look shortly before an end and one behind it tell an expired lock from a released one.
    fn next_look(&self, interval: Duration) -> Duration {
        let regular = self.tried() + interval;
        if self.failed.is_some() {
            return regular;
        }
        let at_end = self.ends().map(|end| match end.saturating_sub(BEFORE) {
            before if before > self.seen => before,
            _ => end + BEHIND,
        });
        at_end.map_or(regular, |at_end| at_end.max(self.seen + SHORTEST_INTERVAL).min(regular))
    }
}

/// The end of a hold that is there no more.
enum End {
    /// It came, and the hold was there shortly before.
    Passed,
    Ahead,
    /// It came long after the last look.
    Unclear,
}

impl End {
    /// `left`: the time that it had at the first of two looks, which were begun and answered in these times. The server has read it in
    /// between.
    fn of(left: Option<Duration>, first: [Duration; 2], second: [Duration; 2]) -> Self {
        let Some(left) = left else { return End::Ahead };
        let [earliest, latest] = first.map(|time| time + left);
        let [asked, now] = second;
        if now < earliest {
            return End::Ahead;
        }
        let is_told = left <= CLOSE && asked >= latest && now <= latest + CLOSE;
        if is_told { End::Passed } else { End::Unclear }
    }
}

fn can_look(name: &str) -> bool {
    !name.contains(UNREADABLE)
}
