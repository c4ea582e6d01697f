//! How long a lock is held.

use std::time::Instant;

use redlatch::ffi::{Border, Look, Op, Request};
use redlatch::{Error, Holds};

use super::promises;
use crate::{eventually, ms};

promises! {
    fn an_expired_lease_lets_the_next_owner_in(row) of |kind| kind.exclusive; {
        let begun = Instant::now();
        let held = row.lease(&row.a, 1, ms(400));
        assert!(row.try_for(&row.b, 2, ms(10_000)).is_some());
        assert!(begun.elapsed() >= ms(400));
        assert!(matches!(row.a.look(held.number as u64), Look::Lost(_)));
        assert!(matches!(row.try_give(&row.a, 1), Err(Error::Lost(_))));
        assert_eq!(row.count(&row.b, 2), 1, "the late release took nothing away");
        row.give(&row.b, 2);
    }

    fn a_hold_without_a_lease_is_renewed_and_no_longer_than_it_is_held(row) of |kind| kind.renewed; {
        // Longer than a busy machine's pauses: a process that stands still for longer has lost its lock.
        let client = row.quick(3.0);
        let mut view = row.view();
        let held = row.take(&client, 1);
        let mut renewals = || view.calls().get("pexpire").copied().unwrap_or_default();
        // More than four thirds of the lease.
        eventually(|| renewals() >= 5);
        assert!(matches!(client.look(held.number as u64), Look::Held { .. }));
        row.give(&client, 1);
        assert!(row.is_clean());
    }

    fn a_hold_with_a_lease_is_not_renewed(row) of |kind| kind.renewed; {
        let client = row.quick(0.6);
        row.lease(&client, 1, ms(1000));
        eventually(|| !row.is_taken(&row.b));
        assert!(matches!(row.try_give(&client, 1), Err(Error::Lost(_))));
    }

    fn another_lease_counts_from_when_it_is_given(row) of |kind| kind.renewed; {
        let held = row.lease(&row.a, 1, ms(10_000)).number as u64;
        let extend = |lease| row.a.run_blocking(Request { hold: held, lease: Some(lease), ..row.request(Op::Extend, 1) });
        let left = || match row.a.look(held) { Look::Held { remaining } => remaining, other => panic!("{other:?}") };
        let mut view = row.view();
        for lease in [ms(60_000), ms(20_000), ms(40_000)] {
            extend(lease).expect("it is held");
            let server = view.pttl(row.key());
            let here = left();
            assert!(here < lease && here > lease - ms(5_000), "{here:?} of {lease:?}");
            // Where others may hold the lock too, the server keeps it no shorter than before.
            assert!(here.as_millis() <= server as u128 && server <= 60_000, "{server} ms of {lease:?}");
        }
        row.give(&row.a, 1);
        assert!(matches!(extend(ms(1_000)), Err(Error::NotHeld { .. })));
        assert!(row.is_clean());
    }

    fn a_lost_hold_gets_no_other_lease(row) of |kind| kind.renewed; {
        let held = row.lease(&row.a, 1, ms(30_000)).number as u64;
        row.view().command::<()>(&["DEL", row.key()]);
        row.take(&row.b, 2);
        let extended = row.a.run_blocking(Request { hold: held, lease: Some(ms(60_000)), ..row.request(Op::Extend, 1) });
        assert!(matches!(&extended, Err(Error::Lost(_))), "{extended:?}");
        assert!(row.view().pttl(row.key()) <= 30_000);
        assert_eq!(row.count(&row.b, 2), 1);
    }

    fn a_closed_client_gives_its_locks_back(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let waiting = row.wait(&row.a, 2, None);
        row.a.close_blocking(Holds::Release);
        assert!(matches!(waiting.within(ms(5_000)), Err(Error::Closed { .. })));
        eventually(|| row.is_clean());
        row.take(&row.b, 1);
    }
}
