//! What only some kinds promise.

use std::time::Duration;

use crate::holds;
use crate::stage::{STAGE, every_pair};

#[test]
fn what_is_not_reentrant_is_refused_to_its_owner_and_kept() {
    every_pair(
        "twice",
        |kind| kind.exclusive && !kind.reentrant,
        |holder, other| {
            holder.lock(None);
            holder.lock_in_vain();
            assert!(!other.try_lock(Duration::ZERO));
            holds(&mut STAGE.server.view(), holder, 1);
            holder.unlock();
            assert!(other.try_lock(Duration::ZERO));
            other.unlock();
        },
    );
}

#[test]
fn everybody_counts_the_same_tokens() {
    every_pair(
        "tokens",
        |kind| kind.fenced,
        |one, two| {
            assert_eq!((one.token(), two.token()), (0, 0));
            for (round, party) in [one, two, one, one, two].into_iter().enumerate() {
                party.lock(None);
                assert_eq!((one.token(), two.token()), (round as i64 + 1, round as i64 + 1));
                party.unlock();
            }
        },
    );
}
