//! One lock of three between languages: its parts are on the wire, so that each side meets the other's parts.

use std::time::Duration;

use redlatch_tests::View;

use crate::holds;
use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair};

const LONG: Option<Duration> = Some(Duration::from_secs(60));
const LETTERS: [&str; 3] = ["a", "b", "c"];

/// Runs `check` for every ordered pair of languages. The second one has a lock of three: of `all` or of the `majority`.
fn with_each_rule(case: &str, check: impl Fn(&Party, &Party) + Sync) {
    for rule in ["all", "majority"] {
        every_pair(&format!("{rule}: {case}"), |kind| kind.name == "plain", |one, two| check(one, &two.of_three(rule)));
    }
}

fn all_are_free(view: &mut View, party: &Party) {
    for letter in LETTERS {
        assert!(!view.exists(&format!("{}{letter}", party.name())));
    }
}

#[test]
fn one_lock_of_three_is_three_locks_to_every_other_client() {
    with_each_rule("members", |other, three| {
        let mut view = STAGE.server.view();
        three.lock(LONG);
        for letter in LETTERS {
            holds(&mut view, &three.of_one(letter), 1);
            assert!(!other.of_one(letter).try_lock(Duration::ZERO));
        }
        three.unlock();
        all_are_free(&mut view, three);
    });
}

#[test]
fn locks_of_three_exclude_each_other_in_any_client() {
    with_each_rule("exclusion", |one, two| {
        let one = one.of_three(two.asked());
        let mut view = STAGE.server.view();
        one.lock(LONG);
        assert!(!two.try_lock(Duration::ZERO));
        one.unlock();
        two.lock(LONG);
        for letter in LETTERS {
            holds(&mut view, &two.of_one(letter), 1);
        }
        two.unlock();
        all_are_free(&mut view, two);
    });
}

#[test]
fn a_lock_of_three_waits_for_a_taken_part_and_gets_it() {
    with_each_rule("wait", |other, three| {
        let mut view = STAGE.server.view();
        // Two of the three, without which there is no majority.
        let taken = [other.of_one("a"), other.of_one("c")];
        taken.iter().for_each(|one| one.lock(LONG));
        let pending = three.begin_lock(LONG);
        assert_eq!(pending.now(), None);
        taken.iter().for_each(Party::unlock);
        pending.within(4 * SOON).expect("all are free");
        three.unlock();
        all_are_free(&mut view, three);
    });
}
