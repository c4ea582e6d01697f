//! The watchdog, one timer for a client: it has each bond give a sign of life each third of its lease, renews the holds by the
//! answers, and finds holds and bonds that have ended.

use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use crate::base::clock::{Alarm, Instant};
use crate::engine::stats::Counters;
use crate::sessions::{Sessions, State};

/// The most holds in one round.
const MOST: usize = 400;

/// Runs on the I/O thread until the client is gone.
pub async fn run(sessions: Weak<Sessions>, earlier: Arc<Notify>) {
    let alarm = Alarm::new();
    loop {
        let Some(awake) = sessions.upgrade() else { return };
        let next = awake.sleep();
        // The program alone keeps the client alive meanwhile.
        drop(awake);
        tokio::select! {
            () = alarm.ring(next) => {}
            () = earlier.notified() => {}
        }
        let Some(awake) = sessions.upgrade() else { return };
        awake.look_at_due();
    }
}

impl Sessions {
    /// The time at which the watchdog must wake; an earlier one that comes later wakes it.
    fn sleep(self: &Arc<Self>) -> Option<Instant> {
        self.work(|state| {
            let next = [state.holds.sleep(), state.bonds.next()].into_iter().flatten().min();
            state.asleep_until = next.unwrap_or(Instant::NEVER);
            next
        })
    }

    fn look_at_due(self: &Arc<Self>) {
        let due = self.work(|state| {
            state.holds.wake();
            let now = Instant::now();
            state.expire_bonds(now);
            while state.renew(now, &self.counters) == MOST {}
            state.bonds.take_due(now)
        });
        due.into_iter().for_each(|bond| self.driver.renew(bond));
    }
}

impl State {
    /// Renews the holds that are due, by the last signs of life of their bonds. Gives their number.
    fn renew(&mut self, now: Instant, counters: &Counters) -> usize {
        let mut asked = Vec::new();
        let count = self.holds.due(now, MOST, |claim, ask| {
            asked.push((claim.clone(), ask));
            true
        });
        for (claim, ask) in asked {
            let hold = self.holds.latest(&claim);
            let bond = hold.and_then(|hold| self.keys.get(&hold)).and_then(|key| self.grips.bond(key));
            let Some(bond) = bond else { continue };
            // A hold whose bond owes an answer has none either.
            match self.bonds.renewed(bond, now).filter(|_| !self.bonds.is_unanswered(bond, now)) {
                Some(sent) => self.holds.answered(&[ask], "1", bond, true, sent, now),
                None => counters.renewals_failed(usize::from(!ask.lease.is_zero())),
            }
        }
        count
    }
}
