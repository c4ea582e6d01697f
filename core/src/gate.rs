//! One changing call at a time for each owner of a lock: a repeat, a renewal and a release never cross.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Arc, Mutex};

use foldhash::fast::RandomState;
use tokio::sync::{Notify, oneshot};

use crate::holds::Slot;

#[derive(Default)]
pub struct Gates {
    /// A slot with somebody inside has an entry: those who queue for their turn.
    taken: Mutex<HashMap<Slot, VecDeque<oneshot::Sender<Turn>>, RandomState>>,
    /// Told whenever a slot has nobody inside any more.
    left: Notify,
}

/// The right to send; dropping it passes it on.
pub struct Turn {
    gates: Arc<Gates>,
    pub slot: Slot,
}

impl Gates {
    pub fn try_enter(self: &Arc<Self>, slot: &Slot) -> Option<Turn> {
        let mut taken = self.taken.lock().expect("nothing panics while it is held");
        let Entry::Vacant(free) = taken.entry(slot.clone()) else { return None };
        free.insert(VecDeque::new());
        Some(Turn { gates: self.clone(), slot: slot.clone() })
    }

    /// Returns once nobody is inside anywhere. For one caller at a time.
    pub async fn idle(&self) {
        while !self.taken.lock().expect("nothing panics while it is held").is_empty() {
            self.left.notified().await;
        }
    }

    /// Waits for the turn. Dropping the future leaves the queue.
    pub async fn enter(self: &Arc<Self>, slot: &Slot) -> Turn {
        loop {
            let turn = {
                let mut taken = self.taken.lock().expect("nothing panics while it is held");
                match taken.get_mut(slot) {
                    Some(queue) => {
                        let (sender, receiver) = oneshot::channel();
                        queue.push_back(sender);
                        Some(receiver)
                    }
                    None => None,
                }
            };
            match turn {
                Some(turn) => {
                    if let Ok(turn) = turn.await {
                        return turn;
                    }
                }
                None => {
                    if let Some(turn) = self.try_enter(slot) {
                        return turn;
                    }
                }
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        loop {
            let next = {
                let mut taken = self.gates.taken.lock().expect("nothing panics while it is held");
                let Entry::Occupied(mut inside) = taken.entry(self.slot.clone()) else { return };
                match inside.get_mut().pop_front() {
                    Some(next) => next,
                    None => {
                        inside.remove();
                        self.gates.left.notify_one();
                        return;
                    }
                }
            };
            let turn = Turn { gates: self.gates.clone(), slot: self.slot.clone() };
            match next.send(turn) {
                Ok(()) => return,
                // It went away meanwhile: this very turn is still ours to pass on.
                Err(turn) => std::mem::forget(turn),
            }
        }
    }
}
