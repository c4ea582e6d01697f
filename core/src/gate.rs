//! One changing call at a time for each owner of a lock: a repeat, a renewal and a release never cross.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, oneshot};

use crate::holds::Slot;

#[derive(Default)]
pub struct Gates {
    /// A slot with somebody inside has an entry: those who queue for their turn.
    taken: Mutex<HashMap<Slot, VecDeque<oneshot::Sender<Turn>>>>,
    /// Told whenever a slot has nobody inside any more.
    left: Notify,
}

/// The right to send; dropping it passes it on.
pub struct Turn {
    gates: Arc<Gates>,
    slot: Slot,
}

impl Gates {
    pub fn try_enter(self: &Arc<Self>, slot: &Slot) -> Option<Turn> {
        let mut taken = self.taken.lock().expect("nothing panics while it is held");
        if taken.contains_key(slot) {
            return None;
        }
        taken.insert(slot.clone(), VecDeque::new());
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
                match taken.get_mut(&self.slot).and_then(VecDeque::pop_front) {
                    Some(next) => next,
                    None => {
                        taken.remove(&self.slot);
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
