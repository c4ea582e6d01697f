//! Every ordered pair of languages on one key, Redisson among them: each case is a promise, each pair a row.

mod agent;
mod details;
mod groups;
mod languages;
mod listing;
mod multi;
mod party;
mod permit_semaphore;
mod permits;
mod read_write;
mod stage;
mod waiting;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use redlatch::ffi::kinds::Traits;
use redlatch_tests::kinds::Form;
use redlatch_tests::{View, all_at_once, eventually};

use agent::Agent;
use party::{Party, SOON};
use stage::{STAGE, every_pair, kinds};
use waiting::{until_it_has, wait_besides, wait_for};

/// Whether a release wakes the waiters of the kind.
fn is_told(traits: &Traits) -> bool {
    traits.exclusive && redlatch_tests::kinds::listens(traits.name)
}

fn holds(view: &mut View, party: &Party, count: u64) {
    match redlatch_tests::kinds::row(party.kind.traits.name).form {
        Form::Token => assert_eq!(view.command::<String>(&["GET", party.name()]), party.field(), "what the server has"),
        Form::Group => multi::holds(view, party, count),
        Form::Lock | Form::ReadWrite => {
            assert_eq!(view.hgetall(party.name()), party.stored(count), "what the server has")
        }
        Form::Number => panic!("a number has no holders"),
    }
}

#[test]
fn a_held_lock_excludes_every_other_owner() {
    every_pair(
        "exclusion",
        |kind| kind.exclusive,
        |one, two| {
            one.lock(None);
            assert!(two.is_locked());
            assert!(!two.is_held());
            assert!(!two.try_lock(Duration::ZERO));
            // Redisson's try with too short a wait for its subscription is an error, not a refusal.
            assert!(!two.try_lock(Duration::from_secs(1)));
            one.unlock();
            assert!(!two.is_locked());
            assert!(two.try_lock(Duration::ZERO));
            assert!(one.is_locked());
            two.unlock();
            assert!(!STAGE.server.view().exists(one.name()));
        },
    );
}

#[test]
fn a_release_wakes_a_waiter_long_before_the_lease_ends() {
    every_pair(
        "wake",
        |kind| kind.exclusive,
        |holder, waiter| {
            let mut view = STAGE.server.view();
            holder.lock(None);
            let pending = wait_for(waiter, &mut view);
            assert!(view.pttl(holder.name()) > 2 * SOON.as_millis() as i64);
            assert_eq!(pending.now(), None);
            holder.unlock();
            pending.within(SOON).expect("it is free");
            holds(&mut view, waiter, 1);
            waiter.unlock();
            let channel = waiter.channel().unwrap_or_default();
            eventually("the end of listening", || (view.listeners(&channel) == 0).then_some(()));
        },
    );
}

#[test]
fn counts_mean_the_same_to_every_language() {
    every_pair(
        "counts",
        |kind| kind.exclusive && kind.reentrant,
        |one, two| {
            let mut view = STAGE.server.view();
            let lease = Duration::from_secs(40);
            for count in 1..=3 {
                one.lock(Some(lease));
                holds(&mut view, one, count);
            }
            let ttl = two.ttl();
            // Redisson adds up the leases of a writer.
            let most = if one.kind.traits.name == "write" { 120_000 } else { 40_000 };
            assert!(ttl > 30_000 && ttl <= most, "{ttl} ms are left of {lease:?}");
            for count in [2, 1] {
                one.unlock();
                holds(&mut view, one, count);
                assert!(two.is_locked() && !two.is_held() && !two.try_lock(Duration::ZERO));
            }
            one.unlock();
            assert!(!view.exists(one.name()));
            assert!(!two.is_locked());
            assert_eq!(two.ttl(), -2);
        },
    );
}

#[test]
fn only_the_last_release_wakes() {
    every_pair(
        "partial release",
        |kind| kind.reentrant && is_told(kind),
        |holder, waiter| {
            let mut view = STAGE.server.view();
            let channel = waiter.channel().expect("it is told");
            let mut listener = STAGE.server.listen(&channel);
            holder.lock(None);
            holder.lock(None);
            let pending = wait_besides(1, waiter, &mut view);
            holder.unlock();
            assert_eq!(listener.heard(), [""; 0], "a partial release is no news");
            assert_eq!(pending.now(), None);
            holds(&mut view, holder, 1);
            holder.unlock();
            pending.within(SOON).expect("it is free");
            assert_eq!(listener.heard(), [if holder.kind.traits.name == "write" { "1" } else { "0" }]);
            waiter.unlock();
        },
    );
}

