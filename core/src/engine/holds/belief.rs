//! Reports the holds that this client believes in, for a test rig that compares them with the server: one event for
//! each change, of the target `redlatch::belief` and the trace level. The events of a hold come in their order, so they
//! come while the holds are locked. The subscriber of a program must not be called then: the rig has to ask for them.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::owned::Owned;
use super::{Holds, Instant};

static REPORTED: AtomicBool = AtomicBool::new(false);

/// Has the clients of this process report what they believe in. A subscriber that asks a client anything meanwhile
/// waits for itself.
pub fn report_beliefs() {
    REPORTED.store(true, Relaxed);
}

impl Holds {
    /// Reports a change of one hold, or with `hold` 0 of all holds of the owner. `sent`: the time at which the client
    /// sent the call that the belief is founded on. `token` as in [`super::owned::Hold`].
    ///
    /// The event has times as µs from now on, and until now: a subscriber has another clock.
    pub(super) fn tell(&self, change: &'static str, owned: &Owned, hold: u64, sent: Option<Instant>, token: i64) {
        if !REPORTED.load(Relaxed) {
            return;
        }
        tracing::trace!(
            target: "redlatch::belief",
            change,
            client = &*self.uuid,
            kind = owned.claim.kind,
            name = &*owned.claim.name,
            owner = owned.claim.owner,
            grip = owned.field,
            hold,
            token,
            left = owned.deadline.saturating_duration_since(Instant::now()).as_micros() as u64,
            asked = sent.map_or(u64::MAX, |sent| sent.elapsed().as_micros() as u64),
        );
    }
}
