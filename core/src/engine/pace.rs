//! The one wait loop of a line: listen, try, sleep, until its head has the lock. A state machine without I/O.

use std::time::Duration;

use crate::base::clock::Instant;
use crate::base::jitter::jitter;
use crate::engine::word::{AN_ANSWER, Word};

/// The longest sleep behind a key without an end.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest sleep before the server has proved that messages arrive.
const UNPROVEN: Duration = Duration::from_secs(1);
/// The time that a waiter behind a hold of its own client waits for a pass before it listens.
const NEAR: Duration = Duration::from_millis(5);
/// The time without a message after which a line that gives way tries all the same, because the other listeners may not
/// want the lock. A try that finds the lock taken came in the middle of another client's turn: the line doubles the
/// time, up to [`LONGEST_QUIET`]. Tries about the end of a turn would take the lock before the clients to which the line
/// gives way.
const QUIET: Duration = Duration::from_millis(1);
/// Longer than a turn.
const LONGEST_QUIET: Duration = Duration::from_millis(16);
/// The time after a message after which a line behind a hold of its own client tries.
const LATE: Duration = Duration::from_millis(1);

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Listen,
    Try,
    Sleep(Instant),
}

/// The reason why a try did not get the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// The time that the key still lives; `None`: without end.
    pub left: Option<Duration>,
    /// The number of available permits, too few for the waiter that tried.
    pub available: u64,
}

/// The obstacle that a newcomer has met.
pub enum Obstacle {
    /// A hold of this client, which a release will pass on.
    Near,
    /// Another owner's hold. The newcomer's own try found it, and no message has come since.
    Busy(Busy),
    /// Another owner's hold. The newcomer's own try found it, and a message may have come since.
    WasBusy(Busy),
    Unknown,
}

#[derive(Debug)]
pub struct Pace {
    listening: bool,
    delays: Delays,
    /// Nothing happens before this time.
    until: Instant,
    /// This client has just released the lock. It gives way until the count of messages reaches this number, or until
    /// no more come.
    giving_way: Option<u64>,
    /// See [`QUIET`].
    quiet: Duration,
    /// An owner of this client has the lock, as far as the line knows.
    is_near: bool,
    /// Clients have this lock for a turn each: releases pass it on.
    has_turns: bool,
    /// The last proof that the lock is taken.
    word: Option<Word>,
    /// The time at which a message or a failure said that the lock may be another client's. `None`: since then the
    /// server has given it to this one.
    doubted: Option<Instant>,
    /// A waiter without such a proof needs one: the time by which the line must ask the server for it.
    ask_by: Option<Instant>,
}

impl Pace {
    /// `near`: another owner of this client holds the lock.
    pub fn new(near: bool, now: Instant) -> Self {
        let until = if near { now + NEAR } else { now };
        Pace {
            listening: false,
            delays: Delays::default(),
            until,
            giving_way: None,
            quiet: QUIET,
            is_near: near,
            has_turns: near,
            word: None,
            doubted: None,
            ask_by: None,
        }
    }

    /// Sets the delays after which the waiter tries by itself, if there are any. `hears`: there is a channel to listen
    /// on.
    pub fn set_delays(&mut self, delays: Vec<Duration>, hears: bool) {
        self.delays = Delays { delays, deaf: !hears, ..Delays::default() };
    }

    pub fn next(&self, now: Instant) -> Next {
        let until = self.ask_by.map_or(self.until, |ask_by| ask_by.min(self.until));
        match self.listening || self.delays.deaf {
            _ if until > now => Next::Sleep(until),
            false => Next::Listen,
            true => Next::Try,
        }
    }

    /// Notes that the subscription is in place.
    pub fn listening(&mut self) {
        self.listening = true;
    }

    /// A waiter comes to a line in which no other waited. `met` is the result of its own try.
    pub fn meet(&mut self, met: Obstacle, now: Instant) {
        match met {
            Obstacle::Near => self.near(None, now),
            Obstacle::Busy(busy) if self.listening => self.busy(busy.left, true, now),
            Obstacle::Busy(_) | Obstacle::WasBusy(_) | Obstacle::Unknown => self.hurry(now),
        }
    }

    /// A waiter joins at `now`, and waits until `deadline`. It may have no proof that the lock is taken: neither its
    /// own try nor an earlier answer gives one. Then the line asks the server when half of the wait is over, or earlier
    /// if an answer needs more time.
    pub fn join(&mut self, met: &Obstacle, deadline: Option<Instant>, now: Instant) {
        match met {
            Obstacle::Near => self.told(Duration::ZERO, now),
            Obstacle::Busy(busy) | Obstacle::WasBusy(busy) => self.busy_too(busy.left, now),
            Obstacle::Unknown => {}
        }
        if let Some(deadline) = deadline.filter(|_| !self.is_taken(now, now)) {
            let wait = deadline.saturating_duration_since(now);
            let latest = now + wait.saturating_sub(AN_ANSWER).min(wait / 2);
            self.ask_by = Some(self.ask_by.map_or(latest, |ask_by| ask_by.min(latest)));
        }
    }

