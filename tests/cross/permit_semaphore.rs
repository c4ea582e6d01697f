//! Permits with ids between languages.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch_tests::{all_at_once, eventually, secs};

use crate::agent::Agent;
use crate::languages::ALL;
use crate::party::{Party, SOON, ids};
use crate::stage::{STAGE, every_pair, kinds};
use crate::waiting::until_asleep;

const KIND: &str = "permit_semaphore";
const ENOUGH: Duration = secs(40);

/// The permits that are available, out, and altogether.
fn counts(party: &Party) -> [i64; 3] {
    ["count", "out", "all"].map(|what| party.number(what))
}

#[test]
fn an_id_means_the_same_to_every_language() {
    every_pair(
        "ids",
        |kind| kind.name == KIND,
        |one, two| {
            assert!(one.does("try_set", 5) && !two.does("try_set", 9));
            let endless = one.take(3, None);
            let leased = two.take(2, Some(secs(60)));
            assert_eq!((endless.len(), leased.len()), (3, 2));
            assert_eq!((one.take(1, None).len(), two.take(1, None).len()), (0, 0));
            assert_eq!((counts(one), counts(two)), ([0, 5, 5], [0, 5, 5]));
            let on_the_wire: Vec<Vec<u8>> =
                STAGE.server.view().command(&["ZRANGE", &format!("{{{}}}:timeout", one.name()), "0", "-1"]);
            let mut on_the_wire: Vec<String> =
                on_the_wire.iter().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
            let mut all: Vec<_> = endless.iter().chain(&leased).cloned().collect();
            on_the_wire.sort();
            all.sort();
            assert_eq!(on_the_wire, all);
            assert_eq!((one.left(&endless[0]), two.left(&endless[0])), (-1, -1));
            assert!((50_000..=60_000).contains(&one.left(&leased[0])));
            assert!(two.extend(&endless[0], secs(40)));
            assert!((30_000..=40_000).contains(&one.left(&endless[0])));
            assert!(!two.give(&[endless[0].clone(), "00".repeat(16)]), "all or none");
            assert!(two.give(&endless) && one.give(&leased));
            assert!(!one.give(&endless[..1]) && !two.give(&leased));
            assert_eq!((counts(one), counts(two)), ([5, 0, 5], [5, 0, 5]));
            one.begin("set", 2, None).within(SOON).expect("answered");
            two.begin("add", 1, None).within(SOON).expect("answered");
            assert_eq!((counts(one), counts(two)), ([3, 0, 3], [3, 0, 3]));
        },
    );
}

#[test]
fn a_permit_given_back_wakes_its_waiter() {
    every_pair(
        "woken by a permit",
        |kind| kind.name == KIND,
        |one, two| {
            let mut view = STAGE.server.view();
            let channel = two.channel().expect("it is told");
            assert!(one.does("try_set", 2));
            let held = one.take(2, None);
            let waiting = two.begin_take(2, None, Some(secs(60)));
            eventually("a listener", || (view.listeners(&channel) == 1).then_some(()));
            until_asleep(two);
            // A Redisson that has tried in vain must not get another message before it sleeps again.
            for gift in held.chunks(if two.is_redisson() { 2 } else { 1 }) {
                assert_eq!(waiting.now(), None);
                assert!(one.give(gift));
            }
            let taken = ids(&waiting.within(SOON).expect("there are enough"));
            assert!(one.give(&taken));
            eventually("the end of listening", || (view.listeners(&channel) == 0).then_some(()));
        },
    );
}

#[test]
fn a_permit_that_ends_lets_the_next_owner_in() {
    every_pair(
        "end of a permit",
        |kind| kind.name == KIND,
        |one, two| {
            let start = Instant::now();
            let lease = Duration::from_millis(1500);
            assert!(one.does("try_set", 1));
            let held = one.take(1, Some(lease));
            let next = ids(&two.begin_take(1, None, None).within(lease + SOON).expect("the lease ended"));
            assert!(start.elapsed() >= lease, "taken {:?} after a lease of {lease:?} began", start.elapsed());
            assert!(!one.give(&held));
            assert_eq!(counts(one), [0, 1, 1]);
            assert!(two.give(&next));
        },
    );
}

