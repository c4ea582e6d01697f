//! One changing call at a time for each field of the server, which is an owner's for all kinds that are counted in it: a
//! repeat, a renewal and a release never cross.

use std::collections::hash_map::{self, HashMap};
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::RandomState;
use tokio::sync::{Notify, oneshot};

use crate::engine::claim::Claim;

#[derive(Default)]
pub struct Gates {
    inside: Mutex<Inside>,
    /// Signals that a call or a round has left: none may be inside now.
    left: Notify,
    /// Signals that an owner which a round had to leave out has become free.
    pub freed: Arc<Notify>,
}

#[derive(Default)]
struct Inside {
    /// The callers that queue for the right to send, in order, by the mark of their field. A field has an entry while a
    /// call is inside or a caller queues for it.
    taken: HashMap<u64, VecDeque<oneshot::Sender<Entry>>, RandomState>,
    /// The marks of the fields that a round has let in.
    round: HashSet<u64, RandomState>,
    /// Owners whose callers wait until a round is over.
    awaited: Vec<Claim>,
    /// Owners that a round had to leave out because of a call in flight, by the marks of their fields.
    missed: HashMap<u64, Claim, RandomState>,
    /// The owners among them that have become free since the last look.
    freed: Vec<Claim>,
}

/// The right to send a changing call; dropping it passes it on.
pub struct Entry {
    gates: Arc<Gates>,
    /// A claim to the field: if the right was passed on, perhaps by another kind.
    pub claim: Claim,
    /// Another caller has it now.
    passed: bool,
}

/// The rights to send for very many owners at once; dropping it passes them all on. Owners whose answers come by
/// different calls are in different rounds, so that none waits for the slowest call.
pub struct Round {
    gates: Arc<Gates>,
    marks: Vec<u64>,
}

/// Lets owners into rounds; no other call can come in meanwhile.
pub struct Entrance<'a>(&'a mut Inside);

impl Entrance<'_> {
    /// False: another call or another round is inside. After a call [`Gates::take_freed`] gives the owner.
    pub fn lets_in(&mut self, round: &mut Round, claim: &Claim) -> bool {
        if self.0.taken.contains_key(&claim.mark()) {
            self.0.missed.insert(claim.mark(), claim.clone());
            return false;
        }
        let enters = self.0.round.insert(claim.mark());
        if enters {
            round.marks.push(claim.mark());
        }
        enters
    }
}

impl Gates {
    pub fn try_enter(self: &Arc<Self>, claim: &Claim) -> Option<Entry> {
        let mut inside = self.inside();
        let is_free = !inside.round.contains(&claim.mark()) && !inside.taken.contains_key(&claim.mark());
        is_free.then(|| self.enter_now(&mut inside, claim))
    }

    /// Tells whether no call is inside for any of these claims.
    pub fn are_quiet(&self, claims: impl IntoIterator<Item = Claim>) -> bool {
        let inside = self.inside();
        claims
            .into_iter()
            .all(|claim| !inside.round.contains(&claim.mark()) && !inside.taken.contains_key(&claim.mark()))
    }

    /// Makes an empty round.
    pub fn round(self: &Arc<Self>) -> Round {
        Round { gates: self.clone(), marks: Vec::new() }
    }

    /// Lets `gather` put owners into rounds; it must drop no round meanwhile.
    pub fn open<T>(&self, gather: impl FnOnce(&mut Entrance) -> T) -> T {
        gather(&mut Entrance(&mut self.inside()))
    }

    /// The owners that a round had to leave out and that have become free since the last look.
    pub fn take_freed(&self) -> Vec<Claim> {
        std::mem::take(&mut self.inside().freed)
    }

    /// Returns once no call and no round is inside. Only one task at a time may wait for that.
    pub async fn idle(&self) {
        while !self.is_idle() {
            self.left.notified().await;
        }
    }

    /// Waits for the right to send. Dropping the future leaves the queue.
    pub async fn enter(self: &Arc<Self>, claim: &Claim) -> Entry {
        loop {
            let entry = {
                let mut inside = self.inside();
                if inside.round.contains(&claim.mark()) && !inside.taken.contains_key(&claim.mark()) {
                    inside.awaited.push(claim.clone());
                    inside.taken.insert(claim.mark(), VecDeque::new());
                }
                let Some(queue) = inside.taken.get_mut(&claim.mark()) else {
                    return self.enter_now(&mut inside, claim);
                };
                let (sender, entry) = oneshot::channel();
                queue.push_back(sender);
                entry
            };
            if let Ok(entry) = entry.await {
                return entry;
            }
        }
    }

