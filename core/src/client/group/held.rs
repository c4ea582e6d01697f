//! A hold of a group: the holds of its members, as far as it has them.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::release;
use crate::base::tasks::boxed;
use crate::client::hold::Hold;
use crate::client::state::ClientState;
use crate::request::error::{Error, Result};
use crate::request::{Answer, Look, Op};

pub struct Held {
    parts: Mutex<Vec<Option<Hold>>>,
    /// How many parts may be missing.
    spare: usize,
    /// Told of every new part as well. It is changed with `parts` locked, so that no part comes after its end.
    phase: watch::Sender<Phase>,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// Parts that are missing are asked for.
    Kept,
    /// No caller can release it: it ends with its leases.
    Abandoned,
    Released,
}

impl Held {
    pub fn new(parts: Vec<Option<Hold>>, spare: usize) -> Held {
        Held { parts: Mutex::new(parts), spare, phase: watch::Sender::new(Phase::Kept) }
    }

    pub fn look(&self) -> Look {
        let parts = self.parts();
        let mut times: Vec<Duration> = Vec::new();
        let mut other = Look::Gone;
        for part in parts.iter().flatten() {
            match part.look() {
                Look::Held { remaining } => times.push(remaining),
                lost => other = lost,
            }
        }
        times.sort_unstable();
        // Held as long as enough parts are: until the first of the longest ends.
        times.len().checked_sub(self.need(&parts)).map_or(other, |at| Look::Held { remaining: times[at] })
    }

    /// Returns when it has ended: lost, or released (not done).
    pub async fn end(&self) -> Result<Answer> {
        let mut changes = self.phase.subscribe();
        while *changes.borrow_and_update() != Phase::Released {
            // Watched before it is looked at: what ends in between is seen by one of the two.
            let mut ends: JoinSet<_> =
                self.parts().iter().flatten().filter(|part| part.is_held()).map(|part| boxed(part.asked(Op::Watch, None))).collect();
            match self.look() {
                Look::Held { .. } => {}
                Look::Lost(loss) => return Err(Error::Lost(Box::new(loss))),
                Look::Gone => break,
            }
            tokio::select! {
                _ = ends.join_next() => {}
                _ = changes.changed() => {}
            }
        }
        Ok(Answer::not_now())
    }

    /// Has every part last for `lease` from now on.
    pub async fn extend(&self, lease: Option<Duration>) -> Result<Answer> {
        let (need, mut extended): (_, JoinSet<_>) = {
            let parts = self.parts();
            (self.need(&parts), parts.iter().flatten().map(|part| boxed(part.asked(Op::Extend, lease))).collect())
        };
        let (mut done, mut failure) = (0, None);
        while let Some(one) = extended.join_next().await {
            match one {
                Ok(Err(error)) => failure = Some(error),
                _ => done += 1,
            }
        }
        failure.filter(|_| done < need).map_or(Ok(Answer::done(1)), Err)
    }

    /// No caller can release it any more: its parts are not renewed from now on, and none is added. False: no part was renewed.
    pub fn abandon(&self) -> bool {
        let parts = self.parts();
        self.phase.send_if_modified(|phase| {
            let was_kept = *phase == Phase::Kept;
            if was_kept {
                *phase = Phase::Abandoned;
            }
            was_kept
        });
        let mut was_renewed = false;
        for part in parts.iter().flatten() {
            was_renewed |= part.abandon();
        }
        was_renewed
    }

    /// As [`Held::abandon`]; its client forgets it when it has ended, since no caller asks for it any more.
    pub fn abandon_for(self: &Arc<Self>, state: &Arc<ClientState>, number: u64) -> bool {
        let held = self.clone();
        let weak = Arc::downgrade(state);
        drop(state.io.spawn(async move {
            let _ = held.end().await;
            drop(weak.upgrade().map(|state| state.groups().remove(number)));
        }));
        self.abandon()
    }

    /// Gives every part back. An error of the parts that may be missing is none.
    pub async fn release(&self) -> Result<()> {
        let before = self.look();
        let parts: Vec<_> = {
            let mut parts = self.parts();
            self.phase.send_replace(Phase::Released);
            parts.iter_mut().filter_map(Option::take).collect()
        };
        let released = release(parts).await;
        match before {
            Look::Lost(loss) => Err(Error::Lost(Box::new(loss))),
            _ if self.spare > 0 => Ok(()),
            _ => released,
        }
    }

    /// The members that have no hold now; what is known of lost ones goes when there is another.
    pub fn missing(&self) -> Vec<usize> {
        let missing = |part: &Option<Hold>| !part.as_ref().is_some_and(Hold::is_held);
        self.parts().iter().enumerate().filter(|(_, part)| missing(part)).map(|(i, _)| i).collect()
    }

    /// A member that was missing is held; too late, and it is dropped.
    pub fn add(&self, member: usize, part: Hold) {
        let mut parts = self.parts();
        if *self.phase.borrow() != Phase::Kept {
            drop(parts);
            return drop(part);
        }
        let before = parts[member].replace(part);
        self.phase.send_modify(|_| ());
        drop(parts);
        drop(before);
    }

    /// Returns once no part is asked for any more: it is released, or no caller can do that.
    pub async fn left(&self) {
        let mut changes = self.phase.subscribe();
        let _ = changes.wait_for(|phase| *phase != Phase::Kept).await;
    }

    /// How many parts there are to be.
    fn need(&self, parts: &[Option<Hold>]) -> usize {
        parts.len() - self.spare
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Option<Hold>>> {
        self.parts.lock().expect("nothing panics while it is held")
    }
}
