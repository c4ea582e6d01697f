//! Sends a call until its outcome is known. A repeat goes out only when no earlier copy can run after it.

use std::time::Duration;

use tokio::time::sleep_until;

use crate::base::clock::Instant;
use crate::base::scope::report;
use crate::engine::WINDOW;
use crate::engine::word::AN_ANSWER;
use crate::redis::Redis;
use crate::redis::kinds::reply::{Code, Reply};
use crate::redis::kinds::script::Call;
use crate::redis::link::{Limits, Outcome, Sent};
use crate::request::error::Error;

/// The pause before the first repeat of a call; it doubles each time, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The time limits of a call with its repeats.
#[derive(Clone, Copy)]
pub struct RetryLimits {
    /// The time that one copy may stay unanswered.
    pub response: Duration,
    /// The time after which no further copy goes out. A copy in flight keeps its whole time.
    pub give_up: Instant,
    /// The time after which no caller waits for the answer.
    pub end: Option<Instant>,
}

impl RetryLimits {
    /// The time that a copy which goes out at `now` may stay unanswered.
    pub fn response(&self, now: Instant) -> Duration {
        let left = self.end.map_or(self.response, |end| end.saturating_duration_since(now));
        self.response.min(left.max(AN_ANSWER))
    }
}

/// An answered call.
pub struct Settled {
    pub reply: Reply,
    /// The time at which the answered copy was sent.
    pub sent: Instant,
    /// An earlier copy may have run.
    pub repeated: bool,
}

/// A call without a known outcome in time. `copies`: those that the server may have carried out, or may yet carry out.
pub struct Unsettled {
    pub error: Error,
    pub copies: Vec<Sent>,
    /// The server grants nothing new for this time, and may have carried out one of the copies before.
    pub held_back: Option<Duration>,
    /// The error is the answer to the call: if the user lacks a right, the script may have ended half way.
    pub answered: bool,
}

impl Unsettled {
    /// Tells whether the script may have ended half way: the server has refused the call for good, as it does where the user
    /// lacks a right to one of its commands.
    pub fn is_half_done(&self) -> bool {
        let is_refused = matches!(self.error, Error::Refused { .. });
        self.answered && is_refused && !self.error.is_for_now() && !self.error.is_before_script()
    }
}

/// Sends a call until its outcome is known. `first`: the outcome of a copy that was sent already, and its time.
pub async fn settle(
    redis: &Redis,
    call: &Call,
    retry: RetryLimits,
    first: Option<(Outcome, Instant)>,
) -> Result<Settled, Unsettled> {
    after(redis, call, retry, first, Vec::new()).await
}

/// As [`settle`], but sends no copy that one of `copies` might still follow.
pub async fn after(
    redis: &Redis,
    call: &Call,
    retry: RetryLimits,
    mut first: Option<(Outcome, Instant)>,
    mut copies: Vec<Sent>,
) -> Result<Settled, Unsettled> {
    let mut repeated = false;
    let mut window = WINDOW;
    let mut pause = PAUSE;
    let mut error = None;
    let give_up = retry.give_up;
    let mut incarnation = redis.link.incarnation();
    loop {
        let now = Instant::now();
        let response = retry.response(now);
        let (outcome, sent) = match first.take() {
            Some(first) => first,
            None => (redis.link.run(call, Limits { response, window }, &copies).await, now),
        };
        let newest = redis.link.incarnation();
        if newest != incarnation {
            // The new server may not answer for its slots yet, but will soon.
            (incarnation, pause) = (newest, PAUSE);
        }
        let mut until = Instant::now() + pause;
        let failure = match outcome {
            Outcome::Reply(reply) => return Ok(Settled { reply, sent, repeated }),
            Outcome::Refused(error) => return Err(Unsettled { error, copies, held_back: None, answered: true }),
            Outcome::HeldBack(rest) if copies.is_empty() => {
                let reply = Reply { code: Code::NotNow, numbers: vec![rest.as_millis() as i64], ..Reply::default() };
                return Ok(Settled { reply, sent, repeated });
            }
            Outcome::HeldBack(rest) => {
                let cause = format!("may have lost locks, and grants none for {rest:.1?} more");
                return Err(Unsettled {
                    error: Error::unavailable(redis.config.server(), cause, false),
                    copies,
                    held_back: Some(rest),
                    answered: false,
                });
            }
            Outcome::Unconfirmed { error, copy } => {
                copies.push(copy);
                return Err(Unsettled { error, copies, held_back: None, answered: true });
            }
            Outcome::Crossing => {
                until = copies.iter().map(|copy| copy.over).max().unwrap_or(until);
                None
            }
            Outcome::TooLate => {
                window = (window * 2).min(retry.response.max(WINDOW));
                until = now;
                Some(Error::unavailable(redis.config.server(), "answers too late", true))
            }
            // The address may be wrong, or the server was never started: only a caller that waits has reason to hope.
            Outcome::Unsent(error)
                if retry.end.is_none()
                    && copies.is_empty()
                    && !redis.config.retries_absent
                    && redis.link.is_absent() =>
            {
                return Err(Unsettled { error, copies, held_back: None, answered: false });
            }
            Outcome::Unsent(error) => Some(error),
            Outcome::Unknown { error, copy } => {
                report(|| tracing::debug!(target: "redlatch::link", "{} has an unknown outcome: {error}", call.what()));
                if call.changes() {
                    repeated = true;
                    copies.push(copy);
                }
                Some(error)
            }
        };
        pause = (pause * 2).min(LONGEST_PAUSE);
        match failure.is_some() {
            // The box keeps the future of an answered call small.
            true => Box::pin(until_restarted(redis, incarnation, until.min(give_up))).await,
            false => sleep_until(until.min(give_up).into()).await,
        }
        error = failure.or(error);
        if Instant::now() >= give_up {
            let late = || Error::unavailable(redis.config.server(), "does not answer in time", true);
            return Err(Unsettled { error: error.unwrap_or_else(late), copies, held_back: None, answered: false });
        }
    }
}

/// Sleeps; returns at once if a server comes back or takes another's place.
async fn until_restarted(redis: &Redis, incarnation: u64, until: Instant) {
    tokio::select! {
        () = sleep_until(until.into()) => {}
        () = redis.link.restarted(incarnation) => {}
    }
}
