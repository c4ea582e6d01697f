//! The seat of a thread that blocks until its request has an outcome. A lock that is handed to a sleeping thread may be
//! taken back until the thread has come for it: in the time that a thread needs to wake up, running threads can take and
//! release a lock many times.

use std::fmt::{Debug, Formatter};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::yield_now;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::request::error::Result;
use crate::request::{Answer, Done};

/// The longest time, from the first offer on, during which an offer may be taken back.
pub const GRACE: Duration = Duration::from_micros(500);
/// About the time that a sleeping thread needs to wake up.
pub const WAKE_UP: Duration = Duration::from_micros(50);
/// How often a thread that woke in vain lets others run before it sleeps again. The holder mostly releases meanwhile.
const YIELDS: u32 = 20;
/// The number of locks that a sleeping thread may miss. More would let few owners have the lock very often.
const MOST_MISSED: u32 = 4;

const NO_PANIC: &str = "nothing panics while it is held";

/// Receives the outcome of a request whose thread has left its seat.
pub type Late = fn(ticket: u64, outcome: Result<Answer>);

/// The place where the outcome of one request comes in.
pub struct Seat {
    ticket: u64,
    late: Late,
    inside: Mutex<Inside>,
    came: Condvar,
}

struct Inside {
    state: State,
    sleeps: bool,
    /// The thread has been woken, and has not slept since.
    is_woken: bool,
    /// No offer may be taken back any more: the thread is awake.
    insists: bool,
    /// The time of the first offer.
    offered: Option<Instant>,
    /// The number of offers that were taken back.
    missed: u32,
}

enum State {
    Waiting,
    Came(Result<Answer>, Option<Box<dyn Offer>>),
    /// The thread took its outcome at that time.
    Taken(Instant),
    /// The thread waits elsewhere.
    Left,
    /// No outcome will come.
    Gone,
}

/// A lock that a thread may have if it comes for it in time.
pub trait Offer: Send {
    /// The thread has taken the lock.
    fn accepted(self: Box<Self>);
    /// Another owner has the lock: the waiter goes back into its line.
    fn missed(self: Box<Self>);
    /// The lock could not be taken from the waiter: it gets this answer again, to keep.
    fn kept(self: Box<Self>, answer: Answer);
}

/// The end of a wait in a seat.
#[derive(Debug)]
pub enum WaitEnd {
    /// The outcome has come.
    Over(Result<Answer>),
    /// The time is over. The outcome may come later.
    NotYet,
    /// No outcome will come: the I/O thread has died.
    Gone,
}

impl Debug for Seat {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

impl Seat {
    /// Makes the seat of a request with this number. `late` receives an outcome that comes after [`Seat::leave`].
    pub fn new(ticket: u64, late: Late) -> Arc<Self> {
        let inside =
            Inside { state: State::Waiting, sleeps: false, is_woken: false, insists: false, offered: None, missed: 0 };
        Arc::new(Seat { ticket, late, inside: Mutex::new(inside), came: Condvar::new() })
    }

    /// The number of the request.
    pub fn ticket(&self) -> u64 {
        self.ticket
    }

    /// Makes the receiver of the outcome.
    pub(crate) fn done(self: &Arc<Self>) -> Done {
        let arrival = Arrival(self.clone());
        Box::new(move |outcome| arrival.0.come(outcome, None))
    }

    /// Offers a lock to the thread, and wakes it.
    pub(crate) fn offer(&self, answer: Answer, offer: Box<dyn Offer>) {
        self.come(Ok(answer), Some(offer));
    }

    fn come(&self, outcome: Result<Answer>, offer: Option<Box<dyn Offer>>) {
        let mut inside = self.inside();
        match inside.state {
            State::Waiting => {}
            State::Left => {
                drop(inside);
                (self.late)(self.ticket, outcome);
                return offer.into_iter().for_each(|offer| offer.accepted());
            }
            State::Came(..) | State::Taken(_) | State::Gone => return,
        }
        if offer.is_some() && inside.offered.is_none() {
            inside.offered = Some(Instant::now());
        }
        inside.state = State::Came(outcome, offer);
        self.wake(inside);
    }

    fn wake(&self, mut inside: MutexGuard<'_, Inside>) {
        let wakes = inside.sleeps && !inside.is_woken;
        inside.is_woken |= wakes;
        drop(inside);
        if wakes {
            self.came.notify_one();
        }
    }