#[test]
fn a_permit_of_a_killed_process_comes_back_with_its_lease() {
    let case = "killed with a permit";
    let lease = secs(6);
    let kind = kinds(|kind| kind.name == KIND).next().expect("it is in the table");
    all_at_once(ALL.iter().map(|language| {
        let job = move || {
            let doomed = Agent::start(language, &STAGE.server.url());
            let mut waiting = Vec::new();
            for (waiter, other) in STAGE.waiters().filter(|(_, other)| other.has(kind.traits)) {
                let name = format!("{case}: {} → {}", language.name, other.name);
                let holder = Party::new(&doomed, kind, &name);
                let waiter = Party::new(waiter, kind, &name);
                let start = Instant::now();
                assert!(waiter.does("try_set", 1));
                assert_eq!(holder.take(1, Some(lease)).len(), 1);
                let pending = waiter.begin_take(1, None, None);
                waiting.push((waiter, start, pending));
            }
            doomed.as_ref().expect("it took permits").kill();
            for (waiter, start, pending) in waiting {
                let taken = ids(&pending.within(lease + SOON).expect("the lease ended"));
                assert!(start.elapsed() >= lease, "taken {:?} after a lease of {lease:?} began", start.elapsed());
                assert_eq!(counts(&waiter), [0, 1, 1]);
                assert!(waiter.give(&taken));
            }
        };
        (format!("{case}: {}", language.name), job)
    }));
}

#[test]
fn a_renewed_permit_is_one_like_all_others() {
    every_pair(
        "renewed",
        |kind| kind.name == KIND,
        |one, two| {
            // Only redlatch renews permits, and its Rust agent takes them like a lock.
            if !one.is_rust() {
                return;
            }
            assert!(two.does("try_set", 1));
            let held = one.of_kind("permit");
            held.lock(None);
            assert_eq!(counts(two), [0, 1, 1]);
            let waiting = two.begin_take(1, None, None);
            let mut view = STAGE.server.view();
            let channel = two.channel().expect("it is told");
            eventually("a listener", || (view.listeners(&channel) == 1).then_some(()));
            until_asleep(two);
            held.unlock();
            assert!(two.give(&ids(&waiting.within(SOON).expect("it is there"))));
        },
    );
}

#[test]
fn all_languages_together_never_have_more_ids_than_permits() {
    let kind = kinds(|kind| kind.name == KIND).next().expect("it is in the table");
    let inside = AtomicI64::new(0);
    let most = AtomicI64::new(0);
    let first = Party::new(STAGE.agents().next().expect("there are some"), kind, "permit ids: all");
    assert!(first.does("try_set", 3));
    let jobs = STAGE.agents().zip(ALL.iter().cycle()).map(|(agent, language)| {
        let inside = &inside;
        let most = &most;
        let job = move || {
            let party = Party::new(agent, kind, "permit ids: all");
            for _ in 0..15 {
                // A Redisson that has missed its message tries again after this wait.
                let wait = party.is_redisson().then_some(secs(2));
                let take = || ids(&party.begin_take(1, wait, Some(secs(60))).within(ENOUGH).expect("its turn comes"));
                let held = std::iter::repeat_with(take).find(|held| !held.is_empty()).expect("it goes on without end");
                most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                std::thread::yield_now();
                inside.fetch_sub(1, SeqCst);
                assert!(party.give(&held));
            }
        };
        (format!("permit ids: all: {}", language.name), job)
    });
    all_at_once(jobs);
    assert!(most.into_inner() <= 3);
    assert_eq!(counts(&first), [3, 0, 3]);
}
