//! A hold of a group: the holds of its members, as many as it has.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use super::GIVING_BACK;
use crate::base::clock::Instant;
use crate::base::scope::{Scope, UnkeptScope};
use crate::base::tasks::boxed;
use crate::client::hold::{Hold, Sight};
use crate::request::error::{Error, Loss, LostReason, Result};
use crate::request::owner::OwnerField;
use crate::request::{Answer, Look, Op, Request};

/// It looks at its parts while they are not locked: a look may report a loss to the program's subscriber, which may ask
/// about this hold.
pub struct GroupHold {
    parts: Mutex<Vec<Option<Hold>>>,
    /// The number of parts that may be missing.
    spare: usize,
    acquired: Instant,
    /// Tells its listeners of every new part as well. Changes happen while `parts` is locked, so that no part comes
    /// after the end.
    phase: watch::Sender<Phase>,
    /// The scope of reports about its parts.
    scope: OnceLock<UnkeptScope>,
    /// The program lets it end with its lease. It changes while `parts` is locked.
    kept: AtomicBool,
    /// The number of parts that came late. It changes while `parts` is locked.
    late: AtomicUsize,
    /// A caller has seen too few parts: none comes any more. It changes while `parts` is locked.
    seen_lost: AtomicBool,
}

#[derive(Clone)]
enum Phase {
    /// The group asks for missing parts.
    Kept,
    /// No caller can release the hold: it ends with its leases.
    Abandoned,
    /// The client to which every call about the hold goes has ended then: no caller can release the hold.
    Closed(Instant),
    /// Its parts are on their way back; the servers' answers say whether it was held until then.
    Releasing,
    /// With the loss that the release has found.
    Released(Option<Box<Loss>>),
}

impl Phase {
    fn is_kept(&self) -> bool {
        matches!(self, Phase::Kept)
    }
}

impl GroupHold {
    pub fn new(parts: Vec<Option<Hold>>, spare: usize) -> GroupHold {
        GroupHold {
            parts: Mutex::new(parts),
            spare,
            acquired: Instant::now(),
            phase: watch::Sender::new(Phase::Kept),
            scope: OnceLock::new(),
            kept: AtomicBool::new(false),
            late: AtomicUsize::new(0),
            seen_lost: AtomicBool::new(false),
        }
    }

    pub fn look(&self) -> Look {
        loop {
            let (late, sights) = {
                let parts = self.parts();
                (self.late.load(Relaxed), sights(&parts))
            };
            let look = self.look_at(&sights);
            if look.is_held() {
                return look;
            }
            let _parts = self.parts();
            // A part that has come meanwhile counts.
            if late == self.late.load(Relaxed) {
                self.seen_lost.store(true, Relaxed);
                return look;
            }
        }
    }

    /// Tells whether another client has asked for the release of one of its locks.
    pub fn is_wanted(&self) -> bool {
        let sights = sights(&self.parts());
        sights.iter().flatten().any(Sight::is_wanted)
    }

    fn look_at(&self, parts: &[Option<Sight>]) -> Look {
        let mut times: Vec<Duration> = Vec::new();
        let mut losses: Vec<Loss> = Vec::new();
        for part in parts.iter().flatten() {
            match part.look() {
                Look::Held { remaining } => times.push(remaining),
                Look::Lost(loss) => losses.push(loss),
                Look::Gone => {}
            }
        }
        times.sort_unstable();
        // The group is held as long as enough parts are: until the first of the longest parts ends.
        let Some(at) = times.len().checked_sub(parts.len() - self.spare) else {
            // The loss after which too few parts were held: later ones change nothing.
            losses.sort_by_key(|loss| Reverse(loss.noticed));
            let missing = parts.len() - times.len() - losses.len();
            let decisive = (self.spare + 1).saturating_sub(missing).max(1);
            return losses.into_iter().take(decisive).next_back().map_or(Look::Gone, Look::Lost);
        };
        match *self.phase.borrow() {
            Phase::Closed(since) => self.closed(since),
            _ => Look::Held { remaining: times[at] },
        }
    }

    /// The loss of a hold by the end of its client, of which enough parts are held.
    fn closed(&self, since: Instant) -> Look {
        let parts = self.parts();
        let Some(part) = parts.iter().flatten().next() else { return Look::Gone };
        let owner = OwnerField(&part.client.id(), part.release.owner).to_string();
        Look::Lost(Loss {
            lock: part.release.name.to_string(),
            owner,
            reason: LostReason::Closed,
            acquired: self.acquired.elapsed(),
            renewed: None,
            noticed: since.elapsed(),
        })
    }

