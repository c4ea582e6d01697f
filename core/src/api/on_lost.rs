//! The callbacks that a guard calls when its lock is lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::race::OnceBox;

use crate::base::callbacks::call_back;
use crate::client::hold::Hold;
use crate::request::error::{Error, Loss};

type Callback = Box<dyn FnOnce(Loss) + Send>;

/// A callback that waits for the end of the hold; `None`: the hold has ended, or the guard has.
type Slot = Arc<Mutex<Option<Callback>>>;

/// The callbacks of one guard. Dropping them, as a guard does before it releases, drops the callbacks without a call,
/// on the thread of the guard. Most guards have none.
#[derive(Default)]
pub struct OnLost(OnceBox<Mutex<Vec<Slot>>>);

impl OnLost {
    /// Calls `callback` once if `hold` is lost, on a thread for callbacks.
    pub fn add(&self, hold: &Hold, callback: Callback) {
        let slot: Slot = Arc::new(Mutex::new(Some(callback)));
        locked(self.0.get_or_init(Box::default)).push(slot.clone());
        let io = hold.client.io();
        // The client must not keep itself alive by this: it ends even if a guard was kept.
        hold.told(move |end| {
            let Some(callback) = take(&slot) else { return };
            // The callback, and all that it owns, is code of a user: it does not even end on a thread of the client.
            call_back(io.as_ref(), move || {
                if let Err(Error::Lost(loss)) = end {
                    callback(*loss);
                }
            });
        });
    }

    /// Leaves the callbacks to the hold, which outlasts its guard.
    pub fn keep(self) {
        self.0.get().into_iter().for_each(|slots| locked(slots).clear());
    }
}

impl Drop for OnLost {
    fn drop(&mut self) {
        let slots = self.0.get().map(|slots| std::mem::take(&mut *locked(slots)));
        slots.into_iter().flatten().for_each(|slot| drop(take(&slot)));
    }
}

fn take(slot: &Slot) -> Option<Callback> {
    locked(slot).take()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