    /// Tells whether the server has told a waiter that came at `came` that the lock is taken, as far as the line knows
    /// now.
    pub fn is_taken(&self, came: Instant, now: Instant) -> bool {
        self.word.is_some_and(|word| word.stands(came, now))
    }

    /// Notes proof that the lock is taken for so long: an answer of the server, or a hold of this client.
    fn told(&mut self, lasts: Duration, now: Instant) {
        self.word = Some(Word::taken_for(lasts.min(LONGEST), now));
        self.ask_by = None;
    }

    /// Notes that the server has given the lock to one of this line's waiters.
    pub fn served(&mut self, now: Instant) {
        self.told(Duration::ZERO, now);
    }

    /// Notes that another owner holds the lock for this long; `None`: without end. `proven`: the server has confirmed
    /// the subscription.
    pub fn busy(&mut self, ttl: Option<Duration>, proven: bool, now: Instant) {
        self.told(ttl.unwrap_or(LONGEST), now);
        self.is_near = false;
        if self.giving_way.is_some() && self.has_turns {
            self.quiet = (self.quiet * 2).min(LONGEST_QUIET);
        }
        let most = if proven { LONGEST } else { UNPROVEN };
        // The server rounds its ms down: without one more the try would come just before the end.
        let until = ttl.map_or(most, |ttl| (ttl + Duration::from_millis(1)).min(most));
        self.until = now + self.delays.next().map_or(until, |delay| delay.min(until));
    }

    /// Notes that a waiter behind the head has heard that the lock is taken for so long. The line tries by the end of
    /// that time.
    pub fn busy_too(&mut self, ttl: Option<Duration>, now: Instant) {
        self.told(ttl.unwrap_or(LONGEST), now);
        self.until = ttl.map_or(self.until, |ttl| self.until.min(now + ttl + Duration::from_millis(1)));
    }

    /// Notes the `count`th message of the channel, or that no more can come.
    pub fn heard(&mut self, count: u64, now: Instant) {
        self.doubt(now);
        match self.giving_way {
            Some(enough) if count < enough => self.until = now + self.quiet,
            // Mostly it tells of the release before that hold. With a try for the head in flight, the hold could not be
            // passed on.
            _ if self.is_near => self.until = self.until.min(now + LATE),
            _ => self.hurry(now),
        }
    }

    /// Notes a change: the lock may be free.
    pub fn doubt(&mut self, now: Instant) {
        self.doubted = Some(now);
        self.word.iter_mut().for_each(|word| word.end(now));
    }

    /// Tells whether only the server knows if a hold of this client lasts.
    pub fn is_doubted(&self) -> bool {
        self.doubted.is_some()
    }

    /// Notes that the server has given the lock to this client, by a call sent at `sent`.
    pub fn taken(&mut self, sent: Instant) {
        self.doubted.take_if(|since| *since < sent);
    }

    /// Notes that a hold of this client has become free. `listeners` subscribers heard of it and may have their turn
    /// first: the line gives way until the channel's count of messages reaches `enough`.
    pub fn freed(&mut self, listeners: u64, enough: u64, now: Instant) {
        self.served(now);
        self.hurry(now);
        self.delays.tries = 0;
        if self.delays.deaf {
            // Waiters of other clients poll: one of them is to find the lock free.
            self.until = now + self.delays.next().unwrap_or_default();
        }
        if listeners > 0 {
            self.giving_way = Some(enough);
            self.until = now + self.quiet;
        }
    }

    /// Notes that another owner of this client holds the lock now. `lease`: the longest time of the hold, if it is known.
    pub fn near(&mut self, lease: Option<Duration>, now: Instant) {
        self.told(lease.unwrap_or_default(), now);
        // Without a message since then, the lock was free, and the other listeners did not want it.
        if self.giving_way.take().is_some() && self.doubted.is_none_or(|since| since < self.until) {
            self.quiet = QUIET;
        }
        (self.is_near, self.has_turns) = (true, true);
        self.delays.tries = 0;
        self.until = now + lease.filter(|_| self.listening).map_or(NEAR, |lease| lease.min(LONGEST));
    }

    /// Notes that the server has given the lock to one of this line's waiters for that lease, and that the replicas
    /// have not confirmed it yet.
    pub fn passed(&mut self, lease: Duration, now: Instant) {
        self.told(lease, now);
    }

