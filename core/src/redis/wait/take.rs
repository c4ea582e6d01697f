//! An acquire, until its outcome is known, and confirmed if it must be.

use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::engine::gate::Entry;
use crate::redis::kinds::script::Call;
use crate::redis::link::Sent;
use crate::redis::settle::{RetryLimits, Settled, Unsettled, after};
use crate::redis::target::{Attempt, Sending, Target};
use crate::request::error::Result;

/// An acquire that has begun.
pub struct InFlight {
    pub entry: Entry,
    pub call: Call,
    pub tried: Option<Sending>,
    /// The copies by which the server may have carried it out.
    pub copies: Vec<Sent>,
}

impl Target {
    /// Carries out one acquire of the request with that ticket, until its outcome is known: taken; busy; given back because
    /// no replica confirmed it; or given back in the background because its outcome stays unknown.
    pub async fn acquire(
        &self,
        ticket: u64,
        renewed: bool,
        retry: RetryLimits,
        mut begun: Option<InFlight>,
    ) -> Result<Attempt> {
        loop {
            let InFlight { entry, call, tried, copies } = match begun.take() {
                Some(begun) => begun,
                None => {
                    if !self.row.traits.reentrant {
                        self.departed(ticket, retry).await;
                    }
                    let entry = self.enter(retry).await?;
                    let entry = match self.untangle(entry, retry).await? {
                        Ok(entry) => entry,
                        Err(answer) => return Ok(answer),
                    };
                    InFlight { entry, call: self.acquire_call()?, tried: None, copies: Vec::new() }
                }
            };
            match self.scope.around(after(&self.redis, &call, retry, tried, copies)).await {
                Ok(Settled { reply, sent, .. }) => {
                    if let Some(tried) = self.acquired(&call, reply, renewed, sent)? {
                        return Ok(tried);
                    }
                }
                Err(unsettled) => {
                    let is_nothing = unsettled.copies.is_empty() && !unsettled.is_half_done();
                    let Unsettled { error, copies, held_back, .. } = unsettled;
                    let given_back = match is_nothing {
                        true => return Err(error),
                        false if self.row.traits.held => {
                            let leave = self.redis.holds(|holds| holds.kept_under(&entry.claim, Instant::now()));
                            self.give_back(entry, leave, copies)
                        }
                        false => self.undo(entry, &call, copies),
                    };
                    if let Some(rest) = held_back {
                        return Ok(Attempt::busy(Some(rest)));
                    }
                    // The server answers: the next caller that tries must find the lock free.
                    if !error.is_for_now() {
                        let _ = timeout(self.response, given_back).await;
                    }
                    return Err(error);
                }
            }
        }
    }
}