    /// Takes an offer back, if the thread has not woken in vain for an earlier one, and not for longer than [`GRACE`].
    pub(crate) fn take_back(&self, now: Instant) -> Option<(Answer, Box<dyn Offer>)> {
        let mut inside = self.inside();
        let is_early = inside.offered.is_some_and(|offered| now < offered + GRACE);
        if inside.insists || !is_early || inside.missed >= MOST_MISSED {
            return None;
        }
        match std::mem::replace(&mut inside.state, State::Waiting) {
            State::Came(Ok(answer), Some(offer)) => {
                inside.missed += 1;
                Some((answer, offer))
            }
            other => {
                inside.state = other;
                None
            }
        }
    }

    /// Blocks until the outcome comes, for `time` at most; `None`: without end.
    pub fn wait(&self, time: Option<Duration>) -> WaitEnd {
        let end = time.map(|time| Instant::now() + time);
        let mut inside = self.inside();
        loop {
            if let Some(wait) = take(&mut inside) {
                return accept(inside, wait);
            }
            if inside.is_woken && !inside.insists {
                inside.insists = true;
                inside = self.let_others_run(inside);
                continue;
            }
            inside.is_woken = false;
            inside.sleeps = true;
            inside = match end.map(|end| end.saturating_duration_since(Instant::now())) {
                None => self.came.wait(inside).expect(NO_PANIC),
                Some(left) => self.came.wait_timeout(inside, left).expect(NO_PANIC).0,
            };
            inside.sleeps = false;
            if end.is_some_and(|end| end <= Instant::now()) && matches!(inside.state, State::Waiting) {
                return WaitEnd::NotYet;
            }
        }
    }

    fn let_others_run<'a>(&'a self, mut inside: MutexGuard<'a, Inside>) -> MutexGuard<'a, Inside> {
        for _ in 0..YIELDS {
            if !matches!(inside.state, State::Waiting) {
                break;
            }
            drop(inside);
            yield_now();
            inside = self.inside();
        }
        inside
    }

    /// Has the next outcome be the thread's for certain: it must know before it gives up.
    pub fn insist(&self) {
        self.inside().insists = true;
    }

    /// Leaves the seat, for another place to wait, if the outcome has not come.
    pub fn leave(&self) -> WaitEnd {
        let mut inside = self.inside();
        if let Some(wait) = take(&mut inside) {
            return accept(inside, wait);
        }
        inside.state = State::Left;
        WaitEnd::NotYet
    }