    /// Notes a change after which the line tries at once.
    pub fn hurry(&mut self, now: Instant) {
        self.giving_way = None;
        self.is_near = false;
        self.until = now;
    }

    /// Notes that the connection is not reliable: the line subscribes anew.
    pub fn deaf(&mut self, now: Instant) {
        self.doubted = Some(now);
        self.listening = false;
        self.hurry(now);
    }

    /// Tells whether a newcomer must stand in line too.
    pub fn gives_way(&self, now: Instant) -> bool {
        self.giving_way.is_some() && self.until > now
    }
}

/// The times at which a waiter tries without a message.
#[derive(Debug, Default)]
struct Delays {
    delays: Vec<Duration>,
    tries: usize,
    /// There is no channel to listen on.
    deaf: bool,
}

impl Delays {
    /// The next delay, up to a quarter shorter at random, so that several waiters do not go on in step.
    fn next(&mut self) -> Option<Duration> {
        let delay = self.delays.get(self.tries).or(self.delays.last())?;
        self.tries += 1;
        Some(delay.mul_f64(1.0 - jitter() / 4.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn listener(now: Instant) -> Pace {
        let mut pace = Pace::new(false, now);
        pace.listening();
        pace
    }

    #[test]
    fn a_waiter_listens_and_tries_again_before_it_sleeps() {
        let now = Instant::now();
        let mut pace = Pace::new(false, now);
        assert_eq!(pace.next(now), Next::Listen);
        pace.listening();
        assert_eq!(pace.next(now), Next::Try);
        pace.busy(Some(SECOND / 2), true, now);
        assert_eq!(pace.next(now), Next::Sleep(now + Duration::from_millis(501)));
        pace.heard(1, now);
        assert_eq!(pace.next(now), Next::Try);
    }

    #[test]
    fn a_waiter_that_joins_with_news_of_an_earlier_end_has_the_line_try_by_then() {
        let now = Instant::now();
        let busy = Busy { left: Some(SECOND), available: 0 };
        for met in [Obstacle::Busy(busy), Obstacle::WasBusy(busy)] {
            let mut pace = listener(now);
            pace.busy(Some(20 * SECOND), true, now);
            pace.join(&met, None, now);
            assert_eq!(pace.next(now), Next::Sleep(now + SECOND + Duration::from_millis(1)));
            // Nor does a later end delay the try.
            pace.join(&Obstacle::Busy(Busy { left: Some(9 * SECOND), available: 0 }), None, now);
            assert_eq!(pace.next(now + 2 * SECOND), Next::Try);
        }
    }

    #[test]
    fn a_waiter_for_which_no_word_counts_has_the_server_asked_within_its_wait() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.busy(Some(20 * SECOND), true, now);
        pace.join(&Obstacle::Unknown, Some(now + SECOND), now);
        assert_eq!(pace.next(now), Next::Sleep(now + 20 * SECOND + Duration::from_millis(1)), "that word is new");
        let later = now + SECOND;
        pace.join(&Obstacle::Unknown, None, later);
        assert_eq!(pace.next(later), Next::Sleep(now + 20 * SECOND + Duration::from_millis(1)), "it has time");
        pace.join(&Obstacle::Unknown, Some(later + 2 * SECOND), later);
        pace.join(&Obstacle::Unknown, Some(later + 9 * SECOND), later);
        assert_eq!(pace.next(later), Next::Sleep(later + SECOND));
        assert_eq!(pace.next(later + SECOND), Next::Try);
        assert!(!pace.is_taken(later, later + SECOND));
        pace.busy(Some(20 * SECOND), true, later + SECOND);
        assert!(pace.is_taken(later, later + 2 * SECOND));
        assert_eq!(pace.next(later + SECOND), Next::Sleep(later + 21 * SECOND + Duration::from_millis(1)));
        let last = later + 2 * SECOND;
        pace.join(&Obstacle::Unknown, Some(last + AN_ANSWER), last);
        assert_eq!(pace.next(last), Next::Try, "there is no time to lose");
    }

    #[test]
    fn no_sleep_is_longer_than_a_second_while_the_subscription_is_unproven() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.busy(Some(9 * SECOND), false, now);
        assert_eq!(pace.next(now), Next::Sleep(now + UNPROVEN));
        pace.busy(None, true, now);
        assert_eq!(pace.next(now), Next::Sleep(now + LONGEST));
    }

    #[test]
    fn a_waiter_behind_a_hold_of_its_own_client_listens_only_if_the_hold_lasts() {
        let now = Instant::now();
        let mut pace = Pace::new(true, now);
        assert_eq!(pace.next(now), Next::Sleep(now + NEAR));
        assert_eq!(pace.next(now + NEAR), Next::Listen);
        pace.near(Some(SECOND), now + NEAR);
        assert_eq!(pace.next(now + NEAR), Next::Sleep(now + 2 * NEAR));
    }

    #[test]
    fn after_a_release_a_line_gives_way_to_as_many_waiters_as_heard_of_it() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.freed(3, 10, now);
        assert!(pace.gives_way(now));
        pace.heard(8, now);
        pace.heard(9, now);
        assert_eq!(pace.next(now), Next::Sleep(now + QUIET));
        pace.heard(10, now);
        assert_eq!(pace.next(now), Next::Try);
        assert!(!pace.gives_way(now));
    }

