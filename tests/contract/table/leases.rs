//! How long it is held.

use std::time::Instant;

use redlatch::{Error, Look};

use super::{ms, promises};
use crate::eventually;

promises! {
    fn a_lease_that_runs_out_lets_the_next_one_in(row) of |kind| kind.exclusive; {
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
        let (client, mut view) = (row.quick(0.6), row.view());
        let held = row.take(&client, 1);
        let mut renewals = || view.calls().get("pexpire").copied().unwrap_or_default();
        eventually(|| renewals() >= 6);
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

    fn a_client_that_is_closed_gives_it_back(row) of |kind| kind.exclusive; {
        row.take(&row.a, 1);
        let waiting = row.wait(&row.a, 2, None);
        row.a.close(true);
        assert!(matches!(waiting.within(ms(5_000)), Err(Error::Closed { .. })));
        eventually(|| row.is_clean());
        row.take(&row.b, 1);
    }
}