#[test]
fn a_killed_holder_keeps_the_lock_for_its_lease_and_no_longer() {
    let case = "kill";
    all_at_once(languages::ALL.iter().chain(&*languages::OLDER).map(|language| {
        let job = move || {
            let doomed = Agent::start(language, &STAGE.server.url());
            let mut view = STAGE.server.view();
            let mut waiting = Vec::new();
            for kind in kinds(|kind| kind.exclusive && kind.redisson && language.has(kind)) {
                for (waiter, other) in
                    STAGE.waiters().filter(|(_, other)| other.has(kind.traits) && other.meets(language))
                {
                    let name = format!("{case}: {}: {} → {}", kind.traits.name, language.name, other.name);
                    let holder = Party::new(&doomed, kind, &name);
                    let waiter = Party::new(waiter, kind, &name);
                    // The watchdog keeps the lock until the kill, however long the many waits take to begin.
                    holder.lock(None);
                    let pending = wait_for(&waiter, &mut view);
                    waiting.push((name, holder.field(), waiter, pending));
                }
            }
            doomed.as_ref().expect("it took locks").kill();
            all_at_once(waiting.into_iter().map(|(name, dead, waiter, pending)| {
                let job = move || {
                    let mut view = STAGE.server.view();
                    let is_dead = |(field, value): (&String, &String)| *field == dead || value.starts_with(&dead);
                    assert!(view.hgetall(waiter.name()).iter().any(is_dead), "the lease ended before the kill");
                    let asked = Instant::now();
                    let lease = Duration::from_millis(view.pttl(waiter.name()).try_into().expect("the key has an end"));
                    until_it_has(&waiter, pending, lease);
                    // The server cuts the rest of a lease to whole milliseconds of its clock.
                    let least = lease.saturating_sub(Duration::from_millis(1));
                    assert!(asked.elapsed() >= least, "taken {:?} before its lease ended", least - asked.elapsed());
                    holds(&mut view, &waiter, 1);
                    waiter.unlock();
                };
                (name, job)
            }));
        };
        (format!("{case}: {}", language.name), job)
    }));
}

#[test]
fn a_force_unlock_evicts_the_holder_for_good() {
    every_pair(
        "force unlock",
        |kind| kind.exclusive,
        |holder, other| {
            let mut view = STAGE.server.view();
            holder.lock(None);
            assert!(other.force_unlock());
            assert!(!holder.is_locked());
            assert!(!other.force_unlock());
            assert!(other.try_lock(Duration::ZERO));
            holder.unlock_in_vain();
            assert!(!holder.is_held());
            holds(&mut view, other, 1);
            other.unlock();
        },
    );
}

#[test]
fn an_expired_lease_lets_the_next_owner_in() {
    every_pair(
        "expiry",
        |kind| kind.exclusive,
        |holder, waiter| {
            let mut view = STAGE.server.view();
            let lease = Duration::from_millis(1500);
            let start = Instant::now();
            holder.lock(Some(lease));
            until_it_has(waiter, waiter.begin_lock(None), lease);
            assert!(start.elapsed() >= lease, "taken {:?} after a lease of {lease:?} began", start.elapsed());
            holder.unlock_in_vain();
            holds(&mut view, waiter, 1);
            waiter.unlock();
        },
    );
}

#[test]
fn all_languages_together_lose_no_update() {
    const ROUNDS: u64 = 20;
    for kind in kinds(|kind| kind.exclusive && languages::ALL.iter().all(|language| language.has(kind))) {
        let unprotected = AtomicU64::new(0);
        let jobs = STAGE.agents().zip(languages::ALL.iter().cycle()).map(|(agent, language)| {
            let unprotected = &unprotected;
            let job = move || {
                let party = Party::new(agent, kind, &format!("all together: {}", kind.traits.name));
                for _ in 0..ROUNDS {
                    party.begin_lock(None).within(8 * SOON).expect("its turn comes");
                    let seen = unprotected.load(SeqCst);
                    std::thread::yield_now();
                    unprotected.store(seen + 1, SeqCst);
                    party.unlock();
                }
            };
            (format!("all together: {}: {}", kind.traits.name, language.name), job)
        });
        let count = 2 * languages::ALL.len() as u64;
        all_at_once(jobs);
        assert_eq!(unprotected.into_inner(), count * ROUNDS);
    }
}