    #[test]
    fn a_newcomer_to_a_listening_line_sleeps_after_its_own_try() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.meet(Obstacle::Busy(Busy { left: Some(SECOND), available: 0 }), now);
        assert_eq!(pace.next(now), Next::Sleep(now + SECOND + Duration::from_millis(1)));
        pace.meet(Obstacle::Unknown, now);
        assert_eq!(pace.next(now), Next::Try);
        pace.deaf(now);
        pace.meet(Obstacle::Busy(Busy { left: Some(SECOND), available: 0 }), now);
        assert_eq!(pace.next(now), Next::Listen);
    }

    #[test]
    fn a_waiter_without_a_channel_tries_after_ever_longer_delays_and_never_listens() {
        let now = Instant::now();
        let mut pace = Pace::new(false, now);
        pace.set_delays([1, 2, 4].map(Duration::from_millis).into(), false);
        for most in [1, 2, 4, 4] {
            assert_eq!(pace.next(now), Next::Try);
            pace.busy(Some(SECOND), false, now);
            let Next::Sleep(until) = pace.next(now) else { panic!("it sleeps") };
            let most = Duration::from_millis(most);
            assert!(until - now <= most && until - now >= most / 2, "{:?} instead of {most:?}", until - now);
            pace.delays.deaf = true;
            pace.until = now;
        }
        pace.deaf(now);
        assert_eq!(pace.next(now), Next::Try);
    }

    #[test]
    fn a_line_gives_way_only_until_it_is_quiet_and_only_to_listeners() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.freed(0, 10, now);
        assert_eq!(pace.next(now), Next::Try);
        pace.freed(2, 12, now);
        assert_eq!(pace.next(now + QUIET), Next::Try);
        assert!(!pace.gives_way(now + QUIET));
    }

    #[test]
    fn a_line_gives_way_for_longer_once_it_has_tried_in_the_middle_of_a_turn() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.near(Some(SECOND), now);
        for _ in 0..6 {
            pace.freed(3, 10, now);
            pace.busy(Some(SECOND), true, now);
            assert!(pace.gives_way(now), "it still does");
            pace.heard(9, now);
        }
        assert_eq!(pace.next(now), Next::Sleep(now + LONGEST_QUIET), "and never longer than that");
        pace.near(Some(SECOND), now + LONGEST_QUIET);
        pace.freed(3, 10, now);
        assert_eq!(pace.next(now), Next::Sleep(now + QUIET), "the lock was free");
    }

    #[test]
    fn a_line_for_permits_never_gives_way_for_longer() {
        let now = Instant::now();
        let mut pace = listener(now);
        for _ in 0..6 {
            pace.freed(3, 10, now);
            assert_eq!(pace.next(now), Next::Sleep(now + QUIET));
            pace.busy(Some(SECOND), true, now);
        }
    }

    #[test]
    fn a_line_that_took_the_lock_in_the_middle_of_a_release_gives_way_as_long_as_before() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.near(Some(SECOND), now);
        pace.freed(3, 10, now);
        pace.busy(Some(SECOND), true, now);
        pace.heard(8, now);
        let tried = now + 2 * QUIET;
        assert_eq!(pace.next(tried), Next::Try);
        pace.doubt(tried);
        pace.near(Some(SECOND), tried);
        pace.freed(3, 10, now);
        assert_eq!(pace.next(now), Next::Sleep(now + 2 * QUIET));
    }

    #[test]
    fn a_message_behind_a_hold_of_its_own_client_leaves_time_to_pass_the_hold_on() {
        let now = Instant::now();
        let mut pace = listener(now);
        pace.near(Some(SECOND), now);
        pace.heard(1, now);
        assert!(pace.is_doubted());
        assert_eq!(pace.next(now), Next::Sleep(now + LATE));
        assert_eq!(pace.next(now + LATE), Next::Try);
        pace.busy(Some(SECOND), true, now);
        pace.heard(2, now);
        assert_eq!(pace.next(now), Next::Try, "another client has it");
    }
}
