//! Sends a call until its outcome is known: a repeat goes out only when no earlier copy can run any more.

use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use crate::error::Error;
use crate::link::{Limits, Outcome, Reply};
use crate::live::Live;
use crate::script::Call;

/// How long after its sending a call may still be carried out.
pub const WINDOW: Duration = Duration::from_secs(1);

/// An answered call.
pub struct Settled {
    pub reply: Reply,
    /// When the answered copy was sent.
    pub sent: Instant,
    /// An earlier copy may have run.
    pub repeated: bool,
}

/// A call whose outcome could not be settled in time; `unknown`: it may have been carried out.
pub struct Unsettled {
    pub error: Error,
    pub unknown: bool,
}

/// `first`: what came of a copy that was sent already, and when that was.
pub async fn settle(live: &Live, call: &Call, give_up: Instant, mut first: Option<(Outcome, Instant)>) -> Result<Settled, Unsettled> {
    let (mut unknown, mut window, mut pause) = (false, WINDOW, Duration::from_millis(10));
    loop {
        let now = Instant::now();
        let response = live.config.response_timeout.min(give_up.saturating_duration_since(now)).max(Duration::from_millis(1));
        let (outcome, sent) = match first.take() {
            Some(first) => first,
            None => (live.link.run(call, Limits { response, window }).await, now),
        };
        let error = match outcome {
            Outcome::Reply(reply) => return Ok(Settled { reply, sent, repeated: unknown }),
            Outcome::Refused(error) => return Err(Unsettled { error, unknown }),
            Outcome::TooLate => {
                window = (window * 2).min(live.config.response_timeout.max(WINDOW));
                let (server, cause) = (live.config.server(), "answers too late".to_owned());
                Error::Unavailable { server, cause, timeout: true }
            }
            Outcome::Unsent(error) => {
                sleep_until((Instant::now() + pause).min(give_up).into()).await;
                pause = (pause * 2).min(Duration::from_millis(500));
                error
            }
            Outcome::Unknown { error, settled } => {
                unknown |= call.changes();
                tracing::debug!(target: "redlatch::link", "{} has an unknown outcome: {error}", call.what());
                if call.changes() {
                    sleep_until(settled.min(give_up).into()).await;
                } else {
                    sleep(pause.min(give_up.saturating_duration_since(Instant::now()))).await;
                }
                error
            }
        };
        if Instant::now() >= give_up {
            return Err(Unsettled { error, unknown });
        }
    }
}
