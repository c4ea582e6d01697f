//! The lock of several values of one group, beyond the promises of every lock.

use redlatch::{Blocking, Client, Error, LostReason};

use crate::{eventually, ms, pair, secs};

/// The locks of the owner with this number, so that one owner may take several.
fn values(client: &Client, owner: u64, values: &[&str]) -> Blocking {
    client.multi_lock_group("g", values).owner(owner).blocking()
}

#[test]
fn one_value_in_common_excludes_and_none_does_not() {
    let (server, a, b) = pair();
    let held = values(&a, 1, &["x", "y"]).acquire().expect("free");
    assert!(values(&b, 1, &["y", "z"]).try_acquire().expect("answered").is_none());
    assert!(!values(&b, 1, &["z"]).is_locked().expect("answered"), "what could not be had whole is not kept in part");
    let beside = values(&b, 1, &["z"]).try_acquire().expect("answered").expect("no owner has it");
    assert!(values(&b, 1, &["x"]).is_locked().expect("answered"));
    held.release().expect("held");
    beside.release().expect("held");
    assert!(server.view().keys("*").is_empty());
}

#[test]
fn a_release_wakes_the_waiters_for_any_of_its_values() {
    let (server, a, b) = pair();
    let held = values(&a, 1, &["x", "y"]).acquire().expect("free");
    let waiter =
        std::thread::spawn(move || b.multi_lock_group("g", &["y", "z"]).wait(secs(20)).blocking().acquire().map(drop));
    eventually(|| !server.view().channels("*").is_empty());
    held.release().expect("held");
    waiter.join().expect("no panic").expect("woken");
}

#[test]
fn values_in_another_order_or_twice_are_the_same_hold() {
    let (_server, a, _) = pair();
    let outer = values(&a, 1, &["x", "y"]).acquire().expect("free");
    let inner = values(&a, 1, &["y", "x", "y"]).acquire().expect("its own");
    outer.release().expect("held");
    assert!(values(&a, 1, &["y"]).is_locked().expect("answered"));
    inner.release().expect("held");
    assert!(!values(&a, 1, &["x", "y"]).is_locked().expect("answered"));
}

#[test]
fn an_owner_may_hold_several_sets_but_no_value_twice() {
    let (server, a, b) = pair();
    let one = values(&a, 1, &["x", "y"]).acquire().expect("free");
    let two = values(&a, 1, &["z"]).acquire().expect("free");
    let refused = values(&a, 1, &["y", "v"]).try_acquire().map(drop).expect_err("it would wait for itself");
    assert!(matches!(refused, Error::AlreadyHeld { .. }) && refused.to_string().contains("`g: v, y`"), "{refused}");
    one.release().expect("held");
    two.ensure().expect("held");
    assert!(values(&b, 1, &["z"]).try_acquire().expect("answered").is_none());
    two.release().expect("held");
    assert!(server.view().keys("*").is_empty());
}

#[test]
fn each_of_several_sets_is_renewed() {
    let (server, _, b) = pair();
    // A loaded machine may hold a renewal up for longer than a short lease lasts.
    let a = Client::connect(&format!("{}?watchdog=3", server.url())).expect("a good URL");
    let held: Vec<_> = [&["x", "y"][..], &["z"]].map(|set| values(&a, 1, set).acquire().expect("free")).into();
    let waited = b.multi_lock_group("g", &["z", "x"]).wait(secs(9)).blocking().acquire();
    assert!(matches!(waited, Err(Error::NotAcquired { .. })), "three times as long as a lease");
    for guard in held {
        guard.release().expect("still held");
    }
}

#[test]
fn an_ended_value_is_taken_over_and_the_rest_stays() {
    let (server, a, b) = pair();
    let long = a.multi_lock_group("g", &["long"]).lease(secs(60)).blocking().acquire().expect("free");
    let short = a.multi_lock_group("g", &["short"]).lease(ms(20)).blocking().acquire().expect("free");
    let next = b.multi_lock_group("g", &["short"]).wait(secs(20)).blocking().acquire().expect("it ends");
    assert!(matches!(short.release(), Err(Error::Lost(loss)) if loss.reason == LostReason::Expired));
    next.ensure().expect("held");
    next.release().expect("held");
    assert_eq!(server.view().hgetall("g").len(), 3, "one value is left, with what belongs to it");
    long.release().expect("held");
}

#[test]
fn a_value_that_another_owner_took_away_is_told_before_the_next_renewal() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let guard = values(&a, 1, &["x", "y"]).acquire().expect("free");
    eventually(|| view.tells());
    assert!(values(&b, 2, &["y"]).force_release().expect("answered"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads");
    let lost = runtime.block_on(async { tokio::time::timeout(secs(8), guard.lost()).await });
    assert_eq!(lost.expect("long before it is renewed").expect("it is lost").reason, LostReason::Deleted);
}

#[test]
fn a_forced_release_takes_each_of_the_values_from_its_holder() {
    let (server, a, b) = pair();
    let guards = [values(&a, 1, &["x"]).acquire().expect("free"), values(&b, 1, &["y"]).acquire().expect("free")];
    let kept = values(&b, 2, &["z"]).acquire().expect("free");
    assert!(values(&a, 9, &["x", "y"]).force_release().expect("answered"));
    for guard in guards {
        assert!(matches!(guard.release(), Err(Error::Lost(_))));
    }
    kept.release().expect("held");
    assert!(server.view().keys("*").is_empty());
}

#[test]
fn no_values_and_values_with_control_characters_are_refused() {
    let (_server, a, _) = pair();
    let none: [&str; 0] = [];
    for (bad, says) in [(&none[..], "has no values"), (&["a\0b"], "U+0000"), (&["\u{1}"], "U+0001")] {
        let error = a.multi_lock_group("g", bad).blocking().acquire().map(drop).expect_err("refused");
        assert!(matches!(error, Error::Config(_)) && error.to_string().contains(says), "{error}");
    }
}
