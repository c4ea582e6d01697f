//! A hold of a group: the holds of its members, as far as it has them.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::release;
use crate::command::{Answer, Look, Op};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::tasks::boxed;

pub struct Held {
    parts: Mutex<Vec<Option<Guard>>>,
    /// How many parts may be missing.
    spare: usize,
    /// Told of every new part, and at last that it is released.
    released: watch::Sender<bool>,
}

impl Held {
    pub fn new(parts: Vec<Option<Guard>>, spare: usize) -> Held {
        Held { parts: Mutex::new(parts), spare, released: watch::Sender::new(false) }
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
        let mut changes = self.released.subscribe();
        while !*changes.borrow_and_update() {
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
        let mut was_renewed = false;
        for part in self.parts().iter().flatten() {
            was_renewed |= part.abandon();
        }
        if was_renewed {
            self.released.send_replace(true);
        }
        was_renewed
    }

    /// Gives every part back. An error of the parts that may be missing is none.
    pub async fn release(&self) -> Result<()> {
        let before = self.look();
        self.released.send_replace(true);
        let parts: Vec<_> = self.parts().iter_mut().filter_map(Option::take).collect();
        let released = release(parts).await;
        match before {
            Look::Lost(loss) => Err(Error::Lost(Box::new(loss))),
            _ if self.spare > 0 => Ok(()),
            _ => released,
        }
    }

    /// The members that have no hold now; what is known of lost ones goes when there is another.
    pub fn missing(&self) -> Vec<usize> {
        let missing = |part: &Option<Guard>| !part.as_ref().is_some_and(Guard::is_held);
        self.parts().iter().enumerate().filter(|(_, part)| missing(part)).map(|(i, _)| i).collect()
    }

    /// A member that was missing is held; too late, and it is dropped.
    pub fn add(&self, member: usize, part: Guard) {
        if !*self.released.borrow() {
            self.parts()[member] = Some(part);
            self.released.send_replace(false);
        }
    }

    /// Returns once it is released.
    pub async fn released(&self) {
        let mut changes = self.released.subscribe();
        let _ = changes.wait_for(|released| *released).await;
    }

    /// How many parts there are to be.
    fn need(&self, parts: &[Option<Guard>]) -> usize {
        parts.len() - self.spare
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Option<Guard>>> {
        self.parts.lock().expect("nothing panics while it is held")
    }
}
