//! Semaphores and latches between languages.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use redlatch_tests::{all_at_once, eventually};

use crate::languages::ALL;
use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair, kinds};
use crate::waiting::until_asleep;

const ENOUGH: Duration = Duration::from_secs(40);

#[test]
fn permits_mean_the_same_to_every_language() {
    every_pair(
        "permits",
        |kind| kind.name == "semaphore",
        |one, two| {
            assert!(one.does("try_set", 5) && !two.does("try_set", 9));
            assert!(one.does("take", 3) && !two.does("take", 3) && two.does("take", 2));
            assert_eq!((one.number("count"), two.number("count")), (0, 0));
            assert!(two.does("give", 4));
            assert_eq!(one.number("drain"), 4);
            assert!(two.does("add", 7) && one.does("take", 7));
            assert_eq!(STAGE.server.view().command::<String>(&["GET", one.name()]), "0");
        },
    );
}

#[test]
fn permits_given_back_wake_their_waiters() {
    every_pair(
        "woken by permits",
        |kind| kind.name == "semaphore",
        |one, two| {
            let mut view = STAGE.server.view();
            let channel = two.channel().expect("it is told");
            assert!(one.does("try_set", 2) && one.does("take", 2));
            let waiting = two.begin("take", 2, None);
            eventually("a listener", || (view.listeners(&channel) == 1).then_some(()));
            until_asleep(two);
            // A Redisson that has tried in vain must not get another message before it sleeps again.
            let gifts: &[i64] = if two.is_redisson() { &[2] } else { &[1, 1] };
            for gift in gifts {
                assert_eq!(waiting.now(), None);
                assert!(one.does("give", *gift));
            }
            waiting.within(SOON).expect("there are enough");
            assert_eq!(one.number("count"), 0);
            eventually("the end of listening", || (view.listeners(&channel) == 0).then_some(()));
        },
    );
}

#[test]
fn all_languages_together_never_hold_more_permits_than_there_are() {
    let kind = kinds(|kind| kind.name == "semaphore").next().expect("it is in the table");
    let inside = AtomicI64::new(0);
    let most = AtomicI64::new(0);
    let first = Party::new(STAGE.agents().next().expect("there are some"), kind, "permits: all");
    assert!(first.does("try_set", 3));
    let jobs = STAGE.agents().zip(ALL.iter().cycle()).map(|(agent, language)| {
        let inside = &inside;
        let most = &most;
        let job = move || {
            let party = Party::new(agent, kind, "permits: all");
            for _ in 0..15 {
                // A Redisson that has missed its message tries again after this wait.
                let wait = party.is_redisson().then_some(Duration::from_secs(2));
                while party.begin("take", 1, wait).within(ENOUGH).expect("its turn comes") != true {}
                most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                std::thread::yield_now();
                inside.fetch_sub(1, SeqCst);
                assert!(party.does("give", 1));
            }
        };
        (format!("permits: all: {}", language.name), job)
    });
    all_at_once(jobs);
    assert!(most.into_inner() <= 3);
    assert_eq!(first.number("count"), 3);
}

#[test]
fn a_latch_that_one_language_counts_down_lets_the_other_go() {
    every_pair(
        "latch",
        |kind| kind.name == "latch",
        |one, two| {
            let mut view = STAGE.server.view();
            let channel = two.channel().expect("it is told");
            // Redisson finds no latch open with a wait of zero.
            let open = two.begin("take", 1, Some(Duration::from_secs(1))).within(SOON).expect("answered");
            assert_eq!(open, true, "what was never set is open");
            assert!(one.does("try_set", 2) && !two.does("try_set", 2));
            let waiting = two.begin("take", 1, None);
            eventually("a listener", || (view.listeners(&channel) == 1).then_some(()));
            until_asleep(two);
            assert!(two.does("count_down", 1));
            assert_eq!((one.number("count"), waiting.now()), (1, None));
            assert!(one.does("count_down", 1));
            waiting.within(SOON).expect("it is open");
            assert_eq!(two.number("count"), 0);
            assert!(!view.exists(one.name()));
        },
    );
}