    fn enter_now(self: &Arc<Self>, inside: &mut Inside, claim: &Claim) -> Entry {
        inside.taken.insert(claim.mark(), VecDeque::new());
        Entry::new(self, claim)
    }

    pub fn is_idle(&self) -> bool {
        let inside = self.inside();
        inside.taken.is_empty() && inside.round.is_empty()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("nothing panics while it is held")
    }
}

impl Entry {
    fn new(gates: &Arc<Gates>, claim: &Claim) -> Self {
        Entry { gates: gates.clone(), claim: claim.clone(), passed: false }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        while !self.passed {
            let next = {
                let mut inside = self.gates.inside();
                let hash_map::Entry::Occupied(mut queue) = inside.taken.entry(self.claim.mark()) else { return };
                match queue.get_mut().pop_front() {
                    Some(next) => next,
                    None => {
                        queue.remove();
                        if let Some(claim) = inside.missed.remove(&self.claim.mark()) {
                            inside.freed.push(claim);
                            self.gates.freed.notify_one();
                        }
                        self.gates.left.notify_one();
                        return;
                    }
                }
            };
            match next.send(Entry::new(&self.gates, &self.claim)) {
                Ok(()) => self.passed = true,
                // The next caller is gone: this call still has the right, and passes it on.
                Err(mut entry) => entry.passed = true,
            }
        }
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        let over: Vec<Claim> = {
            let mut inside = self.gates.inside();
            let Inside { round, awaited, .. } = &mut *inside;
            for mark in &self.marks {
                round.remove(mark);
            }
            awaited.extract_if(.., |claim| !round.contains(&claim.mark())).collect()
        };
        for claim in over {
            drop(Entry::new(&self.gates, &claim));
        }
        self.gates.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<T>(future: &mut std::pin::Pin<Box<impl Future<Output = T>>>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn no_call_is_inside_together_with_a_round() {
        let gates = Arc::new(Gates::default());
        let [one, two, three] = [1, 2, 3].map(|owner| Claim::new("plain", "n".into(), owner));
        let entry = gates.try_enter(&one).expect("no call is inside");
        let mut round = gates.round();
        let mut other = gates.round();
        let let_in = gates.open(|entrance| [&one, &two, &two].map(|claim| entrance.lets_in(&mut round, claim)));
        assert_eq!(let_in, [false, true, false]);
        assert!(gates.try_enter(&two).is_none() && gates.try_enter(&three).is_some());
        let mut waiting = [(); 3].map(|()| Box::pin(gates.enter(&two)));
        assert!(waiting.iter_mut().all(|entry| poll(entry).is_pending()));
        assert!(!gates.open(|entrance| entrance.lets_in(&mut other, &two)), "a call queues");
        let [gone, mut first, mut second] = waiting;
        drop((gone, round));
        let Poll::Ready(first) = poll(&mut first) else { panic!("the round is over") };
        assert!(poll(&mut second).is_pending(), "one at a time");
        drop(first);
        assert!(poll(&mut second).is_ready());
        drop((entry, second));
        assert!(gates.is_idle());
    }

    #[test]
    fn a_round_is_told_once_that_a_slot_has_become_free_which_a_call_kept_it_from() {
        let gates = Arc::new(Gates::default());
        let [one, two] = [1, 2].map(|owner| Claim::new("plain", "n".into(), owner));
        let first = gates.try_enter(&one).expect("free");
        let other = gates.try_enter(&two).expect("free");
        let mut round = gates.round();
        let mut second = Box::pin(gates.enter(&one));
        assert!(poll(&mut second).is_pending());
        assert!(!gates.open(|entrance| entrance.lets_in(&mut round, &one)));
        drop((first, other));
        assert!(
            gates.take_freed().is_empty(),
            "the next call of the same owner is inside, and the other claim was not asked for"
        );
        let Poll::Ready(second) = poll(&mut second) else { panic!("the first call is over") };
        drop(second);
        assert_eq!(gates.take_freed(), std::slice::from_ref(&one));
        assert!(gates.take_freed().is_empty());
    }

    #[test]
    fn a_round_that_is_over_lets_its_slots_go_while_another_lasts() {
        let gates = Arc::new(Gates::default());
        let [one, two] = [1, 2].map(|owner| Claim::new("plain", "n".into(), owner));
        let mut quick = gates.round();
        let mut slow = gates.round();
        assert!(gates.open(|entrance| entrance.lets_in(&mut quick, &one) && entrance.lets_in(&mut slow, &two)));
        drop(quick);
        assert!(gates.try_enter(&one).is_some() && gates.try_enter(&two).is_none());
        drop(slow);
        assert!(gates.try_enter(&two).is_some() && gates.is_idle());
    }
}
