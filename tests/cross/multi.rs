//! The values of a group between languages. Languages of redlatch run every case of the table. Redisson's multi lock
//! has no count and no time to live, and cannot wait without a lease, so that it has cases of its own here.

use std::time::Duration;

use redlatch_tests::View;

use crate::languages::{ALL, Age, Language};
use crate::party::{Party, SOON};
use crate::stage::{STAGE, kinds};
use crate::waiting::until_waiting;

const LONG: Option<Duration> = Some(Duration::from_secs(60));

/// Checks that the server has both values of the agents for this owner, each with its end and this count of holds.
pub fn holds(view: &mut View, party: &Party, count: u64) {
    let fields = view.hgetall(party.name());
    let counts: Vec<_> =
        fields.iter().filter(|(field, _)| field.ends_with(":lock_count")).map(|(_, count)| count.as_str()).collect();
    assert_eq!(counts, [count.to_string(), count.to_string()], "of {fields:?}");
    // For groups that Kryo encodes, an agent has a client of its own.
    let owner = if party.name().starts_with("kryo") { ":7".to_owned() } else { party.field() };
    let owned = fields.values().filter(|value| value.contains(&owner)).count();
    assert_eq!((owned, fields.len()), (2, 6), "of {fields:?}");
}

/// Runs `check` for each language of redlatch with Redisson, in both directions: on groups whose values are texts, and
/// on groups that Kryo encodes.
fn with_redisson(case: &str, check: impl Fn(&Party, &Party) + Sync) {
    let kind = kinds(|kind| kind.name == "multi").next().expect("it is in the table");
    let agents: Vec<_> = STAGE.agents().zip(ALL.iter().cycle()).take(ALL.len()).collect();
    let (ours, redissons): (Vec<_>, Vec<_>) = agents.into_iter().partition(|(_, language)| language.age == Age::Ours);
    let pairs = ours.iter().flat_map(|one| redissons.iter().flat_map(move |two| [(one, two), (two, one)]));
    let written = pairs.flat_map(|pair| ["text", "kryo"].map(|codec| (codec, pair)));
    let writes_texts_only = |language: &Language| ["python", "asyncio"].contains(&language.name);
    let had =
        written.filter(|(codec, (one, two))| *codec == "text" || ![one.1, two.1].into_iter().any(writes_texts_only));
    redlatch_tests::all_at_once(had.map(|(codec, (one, two))| {
        let name = format!("{codec}: {case}: {} → {}", one.1.name, two.1.name);
        let check = &check;
        (name.clone(), move || check(&Party::new(one.0, kind, &name), &Party::new(two.0, kind, &name)))
    }));
}

#[test]
fn a_group_excludes_and_wakes_across_redisson() {
    with_redisson("multi", |one, two| {
        let mut view = STAGE.server.view();
        one.lock(LONG);
        holds(&mut view, one, 1);
        assert!(two.is_locked() && !two.try_lock(Duration::ZERO));
        let pending = two.begin_lock(LONG);
        until_waiting(0, two, &mut view);
        one.unlock();
        pending.within(SOON).expect("it is free");
        assert!(one.is_locked() && !one.try_lock(Duration::ZERO));
        two.unlock();
        assert!(!one.is_locked());
        assert!(one.try_lock(Duration::ZERO));
        // Redisson answers no when it evicts holders of two values.
        two.force_unlock();
        assert!(!one.is_locked());
        one.unlock_in_vain();
    });
}

#[test]
fn the_end_of_a_lease_lets_the_next_owner_have_the_group() {
    with_redisson("multi expiry", |holder, waiter| {
        let lease = Duration::from_millis(1500);
        let start = std::time::Instant::now();
        holder.lock(Some(lease));
        waiter.begin_lock(LONG).within(lease + SOON).expect("the lease ended");
        assert!(start.elapsed() >= lease, "taken {:?} after a lease of {lease:?} began", start.elapsed());
        waiter.unlock();
    });
}
