//! Give-backs that the server has refused. The client goes on with them while the server refuses, as a server that cannot save its
//! data does for a while: no caller will.

use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::base::clock::Instant;
use crate::engine::claim::Claim;
use crate::redis::target::Target;
use crate::redis::{Redis, kinds};

/// The pauses between two tries: the first, the longest for each hundred names, and the longest of all.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONG_PAUSE: Duration = Duration::from_secs(1);
const NAMES: usize = 100;
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A give-back of all that the server has under a grip. It has no client: only its program keeps that alive.
#[derive(Clone)]
struct Refused {
    grip: Claim,
    lease: Duration,
    response: Duration,
    retry_for: Duration,
    /// The key is to stay until then.
    from: Instant,
    /// The server keeps nothing after that.
    end: Instant,
}

/// The refused give-backs, by name. Each name has one task, and a round of it ends at the first that does not work: very many give-backs make
/// few calls.
#[derive(Default)]
pub struct Insisting {
    names: Mutex<HashMap<Arc<str>, Vec<Refused>>>,
    /// A give-back has worked: the server may take the others as well.
    worked: Arc<Notify>,
}

impl Insisting {
    /// Adds a give-back. Tells whether its name had none before.
    fn add(&self, refused: Refused) -> bool {
        match self.inside().entry(refused.grip.name.clone()) {
            Entry::Vacant(place) => {
                place.insert(vec![refused]);
                true
            }
            Entry::Occupied(mut known) => {
                let same = known.get_mut().iter_mut().find(|other| other.grip == refused.grip);
                match same {
                    Some(same) => {
                        same.from = same.from.min(refused.from);
                        same.end = same.end.max(refused.end);
                    }
                    None => known.get_mut().push(refused),
                }
                false
            }
        }
    }

    /// The give-backs of a name that are due. `None`: none is left, and its task ends.
    fn of(&self, name: &Arc<str>, now: Instant) -> Option<Vec<Refused>> {
        let mut inside = self.inside();
        let left = inside.get_mut(name)?;
        left.retain(|refused| refused.end > now);
        if left.is_empty() {
            inside.remove(name);
            return None;
        }
        Some(left.iter().filter(|refused| refused.from <= now).cloned().collect())
    }

    /// The longest pause of each name: very many make few calls.
    fn longest_pause(&self) -> Duration {
        (LONG_PAUSE * (1 + self.inside().len() / NAMES) as u32).min(LONGEST_PAUSE)
    }

    fn remove(&self, grip: &Claim) {
        if let Some(left) = self.inside().get_mut(&grip.name) {
            left.retain(|refused| refused.grip != *grip);
        }
        self.worked.notify_waiters();
    }

    /// Puts a give-back behind the others of its name: the server may refuse it alone.
    fn put_last(&self, grip: &Claim) {
        if let Some(left) = self.inside().get_mut(&grip.name)
            && let Some(at) = left.iter().position(|refused| refused.grip == *grip)
        {
            left[at..].rotate_left(1);
        }
    }

    /// The grips that are to be given back by now.
    pub fn grips(&self, now: Instant) -> Vec<Claim> {
        let inside = self.inside();
        let due = inside.values().flatten().filter(|refused| refused.from <= now);
        due.map(|refused| refused.grip.clone()).collect()
    }

    fn inside(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<Refused>>> {
        self.names.lock().expect("nothing panics while it is held")
    }
}

impl Target {
    /// Goes on to give back all that the server has under `grip`, between `from` and `end`. Other calls of its owner go out meanwhile. While the
    /// owner has the lock anew, the client waits for the end of that.
    pub fn insist(&self, grip: Claim, from: Instant, end: Instant) {
        let Target { lease, response, retry_for, .. } = *self;
        let name = grip.name.clone();
        if !self.redis.insisting.add(Refused { grip, lease, response, retry_for, from, end }) {
            return;
        }
        let client = Arc::downgrade(&self.redis);
        let worked = self.redis.insisting.worked.clone();
        drop(self.redis.io.spawn(async move {
            let mut pause = FIRST_PAUSE;
            loop {
                let _ = timeout(pause, worked.notified()).await;
                let Some(redis) = client.upgrade() else { return };
                pause = (2 * pause).min(redis.insisting.longest_pause());
                let Some(left) = redis.insisting.of(&name, Instant::now()) else { return };
                for refused in left {
                    if redis.is_still_left(refused).await {
                        break;
                    }
                }
            }
        }));
    }
}

impl Redis {
    /// Tries a give-back once more. False: it has worked, or has to wait for another call or hold.
    async fn is_still_left(self: &Arc<Self>, refused: Refused) -> bool {
        let Refused { grip, lease, response, retry_for, end, .. } = refused;
        let Some(entry) = self.gates.try_enter(&grip) else { return false };
        let now = Instant::now();
        if self.holds(|holds| holds.kept_under(&grip, now)) > 0 {
            return false;
        }
        let row = kinds::find(grip.kind).expect("it was acquired");
        let target = Target { response, retry_for, ..Target::of(self, row, grip.clone(), lease) };
        let is_done = target.reduce_to(0, Vec::new(), &grip, end.saturating_duration_since(now)).await.is_done;
        match is_done {
            true => self.insisting.remove(&grip),
            false => self.insisting.put_last(&grip),
        }
        drop(entry);
        !is_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(owner: i64, end: Instant) -> Refused {
        let (lease, response, retry_for) = Default::default();
        let from = Instant::now();
        Refused { grip: Claim::new("plain", "n".into(), owner), lease, response, retry_for, from, end }
    }

    #[test]
    fn a_name_has_one_task_and_a_grip_one_give_back() {
        let now = Instant::now();
        let soon = now + Duration::from_secs(1);
        let insisting = Insisting::default();
        assert!(insisting.add(refused(1, soon)));
        assert!(!insisting.add(refused(1, soon)) && !insisting.add(refused(2, soon)));
        insisting.put_last(&Claim::new("plain", "n".into(), 1));
        assert_eq!(insisting.grips(soon).iter().map(|grip| grip.owner).collect::<Vec<_>>(), [2, 1]);
        insisting.remove(&Claim::new("plain", "n".into(), 1));
        let left = |at| insisting.of(&"n".into(), at).map(|left| left.len());
        assert_eq!(
            (left(now), left(now + Duration::from_millis(500))),
            (Some(0), Some(1)),
            "it may have to stay for a while"
        );
        assert_eq!(left(soon), None, "the server keeps nothing any more");
        assert!(insisting.add(refused(1, soon)), "its task has ended");
    }
}