    /// The time at which the thread took its outcome.
    pub(crate) fn taken_at(&self) -> Option<Instant> {
        match self.inside().state {
            State::Taken(at) => Some(at),
            _ => None,
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect(NO_PANIC)
    }
}

type Taken = (WaitEnd, Option<Box<dyn Offer>>);

/// Takes an outcome that has come.
fn take(inside: &mut Inside) -> Option<Taken> {
    match std::mem::replace(&mut inside.state, State::Waiting) {
        State::Came(outcome, offer) => {
            inside.state = State::Taken(Instant::now());
            Some((WaitEnd::Over(outcome), offer))
        }
        State::Gone => {
            inside.state = State::Gone;
            Some((WaitEnd::Gone, None))
        }
        other => {
            inside.state = other;
            None
        }
    }
}

/// Tells the giver of an offer that the thread has it. The giver may run anything.
fn accept(inside: MutexGuard<'_, Inside>, (wait, offer): Taken) -> WaitEnd {
    drop(inside);
    offer.into_iter().for_each(|offer| offer.accepted());
    wait
}

/// Tells the thread, when it is dropped without an outcome, that none will come.
struct Arrival(Arc<Seat>);

impl Drop for Arrival {
    fn drop(&mut self) {
        let mut inside = self.0.inside();
        if matches!(inside.state, State::Waiting) {
            inside.state = State::Gone;
            self.0.wake(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use super::*;

    fn late(ticket: u64, outcome: Result<Answer>) {
        panic!("the outcome of {ticket} is late: {outcome:?}");
    }

    fn answer(number: i64) -> Answer {
        Answer { number, ..Answer::default() }
    }

    /// Reports its end.
    struct Told(Sender<&'static str>);

    impl Offer for Told {
        fn accepted(self: Box<Self>) {
            self.0.send("accepted").expect("the test listens");
        }

        fn missed(self: Box<Self>) {
            self.0.send("missed").expect("the test listens");
        }

        fn kept(self: Box<Self>, _: Answer) {
            self.0.send("kept").expect("the test listens");
        }
    }

    fn number(wait: WaitEnd) -> i64 {
        let WaitEnd::Over(outcome) = wait else { panic!("{wait:?}") };
        outcome.expect("it is an answer").number
    }

    fn sleeps(seat: &Seat) {
        while !seat.inside().sleeps {
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_takes_the_outcome_that_has_come_and_that_comes() {
        let seat = Seat::new(1, late);
        seat.done()(Ok(answer(7)));
        assert_eq!(number(seat.wait(None)), 7);
        let seat = Seat::new(2, late);
        thread::scope(|scope| {
            let waits = scope.spawn(|| number(seat.wait(None)));
            sleeps(&seat);
            seat.done()(Ok(answer(8)));
            assert_eq!(waits.join().expect("no panic"), 8);
        });
        assert!(seat.taken_at().is_some());
    }

    #[test]
    fn an_offer_can_be_taken_back_from_a_thread_that_sleeps_and_not_from_one_that_woke_in_vain() {
        let seat = Seat::new(1, late);
        let (sender, told) = channel();
        let offer = || Box::new(Told(sender.clone()));
        thread::scope(|scope| {
            let waits = scope.spawn(|| number(seat.wait(None)));
            sleeps(&seat);
            // The test stands for a machine on which the thread has not run yet.
            let mut inside = seat.inside();
            inside.state = State::Came(Ok(answer(1)), Some(offer()));
            inside.offered = Some(Instant::now());
            drop(inside);
            let (_, taken) = seat.take_back(Instant::FIRST).expect("the thread sleeps");
            taken.missed();
            assert_eq!(told.recv(), Ok("missed"));
            let mut inside = seat.inside();
            inside.is_woken = true;
            drop(inside);
            seat.came.notify_one();
            while !seat.inside().insists {
                thread::yield_now();
            }
            let mut inside = seat.inside();
            inside.state = State::Came(Ok(answer(2)), Some(offer()));
            drop(inside);
            assert!(seat.take_back(Instant::FIRST).is_none(), "the thread is awake");
            seat.wake(seat.inside());
            assert_eq!(waits.join().expect("no panic"), 2);
        });
        assert_eq!(told.recv(), Ok("accepted"));
    }

    #[test]
    fn an_offer_is_taken_back_for_a_short_time_and_not_often() {
        let (sender, told) = channel();
        let mut seat = Seat::new(1, late);
        seat.offer(answer(1), Box::new(Told(sender.clone())));
        assert!(seat.take_back(Instant::now() + GRACE).is_none());
        for missed in 0.. {
            // The machine may stand still for longer than the grace.
            let Some((answer, offer)) = seat.take_back(Instant::FIRST) else {
                assert_eq!(missed, MOST_MISSED);
                break;
            };
            seat.offer(answer, offer);
        }
        seat = Seat::new(2, late);
        seat.offer(answer(1), Box::new(Told(sender.clone())));
        let (_, offer) = seat.take_back(Instant::FIRST).expect("the thread has not come");
        seat.offer(answer(2), offer);
        seat.insist();
        assert!(seat.take_back(Instant::FIRST).is_none(), "the thread wants to know");
        assert_eq!(number(seat.wait(None)), 2);
        assert_eq!(told.recv(), Ok("accepted"));
    }

    #[test]
    fn an_outcome_that_comes_after_the_thread_has_left_goes_to_the_receiver_of_late_ones() {
        static CAME: Mutex<Vec<(u64, i64)>> = Mutex::new(Vec::new());
        let note: Late = |ticket, outcome| {
            CAME.lock().expect("no panic").push((ticket, outcome.expect("it is an answer").number));
        };
        let seat = Seat::new(3, note);
        assert!(matches!(seat.wait(Some(Duration::from_millis(1))), WaitEnd::NotYet));
        assert!(matches!(seat.leave(), WaitEnd::NotYet));
        let (sender, told) = channel();
        seat.offer(answer(9), Box::new(Told(sender)));
        assert_eq!(told.recv(), Ok("accepted"));
        assert_eq!(*CAME.lock().expect("no panic"), [(3, 9)]);
        assert!(seat.take_back(Instant::now()).is_none());
    }

    #[test]
    fn a_thread_hears_that_no_outcome_will_come() {
        let seat = Seat::new(1, late);
        thread::scope(|scope| {
            let waits = scope.spawn(|| seat.wait(None));
            sleeps(&seat);
            drop(seat.done());
            assert!(matches!(waits.join().expect("no panic"), WaitEnd::Gone));
        });
    }
}