    /// Notes that the client to which every call about the hold goes has ended, whether or not that client has a part:
    /// the hold is lost.
    pub fn close(&self) {
        let _parts = self.parts();
        self.phase.send_if_modified(|phase| {
            let lasts = matches!(phase, Phase::Kept | Phase::Abandoned);
            if lasts {
                *phase = Phase::Closed(Instant::now());
            }
            lasts
        });
    }

    pub fn ensure(&self) -> Result<()> {
        self.look().ensure(|| Error::Cancelled)
    }

    /// Returns when it has ended: lost, or released (not done). A release that finds a loss has lost it.
    pub async fn end(&self) -> Result<Answer> {
        let mut changes = self.phase.subscribe();
        loop {
            let phase = changes.borrow_and_update().clone();
            match phase {
                Phase::Kept | Phase::Abandoned | Phase::Closed(_) => {}
                Phase::Releasing => {
                    let _ = changes.changed().await;
                    continue;
                }
                Phase::Released(None) => return Ok(Answer::not_now()),
                Phase::Released(Some(loss)) => return Err(Error::Lost(loss)),
            }
            // The watch begins before the look: one of the two sees an end that comes in between.
            let watches: Vec<_> =
                self.parts().iter().flatten().map(|part| (part.sight(), boxed(part.watched()))).collect();
            let mut ends: JoinSet<_> =
                watches.into_iter().filter(|(part, _)| part.is_held()).map(|(_, watched)| watched).collect();
            match self.look() {
                Look::Held { .. } => {}
                Look::Lost(loss) => return Err(Error::Lost(Box::new(loss))),
                // A release has taken the parts meanwhile.
                Look::Gone if changes.has_changed().unwrap_or(false) => continue,
                Look::Gone => return Ok(Answer::not_now()),
            }
            tokio::select! {
                _ = ends.join_next() => {}
                _ = changes.changed() => {}
            }
        }
    }

    /// Lets every part last for the request's lease from now on. The time limits are those of the request: an acquire
    /// has shorter ones for each member of a majority.
    pub async fn extend(&self, request: &Request) -> Result<Answer> {
        let (need, mut extended): (_, JoinSet<_>) = {
            let parts = self.parts();
            (self.need(&parts), parts.iter().flatten().map(|part| boxed(part.extended(request))).collect())
        };
        let mut done = 0;
        let mut failure = None;
        while let Some(one) = next(&mut extended, done >= need).await {
            match one {
                Ok(Err(error)) => failure = Some(error),
                _ => done += 1,
            }
        }
        failure.filter(|_| done < need).map_or(Ok(Answer::done(1)), Err)
    }

    /// Notes that no caller can release the hold: the watchdog renews its parts no longer, and the group adds none.
    /// False: the watchdog renewed no part.
    pub fn abandon(&self) -> bool {
        let parts = {
            let parts = self.parts();
            self.phase.send_if_modified(|phase| {
                let was_kept = phase.is_kept();
                if was_kept {
                    *phase = Phase::Abandoned;
                }
                was_kept
            });
            sights(&parts)
        };
        let mut was_renewed = false;
        for part in parts.iter().flatten() {
            was_renewed |= part.abandon();
        }
        was_renewed
    }

    /// Tells whether its parts are on their way back, or are back.
    pub fn is_leaving(&self) -> bool {
        matches!(*self.phase.borrow(), Phase::Releasing | Phase::Released(_))
    }

