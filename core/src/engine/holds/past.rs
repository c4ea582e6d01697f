//! Losses of holds that are forgotten otherwise: a caller that still has such a hold may ask what became of it, however late.

use std::collections::BTreeMap;

use super::owned::Lost;
use crate::engine::claim::Claim;

/// How many are known at most: those of the youngest holds. Programs that let leases end and never release lose a hold each time.
const MOST: usize = 100_000;

/// By the hold's number.
#[derive(Default)]
pub struct Past(BTreeMap<u64, Gone>);

/// A hold that was lost.
pub struct Gone {
    pub claim: Claim,
    pub lost: Lost,
    /// The server may keep it for longer than was believed.
    pub outlasts: bool,
    /// A release was told of the loss.
    pub told: bool,
}

impl Past {
    pub fn add(&mut self, number: u64, gone: Gone) {
        self.0.insert(number, gone);
        while self.0.len() > MOST {
            self.0.pop_first();
        }
    }

    pub fn get(&self, number: u64) -> Option<&Gone> {
        self.0.get(&number)
    }

    /// A loss that no release was told of.
    pub fn untold(&self, number: u64) -> Option<&Gone> {
        self.get(number).filter(|gone| !gone.told)
    }

    /// A release of that owner is told of it now, for the first time.
    pub fn tell(&mut self, number: u64, claim: &Claim) -> Option<&Gone> {
        let gone = self.0.get_mut(&number).filter(|gone| !gone.told && gone.claim == *claim)?;
        gone.told = true;
        Some(gone)
    }

    /// No caller can ask for it any more.
    pub fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }
}
