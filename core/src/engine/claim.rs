//! One owner of one lock.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;

use crate::engine::traits::{COUNTED_TOGETHER, counted_as};

/// An owner's claim to a lock of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    mark: u64,
    pub kind: &'static str,
    pub name: Arc<str>,
    pub owner: i64,
}

static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);

impl Claim {
    pub fn new(kind: &'static str, name: Arc<str>, owner: i64) -> Self {
        let mark = STATE.hash_one((counted_as(kind), &name, owner));
        Claim { mark, kind, name, owner }
    }

    /// The claim of another owner to the same lock.
    pub fn of(&self, owner: i64) -> Self {
        if owner == self.owner { self.clone() } else { Claim::new(self.kind, self.name.clone(), owner) }
    }

    /// Tells whether the server counts the holds of an owner by both claims together.
    pub fn is_counted_with(&self, other: &Claim) -> bool {
        counted_as(self.kind) == counted_as(other.kind) && self.name == other.name
    }

    /// The claim of the same owner to the lock of that name by another kind.
    pub fn by(&self, kind: &'static str) -> Self {
        match counted_as(kind) == counted_as(self.kind) {
            true => Claim { kind, ..self.clone() },
            false => Claim::new(kind, self.name.clone(), self.owner),
        }
    }

    /// The same claim for all kinds whose holds the server counts together.
    pub fn counted(&self) -> Self {
        self.by(counted_as(self.kind))
    }

    /// The claims of its owner whose holds the server counts together with those by this one, which is among them.
    pub fn counted_together(&self) -> impl Iterator<Item = Claim> {
        let has_others = COUNTED_TOGETHER.contains(&self.kind);
        let others = COUNTED_TOGETHER.into_iter().filter(move |kind| has_others && *kind != self.kind);
        std::iter::once(self.kind).chain(others).map(|kind| self.by(kind))
    }

    /// The claims of its owner to the lock of that name by every kind of lock with owners.
    pub fn of_any_kind(&self) -> impl Iterator<Item = Claim> {
        COUNTED_TOGETHER.into_iter().chain(["read", "write"]).map(|kind| self.by(kind))
    }

    /// A hash of the field that the server has for the claim: that of another field is hardly ever the same.
    pub fn mark(&self) -> u64 {
        self.mark
    }
}

impl Hash for Claim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mark);
    }
}
