//! The table of kinds: every kind keeps each promise that its traits call for, and every kind has promises to keep.

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch_tests::{all_at_once, kinds};

pub use row::Row;

mod barging;
mod counted;
mod crossings;
mod exclusion;
mod fairness;
mod given_up;
mod leases;
mod mingled;
mod outlasting;
mod refused;
mod row;
mod turns;
mod twins;
mod two_kinds;
mod waiting;

/// A promise, and the condition on a kind's traits that calls for it.
pub struct Promise {
    pub name: &'static str,
    pub of: fn(&Traits) -> bool,
}

/// A test for each promise, run for every kind that meets its condition, and the list of promises.
macro_rules! promises {
    ($($(#[$doc:meta])* fn $name:ident($row:ident) of |$traits:ident| $of:expr; $body:block)*) => {
        pub const PROMISES: &[super::Promise] =
            &[$(super::Promise { name: stringify!($name), of: |$traits: &redlatch::ffi::kinds::Traits| $of }),*];
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                super::keep(&PROMISES.iter().find(|promise| promise.name == stringify!($name)).expect("it is in the list"), |$row| $body);
            }
        )*
    };
}
pub(crate) use promises;

/// Semaphores, latches and permits have promises of their own: permits.rs, latch.rs, permit_semaphore.rs.
fn locks() -> impl Iterator<Item = &'static KindRow> {
    ALL.iter().filter(|KindRow { traits, .. }| kinds::row(traits.name).lock.is_some())
}

/// Checks a promise for all kinds that it is about, at once, each on a server of its own.
fn keep(promise: &Promise, check: impl Fn(&Row) + Sync) {
    let kinds = locks().filter(|KindRow { traits, .. }| (promise.of)(traits));
    all_at_once(kinds.map(|KindRow { traits, kind }| {
        let check = &check;
        (traits.name.to_owned(), move || check(&Row::new(traits, *kind)))
    }));
}

#[test]
fn every_kind_has_promises_to_keep_and_every_promise_a_kind() {
    let promises = || {
        [
            barging::PROMISES,
            counted::PROMISES,
            exclusion::PROMISES,
            fairness::PROMISES,
            given_up::PROMISES,
            leases::PROMISES,
            turns::PROMISES,
            twins::PROMISES,
            waiting::PROMISES,
        ]
        .into_iter()
        .flatten()
    };
    assert!(locks().all(|KindRow { traits, .. }| traits.held), "kinds without holders have promises of their own");
    for KindRow { traits, .. } in locks() {
        let kept = promises().filter(|promise| (promise.of)(traits)).count();
        assert!(kept >= 8, "only {kept} promises are about the kind {}", traits.name);
    }
    for promise in promises() {
        assert!(locks().any(|KindRow { traits, .. }| (promise.of)(traits)), "no kind has to keep {}", promise.name);
    }
}