    /// Gives every part back, by `op`. It is lost if too few parts were held until then. Another error is none, unless more
    /// parts have one than may be missing. The time limits are those of the caller: an acquire has shorter ones for
    /// each member of a majority.
    pub async fn release(&self, op: Op, response_timeout: Option<Duration>, retry_for: Option<Duration>) -> Result<()> {
        let before = self.look();
        let (mut given_back, need): (Vec<Hold>, usize) = {
            let mut parts = self.parts();
            self.phase.send_replace(Phase::Releasing);
            (parts.iter_mut().filter_map(Option::take).collect(), self.need(&parts))
        };
        for part in &mut given_back {
            part.release.op = op;
            part.release.response_timeout = response_timeout;
            part.release.retry_for = retry_for;
        }
        let mut end = Release { held: self, loss: None };
        let mut kept = 0;
        let mut failures = Vec::new();
        let mut released: JoinSet<_> = given_back.into_iter().map(|part| boxed(part.release())).collect();
        loop {
            let is_kept_or_lost = matches!(before, Look::Lost(_)) || kept >= need;
            let is_decided = is_kept_or_lost && failures.len() + released.len() <= self.spare;
            match next(&mut released, is_decided).await {
                None => break,
                Some(Ok(Err(Error::Lost(loss)))) => end.loss = Some(loss),
                Some(Ok(Err(error))) => {
                    kept += 1; // nothing says that it was lost
                    failures.push(error);
                }
                Some(_) => kept += 1,
            }
        }
        if let Look::Lost(loss) = before {
            end.loss = Some(Box::new(loss));
        } else if kept >= need {
            end.loss = None;
        }
        match &end.loss {
            Some(loss) => Err(Error::Lost(loss.clone())),
            None => failures.into_iter().nth(self.spare).map_or(Ok(()), Err),
        }
    }

    /// Has the reports about its parts come in this scope.
    pub fn trace(&self, scope: UnkeptScope) {
        let mut parts = self.parts();
        parts.iter_mut().flatten().for_each(|part| part.trace(scope.clone()));
        let _ = self.scope.set(scope);
    }

    /// Notes that the program lets it end with its lease.
    pub fn keep(&self) {
        let parts = self.parts();
        self.kept.store(true, Relaxed);
        parts.iter().flatten().for_each(Hold::note_kept);
    }

    pub fn scope(&self) -> Scope {
        self.scope.get().map(UnkeptScope::get).unwrap_or_default()
    }

    /// The members that have no hold now. A lost part keeps its loss until another part replaces it.
    pub fn missing(&self) -> Vec<usize> {
        let parts = sights(&self.parts());
        let missing = |part: &Option<Sight>| !part.as_ref().is_some_and(Sight::is_held);
        parts.iter().enumerate().filter(|(_, part)| missing(part)).map(|(i, _)| i).collect()
    }

    /// Adds the hold of a member that was missing; drops it if the group has ended meanwhile. A lost hold stays lost:
    /// since its loss, other owners may have had the lock.
    pub fn add(&self, member: usize, mut part: Hold) {
        // With this part, which is held already, as many are held as now: if one of them is lost before the next line,
        // this part still counts.
        if !self.look().is_held() {
            return drop(part);
        }
        let mut parts = self.parts();
        if !self.phase.borrow().is_kept() || self.seen_lost.load(Relaxed) {
            drop(parts);
            return drop(part);
        }
        self.scope.get().into_iter().for_each(|scope| part.trace(scope.clone()));
        if self.kept.load(Relaxed) {
            part.note_kept();
        }
        let before = parts[member].replace(part);
        self.late.fetch_add(1, Relaxed);
        self.phase.send_modify(|_| ());
        drop(parts);
        drop(before);
    }

    /// Returns once too few parts are held.
    pub async fn lost(&self) {
        while let Look::Held { remaining } = self.look() {
            sleep(remaining).await;
        }
    }

    /// Returns once the group asks for no part any more: it is released, or no caller can release it.
    pub async fn left(&self) {
        let mut changes = self.phase.subscribe();
        let _ = changes.wait_for(|phase| !phase.is_kept()).await;
    }

    /// The number of parts that make the group held.
    fn need(&self, parts: &[Option<Hold>]) -> usize {
        parts.len() - self.spare
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Option<Hold>>> {
        self.parts.lock().expect("nothing panics while it is held")
    }
}

fn sights(parts: &[Option<Hold>]) -> Vec<Option<Sight>> {
    parts.iter().map(|part| part.as_ref().map(Hold::sight)).collect()
}

/// The next answer of a part. Once the result is decided, the servers that may be missing hold the caller up for a
/// moment only: `None`. Their calls go on after it.
async fn next<T: 'static>(asked: &mut JoinSet<T>, is_decided: bool) -> Option<std::result::Result<T, JoinError>> {
    match is_decided {
        true => timeout(GIVING_BACK, asked.join_next()).await.unwrap_or(None),
        false => asked.join_next().await,
    }
}

/// A release under way: its end is told, also when its task is dropped.
struct Release<'a> {
    held: &'a GroupHold,
    loss: Option<Box<Loss>>,
}

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.held.phase.send_replace(Phase::Released(self.loss.take()));
    }
}
